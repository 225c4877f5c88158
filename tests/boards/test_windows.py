"""The runtime on 64-bit Windows, under wine: a few C tests in every run of CI, all of them and every program in the slow matrix."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from boards import sdk, windows

import pteron

pytestmark = pytest.mark.slow
ASKED = {"KERNEL32.dll", "msvcrt.dll"}
"""What every Windows has."""


@pytest.fixture(scope="module", autouse=True)
def _samples() -> None:
    windows.need()
    sdk.samples.write(sdk.ROOT / "build/samples")


def test_files_threads_and_sessions_are_those_of_the_c_tests() -> None:
    """Without the variants for instruction sets, which take a minute to compile."""
    tests = ("test_win32", "test_host", "test_pool")
    out = windows.built(
        "win64-small", "-DCMAKE_BUILD_TYPE=Debug", "-DPTE_AVX512=OFF", targets=tests
    )
    for name in tests:
        assert sdk.sh(*windows.WINE, out / f"tests/c/{name}.exe", timeout=200) == ""


@pytest.fixture(scope="module")
def whole() -> Path:
    """Library, tools and tests, as they are shipped."""
    return windows.built("win64")


@pytest.mark.boards
def test_all_c_tests_pass(whole: Path) -> None:
    said = sdk.sh("ctest", "--test-dir", whole, "--timeout", "200", **windows.QUIET)
    assert re.search(r"100% tests passed, 0 tests failed out of 2[5-9]", said), said


@pytest.mark.boards
def test_every_program_gives_the_digests_of_this_machine(
    whole: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    corpus = sdk.write_corpus(tmp_path)
    want = sdk.digests(sdk.TARGETS[0].pte_run(), corpus, "--portable")
    record_property("programs", f"pte_run on {len(want)} programs, portable and with 2 threads")
    run = [*windows.WINE, str(whole / "runtime_c/pte_run.exe")]
    for options in (["--threads", "2"], ["--portable"]):
        got = {
            name: text.replace("\r", "")
            for name, text in sdk.digests(run, corpus, *options).items()
        }
        assert got == want, {
            name: (got[name], want[name]) for name in want if got[name] != want[name]
        }


@pytest.mark.boards
def test_the_library_exports_the_interface_and_asks_for_windows_alone(whole: Path) -> None:
    said = sdk.sh("x86_64-w64-mingw32-objdump", "-p", whole / "runtime_c/libpteron.dll")
    assert set(re.findall(r"DLL Name: (\S+)", said)) <= ASKED
    table = said.split("[Ordinal/Name Pointer] Table")[1]
    assert set(re.findall(r"^\s*\[\s*\d+\].*?(pte_\w+)$", table, re.M)) == sdk.declared()


@pytest.mark.boards
def test_the_wheel_runs_in_cpython_for_windows(digits: Path, tmp_path: Path) -> None:
    """CPython, NumPy and cffi for Windows are packages of the index; the outputs are this machine's bytes."""
    sdk.sh("make", "-s", "wheel-windows")
    (wheel,) = (sdk.ROOT / "dist").glob("pteron-*-win_amd64.whl")
    folder, site = sdk.ROOT / "build/python-windows", tmp_path / "site"
    parts = [wheel, *folder.glob("*.whl")]
    for part in parts:
        with zipfile.ZipFile(part) as packed:
            packed.extractall(site)
    x = np.random.default_rng(0).random((3, 1, 8, 8), np.float32)
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, numpy as np, pteron\n"
        "y = pteron.load(sys.argv[1], threads=2)(np.load(sys.argv[2]))\n"
        "print(y.tobytes().hex())\n"
        "try: pteron.load(sys.argv[1] + '.none')\n"
        "except FileNotFoundError: print('missing')\n"
    )
    python = folder / "cp313/python.exe"
    said = sdk.sh(
        *windows.WINE, python, "-c", script, digits, tmp_path / "x.npy", PYTHONPATH=f"Z:{site}"
    )
    with pteron.load(digits, threads=1) as model:
        assert said.split() == [model(x).tobytes().hex(), "missing"]
