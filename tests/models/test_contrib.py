"""Operators of com.microsoft: each against onnxruntime over its attributes and shapes, and files of onnxruntime's own tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from models.through import Arrays, operators, ort, reference, same
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.export.capture import capture
from pteron.export.capture.contrib.foreign import TRANSLATIONS
from pteron.export.graph import nodes
from pteron.schema.errors import ModelError

RNG = np.random.default_rng(11)


def f(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


def u8(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def i8(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def i32(*numbers: Any) -> np.ndarray:
    return np.array(numbers, np.int32)


class Fixed:
    """An operand that is an initializer."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def model_of(
    op_type: str,
    inputs: Sequence[np.ndarray | Fixed | None],
    attributes: Mapping[str, Any],
    outputs: Sequence[str],
    *,
    domain: str = "com.microsoft",
    opset: int = 17,
    symbols: Mapping[tuple[int, int], str] | None = None,
) -> tuple[onnx.ModelProto, Arrays]:
    """A graph of one node, and its feeds. `outputs`: types by name, "" for one left out; sizes at (input, axis) may be symbols."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds, ports, fixed = {}, [], []
    for i, (name, x) in enumerate(zip(names, inputs, strict=True)):
        if isinstance(x, Fixed):
            fixed.append(numpy_helper.from_array(x.array, name))
        elif x is not None:
            sizes = [(symbols or {}).get((i, a), n) for a, n in enumerate(x.shape)]
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            ports.append(helper.make_tensor_value_info(name, kind, sizes))
            feeds[name] = x
    made = [f"y{i}" if kind else "" for i, kind in enumerate(outputs)]
    node = helper.make_node(op_type, names, made, name="the_node", domain=domain, **attributes)
    results = [
        helper.make_tensor_value_info(n, getattr(TensorProto, kind), None)
        for n, kind in zip(made, outputs, strict=True)
        if kind
    ]
    graph = helper.make_graph([node], "one", ports, results, fixed)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def check(folder: Path, *parts: Any, tolerance: float = 2e-5, **more: Any) -> Any:
    model, feeds = model_of(*parts, **more)
    return same(model, [feeds], folder, tolerance)


# --- activations and norms ----------------------------------------------------------------------------------------------

X = f(2, 3, 8)
PLAIN: dict[str, tuple[Any, ...]] = {
    "gelu": ("Gelu", [X], {}),
    "bias_gelu": ("BiasGelu", [X, Fixed(f(8))], {}),
    "fast_gelu": ("FastGelu", [X], {}),
    "fast_gelu_bias": ("FastGelu", [X, Fixed(f(8))], {}),
    "quick_gelu": ("QuickGelu", [X], {}),
    "quick_gelu_alpha": ("QuickGelu", [X], {"alpha": 0.5}),
    "skip_norm": ("SkipLayerNormalization", [X, f(2, 3, 8), Fixed(f(8)), Fixed(f(8))], {}),
    "skip_norm_bias": (
        "SkipLayerNormalization",
        [X, f(2, 3, 8), Fixed(f(8)), Fixed(f(8)), Fixed(f(8))],
        {"epsilon": 1e-2},
    ),
    "skip_norm_no_beta": ("SkipLayerNormalization", [X, f(2, 3, 8), Fixed(f(8))], {}),
    "skip_norm_rows": ("SkipLayerNormalization", [X, f(3, 8), Fixed(f(8)), Fixed(f(8))], {}),
    "skip_norm_one": ("SkipLayerNormalization", [X, f(1, 3, 8), Fixed(f(8)), Fixed(f(8))], {}),
    "skip_rms": ("SkipSimplifiedLayerNormalization", [X, f(2, 3, 8), Fixed(f(8))], {}),
    "skip_rms_bias": (
        "SkipSimplifiedLayerNormalization",
        [X, f(2, 3, 8), Fixed(f(8)), Fixed(f(8))],
        {"epsilon": 0.1},
    ),
    "matmul": ("FusedMatMul", [X, Fixed(f(8, 5))], {}),
    "matmul_alpha": ("FusedMatMul", [X, Fixed(f(8, 5))], {"alpha": 0.125}),
    "matmul_ta": ("FusedMatMul", [f(2, 8, 3), f(2, 8, 5)], {"transA": 1}),
    "matmul_tb": ("FusedMatMul", [X, f(2, 5, 8)], {"transB": 1, "alpha": 2.0}),
    "matmul_tab": ("FusedMatMul", [f(8, 3), f(5, 8)], {"transA": 1, "transB": 1}),
    "matmul_batch_a": ("FusedMatMul", [f(3, 2, 4, 8), f(2, 4, 8, 5)], {"transBatchA": 1}),
    "matmul_batch_b": ("FusedMatMul", [f(2, 4, 3, 8), f(8, 2, 4, 5)], {"transBatchB": 1}),
    "matmul_all": (
        "FusedMatMul",
        [f(8, 2, 4, 3), f(5, 2, 4, 8)],
        {"transBatchA": 1, "transBatchB": 1, "transA": 1, "transB": 1},
    ),
    "transpose_matmul": ("TransposeMatMul", [X, f(2, 5, 8)], {"transB": 1}),
    "gemm": ("FusedGemm", [f(3, 8), Fixed(f(8, 5)), Fixed(f(5))], {"activation": "Relu"}),
    "gemm_leaky": (
        "FusedGemm",
        [f(8, 3), Fixed(f(5, 8)), Fixed(f(3, 1))],
        {
            "activation": "LeakyRelu",
            "activation_alpha": 0.3,
            "transA": 1,
            "transB": 1,
            "alpha": 0.5,
            "beta": 2.0,
        },
    ),
    "gemm_tanh": ("FusedGemm", [f(3, 8), Fixed(f(8, 5))], {"activation": "Tanh"}),
    "gemm_sigmoid": ("FusedGemm", [f(3, 8), Fixed(f(8, 5))], {"activation": "Sigmoid"}),
    "gemm_hard": (
        "FusedGemm",
        [f(3, 8), Fixed(f(8, 5))],
        {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
    ),
    "conv": (
        "FusedConv",
        [f(1, 3, 6, 6), Fixed(f(4, 3, 3, 3)), Fixed(f(4))],
        {"activation": "Relu"},
    ),
    "conv_plain": ("FusedConv", [f(1, 3, 6, 6), Fixed(f(4, 3, 3, 3))], {"pads": [1, 1, 1, 1]}),
    "conv_added": (
        "FusedConv",
        [f(1, 4, 6, 6), Fixed(f(4, 2, 3, 3)), Fixed(f(4)), f(1, 4, 3, 3)],
        {"activation": "Tanh", "group": 2, "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    ),
    "conv_clip": (
        "FusedConv",
        [f(1, 3, 6, 6), Fixed(f(4, 3, 1, 1))],
        {"activation": "Clip", "activation_params": [-0.5, 0.75]},
    ),
    "conv_leaky": (
        "FusedConv",
        [f(1, 3, 6, 6), Fixed(f(4, 3, 1, 1))],
        {"activation": "LeakyRelu", "activation_params": [0.25]},
    ),
    "conv_hard": (
        "FusedConv",
        [f(1, 3, 6, 6), Fixed(f(4, 3, 1, 1))],
        {"activation": "HardSigmoid", "activation_params": [0.25, 0.375]},
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_activations_norms_and_products(name: str, tmp_path: Path) -> None:
    op, inputs, attributes = PLAIN[name]
    check(tmp_path, op, inputs, attributes, ["FLOAT"])


@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_the_sum_of_a_skip_norm_is_an_output(op: str, tmp_path: Path) -> None:
    inputs = [
        X,
        f(2, 3, 8),
        Fixed(f(8)),
        *([Fixed(f(8))] if "Simpl" not in op else []),
        Fixed(f(8)),
    ]
    check(tmp_path, op, inputs, {}, ["FLOAT", "", "", "FLOAT"])


@pytest.mark.parametrize("axis", [-1, 2])
def test_onnxruntime_s_own_norms_in_the_domain_of_onnx(axis: int, tmp_path: Path) -> None:
    attributes = {"axis": axis, "epsilon": 1e-3}
    parts = ([X, Fixed(f(8))], attributes, ["FLOAT"])
    check(tmp_path, "SimplifiedLayerNormalization", *parts, domain="", opset=14)
    check(tmp_path, "LayerNormalization", *parts, domain="", opset=14)


EMBED = {
    "words": Fixed(f(20, 8)), "places": Fixed(f(6, 8)), "kinds": Fixed(f(2, 8)), "gain": Fixed(f(8)), "shift": Fixed(f(8)),
}  # fmt: skip


@pytest.mark.parametrize("kinds", [True, False])
@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("places", ["", "one", "each"])
def test_embeddings(kinds: bool, mask: bool, places: str, tmp_path: Path) -> None:
    ids = RNG.integers(0, 20, (2, 5), dtype=np.int32)
    at = {"": None, "one": i32([4, 3, 2, 1, 0]), "each": RNG.integers(0, 6, (2, 5), dtype=np.int32)}
    inputs = [
        ids, RNG.integers(0, 2, (2, 5), dtype=np.int32) if kinds else None, EMBED["words"], EMBED["places"],
        EMBED["kinds"] if kinds else None, EMBED["gain"], EMBED["shift"],
        i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 1]) if mask else None, at[places],
    ]  # fmt: skip
    outputs = ["FLOAT", "INT32", "FLOAT"]
    check(tmp_path, "EmbedLayerNormalization", inputs, {"epsilon": 1e-5}, outputs)


# --- integer products and quantized operators ---------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("zeros", ["none", "scalar", "columns"])
@pytest.mark.parametrize("kind", [u8, i8])
def test_integer_products_that_give_floats(
    bias: bool, zeros: str, kind: Any, tmp_path: Path
) -> None:
    columns = zeros == "columns"
    scale = np.abs(f(5)) + 0.01 if columns else np.array(0.02, np.float32)
    zero = None if zeros == "none" else kind(5) if columns else kind(1).reshape(())
    b, more = Fixed(kind(8, 5)), Fixed(f(5)) if bias else None
    zero = None if zero is None else Fixed(zero)
    a_zero = None if zeros == "none" else Fixed(u8(1).reshape(()))
    a = [u8(2, 3, 8), b, Fixed(np.array(0.03, np.float32)), Fixed(scale), a_zero, zero, more]
    check(tmp_path, "MatMulIntegerToFloat", a, {}, ["FLOAT"])
    check(tmp_path, "DynamicQuantizeMatMul", [X, b, Fixed(scale), zero, more], {}, ["FLOAT"])


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("quantized", [True, False])
def test_qgemm(trans: int, quantized: bool, tmp_path: Path) -> None:
    s = lambda x: Fixed(np.array(x, np.float32))  # noqa: E731
    z = lambda x: Fixed(np.array(x, np.uint8))  # noqa: E731
    a, b = (u8(8, 3), u8(5, 8)) if trans else (u8(3, 8), u8(8, 5))
    c = Fixed(RNG.integers(-900, 900, 5, dtype=np.int32))
    tail = [s(3.5), z(99)] if quantized else []
    inputs = [a, s(0.02), z(7), Fixed(b), s(0.03), z(130), c, *tail]
    attributes = {"transA": trans, "transB": trans, "alpha": 1.0}
    check(tmp_path, "QGemm", inputs, attributes, ["UINT8" if quantized else "FLOAT"])


def grid(kind: Any, scale: float, zero: int) -> list[Fixed]:
    dtype = np.uint8 if kind is u8 else np.int8
    return [Fixed(np.array(scale, np.float32)), Fixed(np.array(zero, dtype))]


QUANTIZED: dict[str, Any] = {
    "QLinearAdd": lambda k, a, b, c: [k(2, 3, 4), *a, k(3, 1), *b, *c],
    "QLinearMul": lambda k, a, b, c: [k(2, 3, 4), *a, k(3, 1), *b, *c],
    "QLinearSigmoid": lambda k, a, b, c: [
        k(2, 3, 4),
        *a,
        *grid(k, 1 / 256, 0 if k is u8 else -128),
    ],
    "QLinearLeakyRelu": lambda k, a, b, c: [k(2, 3, 4), *a, *c],
    "QLinearSoftmax": lambda k, a, b, c: [
        k(2, 3, 4),
        *a,
        *grid(k, 1 / 256, 0 if k is u8 else -128),
    ],
    "QLinearConcat": lambda k, a, b, c: [*c, k(2, 3, 4), *a, k(2, 1, 4), *b],
    "QLinearWhere": lambda k, a, b, c: [
        RNG.random((2, 3, 4)) > 0.5,
        k(2, 3, 4),
        *a,
        k(3, 1),
        *b,
        *c,
    ],
    "QLinearGlobalAveragePool": lambda k, a, b, c: [k(2, 3, 4, 5), *a, *c],
    "QLinearAveragePool": lambda k, a, b, c: [k(2, 3, 6, 6), *a, *c],
}
ATTRIBUTES: dict[str, list[dict[str, Any]]] = {
    "QLinearLeakyRelu": [{}, {"alpha": 0.2}],
    "QLinearSoftmax": [{"opset": 13}, {"opset": 13, "axis": 1}, {"opset": 12, "axis": 1}],
    "QLinearConcat": [{"axis": 1}],
    "QLinearGlobalAveragePool": [{}, {"channels_last": 1}],
    "QLinearAveragePool": [
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1, "strides": [2, 2]},
        {"kernel_shape": [2, 3], "channels_last": 1},
    ],
}


@pytest.mark.parametrize("kind", [u8, i8])
@pytest.mark.parametrize(
    ("op", "at"), [(op, i) for op in QUANTIZED for i in range(len(ATTRIBUTES.get(op, [{}])))]
)
def test_quantized_operators(op: str, at: int, kind: Any, tmp_path: Path) -> None:
    """onnxruntime's tables and reciprocals may fall to the other side of a tie: one step, rarely."""
    zero = 100 if kind is u8 else -20
    a, b, c = grid(kind, 0.03, zero), grid(kind, 0.05, zero + 9), grid(kind, 0.045, zero - 5)
    attributes = ATTRIBUTES.get(op, [{}])[at]
    kinds = ["UINT8" if kind is u8 else "INT8"]
    model, feeds = model_of(op, QUANTIZED[op](kind, a, b, c), attributes, kinds)
    got, want = results(model, feeds, tmp_path)
    away = np.abs(got.astype(int) - want.astype(int))
    assert got.dtype == want.dtype and got.shape == want.shape
    assert away.max() <= 1 and (away > 0).mean() <= 0.2, away


