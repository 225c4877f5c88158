"""No-ops, duplicates, CastLike, transposes, unused nodes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from passes.same import becomes

from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes import ROUNDS, run_passes
from pteron.export.passes.castlike import castlike_to_cast
from pteron.export.passes.clean import remove_no_ops, remove_unused, remove_zero_bias
from pteron.export.passes.dedupe import deduplicate, eliminate_common, lift_constants
from pteron.export.passes.transpose import merge_transposes, recognise_swap
from pteron.schema.errors import ModelError

NO_OPS = [
    ("y = Neg(Identity(x))", "y = Neg(x)"),
    ("y = Identity(Neg(x))", "y = Neg(x)"),
    ("y = Neg(Dropout(x, 0.5))", "y = Neg(x)"),
    ("y = Neg(Dropout(x, 0.5, False))", "y = Neg(x)"),
    ("y = Neg(Cast(x, to=1))", "y = Neg(x)"),
    ("y = Neg(Transpose(x, perm=[0, 1]))", "y = Neg(x)"),
    ("y = Neg(Concat(x, axis=0))", "y = Neg(x)"),
    ("y = Neg(Mul(x, 1.0))", "y = Neg(x)"),
    ("y = Neg(Slice(x, [0, 0], [9223372036854775807, 2147483647], [0, 1], [1, 1]))", "y = Neg(x)"),
    ("y = Dropout(x, 0.5)", "y = Identity(x)"),
    ("a = Neg(x); y = Identity(a); z = Identity(a)", "y = Neg(x); z = Identity(y)"),
]


@pytest.mark.parametrize("before, after", NO_OPS, ids=[b for b, _ in NO_OPS])
def test_no_ops_go(before: str, after: str) -> None:
    model = onnx_text(before, outputs=" ".join(o for o in "yz" if f"{o} =" in before))
    assert remove_no_ops(model)
    remove_unused(model)
    assert as_text(model) == after
    assert not remove_no_ops(model)


@pytest.mark.parametrize(
    "text",
    [
        "y = Identity(x)",
        "y = Neg(Slice(x, [0], [9], [0]))",
        "y = Neg(Slice(x, [0], [9223372036854775807], [0], [2]))",
        "y = Neg(Slice(x, [1], [9223372036854775807], [0], [1]))",
        "y = Mul(x, f32([[[1.0]]]))",
        "y = Neg(Cast(x, to=10))",
        "y = Transpose(x, perm=[1, 0])",
    ],
)
def test_what_does_something_stays(text: str) -> None:
    becomes(remove_no_ops, text, "")


def test_castlike_takes_the_type() -> None:
    becomes(castlike_to_cast, "y = CastLike(i, x)", "y = Cast(i, to=1)", i="i64[4]", x="f32[2]")


def test_equal_nodes_are_one() -> None:
    becomes(eliminate_common, "a = Neg(x); b = Neg(x); y = Mul(a, b)", "a = Neg(x); y = Mul(a, a)")


def test_equal_outputs_are_settled() -> None:
    """Each keeps a node of its own, which must not count as a change in more rounds than there are."""
    names = [f"y{i}" for i in range(ROUNDS + 2)]
    text = "; ".join(f"{name} = Identity(x)" for name in names)
    model = onnx_text(text, x="f32[2]", outputs=" ".join(names))
    run_passes(model)
    assert [o.name for o in model.graph.outputs] == names


def test_equal_initializers_are_one() -> None:
    model = onnx_text("y = Add(Mul(x, a), b)", a=np.ones(8, np.float32), b=np.ones(8, np.float32))
    assert deduplicate(model)
    assert (
        len(
            {
                id(v)
                for n in model.graph
                for v in n.inputs
                if v is not None and v.const_value is not None
            }
        )
        == 1
    )


def test_constants_become_initializers() -> None:
    becomes(
        lift_constants,
        "c = Constant(value_ints=[2, 16]); y = Reshape(x, c)",
        "y = Reshape(x, [2, 16])",
    )


def test_unused_nodes_go() -> None:
    model = onnx_text("a = Neg(x); y = Abs(x)", outputs="y")
    assert remove_unused(model)
    assert as_text(model) == "y = Abs(x)"


def test_two_transposes_are_one() -> None:
    becomes(
        merge_transposes,
        "y = Transpose(Transpose(x, perm=[0, 2, 1, 3]), perm=[0, 1, 3, 2])",
        "y = Transpose(x, perm=[0, 2, 3, 1])",
        x="f32[2, 3, 4, 5]",
    )


SWAP = (
    "s = Shape(x); d = Slice(s, [-1], [9223372036854775807]); t = Slice(s, [-2], [-1]); h = Slice(s, [-9223372036854775808], [-2]); "
    "y = Reshape(Transpose(Reshape(x, Concat([-1], t, d, axis=0)), perm=[0, 2, 1]), Concat(h, d, t, axis=0))"
)


def test_swap_of_the_last_axes_by_shape() -> None:
    model = onnx_text(SWAP, x="f32[b, 2, s, 4]")
    assert recognise_swap(model)
    remove_unused(model)
    assert as_text(model) == "y = Transpose(x, perm=[0, 1, 3, 2])"


def test_swap_of_the_last_axes_by_numbers() -> None:
    becomes(
        recognise_swap,
        "y = Reshape(Transpose(Reshape(x, [-1, 5, 4]), perm=[0, 2, 1]), [2, 3, 4, 5])",
        "y = Transpose(x, perm=[0, 1, 3, 2])",
        x="f32[2, 3, 5, 4]",
    )


def test_a_reshape_that_mixes_axes_is_no_swap() -> None:
    text = "y = Reshape(Transpose(Reshape(x, [-1, 4, 5]), perm=[0, 2, 1]), [2, 3, 4, 5])"
    becomes(recognise_swap, text, "", x="f32[2, 3, 5, 4]")


def test_the_whole_list_comes_to_rest() -> None:
    model = onnx_text(
        "a = Identity(x); c = Constant(value_float=0.5); y = Mul(Mul(a, Add(Erf(Div(a, 1.4142135)), 1.0)), c)"
    )
    run_passes(model)
    assert as_text(model) == "y = Gelu(x)"


def test_passes_that_never_settle_are_named() -> None:
    def restless(model: ir.Model) -> bool:
        return True

    with pytest.raises(ModelError, match="restless still changed the graph in round 64"):
        run_passes(onnx_text("y = Neg(x)", x="f32[n]"), [remove_no_ops, restless])


def test_passes_run_until_nothing_changes() -> None:
    """One of six Negs goes a round: more rounds than a small number would allow."""

    def peel(model: ir.Model) -> bool:
        last = model.graph.outputs[0].producer()
        inner = last.inputs[0].producer() if last is not None and last.inputs[0] else None
        if last is None or inner is None:
            return False
        last.replace_input_with(0, inner.inputs[0])
        return True

    text = "Neg(" * 6 + "x" + ")" * 6
    assert as_text(run_passes(onnx_text(f"y = {text}", x="f32[n]"), [peel, remove_unused])) == (
        "y = Neg(x)"
    )


BIASES = {
    "f32([0.0, 0.0, 0.0])": True,
    "f32([0.0, -0.0, 0.0])": True,
    "f32([0.0, 1.0, 0.0])": False,
    "Expand(0.0, [3])": True,
    "Expand(Expand(0.0, [1]), [3])": True,
    "Expand(0.5, [3])": False,
    "ConstantOfShape([3])": True,
    "b": False,
}


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("call", ["Conv(x, w, {})", "ConvTranspose(x, w, {})", "Gemm(m, v, {})"])
def test_a_bias_of_zeros_goes(call: str, bias: str) -> None:
    given = {"m": "f32[2, 4]", "v": np.ones((4, 3), np.float32)}
    if "Conv" in call:
        given = {"x": "f32[1, 3, 8]", "w": np.ones((3, 3, 2), np.float32)}
    if bias == "b":
        given["b"] = "f32[3]"
    text = f"y = Neg({call.format(bias)})"
    after = f"y = Neg({call.format('X').replace(', X', '')})" if BIASES[bias] else ""
    model = onnx_text(text, **given)
    assert remove_zero_bias(model) == BIASES[bias] and not remove_zero_bias(model)
    remove_unused(model)
    assert not after or as_text(model) == after
