"""Refusals of the verifier, the session and the kernels, taken away one at a time; does a test notice?

    python tests/mutants/refusals.py [--again] [session/check.c ...]

A refusal is a statement that returns an error. It is taken away in the text: an `if` loses its body, a last return says
PTE_OK or true. Judged as the mutants of runtime.py are, after changed copies of programs (tests/program/test_refusals.py),
which must still meet the refusals that refusals.txt lists. Verdicts: build/mutants/refusals-0.jsonl; what stands there is not
tried again, unless --again: then what survived is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import runtime
from verdicts import HEAVY, OUT, ROOT, summary

FAILS: Final = r"(?:pte_refuse|pte_bad_index|pte_fail|pte_kernel_fail|pte_fault_at|pte_fault_text|fail\w*|bad\w*|too_large|extent_unknown)"
RETURN: Final = re.compile(
    rf"\breturn\s+(?:(?P<ternary>[^;?]*\?\s*PTE_OK\s*:\s*){FAILS}|{FAILS}|PTE_(?!OK\b|CANCELLED\b)[A-Z_]+\s*;|false\s*;)"
)
"""A kernel's PTE_CANCELLED is what its watch says, no refusal of its own."""

END: Final = re.compile(r'(?:[^";]|"(?:[^"\\]|\\.)*")*;')
CHECKS: Final = re.compile(r"^(?:static )?pte_status \w*check\w*\(.*?^}", re.MULTILINE | re.DOTALL)
FOLDERS: Final = ("program", "session", "kernels")


@dataclass(frozen=True, slots=True)
class Removal:
    file: str  # below the root
    line: int
    source: str  # the statement
    text: str  # the file without it
    key: str


def removals(file: Path) -> Iterator[Removal]:
    text = file.read_text()
    kernel = "kernels" in file.parts
    parts = [m.span() for m in CHECKS.finditer(text)] if kernel else [(0, len(text))]
    alike: Counter[str] = Counter()
    for found in RETURN.finditer(text):
        begin, end = found.start(), END.match(text, found.start()).end()  # type: ignore[union-attr]
        if not any(a <= begin < b for a, b in parts):
            continue
        body = text[:begin].rstrip().endswith((")", "else"))
        if "false" in found.group(0):
            put = "{}" if body else "return true;"
        else:
            put = "{}" if body and found["ternary"] is None else "return PTE_OK;"
        said = " ".join(text[begin:end].split())
        alike[said] += 1
        path, line = str(file.relative_to(ROOT)), text.count("\n", 0, begin) + 1
        yield Removal(path, line, said, text[:begin] + put + text[end:], f"{path}:{said}:{alike[said]}")  # fmt: skip


# --- changed copies -------------------------------------------------------------------------------------------------------


def met(files: Path, *objects: Path) -> set[str]:
    """Refusals that changed copies of these files meet; nothing where the program ends badly."""
    from program import test_refusals

    program = runtime.WORK / "refuse"
    runtime.must("cc", *sources(), *objects, library(), "-lm", "-pthread", "-o", program)
    try:
        return test_refusals.met(program, files, timeout_s=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return set()


def sources() -> list[Path]:
    """Objects of what changes the copies."""
    from program import test_refusals

    out = [runtime.WORK / f"{s.stem}.o" for s in test_refusals.SOURCES]
    for source, made in zip(test_refusals.SOURCES, out, strict=True):
        if not made.exists():
            runtime.must("cc", *PLAIN, "-c", source, "-o", made)
    return out


PLAIN: Final = ("-std=c11", "-O1", "-w", "-ffp-contract=off", "-D_GNU_SOURCE", "-Iruntime_c", "-Iruntime_c/include", "-Itests/c", "-Itests/fuzz")  # fmt: skip


def library() -> Path:
    return ROOT / "build/refusals/runtime_c/libpteron.a"


def folders() -> dict[Path, set[str]]:
    """Programs, few and all, and what their changed copies meet."""
    from program import samples, test_refusals

    quick, whole = runtime.WORK / "quick", runtime.WORK / "whole"
    if not whole.exists():
        test_refusals.library()
        samples.write(quick)
        test_refusals.write_files(whole)
    listed = test_refusals.listed()
    return {files: listed & met(files) for files in (quick, whole)}


def by_copies(removal: Removal, expected: dict[Path, set[str]]) -> str:
    source, made = runtime.WORK / "mutant" / Path(removal.file).name, runtime.WORK / "plain.o"
    source.parent.mkdir(exist_ok=True)
    source.write_text(removal.text)
    here = f"-I{(ROOT / removal.file).parent}"
    runtime.must("cc", *PLAIN, here, "-c", source, "-o", made)
    for files, texts in expected.items():
        lost = texts - met(files, made)
        if lost:
            return f"changed copies: {min(lost)}"
    return ""


def verdict(r: Removal, expected: dict[Path, set[str]]) -> dict[str, Any]:
    by = by_copies(r, expected)
    said = None if by else runtime.verdict(r)
    by = by or (said["by"] if said else "")
    return {"key": r.key, "file": r.file, "line": r.line, "was": r.source, "is": "-", "killed": bool(by), "by": by}  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    ask.add_argument("files", nargs="*")
    ask.add_argument("--again", action="store_true")
    told = ask.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    for name in HEAVY:
        importlib.import_module(name)
    runtime.prepared()
    expected, journal = folders(), OUT / "refusals-0.jsonl"
    done = [json.loads(s) for s in journal.read_text().splitlines()] if journal.exists() else []
    if told.again:
        done = [d for d in done if d["killed"]]
    keys = {d["key"] for d in done}
    root = ROOT / "runtime_c"
    files = [root / f for f in told.files] or [c for f in FOLDERS for c in sorted((root / f).rglob("*.c"))]  # fmt: skip
    with journal.open("a") as out:
        for removal in (r for f in files for r in removals(f)):
            if removal.key not in keys:
                done.append(verdict(removal, expected))
                out.write(json.dumps(done[-1]) + "\n")
                out.flush()
    summary(done)


if __name__ == "__main__":
    main()
