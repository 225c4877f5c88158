"""The delegates that the conformance suite runs: those of this package, and the plain one, which is built here.

A new delegate appears by itself. What the suite cannot know is how to make it fail in the middle of a run: a row of `FAILURES`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from delegates import vgf_fault
from delegates.plain import compiler as plain

import pteron
from pteron.export import delegates as compilers
from pteron.runtime import delegates as runtime

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Candidate:
    """`fail` makes the next run of a placed session fail inside the delegate."""

    name: str
    row: compilers.Delegate
    here: runtime.Delegate | None
    fail: Callable[[pteron.Model], None] | None

    def unavailable(self) -> str | None:
        """Why it cannot be tested on this machine."""
        missing = "; ".join(f"{what}: {install}" for what, install in self.row.missing())
        if missing:
            return f"{self.name}: its compiler needs {missing}"
        if self.here is None:
            return f"{self.name}: not in this build"
        reason = self.here.refusal(self.row.target)
        return None if reason is None else f"{self.name}: {reason}"


@cache
def plain_library() -> Path | None:
    """libplain.so, built once; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    given = os.environ.get("PTERON_PLAIN_LIBRARY")
    if given:
        return Path(given)
    out = Path(tempfile.mkdtemp()) / "libplain.so"
    sources = [ROOT / "tests/delegates/plain/plain.c", ROOT / "runtime_c/delegates/payload.c"]
    flags = [
        "-std=c11",
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{ROOT}/runtime_c",
        f"-I{ROOT}/runtime_c/include",
    ]
    subprocess.run([compiler, *flags, *sources, "-o", out], check=True)
    os.environ["PTERON_PLAIN_LIBRARY"] = str(out)
    return out


def plain_fails_after(runs: int) -> None:
    """The plain delegate fails for good after so many more runs; -1: never."""
    ctypes.CDLL(str(plain_library())).plain_fail_after(runs)


def _plain_fails(model: pteron.Model) -> None:
    plain_fails_after(0)


def _processes_die(model: pteron.Model) -> None:
    """Ends the processes that this one has started to run programs in."""
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"qemu" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)


FAILURES: dict[str, Callable[[pteron.Model], None]] = {
    "plain": _plain_fails,
    "hexagon": _processes_die,
    "vgf": vgf_fault.next_run_fails,
}


def find(name: str) -> Candidate:
    if name == "plain":
        library = plain_library()
        here = runtime.from_library(library, "pte_delegate_plain") if library else None
        return Candidate(name, plain.DELEGATE, here, FAILURES.get(name))
    built = {d.name: d for d in runtime.known()}
    return Candidate(name, compilers.known()[name], built.get(name), FAILURES.get(name))


NAMES = ("plain", *(name for name in compilers.known() if name != "null"))
