"""Sizes that the data decide, read at fixed places and taken for bounds: one session after the other data, so that what an earlier
run left in memory would show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

import pteron
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import PteronError
from tests.lower.check import agrees

X = [np.array(x, np.float32) for x in ([0, 1, 1, 0], [0] * 4, [1] * 4, [0, 0, 1, 0])]
Z = np.arange(6, dtype=np.float32)
COUNT = "c = Shape(NonZero(x), start=1, end=2); "


def at(x: Any) -> Any:
    return np.array(np.nonzero(x))


OTHER = "d = Shape(NonZero(Sub(x, 1.0)), start=1, end=2); "
PLACES: dict[str, Callable[[Any], Any]] = {
    "y = Gather(NonZero(x), i64(1), axis=1)": lambda x: at(x)[:, 1],
    "y = Gather(NonZero(x), i64(-1), axis=1)": lambda x: at(x)[:, -1],
    "y = Gather(NonZero(x), [-2], axis=1)": lambda x: at(x)[:, [-2]],
    "y = Gather(NonZero(x), [0, 1], axis=1)": lambda x: at(x)[:, [0, 1]],
    "y = Gather(NonZero(x), [1, 0, 1], axis=1)": lambda x: at(x)[:, [1, 0, 1]],
    "y = Slice(NonZero(x), [-2], [-1], [1])": lambda x: at(x)[:, -2:-1],
    "y = Slice(NonZero(x), [1], [3], [1])": lambda x: at(x)[:, 1:3],
    "y = Slice(NonZero(x), [-1], [-999], [1], [-1])": lambda x: at(x)[:, ::-1],
    "y = Unique(NonZero(x))": lambda x: np.unique(at(x)),
    "a, b, c, y = Unique(NonZero(Sub(x, 1.0)))": lambda x: np.unique(at(x - 1), return_counts=True)[
        1
    ],
    f"{OTHER}y = Slice(NonZero(x), d, [99], [1])": lambda x: at(x)[:, at(x - 1).shape[1] :],
    f"{COUNT}y = Gather(z, Sub(c, [1]))": lambda x: Z[[at(x).size - 1]],
}
BOUNDS: dict[str, Callable[[int], slice]] = {
    f"{COUNT}y = Slice(z, Sub(c, [3]), [99])": lambda c: slice(c - 3, 99),
    f"{COUNT}y = Slice(z, [0], Sub(c, [2]))": lambda c: slice(0, c - 2),
    f"{COUNT}y = Slice(z, Sub(c, [1]), c)": lambda c: slice(c - 1, c),
    f"{COUNT}y = Slice(z, Neg(c), [99])": lambda c: slice(-c, 99),
    f"{COUNT}y = Slice(z, c, [99], [0], [2])": lambda c: slice(c, 99, 2),
    f"{COUNT}y = Slice(z, [0], Neg(c))": lambda c: slice(0, -c),
}


def session(text: str, folder: Path) -> pteron.Model:
    given = {"z": "f32[6]"} if "(z" in text else {}
    pteron.export_model(ir.to_proto(onnx_text(text, x="f32[4]", **given)), folder / "m.pte")
    return pteron.load(folder / "m.pte", threads=1)


def fed(model: pteron.Model, x: Any) -> dict[str, Any]:
    return {"x": x, "z": Z} if len(model.inputs) > 1 else {"x": x}


@pytest.mark.parametrize("text", PLACES)
def test_fixed_places_are_looked_for_in_each_run(text: str, tmp_path: Path) -> None:
    model = session(text, tmp_path)
    for x in X:
        try:
            want = PLACES[text](x)
        except IndexError:
            with pytest.raises(pteron.DataError, match=r"index out of range.*\[node n_y\]"):
                model.run(fed(model, x))
            continue
        np.testing.assert_array_equal(model.run(fed(model, x))["y"], want)


@pytest.mark.parametrize("text", BOUNDS)
def test_bounds_count_from_the_end_where_a_run_makes_them_negative(
    text: str, tmp_path: Path
) -> None:
    model = session(text, tmp_path)
    for x in X:
        want = Z[BOUNDS[text](at(x).size)]
        np.testing.assert_array_equal(model.run(fed(model, x))["y"], want)


@pytest.mark.parametrize(("text", "why"), [
    ("a, b = Split(NonZero(x), [1, 1], axis=1); y = Sub(b, a)", "which only a run decides"),
    (f"{COUNT}y = Slice(z, Sub(c, [2]), [-9], [0], [-1])", "is computed while running and its step is -1"),
])  # fmt: skip
def test_what_only_a_run_could_look_at_is_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(pteron.LoweringError, match=why):
        session(text, tmp_path)


def test_pads_that_a_run_counts(tmp_path: Path) -> None:
    model = session(f"{COUNT}y = Pad(z, Concat([0], Sub(c, [2]), axis=0))", tmp_path)
    for x in X:
        more = at(x).size - 2
        if more < 0:
            with pytest.raises(pteron.ArgumentError, match="is negative"):
                model.run(fed(model, x))
        else:
            np.testing.assert_array_equal(model.run(fed(model, x))["y"], np.pad(Z, (0, more)))


TWO = f"{COUNT}{OTHER}e = Sub(c, d); "
ONES = np.ones(1, np.float32)
FALLING: dict[str, Callable[[int, int], Any]] = {
    f"{TWO}y = Range(i64(0), Squeeze(e), i64(1))": lambda c, d: np.arange(c - d),
    f"{TWO}y = Range(i64(9), Squeeze(e), i64(-2))": lambda c, d: np.arange(9, c - d, -2),
    f"{TWO}y = Range(i64(0), Squeeze(Mod(c, [3])), i64(1))": lambda c, d: np.arange(c % 3),
    f"{TWO}y = Expand(f32([1.0]), e)": lambda c, d: ONES.repeat(c - d),
    f"{TWO}y = Expand(f32([1.0]), Concat(c, e, axis=0))": lambda c, d: np.ones((c, c - d)),
    f"{TWO}y = Expand(f32([1.0]), Concat(c, d, Sub([4], c), axis=0))": lambda c, d: np.ones((c, d, 4 - c)),
    f"{TWO}y = ConstantOfShape(e)": lambda c, d: np.zeros(c - d),
    f"{TWO}y = Tile(z, e)": lambda c, d: np.tile(Z, size(c - d)),
    f"{TWO}y, i = TopK(z, e)": lambda c, d: Z[::-1][: size(c - d)],
    f"{TWO}y = Reshape(Expand(f32([1.0]), e), Concat([1], e, axis=0))": lambda c, d: np.ones((1, c - d)),
    f"{TWO}y = Pad(z, Concat([0], e, axis=0))": lambda c, d: np.pad(Z, (0, c - d)),
    f"{TWO}a, b = Split(x, Concat(e, Sub([4], e), axis=0)); y = Neg(a)": lambda c, d: -z_of(c)[: size(c - d)],
    "s = Cast(ReduceSum(x, keepdims=0), to=7); y = Range(i64(1), s, i64(2))": lambda c, d: np.arange(1, c, 2),
    "s = Cast(ReduceSum(x, keepdims=0), to=7); y = Range(s, i64(-4), i64(-3))": lambda c, d: np.arange(c, -4, -3),
    "s = ReduceSum(x, keepdims=0); y = Range(f32(0.5), s, f32(0.75))": lambda c, d: np.arange(0.5, c, 0.75),
    "s = Cast(ReduceSum(x), to=7); y = Expand(f32([1.0]), s)": lambda c, d: ONES.repeat(c),
    "s = Cast(ReduceSum(x), to=7); y = ConstantOfShape(s)": lambda c, d: np.zeros(c),
    "s = Cast(ReduceSum(x), to=7); y = Add(Expand(f32([1.0]), Concat([2], s, [4], axis=0)), x)": lambda c, d: np.ones((2, c, 4)) + z_of(c),
    "s = Cast(ReduceSum(x), to=7); y = Tile(z, s)": lambda c, d: np.tile(Z, c),
    f"{TWO}y = ConstantOfShape(Div([12], Add(c, [1])))": lambda c, d: np.zeros(12 // (c + 1)),
}  # fmt: skip


def size(n: int) -> int:
    if n < 0:
        raise ValueError(n)
    return n


def z_of(count: int) -> Any:
    return next(x for x in X if int(x.sum()) == count)


@pytest.mark.parametrize("text", FALLING)
def test_sizes_that_are_largest_between_none_and_all(text: str, tmp_path: Path) -> None:
    """One session, so that a size grows and falls from run to run; where it is negative the run says so."""
    model = session(text, tmp_path)
    for x in X:
        count = int(x.sum())
        try:
            want = FALLING[text](count, 4 - count)
        except ValueError:
            with pytest.raises(pteron.PteronError, match=r"out of range|negative"):
                model.run(fed(model, x))
            continue
        np.testing.assert_allclose(model.run(fed(model, x))["y"], want)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_k_that_a_run_computes_is_counted(k: int) -> None:
    text = "s = ReduceSum(m, keepdims=1); k = Cast(s, to=7); y, at = TopK(x, k)"
    x = np.float32([[3, 1, 2], [5, 9, 7]])
    agrees(text, {"x": x, "m": np.float32([0, k])}, x="f32[n, 3]", m="f32[q]")


@pytest.mark.parametrize("k", [4, -1])
def test_k_beyond_the_axis_ends_the_run(k: int) -> None:
    text = "s = ReduceSum(m, keepdims=1); k = Cast(s, to=7); y, at = TopK(x, k)"
    program = lower(onnx_text(text, x="f32[n, 3]", m="f32[q]"))
    with pytest.raises((PteronError, IndexError)):
        run(program, {"x": np.zeros((2, 3), np.float32), "m": np.float32([k])})


@pytest.mark.parametrize("dtype", ["f32", "i64"])
def test_a_depth_that_a_run_computes_is_counted(dtype: str) -> None:
    text = f"d = Add(k, {dtype}(1)); y = OneHot(x, d, v)"
    feeds = {"x": np.array([1, 0, -1]), "v": np.float32([2, 5])}
    kind = np.float32 if dtype == "f32" else np.int64
    for k in (1, 5):
        agrees(text, {**feeds, "k": np.array(k, kind)}, x="i64[n]", v="f32[2]", k=f"{dtype}[]")
