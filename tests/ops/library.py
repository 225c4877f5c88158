"""Kernels and tests/ops/driver.c in one library: the objects that CMake makes of them for libpteron, linked anew."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import subprocess
from pathlib import Path

import trees
from turns import one_at_a_time

ROOT = trees.ROOT
FLAGS = ["-std=c11", "-O2", "-fPIC", "-D_POSIX_C_SOURCE=200809L"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wmissing-prototypes", "-Werror"]


@dataclasses.dataclass(frozen=True)
class Target:
    """A compiler with its flags, and the tree build/NAME, which CMake configures with the options."""

    name: str
    cc: tuple[str, ...]
    options: tuple[str, ...]

    def tree(self) -> Path:
        if self == HERE:
            return trees.module()
        return trees.built(self.name, *self.options, *trees.ALONE, targets=["pteron_objects"])


HERE = Target("module", tuple(os.environ.get("CC", "cc").split()), ())


def _objects(tree: Path) -> list[Path]:
    """Those of what kernels are made of, without the library's own way to call them."""
    home = tree / "runtime_c/CMakeFiles/pteron_objects.dir"
    sources = [p for folder in ("core", "gen", "kernels") for p in (ROOT / "runtime_c" / folder).rglob("*.c")]  # fmt: skip
    sources.append(ROOT / "runtime_c/host/posix/cpu.c")
    paths = (home / f"{p.relative_to(ROOT / 'runtime_c')}.o" for p in sorted(sources))
    return [p for p in paths if p.exists()]  # variants for other processors are not


def _linked(target: Target, name: str, mine: list[str], flags: list[str]) -> Path:
    """tests/ops/MINE and the objects, in the target's tree."""
    tree = target.tree()
    include = [f"-I{ROOT / folder}" for folder in ("runtime_c", "runtime_c/include")]
    sources = [Path(__file__).with_name(f"{part}.c") for part in ("driver", *mine)]
    out = tree / name
    with one_at_a_time(target.name):
        partial = out.with_suffix(f".{os.getpid()}.tmp")
        words = [*target.cc, *FLAGS, *WARNINGS, *include, *sources, *_objects(tree), *flags]
        subprocess.run([*map(str, words), "-o", str(partial)], check=True)
        partial.rename(out)
    return out


@functools.cache
def library() -> ctypes.CDLL:
    """The library of this machine.

    Raises:
        AssertionError: a source does not compile; the compiler said why.
        CalledProcessError: it does not link without libm.
    """
    return ctypes.CDLL(str(_linked(HERE, "ops.so", [], ["-shared", "-Wl,-z,defs"])))


def program(target: Target) -> Path:
    """The program of remote.c for `target`, static."""
    return _linked(target, "remote", ["remote"], ["-static"])


def racing(target: Target) -> Path:
    """The same with real threads (threads.c)."""
    return _linked(target, "racing", ["remote", "threads"], ["-Wl,--wrap=pte_parallel", "-pthread"])
