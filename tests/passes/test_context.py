"""What makes a decoder keep its context: the proof that tokens meet in attention alone, masks read by evaluating them, positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from passes.same import run

from pteron.export import graph as g
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes.context import keep_context, sight
from pteron.export.passes.context.caches import find_caches
from pteron.export.passes.context.last import last_token, name_rows
from pteron.export.passes.context.places import Place, Places, Runs, fit
from pteron.export.passes.context.probe import Probe
from pteron.export.passes.context.tokens import tokens_meet_in_attention
from pteron.schema.errors import ModelError

RNG = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


W = {"w": floats(6, 4), "s": floats(6), "t": floats(9, 6), "u": floats(4, 9), "m": floats(2, 2)}

# --- tokens alone ----------------------------------------------------------------------------------------------------

HEADS = "h = Reshape(x, [0, 0, 2, 3]); "
FLAT = "f = Squeeze(x, [0]); "
PLACES = (
    "p = Unsqueeze(Cast(Range(i64(0), Squeeze(Shape(x, start=1, end=2)), i64(1)), to=1), [1]); "
)
ALONE = [
    "y = Relu(x)", "y = Add(x, s)", "y = Mul(s, x)", "y = Where(Less(x, 0.0), s, x)", "y = Add(x, Neg(x))",
    "y = Add(x, Unsqueeze(s, [0, 1]))", "y = MatMul(x, w)", PLACES + "y = Add(x, p)", PLACES + "y = Mul(p, x)",
    "y = Transpose(Relu(Transpose(x, perm=[2, 1, 0])), perm=[2, 1, 0])", "y = Transpose(Transpose(x, perm=[1, 2, 0]), perm=[2, 0, 1])",
    FLAT + "y = Unsqueeze(Gemm(f, w), [0])", FLAT + "y = Unsqueeze(Gemm(f, s6, s, transB=1), [0])",
    "y = Gather(x, [0, 2], axis=2)", "y = Unsqueeze(Gather(x, i64(0), axis=0), [0])", "y = Gather(Gather(x, [[0, 0]], axis=0), i64(1), axis=1)",
    "y = Gather(x, [[1, 2]], axis=-1)", "y = Softmax(x, axis=-1)", "y = Softmax(x, axis=0)", "y = LogSoftmax(x, axis=2)",
    "y = Hardmax(x, axis=-1)", "y = LayerNormalization(x, s)", "y = RMSNormalization(x, s, axis=2)", "y = LpNormalization(x, axis=2)",
    "y, i = TopK(x, [2])", "y = ReduceMean(x, [2])", "y = ReduceSum(x, [-1], keepdims=0)", "y = Unsqueeze(ReduceMax(x, [0], keepdims=0), [0])",
    "y = ReduceSum(ReduceSum(x, [0], keepdims=1), [2])", "y = Squeeze(Unsqueeze(x, [0]), [0])", "y = Squeeze(Unsqueeze(x, [0, 3]), [0, 3])",
    "y = Squeeze(Unsqueeze(x, [-1, 1]), [1])", "y = Unsqueeze(x, [-1])", "y = Reshape(x, [1, -1, 2, 3])", HEADS + "y = Reshape(Relu(h), [0, 0, 6])",
    "y = Unsqueeze(Reshape(x, [-1, 6]), [0])", "y = Expand(x, [2, 1, 1])", "y = Gather(Expand(x, [3, 1, 1, 1]), i64(2), axis=0)",
    "y = Concat(x, Neg(x), axis=-1)", "a, b = Split(x, num_outputs=2, axis=2); y = Mul(a, Neg(b))", "y = Slice(x, [1], [4], [2])",
    HEADS + "y = MatMul(h, Transpose(h, perm=[0, 1, 3, 2]))", HEADS + "y = MatMul(m, h)", HEADS + "y = MatMul(h, w34)",
    HEADS + "q = Transpose(h, perm=[0, 2, 1, 3]); y = Transpose(Softmax(q), perm=[0, 2, 1, 3])",
    HEADS + "y = Add(h, Unsqueeze(ReduceSum(h, [3], keepdims=0), [3]))", "y = Add(x, z)", "y = CastLike(Clip(x, 0.0, 1.0), x)",
    "y = Reshape(Relu(Reshape(x, [-1, 3])), [1, -1, 6])", "y = Reshape(Transpose(Reshape(x, [-1, 1, 2]), perm=[0, 2, 1]), [1, -1, 6])",
    "y = Reshape(ReduceSum(Reshape(Gather(w, Reshape(ArgMax(Reshape(x, [1, -1, 2, 3]), axis=3), [-1])), [-1, 2, 4]), [1]), [1, -1, 4])",
    "y = ArgMax(x, axis=2)", "y = ArgMin(x, axis=-1, keepdims=0)", "y = GatherElements(x, ArgMax(x, axis=2), axis=2)",
    "y = ScatterElements(x, ArgMax(x, axis=2), ReduceSum(x, [2]), axis=2)", "y = Transpose(GatherND(Transpose(x, perm=[2, 0, 1]), [[1], [3]]), perm=[1, 2, 0])",
    "y = GatherND(w, Unsqueeze(ArgMax(x, axis=2, keepdims=0), [2]))",
    "t1 = Transpose(x, perm=[2, 1, 0]); u1 = Gather(Neg(t1), [1, 3], axis=0); y = Transpose(ScatterND(t1, [[0], [2]], u1), perm=[2, 1, 0])",
    "y = Gather(t, k)", "y = Transpose(Gather(u, k, axis=1), perm=[1, 2, 0])", "y = Transpose(Gather(u, k, axis=-1), perm=[1, 2, 0])",
]  # fmt: skip
MIXED = {
    "y = ArgMax(x, axis=1)": "ArgMax", "y = GatherElements(x, ArgMax(x, axis=1), axis=1)": "ArgMax",
    "y = GatherElements(x, Cast(Clip(x, 0.0, 1.0), to=7), axis=1)": "GatherElements",
    "y = ScatterElements(x, Cast(Clip(x, 0.0, 1.0), to=7), x, axis=1)": "ScatterElements",
    "y = GatherND(x, [[0, 1]])": "GatherND", "y = Reshape(Transpose(x, perm=[0, 2, 1]), [1, -1, 6])": "Reshape",
    "y = Reshape(Transpose(Reshape(x, [-1, 2, 3]), perm=[1, 0, 2]), [1, -1, 6])": "Reshape", "y = Reshape(x, [1, -1, 3])": "Reshape",
    "y = CumSum(x, i64(1))": "CumSum", "y = Softmax(x, axis=1)": "Softmax", "y = Softmax(x, axis=-2)": "Softmax", "y = ReduceSum(x, [1])": "ReduceSum",
    "y = ReduceSum(x, [-2])": "ReduceSum", "y = ReduceMax(x)": "ReduceMax", "y = Gather(x, [0, 0], axis=1)": "Gather", "y = Slice(x, [1], [9], [1])": "Slice",
    "y = Slice(x, [1], [9], [-2])": "Slice", "y = Concat(x, x, axis=1)": "Concat", "y = MatMul(Transpose(x, perm=[0, 2, 1]), x)": "MatMul",
    "y = MatMul(x, Transpose(x, perm=[0, 2, 1]))": "MatMul", "y = Reshape(x, [0, -1])": "Reshape", "y = Reshape(x, [0, 6, -1])": "Reshape",
    "r = ReduceSum(x, [2]); y = Add(r, Transpose(r, perm=[0, 2, 1]))": "Add", "y = LayerNormalization(x, n6, axis=1)": "LayerNormalization",
    "y = RMSNormalization(x, n6, axis=-2)": "RMSNormalization", "y, i = TopK(x, [1], axis=1)": "TopK", "y = Hardmax(x, axis=1)": "Hardmax",
    "y = LpNormalization(x, axis=1)": "LpNormalization", FLAT + "y = Unsqueeze(Gemm(f, f, transA=1), [0])": "Gemm",
    FLAT + PLACES + "y = Unsqueeze(Gemm(f, p, transA=1), [0])": "Gemm", FLAT + PLACES + "y = Unsqueeze(Gemm(Transpose(f), p), [0])": "Gemm",
    FLAT + "y = Unsqueeze(Gemm(f, f, transB=1), [0])": "Gemm", FLAT + PLACES + "y = MatMul(ReduceSum(f, [1], keepdims=0), p)": "MatMul",
    PLACES + "y = Transpose(MatMul(Transpose(x, perm=[0, 2, 1]), p), perm=[0, 2, 1])": "MatMul",
    PLACES + "y = MatMul(Transpose(p), x)": "MatMul", "y = ReverseSequence(x, [3], batch_axis=0, time_axis=1)": "ReverseSequence",     HEADS + "q = Transpose(h, perm=[0, 2, 1, 3]); y = Attention(q, kv, kv)": "Attention",
}  # fmt: skip
CAREFUL = {
    "y = CumSum(x, i64(2))": "CumSum",  # in each token's own row
    "y = Squeeze(Unsqueeze(x, [0]))": "Squeeze",  # which axes go hangs on the sizes
    "y = Transpose(MatMul(Transpose(w), Transpose(x, perm=[0, 2, 1])), perm=[0, 2, 1])": "MatMul",  # columns
    FLAT + "y = Unsqueeze(Gemm(f, w, ReduceSum(f, [1])), [0])": "Gemm",
    "y = Add(x, v)": "Add", FLAT + "y = Add(f, v)": "Add", "y = Concat(x, v, axis=2)": "Concat", "y = Slice(x, [0, 0], [1, 99])": "Slice",
    "y = Reshape(Reshape(x, [0, -1, 1, 6]), r3)": "Reshape",  # a shape that is data
    HEADS + "y = Attention(h, h, h)": "Attention",  # as heads
}  # fmt: skip
"""What the proof does not see, or need not."""
MORE: dict[str, Any] = {
    "z": "f32[1, 1, 6]", "v": "f32[1, n, 6]", "k": "i64[1, n]", "kv": "f32[1, 2, m, 3]", "r3": "i64[3]", "n6": "f32[n, 6]",
    "v2": "f32[1, n, 6]", "m2": "f32[1, n, n]", "s6": floats(3, 6).repeat(2, 0), "w34": floats(3, 4),
}  # fmt: skip


def model_of(text: str) -> tuple[ir.Model, ir.Value, Probe]:
    given = {n: a for n, a in {**W, **MORE}.items() if f"{n}" in text.replace("(", " ").replace(",", " ").replace(")", " ").split()}  # fmt: skip
    tokens = "k" if "k" in given and " x" not in text.replace("(", " ") else "x"
    model = onnx_text(text, **({"x": "f32[1, n, 6]"} if tokens == "x" else {}), **given)
    g.infer(model)
    value = next(v for v in model.graph.inputs if v.name == tokens)
    symbols: dict[str, Callable[[int, int], int]] = {"n": lambda past, new: new}
    return model, value, Probe(model, {}, symbols)


def each_alone(model: ir.Model, tokens: ir.Value) -> bool:
    """Whether another token changes its own row of the results and no other, by evaluation."""
    feeds = {}
    for v in model.graph.inputs:
        shape = [5 if n == "n" else 2 if n == "m" else n for n in g.dims(v) or []]
        feeds[v.name] = RNG.integers(0, 9, shape) if v.dtype == ir.DataType.INT64 else floats(*shape)  # fmt: skip
    first = run(model, feeds)[0]
    for i in range(5):
        moved = dict(feeds)
        moved[tokens.name] = feeds[tokens.name].copy()
        moved[tokens.name][:, i] = 8 - moved[tokens.name][:, i]
        others = run(model, moved)[0]
        if others.shape != first.shape or first.ndim < 2 or first.shape[1] != 5:
            return False
        if np.delete(others != first, i, 1).any():
            return False
    return True


@pytest.mark.parametrize("text", ALONE)
def test_tokens_alone(text: str) -> None:
    model, tokens, probe = model_of(text)
    tokens_meet_in_attention(model, tokens, probe)
    assert each_alone(model, tokens)


@pytest.mark.parametrize("text", [*MIXED, *CAREFUL])
def test_what_may_mix_tokens_is_named(text: str) -> None:
    model, tokens, probe = model_of(text)
    with pytest.raises(
        ModelError, match=rf"\({ {**MIXED, **CAREFUL}[text] }\) may mix tokens"
    ) as e:
        tokens_meet_in_attention(model, tokens, probe)
    assert ("experts" in str(e.value)) is ("TopK" in text)
    if text in MIXED:
        assert not each_alone(model, tokens)


@pytest.mark.parametrize("perm", [[0, 2, 1], [1, 0, 2]])
def test_tokens_are_axis_1_of_the_results(perm: list[int]) -> None:
    model, tokens, probe = model_of(f"y = Transpose(x, perm={perm})")
    with pytest.raises(ModelError, match=rf"'y': expected tokens along axis 1, got axis {perm.index(1)}"):  # fmt: skip
        tokens_meet_in_attention(model, tokens, probe)


# --- caches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grown", [True, False])
@pytest.mark.parametrize("past", ["a, b", "Relu(a), Relu(b)"])
def test_a_cache_grows_from_an_input_to_an_output(past: str, grown: bool) -> None:
    """Else what is new is kept; what is made of an input is none."""
    sizes = dict.fromkeys("xkv", "f32[1, 2, n, 4]") | dict.fromkeys("ab", "f32[1, 2, m, 4]")
    more = "" if grown else "; z = Add(p, q)"
    model = onnx_text(f"y, p, q = Attention(x, k, v, None, {past}){more}", **sizes)
    g.infer(model)
    found = [(c.past and c.past.name, c.new.name, c.whole.name) for c in find_caches(model)]
    is_grown = grown and past == "a, b"
    assert found == (
        [("a", "k", "p"), ("b", "v", "q")] if is_grown else [(None, n, n) for n in "kv"]
    )


# --- masks -----------------------------------------------------------------------------------------------------------


def seen(past: int, new: int, window: int) -> Any:
    queries, keys = past + np.arange(new)[:, None], np.arange(past + new)[None]
    return (keys <= queries) & (keys > queries - window)


FORMS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda m: m,
    "heads": lambda m: np.stack([m, m])[None],
    "-inf": lambda m: np.where(m, 0, -np.inf).astype(np.float32),
    "-1e4": lambda m: np.where(m, 0, -1e4).astype(np.float16)[None, None],
}


@pytest.mark.parametrize("has_past", [True, False])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("window", [1, 2, 30, 40])
def test_a_window_is_found(window: int, form: str, has_past: bool) -> None:
    found = sight.sight_of(lambda p, n: FORMS[form](seen(p, n, window)), 40, has_past)
    assert found == sight.Sight(0 if window == 40 else window)


@pytest.mark.parametrize("has_past", [True, False])
@pytest.mark.parametrize("by_query", [0, 1, -3.0])
@pytest.mark.parametrize("window", [5, 40])
def test_slopes_are_found(by_query: float, window: int, has_past: bool) -> None:
    """Whatever is added by query, softmax does not see it."""
    slopes = np.array([0.5, 2**-7, 0.0, -0.3])

    def mask(past: int, new: int) -> Any:
        keys, queries = np.arange(past + new), past + np.arange(new)[:, None]
        added = slopes[:, None, None] * keys + by_query * queries
        return np.where(seen(past, new, window), added, np.finfo(np.float32).min).astype(np.float32)

    found = sight.sight_of(mask, 40, has_past)
    assert isinstance(found, sight.Sight) and found.slopes is not None
    assert found.window == (0 if window == 40 else window)
    np.testing.assert_allclose(found.slopes, slopes, atol=2e-6)


def flipped(query: int, key: int) -> sight.Mask:
    def mask(past: int, new: int) -> Any:
        made = seen(past, new, 600)
        if past <= query < past + new and key < past + new:
            made[query - past, key] ^= True
        return made

    return mask


@pytest.mark.parametrize("query, key", [(0, 0), (1, 0), (1, 1), (511, 3), (512, 0), (513, 513), (598, 1), (300, 301), (598, 599)])  # fmt: skip
def test_one_key_elsewhere_is_no_window(query: int, key: int) -> None:
    said = sight.sight_of(flipped(query, key), 600, True)
    verb = "sees" if key > query else "does not see"
    assert said == f"query {query} {verb} key {key}, with 600 seen by the last"


def test_masks_that_are_none() -> None:
    def of(mask: Callable[[int, int], Any]) -> sight.Sight | str:
        return sight.sight_of(mask, 8, True)

    differs = of(lambda p, n: np.stack([seen(p, n, 8), seen(p, n, 4)]))
    assert differs == "it differs by head"
    added = "what it adds to scores "
    for curve in (lambda keys: keys**2, lambda keys: keys + 0.5 * (keys == 1)):
        bent = of(lambda p, n, c=curve: np.where(seen(p, n, 8), c(np.arange(p + n)), -np.inf))  # type: ignore[misc]
        assert bent == f"{added}is no slope times how far a key is (a bias by position)"
    steeper = of(lambda p, n: np.where(seen(p, n, 8), (1 + (p > 4)) * np.arange(p + n), -np.inf))
    assert steeper == f"{added}differs by their place (a bias by position)"
    assert "bias" in str(of(lambda p, n: np.where(seen(p, n, 8), 0, -9999.0)))
    assert "expected [8, 8] queries and keys, got [8, 9]" in str(of(lambda p, n: np.pad(seen(p, n, 8), ((0, 0), (0, 1)))))  # fmt: skip
    assert "looked at up to 8192" in str(sight.sight_of(lambda p, n: seen(p, n, 9), 8193, False))


# --- places ----------------------------------------------------------------------------------------------------------

SUMS: dict[str, tuple[Callable[[int, int], Any], bool]] = {
    "past": (lambda p, n: np.array(p), True),
    "length": (lambda p, n: np.array([p + n]), True),
    "constant": (lambda p, n: np.array([[4, 5]]), True),
    "positions": (lambda p, n: p + np.arange(n)[None], True),
    "backwards": (lambda p, n: (2 * p + 3 * n + 7 - 2 * np.arange(n))[:, None], True),
    "several": (lambda p, n: np.array([0, p, n, p + n, 5]), True),
    "steps": (lambda p, n: 3 * np.arange(n), True),
    "product": (lambda p, n: np.array(p * n), False),
    "half": (lambda p, n: np.array([n // 2]), False),
    "squares": (lambda p, n: np.arange(n) ** 2, False),
    "table": (lambda p, n: np.arange(n)[:, None] + np.arange(n), False),
    "rows": (lambda p, n: np.arange(n)[:, None] + np.arange(2), False),
    "ranks": (lambda p, n: np.zeros([1] * (1 + (p > 1)), int), False),
    "lengths": (lambda p, n: np.zeros(n + p, int), False),
    "late": (lambda p, n: np.array(max(p, 2)), False),
}


@pytest.mark.parametrize("name", SUMS)
def test_what_is_a_sum_of_tokens(name: str) -> None:
    of, fits = SUMS[name]
    runs = Runs.of(20, True)
    assert runs.tried == tuple((p, n) for p in (0, 1, 5, 19) for n in (1, 2, 3, 7))
    place = fit([of(*run) for run in runs.tried], runs)
    assert (place is not None) == fits
    if place is None:
        return
    for p, n in ((0, 1), (4, 9), (31, 2), (6, 1)):
        np.testing.assert_array_equal(place.at(p, n), of(p, n))
        np.testing.assert_array_equal(built(place, p, n), of(p, n))


def test_sums_without_a_past() -> None:
    runs = Runs.of(20, False)
    assert runs.tried == tuple((0, n) for n in (1, 2, 3, 7, 12))
    assert {p for p, _ in Runs.of(3, True).tried} == {0, 1, 2}, "none beyond the context"
    place = fit([np.arange(n) + 2 for _, n in runs.tried], runs)
    assert place is not None and (place.axis, place.step, int(place.of_past)) == (0, 1, 0)
    assert fit([np.array(min(n, 7)) for _, n in runs.tried], runs) is None


def built(place: Place, past: int, new: int) -> Any:
    """What the nodes make that compute it."""
    model = onnx_text("y = Identity(at)", at="i64[1]", new="i64[1]", outputs="y")
    at, count = model.graph.inputs
    places = Places(model.graph, at, count, [])
    made = places.value(place, ir.DataType.INT32)
    model.graph.extend(places.made)
    model.graph.outputs[:] = [made]
    (array,) = run(model, {"at": np.array([past]), "new": np.array([new])})
    assert array.dtype == np.int32
    return array


# --- the last token --------------------------------------------------------------------------------------------------

CUTS = {
    "y = MatMul(Relu(x), w)": "Relu",
    "y = Add(s, Mul(x, 2.0))": "Mul",
    "y = Div(1.0, x)": "Div",
    "y = MatMul(Softmax(x, axis=1), w)": "MatMul",
    "y = Softmax(x, axis=1)": "",
    "r = Relu(x); y = Mul(r, ReduceSum(r, [1]))": "",
    "y = Add(x, z)": "",
    "y = Gather(t, k)": "",
    "y = Tanh(ReduceSum(Unsqueeze(x, [3]), [3], keepdims=0))": "Tanh",
    "y = MatMul(m2, Sqrt(Abs(v2)))": "",
}


@pytest.mark.parametrize("text", CUTS)
def test_the_last_token_is_cut_out_early(text: str) -> None:
    model, _, _ = model_of(text)
    feeds = {
        v.name: RNG.integers(0, 9, (1, 5))
        if v.dtype == ir.DataType.INT64
        else floats(*(5 if n == "n" else int(str(n)) for n in g.dims(v) or []))
        for v in model.graph.inputs
    }
    want = run(model, feeds)
    last_token(model, "n")
    got = run(model, feeds)
    assert [a.shape[1] for a in got] == [1] * len(got)
    for a, b in zip(got, want, strict=True):  # NumPy sums one row in another order than five
        np.testing.assert_allclose(a, b[:, -1:], rtol=1e-6, atol=1e-6)
    after = [u.node.op_type for n in model.graph if n.op_type == "Slice" for u in n.outputs[0].uses()]  # fmt: skip
    assert after == ([CUTS[text]] if CUTS[text] else [])


@pytest.mark.parametrize(
    "text, rows",
    [("y = Relu(x)", "new"), ("y = Concat(x, x, axis=1)", None), ("y = Slice(x, [0], [3], [1])", None)],
)  # fmt: skip
def test_an_axis_is_named_that_has_a_row_for_each_token(text: str, rows: str | None) -> None:
    model, _, probe = model_of(text)
    (output,) = model.graph.outputs
    output.shape = ir.Shape([1, None, 6])
    name_rows(model, probe, "new")
    assert g.dims(output) == [1, rows, 6]


@pytest.mark.parametrize("shape", ["f32[1, n]", "f32[1, 5, 6]"])
def test_other_results_stay(shape: str) -> None:
    model = onnx_text("y = Relu(x)", x=shape)
    g.infer(model)
    before = as_text(model)
    last_token(model, "n")
    assert as_text(model) == before


def test_what_others_read_is_computed_for_all() -> None:
    model = onnx_text("r = Relu(x); y = Tanh(r); q = ReduceSum(r, [1])", x="f32[1, n, 6]")
    g.infer(model)
    last_token(model, "n")
    y, q = run(model, {"x": np.ones((1, 4, 6), np.float32)})
    assert y.shape == (1, 1, 6) and q.ravel().tolist() == [4.0] * 6


# --- whole models ----------------------------------------------------------------------------------------------------

QKV = "h = Unsqueeze(x, [1]); "
MASK = "n = Shape(x, start=1, end=2); k = Range(i64(0), Squeeze(n), i64(1)); c = LessOrEqual(k, Unsqueeze(k, [1])); "


@pytest.mark.parametrize("call", [
    "Attention(h, h, h, is_causal=1)", "Attention(h, h, h, c)", "Attention(h, h, h, Or(c, Not(c)), is_causal=1)",
    "Attention(h, h, h, is_causal=1, left_window_size=2)", "Attention(h, h, h, And(c, Greater(Add(k, i64(3)), Unsqueeze(k, [1]))))",
    "Attention(h, h, h, Where(c, 0.0, -100000.0), left_window_size=2, is_causal=0)",
])  # fmt: skip
def test_a_model_without_caches_gets_them(call: str) -> None:
    """Whole and token by token, by ONNX's reference, the results are those that the model had."""
    model = onnx_text(f"{QKV}{MASK}y = Squeeze({call}, [1])", x="f32[1, n, 6]", outputs="y")
    g.infer(model)
    x = floats(1, 9, 6)
    (want,) = run(model, {"x": x})
    context = keep_context(model, 12, all_logits=True)
    window = 3 if "window" in call or "Greater" in call else 0
    assert context.windows == {window: 1} and context.capacity == 12
    assert context.axes == dict.fromkeys(context.axes, 2) and len(context.axes) == 1, (
        "h is kept once"
    )
    for cuts in ([0, 9], [0, 4, 5, 9], list(range(10))):
        kept = {v.name: np.zeros([int(str(n)) for n in g.dims(v) or []], v.dtype.numpy()) for v in model.graph.inputs if v.name != "x" and v.dtype}  # fmt: skip
        made = []
        for a, b in itertools.pairwise(cuts):
            results = run(model, {"x": x[:, a:b], **kept})
            named = dict(zip((o.name for o in model.graph.outputs), results, strict=True))
            made.append(results[0])
            kept = {past: named[present] for past, present in context.states.items()}
        np.testing.assert_allclose(np.concatenate(made, 1), want, rtol=1e-5, atol=1e-6)
        assert kept[context.position].tolist() == [9]