def results(model: onnx.ModelProto, feeds: Arrays, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    pteron.export_model(model, folder / "m.pte")
    (got,) = pteron.load(folder / "m.pte").run(feeds).values()
    (want,) = reference(model, feeds).values()
    return got, want


@pytest.mark.parametrize(("axes", "keep"), [([2, 3], 1), ([-1], 0)])
def test_a_quantized_mean_that_onnxruntime_only_defines(
    axes: list[int], keep: int, tmp_path: Path
) -> None:
    x = u8(2, 3, 4, 5)
    inputs = [x, *grid(u8, 0.03, 100), *grid(u8, 0.01, 90)]
    attributes = {"axes": axes, "keepdims": keep}
    model, feeds = model_of("QLinearReduceMean", inputs, attributes, ["UINT8"])
    pteron.export_model(model, tmp_path / "m.pte")
    (got,) = pteron.load(tmp_path / "m.pte").run(feeds).values()
    mean = ((x - 100.0) * 0.03).mean(tuple(axes), keepdims=bool(keep))
    want = np.clip(np.rint(mean / 0.01) + 90, 0, 255)
    assert got.shape == want.shape and np.abs(got - want).max() <= 1


@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_linear_quantization_of_the_other_domain(op: str, tmp_path: Path) -> None:
    scale = np.abs(f(8)) + 0.1
    x = f(2, 3, 8, scale=9.0) if op[0] == "Q" else u8(2, 3, 8)
    kind = "UINT8" if op[0] == "Q" else "FLOAT"
    check(tmp_path, op, [x, Fixed(scale), Fixed(u8(8))], {"axis": 2}, [kind])
    one = [x, Fixed(np.array(0.3, np.float32)), Fixed(np.array(9, np.uint8))]
    check(tmp_path, op, one, {}, [kind])


# --- attention ----------------------------------------------------------------------------------------------------------

MASKS: dict[str, Any] = {
    "none": None,
    "keys": i32([1, 1, 1, 0], [1, 0, 1, 1]),
    "each": np.tril(np.ones((2, 4, 4), np.int32)),
    "lengths": i32(3, 4),
    "ends": i32(3, 4, 1, 0),
    "all": i32([0, 0, 0, 0], [1, 1, 1, 1]),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("far", [None, -50.0])
def test_attention(mask: str, causal: int, far: float | None, tmp_path: Path) -> None:
    attributes = {"num_heads": 2, "unidirectional": causal}
    attributes |= {} if far is None else {"mask_filter_value": far}
    inputs = [f(2, 4, 8), Fixed(f(8, 24, scale=0.4)), Fixed(f(24)), MASKS[mask]]
    check(tmp_path, "Attention", inputs, attributes, ["FLOAT"])


@pytest.mark.parametrize("sizes", [[8, 8, 8], [8, 8, 4]])
@pytest.mark.parametrize("bias", [None, (2, 2), (1, 2), (1, 1)])
def test_attention_sizes_scale_and_bias(sizes: list[int], bias: Any, tmp_path: Path) -> None:
    wide = sum(sizes)
    inputs = [f(2, 4, 6), Fixed(f(6, wide, scale=0.4)), Fixed(f(wide)), MASKS["keys"], None]
    inputs += [] if bias is None else [f(*bias, 4, 4)]
    attributes = {"num_heads": 2, "qkv_hidden_sizes": sizes, "scale": 0.3}
    check(tmp_path, "Attention", inputs, attributes, ["FLOAT"])


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("now", [1, 3])
def test_attention_with_a_past(causal: int, masked: bool, now: int, tmp_path: Path) -> None:
    mask = np.ones((2, 2 + now), np.int32)
    mask[0, 0] = 0
    inputs = [
        f(2, now, 8), Fixed(f(8, 24, scale=0.4)), Fixed(f(24)), mask if masked else None, f(2, 2, 2, 2, 4),
    ]  # fmt: skip
    attributes = {"num_heads": 2, "unidirectional": causal}
    check(tmp_path, "Attention", inputs, attributes, ["FLOAT", "FLOAT"])


@pytest.mark.parametrize("mask", ["none", "keys", "lengths"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_with_integer_projections(mask: str, causal: int, tmp_path: Path) -> None:
    one = lambda x: Fixed(np.array(x, np.float32))  # noqa: E731
    inputs = [
        u8(2, 4, 8), Fixed(i8(8, 24)), Fixed(f(24)), one(0.01), one(0.006), MASKS[mask],
        Fixed(np.array(128, np.uint8)), Fixed(np.array(3, np.int8)),
    ]  # fmt: skip
    attributes = {"num_heads": 2, "unidirectional": causal}
    check(tmp_path, "QAttention", inputs, attributes, ["FLOAT"])


HEADS: dict[str, Any] = {
    "self": lambda: [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8)],
    "cross": lambda: [f(2, 3, 8), f(2, 4, 8), f(2, 4, 8)],
    "narrow": lambda: [f(2, 3, 8), f(2, 4, 8), f(2, 4, 4)],
    "bias": lambda: [f(2, 3, 8), f(2, 4, 8), f(2, 4, 8), Fixed(f(24))],
    "bias_narrow": lambda: [f(2, 3, 8), f(2, 4, 8), f(2, 4, 4), Fixed(f(20))],
    "mask": lambda: [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), None, MASKS["keys"]],
    "mask_each": lambda: [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), None, MASKS["each"]],
    "lengths": lambda: [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), None, MASKS["lengths"]],
    "scores": lambda: [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), None, None, f(1, 2, 4, 4)],
    "both": lambda: [
        f(2, 4, 8),
        f(2, 4, 8),
        f(2, 4, 8),
        Fixed(f(24)),
        MASKS["keys"],
        f(2, 1, 4, 4),
    ],
    "apart": lambda: [f(2, 3, 8), f(2, 2, 4, 4), f(2, 2, 4, 4)],
}


