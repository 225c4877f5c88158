"""Sources that are harder to quantize: weights in other files, weights of several branches, models that came quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.cli import main
from pteron.export import graph as g
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.save import save_onnx
from pteron.quantize.quantize import transformer

F = np.float32
RNG = np.random.default_rng(0)
W = RNG.standard_normal((64, 64)).astype(F)
X = RNG.standard_normal((2, 64)).astype(F)
N = helper.make_node


def model(
    nodes: list[Any], weights: dict[str, Any], inputs: dict[str, Any], opset: int = 21
) -> onnx.ModelProto:
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in inputs.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", declared, [output], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def test_a_quantized_model_stands_by_itself(tmp_path: Path) -> None:
    source, folder = tmp_path / "m.onnx", tmp_path / "elsewhere"
    folder.mkdir()
    held = N("Constant", [], ["c"], value=numpy_helper.from_array(np.ones(64, F)))
    nodes = [
        held,
        N("MatMul", ["x", "w"], ["h"]),
        N("Add", ["h", "b"], ["k"]),
        N("Add", ["k", "c"], ["y"]),
    ]
    proto = model(nodes, {"w": W, "b": np.ones(64, F)}, {"x": X})
    onnx.save(
        proto, source, save_as_external_data=True, location="m.data", size_threshold=0, convert_attribute=True
    )  # fmt: skip
    out = folder / "q.onnx"
    assert main(["quantize", str(source), "-o", str(out), "--format", "int4", "-q"]) == 0
    (tmp_path / "m.data").unlink()
    written = onnx.load(out)
    onnx.checker.check_model(written)
    pteron.export_model(out, folder / "q.pte", activations="float")
    want = ReferenceEvaluator(written).run(None, {"x": X})[0]
    np.testing.assert_allclose(
        pteron.load(folder / "q.pte").run({"x": X})["y"], want, rtol=1e-5, atol=1e-4
    )


def test_weights_beyond_a_protobuf_lie_beside_it(tmp_path: Path) -> None:
    proto = model([N("MatMul", ["x", "w"], ["y"])], {"w": W}, {"x": X})
    save_onnx(capture_onnx(proto, opset=21), tmp_path / "m.onnx", whole_bytes=1024)
    assert (tmp_path / "m.onnx.data").stat().st_size >= W.nbytes
    got = ReferenceEvaluator(onnx.load(tmp_path / "m.onnx")).run(None, {"x": X})[0]
    np.testing.assert_allclose(got, X @ W, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("format", ["nf4", "int8"])
def test_a_weight_of_both_branches_is_rounded_once(format: str, tmp_path: Path) -> None:
    shape = helper.make_tensor_value_info("o", TensorProto.FLOAT, [2, 64])
    one = helper.make_graph([N("MatMul", ["x", "w"], ["o"])], "t", [], [shape])
    two = helper.make_graph(
        [N("MatMul", ["x", "w"], ["h"]), N("Neg", ["h"], ["o"])], "e", [], [shape]
    )
    nodes = [N("If", ["k"], ["y"], then_branch=one, else_branch=two)]
    proto = model(nodes, {"w": W}, {"x": X, "k": np.array(True)})
    out = tmp_path / "m.pte"
    report = pteron.export_model(proto, out, quantize=format, activations="float")
    assert len({row.node for row in report.products}) == 2
    runs = pteron.load(out)
    yes, no = (runs.run({"x": X, "k": np.array(k)})["y"] for k in (True, False))
    np.testing.assert_array_equal(yes, -no)
    np.testing.assert_allclose(yes, X @ W, atol=0.2 * np.abs(X @ W).max())


def came(transposed: bool = False) -> onnx.ModelProto:
    codes = np.clip(np.rint(W * 40), -127, 127).astype(np.int8)
    nodes = [
        N("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0),
        N("Gemm", ["x", "w"], ["y"], transB=1),
    ]
    weights = {"q": codes, "s": np.full(64, 1 / 40, F), "z": np.zeros(64, np.int8)}
    return model(nodes, weights, {"x": X})


def plain() -> onnx.ModelProto:
    return model([N("Gemm", ["x", "w"], ["y"], transB=1)], {"w": W}, {"x": X})


def test_each_method_has_its_own_arithmetic(tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    alone = pteron.export_model(came(), out)
    exact = pteron.load(out).run({"x": X})["y"]
    assert [row.activations for row in alone.products] == ["float"]
    rounded = plain()
    rounded.metadata_props.add(key=g.ROUNDED, value="int8")
    marked = came()
    marked.metadata_props.add(key=g.ROUNDED, value="int8")
    for second, arithmetic in ((marked, "int8-block"), (plain(), "")):
        report = pteron.export_model(methods={"a": came(), "b": second}, out=out)
        got = [row.activations for row in report.products]
        assert got == ["float", arithmetic] if arithmetic else got == ["float"]
        np.testing.assert_array_equal(pteron.load(out, method="a").run({"x": X})["y"], exact)


def test_quantizing_one_method_leaves_another_exact(tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    report = pteron.export_model(methods={"a": came(), "b": plain()}, out=out, quantize="nf4")
    rows = {row.format: row.activations for row in report.products}
    assert rows == {"i8_channel": "float", "nf4": "int8-block"}
    assert any("came quantized" in note for note in report.notes)


def test_nothing_rounded_is_not_called_rounded() -> None:
    captured = capture_onnx(came())
    transformer("nf4")(captured)
    assert g.ROUNDED not in captured.metadata_props
