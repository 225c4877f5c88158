"""Other C libraries by zig, which is a package of the index; and Apple's systems, whose headers it has: their sources compile, a
library links. Nothing of Apple's has run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trees
from boards import sdk

pytestmark = [pytest.mark.slow, pytest.mark.boards]
FOLDER = sdk.ROOT / "build/zig"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wmissing-prototypes", "-Werror", "-ffp-contract=off", "-fvisibility=hidden")  # fmt: skip
ARM = ("-DPTE_HAVE_NEON=1", "-DPTE_HAVE_DOTPROD=1", "-DPTE_HAVE_I8MM=1", "-march=armv8.6-a+dotprod+i8mm")  # fmt: skip
X86 = ("-DPTE_HAVE_AVX2=1", "-mavx2", "-mfma", "-mf16c")
APPLE = {
    "arm64-apple-macos13": ARM,
    "x86_64-apple-macos13": X86,
    "arm64-apple-ios16": ARM,
    "arm64-apple-ios16-simulator": ARM,
}
ASKED = {
    *("memcpy", "memmove", "memset", "memset_pattern16", "bzero", "strcmp", "strlen", "strerror", "calloc", "free", "malloc"),
    *("posix_memalign", "close", "fstat", "mmap", "munmap", "open", "pread", "clock_gettime", "getpid", "sched_yield", "sysconf"),
    *("sysctlbyname", "pthread_create", "pthread_join", "dyld_stub_binder"),
    *(f"pthread_cond_{verb}" for verb in ("broadcast", "destroy", "init", "signal", "wait")),
    *(f"pthread_mutex_{verb}" for verb in ("destroy", "init", "lock", "unlock")),
    *("__error", "__memcpy_chk", "__stack_chk_fail", "__stack_chk_guard"),
}  # fmt: skip
"""What the library may ask of libSystem."""


@pytest.fixture(scope="module")
def zig() -> Path:
    """The folder of zig 0.17: its compiler, and headers of the C libraries that it knows."""
    sdk.need("cmake", "clang-19", "ld64.lld-19", "llvm-ar-19", "llvm-nm-19")
    out = FOLDER / "ziglang"
    if not (out / "zig").exists():
        words = ("install", "-q", "--no-deps", "--target", FOLDER, "ziglang==0.17.0")
        sdk.sh(sys.executable, "-m", "pip", *words)
    for name in ("global", "local"):
        os.environ[f"ZIG_{name.upper()}_CACHE_DIR"] = str(FOLDER / f"cache-{name}")
    return out


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sdk.write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("target", ["x86_64-linux-musl", "x86_64-linux-gnu.2.17"])
def test_other_c_libraries_give_the_digests_of_this_machine(
    target: str, zig: Path, corpus: list[Path], record_property: Callable[[str, object], None]
) -> None:
    toolchain = sdk.ROOT / "runtime_c/cmake/zig.cmake"
    words = [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DPTE_ZIG={zig / 'zig'}"]
    words += [f"-DPTE_ZIG_TARGET={target}", "-DPTE_BUILD_TESTS=OFF", "-DPTE_AVX512=OFF"]
    tree = trees.built(f"zig/{target}", *words, targets=["pteron", "pte_run"], timeout=900)
    run = tree / "runtime_c/pte_run"
    asked = sdk.sh("objdump", "-p", run)
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", asked)}
    if "musl" in target:
        assert "NEEDED" not in asked and not versions
    else:
        assert versions and max(versions) <= (2, 17)
    want = sdk.digests(sdk.TARGETS[0].pte_run(), corpus, "--portable")
    record_property("programs", f"pte_run on {len(want)} programs, 2 threads")
    got = sdk.digests([str(run)], corpus, "--threads", "2")
    assert got == want, {name: (got[name], want[name]) for name in want if got[name] != want[name]}


def sources(*more: str) -> list[Path]:
    """Of the library, for POSIX systems; and what `more` names."""
    folders = ("core", "gen", "program", "session", "text", "kernels", "kernels/*", "delegates/null", "host", "host/posix", *more)  # fmt: skip
    found = [path for each in folders for path in sdk.ROOT.glob(f"runtime_c/{each}/*.c")]
    assert len(found) > 160
    return sorted(found)


def compiler(target: str, zig: Path) -> list[str | Path]:
    headers = zig / "lib/libc/include/any-darwin-any"
    runtime = sdk.ROOT / "runtime_c"
    words: list[str | Path] = ["clang-19", "-target", target, "-nostdlibinc", "-isystem", headers]
    return [*words, *STRICT, *APPLE[target], f"-I{runtime}", f"-I{runtime}/include"]


@pytest.mark.parametrize("target", APPLE)
def test_every_file_compiles_for_apples_systems(target: str, zig: Path) -> None:
    sdk.sh(*compiler(target, zig), "-fsyntax-only", *sources("delegates", "tools"))


def test_a_library_for_macos_exports_the_interface_and_asks_for_few_things(
    zig: Path, tmp_path: Path
) -> None:
    target, objects = "arm64-apple-macos13", []
    for i, source in enumerate(sources()):
        objects.append(tmp_path / f"{i}.o")
        sdk.sh(*compiler(target, zig), "-O1", "-c", source, "-o", objects[-1])
    text = (zig / "lib/libc/darwin/libSystem.tbd").read_text()  # of a processor that lld 19 has not
    text = re.sub(r",\s*\]", " ]", re.sub(r"arm64e\.x1-[a-z]+,?", "", text))
    (tmp_path / "libSystem.tbd").write_text(text)
    library = tmp_path / "libpteron.dylib"
    words = ("-arch", "arm64", "-platform_version", "macos", "13", "13", "-dylib", "-dead_strip")
    sdk.sh("ld64.lld-19", *words, "-o", library, *objects, tmp_path / "libSystem.tbd")
    names = sdk.sh("llvm-nm-19", "-g", "--defined-only", library)
    assert set(re.findall(r" [A-Z] _(pte_\w+)$", names, re.M)) == sdk.declared()
    asked = sdk.sh("llvm-nm-19", "-u", "-j", library).split()
    assert {name.removeprefix("_") for name in asked} <= ASKED