@pytest.mark.parametrize("form", HEADS)
@pytest.mark.parametrize("attributes", [{}, {"scale": 0.2, "mask_filter_value": -40.0}])
def test_multi_head_attention(form: str, attributes: Any, tmp_path: Path) -> None:
    check(tmp_path, "MultiHeadAttention", HEADS[form](), {"num_heads": 2, **attributes}, ["FLOAT"])


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("now", [1, 3])
@pytest.mark.parametrize("masked", [True, False])
def test_multi_head_attention_with_a_past(
    causal: int, now: int, masked: bool, tmp_path: Path
) -> None:
    mask = np.ones((2, 2 + now), np.int32)
    mask[1, 1] = 0
    inputs = [
        f(2, now, 8), f(2, now, 8), f(2, now, 8), None, mask if masked else None, None, f(2, 2, 2, 4), f(2, 2, 2, 4),
    ]  # fmt: skip
    attributes = {"num_heads": 2, "unidirectional": causal}
    check(tmp_path, "MultiHeadAttention", inputs, attributes, ["FLOAT", "FLOAT", "FLOAT"])


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("form", ["flat", "apart", "partly", "offset"])
def test_rotary_embeddings(interleaved: int, form: str, tmp_path: Path) -> None:
    angles = RNG.random((12, 2 if form == "partly" else 4)).astype(np.float32) * 3
    tables = [Fixed(np.cos(angles)), Fixed(np.sin(angles))]
    x = f(2, 3, 5, 8) if form == "apart" else f(2, 5, 24)
    places = np.array([4], np.int64) if form == "offset" else RNG.integers(0, 12, (2, 5))
    partly = {"num_heads": 3, "rotary_embedding_dim": 4} if form == "partly" else {}
    attributes = {"interleaved": interleaved, **partly}
    check(tmp_path, "RotaryEmbedding", [x, places, *tables], attributes, ["FLOAT"])


