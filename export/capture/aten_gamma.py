"""Translations of the incomplete gamma functions, Hurwitz's zeta, and the normal distribution's inverse, which torch.onnx lacks."""

from __future__ import annotations

import math
from typing import Any, Final

from .aten import FLOAT, ints, op
from .aten_bessel import TERMS
from .aten_integers import promoted
from .aten_loops import anywhere, loop, loop_while
from .aten_special import erfcx, erfinv, horner, in_f32, lgamma, log1p, log_ndtr, real

STEPS: Final = 2000
"""Terms of a series or fraction, of which PyTorch takes no more."""
EPSILON: Final = 2e-7
"""Of the value, below which a change of it is left out."""


@promoted
def zeta(s: Any, x: Any) -> Any:
    """The sum of (x + k)^-s over k from 0 on. Below 0 the terms on both sides of 0 are sums from there on, as in `aten_bessel`."""
    zero, one = real(0.0), real(1.0)
    x, s = _spread(x, s)
    below, low, high = op.LessOrEqual(x, zero), op.Floor(x), op.Ceil(x)
    starts = op.Where(below, op.Sub(x, low), x), op.Sub(high, x), op.Sub(one, x)
    starts = (starts[0], *(op.Where(below, start, one) for start in starts[1:]))
    sums = _zeta_above(s, op.Concat(*(op.Unsqueeze(x, ints(0)) for x in starts), axis=0))
    y, before, past = (op.Gather(sums, op.Constant(value_int=k), axis=0) for k in range(3))
    half = op.Mul(s, real(0.5))
    apart = op.Sub(before, past)
    apart = op.Where(op.Equal(half, op.Floor(half)), apart, op.Neg(apart))
    is_whole = op.Equal(s, op.Floor(s))
    y = op.Where(below, op.Where(is_whole, op.Add(y, apart), real(math.nan)), y)
    y = op.Where(op.And(below, op.Equal(x, low)), real(math.inf), y)
    y = op.Where(op.Less(s, one), real(math.nan), y)
    return op.Where(op.Equal(s, one), real(math.inf), y)


def _zeta_above(s: Any, x: Any) -> Any:
    """From 0 on: terms up to 10, the rest by Euler and Maclaurin."""
    zero, one, most = real(0.0), real(1.0), real(10.0)

    def step(i: Any, z: Any, total: Any) -> Any:
        is_short = op.Less(z, most)
        term = op.Where(is_short, op.Pow(z, op.Neg(s)), zero)
        return op.Where(is_short, op.Add(z, one), z), op.Add(total, term)

    z, total = loop(op.Constant(value_int=10), (x, op.Sub(x, x)), step)
    return op.Add(total, _rest(s, z))


def _rest(s: Any, z: Any) -> Any:
    """The sum from z on, at least 10."""
    one, inverse = real(1.0), op.Reciprocal(z)
    power = op.Pow(z, op.Neg(s))
    rest = op.Add(op.Div(op.Mul(power, z), op.Sub(s, one)), op.Mul(power, real(0.5)))
    factor = op.Mul(op.Mul(power, inverse), s)
    square = op.Mul(inverse, inverse)
    for j, b in enumerate(TERMS):
        rest = op.Add(rest, op.Mul(factor, real(b)))
        rising = op.Mul(op.Add(s, real(2.0 * j + 1)), op.Add(s, real(2.0 * j + 2)))
        factor = op.Mul(op.Mul(factor, rising), square)
    return rest


def _spread(a: Any, b: Any) -> Any:
    """Both in the shape that they broadcast to."""
    either = op.Or(op.IsNaN(a), op.IsNaN(b))
    nothing = op.Mul(op.Cast(either, to=FLOAT), real(0.0))
    return op.Add(a, nothing), op.Add(b, nothing)


def _incomplete(upper: bool) -> Any:
    """The part of gamma(a) that lies below x, or above it."""

    def function(a: Any, x: Any) -> Any:
        zero, one = real(0.0), real(1.0)
        a, x = _spread(a, x)
        is_plain = op.And(
            op.And(op.Greater(a, zero), op.Greater(x, zero)),
            op.Not(op.Or(op.IsInf(a), op.IsInf(x))),
        )
        b, y = (op.Where(is_plain, v, one) for v in (a, x))
        is_low = op.Less(y, op.Add(b, one))
        factor = _density(b, y)
        low = op.Mul(op.Div(factor, b), _series(b, op.Where(is_low, y, one)))
        high = op.Mul(factor, _fraction(b, op.Where(is_low, op.Add(b, one), y)))
        near, far = (high, low) if upper else (low, high)
        is_near = op.Not(is_low) if upper else is_low
        value = op.Where(is_near, near, op.Sub(one, far))
        return op.Where(is_plain, value, _at_ends(a, x, upper))

    return promoted(function)


