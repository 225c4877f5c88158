"""What the sign of an input's element chooses, as one function each: written out in Min and Max, sympy takes seconds over it.

Each is an integer and no less than 0, has its value in `FUNCTIONS` and its rows of the file in `written`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import sympy

from pteron.schema.layout import ExprOp


class Choice(sympy.Function):  # type: ignore[misc]
    """One of its arguments, by the sign of the first."""

    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, *args: sympy.Expr) -> sympy.Expr | None:
        """Its value where all is known."""
        if not all(a.is_Integer for a in args):
            return None
        return sympy.Integer(FUNCTIONS[cls](*map(int, args)))


class NewExtent(Choice):
    """(n, old, rest): of a Reshape: n, or `old` where it is 0, `rest` below 0."""

    @classmethod
    def eval(cls, n: sympy.Expr, old: sympy.Expr, rest: sympy.Expr) -> sympy.Expr | None:
        return _new_extent(n, old, rest) if n.is_Integer else None


class Share(Choice):
    """(total, part): total // part, and `total` where part is 0."""


class Bound(Choice):
    """(at, size, low, high): an index that counts from the end below 0, brought into low .. high."""

    is_nonnegative = None


def _new_extent(n: Any, old: Any, rest: Any) -> Any:
    return n if n > 0 else rest if n < 0 else old


def _bound(at: Any, size: Any, low: Any, high: Any) -> Any:
    return max(size + at, low) if at < 0 else min(at, high)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    NewExtent: _new_extent,
    Share: lambda total, part: total // max(part, 1),
    Bound: _bound,
}


def written(e: Choice, add: Callable[[Any], int], pair: Callable[[ExprOp, int, int], int]) -> int:
    """The row of `e`: `add` gives the row of an expression, `pair` that of an operation on two rows."""
    rows = [add(a) for a in e.args]
    zero, one = add(0), add(1)
    if isinstance(e, Share):
        return pair(ExprOp.FLOORDIV, rows[0], pair(ExprOp.MAX, rows[1], one))
    up = pair(ExprOp.MAX, rows[0], zero)
    is_below = pair(ExprOp.SUB, zero, pair(ExprOp.MIN, pair(ExprOp.MAX, rows[0], add(-1)), zero))
    if isinstance(e, NewExtent):
        told = pair(ExprOp.ADD, pair(ExprOp.MIN, up, one), is_below)
        kept = pair(ExprOp.MUL, pair(ExprOp.SUB, one, told), rows[1])
        left = pair(ExprOp.MUL, is_below, rows[2])
        return pair(ExprOp.ADD, pair(ExprOp.ADD, up, kept), left)
    down = pair(ExprOp.MIN, rows[0], zero)
    back = pair(ExprOp.MAX, pair(ExprOp.ADD, rows[1], down), rows[2])
    front = pair(ExprOp.MIN, up, rows[3])
    is_front = pair(ExprOp.SUB, one, is_below)
    return pair(ExprOp.ADD, pair(ExprOp.MUL, is_below, back), pair(ExprOp.MUL, is_front, front))
