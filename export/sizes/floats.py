"""Floats that come from sizes, inside expressions: `Whole` is an integer that IEEE arithmetic on sizes gives, as the runtime computes it.

Models scale sizes in floats, and floor(n * 0.7f) is another function than the floor of the exact product. `Real(op, a, b)` is an
operation of schema/layout.ExprOp, whose floats are the bits of a double as an integer; `Whole(a)` takes such a float towards zero.
To sympy both are functions that it knows no more of than their signs.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import sympy

from pteron.schema.layout import ExprOp

UNARY: Final = frozenset(
    {
        ExprOp.F64,
        ExprOp.F32,
        ExprOp.NARROW,
        ExprOp.FFLOOR,
        ExprOp.FCEIL,
        ExprOp.FROUND,
        ExprOp.WHOLE,
    }
)
Span = tuple[float, float]


def bits(x: float) -> int:
    """The bits of a double as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def float_of(x: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", x))[0])


def applied_floats(op: ExprOp, a: int, b: int) -> int | None:
    """The result of an operation by the rules of session/expr.c; None where no integer is it."""
    with np.errstate(all="ignore"):
        match op:
            case ExprOp.F64:
                return bits(float(np.int64(a)))
            case ExprOp.F32:
                return bits(float(np.float32(np.int64(a))))
            case ExprOp.WHOLE:
                x = float_of(a)
                return int(x) if -(2.0**63) <= x < 2.0**63 else None
        y = FLOATS[op](np.float64(float_of(a)), np.float64(float_of(b)))
    return bits(float(y))


FLOATS: Final[dict[ExprOp, Callable[[Any, Any], Any]]] = {
    ExprOp.NARROW: lambda a, b: np.float32(a),
    ExprOp.FADD: np.add,
    ExprOp.FSUB: np.subtract,
    ExprOp.FMUL: np.multiply,
    ExprOp.FDIV: np.divide,
    ExprOp.FFLOOR: lambda a, b: np.floor(a),
    ExprOp.FCEIL: lambda a, b: np.ceil(a),
    ExprOp.FROUND: lambda a, b: np.rint(a),
}


SIGNS: Final = {ExprOp.FADD: "+", ExprOp.FSUB: "-", ExprOp.FMUL: "*", ExprOp.FDIV: "/"}


class Real(sympy.Function):  # type: ignore[misc]
    """An operation on floats: (op, a) or (op, a, b). Numbers alone are computed at once."""

    @classmethod
    def eval(cls, op: Any, *args: Any) -> Any:
        if all(a.is_Integer for a in args):
            return sympy.Integer(applied_floats(ExprOp(int(op)), int(args[0]), int(args[-1])))
        return None

    def _sympystr(self, printer: Any) -> str:
        op = ExprOp(int(self.args[0]))
        is_cast = op in (ExprOp.F64, ExprOp.F32)
        args = [
            repr(float_of(int(a))) if a.is_Integer and not is_cast else printer._print(a)
            for a in self.args[1:]
        ]
        sign = SIGNS.get(op)
        return f"({args[0]} {sign} {args[1]})" if sign else f"{op.name.lower()}({args[0]})"


class Whole(sympy.Function):  # type: ignore[misc]
    """The integer that a float is, towards zero."""

    nargs = 1
    is_integer = True
    is_extended_real = True
    is_finite = True

    @classmethod
    def eval(cls, x: Any) -> Any:
        if not x.is_Integer:
            return None
        found = applied_floats(ExprOp.WHOLE, int(x), int(x))
        if found is None:
            raise ZeroDivisionError(f"{float_of(int(x))} is no integer")
        return sympy.Integer(found)

    def _sympystr(self, printer: Any) -> str:
        return f"int({printer._print(self.args[0])})"

    def _eval_is_nonnegative(self) -> bool | None:
        low, high = span(self.args[0])
        return True if low > -1 else False if high <= -1 else None

    def _eval_is_positive(self) -> bool | None:
        low, high = span(self.args[0])
        return True if low >= 1 else False if high < 1 else None


def span(x: Any) -> Span:
    """Between which floats `x` stays; rounding keeps the order."""
    if x.is_Integer:
        return float_of(int(x)), float_of(int(x))
    op, args = ExprOp(int(x.args[0])), x.args[1:]
    if op in (ExprOp.F64, ExprOp.F32):
        (n,) = args
        least = 1.0 if n.is_positive else 0.0 if n.is_nonnegative else -math.inf
        return least, 0.0 if n.is_nonpositive else math.inf
    ends = [span(a) for a in args]
    if op is ExprOp.FDIV and ends[1][0] <= 0 <= ends[1][1]:
        return -math.inf, math.inf
    with np.errstate(all="ignore"):
        corners = [
            float(FLOATS[op](np.float64(a), np.float64(b))) for a in ends[0] for b in ends[-1]
        ]
    if any(math.isnan(c) for c in corners):
        return _with_infinity(op, ends)
    return min(corners), max(corners)


def _with_infinity(op: ExprOp, ends: list[Span]) -> Span:
    """0 times infinity is no bound, but the signs say one."""
    same = all(low >= 0 for low, _ in ends) and op in (ExprOp.FMUL, ExprOp.FDIV)
    return (0.0 if same else -math.inf), math.inf