def grouped(
    past: int,
    now: int,
    *,
    rotary: bool = False,
    packed: bool = False,
    places: bool = False,
    batch: int = 2,
) -> list[Any]:
    """Four heads of 16, two of keys; every row of the batch has `past` keys already."""
    q, k, v = f(batch, now, 64), f(batch, now, 32), f(batch, now, 32)
    old = [f(batch, 2, past, 16), f(batch, 2, past, 16)] if past else [None, None]
    angles = RNG.random((16, 8)).astype(np.float32)
    tables = [Fixed(np.cos(angles)), Fixed(np.sin(angles))] if rotary else [None, None]
    at = np.tile(np.arange(past, past + now), (batch, 1)).astype(np.int64)
    qkv = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
    ends = np.full(batch, past + now - 1, np.int32)
    return [*qkv, *old, ends, np.array(past + now, np.int32), *tables, at if places else None]


GROUPED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "prompt": ({"past": 0, "now": 4}, {}),
    "rotary": ({"past": 0, "now": 4, "rotary": True}, {"do_rotary": 1}),
    "interleaved": (
        {"past": 0, "now": 4, "rotary": True},
        {"do_rotary": 1, "rotary_interleaved": 1},
    ),
    "packed": ({"past": 0, "now": 4, "rotary": True, "packed": True}, {"do_rotary": 1}),
    "scale": ({"past": 0, "now": 4}, {"scale": 0.1}),
    "softcap": ({"past": 0, "now": 4}, {"softcap": 1.5}),
    "window": ({"past": 0, "now": 6}, {"local_window_size": 2}),
    "next": ({"past": 3, "now": 1}, {}),
    "next_rotary": ({"past": 3, "now": 1, "rotary": True}, {"do_rotary": 1}),
    "next_packed": ({"past": 3, "now": 1, "rotary": True, "packed": True}, {"do_rotary": 1}),
    "next_places": ({"past": 3, "now": 1, "rotary": True, "places": True}, {"do_rotary": 1}),
    "next_window": ({"past": 6, "now": 1}, {"local_window_size": 2}),
    "several": ({"past": 3, "now": 2, "rotary": True, "batch": 1}, {"do_rotary": 1}),
}


