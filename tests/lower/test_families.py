"""Lowerings of each family against ONNX's reference, on drawn shapes and operands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lower.check import agrees

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run

FEW = settings(max_examples=25, deadline=None, derandomize=True)
DIM = st.integers(1, 5)


def floats(shape: tuple[int, ...], seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def typed(array: np.ndarray) -> str:
    """An input's type: every axis a symbol of its own name and size."""
    names = {"float32": "f32", "float16": "f16", "float64": "f64", "bool": "bool"}
    kind = names.get(array.dtype.name, array.dtype.name.replace("uint", "u").replace("int", "i"))
    return f"{kind}[{', '.join(f'd{n}' if n > 1 else '1' for n in array.shape)}]"


@st.composite
def broadcastable(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    full = draw(st.lists(DIM, min_size=1, max_size=4))
    shapes = []
    for _ in range(2):
        kept = [n if draw(st.booleans()) else 1 for n in full]
        shapes.append(tuple(kept[draw(st.integers(0, len(kept) - 1)) :]))
    return shapes[0], shapes[1]


@FEW
@given(broadcastable(), st.sampled_from(["Add", "Sub", "Mul", "Max", "Less", "Equal", "PRelu"]))
def test_two_operands(shapes: tuple[tuple[int, ...], tuple[int, ...]], op: str) -> None:
    a, b = floats(shapes[0], 1), floats(shapes[1], 2)
    if op == "PRelu":
        b = floats((1,) * b.ndim if b.ndim <= a.ndim else (), 2)
    agrees(f"out = {op}(a, b)", {"a": a, "b": b}, a=typed(a), b=typed(b))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("op", ["Add", "Mul", "Sub", "Div", "Mod", "Max", "Greater", "BitwiseXor"])
def test_integers_wrap_as_their_type_does(op: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    a = np.array([info.min, info.max, 7, 100, 1, 5], dtype)
    b = np.array([info.max, 3, 2, 3, info.max, 1], dtype)
    agrees(f"out = {op}(a, b)", {"a": a, "b": b}, a=typed(a), b=typed(b))


ACTIVATIONS = [
    "Relu(x)", "Sigmoid(x)", "Tanh(x)", "Gelu(x)", "Gelu(x, approximate='tanh')", "Erf(x)",
    "Softplus(x)", "Softsign(x)", "HardSwish(x)", "HardSigmoid(x)", "Mish(x)", "Swish(x, alpha=1.5)",
    "Elu(x, alpha=0.7)", "Selu(x)", "Celu(x, alpha=1.3)", "LeakyRelu(x)", "ThresholdedRelu(x)",
    "Round(x)", "Sign(x)", "Floor(x)", "Clip(x, -0.5, 0.5)", "Pow(x, 2.0)", "Shrink(x, lambd=0.4)",
    "IsNaN(x)", "IsInf(x)", "Reciprocal(x)", "Abs(x)", "Exp(x)", "Not(IsNaN(x))",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("call", ACTIVATIONS)
def test_one_operand(call: str, dtype: str) -> None:
    x = floats((4, 7), 3, dtype)
    if dtype == "float16":
        call = call.replace("-0.5, 0.5", "f16(-0.5), f16(0.5)")
    agrees(f"out = {call}", {"x": x}, x=typed(x))


@FEW
@given(st.lists(DIM, min_size=1, max_size=4), st.data())
def test_slices(shape: list[int], data: st.DataObject) -> None:
    x = floats(tuple(shape))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    # Starts before the first element are clamped to it by ONNX's text, to nothing by its reference.
    start, end = data.draw(st.integers(-shape[axis], 7)), data.draw(st.integers(-7, 7))
    step = data.draw(st.sampled_from([-2, -1, 1, 2]))
    text = f"out = Slice(x, [{start}], [{end}], [{axis}], [{step}])"
    static = f"f32[{', '.join(map(str, shape))}]"
    agrees(text, {"x": x}, x=static)


@FEW
@given(
    st.permutations(range(4)),
    st.permutations(range(4)),
    st.sampled_from(["12, -1", "0, 0, -1", "-1"]),
)
def test_reshape_of_a_transpose(first: list[int], second: list[int], shape: str) -> None:
    x = floats((2, 3, 4, 5))
    text = f"""
        y = Relu(Transpose(x, perm={list(first)}))
        out = Transpose(Reshape(Transpose(y, perm={list(second)}), [{shape}]))
    """
    agrees(text, {"x": x}, x="f32[2, 3, 4, 5]" if "12" in shape else "f32[b, 3, 4, 5]")


@FEW
@given(
    st.sampled_from(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"]),
    st.sets(st.integers(0, 2)),
    st.integers(0, 1),
)
def test_reductions(kind: str, axes: set[int], keep: int) -> None:
    x = floats((2, 5, 3))
    over = f"{sorted(axes)}, " if axes else ""
    agrees(f"out = Reduce{kind}(x, {over}keepdims={keep})", {"x": x}, x=typed(x))


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax(op: str, axis: int) -> None:
    x = floats((3, 4, 5))
    agrees(f"out = {op}(x, axis={axis})", {"x": x}, x=typed(x))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(mode: str) -> None:
    x = floats((3, 4))
    agrees(f"out = Pad(x, [1, 2, 0, 1], mode='{mode}')", {"x": x}, x=typed(x))


def test_pad_may_crop() -> None:
    x = floats((3, 4))
    program = lower(onnx_text("out = Pad(x, [1, -2, 0, 1], 5.0)", x="f32[n, 4]"))
    want = np.pad(x[:, 2:], ((1, 0), (0, 1)), constant_values=5.0)
    np.testing.assert_array_equal(run(program, {"x": x})["out"], want)


MOVES = {
    "Tile(x, [2, 1, 3])": (2, 3, 4),
    "Expand(x, [3, 2, 3, 4])": (2, 1, 4),
    "DepthToSpace(x, blocksize=2)": (2, 8, 3, 2),
    "DepthToSpace(x, blocksize=2, mode='CRD')": (2, 8, 3, 2),
    "SpaceToDepth(x, blocksize=2)": (2, 3, 4, 6),
    "Flatten(x, axis=2)": (2, 3, 4),
    "Squeeze(x, [1])": (2, 1, 4),
    "Unsqueeze(x, [0, 3])": (2, 4),
    "Trilu(x, upper=0)": (2, 4, 4),
    "Trilu(x, i64(1))": (3, 4),
    "EyeLike(x, k=1)": (3, 4),
    "CumSum(x, i64(1), exclusive=1)": (2, 5),
    "CumSum(x, i64(0), reverse=1)": (2, 5),
    "ArgMax(x, axis=1, keepdims=0)": (3, 4),
    "ArgMin(x, axis=0, select_last_index=1)": (3, 4),
    "Gather(x, [2, 0, -1], axis=1)": (2, 3, 2),
    "Gather(x, i64(1), axis=0)": (2, 3),
    "GatherElements(x, [[0, 1], [1, 0]], axis=1)": (2, 3),
    "GatherND(x, [[0, 1], [1, 0]])": (2, 2, 3),
    "NonZero(x)": (3, 3),
    "ReverseSequence(x, [2, 3], time_axis=0, batch_axis=1)": (3, 2),
}


@pytest.mark.parametrize("call", MOVES)
def test_moving_and_indexing(call: str) -> None:
    x = floats(MOVES[call])
    if "[[" in call:
        head, rest = call.split("[[")
        rows, tail = rest.split("]]")
        call = f"{head}at{tail}"
        at = np.array([[int(n) for n in row.split(",")] for row in rows.split("], [")])
        agrees(f"out = {call}", {"x": x}, x=typed(x), at=at)
        return
    static = f"f32[{', '.join(map(str, x.shape))}]"
    agrees(f"out = {call}", {"x": x}, x=static)


def test_split_and_concat() -> None:
    x = floats((2, 7))
    agrees("a, b = Split(x, [3, 4], axis=1); out = Concat(b, a, axis=1)", {"x": x}, x=typed(x))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max"])
def test_scatter(reduction: str) -> None:
    x, at = floats((3, 4)), np.array([[0, 2], [1, 0]])
    u = floats((2, 2), 5)
    agrees(
        f"out = ScatterElements(x, at, u, axis=1, reduction='{reduction}')",
        {"x": x, "u": u},
        x=typed(x),
        u="f32[2, 2]",
        at=at,
    )


def test_unique() -> None:
    x = np.random.default_rng(0).integers(0, 5, (3, 4))
    agrees("y, i, r, c = Unique(x)", {"x": x}, x="i64[n, m]")
    program = lower(onnx_text("y, i, r, c = Unique(x, sorted=0)", x="i64[n, m]"))
    got = run(program, {"x": x})  # the reference fails here
    flat = x.reshape(-1)
    np.testing.assert_array_equal(got["y"][got["r"]], flat)
    np.testing.assert_array_equal(got["i"], sorted(got["i"]))
    np.testing.assert_array_equal(flat[got["i"]], got["y"])
    np.testing.assert_array_equal(got["c"], [np.sum(flat == v) for v in got["y"]])


def test_topk() -> None:
    x = floats((3, 6))
    agrees("v, i = TopK(x, [3], axis=1, largest=0)", {"x": x}, x=typed(x))


def test_sizes_as_data() -> None:
    x = floats((3, 6))
    text = """
        n = Gather(Shape(x), i64(0))
        r = Range(i64(0), n, i64(1))
        out = Mul(Cast(Unsqueeze(r, [1]), to=1), x)
    """
    agrees(text, {"x": x}, x="f32[n, m]")


@pytest.mark.parametrize("block", [0, 2])
def test_quantize_and_back(block: int) -> None:
    x = floats((4, 6))
    shape = (4, 3) if block else (4,)
    given = {"s": np.linspace(0.1, 0.4, 4, dtype=np.float32), "z": np.zeros(shape, np.int8)}
    if block:
        given["s"] = np.broadcast_to(given["s"][:, None], shape).copy()
    extra = f"axis={1 if block else 0}, block_size={block}"
    text = f"q = QuantizeLinear(x, s, z, {extra}); out = DequantizeLinear(q, s, z, {extra})"
    agrees(text, {"x": x}, x=typed(x), **given)


def test_weights_stay_codes_beside_their_floats() -> None:
    codes = np.arange(-16, 16, dtype=np.int8).reshape(8, 4)
    text = "out = MatMul(x, DequantizeLinear(w, s, axis=1))"
    scale = np.array([0.5, 0.25, 1.0, 2.0], np.float32)
    program = lower(onnx_text(text, x="f32[n, 8]", w=codes, s=scale))
    (weight,) = [c for c in program.constants if c.coded is not None]
    np.testing.assert_array_equal(weight.array, (codes * scale).T)
    np.testing.assert_array_equal(weight.coded.codes, codes.T)
