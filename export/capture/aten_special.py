"""Translations of aten's special functions, of bags of embeddings, and of values by how often they come, which torch.onnx lacks.

Functions are computed in f32, as PyTorch computes them for f32; arguments as in `aten`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from .aten import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT64,
    counting,
    extent,
    full_like,
    ints,
    op,
    rank,
    reached,
    seen_from,
)
from .aten_indexing import signbit

# --- special functions ---------------------------------------------------------------------------------------------------


def real(x: float) -> Any:
    return op.Constant(value_float=x)


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial, of the constant term first."""
    *rest, y = map(real, coefficients)
    for c in reversed(rest):
        y = op.Add(op.Mul(y, x), c)
    return y


def in_f32(function: Any) -> Any:
    """`function` over f32; its result in the dtype of a float `x`, or of a value in the making, else in f32, as PyTorch promotes."""

    def translated(x: Any, *others: Any) -> Any:
        y = function(*(op.Cast(t, to=FLOAT) for t in (x, *others)))
        return op.CastLike(y, x) if x.dtype is None or x.dtype.is_floating_point() else y

    return translated


def in_own(function: Any) -> Any:
    """`function` of values that an f32 rounds no further than their own type does: f64 stays, all else is `in_f32`."""
    narrow = in_f32(function)
    return lambda *x: (function if x[0].dtype == DOUBLE else narrow)(*x)


def _log1p(x: Any) -> Any:
    """log(1 + x) times what the sum lost of x: torch.onnx has 0 where 1 + x rounds to 1."""
    one = full_like(x, 1)
    whole = op.Add(one, x)
    y = op.Mul(op.Log(whole), op.Div(x, op.Sub(whole, one)))
    is_x = op.Or(op.Equal(whole, one), op.IsInf(x, detect_negative=0))
    return op.Where(is_x, x, y)


log1p: Final = in_own(_log1p)


@in_own
def expm1(x: Any) -> Any:
    """exp(x) - 1 times what the exponential lost of x."""
    one = full_like(x, 1)
    power = op.Exp(x)
    less = op.Sub(power, one)
    y = op.Mul(less, op.Div(x, op.Log(power)))
    y = op.Where(op.Equal(less, op.Neg(one)), less, y)
    return op.Where(op.Equal(power, one), x, op.Where(op.IsInf(power), power, y))


def logarithm(base: float) -> Any:
    """torch.onnx divides logarithms of f64 by an f32."""

    def translated(x: Any) -> Any:
        x = x if x.dtype.is_floating_point() else op.Cast(x, to=FLOAT)
        return op.Div(op.Log(x), full_like(x, math.log(base)))

    return translated


def _exp_of_square(x: Any, sign: int) -> Any:
    """exp(+-x^2) for |x| <= 11: of what sixteenths hold of x, squared exactly, and of the rest."""
    near = op.Mul(op.Round(op.Mul(x, real(16.0))), real(1 / 16))
    rest = op.Mul(op.Sub(x, near), op.Add(x, near))
    parts = (op.Exp(op.Mul(part, real(float(sign)))) for part in (op.Mul(near, near), rest))
    return op.Mul(*parts)


TAIL: Final = [
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
]
"""log(exp(x^2) erfc(x) / t) over t = 1 / (1 + x / 2), x >= 0, within 1.2e-7. Press et al., Numerical Recipes, erfcc."""


def _scaled_tail(size: Any) -> Any:
    """exp(x^2) erfc(x) from 0 on."""
    t = op.Reciprocal(op.Add(op.Mul(size, real(0.5)), real(1.0)))
    return op.Mul(t, op.Exp(horner(t, TAIL)))


def _scaled(x: Any) -> Any:
    """exp(x^2) erfc(x)."""
    tail = _scaled_tail(op.Abs(x))
    least = op.Min(op.Max(x, real(-11.0)), real(0.0))
    below = op.Sub(op.Mul(_exp_of_square(least, 1), real(2.0)), tail)
    y = op.Where(op.Less(x, real(0.0)), below, tail)
    return op.Where(op.Less(x, real(-10.0)), real(math.inf), y)


