"""Programs of tests/fuzz with the library under sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from turns import one_at_a_time

ROOT: Final = Path(__file__).resolve().parent.parent.parent
LIBRARY: Final = ROOT / "build/ctest/library"
"""As tests/c/run.sh builds it."""

FLAGS: Final = ("-std=c11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined")


def driver(name: str, folder: Path) -> Path:
    """tests/fuzz/NAME.c, which runs programs one after the other (each.h)."""
    cc, cmake = shutil.which("cc"), shutil.which("cmake")
    if cc is None or cmake is None:
        pytest.skip("no C compiler or no cmake")
    options = [
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DPTE_SANITIZE=address,undefined",
        f"-DCMAKE_C_COMPILER={cc}",
    ]
    options += [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TOOLS", "TESTS")]
    with one_at_a_time("ctest"):
        made = (["-S", ROOT, "-B", LIBRARY, *options], ["--build", LIBRARY, "-j", "2"])
        for arguments in made:
            subprocess.run([cmake, *arguments], check=True, capture_output=True)
    folders = [f"-I{ROOT}/{f}" for f in ("runtime_c", "runtime_c/include", "tests/c", "tests/fuzz")]
    sources = [ROOT / f"tests/fuzz/{s}.c" for s in (name, "each", "exercise")]
    library, out = LIBRARY / "runtime_c/libpteron.a", folder / name
    command = [cc, *FLAGS, *folders, *sources, library, "-lm", "-pthread", "-o", out]
    subprocess.run([*map(str, command)], check=True)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return out
