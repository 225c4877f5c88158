"""Attention written out, in the forms that exporters write."""

from __future__ import annotations

import numpy as np
import pytest
from passes.same import becomes, feeds, run

from pteron.export.graph import infer
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes import run_passes
from pteron.export.passes.attention import recognise_attention

QKV = {"q": "f32[b, 2, s, 4]", "k": "f32[b, 2, t, 4]", "v": "f32[b, 2, t, 6]"}
SCORES = [
    "z = Mul(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), 0.5)",
    "z = Div(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), 2)",
    "z = MatMul(Mul(q, 0.5), Transpose(k, perm=[0, 1, 3, 2]))",
    "z = MatMul(Mul(q, 0.70710678), Mul(Transpose(k, perm=[0, 1, 3, 2]), 0.70710678))",
    "z = MatMul(q, Transpose(Div(k, 2), perm=[0, 1, 3, 2]))",
]


@pytest.mark.parametrize("scores", SCORES)
def test_scale_wherever_it_stands(scores: str) -> None:
    becomes(
        recognise_attention,
        f"{scores}; y = MatMul(Softmax(z), v)",
        "y = Attention(q, k, v, scale=0.5)",
        1e-5,
        **QKV,
    )


@pytest.mark.parametrize(
    "mask", ["f32[b, 1, s, t]", "f32[s, t]", "f32[b, 1, 1, t]", "f32[1, 2, s, t]"]
)
def test_added_mask(mask: str) -> None:
    becomes(
        recognise_attention,
        "z = MatMul(q, Transpose(k, perm=[0, 1, 3, 2])); y = MatMul(Softmax(Add(m, z), axis=3), v)",
        "y = Attention(q, k, v, m, scale=1)",
        1e-5,
        m=mask,
        **QKV,
    )


CONDITIONS = [
    ("Where(m, -30000.0, z)", "t = Where(m, -30000, 0); y = Attention(q, k, v, t, scale=1)"),
    ("Where(m, z, -30000.0)", "t = Where(m, 0, -30000); y = Attention(q, k, v, t, scale=1)"),
]


@pytest.mark.parametrize("choose, after", CONDITIONS, ids=["true hides", "false hides"])
def test_mask_by_where(choose: str, after: str) -> None:
    after = after.replace("t = ", "val_0 = ").replace(" t,", " val_0,")
    becomes(
        recognise_attention,
        f"z = MatMul(q, Transpose(k, perm=[0, 1, 3, 2])); y = MatMul(Softmax({choose}), v)",
        after,
        1e-5,
        m="bool[b, 1, s, t]",
        **QKV,
    )


def test_minus_infinity_becomes_a_condition_and_the_guard_goes() -> None:
    """A row that sees nothing is zeros by the guard, and by the operator."""
    becomes(
        recognise_attention,
        "z = MatMul(q, Transpose(k, perm=[0, 1, 3, 2])); p = Softmax(Where(m, z, low)); g = Where(IsNaN(p), 0, p); y = MatMul(g, v)",
        "y = Attention(q, k, v, m, scale=1)",
        1e-5,
        m="bool[b, 1, s, t]",
        low=np.array(-np.inf, np.float32),
        **QKV,
    )


def test_key_transposed_from_tokens_heads() -> None:
    """K's two transposes are already one here; the one that is left makes [b, heads, tokens, size]."""
    becomes(
        recognise_attention,
        "z = MatMul(q, Transpose(k, perm=[0, 2, 3, 1])); y = MatMul(Softmax(z), v)",
        "val_0 = Transpose(k, perm=[0, 2, 1, 3]); y = Attention(q, val_0, v, scale=1)",
        1e-5,
        q="f32[b, 2, s, 4]",
        k="f32[b, t, 2, 4]",
        v="f32[b, 2, t, 6]",
    )


def test_key_without_a_transpose() -> None:
    becomes(
        recognise_attention,
        "y = MatMul(Softmax(MatMul(q, k)), v)",
        "val_0 = Transpose(k, perm=[0, 1, 3, 2]); y = Attention(q, val_0, v, scale=1)",
        1e-5,
        q="f32[b, 2, s, 4]",
        k="f32[b, 2, 4, t]",
        v="f32[b, 2, t, 6]",
    )


def test_rank_3_gets_a_leading_one() -> None:
    becomes(
        recognise_attention,
        "z = MatMul(q, Transpose(k, perm=[0, 2, 1])); y = MatMul(Softmax(Add(z, m)), v)",
        "val_0 = Unsqueeze(q, [0]); val_1 = Unsqueeze(k, [0]); val_2 = Unsqueeze(v, [0]); "
        "val_3 = Attention(val_0, val_1, val_2, m, scale=1); y = Squeeze(val_3, [0])",
        1e-5,
        q="f32[6, s, 4]",
        k="f32[6, t, 4]",
        v="f32[6, t, 5]",
        m="f32[6, s, t]",
    )