erfcx: Final = in_f32(_scaled)


def _tail(x: Any) -> Any:
    """erfc(x) = 1 - erf(x), and another way where that is nearly 0."""
    size = op.Min(op.Max(x, real(0.0)), real(11.0))
    tail = op.Mul(_exp_of_square(size, -1), _scaled_tail(size))
    y = op.Where(op.Less(x, real(0.5)), op.Sub(real(1.0), op.Erf(x)), tail)
    return op.Where(op.IsNaN(x), x, y)


erfc: Final = in_f32(_tail)


@in_f32
def ndtr(x: Any) -> Any:
    return op.Mul(_tail(op.Mul(x, real(-math.sqrt(0.5)))), real(0.5))


@in_f32
def log_ndtr(x: Any) -> Any:
    """Below 1 by the scaled tail, which does not underflow; from there on by what is missing from 1."""
    y = op.Mul(x, real(math.sqrt(0.5)))
    scaled = _scaled(op.Neg(y))
    below = op.Sub(op.Log(op.Mul(scaled, real(0.5))), op.Mul(y, y))
    above = _log1p(op.Mul(_tail(y), real(-0.5)))
    return op.Where(op.Less(x, real(1.0)), below, above)


ROOTS: Final = [
    *(0.483128952, -0.145959693, 0.062911048, -0.0313191711, 0.0168082151),
    *(-0.00927550206, 0.00532523766, -0.00397450667, 0.00244825835),
]
"""log(gamma(x)) / ((x - 1) (x - 2)) over x - 1.5, from 1 to 2: interpolated at Chebyshev's points, within 2e-7."""


@in_f32
def lgamma(x: Any) -> Any:
    """log |gamma(x)|: factors at the roots 1 and 2, Stirling's series from 8 on, Euler's reflection below 0."""
    one, two = real(1.0), real(2.0)
    below = op.Less(x, real(0.0))
    p = op.Where(below, op.Sub(one, x), op.Abs(x))  # of -0, too
    # To 1 .. 2: gamma(p) = gamma(p + 1) / p = gamma(p - 1) (p - 1).
    low, high = op.Less(p, one), op.Greater(p, two)
    near = op.Where(low, op.Add(p, one), op.Where(high, op.Sub(p, one), p))
    product = op.Mul(op.Sub(near, one), op.Sub(near, two))
    small = op.Mul(product, horner(op.Sub(near, real(1.5)), ROOTS))
    factor = op.Log(op.Where(low, p, op.Where(high, op.Sub(p, one), one)))
    small = op.Add(small, op.Where(low, op.Neg(factor), factor))
    small = op.Where(op.Less(p, real(3.0)), small, _stirling(p))
    # Beside whole numbers only the distance from the nearest counts; at them it is infinite.
    sine = op.Abs(op.Sin(op.Mul(op.Sub(x, op.Round(x)), real(math.pi))))
    mirrored = op.Sub(real(math.log(math.pi)), op.Add(op.Log(sine), small))
    y = op.Where(below, mirrored, small)
    is_pole = op.And(below, op.Equal(sine, real(0.0)))
    return op.Where(op.Or(is_pole, op.IsInf(x)), real(math.inf), y)


def _stirling(x: Any) -> Any:
    """log(gamma(x)) from 3 on: below 8 by gamma(x + 5) = gamma(x) x (x + 1) .. (x + 4)."""
    is_short = op.Less(x, real(8.0))
    passed = x
    for k in range(1, 5):
        passed = op.Mul(passed, op.Add(x, real(float(k))))
    z = op.Where(is_short, op.Add(x, real(5.0)), x)
    inverse = op.Reciprocal(z)
    series = op.Mul(inverse, horner(op.Mul(inverse, inverse), [1 / 12, -1 / 360, 1 / 1260]))
    main = op.Mul(op.Sub(z, real(0.5)), op.Sub(op.Log(z), real(1.0)))
    whole = op.Add(main, op.Add(series, real(0.5 * math.log(2 * math.pi) - 0.5)))
    return op.Sub(whole, op.Log(op.Where(is_short, passed, real(1.0))))


