"""Loops of singular values: `jacobi`, one-sided rotations that make the columns of a matrix orthogonal, all disjoint pairs in a step;
`basis`, which completes orthonormal columns (Gram and Schmidt, twice); and the squarings of an exponential.

Source: Golub and Van Loan 2013, sections 5.2.8, 8.6.3, 9.3; the order of pairs is Brent and Luk's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from .aten import DOUBLE, FLOAT, INT64, counting, full_like, ints, op
from .aten_loops import anywhere, loop, loop_while
from .aten_parts import adjoint, as_given, flat, squares, times, without

SWEEPS: Final = 24
"""At most; some eight are usual."""
ENOUGH: Final = {FLOAT: 2.0**-23, DOUBLE: 2.0**-52}
"""Times the root of their length: the cosine between two columns that are orthogonal, twice that of LAPACK's gesvj."""
SMALL: Final = {FLOAT: 1e-14, DOUBLE: 1e-28}
"""Of the longest column's square: a column below is rounding, whose direction means nothing."""


def jacobi(re: Any, im: Any = None) -> Any:
    m, n = re.shape[-2:]
    rows = [_beside_unit(x, n, i == 0) for i, x in enumerate(flat(re, im))]
    order = op.Constant(value=ir.tensor(np.array(_round(n), np.int64)))
    steps = n - 1 + n % 2

    def step(i: Any, clean: Any, *now: Any) -> Any:
        halves = [_halves(x, n) for x in now]
        pairs, is_clean = _rotated([h[:2] for h in halves], m, re.dtype.value)
        after = [
            op.Gather(op.Concat(*pair, *h[2:], axis=1), order, axis=1)
            for pair, h in zip(pairs, halves, strict=True)
        ]
        one, none = (op.Constant(value_int=k) for k in (1, 0))
        count = op.Where(is_clean, op.Add(clean, one), none)
        return op.Less(count, op.Constant(value_int=steps)), count, *after

    trips, start = (op.Constant(value_int=k) for k in (SWEEPS * steps, 0))
    if n > 1:
        dtypes = (INT64, *[re.dtype.value] * len(rows))
        _, *rows = loop_while(trips, (start, *rows), step, dtypes)
    return as_given(rows, re, n, m + n)


def _beside_unit(x: Any, n: int, is_real: bool) -> Any:
    """[batches, m, n] as [batches, n, m + n]: the columns as rows, a unit matrix behind them."""
    rows = op.Transpose(x, perm=[0, 2, 1])
    unit = op.Constant(value=ir.tensor((np.eye(n) * is_real).astype(np.float32)[None]))
    count = op.Shape(rows, start=0, end=1)
    beside = op.Expand(op.CastLike(unit, x), op.Concat(count, ints(n, n), axis=0))
    return op.Concat(rows, beside, axis=2)


def _halves(x: Any, n: int) -> list[Any]:
    """The first of each pair, the second, and the row that has none where their number is odd."""
    h = n // 2
    ends = [(0, h), (h, 2 * h), (2 * h, n)][: 2 + n % 2]
    return [op.Slice(x, ints(a), ints(b), ints(1)) for a, b in ends]


def _round(n: int) -> list[int]:
    """Where each row of the next step lies in this one: rows on a circle, each beside the one across, go on by a place; of an even
    number the first stays."""
    h = n // 2
    place = [i if i < h else 2 * h if i == h and n % 2 else h + n - 1 - i for i in range(n)]
    ring = list(range(n))
    moved = [ring[-1], *ring[:-1]] if n % 2 else [0, ring[-1], *ring[1:-1]] if n > 1 else ring
    order = [0] * n
    for i, before in enumerate(moved):
        order[place[i]] = place[before]
    return order


def _rotated(pairs: Any, m: Any, dtype: int) -> tuple[list[list[Any]], Any]:
    """The rows of each pair made orthogonal in their first m elements; and whether all were."""
    heads = [[op.Slice(x, ints(0), ints(m), ints(2)) for x in pair] for pair in pairs]
    alpha, beta = (_total([op.Mul(h[k], h[k]) for h in heads]) for k in (0, 1))
    inner = _total([op.Mul(h[0], h[1]) for h in heads])
    length = op.Abs(inner)
    zero, one = full_like(inner, 0), full_like(inner, 1)
    if len(pairs) == 2:
        (p, q), (pi, qi) = heads
        cross = _total([op.Mul(p, qi), op.Neg(op.Mul(pi, q))])
        length = op.Sqrt(op.Add(op.Mul(inner, inner), op.Mul(cross, cross)))
    longest = op.ReduceMax(op.Max(alpha, beta), ints(1), keepdims=1)
    is_some = op.Greater(op.Min(alpha, beta), op.Mul(longest, full_like(inner, SMALL[dtype])))
    most = op.Mul(op.Sqrt(op.Mul(alpha, beta)), full_like(inner, math.sqrt(m) * ENOUGH[dtype]))
    is_done = op.LessOrEqual(length, most)
    by = op.Where(op.Equal(length, zero), one, length)
    zeta = op.Div(op.Sub(beta, alpha), op.Add(by, by))
    root = op.Add(op.Abs(zeta), op.Sqrt(op.Add(op.Mul(zeta, zeta), one)))
    t = op.Where(op.Less(zeta, zero), op.Neg(op.Div(one, root)), op.Div(one, root))
    t = op.Where(op.Equal(length, zero), zero, t)
    c = op.Div(one, op.Sqrt(op.Add(op.Mul(t, t), one)))
    s = op.Mul(c, t)
    if len(pairs) == 1:  # the second is multiplied by the sign of the product, or by its phase
        sign = op.Where(op.Less(inner, zero), op.Neg(one), one)
        in_phase = [[pairs[0][0], op.Mul(pairs[0][1], sign)]]
    else:
        cos, sin = op.Div(inner, by), op.Div(cross, by)
        cos = op.Where(op.Equal(length, zero), one, cos)
        (p, q), (pi, qi) = pairs
        in_phase = [
            [p, op.Add(op.Mul(q, cos), op.Mul(qi, sin))],
            [pi, op.Sub(op.Mul(qi, cos), op.Mul(q, sin))],
        ]
    made = [
        [op.Sub(op.Mul(c, p), op.Mul(s, q)), op.Add(op.Mul(s, p), op.Mul(c, q))]
        for p, q in in_phase
    ]
    return made, op.Not(anywhere(op.And(is_some, op.Not(is_done))))


