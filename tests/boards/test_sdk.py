"""The archives of the C library: what is in them, programs of all kinds that give this machine's bytes, linking by both ways."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from boards import sdk
from turns import one_at_a_time

pytestmark = pytest.mark.slow
CLASSES = {"x86_64": "ELF64", "aarch64": "ELF64", "armv7": "ELF32", "riscv64": "ELF64"}


@pytest.fixture(scope="module", params=sdk.EACH)
def target(request: pytest.FixtureRequest) -> sdk.Target:
    sdk.unpacked(request.param)
    return request.param


def test_the_archive_holds_library_headers_build_files_and_tools(target: sdk.Target) -> None:
    folder = sdk.unpacked(target)
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*")}
    assert {
        "LICENSE", "boards.md", "examples/run.c", "examples/serve.c", "bin/pte_run", "bin/pte_bench", "bin/pte_dump", "include/pteron/pteron.h",
        "include/pteron/host.h", "lib/libpteron.a", "lib/libpteron.so", "lib/libpteron_delegates.a",
        "lib/pkgconfig/pteron.pc", "lib/cmake/pteron/pteron-config.cmake",
    } <= files  # fmt: skip
    said = sdk.sh("readelf", "-hlW", folder / "lib/libpteron.so")
    assert CLASSES[target.name.split("-")[0]] in said
    loads = re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", said, re.M)
    stack = re.search(r"GNU_STACK .* (\w+) +0x", said)
    assert loads and min(int(align, 16) for align in loads) >= 0x1000
    assert stack is not None and stack[1] == "RW"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sdk.write_corpus(tmp_path_factory.mktemp("corpus"))


def test_every_program_gives_the_digests_of_this_machine(
    target: sdk.Target, corpus: list[Path], record_property: Callable[[str, object], None]
) -> None:
    want = sdk.digests(sdk.TARGETS[0].pte_run(), corpus, "--portable")
    assert sum(re.search("[0-9a-f]{64}", text) is not None for text in want.values()) > 55
    record_property("programs", f"pte_run on {len(want)} programs, 2 threads")
    for cpu in target.cpus:
        got = sdk.digests(target.pte_run(cpu), corpus, "--threads", "2")
        assert got == want, {
            name: (got[name], want[name]) for name in want if got[name] != want[name]
        }


def test_a_program_is_linked_by_pkg_config_and_by_cmake(
    target: sdk.Target, corpus: list[Path], tmp_path: Path
) -> None:
    sdk.need("pkg-config")
    folder, source = sdk.unpacked(target), sdk.ROOT / "examples/c/run.c"
    path = {"PKG_CONFIG_LIBDIR": f"{folder}/lib/pkgconfig"}
    flags = sdk.sh("pkg-config", "--cflags", "--libs", "pteron", **path).split()
    arch = ["-march=armv7-a", "-mfpu=neon-vfpv4"] if target.name.startswith("armv7") else []
    sdk.sh(target.cc, *arch, source, *flags, "-o", tmp_path / "shared")
    program = next(p for p in corpus if p.stem == "digits-None")
    shared = ["-E", f"LD_LIBRARY_PATH={folder}/lib"] if target.emulator else []
    command = target.command()
    with_library = {} if target.emulator else {"LD_LIBRARY_PATH": f"{folder}/lib"}
    said = sdk.sh(*command, *shared, tmp_path / "shared", program, "batch=2", **with_library)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(run C)\nfind_package(pteron REQUIRED)\n"
        "add_executable(run run.c)\ntarget_link_libraries(run PRIVATE pteron::pteron_static)\n"
    )
    shutil.copy(source, tmp_path)
    tools = []
    if target.emulator:
        tools = [f"-DCMAKE_TOOLCHAIN_FILE={sdk.ROOT}/runtime_c/cmake/{target.name}.cmake"]
    found = [f"-Dpteron_DIR={folder}/lib/cmake/pteron"]
    sdk.sh("cmake", "-S", tmp_path, "-B", tmp_path / "build", *tools, *found)
    sdk.sh("cmake", "--build", tmp_path / "build")
    assert sdk.sh(*command, tmp_path / "build/run", program, "batch=2") == said
    assert said.startswith("logits: f32[2, 10]")


def test_pte_bench_says_percentiles_and_operators(target: sdk.Target, corpus: list[Path]) -> None:
    program = next(p for p in corpus if p.stem == "digits-None")
    bench = [*target.command(), sdk.unpacked(target) / "bin/pte_bench"]
    said = sdk.sh(*bench, program, "--runs", "3", "--threads", "1")
    assert re.search(r"3 runs: p50 [\d.]+  p90 [\d.]+  p99 [\d.]+  min [\d.]+ ms", said)
    assert re.search(r"^ +[\d.]+ ms +[\d.]+ %  conv +3$", said, re.M)


def test_the_pages_commands_run_on_this_machine(root: Path, tmp_path: Path) -> None:
    """The desk's in the checkout, the board's in an empty folder with the archive and the program."""
    sdk.need("cmake", "pkg-config")
    desk, *board = re.findall(r"```sh\n(.*?)```", (root / "docs/boards.md").read_text(), re.S)
    export, make = desk.replace("pteron export", f"{sys.executable} -m pteron export").splitlines()
    sdk.sh("bash", "-euc", export.replace("digits.pte", f"{tmp_path}/digits.pte"))
    with one_at_a_time("sdk"):
        sdk.sh("bash", "-euc", make)
        (archive,) = (root / "dist/sdk").glob(f"pteron-*-{sdk.HERE}.tar.gz")
        shutil.copy(archive, tmp_path)
    said = sdk.sh("bash", "-euc", f"cd {tmp_path}\n" + "".join(board))
    assert re.search(r"^logits: f32\[1, 10\] [0-9a-f]{64}$", said, re.M)
    assert re.search(r"20 runs: p50 ", said) and "logits: f32[2, 10]" in said