BERNOULLI: Final = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]
"""Of digamma's series in 1 / x^2."""


@in_f32
def digamma(x: Any) -> Any:
    """psi(x) = psi(x + 1) - 1 / x up to 10, then the series; reflected below 0. -inf at 0 (inf at -0), NaN at other poles."""
    zero, one = real(0.0), real(1.0)
    below = op.Less(x, zero)
    p = op.Where(below, op.Sub(one, x), x)
    z, past = p, zero
    for _ in range(10):
        is_short = op.Less(z, real(10.0))
        past = op.Add(past, op.Where(is_short, op.Reciprocal(z), zero))
        z = op.Where(is_short, op.Add(z, one), z)
    inverse = op.Reciprocal(z)
    square = op.Mul(inverse, inverse)
    series = op.Mul(square, horner(square, BERNOULLI))
    y = op.Sub(op.Sub(op.Sub(op.Log(z), op.Mul(inverse, real(0.5))), series), past)
    part = op.Sub(x, op.Round(x))
    tangent = op.Tan(op.Mul(part, real(math.pi)))
    mirrored = op.Where(
        op.Equal(part, zero), real(math.nan), op.Sub(y, op.Div(real(math.pi), tangent))
    )
    y = op.Where(below, mirrored, y)
    return op.Where(op.Equal(x, zero), op.Neg(op.Reciprocal(x)), y)


@in_f32
def erfinv(x: Any) -> Any:
    """PyTorch's: a rational function in the middle, one of sqrt(-log) at the ends, and two of Newton's steps."""
    one, size = real(1.0), op.Abs(x)
    square = op.Mul(x, x)
    top = horner(square, [0.886226899, -1.645349621, 0.914624893, -0.140543331])
    bottom = horner(square, [1.0, -2.118377725, 1.442710462, -0.329097515, 0.012229801])
    middle = op.Div(op.Mul(x, top), bottom)
    z = op.Sqrt(op.Neg(op.Log(op.Mul(op.Sub(one, size), real(0.5)))))
    top = horner(z, [-1.970840454, -1.624906493, 3.429567803, 1.641345311])
    end = op.Mul(op.Sign(x), op.Div(top, horner(z, [1.0, 3.543889200, 1.637067800])))
    y = op.Where(op.LessOrEqual(size, real(0.7)), middle, end)
    for _ in range(2):
        slope = op.Mul(real(2 / math.sqrt(math.pi)), op.Exp(op.Neg(op.Mul(y, y))))
        y = op.Sub(y, op.Div(op.Sub(op.Erf(y), x), slope))
    y = op.Where(op.Equal(size, one), op.Mul(x, real(math.inf)), y)
    return op.Where(op.Greater(size, one), real(math.nan), y)


@in_own
def log_sigmoid(x: Any) -> Any:
    """min(x, 0) - log(1 + exp(-|x|)); torch.onnx has the logarithm of what is 0 below -88."""
    return op.Sub(op.Min(x, full_like(x, 0)), _log1p(op.Exp(op.Neg(op.Abs(x)))))


def log_sigmoid_forward(x: Any) -> Any:
    return log_sigmoid(x), op.Exp(op.Neg(op.Abs(x)))


@in_own
def logaddexp(a: Any, b: Any) -> Any:
    return _added_logarithms(a, b, 1.0)


@in_own
def logaddexp2(a: Any, b: Any) -> Any:
    return _added_logarithms(a, b, math.log(2))


def _added_logarithms(a: Any, b: Any, base: float) -> Any:
    """From the greater on: its power may be infinite. `base` is the logarithm of what is raised."""
    greater, base = op.Max(a, b), full_like(a, base)
    apart = op.Neg(op.Abs(op.Sub(a, b)))
    y = op.Add(greater, op.Div(_log1p(op.Exp(op.Mul(apart, base))), base))
    return op.Where(op.And(op.Equal(a, b), op.IsInf(a)), a, y)


