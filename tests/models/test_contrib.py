"""Operators of com.microsoft against onnxruntime, over their attributes and shapes; what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.contrib import RNG, Fixed, check, f, i7, i8, i32, model_of, results, u8

import pteron
from pteron.export.capture import capture
from pteron.schema.errors import ModelError

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
@pytest.mark.parametrize("kind", [u8, i7])
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
    "expected g_idx of blocks 0 to 0, got 0 to 1": (
        "MatMulNBits",
        [f(2, 32), Fixed(u8(4, 1, 16)), Fixed(f(4, 1)), None, Fixed(np.arange(32) // 16)],
        {"K": 32, "N": 4, "block_size": 32},
    ),
    "expected g_idx of 32 elements, got 31": (
        "MatMulNBits",
        [f(2, 32), Fixed(u8(4, 1, 16)), Fixed(f(4, 1)), None, Fixed(np.zeros(31, np.int32))],
        {"K": 32, "N": 4, "block_size": 32},
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
