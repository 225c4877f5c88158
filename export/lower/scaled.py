"""Floats that come from sizes: models scale sizes in f32 and round the result (Resize, interpolate).

Rounding makes floor(n * 0.7f) another function than the floor of the exact product. So a `Scaled` keeps the operations. Where
one is made whole, an expression over integers takes its place, of which more can be proved, if it agrees with IEEE arithmetic
at every size up to LIMIT (larger sizes are refused at prepare); else the runtime computes the floats themselves
(export/sizes/floats.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy
from numpy.typing import NDArray

from pteron.schema.layout import ExprOp

from ..program.arrays import same_dtype
from ..sizes import Extent, extents
from ..sizes.extents import Scaled, at_most
from ..sizes.floats import Real, Whole, bits

LIMIT: Final = 1 << 24
"""Integers up to here are exact in f32."""

ENOUGH: Final = 1 << 16
"""An expression that is right up to here is taken."""

STRIDE: Final = 1 << 20
"""Sizes compared at once."""

DENOMINATOR: Final = 4096
"""A constant that is the float next to a fraction of so small a denominator was meant as that fraction."""

SIZE: Final = sympy.Symbol("size", integer=True, nonnegative=True)

ROUNDINGS: Final[dict[str, tuple[Callable[..., Any], Any]]] = {
    "Floor": (np.floor, sympy.floor),
    "Ceil": (np.ceil, sympy.ceiling),
    "Trunc": (np.trunc, sympy.floor),
    "Round": (np.rint, None),
}
"""Operator -> (of floats, of an exact value that is not negative; None: no expression says it)."""

OPERATIONS: Final = {
    "Add": ExprOp.FADD, "Sub": ExprOp.FSUB, "Mul": ExprOp.FMUL, "Div": ExprOp.FDIV,
    "Floor": ExprOp.FFLOOR, "Ceil": ExprOp.FCEIL, "Round": ExprOp.FROUND,
}  # fmt: skip

ARITHMETIC: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
}  # fmt: skip


def whole(x: Scaled) -> tuple[Extent, Extent, int] | None:
    """(the integer that `x` becomes by Cast, the size that it comes from, the largest for which that holds), or None.

    Only where one integer expression is scaled, which is not negative.
    """
    found = _sizes(x)
    if len(found) != 1:
        return None
    (size,) = found
    if not at_most(0, size):
        return None
    least = 1 if at_most(1, size) else 0
    result = _expression(Scaled(x.dtype, "Trunc", (_replaced(x),)), least)
    if result is None:
        return None
    expression, largest = result
    return extents.extent(expression.subs(SIZE, size)), size, largest


def integer(x: Scaled) -> Extent:
    """The integer that `x` becomes by Cast, as the runtime computes it from the sizes."""
    return extents.extent(Whole(_real(x)))


def _real(x: Any) -> Any:
    """`x` as Real, or as the bits of a number."""
    if not isinstance(x, Scaled):
        return sympy.Integer(bits(float(x)))
    if x.op == "Cast":
        (inner,) = x.args
        if not isinstance(inner, Scaled):
            return Real(int(ExprOp.F32 if x.dtype == "f32" else ExprOp.F64), inner)
        return _narrowed(x, inner.dtype, _real(inner))
    args = [_real(a) for a in x.args]
    if x.op == "Neg":
        return Real(int(ExprOp.FMUL), *args, bits(-1.0))
    made = Real(int(OPERATIONS[x.op]), *args)
    return made if x.op in ROUNDINGS else _narrowed(x, "f64", made)


def _narrowed(x: Scaled, source: str, made: Any) -> Any:
    return Real(int(ExprOp.NARROW), made) if (x.dtype, source) == ("f32", "f64") else made


def _sizes(x: Any) -> set[Any]:
    """The integer expressions that are cast."""
    if not isinstance(x, Scaled):
        return set()
    if x.op == "Cast" and not isinstance(x.args[0], Scaled):
        return {x.args[0]}
    return set[Any]().union(*(_sizes(a) for a in x.args))


def _replaced(x: Any) -> Any:
    """`x` over SIZE, so that one comparison serves all dimensions."""
    if not isinstance(x, Scaled):
        return x
    if x.op == "Cast" and not isinstance(x.args[0], Scaled):
        return Scaled(x.dtype, "Cast", (SIZE,))
    return Scaled(x.dtype, x.op, tuple(_replaced(a) for a in x.args))


@functools.lru_cache(maxsize=1024)
def _expression(x: Scaled, least: int) -> tuple[sympy.Expr, int] | None:
    """The integer expression over SIZE that equals `x` from `least` to the size given with it."""
    for near in (True, False):
        candidate = _exact(x, near)
        if candidate is not None:
            largest = _agreed(x, sympy.expand(candidate), least)
            if largest >= ENOUGH:
                return sympy.sympify(candidate), largest
    return None


def _agreed(x: Scaled, candidate: sympy.Expr, least: int) -> int:
    """The size before the first one from `least` on where they differ."""
    if _largest(candidate) is None:
        return least - 1
    for start in (least, *range(STRIDE, LIMIT + 1, STRIDE)):
        stop = min(start - start % STRIDE + STRIDE, LIMIT + 1)
        sizes = np.arange(start, stop, dtype=np.int64)
        with np.errstate(all="ignore"):
            floats = np.broadcast_to(_rounded(x, sizes), sizes.shape)
            whole = floats.astype(np.int64)
        top, bottom = _fraction(candidate, sizes)
        agree = (np.abs(floats) < 2.0**53) & (whole * bottom == top)  # false for NaN
        if not agree.all():
            return int(start + np.argmin(agree)) - 1
    return LIMIT


def _largest(x: Any) -> tuple[int, int] | None:
    """What numerators and denominators of `_fraction` are at most up to LIMIT; None where i64 may not hold them."""
    if x == SIZE:
        return LIMIT, 1
    if x.is_Rational:
        found = abs(int(x.p)), int(x.q)
    else:
        top, bottom = (0, 1) if x.is_Add else (1, 1)
        for part in map(_largest, x.args):
            if part is None:
                return None
            t, b = part
            top, bottom = (top * b + t * bottom if x.is_Add else top * t), bottom * b
        found = (top, 1) if isinstance(x, (sympy.floor, sympy.ceiling)) else (top, bottom)
    return found if max(found) < 1 << 62 else None


def _rounded(x: Any, sizes: NDArray[np.int64]) -> Any:
    """`x` at all `sizes`, each operation rounded as its dtype does."""
    if not isinstance(x, Scaled):
        return x
    kind = same_dtype(x.dtype).type
    if x.op == "Cast":
        inner = x.args[0]
        return (_rounded(inner, sizes) if isinstance(inner, Scaled) else sizes).astype(kind)
    args = [kind(_rounded(a, sizes)) for a in x.args]
    if x.op == "Neg":
        return -args[0]
    return (ROUNDINGS[x.op][0] if x.op in ROUNDINGS else ARITHMETIC[x.op])(*args)


def _exact(x: Any, near: bool) -> Any:
    """`x` without rounding; None where no expression says it. `near`: constants as the fractions they were meant as."""
    if not isinstance(x, Scaled):
        return _meant(x, near) if isinstance(x, float) else x
    args = [_exact(a, near) for a in x.args]
    if any(a is None for a in args):
        return None
    if x.op in ROUNDINGS:
        if ROUNDINGS[x.op][1] is None:
            return None
        return ROUNDINGS[x.op][1](sympy.expand(args[0]))
    match x.op:
        case "Cast":
            return args[0]
        case "Neg":
            return -args[0]
        case "Add":
            return args[0] + args[1]
        case "Sub":
            return args[0] - args[1]
        case "Mul":
            return args[0] * args[1]
    by = sympy.sympify(args[1])
    return None if by == 0 else args[0] / by


def _meant(x: float, near: bool) -> Any:
    if not math.isfinite(x):
        return None
    return sympy.Rational(*(meant(x) if near else Fraction(x)).as_integer_ratio())


def meant(x: float) -> Fraction:
    """The simple fraction next to which `x` is the f32 or f64, else `x` itself: 7/10 for 0.7f."""
    simple = Fraction(x).limit_denominator(DENOMINATOR)
    near = x in (float(simple), float(np.float32(float(simple))))
    return simple if near else Fraction(x)


def _fraction(x: Any, sizes: NDArray[np.int64]) -> tuple[Any, Any]:
    """Numerators and the (positive) denominators of an expression at all `sizes`, in integers."""
    if x == SIZE:
        return sizes, 1
    if x.is_Rational:
        return int(x.p), int(x.q)
    if isinstance(x, sympy.floor):
        top, bottom = _fraction(x.args[0], sizes)
        return top // bottom, 1
    if isinstance(x, sympy.ceiling):
        top, bottom = _fraction(x.args[0], sizes)
        return -(-top // bottom), 1
    top, bottom = (0, 1) if x.is_Add else (1, 1)
    for t, b in (_fraction(a, sizes) for a in x.args):
        top, bottom = (top * b + t * bottom if x.is_Add else top * t), bottom * b
    return top, bottom
