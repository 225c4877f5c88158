"""Q/DQ clusters become integer nodes that mean the same up to one step, or say why not."""

from __future__ import annotations

import re

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from passes.static import operators, quantized, run, values_of

from pteron.export import graph as g
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph import int8 as integer
from pteron.export.graph.text import onnx_text
from pteron.export.passes.clean import remove_unused
from pteron.export.passes.fold import fold_constants
from pteron.export.passes.int8 import WHY, integer_nodes, signed_codes
from pteron.export.passes.int8.clusters import BUILDERS
from pteron.quantize.recipe.units import PLANNERS
from pteron.schema.meaning import int8 as meaning

RNG = np.random.default_rng(11)
IMAGE = "f32[2, 6, 9, 8]"


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


K3, K1, DEPTHWISE = normal(5, 6, 3, 3), normal(4, 6, 1, 1), normal(12, 1, 3, 3)
GROUPED, BIAS = normal(4, 3, 2, 2), normal(5)
W, WT, B = normal(7, 10), normal(10, 7), normal(10)

SINGLE = {
    "conv": ("y = Conv(x, w, b, pads=[1, 1, 1, 1])", ["Conv"], {"x": IMAGE, "w": K3, "b": BIAS}),
    "conv relu": ("y = Relu(Conv(x, w, b))", ["Conv"], {"x": IMAGE, "w": K3, "b": BIAS}),
    "conv strides": (
        "y = Conv(x, w, strides=[2, 1], pads=[0, 1, 2, 0])", ["Conv"], {"x": IMAGE, "w": K3},
    ),
    "conv dilated": ("y = Conv(x, w, dilations=[2, 3])", ["Conv"], {"x": IMAGE, "w": K3}),
    "conv same": (
        "y = Conv(x, w, auto_pad='SAME_LOWER', strides=[2, 2])", ["Conv"], {"x": IMAGE, "w": K3},
    ),
    "conv pixel clip": ("y = Clip(Conv(x, w), -1.0, 2.5)", ["Conv"], {"x": IMAGE, "w": K1}),
    "conv depthwise": (
        "y = Conv(x, w, group=6, pads=[1, 1, 1, 1])", ["Conv"], {"x": IMAGE, "w": DEPTHWISE},
    ),
    "conv groups": ("y = Conv(x, w, group=2)", ["Conv"], {"x": IMAGE, "w": GROUPED}),
    "conv 1d": ("y = Conv(x, w)", ["Conv"], {"x": "f32[2, 4, 9]", "w": normal(3, 4, 3)}),
    "gemm": ("y = Gemm(x, w, b)", ["Linear"], {"x": "f32[3, 7]", "w": W, "b": B}),
    "gemm trans": ("y = Gemm(x, w, b, transB=1)", ["Linear"], {"x": "f32[3, 7]", "w": WT, "b": B}),
    "matmul": ("y = MatMul(x, w)", ["Linear"], {"x": "f32[2, 3, 7]", "w": W}),
    "matmul add": ("y = Add(MatMul(x, w), b)", ["Linear"], {"x": "f32[2, 3, 7]", "w": W, "b": B}),
    "matmul add relu": (
        "y = Relu(Add(b, MatMul(x, w)))", ["Linear"], {"x": "f32[4, 7]", "w": W, "b": B},
    ),
}  # fmt: skip
AFTER = {
    "add": ("c = Conv(x, w); y = Add(c, x)", ["Conv", "Add"]),
    "add relu": ("c = Conv(x, w); y = Relu(Add(x, c))", ["Conv", "Add"]),
    "average": (
        "y = AveragePool(Conv(x, w), kernel_shape=[3, 2], strides=[2, 2])", ["Conv", "AveragePool"],
    ),
    "global": ("y = GlobalAveragePool(Conv(x, w))", ["Conv", "AveragePool"]),
    "mean": ("y = ReduceMean(Conv(x, w), [2, 3], keepdims=1)", ["Conv", "AveragePool"]),
    "mean dropped": (
        "y = ReduceMean(Conv(x, w), [-1, -2], keepdims=0)", ["Conv", "AveragePool", "Squeeze"],
    ),
    "max": (
        "y = MaxPool(Conv(x, w), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 1])",
        ["Conv", "MaxPool"],
    ),
    "max upper": (
        "y = MaxPool(Conv(x, w), kernel_shape=[3, 2], strides=[2, 1], auto_pad='SAME_UPPER')",
        ["Conv", "MaxPool"],
    ),
    "average padded": (
        "y = AveragePool(Conv(x, w), kernel_shape=[3, 3], pads=[1, 0, 1, 2], count_include_pad=1)",
        ["Conv", "AveragePool"],
    ),
    "average without pads": (
        "y = AveragePool(Conv(x, w), kernel_shape=[3, 3], pads=[1, 1, 1, 1])",
        ["Conv", "InnerAverage"],
    ),
    "average upper": (
        "y = AveragePool(Conv(x, w), kernel_shape=[3, 2], strides=[2, 1], auto_pad='SAME_UPPER')",
        ["Conv", "InnerAverage"],
    ),
    "average ceil": (
        "y = AveragePool(Conv(x, w), kernel_shape=[2, 4], strides=[2, 2], ceil_mode=1)",
        ["Conv", "InnerAverage"],
    ),
    "average apart": (
        "y = Relu(AveragePool(Conv(x, w), kernel_shape=[2, 2], dilations=[2, 1], pads=[0, 1, 1, 0]))",
        ["Conv", "InnerAverage"],
    ),
    "mul": ("c = Conv(x, w); y = Mul(c, x)", ["Conv", "Mul"]),
    "squeeze and excite": (
        "c = Conv(x, w); y = Mul(GlobalAveragePool(c), c)", ["Conv", "AveragePool", "Mul"],
    ),
    "mul relu": ("c = Conv(x, w); y = Relu(Mul(c, c))", ["Conv", "Mul"]),
    "concat": ("c = Conv(x, w); y = Concat(c, x, axis=1)", ["Conv", "Rescale", "Concat"]),
    "concat relu": (
        "c = Relu(Conv(x, w)); y = Relu(Concat(c, x, c, axis=-1))",
        ["Conv", "Rescale", "Concat"],
    ),
    "resize": (
        "y = Resize(Conv(x, w), None, None, [2, 6, 18, 12], mode='nearest', nearest_mode='floor',"
        "coordinate_transformation_mode='asymmetric')",
        ["Conv", "Resize"],
    ),
    "resize between": (
        "y = Resize(Conv(x, w), None, None, [2, 6, 18, 16], mode='linear')",
        ["Conv", "Interpolate"],
    ),
    "resize between, smaller": (
        "y = Relu(Resize(Conv(x, w), None, None, [2, 6, 4, 5], mode='linear',"
        "coordinate_transformation_mode='pytorch_half_pixel'))",
        ["Conv", "Interpolate", "Rescale"],
    ),
    "resize between corners": (
        "y = Resize(Conv(x, w), None, None, [20, 7], axes=[2, 3], mode='linear',"
        "coordinate_transformation_mode='align_corners')",
        ["Conv", "Interpolate"],
    ),
    "product": (
        "c = Conv(x, w); y = MatMul(c, Transpose(x, perm=[0, 1, 3, 2]))",
        ["Conv", "Transpose", "Product"],
    ),
    "silu": ("c = Conv(x, w); y = Mul(c, Sigmoid(c))", ["Conv", "Sigmoid", "Mul"]),
    **{
        op: (f"y = {op}(Conv(x, w))", ["Conv", op])
        for op in ("Sigmoid", "Tanh", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu")
    },
    "relu apart": ("c = Conv(x, w); y = Relu(c); z = Add(c, c)", ["Conv", "Rescale", "Add"]),
    "moves": (
        "y = Flatten(Transpose(Conv(x, w), perm=[0, 2, 3, 1]))", ["Conv", "Transpose", "Flatten"],
    ),
    "reshape": ("y = Reshape(Relu(Conv(x, w)), [2, -1])", ["Conv", "Reshape"]),
    "an axis more": (
        "y = Squeeze(Unsqueeze(Conv(x, w), [1]), [1])", ["Conv", "Unsqueeze", "Squeeze"],
    ),
}  # fmt: skip


BLOCKS = {
    "a mobile block": (
        "a = Clip(Conv(x, w1, b1, strides=[2, 2], pads=[1, 1, 1, 1]), 0.0, 6.0);"
        "e = Clip(Conv(a, w2, b2), 0.0, 6.0);"
        "d = Clip(Conv(e, w3, b2, pads=[1, 1, 1, 1], group=24), 0.0, 6.0);"
        "s = Add(Conv(d, w4, b1), a);"
        "y = Gemm(Flatten(GlobalAveragePool(s)), w5, b3, transB=1)",
        ["Conv", "Conv", "Conv", "Conv", "Add", "AveragePool", "Flatten", "Linear"],
        {
            "x": "f32[1, 3, 16, 16]",
            "w1": normal(8, 3, 3, 3, scale=0.3),
            "w2": normal(24, 8, 1, 1, scale=0.3),
            "w3": normal(24, 1, 3, 3, scale=0.3),
            "w4": normal(8, 24, 1, 1, scale=0.2),
            "w5": normal(5, 8),
            "b1": normal(8),
            "b2": normal(24),
            "b3": normal(5),
        },
    ),
    "a transformer's layer": (
        "q = Add(MatMul(x, wq), b); k = Add(MatMul(x, wk), b); v = Add(MatMul(x, wv), b);"
        "p = Softmax(MatMul(q, Transpose(k, perm=[0, 2, 1])));"
        "h = Add(Add(MatMul(MatMul(p, v), wo), b), x);"
        "y = Add(MatMul(Relu(MatMul(h, w1)), w2), h)",
        ["Linear", "Linear", "Linear", "Transpose", "Product", "Softmax", "Product", "Linear", "Add",
         "Linear", "Linear", "Add"],
        {
            "x": "f32[1, 6, 16]",
            **{f"w{c}": normal(16, 16, scale=0.25) for c in "qkvo"},
            "w1": normal(16, 32, scale=0.25),
            "w2": normal(32, 16, scale=0.2),
            "b": normal(16),
        },
    ),
}  # fmt: skip


def codes_of(model: ir.Model, feeds: dict[str, np.ndarray]) -> dict[str, tuple[np.ndarray, float]]:
    """For each output its elements in steps of its grid, and the step."""
    values = values_of(model, feeds)
    found = {}
    for value in model.graph.outputs:
        restore = value.producer()
        assert restore is not None and restore.op_type == "DequantizeLinear"
        step = float(values[str(restore.inputs[1].name)])
        found[str(value.name)] = values[str(value.name)] / step, step
    return found


def check(text: str, want: list[str], steps: float, **given: object) -> None:
    model = onnx_text(text, **given)  # type: ignore[arg-type]
    (x,) = model.graph.inputs
    shape = [int(str(n)) for n in x.shape or ()]
    samples = [{"x": normal(*shape)} for _ in range(3)]
    exact = run(model, samples[0])
    quantized(model, samples)
    before = codes_of(model, samples[0])
    assert integer_nodes(model), operators(model)
    assert not integer_nodes(model), "a pass is idempotent"
    g.infer(model)
    g.verify(model, "test")
    assert operators(model)[0] == "QuantizeLinear"
    kinds = [n for n in operators(model) if n not in ("QuantizeLinear", "DequantizeLinear")]
    assert sorted(n.removeprefix("pteron.") for n in kinds) == sorted(want)
    after = codes_of(model, samples[0])
    for (name, (codes, step)), real in zip(after.items(), exact, strict=True):
        assert np.abs(codes - before[name][0]).max() <= steps + 1e-3, name
        assert np.abs(codes * step - real).max() <= 0.12 * np.abs(real).max()
    for node in model.graph:
        value = node.outputs[0]
        assert list(value.shape or []) == list(values_of(model, samples[0])[str(value.name)].shape)


@pytest.mark.parametrize("name", SINGLE)
def test_one_operator_differs_by_at_most_one_step(name: str) -> None:
    text, want, given = SINGLE[name]
    check(text, want, 1, **given)


@pytest.mark.parametrize("name", AFTER)
def test_operators_in_a_row_stay_in_int8(name: str) -> None:
    text, want = AFTER[name]
    # Interpolate and then Rescale round what the convolution has rounded.
    steps = 3 if {"Interpolate", "Rescale"} <= set(want) else 2
    check(text, want, steps, x=IMAGE, w=normal(6, 6, 1, 1))


def test_every_operator_of_the_table_is_planned_and_built() -> None:
    assert set(PLANNERS) == set(BUILDERS) == set(integer.Form)
    texts = " ".join(row[0] for row in (*SINGLE.values(), *AFTER.values()))
    assert {op for op in integer.FORMS if f"{op}(" not in texts} == set()


def test_an_operator_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(integer.FORMS, "DepthToSpace", integer.Form.MOVE)
    check(
        "y = DepthToSpace(Conv(x, w), blocksize=2)",
        ["Conv", "DepthToSpace"],
        2,
        x=IMAGE,
        w=normal(8, 6, 1, 1),
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_of_networks_stay_near_f32(name: str) -> None:
    text, want, given = BLOCKS[name]
    check(text, want, 4, **given)


def qdq(zero: int, kind: type, weight_zero: int = 0, scale: float = 0.05) -> ir.Model:
    """y = Q(MatMul(DQ(Q(x)), DQ(w))) as other tools write it."""
    x_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=1),
        helper.make_node("MatMul", ["xd", "wd"], ["p"]),
        helper.make_node("QuantizeLinear", ["p", "ys", "z"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "z"], ["y"]),
    ]
    rng = np.random.default_rng(2)
    stored = {
        "s": np.float32(scale),
        "ys": np.float32(0.2),
        "z": np.array(zero, kind),
        "w": rng.integers(-127, 128, (8, 6)).astype(np.int8),
        "ws": rng.uniform(0.01, 0.02, 6).astype(np.float32),
        "wz": np.full(6, weight_zero, np.int8),
    }
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 8])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 6])]
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in stored.items()]
    graph = helper.make_graph(nodes, "qdq", inputs, outputs, constants)
    assert x_type
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return capture_onnx(proto)


