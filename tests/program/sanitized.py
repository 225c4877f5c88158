"""Programs of tests/fuzz with the library under sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
import trees

ROOT: Final = Path(__file__).resolve().parent.parent.parent
FLAGS: Final = ("-std=c11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined")


def driver(name: str, folder: Path) -> Path:
    """tests/fuzz/NAME.c, which runs programs one after the other (each.h)."""
    cc = shutil.which("cc")
    if cc is None or shutil.which("cmake") is None:
        pytest.skip("no C compiler or no cmake")
    options = [
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DPTE_SANITIZE=address,undefined",
        f"-DCMAKE_C_COMPILER={cc}",
    ]
    options += [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TOOLS", "TESTS")]
    tree = trees.built("ctest/library", *options)  # as tests/c/run.sh builds it
    folders = [f"-I{ROOT}/{f}" for f in ("runtime_c", "runtime_c/include", "tests/c", "tests/fuzz")]
    sources = [ROOT / f"tests/fuzz/{s}.c" for s in (name, "each", "exercise")]
    library, out = tree / "runtime_c/libpteron.a", folder / name
    command = [cc, *FLAGS, *folders, *sources, library, "-lm", "-pthread", "-o", out]
    subprocess.run([*map(str, command)], check=True)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return out
