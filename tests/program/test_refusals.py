"""Changed copies of the sample programs meet every refusal that refusals.txt lists.

The changes are those of the fuzzers' mutator (tests/fuzz/mutate.h), by fixed numbers. A refusal that is taken away is met no
longer and the test fails; one that is new comes into the list with `python -m program.test_refusals` in tests/.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
import trees
from program import op_samples, samples

from pteron.schema.ops import OPS

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).resolve().parent.parent.parent
LIST: Final = Path(__file__).with_name("refusals.txt")
SOURCES: Final = [ROOT / "tests/fuzz" / name for name in ("refuse.c", "exercise.c")]
COPIES: Final = 500
"""Of each file."""

_OPS: Final = "|".join(sorted(OPS, key=len, reverse=True))
_MASKS: Final = (
    (re.compile(r" \[node .*\]$"), ""),
    (re.compile(rf"\b({_OPS})\b(?=[:.)])"), "OP"),
    (re.compile(r"(?<=OP: )\w+(?=:| may not be)"), "PORT"),
    (re.compile(r"(?<=OP\.)\w+(?=:)"), "ATTR"),
    (re.compile(r"(input|output|attribute) \w+(?=:| at| axis| element)"), r"\1 PORT"),
    (re.compile(r"(?<=PORT may not be )\S+"), "DTYPE"),
    (re.compile(r"format: \w+ needs"), "format: FORMAT needs"),
    (re.compile(r"dimension \w+"), "dimension NAME"),
    (re.compile(r"-?\b\d+"), "#"),
    (re.compile(r"axis # \(\w+\)"), "axis # (NAME)"),
)


def masked(text: str) -> str:
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text.strip()


def write_files(folder: Path) -> None:
    samples.write(folder)
    op_samples.write(folder)


def counted(program: Path, files: Path, timeout_s: float) -> Counter[str]:
    paths = sorted(map(str, files.glob("*.pte")))
    done = subprocess.run(
        [program, str(COPIES), *paths], check=True, capture_output=True, timeout=timeout_s
    )
    return Counter(map(masked, done.stdout.decode("utf-8", "replace").splitlines()))


def met(program: Path, files: Path, timeout_s: float = 300) -> set[str]:
    """The refusals that copies of these files meet, without their numbers and names."""
    return set(counted(program, files, timeout_s))


def listed() -> set[str]:
    return set(LIST.read_text().splitlines())


def build(folder: Path) -> Path:
    folders = [f"-I{ROOT}/{f}" for f in ("runtime_c", "runtime_c/include", "tests/c", "tests/fuzz")]
    program = folder / "refuse"
    library = trees.module() / "runtime_c/libpteron.a"  # optimised: the fuzzers have sanitizers
    command = ["cc", "-std=c11", "-O1", "-D_GNU_SOURCE", *folders, *SOURCES, library]
    subprocess.run([*map(str, command), "-lm", "-pthread", "-o", str(program)], check=True)
    write_files(folder / "files")
    return program


@pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cc", "cmake")), reason="needs a C compiler, cmake"
)
def test_every_listed_refusal_is_met(tmp_path: Path) -> None:
    texts = met(build(tmp_path), tmp_path / "files")
    assert not any(text.startswith("broken") for text in texts)
    assert not listed() - texts


def main() -> int:
    """Writes the list: what is met three times, so that the next operator does not change it."""
    with tempfile.TemporaryDirectory() as name:
        texts = counted(build(Path(name)), Path(name) / "files", 600)
    often = sorted(text for text, count in texts.items() if count >= 3)
    LIST.write_text("\n".join(often) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
