"""The library builds with one line, and an installed one is found by CMake and by pkg-config."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pteron.export.file.emit import emit_bytes
from pteron.export.program import Block, Dim, Instr, Method, Port, Program, Value
from pteron.export.sizes.expressions import symbol
from pteron.schema.steps import Step

CONSUMER = """
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(pteron REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE pteron::pteron)
add_executable(consumer_static main.c)
target_link_libraries(consumer_static PRIVATE pteron::pteron_static)
add_executable(example example.c)
target_link_libraries(example PRIVATE pteron::pteron)
"""
MAIN = """
#include <pteron/delegate.h>
#include <pteron/host.h>
int main(void) {
  pte_pool *pool;
  if (pte_api_version() != PTE_API_VERSION || pte_delegate_null() == 0) return 1;
  pte_host_pool_options options = {.size = sizeof options, .threads = 2};
  if (pte_host_pool_open(&options, &pool, 0) != PTE_OK) return 1;
  pte_host_pool_close(pool);
  return 0;
}
"""


def write_tanh(path: Path) -> None:
    """y = tanh(x + 1), float32 [n]."""
    n = Dim("n")
    values = (Value("x", "f32", (symbol(n),), "input"), Value("y", "f32", (symbol(n),), "output"))
    steps = (
        Step("load", "f32", 0),
        Step("literal", "f32", 1, arg=1.0),
        Step("add", "f32", 0, (0, 1)),
        Step("tanh", "f32", 0, (0,)),
        Step("store", "f32", args=(0,)),
    )
    block = Block((Instr("pointwise", (0,), (1,), {"steps": steps}),))
    method = Method("main", (Port("x", 0),), (Port("y", 1),), (0, 2), 0)
    path.write_bytes(
        emit_bytes(Program("tanh", (n,), values=values, blocks=(block,), methods=(method,)))
    )


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_the_line_in_the_documentation_builds_the_library(root: Path, tmp_path: Path) -> None:
    lines = re.findall(r"^    (cc -std=c11 .*)$", (root / "docs/c.md").read_text(), flags=re.M)
    assert len(lines) == 1
    library = tmp_path / "libpteron.so"
    line = lines[0].replace("-o libpteron.so", f"-o {library}").replace("-O2", "-O0")
    run("bash", "-c", f"shopt -s nullglob; {line}", cwd=root)
    assert ctypes.CDLL(str(library)).pte_api_version() == 1


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


@pytest.mark.slow
def test_an_installed_library_is_found(root: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    flags = [
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DPTE_BUILD_TESTS=OFF",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path}/to",
    ]
    run("cmake", "-S", root, "-B", tmp_path / "build", *flags, cwd=root)
    run("cmake", "--build", tmp_path / "build", "-j", "2", cwd=root)
    run("cmake", "--install", tmp_path / "build", cwd=root)
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "main.c").write_text(MAIN)
    shutil.copy(root / "examples/c/run.c", tmp_path / "example.c")
    run(
        "cmake",
        "-S",
        tmp_path,
        "-B",
        tmp_path / "use",
        f"-DCMAKE_PREFIX_PATH={tmp_path}/to",
        cwd=root,
    )
    run("cmake", "--build", tmp_path / "use", cwd=root)
    run(tmp_path / "use/consumer", cwd=root)
    run(tmp_path / "use/consumer_static", cwd=root)
    write_tanh(tmp_path / "tanh.pte")
    assert run(tmp_path / "use/example", tmp_path / "tanh.pte", "5", cwd=root).strip() == "0.964028"
    if shutil.which("pkg-config") is None:
        return
    folder = next((tmp_path / "to").rglob("pkgconfig"))
    words = run(
        "pkg-config",
        "--cflags",
        "--libs",
        "pteron",
        cwd=root,
        env={**os.environ, "PKG_CONFIG_PATH": str(folder)},
    ).split()
    assert f"-I{tmp_path}/to/include" in words and "-lpteron" in words
