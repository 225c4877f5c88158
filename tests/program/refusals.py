"""Removes each refusal of the verifier and the session, one at a time, and says which no test notices.

A refusal is a statement that returns an error. It is taken away in the text (an `if` loses its body, a last return says
PTE_OK), its file is compiled alone, and the changed copies of test_refusals.py are tried again: the refusals that
refusals.txt lists must still be met. `make refusals`; arguments: files of runtime_c, or none for all.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from program import samples, test_refusals

ROOT: Final = Path(__file__).resolve().parent.parent.parent
FAILS: Final = r"(?:pte_refuse|pte_bad_index|pte_fail|pte_kernel_fail|pte_fault_at|pte_fault_text|fail\w*|bad\w*|too_large|extent_unknown)"
RETURN: Final = re.compile(
    rf"\breturn\s+(?:(?P<ternary>[^;?]*\?\s*PTE_OK\s*:\s*){FAILS}|{FAILS}|PTE_(?!OK\b)[A-Z_]+\s*;|false\s*;)"
)
END: Final = re.compile(r'(?:[^";]|"(?:[^"\\]|\\.)*")*;')
FOLDERS: Final = ("program", "session")


def statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and replacement of each refusal."""
    for found in RETURN.finditer(text):
        end = END.match(text, found.start()).end()
        before = text[: found.start()].rstrip()
        body = before.endswith((")", "else"))
        if "false" in found.group(0):
            if body:
                yield found.start(), end, "{}"
            continue
        last = not body or found["ternary"] is not None
        yield found.start(), end, "return PTE_OK;" if last else "{}"


def flags() -> list[str]:
    return ["-std=c11", "-O1", "-w", "-ffp-contract=off", "-D_GNU_SOURCE"] + [
        f"-I{ROOT}/{f}" for f in ("runtime_c", "runtime_c/include", "tests/c", "tests/fuzz")
    ]


def noticed(
    source: Path, changed: str, folder: Path, library: Path, met: dict[Path, set[str]]
) -> bool:
    """Whether copies of one of the folders of files no longer meet what they should, or end badly."""
    copy, program = folder / source.name, folder / "refuse"
    copy.write_text(changed)
    command = ["cc", *flags(), f"-I{source.parent}", copy, *test_refusals.SOURCES, library]
    built = subprocess.run(
        [*map(str, command), "-lm", "-pthread", "-o", str(program)], capture_output=True, text=True
    )
    if built.returncode != 0:
        raise SystemExit(f"{source}: does not compile any more:\n{built.stderr}")
    for files, expected in met.items():
        try:
            if expected - test_refusals.met(program, files, timeout_s=60):
                return True
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return True
    return False


def main(names: list[str]) -> int:
    files = [ROOT / "runtime_c" / n for n in names] or [
        f for folder in FOLDERS for f in sorted((ROOT / "runtime_c" / folder).glob("*.c"))
    ]
    library = test_refusals.library()
    total = left = 0
    with tempfile.TemporaryDirectory() as name:
        quick, whole = Path(name) / "quick", Path(name) / "whole"
        samples.write(quick)
        test_refusals.write_files(whole)
        program = test_refusals.build(Path(name))
        listed = test_refusals.listed()
        met = {files: listed & test_refusals.met(program, files) for files in (quick, whole)}
        for source in files:
            text = source.read_text()
            for begin, end, put in statements(text):
                changed = text[:begin] + put + text[end:]
                total += 1
                if noticed(source, changed, Path(name), library, met):
                    continue
                left += 1
                line = text.count("\n", 0, begin) + 1
                said = " ".join(text[begin:end].split())[:90]
                print(f"{source.relative_to(ROOT)}:{line}: not noticed: {said}", flush=True)
    print(f"{total} refusals, {total - left} noticed, {left} not")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