def test_uint8_activations_become_int8() -> None:
    model, x = qdq(100, np.uint8), {"x": normal(3, 8, scale=3)}
    want = run(model, x)[0]
    assert signed_codes(model) and not signed_codes(model)
    np.testing.assert_array_equal(run(model, x)[0], want)
    assert integer_nodes(model)
    assert operators(model) == ["QuantizeLinear", "pteron.Linear", "DequantizeLinear"]
    assert np.abs(run(model, x)[0] - want).max() <= 0.2001


def test_a_mean_is_an_integer_node_though_only_its_reshape_is_quantized() -> None:
    text = "y = Reshape(ReduceMean(Relu(Conv(x, w)), [2, 3], keepdims=1), [-1, 5])"
    model = onnx_text(text, x=IMAGE, w=K3)
    x = {"x": normal(2, 6, 9, 8)}
    quantized(model, [x])
    mean = next(n for n in model.graph if n.op_type == "ReduceMean")
    restore = next(n for n in model.graph if n.op_type == "Reshape").inputs[0]
    assert restore is not None
    restore.replace_all_uses_with(mean.outputs[0])  # as quantize_static leaves it
    remove_unused(model)
    want = run(model, x)[0]
    assert integer_nodes(model) and not integer_nodes(model)
    g.verify(model, "test")
    assert operators(model) == [
        "QuantizeLinear", "pteron.Conv", "pteron.AveragePool", "Reshape", "DequantizeLinear",
    ]  # fmt: skip
    step = codes_of(model, x)["y"][1]
    assert np.abs(run(model, x)[0] - want).max() <= 1.01 * step


