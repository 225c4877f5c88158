"""64-bit Arm under an emulator: the archive of tests/boards/sdk.py, and what tests of the wheel share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from boards import sdk
from boards.sdk import ROOT, need, sh

__all__ = ["CPUS", "FOLDER", "ROOT", "need", "run", "runner", "sh"]

FOLDER = ROOT / "build/arm"
CPUS = sdk.ARM64.cpus
"""Processors under emulation: with dotprod and i8mm, and with neither."""


def runner() -> Path:
    """pte_run for aarch64."""
    return sdk.unpacked(sdk.ARM64) / "bin/pte_run"


def run(
    program: Path, feeds: Mapping[str, np.ndarray], folder: Path, cpu: str, *options: str
) -> np.ndarray:
    """The first output of `program`, computed by pte_run on the emulated `cpu`."""
    return sdk.run(sdk.ARM64, program, feeds, folder, *options, cpu=cpu)
