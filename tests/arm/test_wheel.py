"""The wheel for 64-bit Arm: cross-built, audited, imported by an arm64 CPython under an emulator, same digest as here."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from arm import cross

import pteron
from pteron.quantize.encode.table import FORMATS

pytestmark = pytest.mark.slow

SYSROOT = cross.FOLDER / "python"
SCRIPT = """
import hashlib, platform, sys
import numpy as np
import pteron
from pteron.runtime.cpu import features
x = np.load(sys.argv[2])
print(platform.machine(), *features())
for cpu in (None, 0):
    print(hashlib.blake2s(pteron.load(sys.argv[1], threads=2, cpu=cpu)(x).tobytes()).hexdigest())
"""
ENCODE = """
import hashlib
import numpy as np
from pteron.quantize.encode import codec, nested
from pteron.quantize.encode.table import FORMATS
w = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
for fmt in FORMATS.values():
    made = codec.encode(w, fmt, fmt.block or 256, nested.outer_of(w, fmt))
    print(fmt.name, hashlib.blake2s(b"".join(part.tobytes() for part in made.parts)).hexdigest())
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    cross.need("make", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump")
    pytest.importorskip("auditwheel", reason="auditwheel is not installed: make dev")
    venv = Path(sys.executable).parents[1]
    cross.sh("make", "-s", "-o", f"{venv}/.dev", f"VENV={venv}", "wheel-aarch64")
    return cross.ROOT / f"dist/pteron-{pteron.__version__}-cp311-abi3-linux_aarch64.whl"


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files."""
    out = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(out)
    return out


@pytest.fixture(scope="module")
def python() -> list[str]:
    """The command that runs an arm64 Python, less -cpu; made once and kept."""
    cross.need("qemu-aarch64", "apt-get", "dpkg")
    script = Path(__file__).parent / "sysroot.sh"
    made = subprocess.run(
        [script, SYSROOT],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHON": sys.executable},
    )
    if made.returncode:
        pytest.skip(f"no arm64 Python: {(made.stdout + made.stderr).strip()[-300:]}")
    return ["qemu-aarch64", "-L", str(SYSROOT), str(SYSROOT / "usr/bin/python3.11")]


def test_the_wheel_is_for_any_recent_glibc_and_python(wheel: Path) -> None:
    shown = " ".join(cross.sh(sys.executable, "-m", "auditwheel", "show", wheel).split())
    assert 'is consistent with the following platform tag: "manylinux_2_' in shown
    assert '_aarch64"' in shown


def test_the_wheel_carries_the_variants(site: Path) -> None:
    """fmla by vectors is NEON, sdot is dotprod; the emulator's processors choose among them in tests/arm/test_outputs.py."""
    code = cross.sh("aarch64-linux-gnu-objdump", "-d", site / "pteron/_pteron.abi3.so")
    for instruction in ("fmla\tv", "sdot\tv"):
        assert instruction in code, f"no {instruction.split()[0]} in the wheel"


@pytest.mark.parametrize(
    "cpu, features",
    [("max", {"portable", "neon", "dotprod", "i8mm"}), ("cortex-a53", {"portable", "neon"})],
)
def test_arm_python_gives_the_same_digests(
    cpu: str, features: set[str], site: Path, python: list[str], digits: Path, tmp_path: Path
) -> None:
    images = (np.load(cross.ROOT / "examples/digits/test.npz")["image"][:8] / 16).astype(np.float32)
    np.save(tmp_path / "x.npy", images)
    command = [python[0], "-cpu", cpu, *python[1:], "-c", SCRIPT]
    path = f"{site}:{SYSROOT / 'site'}"
    out = cross.sh(
        *command, digits, tmp_path / "x.npy", PYTHONHOME=str(SYSROOT / "usr"), PYTHONPATH=path
    )
    (machine, *found), *digests = [line.split() for line in out.splitlines()]
    want = hashlib.blake2s(pteron.load(digits, threads=1)(images).tobytes()).hexdigest()
    assert machine == "aarch64"
    assert set(found) == features
    assert digests == [[want], [want]]


def test_arm_encodes_the_same_bytes(site: Path, python: list[str]) -> None:
    path = f"{site}:{SYSROOT / 'site'}"
    there = cross.sh(*python, "-c", ENCODE, PYTHONHOME=str(SYSROOT / "usr"), PYTHONPATH=path)
    assert there == cross.sh(sys.executable, "-c", ENCODE)
    assert len(there.splitlines()) == len(FORMATS)