@pytest.mark.parametrize(
    "model, reason",
    [
        (lambda: qdq(0, np.int8, weight_zero=99), "zero points"),
        (lambda: qdq(0, np.int8, scale=1e30), "calibrate again"),
    ],
)
def test_what_is_declined_stays_and_says_why(model: object, reason: str) -> None:
    given = model()  # type: ignore[operator]
    assert not integer_nodes(given)
    (why,) = [n.metadata_props.get(WHY) for n in given.graph if n.op_type == "MatMul"]
    assert reason in str(why)


def test_zero_points_of_weights_are_taken_away_where_int8_holds_what_is_left() -> None:
    x = {"x": normal(3, 8)}
    for model in (qdq(0, np.int8, weight_zero=1), unsigned_weight()):
        want = run(model, x)[0]
        assert integer_nodes(model)
        assert operators(model) == ["QuantizeLinear", "pteron.Linear", "DequantizeLinear"]
        assert np.abs(run(model, x)[0] - want).max() <= 1.01 * codes_of(model, x)["y"][1]


@pytest.mark.parametrize("code", [-128, 0, 127])
def test_a_weight_of_one_code_is_taken(code: int) -> None:
    model, x = qdq(0, np.int8), {"x": normal(3, 8)}
    value = model.graph.initializers["w"]
    assert value.const_value is not None
    value.const_value = ir.tensor(np.full_like(value.const_value.numpy(), code), name="w")
    want = run(model, x)[0]
    assert integer_nodes(model)
    assert np.abs(run(model, x)[0] - want).max() <= 1.01 * codes_of(model, x)["y"][1]


