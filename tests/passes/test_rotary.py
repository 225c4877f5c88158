"""Rotary position embedding in the forms that exporters write."""

from __future__ import annotations

import numpy as np
import pytest
from passes.same import feeds, run

from pteron.export.graph import infer
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes.rotary import recognise_rotary

ANGLE = "f = Mul(p, w); e = Concat(f, f, axis=-1); "
TURN = "y = Add(Mul(x, c), Mul(Concat(Neg(b), a, axis=-1), s))"
SLICES = "a = Slice(x, [0], [4], [3], [1]); b = Slice(x, [4], [9223372036854775807], [3], [1]); "
FORMS = {
    "slices": f"{ANGLE}c = Unsqueeze(Cos(e), [1]); s = Unsqueeze(Sin(e), [1]); {SLICES}{TURN}",
    "split": f"{ANGLE}c = Unsqueeze(Mul(Cos(e), 1.5), [1]); s = Unsqueeze(Mul(Sin(e), 1.5), [1]); "
    f"a, b = Split(x, axis=-1, num_outputs=2); {TURN}",
    "half computed": f"{ANGLE}c = Unsqueeze(Cos(e), [1]); s = Unsqueeze(Sin(e), [1]); "
    "h = Unsqueeze(Div(Gather(Shape(x), i64(3)), i64(2)), [0]); "
    f"a = Slice(x, [0], h, [-1], [1]); b = Slice(x, h, [999], [-1], [1]); {TURN}",
}
W = np.array([1, 0.5, 0.25, 0.125], np.float32)


@pytest.mark.parametrize("batch", ["b", "1"])
@pytest.mark.parametrize("form", FORMS)
def test_becomes_one_node(form: str, batch: str) -> None:
    model = onnx_text(FORMS[form], x="f32[b, 3, s, 8]", p=f"f32[{batch}, s, 1]", w=W)
    infer(model)
    arrays = feeds(model)
    want = run(model, arrays)
    assert recognise_rotary(model)
    assert not recognise_rotary(model)
    assert "y = RotaryEmbedding(x, " in as_text(model)
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-6, atol=1e-6)


LEFT = {
    "halves differ": FORMS["slices"]
    .replace("Concat(f, f,", "Concat(f, g,")
    .replace("e = ", "g = Neg(f); e = "),
    "wrong half": FORMS["slices"].replace("Concat(Neg(b), a", "Concat(Neg(a), b"),
    "no minus": FORMS["slices"].replace("Neg(b)", "Abs(b)"),
    "uneven": FORMS["slices"].replace("[4]", "[3]"),
    "angles of two": FORMS["slices"].replace("Cos(e)", "Add(Cos(e), e)"),
    "turned around": FORMS["slices"].replace(
        "Cos(e)", "Gather(Cos(e), [7, 6, 5, 4, 3, 2, 1, 0], axis=2)"
    ),
}


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_declined(text: str) -> None:
    model = onnx_text(text, x="f32[b, 3, s, 8]", p="f32[b, s, 1]", w=W)
    infer(model)
    before, uses = as_text(model), {v.name: len(v.uses()) for v in model.graph.inputs}
    names = set(model.graph.initializers)
    assert not recognise_rotary(model)
    assert as_text(model) == before and set(model.graph.initializers) == names
    assert {v.name: len(v.uses()) for v in model.graph.inputs} == uses


def test_a_table_of_angles() -> None:
    angles = np.outer(np.arange(7), W).astype(np.float32)
    c, s = (np.concatenate([f(angles)] * 2, -1).astype(np.float32) for f in (np.cos, np.sin))
    model = onnx_text(f"{SLICES}{TURN}", x="f32[2, 3, 7, 8]", c=c, s=s)
    arrays = feeds(model)
    want = run(model, arrays)
    assert recognise_rotary(model)
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize("tokens", [7, 8])
def test_a_table_of_angles_of_a_batch(tokens: int, halves: bool) -> None:
    """[1, tokens, 8]: its last axis is looked at, however many tokens there are."""
    angles = np.outer(np.arange(tokens), W).astype(np.float32)[None]
    other = angles if halves else 2 * angles
    c, s = (np.concatenate([f(angles), f(other)], -1).astype(np.float32) for f in (np.cos, np.sin))
    turn = TURN.replace(" c)", " Unsqueeze(c, [1]))").replace(" s)", " Unsqueeze(s, [1]))")
    model = onnx_text(f"{SLICES}{turn}", x=f"f32[1, 3, {tokens}, 8]", c=c, s=s)
    infer(model)
    arrays = feeds(model)
    want = run(model, arrays)
    assert recognise_rotary(model) == halves
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "x, p", [("1, 3, s, 8", "b, s, 1"), ("b, 3, 1, 8", "b, s, 1"), ("b, 3, s, 8", "b, 1, 1")]
)
def test_operands_that_broadcast_stay_written_out(x: str, p: str) -> None:
    model = onnx_text(FORMS["slices"], x=f"f32[{x}]", p=f"f32[{p}]", w=W)
    infer(model)
    assert not recognise_rotary(model)
