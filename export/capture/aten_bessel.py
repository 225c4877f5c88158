"""Translations of Bessel's functions, of derivatives of digamma, and of floats taken apart, which torch.onnx lacks.

Coefficients were fitted at Chebyshev's points to PyTorch's functions in f64; each says how near.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from .aten import INT32, full_like, op
from .aten_special import digamma, in_f32, real

I0_NEAR: Final = [
    *(0.338397637, -0.304682672, 0.171620902, -0.094901097, 0.0493052842, -0.0237374148),
    *(0.0105464604, -0.00432431, 0.00163947562, -0.000576375575, 0.000188502885, -5.75419501e-05),
    *(1.64484481e-05, -4.41673836e-06, 1.11738754e-06, -2.67079385e-07, 6.04699503e-08, -1.30002502e-08),
]  # fmt: skip
"""exp(-x) i0(x), 0 to 8, within 2e-8 of it."""
I0_FAR: Final = [
    *(0.402245206, 0.00336911648, 6.88975835e-05, 2.89137052e-06, 2.04891859e-07, 2.26666899e-08),
    *(3.39623203e-09, 4.94060245e-10, 1.18891456e-11),
]
"""The same times sqrt(x), over 8 / x, within 2e-10."""
I1_NEAR: Final = [
    *(0.126293593, -0.176416518, 0.102643659, -0.0529459812, 0.024726449, -0.0105640849),
    *(0.00415642294, -0.00151357245, 0.000512285956, -0.000161760816, 4.78156511e-05, -1.32731637e-05),
    *(3.47025131e-06, -8.56872027e-07, 2.00329475e-07, -4.44505913e-08, 9.3815374e-09, -1.88724972e-09),
]  # fmt: skip
"""exp(-x) i1(x) / x, 0 to 8, within 4e-9."""
I1_FAR: Final = [
    *(0.389288118, -0.00976109749, -0.000110588939, -3.88256481e-06, -2.51223624e-07),
    *(-2.63146885e-08, -3.83538039e-09, -5.58974346e-10),
]
"""exp(-x) i1(x) sqrt(x), over 8 / x, within 1e-10."""


def chebyshev(t: Any, coefficients: Sequence[float]) -> Any:
    """Clenshaw's sum, t from -1 to 1."""
    twice = op.Add(t, t)
    a, b = op.Sub(t, t), op.Sub(t, t)
    for c in reversed(coefficients[1:]):
        a, b = op.Add(op.Sub(op.Mul(twice, a), b), real(c)), a
    return op.Add(op.Sub(op.Mul(t, a), b), real(coefficients[0]))


def _scaled(size: Any, near: Sequence[float], far: Sequence[float], odd: bool) -> Any:
    """exp(-|x|) times the function, of |x|."""
    low = op.Min(size, real(8.0))
    y = chebyshev(op.Sub(op.Mul(low, real(0.25)), real(1.0)), near)
    y = op.Mul(y, size) if odd else y
    high = op.Max(size, real(8.0))
    z = chebyshev(op.Sub(op.Div(real(16.0), high), real(1.0)), far)
    return op.Where(op.Greater(size, real(8.0)), op.Div(z, op.Sqrt(high)), y)


def _bessel(near: Sequence[float], far: Sequence[float], odd: bool, is_scaled: bool) -> Any:
    def function(x: Any) -> Any:
        size = op.Abs(x)
        y = _scaled(size, near, far, odd)
        y = op.Mul(y, op.Sign(x)) if odd else y
        if is_scaled:
            return y
        return op.Mul(y, op.Exp(size))  # infinite from 88.8 on, as PyTorch has it

    return in_f32(function)


i0: Final = _bessel(I0_NEAR, I0_FAR, False, False)
i0e: Final = _bessel(I0_NEAR, I0_FAR, False, True)
i1: Final = _bessel(I1_NEAR, I1_FAR, True, False)
i1e: Final = _bessel(I1_NEAR, I1_FAR, True, True)

STEPS: Final = 10
"""Terms of the sum up to 10, from 0 on."""
TERMS: Final = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)
"""Bernoulli numbers by factorials, of Euler and Maclaurin's sum."""


def polygamma(n: int, x: Any) -> Any:
    """(-1)^(n + 1) n! sum of (x + k)^(-n - 1) over k from 0 on; digamma for 0."""
    if n == 0:
        return digamma(x)
    if n == 1:
        return in_f32(_trigamma)(x)
    sign = 1.0 if n % 2 else -1.0
    return in_f32(lambda v: op.Mul(_zeta(v, n + 1), real(sign * math.factorial(n))))(x)


def _trigamma(x: Any) -> Any:
    """By reflection below 1/2, with the sine of the rounded product, as PyTorch has it at whole numbers too."""
    below = op.Less(x, real(0.5))
    sine = op.Sin(op.Mul(x, real(math.pi)))
    y = _zeta_above(op.Where(below, op.Sub(real(1.0), x), x), 2)
    return op.Where(below, op.Sub(op.Div(real(math.pi**2), op.Mul(sine, sine)), y), y)


