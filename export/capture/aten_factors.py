"""Loops of factorizations, a column in each round: LU with pivots, Cholesky, Householder's reflections, triangular systems.

Pivots, signs and packed forms are LAPACK's. Source: Golub and Van Loan 2013, sections 3.1, 3.4, 4.2, 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .aten import INT64, counting, extent, full_like, ints, op, rank
from .aten_loops import loop
from .aten_parts import (
    Parts,
    adjoint,
    as_given,
    chosen,
    conjugated,
    flat,
    over,
    size,
    squares,
    times,
    without,
)


def _least(re: Any) -> Any:
    """A scalar: the smaller one of the matrix's two sizes."""
    return op.Min(extent(re, -2), extent(re, -1))


def _down(x: Any, axis: int) -> Any:
    """0, 1 .. of an axis of `x`, as a column."""
    return op.Unsqueeze(counting(extent(x, axis)), ints(1))


def _across(x: Any) -> Any:
    return counting(extent(x, -1))


def _column(a: Parts, k: Any) -> Parts:
    """[batches, m, 1]"""
    return [op.Gather(x, op.Unsqueeze(k, ints(0)), axis=2) for x in a]


def _row(a: Parts, k: Any) -> Parts:
    """[batches, 1, n]"""
    return [op.Gather(x, op.Unsqueeze(k, ints(0)), axis=1) for x in a]


def _row_of_zeros(x: Any) -> Any:
    """[batches, 1, n]"""
    shape = op.Concat(op.Shape(x, start=0, end=1), ints(1), op.Shape(x, start=2), axis=0)
    return op.Expand(full_like(x, 0), shape)


def _packed(a: Sequence[Any], below: Sequence[Any], re: Any) -> Any:
    """A row more than `re` has."""
    rows = op.Add(op.Shape(re, start=rank(re) - 2, end=rank(re) - 1), ints(1))
    whole = [op.Concat(x, row, axis=1) for x, row in zip(a, below, strict=True)]
    return as_given(whole, re, rows, size(re, -1))


def lu(re: Any, im: Any = None) -> Any:
    a = flat(re, im)
    rows, columns = _down(re, -2), _across(re)

    def step(k: Any, *now: Any) -> Sequence[Any]:
        *a, pivots = now
        column = _column(a, k)
        length = op.Abs(column[0]) if len(a) == 1 else op.Add(*(op.Abs(x) for x in column))
        length = op.Where(op.Less(rows, k), full_like(re, -1), length)
        p = op.ArgMax(length, axis=1, keepdims=1)
        chosen_row = [_at(x, p) for x in a]
        a = chosen(op.Equal(rows, p), _row(a, k), a)
        a = chosen(op.Equal(rows, k), chosen_row, a)
        pivot = _column(chosen_row, k)
        is_none = _is_zero(pivot)
        by = [op.Where(is_none, full_like(re, 1 - i), x) for i, x in enumerate(pivot)]
        factor = over(_column(a, k), by)
        is_below = op.Greater(rows, k)
        reduced = without(a, times(factor, chosen_row))
        a = chosen(op.And(is_below, op.Greater(columns, k)), reduced, a)
        a = chosen(op.And(is_below, op.Equal(columns, k)), factor, a)
        place = op.CastLike(op.Add(p, op.Constant(value_int=1)), re)
        return [*a, op.Where(op.Equal(columns, k), place, pivots)]

    *a, pivots = loop(_least(re), [*a, _row_of_zeros(a[0])], step, [re.dtype.value] * (len(a) + 1))
    return _packed(a, [pivots, _row_of_zeros(a[0])][: len(a)], re)


def _at(x: Any, p: Any) -> Any:
    """The row that `p` [batches, 1, 1] names, of each matrix: [batches, 1, n]."""
    return op.Unsqueeze(op.GatherND(x, op.Squeeze(p, ints(2)), batch_dims=1), ints(1))


def _is_zero(x: Parts) -> Any:
    zero = full_like(x[0], 0)
    found = [op.Equal(part, zero) for part in x]
    return found[0] if len(found) == 1 else op.And(*found)


def order(pivots: Any, rows: Any) -> Any:
    """Which row of A each row of L U is: rows that changed places, one pivot after another."""
    flat_pivots = op.Reshape(pivots, op.Concat(ints(-1), op.Shape(pivots, start=-1), axis=0))
    rows = op.Constant(value_int=rows) if isinstance(rows, int) else rows
    places = counting(rows)
    batches = op.Shape(flat_pivots, start=0, end=1)
    wide = op.Concat(batches, op.Reshape(rows, ints(1)), axis=0)

    def step(k: Any, now: Any) -> Sequence[Any]:
        at = op.Unsqueeze(k, ints(0))
        p = op.Sub(op.Gather(flat_pivots, at, axis=1), op.Constant(value_int=1))
        here, there = op.Gather(now, at, axis=1), op.GatherElements(now, p, axis=1)
        moved = op.Where(op.Equal(places, p), here, now)
        return [op.Where(op.Equal(places, k), there, moved)]

    made = loop(extent(pivots, -1), [op.Expand(places, wide)], step, [INT64])
    lead = [op.Shape(pivots, end=-1)] if len(pivots.shape) > 1 else []
    return op.Reshape(made[0], op.Concat(*lead, op.Reshape(rows, ints(1)), axis=0))


