"""Q/DQ clusters of int16, and of int16 beside int8, become integer nodes; what does not says why."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from passes.static import operators, quantized, run

from pteron.export import graph as g
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.passes.int8 import WHY, integer_nodes
from pteron.quantize.recipe.rules import recipe

RNG = np.random.default_rng(160)


def chain(kinds: list[tuple[str, int, float]], middle: str = "MatMul", terms: int = 8) -> ir.Model:
    """y = DQ(Q(op(DQ(Q(x)) ...))): kinds are (type, zero point, scale) of x and of the result."""
    nodes, stored = [], {}
    for name, (kind, zero, scale) in zip("xy", kinds, strict=True):
        stored[f"{name}s"], stored[f"{name}z"] = np.float32(scale), np.array(zero, kind)
    nodes += [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
    ]
    if middle == "MatMul":
        stored["w"] = RNG.integers(-127, 128, (terms, 6)).astype(np.int8)
        stored["ws"] = RNG.uniform(0.01, 0.02, 6).astype(np.float32)
        nodes += [
            helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"], axis=1),
            helper.make_node("MatMul", ["xd", "wd"], ["p"]),
        ]
    elif middle == "Add":
        nodes.append(helper.make_node("Add", ["xd", "xd"], ["p"]))
    else:
        nodes.append(helper.make_node(middle, ["xd"], ["p"]))
    nodes += [
        helper.make_node("QuantizeLinear", ["p", "ys", "yz"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, terms])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    return capture_onnx(model)


def near(model: ir.Model, step: float, terms: int = 8) -> list[str]:
    """The result is within a step of what Q/DQ say; what the graph has."""
    feeds = {"x": RNG.standard_normal((3, terms)).astype(np.float32)}
    want = run(model, feeds)[0]
    assert integer_nodes(model)
    assert np.abs(run(model, feeds)[0] - want).max() <= step * 1.001
    return operators(model)


WORD, CODE = ("int16", 0, 1e-4), ("int8", 3, 0.03)


@pytest.mark.parametrize(
    ("kinds", "want"),
    [
        ([WORD, WORD], ["Linear"]),
        ([("uint16", 32768, 1e-4), ("uint16", 32768, 1e-4)], ["Linear"]),
        ([("int16", 77, 1e-4), ("uint16", 1000, 1e-4)], ["Linear"]),
        ([CODE, WORD], ["Rescale", "Linear"]),
        ([WORD, CODE], ["Linear", "Rescale"]),
    ],
)
def test_products(kinds: list[tuple[str, int, float]], want: list[str]) -> None:
    found = near(chain(kinds), kinds[1][2])
    assert found == ["QuantizeLinear", *(f"pteron.{name}" for name in want), "DequantizeLinear"]


@pytest.mark.parametrize("middle", ["Add", "Relu"])
@pytest.mark.parametrize("kinds", [[WORD, WORD], [CODE, WORD], [WORD, CODE], [CODE, ("int16", -9, 1e-3)]])  # fmt: skip
def test_sums_and_limits(kinds: list[tuple[str, int, float]], middle: str) -> None:
    found = near(chain(kinds, middle), kinds[1][2])
    mixed = middle == "Add" and kinds[0][0] != kinds[1][0]
    want = ["Add", "Rescale"][: 1 + mixed] if middle == "Add" else ["Rescale"]
    if mixed and kinds[0] == CODE:
        want = ["Rescale", "Rescale", "Add"]  # one for each operand
    assert [name.removeprefix("pteron.") for name in found[1:-1]] == want


def test_sums_beyond_int32_saturate_where_that_shows_in_no_result() -> None:
    kinds = [("int16", 0, 1e-4), ("int16", 0, 2e-3)]
    assert "pteron.Linear" in near(chain(kinds, terms=2000), 2e-3, 2000)


@pytest.mark.parametrize(
    ("kinds", "middle", "terms", "why"),
    [
        ([("int16", 5, 1e-4), ("int16", 0, 2e-3)], "MatMul", 2000, "beyond int32"),
        ([("int16", 0, 1e-9), ("int16", 0, 1.0)], "MatMul", 2000, "beyond int32"),
        ([WORD, WORD], "Sigmoid", 8, "too many codes"),
    ],
)
def test_what_is_declined_says_why(
    kinds: list[tuple[str, int, float]], middle: str, terms: int, why: str
) -> None:
    model = chain(kinds, middle, terms)
    integer_nodes(model)
    (head,) = [node for node in g.nodes(model) if g.is_op(node, middle)]
    assert why in head.metadata_props[WHY]


NETWORK = """
    a = Relu(Conv(x, w, b, pads=[1, 1, 1, 1])); c = Clip(Conv(a, d, group=6, pads=[1, 1, 1, 1]), 0.0, 6.0);
    e = Conv(c, p); s = Add(e, x); m = MaxPool(s, kernel_shape=[2, 2], strides=[2, 2]);
    t = Concat(m, m, axis=1); y = Flatten(GlobalAveragePool(t))
"""


def test_a_network_is_integers_from_end_to_end_and_loses_little() -> None:
    def normal(*shape: int) -> np.ndarray:
        return RNG.standard_normal(shape).astype(np.float32)

    given = {"x": "f32[2, 6, 9, 8]", "w": normal(6, 6, 3, 3), "b": normal(6), "d": normal(6, 1, 3, 3), "p": normal(6, 6, 1, 1)}  # fmt: skip
    samples = [{"x": normal(2, 6, 9, 8)} for _ in range(4)]
    losses = {}
    for bits in (8, 16):
        model = onnx_text(NETWORK, **given)
        want = run(model, samples[0])[0]
        report = quantized(model, samples, recipe("int8", activations=f"int{bits}-static"))
        assert {a.bits for a in report.activations} == {bits}
        assert bits == 8 or {a.zero for a in report.activations} == {0}
        before = run(model, samples[0])[0]
        assert integer_nodes(model)
        kinds = operators(model)
        assert kinds[0] == "QuantizeLinear" and kinds[-1] == "DequantizeLinear"
        assert not {"QuantizeLinear", "DequantizeLinear", "Conv", "Add"} & set(kinds[1:-1])
        got = run(model, samples[0])[0]
        step = report.activations[-1].scale
        assert np.abs(got - before).max() <= 8 * step
        losses[bits] = np.abs(got - want).max()
    assert losses[16] <= losses[8]
