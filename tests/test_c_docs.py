"""docs/c.md, run as it stands; and the three ways to link the library: installed, moved, inside another project."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import pteron

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cmake", "pkg-config")),
        reason="needs cmake and pkg-config",
    ),
]


def blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (root / "docs/c.md").read_text(), flags=re.S)


def run(command: list[str | Path], cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def write_model(path: Path) -> None:
    """y = tanh(x + 1), x: f32[n]; and how many of x there are."""
    info = helper.make_tensor_value_info
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    nodes = [
        helper.make_node("Add", ["x", "one"], ["s"]),
        helper.make_node("Tanh", ["s"], ["y"]),
        helper.make_node("Shape", ["x"], ["count"]),
    ]
    outputs = [info("y", TensorProto.FLOAT, ["n"]), info("count", TensorProto.INT64, [1])]
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, ["n"])], outputs, [one])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    pteron.export_model(model, path)


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of what the page builds, after its shell blocks have run there; home is beside it."""
    home = tmp_path_factory.mktemp("home")
    copy = tmp_path_factory.mktemp("tree") / "pteron"
    copy.mkdir()
    shutil.copy(root / "CMakeLists.txt", copy)
    for folder in ("runtime_c", "examples/c"):
        shutil.copytree(root / folder, copy / folder)
    write_model(copy / "model.pte")
    fast = [block.replace("-O2", "-O0") for block in blocks(root, "sh")]  # one line: no ccache
    for block in fast[:-1]:
        run(["bash", "-euc", block], copy, HOME=str(home))
    (copy / "said").write_text(run(["bash", "-euc", fast[-1]], copy, HOME=str(home)))
    shutil.move(home / "pteron", home / "moved")
    yield copy
    shutil.rmtree(copy)


@pytest.fixture(scope="module")
def moved(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed folder, elsewhere than where it was installed to."""
    return next(tmp_path_factory.getbasetemp().glob("home*/moved"))


def test_the_pages_commands_end_in_a_run(checkout: Path) -> None:
    lines = (checkout / "said").read_text().splitlines()
    assert re.fullmatch(r"y: f32\[1\] -?0\.\d+", lines[0]) and lines[1] == "count: i64[1] 1"


def test_the_line_without_cmake_gives_a_library(checkout: Path) -> None:
    assert ctypes.CDLL(str(checkout / "libpteron.so")).pte_api_version() == 1


def test_the_pages_c_compiles(root: Path, checkout: Path) -> None:
    for block in blocks(root, "c"):
        (checkout / "block.c").write_text(block)
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
        run(["cc", *flags, f"-I{root}/runtime_c/include", "block.c"], checkout)


def test_the_example_runs_any_sizes_and_files(checkout: Path, moved: Path) -> None:
    def said(*words: str) -> list[str]:
        return run(
            ["./run", "model.pte", *words], checkout, LD_LIBRARY_PATH=f"{moved}/lib"
        ).splitlines()

    assert said("n=3")[1] == "count: i64[1] 3"
    np.save(checkout / "x.npy", np.full(5, 1, np.float32))
    assert said("x=x.npy") == ["y: f32[5]" + " 0.964028" * 5, "count: i64[1] 5"]
    np.save(checkout / "x.npy", np.full(5, 1, np.float64))
    refused = subprocess.run(
        ["./run", "model.pte", "x=x.npy"],
        cwd=checkout,
        env={**os.environ, "LD_LIBRARY_PATH": f"{moved}/lib"},
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 1 and "not as wide" in refused.stderr


def build(root: Path, folder: Path, lists: str, *options: str) -> str:
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(lists)
    shutil.copy(root / "examples/c/run.c", folder)
    run(["cmake", "-S", ".", "-B", "build", *options], folder)
    run(["cmake", "--build", "build", "-j", "2"], folder)
    return run(["build/run", folder.parent / "model.pte", "n=2"], folder)


def test_an_installed_library_that_was_moved_is_found(
    root: Path, checkout: Path, moved: Path, tmp_path: Path
) -> None:
    write_model(tmp_path / "model.pte")
    lists = blocks(root, "cmake")[0]
    assert "count: i64[1] 2" in build(root, tmp_path / "use", lists, f"-DCMAKE_PREFIX_PATH={moved}")
    static = lists.replace("pteron::pteron)", "pteron::pteron_static)")
    assert "count" in build(root, tmp_path / "static", static, f"-DCMAKE_PREFIX_PATH={moved}")


def test_pkg_config_follows_a_folder_that_was_moved(checkout: Path, moved: Path) -> None:
    words = run(
        ["pkg-config", "--cflags", "--libs", "pteron"],
        checkout,
        PKG_CONFIG_PATH=f"{moved}/lib/pkgconfig",
    ).split()
    folders = [Path(w[2:]).resolve() for w in words if w[:2] in ("-I", "-L")]
    assert folders == [(moved / "include").resolve(), (moved / "lib").resolve()]
    assert "-lpteron" in words


def test_inside_another_project_it_is_the_same_target(
    root: Path, checkout: Path, tmp_path: Path
) -> None:
    """Static, without tests and tools; and so is an installed library that was built so."""
    write_model(tmp_path / "model.pte")
    found = "find_package(pteron REQUIRED)"
    lists = blocks(root, "cmake")[0]
    inside = lists.replace(found, f"add_subdirectory({checkout} pteron)")
    assert found in lists and "count: i64[1] 2" in build(root, tmp_path / "inside", inside)
    run(["cmake", "--install", tmp_path / "inside/build", "--prefix", tmp_path / "to"], tmp_path)
    assert not list((tmp_path / "to").rglob("*.so")) and not list(
        (tmp_path / "to").rglob("pte_run")
    )
    assert "count" in build(root, tmp_path / "use", lists, f"-DCMAKE_PREFIX_PATH={tmp_path}/to")
