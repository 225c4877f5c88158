"""Translations of Bessel's functions of the first and second kind and Airy's, which torch.onnx lacks.

Coefficients were fitted at Chebyshev's points to SciPy's functions in f64; each says how near.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from .aten import op
from .aten_bessel import chebyshev, i0, i1
from .aten_special import in_f32, real

J0_NEAR: Final = [
    *(0.157727972, -0.00872344244, 0.265178621, -0.370094985, 0.158067107, -0.0348937698),
    *(0.00481917989, -0.000460626179, 3.24603279e-05, -1.76194692e-06, 7.60816334e-08),
]
"""j0, 0 to 8, over x^2, within 3e-09."""
J1_NEAR: Final = [
    *(0.0810448453, -0.148975149, 0.160999268, -0.0826804936, 0.0222136397, -0.00364694069),
    *(0.000405033759, -3.25555484e-05, 1.98587736e-06, -9.52198462e-08, 3.68713371e-09),
]
"""j1(x) / x, 0 to 8, over x^2, within 1e-10."""
Y0_NEAR: Final = [
    *(-0.0331461132, -0.274474293, 0.179034308, 0.261567354, -0.177302018, 0.04719669),
    *(
        -0.00728796236,
        0.000753113593,
        -5.63207905e-05,
        3.20653248e-06,
        -1.44072331e-07,
        5.24879473e-09,
    ),
]
"""y0(x) - 2 / pi log(x) j0(x), 0 to 8, over x^2, within 2e-10."""
Y1_NEAR: Final = [
    *(0.00253801327, -0.0160871726, -0.0959120467, 0.0844519734, -0.0283281244, 0.00528989732),
    *(-0.000641455117, 5.5059827e-05, -3.53807991e-06, 1.7707805e-07, -7.11054993e-09),
]
"""(y1(x) - 2 / pi (log(x) j1(x) - 1 / x)) / x, 0 to 8, over x^2, within 2e-10."""
P0_FAR: Final = [
    *(0.99946034, -0.000536522071, 3.07518485e-06, -5.17059462e-08),
]
"""The part of j0 sqrt(pi x / 2) that is beside the cosine of x - 1 pi / 4, over (8 / x)^2, within 2e-09."""
Q0_FAR: Final = [
    *(-0.0155558549, 6.83851977e-05, -7.41449924e-07),
]
"""The part beside the sine, by x / 8, over (8 / x)^2, within 3e-08."""
P1_FAR: Final = [
    *(1.00090301, 0.000898989849, -3.98728434e-06, 6.17763405e-08),
]
"""The part of j1 sqrt(pi x / 2) that is beside the cosine of x - 3 pi / 4, over (8 / x)^2, within 2e-09."""
Q1_FAR: Final = [
    *(0.0467777885, -9.62772319e-05, 9.13861584e-07, -2.0959833e-08),
]
"""The part beside the sine, by x / 8, over (8 / x)^2, within 4e-08."""
K0_NEAR: Final = [
    *(-0.267663687, 0.344289899, 0.0359799378, 0.00126461545, 2.28621211e-05, 2.53479101e-07),
]
"""k0(x) + log(x / 2) i0(x), 0 to 2, over x^2, within 2e-09."""
K1_NEAR: Final = [
    *(0.762650132, -0.353155971, -0.12261118, -0.0069757239, -0.000173028893, -2.43340605e-06),
    *(-2.2133877e-08,),
]
"""x (k1(x) - log(x / 2) i1(x)), 0 to 2, over x^2, within 1e-10."""
K0_FAR: Final = [
    *(1.22015154, -0.0314480998, 0.0015698839, -0.000128495492, 1.39498134e-05, -1.83175553e-06),
    *(2.76681362e-07, -4.66048995e-08, 8.57403393e-09),
]
"""exp(x) k0(x) sqrt(x), from 2, over 4 / x - 1, within 2e-09."""
K1_FAR: Final = [
    *(1.36031306, 0.103923738, -0.00285781687, 0.000195215514, -1.93619799e-05, 2.40648501e-06),
    *(-3.50196046e-07, 5.74108405e-08, -1.03457625e-08),
]
"""exp(x) k1(x) sqrt(x), from 2, over 4 / x - 1, within 3e-09."""
AIRY_NEAR: Final = [
    *(0.0902741402, 0.292497218, -0.186750993, -0.193608001, 0.15721637, -0.00447928486),
    *(-0.0293353777, 0.00952997524, 0.000917402795, -0.00120380358, 0.000214080253, 4.07377047e-05),
    *(
        -2.29238321e-05,
        2.37475388e-06,
        7.30460386e-07,
        -2.5112837e-07,
        1.42118761e-08,
        7.45244044e-09,
    ),
]
"""ai(x), -4 to 1, over (x + 1.5) / 2.5, within 2e-09."""
AIRY_ABOVE: Final = [
    *(0.963768363, -0.032416001, 0.00319412397, -0.000494225416, 9.70651818e-05, -2.22444451e-05),
    *(
        5.69483882e-06,
        -1.58683974e-06,
        4.73116103e-07,
        -1.49146786e-07,
        4.92820114e-08,
        -1.69559495e-08,
    ),
    *(6.04332406e-09, -2.22208607e-09),
]
"""2 sqrt(pi) exp(2/3 x^1.5) x^(1/4) ai(x), from 1, over 2 / x^1.5 - 1, within 1e-07."""
AIRY_P: Final = [
    *(0.999370873, -0.000621683663, 7.18119372e-06, -2.31626984e-07),
]
"""The part of ai(-x) sqrt(pi) x^(1/4) that is beside sin(2/3 x^1.5 + pi/4), x from 4, over (8 / x^1.5)^2, within 1e-08."""
AIRY_Q: Final = [
    *(0.0129040694, -0.000114171598, 2.47015305e-06, -1.12763622e-07),
]
"""The part beside the cosine, negative, by x^1.5 / 8, over the same, within 9e-09."""


def _over_square(x: Any, most: float, coefficients: Sequence[float]) -> Any:
    """Of x up to `most`, which a larger one is taken for."""
    low = op.Min(x, real(most))
    t = op.Sub(op.Mul(op.Mul(low, low), real(2 / most**2)), real(1.0))
    return chebyshev(t, coefficients)


def _wave(size: Any, p: Sequence[float], q: Sequence[float], order: int, second: bool) -> Any:
    """sqrt(2 / (pi x)) (P cos(a) - Q sin(a)), of the second kind (P sin(a) + Q cos(a)): a = x - (2 order + 1) pi / 4, x from 8."""
    share = op.Div(real(8.0), op.Max(size, real(8.0)))
    t = op.Sub(op.Mul(op.Mul(share, share), real(2.0)), real(1.0))
    cosine, sine, half = op.Cos(size), op.Sin(size), real(math.sqrt(0.5))
    total = op.Mul(op.Add(sine, cosine), half)
    apart = op.Mul(op.Sub(sine, cosine), half)
    # cos(a) and sin(a), of order 0 and 1
    cosine, sine = (total, apart) if order == 0 else (apart, op.Neg(total))
    beside = chebyshev(t, p), op.Mul(share, chebyshev(t, q))
    if second:
        y = op.Add(op.Mul(beside[0], sine), op.Mul(beside[1], cosine))
    else:
        y = op.Sub(op.Mul(beside[0], cosine), op.Mul(beside[1], sine))
    return op.Mul(y, op.Sqrt(op.Div(real(2 / math.pi), op.Max(size, real(8.0)))))


def _j0(x: Any) -> Any:
    size = op.Abs(x)
    near = _over_square(size, 8.0, J0_NEAR)
    far = _wave(size, P0_FAR, Q0_FAR, 0, False)
    return op.Where(op.Less(size, real(8.0)), near, far)


def _j1(x: Any) -> Any:
    size = op.Abs(x)
    near = op.Mul(size, _over_square(size, 8.0, J1_NEAR))
    far = _wave(size, P1_FAR, Q1_FAR, 1, False)
    return op.Mul(op.Sign(x), op.Where(op.Less(size, real(8.0)), near, far))


def _from_zero(x: Any, y: Any, at_zero: float) -> Any:
    """NaN below 0."""
    y = op.Where(op.Equal(x, real(0.0)), real(at_zero), y)
    return op.Where(op.Less(x, real(0.0)), real(math.nan), y)


def _y0(x: Any) -> Any:
    logarithm = op.Mul(op.Mul(op.Log(x), real(2 / math.pi)), _j0(x))
    near = op.Add(logarithm, _over_square(x, 8.0, Y0_NEAR))
    far = _wave(x, P0_FAR, Q0_FAR, 0, True)
    return _from_zero(x, op.Where(op.Less(x, real(8.0)), near, far), -math.inf)


def _y1(x: Any) -> Any:
    inverse = op.Sub(op.Mul(op.Log(x), _j1(x)), op.Reciprocal(x))
    rest = op.Mul(x, _over_square(x, 8.0, Y1_NEAR))
    near = op.Add(op.Mul(inverse, real(2 / math.pi)), rest)
    far = _wave(x, P1_FAR, Q1_FAR, 1, True)
    return _from_zero(x, op.Where(op.Less(x, real(8.0)), near, far), -math.inf)


def _k0(x: Any) -> Any:
    logarithm = op.Mul(op.Log(op.Mul(x, real(0.5))), i0(x))
    return op.Sub(_over_square(x, 2.0, K0_NEAR), logarithm)


def _k1(x: Any) -> Any:
    logarithm = op.Mul(op.Log(op.Mul(x, real(0.5))), i1(x))
    return op.Add(op.Div(_over_square(x, 2.0, K1_NEAR), x), logarithm)


def _decaying(near: Callable[[Any], Any], far: Sequence[float], is_scaled: bool) -> Any:
    """Of the second kind, modified; scaled by exp(x)."""

    def function(x: Any) -> Any:
        low, high = op.Min(x, real(2.0)), op.Max(x, real(2.0))
        t = op.Sub(op.Div(real(4.0), high), real(1.0))
        z = op.Div(chebyshev(t, far), op.Sqrt(high))
        power = op.Exp(x if is_scaled else op.Neg(x))
        y, z = (op.Mul(near(low), power), z) if is_scaled else (near(low), op.Mul(z, power))
        y = op.Where(op.LessOrEqual(x, real(2.0)), y, z)
        return _from_zero(x, y, math.inf)

    return in_f32(function)


def _airy(x: Any) -> Any:
    middle = chebyshev(
        op.Div(op.Add(op.Max(op.Min(x, real(1.0)), real(-4.0)), real(1.5)), real(2.5)), AIRY_NEAR
    )
    high = op.Max(x, real(1.0))
    root = op.Sqrt(high)
    power = op.Mul(high, root)
    above = chebyshev(op.Sub(op.Div(real(2.0), power), real(1.0)), AIRY_ABOVE)
    above = op.Mul(above, op.Exp(op.Mul(power, real(-2 / 3))))
    above = op.Mul(op.Div(above, op.Sqrt(root)), real(0.5 / math.sqrt(math.pi)))
    y = op.Where(op.Less(x, real(-4.0)), _airy_wave(op.Neg(x)), middle)
    y = op.Where(op.Greater(x, real(1.0)), above, y)
    return op.Add(y, op.Sub(x, x))  # NaN of an infinity, as PyTorch has it


def _airy_wave(size: Any) -> Any:
    """ai(-x), x from 4, by P sin(a) - Q cos(a), a = 2/3 x^1.5 + pi / 4."""
    size = op.Max(size, real(4.0))
    root = op.Sqrt(size)
    power = op.Mul(size, root)
    share = op.Div(real(8.0), power)
    t = op.Sub(op.Mul(op.Mul(share, share), real(2.0)), real(1.0))
    angle = op.Add(op.Mul(power, real(2 / 3)), real(math.pi / 4))
    p, q = chebyshev(t, AIRY_P), op.Mul(share, chebyshev(t, AIRY_Q))
    y = op.Sub(op.Mul(p, op.Sin(angle)), op.Mul(q, op.Cos(angle)))
    return op.Mul(op.Div(y, op.Sqrt(root)), real(1 / math.sqrt(math.pi)))


def _spherical(x: Any) -> Any:
    """sin(x) / x, the series where that is 0 / 0; 0 of an infinity."""
    square = op.Mul(x, x)
    series = op.Sub(real(1.0), op.Mul(square, real(1 / 6)))
    y = op.Where(op.Less(op.Abs(x), real(0.01)), series, op.Div(op.Sin(x), x))
    return op.Where(op.IsInf(x), real(0.0), y)


TRANSLATED: Final = {
    f"special_{name}.default": function
    for name, function in {
        "bessel_j0": in_f32(_j0),
        "bessel_j1": in_f32(_j1),
        "bessel_y0": in_f32(_y0),
        "bessel_y1": in_f32(_y1),
        "modified_bessel_i0": i0,
        "modified_bessel_i1": i1,
        "modified_bessel_k0": _decaying(_k0, K0_FAR, False),
        "modified_bessel_k1": _decaying(_k1, K1_FAR, False),
        "scaled_modified_bessel_k0": _decaying(_k0, K0_FAR, True),
        "scaled_modified_bessel_k1": _decaying(_k1, K1_FAR, True),
        "airy_ai": in_f32(_airy),
        "spherical_bessel_j0": in_f32(_spherical),
    }.items()
}