def unsigned_weight() -> ir.Model:
    """As onnxruntime writes weights where it is asked for uint8, symmetric."""
    model = qdq(0, np.int8)
    initializers = model.graph.initializers
    for name, more in (("w", 128), ("wz", 128)):
        value = initializers[name]
        assert value.const_value is not None
        array = (value.const_value.numpy().astype(np.int16) + more).astype(np.uint8)
        value.const_value = ir.tensor(array, name=name)
        value.type = ir.TensorType(ir.DataType.UINT8)
    return model


def test_weights_stored_in_f32_behind_q_and_dq_are_taken() -> None:
    """As tools that train with simulated quantization export them."""
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        "k = QuantizeLinear(w, 0.01, i8(0)); l = DequantizeLinear(k, 0.01, i8(0));"
        "q = QuantizeLinear(MatMul(d, l), 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    model, x = onnx_text(text, x="f32[3, 7]", w=W), {"x": normal(3, 7)}
    want = run(model, x)[0]
    assert fold_constants(model) and integer_nodes(model)
    assert operators(model) == ["QuantizeLinear", "pteron.Linear", "DequantizeLinear"]
    assert np.abs(run(model, x)[0] - want).max() <= 0.1001


SQUARE = RNG.integers(-127, 128, (6, 6)).astype(np.int8)


