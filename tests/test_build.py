"""What the library is built with, and without: no fast math, no system."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-ffinite-math-only"])
def test_fast_math_is_no_way_to_build_it(root: Path, flag: str) -> None:
    source = root / "runtime_c/kernels/rows/softmax.c"
    folders = [f"-I{root}/runtime_c", f"-I{root}/runtime_c/include"]
    command = ["cc", "-std=c11", "-fsyntax-only", *folders, source]
    assert subprocess.run(command, capture_output=True).returncode == 0
    refused = subprocess.run([*command, flag], capture_output=True, text=True)
    assert refused.returncode != 0 and "changes the bits" in refused.stderr


def test_the_runtime_needs_no_system(root: Path, tmp_path: Path) -> None:
    """All but host/posix links against five functions that any board has."""
    folders = (
        "core",
        "gen",
        "program",
        "session",
        "kernels",
        "kernels/*",
        "delegates/null",
        "host/none",
    )
    flags = [
        "-std=c11",
        "-O0",
        "-ffreestanding",
        "-fno-stack-protector",
        "-Iruntime_c",
        "-Iruntime_c/include",
    ]
    sources = sorted(p for folder in folders for p in (root / "runtime_c").glob(f"{folder}/*.c"))
    run("cc", *flags, "-r", "-nostdlib", "-o", tmp_path / "all.o", *sources, cwd=root)
    undefined = {
        line.split()[-1] for line in run("nm", "-u", tmp_path / "all.o", cwd=root).splitlines()
    }
    allowed = {"memcpy", "memmove", "memset", "memcmp", "strcmp", "_GLOBAL_OFFSET_TABLE_"}
    assert undefined <= allowed
