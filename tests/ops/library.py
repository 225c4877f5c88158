"""Builds the kernels and tests/ops/driver.c into one shared library, object by object, each kept until its preprocessed
source changes."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import subprocess
from pathlib import Path

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
ISA_FLAGS = {
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c"],
    "neon": [],
    "dotprod": ["-march=armv8.2-a+dotprod"],
    "i8mm": ["-march=armv8.2-a+dotprod+i8mm"],
}
X86 = platform.machine() in ("x86_64", "AMD64")


def sources() -> list[Path]:
    c = ROOT / "runtime_c"
    found = [*c.glob("core/*.c"), *c.glob("gen/*.c"), *c.glob("kernels/*.c"), *c.glob("codec/*.c")]

    mine = ("avx2", "avx512", "portable") if X86 else ("neon", "dotprod", "i8mm", "portable")
    keep = [p for p in found if "__" not in p.stem or p.stem.split("__")[1] in mine]
    return [*sorted(keep), Path(__file__).parent / "driver.c"]


def _compile(cc: list[str], source: Path, out: Path) -> Path:
    isa = source.stem.split("__")[1] if "__" in source.stem else ""
    flags = [
        *FLAGS,
        *(["-DPTE_HAVE_AVX2=1", "-DPTE_HAVE_AVX512=1"] if X86 else ["-DPTE_HAVE_NEON=1"]),
        *ISA_FLAGS.get(isa, []),
    ]
    text = subprocess.run([*cc, *flags, "-E", str(source)], check=True, capture_output=True).stdout
    key = hashlib.sha256(" ".join([*cc, *flags]).encode() + text).hexdigest()[:24]
    name = f"{source.parent.name}.{source.stem}"
    target = out / f"{name}-{key}.o"
    if not target.exists():
        for old in out.glob(f"{name}-*.o"):
            old.unlink()
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        subprocess.run([*cc, *flags, "-c", str(source), "-o", str(partial)], check=True)
        partial.rename(target)
    return target


@functools.cache
def library() -> ctypes.CDLL:
    """The library, built if anything changed.

    Raises:
        CalledProcessError: a source does not compile or link without libm; the compiler said why.
    """
    cc = os.environ.get("CC", "cc").split()
    out = ROOT / "build/ops"
    out.mkdir(parents=True, exist_ok=True)
    objects = [_compile(cc, source, out) for source in sources()]
    key = hashlib.sha256("".join(o.name for o in objects).encode()).hexdigest()[:24]
    target = out / f"ops-{key}.so"
    if not target.exists():
        for old in out.glob("ops-*.so"):
            old.unlink()
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        link = [*cc, "-shared", "-Wl,-z,defs", *map(str, objects), "-o", str(partial)]
        subprocess.run(link, check=True)
        partial.rename(target)
    return ctypes.CDLL(str(target))
