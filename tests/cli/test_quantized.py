"""`pteron inspect MODEL.onnx`: formats, blocks, counts and bits of what our tools and others wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from encoders import ENCODERS
from onnx import TensorProto, helper, numpy_helper

from pteron.cli import main

N, K = 24, 96


def inspected(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["inspect", str(path), "--json", "--all"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def model_of(
    nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], path: Path, opset: int = 21
) -> Path:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, K])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, N])
    stored = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "g", [x], [y], stored)
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), path)
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    w = np.random.default_rng(0).standard_normal((K, N)).astype(np.float32)
    return model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": w}, tmp_path / "f.onnx")


def test_a_model_of_floats(plain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = inspected(plain, capsys)
    assert not facts["quantized"] and facts["bits"] == 32
    (row,) = facts["formats"]
    assert (row["format"], row["block"], row["count"], row["tensors"]) == ("float", "", K * N, 1)
    assert main(["inspect", str(plain)]) == 0
    assert "not quantized" in capsys.readouterr().out


# ONNX has no integers of three bits, and zero points of four
@pytest.mark.parametrize("name", [f.name for f in ENCODERS if f.element.bits != 3 and not f.zero])
def test_what_we_write_has_the_bits_that_the_report_says(
    name: str, plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "q.onnx", tmp_path / "r.json"
    asked = ["--format", name, "--algorithm", "nearest", "--report", str(report), "-q"]
    assert main(["quantize", str(plain), "-o", str(out), *asked]) == 0
    facts, told = inspected(out, capsys), json.loads(report.read_text())
    (row,) = facts["formats"]
    assert facts["quantized"] and facts["bits"] == row["bits"] == pytest.approx(told["bits"])
    assert (row["count"], row["tensors"], row["zero"]) == (K * N, 1, False)


def test_onnxruntimes_blocks(
    plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    for symmetric in (True, False):
        made = MatMulNBitsQuantizer(
            onnx.load(plain), block_size=32, is_symmetric=symmetric, accuracy_level=0
        )
        made.process()
        made.model.save_model_to_file(str(tmp_path / "n.onnx"))
        (row,) = inspected(tmp_path / "n.onnx", capsys)["formats"]
        assert (row["format"], row["block"], row["count"]) == ("uint4", "32", K * N)
        assert row["zero"] == (not symmetric)
        assert row["bits"] == pytest.approx(
            4 + 32 / 32 + (0 if symmetric else 4 * (K // 32 + 1) // 2 * 2 / K)
        )


@pytest.mark.parametrize("zero", [True, False])
def test_the_order_of_blocks_counts_and_is_no_zero_point(
    zero: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    constants = {
        "b": np.ones((N, 3, 16), np.uint8), "s": np.ones((N, 3), np.float32), "z": np.full((N, 2), 0x88, np.uint8),
        "order": np.arange(K, dtype=np.int32)[::-1].copy() // 32,
    }  # fmt: skip
    inputs = ["x", "b", "s", "z" if zero else "", "order"]
    node = helper.make_node(
        "MatMulNBits", inputs, ["y"], domain="com.microsoft", K=K, N=N, bits=4, block_size=32
    )
    if not zero:
        del constants["z"]
    (row,) = inspected(model_of([node], constants, tmp_path / "m.onnx"), capsys)["formats"]
    assert (row["format"], row["count"], row["zero"]) == ("uint4", N * K, zero)
    assert row["bits"] == pytest.approx(4 + 1 + zero * 16 / K + K * 32 / (N * K))


def test_scales_of_scales_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    constants = {
        "w": np.ones((N, K), np.int8), "s": np.ones((N, 3), np.uint8), "o": np.float32([0.5]),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["s", "o"], ["scale"]),
        helper.make_node("DequantizeLinear", ["w", "scale"], ["f"], axis=1, block_size=32),
        helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    (row,) = inspected(model_of(nodes, constants, tmp_path / "m.onnx"), capsys)["formats"]
    assert (row["format"], row["block"], row["count"]) == ("int8", "32", N * K)
    assert row["bits"] == pytest.approx(8 + (3 * N * 8 + 32) / (N * K))


def test_activations_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    w, scale = np.ones((K, N), np.int8), np.float32(0.1)
    constants = {
        "w": w,
        "s": scale,
        "z": np.uint8(3),
        "r": np.full(N, 0.1, np.float32),
        "b": np.ones(N, np.int32),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("DynamicQuantizeLinear", ["xd"], ["d", "ds", "dz"]),
        helper.make_node("DequantizeLinear", ["d", "ds", "dz"], ["dd"]),
        helper.make_node("DequantizeLinear", ["w", "r"], ["wd"], axis=1),
        helper.make_node("DequantizeLinear", ["b", "r"], ["bd"], axis=0),
        helper.make_node("Gemm", ["dd", "wd", "bd"], ["y"]),
    ]
    facts = inspected(model_of(nodes, constants, tmp_path / "m.onnx"), capsys)
    assert facts["activations"] == {
        "uint8, ranges fixed": 1,
        "uint8, ranges found while running": 1,
    }
    assert [(r["format"], r["block"], r["count"]) for r in facts["formats"]] == [
        ("int8", "row", K * N)
    ]


def test_bytes_that_are_no_model_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"not a model")
    assert main(["inspect", str(path)]) != 0
    assert "a.onnx: expected an ONNX model" in capsys.readouterr().err
