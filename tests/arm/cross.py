"""The cross build for 64-bit Arm, kept under build/arm, and its programs under an emulator."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TOOLCHAIN = ROOT / "runtime_c/cmake/aarch64-linux-gnu.cmake"
FOLDER = ROOT / "build/arm"
CPUS = ("max", "cortex-a53")
"""Processors under emulation: with dotprod and i8mm, and with neither."""


def need(*tools: str) -> None:
    """Skips, with the reason, where a tool is absent."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def sh(*command: str | Path, timeout: float = 550, **environment: str) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@functools.cache
def runner() -> Path:
    """pte_run for aarch64; a second call in a session, and an unchanged tree, cost nothing."""
    need("cmake", "aarch64-linux-gnu-gcc", "qemu-aarch64")
    out = FOLDER / "runtime"
    options = [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TESTS")]
    sh("cmake", "-S", ROOT, "-B", out, f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", *options)
    sh("cmake", "--build", out, "-j", "2")
    return out / "runtime_c/pte_run"


def run(
    program: Path, feeds: Mapping[str, np.ndarray], folder: Path, cpu: str, *options: str
) -> np.ndarray:
    """The first output of `program`, computed by pte_run on the emulated `cpu`."""
    words: list[str | Path] = ["qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu"]
    words += [runner(), program, "--out", folder, *options]
    for name, array in feeds.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    sh(*words)
    return np.load(folder / "output_0.npy")