def logcumsumexp(x: Any, dim: int) -> Any:
    """Each place from the greatest up to it on: torch.onnx takes the greatest of all, beside which what comes before it is 0."""
    if rank(x) == 0:
        return op.Identity(x)

    def logarithm(row: Any, seen: Any) -> Any:
        wide = op.Cast(row, to=inner)
        wide = op.Where(seen, wide, full_like(wide, -math.inf))
        greatest = op.ReduceMax(wide, ints(-1), keepdims=1)
        base = op.Where(op.IsInf(greatest), full_like(greatest, 0), greatest)
        total = op.ReduceSum(op.Exp(op.Sub(wide, base)), ints(-1), keepdims=0)
        return op.CastLike(op.Add(op.Log(total), op.Squeeze(base, ints(-1))), x)

    inner = DOUBLE if x.dtype.value == DOUBLE else FLOAT
    return seen_from(x, dim, logarithm)


def multilabel_margin_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    """max(0, 1 - x[t] + x[k]) of all targets t before the first -1 and classes k that are none; PyTorch's decomposition takes the
    places from the -1 on for targets."""
    flat, zero = rank(x) < 2, op.Constant(value_int=0)
    count = extent(x, -1) if rank(x) else op.Constant(value_int=1)
    x, target = (op.Reshape(v, ints(1, -1)) if flat else v for v in (x, target))
    places, none = counting(count), op.Constant(value_int=-1)
    end = op.ReduceMin(op.Where(op.Equal(target, none), places, count), ints(1), keepdims=1)
    valid = op.Less(places, end)
    equal = op.Equal(op.Unsqueeze(op.Where(valid, target, none), ints(2)), places)
    free = op.Not(op.Cast(op.ReduceMax(op.Cast(equal, to=INT64), ints(1), keepdims=1), to=BOOL))
    at = op.GatherElements(x, op.Where(valid, target, zero), axis=1)
    apart = op.Sub(op.Unsqueeze(at, ints(2)), op.Unsqueeze(x, ints(1)))
    margin = op.Sub(full_like(x, 1), apart)
    nothing = full_like(x, 0)
    counts = op.And(op.And(op.Unsqueeze(valid, ints(2)), free), op.Greater(margin, nothing))
    y = op.ReduceSum(op.Where(counts, margin, nothing), ints(1, 2), keepdims=0)
    y = op.Div(y, op.CastLike(count, x))
    if reduction == 0:
        return op.Squeeze(y, ints(0)) if flat else y
    return (op.ReduceMean if reduction == 1 else op.ReduceSum)(y, ints(0), keepdims=0)