def _at_ends(a: Any, x: Any, upper: bool) -> Any:
    """Where one of them is 0, infinite, below 0 or NaN, of which PyTorch looks at the first that it comes to."""
    zero, one, nan = real(0.0), real(1.0), real(math.nan)
    none, whole = (one, zero) if upper else (zero, one)
    y = op.Where(op.IsInf(x), whole, nan)
    y = op.Where(op.IsInf(a), op.Where(op.IsInf(x), nan, none), y)
    y = op.Where(op.Equal(x, zero), none, y)
    y = op.Where(op.Equal(a, zero), op.Where(op.Greater(x, zero), whole, nan), y)
    return op.Where(op.Or(op.Less(a, zero), op.Less(x, zero)), nan, y)


def _density(a: Any, x: Any) -> Any:
    """x^a exp(-x) / gamma(a); from 8 on by Stirling's series, about x = a, where logarithms of both would cancel."""
    one = real(1.0)
    small = op.Sub(op.Sub(op.Mul(a, op.Log(x)), x), lgamma(a))
    share = op.Div(op.Sub(x, a), a)
    apart = op.Mul(a, op.Sub(log1p(share), share))
    inverse = op.Reciprocal(a)
    series = op.Mul(inverse, horner(op.Mul(inverse, inverse), [1 / 12, -1 / 360, 1 / 1260]))
    large = op.Mul(op.Sqrt(op.Mul(a, real(0.5 / math.pi))), op.Exp(op.Sub(apart, series)))
    return op.Where(op.Less(op.Max(a, one), real(8.0)), op.Exp(small), large)


def _series(a: Any, x: Any) -> Any:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) .., x below a + 1."""

    def step(i: Any, term: Any, total: Any) -> Any:
        place = op.Add(a, op.Cast(op.Add(i, op.Constant(value_int=1)), to=FLOAT))
        term = op.Div(op.Mul(term, x), place)
        total = op.Add(total, term)
        goes_on = op.Greater(term, op.Mul(total, real(EPSILON / 10)))
        return anywhere(goes_on), term, total

    one = op.Add(op.Sub(x, x), real(1.0))
    return loop_while(op.Constant(value_int=STEPS), (one, one), step)[1]


def _fraction(a: Any, x: Any) -> Any:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ..)), x from a + 1 on, by Lentz's way."""
    one, two = real(1.0), real(2.0)

    def step(i: Any, b: Any, c: Any, d: Any, y: Any) -> Any:
        k = op.Cast(op.Add(i, op.Constant(value_int=1)), to=FLOAT)
        by = op.Mul(k, op.Sub(a, k))
        b = op.Add(b, two)
        d = op.Reciprocal(op.Add(op.Mul(by, d), b))
        c = op.Add(b, op.Div(by, c))
        change = op.Mul(d, c)
        goes_on = op.Greater(op.Abs(op.Sub(change, one)), real(EPSILON))
        return anywhere(goes_on), b, c, d, op.Where(goes_on, op.Mul(y, change), y)

    b = op.Sub(op.Add(x, one), a)
    start = op.Reciprocal(b)
    far = op.Add(op.Sub(x, x), real(1e30))
    return loop_while(op.Constant(value_int=STEPS), (b, far, start, start), step)[3]


igamma: Final = _incomplete(False)
igammac: Final = _incomplete(True)


@in_f32
def ndtri(p: Any) -> Any:
    """By erfinv in the middle; at the ends by A&S 26.2.23 and two of Newton's steps for the logarithm."""
    zero, one = real(0.0), real(1.0)
    least = op.Min(p, op.Sub(one, p))
    size = op.Log(op.Max(least, real(1e-45)))
    z = op.Sqrt(op.Mul(size, real(-2.0)))
    top, bottom = [2.515517, 0.802853, 0.010328], [1.0, 1.432788, 0.189269, 0.001308]
    y = op.Sub(z, op.Div(horner(z, top), horner(z, bottom)))
    for _ in range(2):
        slope = op.Mul(erfcx(op.Mul(y, real(math.sqrt(0.5)))), real(math.sqrt(math.pi / 2)))
        y = op.Add(y, op.Mul(op.Sub(log_ndtr(op.Neg(y)), size), slope))
    end = op.Where(op.Less(p, real(0.5)), op.Neg(y), y)
    middle = op.Mul(erfinv(op.Sub(op.Add(p, p), one)), real(math.sqrt(2.0)))
    y = op.Where(op.Less(least, real(0.1)), end, middle)
    y = op.Where(op.Equal(p, zero), real(-math.inf), op.Where(op.Equal(p, one), real(math.inf), y))
    return op.Where(op.Or(op.Less(p, zero), op.Greater(p, one)), real(math.nan), y)


TRANSLATED: Final = {
    "special_zeta.default": zeta,
    "special_zeta.self_scalar": zeta,
    "special_zeta.other_scalar": zeta,
    "igamma.default": igamma,
    "special_gammainc.default": igamma,
    "igammac.default": igammac,
    "special_gammaincc.default": igammac,
    "special_ndtri.default": ndtri,
}
