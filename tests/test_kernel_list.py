"""A library for one program: built with its list of kernels it is small, holds nothing else, and gives the same bytes."""

from __future__ import annotations

import dataclasses
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import trees
from onnx import TensorProto

import pteron
from pteron.cli import main
from pteron.export.program import kernels
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cmake", "nm", "strip")),
        reason="needs cmake and binutils",
    ),
]
MOST = 127 * 1024
"""With variants for AVX2 beside portable ones; the whole library has 806 KB. The core is 74 KB of it."""


def sh(*command: str | Path, code: int = 0) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def make(folder: Path, *options: str) -> Path:
    """The library and pte_run with folder/kernels.h; returns where they are."""
    words = [f"-DPTE_KERNEL_LIST={folder}/kernels.h", "-DPTE_BUILD_TESTS=OFF", "-DPTE_AVX512=OFF"]
    name = f"{folder.name}/{'-'.join(['build', *options])}"
    return trees.built(name, *words, *options, targets=["pteron", "pte_run"]) / "runtime_c"


def stripped(library: Path) -> int:
    out = library.with_suffix(".stripped")
    sh("strip", "--strip-unneeded", "-o", out, library)
    return out.stat().st_size


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """build/small, made with the list of the digit classifier, which lies there too."""
    folder = root / "build/small"
    folder.mkdir(parents=True, exist_ok=True)
    listed = tmp_path_factory.mktemp("list") / "kernels.h"
    source, program = root / "examples/digits/digits.onnx", folder / "digits.pte"
    words = ["export", str(source), "-o", str(program), "--kernel-list", str(listed), "-q"]
    assert main(words) == 0
    if not (folder / "kernels.h").exists() or (
        (folder / "kernels.h").read_text() != listed.read_text()
    ):
        shutil.copy(listed, folder / "kernels.h")
    make(folder)
    return folder


def test_it_is_small(built: Path) -> None:
    assert stripped(built / "build/runtime_c/libpteron.so") < MOST


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
def test_one_set_of_variants_is_smaller_and_refuses_lesser_processors(built: Path) -> None:
    both, one = built / "build/runtime_c", make(built, "-DPTE_LEAST=avx2")
    assert stripped(one / "libpteron.so") < stripped(both / "libpteron.so")
    names = sh("nm", "--defined-only", one / "libpteron.so")
    assert "__avx2" in names and "__portable" not in names
    program = built / "digits.pte"
    assert (
        sh(one / "pte_run", program, "--seed", "1").splitlines()[1]
        == (sh(both / "pte_run", program, "--seed", "1").splitlines()[1])
    )
    assert "build is for processors" in sh(one / "pte_run", program, "--portable", code=1)


def test_no_other_kernel_is_in_it(built: Path) -> None:
    names = sh("nm", "--defined-only", built / "build/runtime_c/libpteron.so")
    found = set(re.findall(r" [rRdD] pte_(\w+)_kernel$", names, re.M))
    left_out = set(re.findall(r"PTE_WITHOUT_(\w+)", (built / "kernels.h").read_text()))
    kept = {op for op in OPS if op.upper() not in left_out and op not in CONTROL}
    assert found == kept
    assert {"conv", "matmul", "max_pool"} <= kept and len(kept) < 8
    gone = (
        r"(attention|recurrent|blend|format_decode|gemm_static|gemm_blocks|f64_f16|_bf16|_i16|softmax|layer_norm|sum_exp|"
        r"cast_tile|wrap_tile|gelu|quantize|run_loop|run_called|run_if|delegate_run|check_loop|philox|position_of)"
    )
    assert not re.findall(rf" [tT] \w*{gone}\w*$", names, re.M), "code of what is left out"


def test_it_runs_its_program_and_refuses_another(built: Path, root: Path, tmp_path: Path) -> None:
    run = built / "build/runtime_c/pte_run"
    images = (np.load(root / "examples/digits/test.npz")["image"][:5] / 16).astype(np.float32)
    np.save(tmp_path / "images.npy", images)
    sh(run, built / "digits.pte", "--input", f"image={tmp_path}/images.npy", "--out", tmp_path)
    want = pteron.load(built / "digits.pte", threads=1)(images)
    assert np.load(tmp_path / "output_0.npy").tobytes() == want.tobytes()


def net(*nodes: onnx.NodeProto, out: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """x[4, 4] -> y, by nodes."""
    info = onnx.helper.make_tensor_value_info
    ports = [info("x", TensorProto.FLOAT, [4, 4])], [info("y", out, None)]
    graph = onnx.helper.make_graph(list(nodes), "net", *ports)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])


def branch() -> onnx.ModelProto:
    """y = all of x > 0 ? x + x : max(x, x), with steps that the digit classifier has."""
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    sides = [
        onnx.helper.make_graph(
            [node(op, ["x", "x"], [op])], op, [], [info(op, TensorProto.FLOAT, [4, 4])]
        )
        for op in ("Add", "Max")
    ]
    model = net(node("If", ["which"], ["y"], then_branch=sides[0], else_branch=sides[1]))
    model.graph.input.append(info("which", TensorProto.BOOL, []))
    return model


def refused(node: Callable[..., onnx.NodeProto]) -> dict[str, onnx.ModelProto]:
    """What the digit classifier has not: a format, a kind of a reduction, a step, control flow, a counted dimension."""
    return {
        "kind": net(node("ReduceMax", ["x"], ["y"])),
        "step": net(node("Exp", ["x"], ["y"])),
        "type": net(node("Cast", ["x"], ["y"], to=TensorProto.INT64), out=TensorProto.INT64),
        "control": branch(),
        "counted": net(node("NonZero", ["x"], ["y"]), out=TensorProto.INT64),
    }


@pytest.mark.parametrize("what", ["format", *refused(onnx.helper.make_node)])
def test_it_refuses_what_it_lacks(built: Path, root: Path, tmp_path: Path, what: str) -> None:
    other, run = tmp_path / "other.pte", built / "build/runtime_c/pte_run"
    if what == "format":
        pteron.export_model(root / "examples/digits/digits.onnx", other, quantize="nf4")
    else:
        pteron.export_model(refused(onnx.helper.make_node)[what], other)
    assert re.search(r"not in this build|no kernel|does not have", sh(run, other, code=1))


def test_states_are_refused(built: Path, tmp_path: Path) -> None:
    from java import fixtures

    fixtures.hand_written(tmp_path)
    run = built / "build/runtime_c/pte_run"
    assert "not in this build" in sh(run, tmp_path / "states.pte", code=1)


def test_the_means_of_a_list_are_the_programs(root: Path) -> None:
    """Where a program has states, control flow and counted dimensions, its list leaves none of them out."""
    empty = kernels.Kernels(
        *(frozenset() for _ in range(2)), False, False, *(frozenset() for _ in range(3))
    )
    full = dataclasses.replace(empty, ops=frozenset({"if"}), states=True, counted=True)
    text = kernels.header(full, "it")
    assert all(f"PTE_WITHOUT_{w}\n" not in text for w in ("IF", "STATES", "COUNTED"))
    text = kernels.header(empty, "it")
    assert all(
        f"PTE_WITHOUT_{w}\n" in text for w in ("IF", "STATES", "COUNTED", "CALL", "DELEGATE")
    )
