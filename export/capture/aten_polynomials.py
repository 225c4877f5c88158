"""Translations of orthogonal polynomials of a degree for each element, which torch.onnx lacks: by their recurrences, in a loop as long as
the largest degree asks for. Source: Abramowitz and Stegun 1964, table 22.7."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from .aten import DOUBLE, FLOAT, INT64, op
from .aten_integers import common, of
from .aten_loops import MOST, anywhere, loop_while

HERMITE_MOST: Final = {FLOAT: 128, DOUBLE: 512}
"""The largest degree for which PyTorch gives a number."""
Step = Callable[[Any, Any, Any, Any], Any]
"""2x or x, k, the polynomials of degree k and k - 1 -> that of degree k + 1; k is a scalar of their dtype."""


def _chebyshev(x: Any, k: Any, q: Any, p: Any) -> Any:
    return op.Sub(op.Mul(op.Add(x, x), q), p)


def _hermite(x: Any, k: Any, q: Any, p: Any) -> Any:
    twice = op.Add(x, x)
    return op.Sub(op.Mul(twice, q), op.Mul(op.Add(k, k), p))


def _hermite_e(x: Any, k: Any, q: Any, p: Any) -> Any:
    return op.Sub(op.Mul(x, q), op.Mul(k, p))


def _laguerre(x: Any, k: Any, q: Any, p: Any) -> Any:
    return _by_degree(k, q, p, lambda both, q: op.Mul(op.Sub(both, x), q))


def _legendre(x: Any, k: Any, q: Any, p: Any) -> Any:
    return _by_degree(k, q, p, lambda both, q: op.Mul(op.Mul(both, x), q))


def _by_degree(k: Any, q: Any, p: Any, front: Callable[[Any, Any], Any]) -> Any:
    """(front of 2k + 1 - k p) / (k + 1)."""
    following = op.Add(k, op.CastLike(op.Constant(value_float=1.0), k))
    return op.Div(op.Sub(front(op.Add(k, following), q), op.Mul(k, p)), following)


def _polynomial(
    first: Callable[[Any], Any],
    step: Step,
    *,
    closed: Callable[..., Any] | None = None,
    shifted: bool = False,
    most: Mapping[int, int] | None = None,
) -> Callable[[Any, Any], Any]:
    """Of what has degree 1, and the recurrence; 0 of a negative degree, NaN of one above `most`.

    Args:
        closed: The polynomial of x in -1 .. 1 without a loop, where the degree is above 6.
        shifted: Of 2 x - 1.
    """

    def translated(x: Any, n: Any) -> Any:
        kind = common(x, n)
        kind = kind if kind.is_floating_point else torch.float32
        inner = torch.float64 if kind == torch.float64 else torch.float32
        dtype = DOUBLE if inner == torch.float64 else FLOAT
        x, n = of(x, inner), _degree(of(n, inner))
        x = op.Add(x, op.Cast(op.Sub(n, n), to=dtype))
        x = op.Sub(op.Add(x, x), _number(1, dtype)) if shifted else x
        if most is not None:
            is_closed = op.Greater(n, op.Constant(value_int=most[dtype]))
        elif closed is not None:
            is_inside = op.LessOrEqual(op.Abs(x), _number(1, dtype))
            is_closed = op.And(is_inside, op.Greater(n, op.Constant(value_int=6)))
        else:
            is_closed = op.Less(n, n)
        y = _degrees(x, op.Where(is_closed, op.Sub(n, n), n), first, step, dtype)
        other = _number(math.nan, dtype) if closed is None else closed(x, n, dtype)
        y = op.Where(is_closed, other, y)
        return of(y, kind) if kind != inner else y

    return translated


def _degree(n: Any) -> Any:
    """Whole numbers of floats; one that i64 has not is below 0, as PyTorch has it on x86."""
    most = op.CastLike(op.Constant(value_float=2.0**63), n)
    is_number = op.Less(op.Abs(n), most)
    return op.Where(is_number, op.Cast(n, to=INT64), op.Constant(value_int=-1))


def _number(value: float, dtype: int) -> Any:
    return op.Cast(op.Constant(value_float=float(value)), to=dtype)


def _degrees(x: Any, n: Any, first: Callable[[Any], Any], step: Step, dtype: int) -> Any:
    """The polynomials of x, each of its degree; none goes on from NaN."""
    zero, one = (op.Constant(value_int=k) for k in (0, 1))

    def advanced(i: Any, p: Any, q: Any) -> tuple[Any, Any, Any]:
        k = op.Add(i, one)
        further = step(x, op.Cast(k, to=dtype), q, p)
        is_short = op.And(op.Less(k, n), op.Not(op.IsNaN(q)))
        return anywhere(is_short), op.Where(is_short, q, p), op.Where(is_short, further, q)

    p = op.Add(op.Sub(x, x), _number(1, dtype))
    # Not so often as n says: an input that decides that would be taken for a size.
    _, q = loop_while(op.Constant(value_int=MOST), (p, first(x)), advanced, (dtype, dtype))
    whole = op.Cast(op.GreaterOrEqual(n, zero), to=dtype)
    return op.Where(op.LessOrEqual(n, zero), whole, q)


def _scaled(a: float, b: float) -> Callable[[Any], Any]:
    """a x + b."""

    def first(x: Any) -> Any:
        y = op.Mul(x, op.CastLike(op.Constant(value_float=a), x))
        return op.Add(y, op.CastLike(op.Constant(value_float=b), x))

    return first


def _wave(function: str, more: float, share: float, up: bool, down: bool) -> Callable[..., Any]:
    """f((n + more) a) / f(share a), of a = acos(x); at 1 and -1 these are 1 or, where `up` and `down` say so, n / share + more / share,
    at -1 with the sign of the power."""
    wave = getattr(op, function)

    def closed(x: Any, n: Any, dtype: int) -> Any:
        one = _number(1, dtype)
        degree = op.Add(op.Cast(n, to=dtype), _number(more, dtype))
        angle = op.Acos(x)
        y = wave(op.Mul(degree, angle))
        y = op.Div(y, wave(op.Mul(angle, _number(share, dtype)))) if share else y
        high = op.Div(degree, _number(share or 1, dtype))
        parity = op.Mod(n, op.Constant(value_int=2))
        sign = op.Sub(one, op.Cast(op.Add(parity, parity), to=dtype))
        y = op.Where(op.Equal(x, one), high if up else one, y)
        return op.Where(op.Equal(x, op.Neg(one)), op.Mul(sign, high) if down else sign, y)

    return closed


CLOSED: Final = {
    "t": (_scaled(1, 0), _wave("Cos", 0, 0, False, False)),
    "u": (_scaled(2, 0), _wave("Sin", 1, 1, True, True)),
    "v": (_scaled(2, -1), _wave("Cos", 0.5, 0.5, False, True)),
    "w": (_scaled(2, 1), _wave("Sin", 0.5, 0.5, True, False)),
}
"""Chebyshev's polynomials by kind: that of degree 1, and any inside -1 .. 1."""
POLYNOMIALS: Final = {
    **{
        f"{prefix}chebyshev_polynomial_{kind}": _polynomial(
            first, _chebyshev, closed=closed, shifted=bool(prefix)
        )
        for kind, (first, closed) in CLOSED.items()
        for prefix in ("", "shifted_")
    },
    "hermite_polynomial_h": _polynomial(_scaled(2, 0), _hermite, most=HERMITE_MOST),
    "hermite_polynomial_he": _polynomial(_scaled(1, 0), _hermite_e, most=HERMITE_MOST),
    "laguerre_polynomial_l": _polynomial(_scaled(-1, 1), _laguerre),
    "legendre_polynomial_p": _polynomial(_scaled(1, 0), _legendre),
}
TRANSLATED: Final = {
    f"special_{name}.{overload}": function
    for name, function in POLYNOMIALS.items()
    for overload in ("default", "x_scalar", "n_scalar")
}
