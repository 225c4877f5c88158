"""Trees that CMake builds under build/, each for all tests that want it."""

from __future__ import annotations

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