@pytest.mark.parametrize("form", GROUPED)
def test_grouped_queries(form: str, tmp_path: Path) -> None:
    given, attributes = GROUPED[form]
    attributes = {"num_heads": 4, "kv_num_heads": 2, **attributes}
    outputs = ["FLOAT", "FLOAT", "FLOAT"]
    check(tmp_path, "GroupQueryAttention", grouped(**given), attributes, outputs)


def test_grouped_queries_fill_up_at_the_right(tmp_path: Path) -> None:
    inputs = grouped(0, 4, rotary=True)
    inputs[5] = i32(1, 3)  # the first row has two tokens
    attributes = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    model, feeds = model_of("GroupQueryAttention", inputs, attributes, ["FLOAT"] * 3)
    del model.graph.output[1:]
    got, want = results(model, feeds, tmp_path)
    np.testing.assert_allclose(got[0, :2], want[0, :2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-4, atol=1e-5)


# --- weights in blocks of few bits --------------------------------------------------------------------------------------


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """Low bits first, along the last axis, which is filled up with zeros to whole bytes."""
    each = 8 // bits
    wide = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % each)])
    parts = wide.reshape(*wide.shape[:-1], -1, each).astype(np.uint8)
    return np.bitwise_or.reduce(parts << (np.arange(each, dtype=np.uint8) * bits), axis=-1)


