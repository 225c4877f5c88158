"""What onnxruntime's dynamic quantizer makes of an LSTM and of embeddings, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from models.contrib import Fixed, check, f, i7, model_of, u8
from onnx import TensorProto, helper, numpy_helper

import pteron

OPSETS = [helper.make_opsetid("", 17)]


def lstm(directions: int, **attributes: Any) -> onnx.ModelProto:
    """x [t, 2, 16] to 12 hidden elements."""
    rng = np.random.default_rng(7)
    weights = {
        "w": rng.standard_normal((directions, 48, 16)) / 4,
        "r": rng.standard_normal((directions, 48, 12)) / 4,
        "b": rng.standard_normal((directions, 96)) / 4,
    }
    node = helper.make_node(
        "LSTM", ["x", *weights], ["y"], hidden_size=12, name="lstm", **attributes
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["t", 2, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a.astype(np.float32), k) for k, a in weights.items()],
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=8)


def dequantized(small: onnx.ModelProto, model: onnx.ModelProto) -> onnx.ModelProto:
    """The float model with the weights that the codes of the small one stand for."""
    arrays = {t.name: numpy_helper.to_array(t) for t in small.graph.initializer}
    names = list(small.graph.node[0].input)
    kept = [t for t in model.graph.initializer if t.name == "b"]
    for name, codes, scale in (("w", names[1], names[8]), ("r", names[2], names[10])):
        by = arrays[scale].reshape(len(arrays[codes]), 1, -1)
        made = (arrays[codes] * by).astype(np.float32).transpose(0, 2, 1)
        kept.append(numpy_helper.from_array(np.ascontiguousarray(made), name))
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(
    "direction", [{"direction": "reverse"}, {"direction": "bidirectional", "clip": 2.0}]
)
def test_an_lstm_of_quantize_dynamic_is_the_lstm_of_its_weights(
    direction: dict[str, Any], per_channel: bool, tmp_path: Path
) -> None:
    """And so near onnxruntime, which rounds X and the hidden state to 8 bits at each step."""
    from onnxruntime.quantization import quantize_dynamic  # slow to import

    model = lstm(2 if direction["direction"] == "bidirectional" else 1, **direction)
    plain, small = tmp_path / "m.onnx", tmp_path / "q.onnx"
    onnx.save(model, plain)
    # 7 bits: some processors add two products of 8 bits in 16, which saturate
    quantize_dynamic(plain, small, per_channel=per_channel, reduce_range=True)
    assert [n.op_type for n in onnx.load(small).graph.node] == ["DynamicQuantizeLSTM"]
    x = f(9, 2, 16)
    onnx.save(dequantized(onnx.load(small), model), plain)
    floats, codes = (
        onnxruntime.InferenceSession(str(p)).run(None, {"x": x})[0] for p in (plain, small)
    )
    pteron.export_model(small, tmp_path / "m.pte")
    got = pteron.load(tmp_path / "m.pte", threads=1)(x)
    np.testing.assert_allclose(got, floats, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got, codes, atol=0.02)


@pytest.mark.parametrize("segments", [False, True])
def test_quantized_embeddings(segments: bool, tmp_path: Path) -> None:
    scales = [np.float32([s]) for s in (0.02, 0.01, 0.03, 0.01, 0.02)]
    zeros = [np.uint8([z]) for z in (128, 120, 131, 7, 99)]
    tables = [u8(9, 8), u8(5, 8), u8(2, 8), u8(8), u8(8)]
    if not segments:
        tables[2] = scales[2] = zeros[2] = None  # type: ignore[call-overload]
    ids = np.array([[1, 2, 8], [0, 3, 3]], np.int32)
    kinds = np.array([[0, 1, 1], [0, 0, 1]], np.int32) if segments else None
    mask = np.array([[1, 1, 1], [1, 0, 0]], np.int32)
    fixed = [
        None if a is None else Fixed(a.reshape(()) if a.size == 1 else a) for a in [*scales, *zeros]
    ]
    operands = [ids, kinds, *[None if t is None else Fixed(t) for t in tables], mask, *fixed]
    check(tmp_path, "QEmbedLayerNormalization", operands, {}, ["FLOAT", "INT32"], tolerance=1e-5)


def test_a_weight_that_is_no_matrix_of_gates_is_refused(tmp_path: Path) -> None:
    w, scale, zero = Fixed(i7(16, 48)), Fixed(np.float32([0.1])), Fixed(np.int8([0]))
    operands = [f(3, 2, 16), w, Fixed(i7(1, 12, 48)), *[None] * 5, scale, zero, scale, zero]
    model, _ = model_of("DynamicQuantizeLSTM", operands, {"hidden_size": 12}, ["FLOAT"])
    with pytest.raises(pteron.ModelError, match=r"the_node.*input 1 as .directions"):
        pteron.export_model(model, tmp_path / "m.pte")