def _total(parts: list[Any]) -> Any:
    whole = parts[0] if len(parts) == 1 else op.Add(*parts)
    return op.ReduceSum(whole, ints(2), keepdims=1)


def basis(re: Any, im: Any, count: int) -> Any:
    m, n = re.shape[-2:]
    parts = flat(re, im)
    if count > n:
        parts = [op.Pad(x, ints(0, 0, 0, 0, 0, count - n)) for x in parts]
    places, rows = counting(op.Constant(value_int=count)), counting(op.Constant(value_int=m))

    def step(j: Any, *now: Any) -> list[Any]:
        """Column j, or where it is 0 the axis that the others hold least of, without its parts along those."""
        one, zero = full_like(now[0], 1), full_like(now[0], 0)
        is_here = op.Equal(places, j)
        before = [op.Where(op.Less(places, j), x, zero) for x in now]
        column = [op.ReduceSum(op.Where(is_here, x, zero), ints(2), keepdims=1) for x in now]
        is_none = op.Equal(_length(column), zero)
        least = op.ArgMin(squares(before, 2), axis=1, keepdims=1)
        axis = op.Where(op.Equal(op.Unsqueeze(rows, ints(1)), least), one, zero)
        r = [op.Where(is_none, axis if i == 0 else zero, x) for i, x in enumerate(column)]
        for _ in range(2):
            r = _without(r, before)
        by = _length(r)
        return [op.Where(is_here, op.Div(x, by), old) for x, old in zip(r, now, strict=True)]

    kind = re.dtype.value
    made = loop(op.Constant(value_int=count), parts, step, [kind] * len(parts))
    return as_given(made, re, m, count)


def _length(parts: Sequence[Any]) -> Any:
    return op.Sqrt(squares(parts, 1))


def _without(r: list[Any], q: list[Any]) -> list[Any]:
    """r - Q Q^H r."""
    return without(r, times(q, times(adjoint(q), r, op.MatMul), op.MatMul))


def matrix_exp(x: Any) -> Any:
    """Of A / 2^s, whose norm is at most 1/2, by Taylor's series, then squared s times. Halves are computed in f32."""
    if x.dtype.value not in (FLOAT, DOUBLE):
        wide = op.Cast(x, to=FLOAT)
        wide.dtype, wide.shape = ir.DataType(FLOAT), x.shape
        return op.Cast(matrix_exp(wide), to=x.dtype.value)
    one, zero = full_like(x, 1), full_like(x, 0)
    size = op.ReduceMax(op.ReduceSum(op.Abs(x), ints(-2), keepdims=1), ints(-1), keepdims=1)
    is_known = op.And(op.Greater(size, zero), op.Less(size, full_like(x, math.inf)))
    power = op.Ceil(op.Div(op.Log(op.Where(is_known, size, one)), full_like(x, math.log(2))))
    times = op.Max(op.Add(power, one), zero)
    half = op.Floor(op.Mul(times, full_like(x, 0.5)))  # 2^-s itself may be no normal number
    part = x
    for count in (half, op.Sub(times, half)):
        part = op.Mul(part, op.Pow(full_like(x, 2), op.Neg(count)))
    unit = op.CastLike(op.Constant(value=ir.tensor(np.eye(x.shape[-1], dtype=np.float32))), x)
    y = op.Add(unit, op.Mul(part, zero))  # of the shape of x
    for k in range(16 if x.dtype.value == DOUBLE else 9, 0, -1):
        y = op.Add(unit, op.Mul(op.MatMul(part, y), full_like(x, 1 / k)))

    def step(i: Any, y: Any) -> list[Any]:
        return [op.Where(op.Less(op.CastLike(i, times), times), op.MatMul(y, y), y)]

    trips = op.Cast(op.ReduceMax(times, keepdims=0), to=INT64)
    return loop(trips, [y], step, [x.dtype.value])[0]