def nbits(
    n: int, k: int, block: int, bits: int, zeros: str, *, half: bool = False, bias: bool = False
) -> tuple[str, list[Any], dict[str, Any], list[str]]:
    blocks = -(-k // block)
    float_type = np.float16 if half else np.float32
    codes = RNG.integers(0, 1 << bits, (n, blocks, block), dtype=np.uint8)
    scale = ((RNG.random((n, blocks)) + 0.1) / (1 << bits)).astype(np.float16).astype(float_type)
    zero: Any = RNG.integers(0, 1 << bits, (n, blocks), dtype=np.uint8)
    given = {"none": None, "packed": packed(zero, bits), "float": (zero + 0.25).astype(float_type)}
    b = packed(codes, bits).reshape(n, blocks, -1)
    x = (RNG.standard_normal((2, 3, k)) * 0.5).astype(float_type)
    at = given[zeros]
    inputs = [x, Fixed(b), Fixed(scale), None if at is None else Fixed(at), None]
    inputs.append(Fixed(RNG.standard_normal(n).astype(float_type)) if bias else None)
    attributes = {"K": k, "N": n, "block_size": block, "bits": bits}
    return "MatMulNBits", inputs, attributes, ["FLOAT16" if half else "FLOAT"]


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize("zeros", ["none", "packed", "float"])
@pytest.mark.parametrize(("n", "k"), [(5, 128), (20, 72), (3, 256)])
def test_products_with_weights_in_blocks(
    bits: int, block: int, zeros: str, n: int, k: int, tmp_path: Path
) -> None:
    if bits == 8 and zeros == "float":
        pytest.skip("onnxruntime has no 8 bits with float zero points")
    check(tmp_path, *nbits(n, k, block, bits, zeros, bias=n == 5), tolerance=1e-4)


@pytest.mark.parametrize("zeros", ["none", "packed"])
def test_half_floats_times_weights_in_blocks(zeros: str, tmp_path: Path) -> None:
    check(tmp_path, *nbits(16, 64, 32, 4, zeros, half=True), tolerance=4e-3)


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_rows_of_a_table_in_blocks(zeros: bool, bits: int, tmp_path: Path) -> None:
    codes = RNG.integers(0, 1 << bits, (10, 64), dtype=np.uint8)
    scale = (RNG.random((10, 2)) + 0.1).astype(np.float32)
    zero = packed(RNG.integers(0, 1 << bits, (10, 2), dtype=np.uint8), bits) if zeros else None
    inputs = [Fixed(packed(codes, bits)), RNG.integers(0, 10, (2, 3)), Fixed(scale)]
    inputs += [Fixed(zero)] if zero is not None else []
    attributes = {"bits": bits, "block_size": 32, "quantize_axis": 1}
    check(tmp_path, "GatherBlockQuantized", inputs, attributes, ["FLOAT"])


# --- what is refused ----------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, ...]] = {
    "attribute 'novel' is not covered": ("Gelu", [X], {"novel": 1}),
    "expected the attribute 'num_heads', got none": (
        "Attention",
        [X, Fixed(f(8, 24)), Fixed(f(24))],
        {},
    ),
    "expected do_rotary 0, got 1": (
        "Attention",
        [X, Fixed(f(8, 24)), Fixed(f(24))],
        {"num_heads": 2, "do_rotary": 1},
    ),
    "activation 'Swish'": ("FusedGemm", [f(3, 8), Fixed(f(8, 5))], {"activation": "Swish"}),
    "input 1 (B) is computed while running": (
        "MatMulNBits",
        [f(2, 32), u8(4, 1, 16), f(4, 1)],
        {"K": 32, "N": 4, "block_size": 32},
    ),
    "expected B as uint8 with 64 bytes": (
        "MatMulNBits",
        [f(2, 32), Fixed(u8(4, 1, 15)), Fixed(f(4, 1))],
        {"K": 32, "N": 4, "block_size": 32},
    ),
    "expected K, N and block_size above 0": (
        "MatMulNBits",
        [f(2, 32), Fixed(u8(4, 1, 16)), Fixed(f(4, 1))],
        {"K": -32, "N": 4, "block_size": 32},
    ),
    "expected alpha as float": ("QuickGelu", [X], {"alpha": "much"}),
    "expected input 1, got none": ("BiasGelu", [X], {}),
    "output 1 ('y1') is read": ("SkipLayerNormalization", [X, X, Fixed(f(8))], {}, ["FLOAT"] * 2),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_covered_is_refused_by_name(text: str) -> None:
    op, inputs, attributes, *outputs = REFUSED[text]
    model, _ = model_of(op, inputs, attributes, outputs[0] if outputs else ["FLOAT"])
    with pytest.raises(ModelError, match=r"node 'the_node' \(com.microsoft") as error:
        capture(model)
    assert text in str(error.value)


def test_other_operators_of_the_domain_are_listed() -> None:
    model, _ = model_of("BeamSearch", [X], {}, ["FLOAT"])
    with pytest.raises(ModelError, match=r"'the_node' \(com.microsoft.BeamSearch\)"):
        capture(model)


# --- files of onnxruntime's own tools -----------------------------------------------------------------------------------


def encoder(folder: Path) -> tuple[Path, Arrays]:
    """A small BERT by TorchScript, as the tools expect it, with named sizes."""
    torch = pytest.importorskip("torch", reason="torch is not installed: make dev-torch")
    from models.encoder import Bert

    path = folder / "bert.onnx"
    torch.manual_seed(3)
    ids = torch.randint(0, 50, (2, 6))
    args = (ids, torch.zeros_like(ids), torch.ones_like(ids))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    axes = {name: {0: "batch", 1: "sequence"} for name in names}
    torch.onnx.export(
        Bert().eval(), args, str(path), dynamo=False, input_names=names, output_names=["y"],
        opset_version=17, dynamic_axes=axes,
    )  # fmt: skip
    mask = np.ones((3, 5), np.int64)
    mask[1, 3:] = 0
    ids = RNG.integers(0, 50, (3, 5))
    return path, {"input_ids": ids, "token_type_ids": ids % 2, "attention_mask": mask}


def optimized(path: Path, level: str) -> Path:
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    out = path.with_name(f"{path.stem}_{level}.onnx")
    options.optimized_model_filepath = str(out)
    options.log_severity_level = 4
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return out


def by_transformers(path: Path) -> Path:
    from onnxruntime.transformers import optimizer

    out = path.with_name("fused.onnx")
    done = optimizer.optimize_model(str(path), model_type="bert", num_heads=4, hidden_size=32)
    done.save_model_to_file(str(out))
    return out


def dynamic(path: Path) -> Path:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(str(path), str(path.with_name("dynamic.onnx")))
    return optimized(path.with_name("dynamic.onnx"), "ORT_ENABLE_EXTENDED")


def in_blocks(path: Path) -> Path:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    made = MatMulNBitsQuantizer(onnx.load(path), block_size=32, is_symmetric=True)
    made.process()
    out = path.with_name("blocks.onnx")
    made.model.save_model_to_file(str(out))
    return out


TOOLS: dict[str, tuple[Any, set[str]]] = {
    "extended": (lambda p: optimized(p, "ORT_ENABLE_EXTENDED"), {"BiasGelu"}),
    "all": (lambda p: optimized(p, "ORT_ENABLE_ALL"), {"BiasGelu"}),
    "transformers": (
        by_transformers,
        {"Attention", "SkipLayerNormalization", "BiasGelu", "EmbedLayerNormalization"},
    ),
    "dynamic": (dynamic, {"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}),
    "blocks": (in_blocks, {"MatMulNBits"}),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_files_that_onnxruntime_writes(tool: str, tmp_path: Path) -> None:
    path, feeds = encoder(tmp_path)
    make, expected = TOOLS[tool]
    made = make(path)
    model = onnx.load(made)
    foreign = {n.op_type for n in model.graph.node if n.domain == "com.microsoft"}
    assert expected <= foreign <= TRANSLATIONS.keys()
    report = same(model, [feeds], tmp_path, 2e-2 if tool == "dynamic" else 1e-4)
    assert report.methods[0].nodes_out < 400
    if tool == "transformers":
        assert operators(report)["attention"] == 2


def test_nodes_of_the_other_domain_keep_their_modules(tmp_path: Path) -> None:
    path, _ = encoder(tmp_path)
    model = capture(by_transformers(path))
    names = {str(n.name) for n in nodes(model)}
    assert any(name.startswith("layer.0.") for name in names), sorted(names)
    assert not any(n.domain for n in nodes(model))