REFUSED = {
    "sees every key": (f"{QKV}y = Squeeze(Attention(h, h, h), [1])", {}),
    "computed from data": (f"{QKV}y = Squeeze(Attention(h, h, h, Less(Unsqueeze(ReduceSum(x, [2]), [1]), 0.0)), [1])", {}),
    "hides keys beside is_causal": (f"{QKV}{MASK}y = Squeeze(Attention(h, h, h, Less(k, Sub(n, i64(1))), is_causal=1), [1])", {}),
    "neither causal nor a window": (f"{QKV}{MASK}y = Squeeze(Attention(h, h, h, GreaterOrEqual(k, Unsqueeze(k, [1]))), [1])", {}),
    "expected one input of tokens": (f"{QKV}y = Add(Squeeze(Attention(h, h, h, is_causal=1), [1]), q)", {"q": "f32[1, n, 6]"}),
    "expected a batch of 1, got 2": (f"{QKV}y = Squeeze(Attention(h, h, h, is_causal=1), [1])", {"x": "f32[2, n, 6]"}),
    "with a named number of tokens": (f"{QKV}y = Squeeze(Attention(h, h, h, is_causal=1), [1])", {"x": "f32[1, 7, 6]"}),
    "expected a named number of earlier tokens": (
        f"{QKV}k = Concat(a, h, axis=2); v = Concat(b, h, axis=2); y = Squeeze(Attention(h, k, v, is_causal=1), [1])",
        {"a": "f32[1, 1, 4, 6]", "b": "f32[1, 1, 4, 6]", "outputs": "y k v"}),
    r"is read by .*\(Neg\), expected Attention": (
        f"{QKV}k = Concat(a, h, axis=2); v = Concat(b, h, axis=2); o = Neg(k); y = Squeeze(Attention(h, k, v, is_causal=1), [1])",
        {"a": "f32[1, 1, p, 6]", "b": "f32[1, 1, p, 6]", "outputs": "y o k v"}),
    "cache 'a': expected a batch of 1": (
        f"{QKV}k = Concat(a, h, axis=2); v = Concat(b, h, axis=2); y = Squeeze(Attention(h, k, v, is_causal=1), [1])",
        {"a": "f32[2, 1, p, 6]", "b": "f32[2, 1, p, 6]", "outputs": "y k v"}),
    "follows from the number of tokens; expected positions": (
        f"{QKV}{MASK}y = Add(Squeeze(Attention(h, h, h, is_causal=1), [1]), Cast(Unsqueeze(Mul(k, k), [1]), to=1))", {}),
    "is computed from the number of all tokens": (
        f"{QKV}{MASK}y = Add(Squeeze(Attention(h, h, h, is_causal=1), [1]), Cast(n, to=1))", {}),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_keeps_no_context_says_why(why: str) -> None:
    text, given = REFUSED[why]
    model = onnx_text(text, **{"x": "f32[1, n, 6]", **given})
    g.infer(model)
    with pytest.raises(ModelError, match=why):
        keep_context(model, 12)