ADDENDS = [((6,), True), ((1, 6), True), ((1,), True), ((6, 1), False)]


@pytest.mark.parametrize(
    "op, shape, taken",
    [(op, *row) for op in ("Add(MatMul(d, l), a)", "Gemm(d, l, a)") for row in ADDENDS]
    + [("Add(MatMul(d, l), a)", (1, 1, 6), False)],
)
def test_an_addend_is_a_bias_only_along_the_columns(
    op: str, shape: tuple[int, ...], taken: bool
) -> None:
    """[6, 1] has as many numbers as the result has columns, and is added to its rows; [1, 1, 6] makes the result longer."""
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        "l = DequantizeLinear(w, 0.01, i8(0)); a = DequantizeLinear(b, 0.0005);"
        f"q = QuantizeLinear({op}, 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    bias = RNG.integers(-9000, 9000, shape).astype(np.int32)
    model, x = onnx_text(text, x="f32[6, 6]", w=SQUARE, b=bias), {"x": normal(6, 6)}
    want = run(model, x)[0]
    assert integer_nodes(model) is taken
    assert ("pteron.Linear" in operators(model)) is taken
    (got,) = run(model, x)
    assert got.shape == want.shape and np.abs(got - want).max() <= 0.1001


@pytest.mark.parametrize(("step", "why"), [(2e-3, ""), (2e-6, "beyond int32")])
def test_a_bias_at_the_end_of_int32_gives_way_where_that_shows_in_no_result(
    step: float, why: str
) -> None:
    """As onnxruntime writes channels of next to no weight: their scale is the least by which int32 holds their bias."""
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        "l = DequantizeLinear(w, 1e-9, i8(0)); a = DequantizeLinear(b, 5e-11); r = Gemm(d, l, a);"
        f"q = QuantizeLinear(r, {step}, i8(-7)); y = DequantizeLinear(q, {step}, i8(-7))"
    )
    bias = np.array([1, -1] * 3, np.int32) * (2**31 - 10_000)
    model, x = onnx_text(text, x="f32[6, 6]", w=SQUARE, b=bias), {"x": W[:6, :6].copy()}
    want = run(model, x)[0]
    assert integer_nodes(model) is not bool(why)
    heads = [n for n in g.nodes(model) if n.op_type in ("Gemm", "Linear")]
    assert [n.metadata_props.get(WHY, "").find(why) >= 0 for n in heads] == [True]
    if not why:
        assert abs(integer.read(heads[0]).bias.astype(np.int64)).max() < 2**31 - 10_000
    assert np.abs(run(model, x)[0] - want).max() <= 1.01 * step


