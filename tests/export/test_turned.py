"""`--activations int8-token`: float weights and activations in 8 bits, both rotated. What the rotation is, and models against NumPy in f64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.export.file.read import read
from pteron.export.pack import codes, turned
from pteron.schema.meaning.narrow import turn

HADAMARD = np.array([[(-1) ** (i & j).bit_count() for j in range(8)] for i in range(8)], float)


def test_a_turn_is_the_product_by_two_hadamard_matrices():
    x = np.random.default_rng(0).standard_normal((3, 130))
    blocks = np.pad(x, ((0, 0), (0, 62))).reshape(3, 3, 8, 8)
    want = (HADAMARD @ blocks @ HADAMARD).swapaxes(-1, -2).reshape(3, 192)
    np.testing.assert_allclose(turn(x), want, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "k"), [(1, 64), (17, 65), (40, 200)])
def test_a_turned_weight_turned_back_is_the_weight(n: int, k: int):
    w = np.random.default_rng(n).standard_normal((n, k)).astype(np.float32)
    w[0] = 0
    shape, stored = turned.weight(lambda: w, (n, k))
    back = turn(codes.decode(turned.FORMAT, stored.array(), shape).astype(np.float64))[:, :k]
    error = np.linalg.norm(back - w, axis=1)
    assert error[0] == 0
    # a step is a 127th of the largest, which is some 3 deviations: an error of 1 %
    assert (error[1:] < 0.02 * np.linalg.norm(w[1:], axis=1)).all()


def model(path: Path, k: int, n: int) -> dict[str, np.ndarray]:
    """relu(x a + bias) b, with one channel of x a hundred times the others; and an input."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((k, n), (n, 8)))
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"]),
        helper.make_node("Add", ["p", "bias"], ["q"]),
        helper.make_node("Relu", ["q"], ["r"]),
        helper.make_node("MatMul", ["r", "b"], ["y"]),
    ]
    weights = [
        numpy_helper.from_array(v, name)
        for name, v in (("a", a), ("b", b), ("bias", rng.standard_normal(n).astype(np.float32)))
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["t", size])]
        for name, size in (("x", k), ("y", 8))
    ]
    graph = helper.make_graph(nodes, "g", *ends, weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path
    )
    x = rng.standard_normal((5, k)).astype(np.float32)
    x[:, 3] *= 100
    return {"x": x}


@pytest.mark.parametrize(("k", "n", "ops"), [(70, 96, 2), (130, 40, 1), (20, 30, 0)])
def test_a_model_is_near_onnxruntime_in_f32(tmp_path: Path, k: int, n: int, ops: int):
    feeds = model(tmp_path / "m.onnx", k, n)
    report = pteron.export_model(tmp_path / "m.onnx", tmp_path / "m.pte", activations="int8-token")
    program = read((tmp_path / "m.pte").read_bytes())
    found = [i.op for block in program.blocks for i in block.instrs]
    assert found.count("matmul_turned") == ops
    assert program.activations == ("int8-token: i8_channel" if ops else "f32")
    assert any("no product has a constant weight" in note for note in report.notes) == (ops == 0)
    want = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, feeds)[0]
    got = pteron.load(tmp_path / "m.pte").run(feeds)["y"]
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < (0.015 * ops if ops else 1e-6)  # weights and activations, 1 % each


def test_quantized_weights_keep_their_own_arithmetic(tmp_path: Path):
    model(tmp_path / "m.onnx", 128, 96)
    pteron.export_model(
        tmp_path / "m.onnx", tmp_path / "m.pte", quantize="int4", activations="int8-token"
    )
    assert read((tmp_path / "m.pte").read_bytes()).activations == "int8-block: i4"
