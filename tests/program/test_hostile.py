"""Hostile files: corrupted copies of programs load and run in child processes, and none of them does harm.

For each file 1,600 single-word changes, every truncation and 2,000 changes of several bytes, each as it is and with all
digests made right again. Expected: no crash, no hang, no request for memory above the cap, and every refusal names a place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import mutate, op_samples, samples

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "build/ctest/library"
"""The library under sanitizers, as tests/c/run.sh builds it."""

FLAGS = ["-std=c11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cc, cmake = shutil.which("cc"), shutil.which("cmake")
    if cc is None or cmake is None:
        pytest.skip("no C compiler or no cmake")
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DPTE_SANITIZE=ON", f"-DCMAKE_C_COMPILER={cc}"]
    options += [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TOOLS", "TESTS")]
    subprocess.run([cmake, "-S", ROOT, "-B", LIBRARY, *options], check=True, capture_output=True)
    subprocess.run([cmake, "--build", LIBRARY, "-j", "2"], check=True, capture_output=True)
    out = tmp_path_factory.mktemp("hostile") / "hostile"
    folders = [f"-I{ROOT}/{f}" for f in ("runtime_c", "runtime_c/include", "tests/c", "tests/fuzz")]
    sources = [ROOT / "tests/fuzz/hostile.c", ROOT / "tests/fuzz/exercise.c"]
    library = LIBRARY / "runtime_c/libpteron.a"
    command = [cc, *FLAGS, *folders, *map(str, sources), str(library), "-lm", "-pthread"]
    subprocess.run([*command, "-o", str(out)], check=True)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("programs")
    samples.write(out)
    op_samples.write(out)
    return out


def check(hostile: Path, file: Path) -> None:
    totals = mutate.attack(hostile, file)
    complaints = totals.pop("complaints")
    bad = {k: v for k, v in totals.items() if k in ("crashes", "hangs", "broken") and v}
    assert not bad, f"{file.name}: {totals}\n{complaints[:6000]}"
    assert totals["ran"] > 0, f"{file.name}: no copy ran: {totals}"


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_corrupted_programs_do_no_harm(name: str, hostile: Path, folder: Path) -> None:
    check(hostile, folder / f"{name}.pte")


@pytest.mark.slow
@pytest.mark.parametrize("name", op_samples.CASES)
def test_corrupted_operators_do_no_harm(name: str, hostile: Path, folder: Path) -> None:
    check(hostile, folder / f"op_{name}.pte")
