"""Trees that CMake builds under build/, each for all tests that want it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from shell import sh
from turns import BUILD, one_at_a_time

ROOT: Final = BUILD.parent
ALONE: Final = ("-DPTE_BUILD_TESTS=OFF", "-DPTE_BUILD_TOOLS=OFF")
"""The library without programs."""


def built(
    name: str, *options: str, targets: Sequence[str] = (), timeout: float | None = None
) -> Path:
    """build/NAME: Pteron configured with the options, and the targets (none: all) built, by one process at a time."""
    out = BUILD / name
    with one_at_a_time(name.replace("/", "-")):
        sh(ROOT, "cmake", "-S", ROOT, "-B", out, *options, timeout=timeout)
        chosen = ("--target", *targets) if targets else ()
        sh(ROOT, "cmake", "--build", out, "-j", "2", *chosen, timeout=timeout)
    return out


def library() -> Path:
    """The tree of the library as it is shipped, which benchmarks/size.py measures, too."""
    return built("size", "-DCMAKE_BUILD_TYPE=Release", *ALONE)


def module() -> Path:
    """The tree in which `make` built what Python loads, brought up to date; without one that of the library: of the same flags
    but for warnings. By the ninja that built it: another would build everything again."""
    found = sorted(BUILD.glob(f"cp3*_{platform.machine()}/build.ninja"))
    ninja = Path(sys.executable).with_name("ninja")
    if not found or not ninja.exists():
        return library()
    with one_at_a_time("module"):
        sh(ROOT, ninja, "-C", found[-1].parent, "-j", "2", "runtime_c/libpteron.a")
    return found[-1].parent
