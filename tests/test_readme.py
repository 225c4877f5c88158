"""The README's blocks, run as they stand from the root of the checkout (files they write go elsewhere)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A folder with the examples in it, to be written to."""
    shutil.copytree(root / "examples", tmp_path / "examples")
    return tmp_path


def blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (root / "README.md").read_text(), flags=re.S)


def test_python_blocks_run(root: Path, checkout: Path) -> None:
    code = "\n".join(blocks(root, "python"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[0]) > 0.97


def test_console_blocks_run(root: Path, checkout: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in "\n".join(blocks(root, "console")).splitlines():
        command = line.removeprefix("$ ")
        done = subprocess.run(
            command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_the_table_of_speed_is_that_of_the_results(root: Path) -> None:
    sys.path.append(str(root / "benchmarks"))
    import front

    text = (root / "README.md").read_text()
    assert front.filled(text) == text, "python benchmarks/front.py"


def test_links_lead_to_files(root: Path) -> None:
    pages = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True
    )
    dead = []
    for page in pages.stdout.split():
        text = re.sub(r"```.*?```|`[^`\n]*`", "", (root / page).read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            file = (root / page).parent / path if path else root / page
            if "://" not in path and (
                not file.exists() or (anchor and anchor not in anchors(file))
            ):
                dead.append(f"{page}: {target}")
    assert not dead


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub and most site makers name them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_demo_gives_one_digest_for_int8_wherever_it_runs(root: Path, npu_python: Path) -> None:
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("needs qemu-user")
    environment = os.environ | {"PTERON_NPU_PYTHON": str(npu_python)}
    command = [sys.executable, root / "examples/digits/demo.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    digests = {
        line[:13].strip(): line.split()[-1] for line in done.stdout.splitlines() if "." in line[13:]
    }
    assert digests["int8"] == digests["int8, DSP"] == digests["int8, NPU"], done.stdout
    assert len(digests["int8"]) == 16
