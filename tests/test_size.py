"""The shared library's size, exports, imports and segments: small, few names out, none in but what C11 has free-standing."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from turns import one_at_a_time

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cmake", "nm", "readelf")),
    reason="needs cmake and binutils",
)

LIBC = {
    *("memcmp", "memcpy", "memmove", "memset", "strchr", "strcmp", "strerror", "strlen", "strrchr"),
    *("calloc", "free", "malloc", "posix_memalign"),
    *("close", "fstat", "madvise", "mmap", "munmap", "open", "pread", "__errno_location"),
    *("clock_gettime", "getpid", "sched_getaffinity", "sched_yield", "sysconf", "__sched_cpucount"),
    *("sched_getcpu", "sched_setaffinity", "setpriority", "syscall"),
    *(f"pthread_cond_{verb}" for verb in ("broadcast", "destroy", "init", "signal", "wait")),
    *(f"pthread_mutex_{verb}" for verb in ("destroy", "init", "lock", "unlock")),
    *("pthread_create", "pthread_join"),
}
"""What the library may ask of its host: no math, no printing, nothing of the C++ or OpenMP runtimes."""

START = {
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__cxa_finalize",
    "__gmon_start__",
}
"""Weak references of the compiler's own start files."""


@pytest.fixture(scope="module")
def size() -> Any:
    spec = importlib.util.spec_from_file_location("size", ROOT / "benchmarks/size.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(size: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The report, and the library as it was then."""
    library = tmp_path_factory.mktemp("size") / "libpteron.so"
    with one_at_a_time("size"):
        report = dict(size.report())
        shutil.copy(size.BUILD / "libpteron.stripped.so", library)
    return report, library


@pytest.fixture(scope="module")
def report(built: tuple[dict[str, Any], Path]) -> dict[str, Any]:
    return built[0]


@pytest.fixture(scope="module")
def library(built: tuple[dict[str, Any], Path]) -> Path:
    return built[1]


def said(*command: object) -> list[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library: Path, kind: str) -> set[str]:
    return {line.split()[-1].split("@")[0] for line in said("nm", "-D", kind, library)}


def test_core_is_under_74_kilobytes(report: dict[str, Any]) -> None:
    """60 KB, and 5 for the relations of the rows: 2.7 KB evaluate them, 1.7 KB are their codes, 0.7 KB their errors. 13 KB
    of checks in kernels went for it. 0.7 KB for the watch that ends runs, 1.6 KB for what keeps verify, prepare and questions
    linear (an index of states 0.4, places of operands 0.6), 0.2 KB for the control word on the caller's threads, 0.3 KB for
    structs that say their size, 0.5 KB for what callers may ask of instructions and nodes, 0.1 KB for nodes' names in errors. 2.9 KB prove that no run reads
    memory that nothing wrote, 0.7 KB check the roles of states before they are saved, 0.9 KB bind sizes that are multiples of a
    dimension, 0.5 KB compute sizes in floats, 0.2 KB are the row of trees."""
    assert report["core"] < 74 * 1024, report["parts"]


def test_text_is_under_6_kilobytes(report: dict[str, Any]) -> None:
    """What generates text, and nothing else needs: sampling, sessions as bytes."""
    assert 0 < report["parts"]["text"] < 6 * 1024, report["parts"]


def test_library_is_under_808_kilobytes(report: dict[str, Any]) -> None:
    """800 KB, the core's last 5 and 2.3 for trees."""
    assert report["library"] < 808 * 1024, report["parts"]


def test_exports_are_what_the_public_headers_declare(library: Path) -> None:
    declared: set[str] = set()
    for header in (ROOT / "runtime_c/include/pteron").glob("*.h"):
        text = re.sub(r"^[ \t]*#.*$", "", header.read_text(), flags=re.MULTILINE)
        declared |= set(re.findall(r"\bPTE_API\b[^;(]*?\b(pte_\w+)\s*\(", text))
    assert symbols(library, "--defined-only") == declared


def test_imports_are_few_and_known(library: Path) -> None:
    asked = symbols(library, "--undefined-only") - START
    assert {name.removesuffix("64") for name in asked} <= LIBC  # open64: large files on 32 bits


def test_android_has_what_the_library_may_ask_for() -> None:
    """The package built without an NDK links against a list of what Android's libraries have."""
    stubs = (ROOT / "android_demo/smoke/stubs.txt").read_text().split()
    assert LIBC - {"__errno_location"} | {"__errno"} <= {*stubs}


def test_no_segment_is_writable_and_executable(library: Path) -> None:
    rows = [line.split() for line in said("readelf", "-lW", library)]
    flags = {
        (row[0], "".join(row[6:-1])) for row in rows if row and row[0] in ("LOAD", "GNU_STACK")
    }
    assert {kind for kind, _ in flags} == {"LOAD", "GNU_STACK"}
    assert not any("W" in flag and "E" in flag for _, flag in flags)
    assert not any(kind == "GNU_STACK" and "E" in flag for kind, flag in flags)