def test_softcap() -> None:
    becomes(
        recognise_attention,
        "z = Mul(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), 0.5); c = Mul(Tanh(Div(z, 20)), 20); y = MatMul(Softmax(Add(c, m)), v)",
        "y = Attention(q, k, v, m, scale=0.5, softcap=20)",
        1e-5,
        m="f32[s, t]",
        **QKV,
    )


LEFT = {
    "probabilities are used again": "p = Softmax(z); y = MatMul(p, v); again = Neg(p)",
    "scores are used again": "y = MatMul(Softmax(z), v); again = Neg(z)",
    "another axis": "y = MatMul(Softmax(z, axis=2), v)",
    "probabilities on the right": "y = MatMul(w, Softmax(z))",
    "a scale after the mask": "y = MatMul(Softmax(Mul(Add(z, m), 0.5)), v)",
    "a mask of one column": "y = MatMul(Softmax(Add(z, one)), v)",
    "hiding by a small number": "y = MatMul(Softmax(Where(c, z, -5.0)), v)",
}


@pytest.mark.parametrize("rest", LEFT.values(), ids=LEFT)
def test_declined(rest: str) -> None:
    given = {"m": "f32[s, t]", "one": "f32[b, 1, s, 1]", "c": "bool[s, t]", "w": "f32[b, 2, t, s]"}
    used = {k: v for k, v in given.items() if f"{k}," in rest.replace(")", ",")}
    becomes(
        recognise_attention,
        f"z = MatMul(q, Transpose(k, perm=[0, 1, 3, 2])); {rest}",
        "",
        **QKV,
        **used,
    )


REPEATS = [
    "e = Concat(Shape(k, start=0, end=2), [3], Shape(k, start=2), axis=0); r = Concat(Shape(k, start=0, end=1), [6], Shape(k, start=2), axis=0)",
    "z = Shape(k); h = Mul(Gather(z, i64(1)), i64(3)); "
    "e = Concat(Slice(z, [0], [2]), [3], Slice(z, [2], [9]), axis=0); "
    "r = Concat(Unsqueeze(Gather(z, i64(0)), [0]), Unsqueeze(h, [0]), Slice(z, [2], [4]), axis=0)",
]


@pytest.mark.parametrize("sizes", REPEATS)
def test_repeated_heads_are_grouped_heads(sizes: str) -> None:
    text = (
        f"{sizes}; kk = Reshape(Expand(Unsqueeze(k, [2]), e), r); vv = Reshape(Expand(Unsqueeze(v, [2]), e), r); "
        "y = MatMul(Softmax(MatMul(q, Transpose(kk, perm=[0, 1, 3, 2]))), vv)"
    )
    model = onnx_text(text, q="f32[b, 6, s, 4]", k="f32[b, 2, t, 4]", v="f32[b, 2, t, 4]")
    arrays = feeds(model)
    want = run(model, arrays)
    run_passes(model)
    assert as_text(model) == "y = Attention(q, k, v, scale=1)"
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-5, atol=1e-6)


def test_head_counts_that_only_the_expand_knows() -> None:
    text = (
        "n = Shape(h, start=0, end=1); k = Transpose(Reshape(h, [0, 0, -1, 4]), perm=[0, 2, 1, 3]); t = Shape(h, start=1, end=2); "
        "kk = Reshape(Expand(Unsqueeze(k, [2]), Concat(n, [2], [3], t, [4], axis=0)), Concat(n, [6], t, [4], axis=0)); "
        "y = Attention(q, kk, kk)"
    )
    model = onnx_text(text, q="f32[b, 6, s, 4]", h="f32[b, t, 8]")
    arrays = feeds(model)
    want = run(model, arrays)
    run_passes(model)
    assert as_text(model).endswith("y = Attention(q, k, k)")
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-5, atol=1e-6)


def test_heads_repeated_in_another_order_are_left() -> None:
    """[batch, n, heads, tokens, size] interleaves: query head i would see another key head."""
    text = (
        "kk = Reshape(Expand(Unsqueeze(k, [1]), [1, 3, 2, 7, 4]), [1, 6, 7, 4]); "
        "y = MatMul(Softmax(MatMul(q, Transpose(kk, perm=[0, 1, 3, 2]))), v)"
    )
    model = onnx_text(text, q="f32[1, 6, 5, 4]", k="f32[1, 2, 7, 4]", v="f32[1, 6, 7, 4]")
    run_passes(model)
    assert as_text(model).endswith("y = Attention(q, kk, v, scale=1)")