def test_sums_are_bounded_by_the_weights_that_there_are() -> None:
    w, bias = np.array([[1, -2], [-128, 127]], np.int8), np.array([-5, 2**31 - 1], np.int32)
    assert meaning.sum_bounds(w, bias).tolist() == [770, 255 * 255 + 2**31 - 1]
    assert meaning.sum_bounds(w, bias, 16, -9).tolist()[0] == 3 * (2**15 + 9) + 5


def test_an_addend_that_makes_more_columns_is_no_bias() -> None:
    """Of a product with one column, a row of numbers makes as many columns as it has."""
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        "l = DequantizeLinear(w, 0.01, i8(0)); a = DequantizeLinear(b, 0.0005);"
        "q = QuantizeLinear(Add(MatMul(d, l), a), 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    bias = RNG.integers(-9000, 9000, 7).astype(np.int32)
    model, x = onnx_text(text, x="f32[6, 6]", w=SQUARE[:, :1], b=bias), {"x": normal(6, 6)}
    (want,) = run(model, x)
    assert want.shape == (6, 7) and not integer_nodes(model)
    np.testing.assert_array_equal(run(model, x)[0], want)


@pytest.mark.parametrize("op", ["Conv(d, l)", "AveragePool(d, kernel_shape=[1, 1])", "Neg(d)"])
def test_only_a_product_of_matrices_takes_an_addend(op: str) -> None:
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        "l = DequantizeLinear(w, 0.01, i8(0)); a = DequantizeLinear(b, 0.05, i8(0));"
        f"q = QuantizeLinear(Add({op}, a), 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    w, b = SQUARE[:, :, None, None], RNG.integers(-50, 50, (1, 6, 1, 1)).astype(np.int8)
    model, x = onnx_text(text, x="f32[2, 6, 3, 3]", w=w, b=b), {"x": normal(2, 6, 3, 3)}
    want = run(model, x)[0]
    assert not integer_nodes(model)
    assert np.array_equal(run(model, x)[0], want)


@pytest.mark.parametrize("limits", ["-3.0, -1.0", "0.5, 2.0", "-1.0, 1.0"])
def test_two_limits_are_taken_one_behind_the_other(limits: str) -> None:
    """What the first one takes away, the second one may not bring back: Relu(Clip(x, -3, -1)) is 0."""
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        f"q = QuantizeLinear(Relu(Clip(d, {limits})), 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    model, x = onnx_text(text, x="f32[4, 50]"), {"x": normal(4, 50, scale=3)}
    want = run(model, x)[0]
    assert integer_nodes(model) and "pteron.Rescale" in operators(model)
    assert np.abs(run(model, x)[0] - want).max() <= 0.1001


def test_operators_without_integer_form_name_themselves() -> None:
    model = onnx_text("y = Softmax(Relu(MatMul(x, w)))", x="f32[3, 7]", w=W)
    quantized(model, [{"x": normal(3, 7)}])
    assert integer_nodes(model)
    assert operators(model) == [
        "QuantizeLinear", "pteron.Linear", "DequantizeLinear", "Softmax",
    ]  # fmt: skip
    (why,) = [n.metadata_props[WHY] for n in model.graph if n.op_type == "Softmax"]
    assert why.startswith("Softmax has no integer form")


def test_a_value_that_others_read_in_f32_keeps_the_cluster() -> None:
    model = qdq(0, np.int8)
    product = next(n for n in model.graph if n.op_type == "MatMul")
    model.graph.outputs.append(product.outputs[0])
    product.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    assert not integer_nodes(model)
    assert "read by others" in product.metadata_props[WHY]


def test_names_and_sources_survive() -> None:
    model = onnx_text("y = Relu(MatMul(x, w))", x="f32[3, 7]", w=W)
    product = next(n for n in g.nodes(model) if n.op_type == "MatMul")
    product.name, product.metadata_props[g.SOURCE] = "layer", "net.py:3"
    quantized(model, [{"x": normal(3, 7)}])
    assert integer_nodes(model)
    (linear,) = [n for n in model.graph if n.domain == integer.DOMAIN]
    assert (linear.name, g.source(linear)) == ("layer", "net.py:3")
    assert model.graph.outputs[0].name == "y"