def logit(x: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x no nearer to 0 or 1 than `eps`; NaN stays."""
    one = full_like(x, 1)
    if eps is not None:
        low, high = full_like(x, eps), full_like(x, 1 - eps)
        x = op.Where(op.Less(x, low), low, op.Where(op.Greater(x, high), high, x))
    return op.Log(op.Div(x, op.Sub(one, x)))


def heaviside(x: Any, at_zero: Any) -> Any:
    """0 of NaN."""
    zero = full_like(x, 0)
    return op.Where(op.Equal(x, zero), at_zero, op.CastLike(op.Greater(x, zero), x))


def atan2(y: Any, x: Any) -> Any:
    """By the quotient of the smaller by the greater, in the half that the signs say, of zeros too."""
    wide, high = op.Abs(x), op.Abs(y)
    great, small = op.Max(wide, high), op.Min(wide, high)
    quotient = op.Div(small, op.Where(op.Equal(great, full_like(x, 0)), full_like(x, 1), great))
    both = op.And(op.IsInf(x), op.IsInf(y))
    angle = op.Atan(op.Where(both, full_like(x, 1), quotient))
    angle = op.Where(op.Greater(high, wide), op.Sub(full_like(x, math.pi / 2), angle), angle)
    angle = op.Where(signbit(x), op.Sub(full_like(x, math.pi), angle), angle)
    return op.Where(signbit(y), op.Neg(angle), angle)


# --- how often -----------------------------------------------------------------------------------------------------------


def mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent of each row, the least of several, and the last place where it stands."""
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)
    dim %= rank(x)
    perm = [*range(rank(x))]
    perm[dim], perm[-1] = perm[-1], perm[dim]
    row = op.Transpose(x, perm=perm)
    by = op.Cast(row, to=INT64) if x.dtype.value == BOOL else row
    equal = op.Equal(op.Unsqueeze(by, ints(-1)), op.Unsqueeze(by, ints(-2)))
    often = op.ReduceSum(op.Cast(equal, to=INT64), ints(-1), keepdims=0)
    is_most = op.Equal(often, op.ReduceMax(often, ints(-1), keepdims=1))
    floats = x.dtype.is_floating_point()
    behind = full_like(x, math.inf) if floats else op.ReduceMax(by, ints(-1), keepdims=1)
    value = op.ReduceMin(op.Where(is_most, by, behind), ints(-1), keepdims=1)
    is_there = op.Equal(by, value)
    if floats:  # a NaN equals none, so it is the value where there is nothing else
        is_there = op.Or(is_there, op.And(op.IsNaN(by), op.IsNaN(value)))
    here = op.Where(is_there, counting(extent(x, dim)), op.Constant(value_int=-1))
    place = op.ReduceMax(here, ints(-1), keepdims=1)
    value, place = op.Transpose(value, perm=perm), op.Transpose(place, perm=perm)
    if not keepdim:
        value, place = op.Squeeze(value, ints(dim)), op.Squeeze(place, ints(dim))
    return op.CastLike(value, x), place


# --- bags of embeddings --------------------------------------------------------------------------------------------------

SUM, MEAN, MAX = range(3)


def embedding_bag(
    table: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Rows of the table, summed, averaged or the largest of each bag; those of the padding are in none. Empty bags are zeros."""
    indices, offsets = op.Cast(indices, to=INT64), op.Cast(offsets, to=INT64)
    if include_last_offset:
        offsets = op.Slice(offsets, ints(0), ints(-1), ints(0))
    bag = op.Sub(reached(op.Size(indices), offsets), op.Constant(value_int=1))
    counted = op.Expand(op.Constant(value_ints=[1]), op.Shape(indices))
    rows = op.Gather(table, indices)
    if weights is not None:
        rows = op.Mul(rows, op.Unsqueeze(weights, ints(1)))
    if padding_idx is not None and padding_idx >= 0:
        is_padding = op.Equal(indices, op.Constant(value_int=padding_idx))
        counted = op.Where(is_padding, ints(0), counted)
        nothing = full_like(table, -math.inf if mode == MAX else 0)
        rows = op.Where(op.Unsqueeze(is_padding, ints(1)), nothing, rows)
    at, bags = op.Unsqueeze(bag, ints(1)), op.Shape(offsets)
    none = op.Expand(ints(0), bags)
    count = op.ScatterND(none, at, counted, reduction="add")
    shape = op.Concat(bags, op.Shape(table, start=1), axis=0)
    start = op.Expand(full_like(table, -math.inf if mode == MAX else 0), shape)
    y = op.ScatterND(start, at, rows, reduction="max" if mode == MAX else "add")
    if mode == MEAN:
        share = op.CastLike(op.Max(count, op.Constant(value_int=1)), table)
        y = op.Div(y, op.Unsqueeze(share, ints(1)))
    if mode == MAX:
        is_empty = op.Unsqueeze(op.Equal(count, ints(0)), ints(1))
        y = op.Where(is_empty, full_like(table, 0), y)
    return y, bag, count, count


def embedding_bag_padded(table: Any, *given: Any) -> Any:
    """The overload with a padding, which is counted from the end where it is negative; of the operator below it -1 is none."""
    *rest, padding_idx = given
    if isinstance(padding_idx, int) and padding_idx < 0:
        padding_idx += table.shape[0]
    return embedding_bag(table, *[*rest, padding_idx])