def test_a_batch_that_is_regrouped_is_no_repetition() -> None:
    """[2, 2 * 3, 8, 4] taken for [4, 6, 4, 4]: six heads, but of other tokens."""
    repeat = "Reshape(Expand(Unsqueeze({0}, [2]), [2, 2, 3, 8, 4]), [4, 6, -1, 4])"
    text = f"y = MatMul(Softmax(MatMul(q, Transpose({repeat.format('k')}, perm=[0, 1, 3, 2]))), {repeat.format('v')})"
    given = {"q": "f32[4, 6, 5, 4]", "k": "f32[2, 2, 8, 4]", "v": "f32[2, 2, 8, 4]"}
    model = onnx_text(text, **given)
    infer(model)
    arrays = feeds(model)
    want = run(model, arrays)
    run_passes(model)
    assert "Reshape" in as_text(model)
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-5, atol=1e-6)


def test_heads_repeated_to_a_shape_that_data_decides_are_left() -> None:
    text = "kk = Reshape(Expand(Unsqueeze(k, [2]), e), r); vv = Reshape(Expand(Unsqueeze(v, [2]), e), r); y = Attention(q, kk, vv)"
    given = {"q": "f32[2, 6, 5, 4]", "k": "f32[2, 2, 7, 4]", "v": "f32[2, 2, 7, 4]"}
    for e in ("i64[5]", np.array([3, 1, 1]), np.array([1, 2, 2, 3, 7, 4])):
        model = onnx_text(text, **given, e=e, r=np.array([2, 6, 7, 4]))
        infer(model)
        run_passes(model)
        assert "kk" in as_text(model)


def test_grouped_heads_of_an_attention_that_is_there() -> None:
    text = f"{REPEATS[0]}; kk = Reshape(Expand(Unsqueeze(k, [2]), e), r); vv = Reshape(Expand(Unsqueeze(v, [2]), e), r); y = Attention(q, kk, vv)"
    model = onnx_text(text, q="f32[b, 6, s, 4]", k="f32[b, 2, t, 4]", v="f32[b, 2, t, 4]")
    arrays = feeds(model)
    want = run(model, arrays)
    run_passes(model)
    assert as_text(model) == "y = Attention(q, k, v)"
    np.testing.assert_allclose(run(model, arrays)[0], want[0], rtol=1e-5, atol=1e-6)


BATCHES = [
    {"q": "f32[1, 2, s, 4]", "k": "f32[b, 2, t, 4]", "v": "f32[b, 2, t, 6]"},
    {"q": "f32[b, 2, s, 4]", "k": "f32[1, 2, t, 4]", "v": "f32[b, 2, t, 6]"},
    {"q": "f32[b, 1, s, 4]", "k": "f32[b, n, t, 4]", "v": "f32[b, n, t, 6]"},
    {"q": "f32[1, s, 4]", "k": "f32[n, t, 4]", "v": "f32[n, t, 6]"},
]


@pytest.mark.parametrize("given", BATCHES, ids=[str(list(g.values())) for g in BATCHES])
def test_operands_that_broadcast_a_named_size_stay_written_out(given: dict[str, str]) -> None:
    perm = [0, 2, 1] if given["q"].count(",") == 2 else [0, 1, 3, 2]
    becomes(
        recognise_attention,
        f"y = MatMul(Softmax(MatMul(q, Transpose(k, perm={perm}))), v)",
        "",
        **given,
    )


def test_a_mask_that_broadcasts_the_batch_stays_written_out() -> None:
    becomes(
        recognise_attention,
        "y = MatMul(Softmax(Add(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), m)), v)",
        "",
        q="f32[1, 2, s, 4]",
        k="f32[1, 2, t, 4]",
        v="f32[1, 2, t, 6]",
        m="f32[b, 1, s, t]",
    )


def test_a_mask_of_unknown_width_is_widened_first() -> None:
    """Its one column is all keys to Add, but the first key to the operator."""
    given = QKV | {"at": np.array([0]), "m": "f32[b, 1, s, 1]"}
    text = "y = MatMul(Softmax(Add(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), Slice(m, at, end, [3]))), v)"
    model = onnx_text(text, **given, end="i64[1]")
    infer(model)
    arrays = feeds(model) | {"end": np.array([1], np.int64)}
    want = run(model, arrays)
    assert recognise_attention(model)
    for got, expected in zip(run(model, arrays), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("first", ["Neg(x)", "MatMul(q, Transpose(k, perm=[0, 1, 3, 2]))"])
def test_a_way_to_the_scores_may_be_long(first: str) -> None:
    """Longer than Python recurses."""
    sums = "; ".join(f"s{i + 1} = Add(s{i}, m)" for i in range(1200))
    text = f"s0 = {first}; {sums}; y = MatMul(Softmax(s1200), v)"
    model = onnx_text(text, x="f32[b, 2, s, t]", m="f32[b, 1, s, t]", **QKV)
    assert recognise_attention(model) == first.startswith("MatMul")