@pytest.mark.parametrize(
    "call, reason",
    [
        ("AveragePool(d, kernel_shape=[1, 2], pads=[0, 0, 1, 0])", "windows of pads alone"),
        ("MaxPool(d, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)", "ceil_mode"),
        ("ReduceMean(d, [1], keepdims=1)", "mean over axes"),
        ("ReduceMean(d, [1, 2, 3], keepdims=1)", "mean over axes"),
        ("Add(d, Expand(d, [1]))", "not int8|no integer form|shapes"),
        ("Conv(d, w)", "not quantized"),
        ("Conv(d, DequantizeLinear(k, s, axis=1))", "along another axis"),
        ("Conv(d, DequantizeLinear(k, s, z, axis=0))", "zero points"),
        ("Conv(d, DequantizeLinear(k, t))", "not constant int8"),
        ("Conv(d, DequantizeLinear(u, 0.01))", "not constant int8"),
        ("Conv(d, DequantizeLinear(k, s, axis=0), b)", "computed while running"),
        ("Conv(d, DequantizeLinear(k, s, axis=0), h)", "does not fit int32"),
    ],
)
def test_what_has_no_integer_form_says_why(call: str, reason: str) -> None:
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        f"q = QuantizeLinear({call}, 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    given = {
        "w": normal(6, 6, 1, 1), "k": RNG.integers(-127, 128, (6, 6, 1, 1)).astype(np.int8), "b": "f32[6]",
        "s": np.full(6, 0.01, np.float32), "z": np.full(6, 99, np.int8), "t": "f32[]", "u": "i8[6, 6, 1, 1]", "h": np.full(6, 1e12, np.float32),
    }  # fmt: skip
    used = {n: v for n, v in given.items() if re.search(rf"\b{n}\b", call)}
    model = onnx_text(text, x=IMAGE, **used)
    assert not integer_nodes(model) or "pteron" not in "".join(operators(model))
    why = " ".join(n.metadata_props.get(WHY, "") for n in model.graph)
    assert re.search(reason, why), why


@pytest.mark.parametrize(
    "bias, taken",
    [("b", True), ("f", False), ("Mul(f, 0.5)", False), ("DequantizeLinear(e, 0.0005)", False)],
)
def test_a_bias_that_is_computed_while_running_is_declined(bias: str, taken: bool) -> None:
    text = (
        "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3));"
        f"l = DequantizeLinear(w, 0.01, i8(0)); r = Gemm(d, l, {bias});"
        "q = QuantizeLinear(r, 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
    )
    given = {"b": normal(6), "f": "f32[6]", "e": "i32[6]"}
    used = {n: a for n, a in given.items() if n in bias.replace("DequantizeLinear", "")}
    model = onnx_text(text, x="f32[6, 6]", w=SQUARE, **used)
    g.infer(model)
    assert integer_nodes(model) is taken
    assert ("pteron.Linear" in operators(model)) is taken


def test_a_transpose_of_codes_without_axes_turns_them_around() -> None:
    model = onnx_text("y = Transpose(x)", x="i8[2, 3, 4]")
    (node,) = model.graph
    assert integer.read(node) == integer.Transpose((2, 1, 0))
    node.inputs[0].shape = None
    assert integer.read(node) is None, "of unknown rank"
    assert integer.read(
        next(iter(onnx_text("y = Transpose(x, perm=[1, 0])", x="i8[2, 3]").graph))
    ) == integer.Transpose((1, 0))
    assert integer.read(next(iter(onnx_text("y = Transpose(x)", x="f32[2, 3]").graph))) is None


@pytest.mark.parametrize(
    "call",
    ["Reshape(x, [3, -1])", "Reshape(x, [0, 4, 3])", "Flatten(x, axis=2)", "Flatten(x)", "Flatten(x, axis=-1)",
     "Squeeze(x, [1])", "Squeeze(x)", "Unsqueeze(x, [0, -1])", "Transpose(x)", "Transpose(x, perm=[3, 0, 2, 1])"],
)  # fmt: skip
def test_codes_that_move_are_where_the_standard_puts_them(call: str) -> None:
    """What these nodes mean to delegates, and ONNX's reference."""
    x = RNG.integers(-128, 128, (3, 1, 2, 6)).astype(np.int8)
    model = onnx_text(f"y = {call}", x="i8[3, 1, 2, 6]")
    (node,) = model.graph
    assert integer.read(node) is not None
    given = [x, *(v.const_value.numpy() for v in node.inputs[1:])]
    np.testing.assert_array_equal(integer.run(node, *given), run(model, {"x": x})[0])