def cholesky(re: Any, im: Any = None) -> Any:
    """Of the triangle below the diagonal; above it zeros."""
    rows, columns = _down(re, -2), _across(re)

    def step(k: Any, *a: Any) -> Sequence[Any]:
        column, zero = _column(list(a), k), full_like(re, 0)
        root = op.Sqrt(_row(column[:1], k)[0])
        column = [op.Div(x, root) for x in column]
        column = [op.Where(op.Less(rows, k), zero, x) for x in column]
        column = [
            op.Where(op.Equal(rows, k), x, y) for x, y in zip((root, zero), column, strict=False)
        ]
        rest = without(list(a), times(column, adjoint(column)))
        reduced = chosen(op.Greater(columns, k), rest, list(a))
        return chosen(op.Equal(columns, k), column, reduced)

    a = flat(re, im)
    made = loop(extent(re, -1), a, step, [re.dtype.value] * len(a))
    return as_given(made, re, size(re, -2), size(re, -1))


def triangular(re: Any, im: Any, b_re: Any, b_im: Any, upper: bool, unit: bool) -> Any:
    a, b = flat(re, im), flat(b_re, b_im)
    rows, count = _down(re, -1), extent(re, -1)
    last = op.Sub(count, op.Constant(value_int=1))

    def step(i: Any, *x: Any) -> Sequence[Any]:
        k = op.Sub(last, i) if upper else i
        column, row = _column(a, k), _row(list(x), k)
        if not unit:
            row = over(row, _row(column, k))
        reduced = without(list(x), times(column, row))
        is_open = op.Less(rows, k) if upper else op.Greater(rows, k)
        return chosen(op.Equal(rows, k), row, chosen(is_open, reduced, list(x)))

    made = loop(count, b, step, [re.dtype.value] * len(b))
    return as_given(made, b_re, size(b_re, -2), size(b_re, -1))


def qr(re: Any, im: Any = None) -> Any:
    a = flat(re, im)
    rows, columns = _down(re, -2), _across(re)
    taus = [_row_of_zeros(x) for x in a]

    def step(k: Any, *now: Any) -> Sequence[Any]:
        half = len(now) // 2
        a, taus = list(now[:half]), list(now[half:])
        zero, one = full_like(re, 0), full_like(re, 1)
        column = _column(a, k)
        alpha = _row(column, k)
        rest = [op.Where(op.Greater(rows, k), x, zero) for x in column]
        tail = squares(rest, 1)
        length = op.Sqrt(op.Add(tail, squares(alpha, 1)))
        is_done = op.Equal(tail, zero)
        if half == 2:
            is_done = op.And(is_done, op.Equal(alpha[1], zero))
        beta = op.Where(op.GreaterOrEqual(alpha[0], zero), op.Neg(length), length)
        by = [op.Sub(alpha[0], beta), *alpha[1:]]
        whole = [one, *[zero] * (half - 1)]
        by = chosen(is_done, whole, by)
        safe = op.Where(is_done, one, beta)
        tau = [op.Div(op.Sub(beta, alpha[0]), safe), *(op.Div(op.Neg(x), safe) for x in alpha[1:])]
        tau = [op.Where(is_done, zero, x) for x in tau]
        v = chosen(op.Equal(rows, k), whole, over(rest, by))
        done = _mirrored(a, v, conjugated(tau))
        a = chosen(op.Less(columns, k), a, done)
        is_stored = op.And(op.Greater(rows, k), op.Equal(columns, k))
        return [*chosen(is_stored, v, a), *chosen(op.Equal(columns, k), tau, taus)]

    made = loop(_least(re), [*a, *taus], step, [re.dtype.value] * 2 * len(a))
    return _packed(made[: len(a)], made[len(a) :], re)


def _mirrored(y: Parts, v: Parts, tau: Parts) -> Parts:
    """y - tau v v^H y."""
    return without(y, times(times(tau, v), times(adjoint(v), y, op.MatMul)))


def reflected(re: Any, im: Any, tau_re: Any, tau_im: Any, y_re: Any, y_im: Any, transposed: bool) -> Any:  # fmt: skip
    """H_0 H_1 .. y of the reflections that `qr` packs; transposed, H_k^H, the last one first."""
    a, y = flat(re, im), flat(y_re, y_im)
    taus = [
        op.Reshape(x, op.Concat(ints(-1), op.Shape(x, start=-1), ints(1), axis=0))
        for x in (tau_re, tau_im)[: len(a)]
    ]
    rows, count = _down(re, -2), extent(tau_re, -1)
    last = op.Sub(count, op.Constant(value_int=1))

    def step(i: Any, *y: Any) -> Sequence[Any]:
        k = i if transposed else op.Sub(last, i)
        zero, one = full_like(re, 0), full_like(re, 1)
        v = [op.Where(op.Greater(rows, k), x, zero) for x in _column(a, k)]
        v = chosen(op.Equal(rows, k), [one, *[zero] * (len(a) - 1)], v)
        tau = _row(taus, k)
        return _mirrored(list(y), v, conjugated(tau) if transposed else tau)

    made = loop(count, y, step, [re.dtype.value] * len(y))
    return as_given(made, y_re, size(y_re, -2), size(y_re, -1))