def _zeta(x: Any, s: int) -> Any:
    """The sum of (x + k)^-s. Below 0 the terms on both sides of 0 are sums from there on, the second without what comes before x;
    infinite at 0 and whole numbers below it."""
    zero, one = real(0.0), real(1.0)
    below, low, high = op.LessOrEqual(x, zero), op.Floor(x), op.Ceil(x)
    from_low = _zeta_above(op.Where(below, op.Sub(x, low), x), s)
    other = op.Sub(
        _zeta_above(op.Where(below, op.Sub(high, x), one), s),
        _zeta_above(op.Where(below, op.Sub(one, x), one), s),
    )
    both = op.Sub(from_low, other) if s % 2 else op.Add(from_low, other)
    y = op.Add(op.Where(below, both, from_low), op.Sub(x, x))  # NaN of infinity, as PyTorch has it
    return op.Where(op.And(below, op.Equal(x, low)), real(math.inf), y)


def _zeta_above(x: Any, s: int) -> Any:
    """From 0 on: terms up to 10, the rest by Euler and Maclaurin."""
    z, total = x, real(0.0)
    for _ in range(STEPS):
        is_short = op.Less(z, real(10.0))
        total = op.Add(total, op.Where(is_short, _inverse(z, s), real(0.0)))
        z = op.Where(is_short, op.Add(z, real(1.0)), z)
    rest = op.Add(op.Mul(_inverse(z, s - 1), real(1 / (s - 1))), op.Mul(_inverse(z, s), real(0.5)))
    rising = float(s)
    for j, b in enumerate(TERMS):
        rest = op.Add(rest, op.Mul(_inverse(z, s + 2 * j + 1), real(b * rising)))
        rising *= (s + 2 * j + 1) * (s + 2 * j + 2)
    return op.Add(total, rest)


def _inverse(z: Any, s: int) -> Any:
    y, power = None, op.Reciprocal(z)
    while s:
        if s % 2:
            y = power if y is None else op.Mul(y, power)
        power, s = op.Mul(power, power), s // 2
    return y


STEPS_OF: Final = {
    "FLOAT16": (8, 8, 8, 4, 2, 1),
    "DOUBLE": (64, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1),
}
"""Powers of two that any float of the type is brought to 1 .. 2 by, the smallest that have fewer digits too; f32 and bf16 have others."""


def frexp(x: Any) -> tuple[Any, Any]:
    """A mantissa of at least 1/2 and less than 1, and the power of two that it is to be multiplied by."""
    size, zero, one = op.Abs(x), full_like(x, 0), full_like(x, 1)
    is_other = op.Or(op.Or(op.Equal(size, zero), op.IsNaN(x)), op.IsInf(x))
    y = op.Where(is_other, one, size)
    power = op.Cast(op.Sub(y, y), to=INT32)
    steps = STEPS_OF.get(x.dtype.name, (64, 64, 32, 16, 8, 4, 2, 1))
    for k in steps:
        is_large = op.GreaterOrEqual(y, full_like(x, 2.0**k))
        y = op.Where(is_large, op.Mul(y, full_like(x, 2.0**-k)), y)
        power = op.Add(
            power, op.Mul(op.Cast(is_large, to=INT32), op.Cast(op.Constant(value_int=k), to=INT32))
        )
    for k in steps:
        is_small = op.Less(y, full_like(x, 2.0 ** (1 - k)))
        y = op.Where(is_small, op.Mul(y, full_like(x, 2.0**k)), y)
        power = op.Sub(
            power, op.Mul(op.Cast(is_small, to=INT32), op.Cast(op.Constant(value_int=k), to=INT32))
        )
    half = op.Mul(op.Mul(y, full_like(x, 0.5)), op.Sign(x))
    whole = op.Cast(op.Constant(value_int=1), to=INT32)
    none = op.Cast(op.Constant(value_int=0), to=INT32)
    return op.Where(is_other, x, half), op.Where(is_other, none, op.Add(power, whole))


SPACING: Final = {
    "FLOAT": (2.0**-23, 2.0**-149, (2 - 2.0**-23) * 2.0**127),
    "FLOAT16": (2.0**-10, 2.0**-24, 65504.0),
    "BFLOAT16": (2.0**-7, 2.0**-133, (2 - 2.0**-7) * 2.0**127),
    "DOUBLE": (2.0**-52, 5e-324, (2 - 2.0**-52) * 2.0**1023),
}
"""Of a type's floats: between those from 1 on, the least of all, and the largest."""


def nextafter(x: Any, other: Any) -> Any:
    """The float beside `x` on the way to `other`: by the power of two that is not above it."""
    share, least, most = (full_like(x, n) for n in SPACING[x.dtype.name])
    zero, two = full_like(x, 0), full_like(x, 2)
    size = op.Abs(x)
    half = op.Abs(frexp(x)[0])
    is_finite = op.Not(op.Or(op.IsInf(x), op.Equal(x, zero)))
    power = op.Div(size, op.Mul(op.Where(is_finite, half, full_like(x, 1)), two))
    step = op.Max(op.Mul(power, share), least)
    lower = op.Where(op.Equal(half, full_like(x, 0.5)), op.Div(step, two), step)
    inward = op.Sub(size, op.Max(lower, least))
    inward = op.Where(op.IsInf(x), most, inward)
    is_below, falls = op.Less(x, zero), op.Less(other, x)
    y = op.Where(op.Xor(falls, is_below), inward, op.Add(size, step))
    y = op.Where(is_below, op.Neg(y), y)
    y = op.Where(op.Equal(x, zero), op.Where(falls, op.Neg(least), least), y)
    y = op.Where(op.Equal(x, other), other, y)
    return op.Where(op.Or(op.IsNaN(x), op.IsNaN(other)), op.Add(x, other), y)
