"""Builds the kernels and tests/ops/driver.c into one shared library, object by object, each kept until its preprocessed
source changes."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import os
import platform
import subprocess
from pathlib import Path

from turns import one_at_a_time

from pteron.schema.isas import ISAS, ROWS

ROOT = Path(__file__).parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wmissing-prototypes", "-Werror"]
FLAGS = [
    *[
        "-std=c11",
        "-O3",
        "-fPIC",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-D_POSIX_C_SOURCE=200809L",
    ],
    *WARNINGS,
    f"-I{ROOT / 'runtime_c'}",
    f"-I{ROOT / 'runtime_c/include'}",
]
MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


@dataclasses.dataclass(frozen=True)
class Target:
    """A compiler and what it compiles for; objects lie in `out`."""

    cc: tuple[str, ...]
    machine: str
    out: Path

    @property
    def isas(self) -> tuple[str, ...]:
        return tuple(row.name for row in ROWS if row.machine == self.machine)


def here() -> Target:
    return Target(
        tuple(os.environ.get("CC", "cc").split()),
        MACHINE,
        Path(os.environ.get("PTERON_OPS_BUILD", ROOT / "build/ops")),
    )


def sources(target: Target) -> list[Path]:
    c = ROOT / "runtime_c"
    found = [*c.glob("core/*.c"), *c.glob("gen/*.c"), *c.glob("kernels/**/*.c")]
    mine = (*target.isas, "portable")
    keep = [p for p in found if "__" not in p.stem or p.stem.split("__")[1] in mine]
    return [*sorted(keep), c / "host/posix/cpu.c", Path(__file__).parent / "driver.c"]


def _compile(target: Target, source: Path) -> Path:
    isa = source.stem.split("__")[1] if "__" in source.stem else ""
    flags = [
        *FLAGS,
        *(f"-DPTE_HAVE_{name.upper()}=1" for name in target.isas),
        *(ISAS[isa].flags.split() if isa in ISAS else []),
    ]
    cc = [*target.cc, *flags]
    text = subprocess.run([*cc, "-E", str(source)], check=True, capture_output=True).stdout
    key = hashlib.sha256(" ".join(cc).encode() + text).hexdigest()[:24]
    name = f"{source.parent.name}.{source.stem}"
    return _once(target.out, name, f"{name}-{key}.o", [*cc, "-c", str(source)])


def _once(out: Path, name: str, file: str, command: list[str]) -> Path:
    """out / file, made by `command` if it is not there; older files of that name go."""
    target = out / file
    if not target.exists():
        out.mkdir(parents=True, exist_ok=True)
        for old in out.glob(f"{name}-*{target.suffix}"):
            old.unlink()
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        subprocess.run([*command, "-o", str(partial)], check=True)
        partial.rename(target)
    return target


def _link(target: Target, name: str, suffix: str, more: list[Path], flags: list[str]) -> Path:
    objects = [str(_compile(target, source)) for source in [*sources(target), *more]]
    key = hashlib.sha256("".join(objects).encode()).hexdigest()[:24]
    return _once(target.out, name, f"{name}-{key}{suffix}", [*target.cc, *objects, *flags])


@functools.cache
def library() -> ctypes.CDLL:
    """The library, built if anything changed.

    Raises:
        CalledProcessError: a source does not compile or link without libm; the compiler said why.
    """
    with one_at_a_time("ops"):
        return ctypes.CDLL(str(_link(here(), "ops", ".so", [], ["-shared", "-Wl,-z,defs"])))


def program(target: Target) -> Path:
    """The program of remote.c for `target`, static."""
    return _link(target, "remote", ".bin", [Path(__file__).parent / "remote.c"], ["-static"])


def racing(target: Target) -> Path:
    """The same with real threads (threads.c)."""
    mine = [Path(__file__).parent / f"{name}.c" for name in ("remote", "threads")]
    return _link(target, "racing", ".bin", mine, ["-Wl,--wrap=pte_parallel", "-pthread"])
