"""Graphs in text and the programs they become."""

from __future__ import annotations

import numpy as np
import pytest
from lower.check import listing

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError


def test_broadcast_is_a_view_and_a_lone_constant_a_literal() -> None:
    assert listing("out = Mul(Add(x, b), 2.0)", x="f32[n, 3]", b="f32[3]") == [
        "%1: f32[n, 3] = pointwise(x, b{0, 1}) add($0, $1)",
        "%2: f32[n, 3] = pointwise(%1) mul($0, 2.0)",
    ]


def test_views_are_composed_and_cancel() -> None:
    text = "out = Relu(Transpose(Transpose(x, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2]))"
    assert listing(text, x="f32[n, 3, 8, 8]") == ["%1: f32[n, 3, 8, 8] = pointwise(x) max($0, 0.0)"]


def test_pointwise_adopts_the_order_of_its_operand() -> None:
    text = "out = Relu(Transpose(x, perm=[0, 2, 1]))"
    assert listing(text, x="f32[2, 3, 4]") == [
        "%1: f32[2, 3, 4] = pointwise(x) max($0, 0.0)",
        "%2: f32[2, 4, 3] = copy(%1{12, 1, 4})",
    ]


def test_shape_arithmetic_never_reaches_the_program() -> None:
    text = """
        s = Shape(x, start=0, end=1)
        t = Concat(s, Mul(Shape(x, start=1, end=2), [2]), [-1], axis=0)
        out = Relu(Reshape(x, t))
    """
    assert listing(text, x="f32[n, m, 8]") == ["%1: f32[n, 2*m, 4] = pointwise(x{}) max($0, 0.0)"]


def test_a_shape_that_is_an_output_is_computed_by_dims() -> None:
    assert listing("out = Add(Shape(x), [1])", x="f32[n, 3]") == [
        "%1: i64[2] = dims() values=(n + 1, 4)"
    ]


def test_concat_is_copies_into_one_base() -> None:
    assert listing("out = Concat(x, y, axis=1)", x="f32[n, 2]", y="f32[n, 3]") == [
        "%1{5, 1}: f32[n, 2] = copy(x)",
        "%1{5, 1 + 2}: f32[n, 3] = copy(y)",
    ]


def test_fused_results_are_written_where_concat_wants_them() -> None:
    text = "out = Concat(Relu(x), Neg(y), axis=1)"
    assert listing(text, x="f32[n, 2]", y="f32[n, 3]", fused=True) == [
        "%1{5, 1}: f32[n, 2] = pointwise(x) max($0, 0.0)",
        "%1{5, 1 + 2}: f32[n, 3] = pointwise(y) neg($0)",
    ]


def test_a_chain_is_one_instruction_and_keeps_its_rounding() -> None:
    assert listing("out = Mul(Add(x, y), x)", x="f16[n]", y="f16[n]", fused=True) == [
        "%1: f16[n] = pointwise(x, y) mul(round(add($0, $1), f16), $0)"
    ]


def test_work_behind_a_product_is_its_epilogue() -> None:
    text = "out = Relu(Add(MatMul(x, w), r))"
    given = {"x": "f32[n, 8]", "r": "f32[n, 4]", "w": np.full((8, 4), 0.5, np.float32)}
    lines = listing(text, fused=True, **given)
    assert len(lines) == 1
    assert lines[0].endswith("max(add($0, $1), 0.0)")


def test_sizes_that_must_agree_are_checked_at_prepare() -> None:
    """Equal, or one of them 1."""
    first, second = listing("out = Add(x, y)", x="f32[n]", y="f32[m]")[:2]
    assert first.startswith("check n + ") and second.startswith("check m + ")
    assert (
        listing("out = Add(Concat(x, x, axis=0), y)", x="f32[n]", y="f32[6]")[0] == "check 2*n eq 6"
    )


def test_all_nodes_without_lowering_are_named_at_once() -> None:
    model = onnx_text("a = Det(x); b = Det(Neg(x)); out = Add(a, b)", x="f32[n, n]")
    with pytest.raises(LoweringError) as caught:
        lower(model)
    text = str(caught.value)
    assert text.startswith("2 nodes cannot be lowered")
    assert text.count("Det 'n_") == 2 and "f32[n, n]" in text


def test_an_operator_without_lowering_becomes_its_function_body() -> None:
    lines = listing("out = MeanVarianceNormalization(x, axes=[1])", x="f32[n, 8]", fused=True)
    assert [line.split(" = ")[1].split("(")[0] for line in lines] == ["reduce", "pointwise"] * 2 + [
        "pointwise"
    ]


def test_the_same_work_is_done_once_but_zeros_differ() -> None:
    assert len(listing("out = Add(Relu(x), Mul(Relu(x), 2.0))", x="f32[n]")) == 3
    given = {"p": np.float32(0.0), "m": np.float32(-0.0)}
    assert len(listing("a = Max(x, p); b = Max(x, m)", x="f32[n]", **given)) == 2


def test_a_dead_operand_gives_its_memory() -> None:
    program = fuse(lower(onnx_text("out = Softmax(Neg(Softmax(x)))", x="f32[n, 8]")))
    assert [v.storage for v in program.values] == ["input", "planned", "output", "view"]
    (softmax, negative, _) = program.blocks[0].instrs
    assert program.values[negative.outputs[0] or 0].base == softmax.outputs[0]


def test_a_state_is_written_in_place() -> None:
    text = "new = TensorScatter(old, x, at); out = ReduceSum(new, keepdims=0)"
    given = {"old": "f32[b, 2, 8, 4]", "x": "f32[b, 2, s, 4]", "at": "i64[b]"}
    program = lower(onnx_text(text, outputs="new out", **given), states={"old": "new"})
    assert [i.op for i in program.blocks[0].instrs] == ["tensor_scatter", "reduce", "copy"]
    assert [i.op for i in fuse(program).blocks[0].instrs] == ["tensor_scatter", "reduce"]
    sizes, states = (2, 2, 8, 4), {"old": np.zeros((2, 2, 8, 4), np.float32)}
    feeds = {"x": np.ones((2, 2, 3, 4), np.float32), "at": np.array([0, 5])}
    for p in (program, fuse(program)):
        states = {"old": np.zeros(sizes, np.float32)}
        assert run(p, feeds, states=states)["out"] == 48
        assert states["old"][0, 0, :3].all() and states["old"][1, 0, 5:].all()


@pytest.mark.parametrize(
    "node",
    [
        "RandomUniformLike(x)",
        "RandomNormal(shape=[2, 3])",
        "Bernoulli(x)",
        "Multinomial(x, sample_size=2)",
    ],
)
def test_random_numbers_are_refused_as_such(node: str) -> None:
    with pytest.raises(LoweringError, match=r"gives random numbers.*an input of the model"):
        lower(onnx_text(f"r = {node}; y = Cast(r, to=1); out = Neg(y)", x="f32[2,3]"))
