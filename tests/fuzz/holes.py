"""Holes that were closed, opened again: do the fuzzers find each within ten minutes?

    python tests/fuzz/holes.py [SECONDS] [NAME...]

Each is a change of a copy of the sources (build/holes/NAME), which tests/fuzz/run.sh fuzz_run then has for that long at most, from the
corpus that it always begins with. What is found, and after how many seconds, is printed; a hole that stays unfound is exit 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
OUT: Final = ROOT / "build/holes"
COPIED: Final = (
    "runtime_c",
    "tests",
    "schema",
    "export",
    "quantize",
    "bindings",
    "CMakeLists.txt",
    "pyproject.toml",
    ".tree",
)

LOG: Final = "build/fuzz/fuzz_run.raw"
BROKEN: Final = ("broken promise", "ERROR: ", "runtime error:")
HOLES: Final = {
    "panels": (
        "runtime_c/program/verify_constants.c",
        "  PTE_TRY(check_role(v, i));\n",
        "  (void)check_role;\n",
    ),  # states PANELS without whole lines: save and fork write behind their buffers
    "unwritten": (
        "runtime_c/session/prepare.c",
        "    pte_written_find(s);\n",
        "",
    ),  # planned memory that nothing wrote comes out
    "shifts": (
        "runtime_c/kernels/requantize/rescale.h",
        "    int8_t least = out[n] < PTE_SHIFT_LEAST ? PTE_SHIFT_LEAST : out[n];\n    out[n] = least > PTE_SHIFT_MOST ? PTE_SHIFT_MOST : least;\n",
        "    (void)out[n];\n",
    ),  # what was checked when the file was opened is relied on when it was read again
    "past": (
        "runtime_c/text/snapshot.c",
        "  return is_past(s, at) ? at : (past){position, position};\n",
        "  return at.written > position ? at : (past){position, position};\n",
    ),  # save writes what restore refuses
}


def main() -> int:
    words = sys.argv[1:]
    seconds = int(words.pop(0)) if words and words[0].isdigit() else 600
    if unknown := set(words) - set(HOLES):
        sys.exit(f"no hole {', '.join(sorted(unknown))}: expected of {', '.join(HOLES)}")
    left = [name for name in words or HOLES if not found(name, seconds)]
    print(f"{len(left)} left unfound" + "".join(f", {name}" for name in left))
    return bool(left)


def opened(name: str) -> Path:
    """A copy of the sources that has this hole; the library that was built of it stays, what was found in it does not."""
    to = OUT / name
    (to / "build/fuzz").mkdir(parents=True, exist_ok=True)
    (to / LOG).unlink(missing_ok=True)
    shutil.rmtree(to / "build/fuzz/found_fuzz_run", ignore_errors=True)
    for part in COPIED:
        source, copy = ROOT / part, to / part
        if source.is_dir():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source, copy, symlinks=True)
        else:
            shutil.copy2(source, copy)
    path, closed, hole = HOLES[name]
    text = (to / path).read_text()
    if text.count(closed) != 1:
        sys.exit(f"{path}: expected once, where the hole {name} is opened: {closed}")
    (to / path).write_text(text.replace(closed, hole))
    return to


def found(name: str, seconds: int) -> bool:
    """Whether the fuzzer that runs programs says what is broken."""
    copy = opened(name)
    environment = {**os.environ, "PYTHON": sys.executable, "TARGETS": "fuzz_run"}
    began = time.monotonic()
    for limit in ("runs=1", str(seconds)):  # the corpus alone, first: it takes the build's time
        ran = subprocess.run(
            ["tests/fuzz/run.sh", limit], cwd=copy, env=environment, capture_output=True, text=True
        )
        said = findings(copy)
        if ran.returncode and not said:
            sys.exit(
                f"{name}: the fuzzer was not built or did not run:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
            )
        if said:
            by = "by the corpus" if limit == "runs=1" else f"after {time.monotonic() - began:.0f} s"
            print(f"{name}: found {by}\n  {said}", flush=True)
            return True
        began = time.monotonic()
    print(f"{name}: not found in {seconds} s", flush=True)
    return False


def findings(copy: Path) -> str:
    """The line that says what was broken, or nothing."""
    log = copy / LOG
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return next((i for i in lines if any(mark in i for mark in BROKEN)), "")


if __name__ == "__main__":
    sys.exit(main())
