"""Sizes as the runtime evaluates them: sympy expressions to rows of program.fbs `Expr`, and back.

Each distinct subexpression is one row; operands come before their users, so that one pass in order evaluates all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import sympy

from pteron.schema.errors import ProgramError
from pteron.schema.layout import ExprOp

from . import Dim, Extent, choices, extents

Row = tuple[int, int, int, ExprOp]
"""(value, a, b, op) as in program.fbs."""


class Expressions:
    """The rows of a program, each expression once. Dimensions are numbered by their place in `dims`."""

    def __init__(self, dims: Sequence[str]) -> None:
        self.rows: list[Row] = []
        self._dims: Final = {name: i for i, name in enumerate(dims)}
        self._known: dict[Row, int] = {}
        self._done: dict[Extent, int] = {}

    def add(self, extent: Extent) -> int:
        """The row of `extent`.

        Raises:
            ProgramError: it names an unknown dimension, or a function that the runtime does not evaluate.
        """
        if isinstance(extent, sympy.Integer):
            extent = int(extent)
        found = self._done.get(extent)
        if found is None:
            found = self._done[extent] = (
                self._const(extent) if isinstance(extent, int) else self._expression(extent)
            )
        return found

    def evaluate(self, sizes: Mapping[str, int]) -> list[int]:
        """The value of every row, in the order of the rows."""
        return evaluate(self.rows, [sizes.get(name, 0) for name in self._dims])

    def _row(self, value: int, a: int, b: int, op: ExprOp) -> int:
        row = (value, a, b, op)
        found = self._known.get(row)
        if found is None:
            found = self._known[row] = len(self.rows)
            self.rows.append(row)
        return found

    def _const(self, value: int) -> int:
        return self._row(value, 0, 0, ExprOp.CONST)

    def _pair(self, op: ExprOp, a: int, b: int) -> int:
        return self._row(0, a, b, op)

    def _expression(self, e: sympy.Expr) -> int:
        if isinstance(e, sympy.Symbol):
            if e.name not in self._dims:
                raise ProgramError(
                    f"expression {e}: expected one of the dimensions {list(self._dims)}; name it in Program.dims"
                )
            return self._row(0, self._dims[e.name], 0, ExprOp.DIM)
        if isinstance(e, sympy.floor | sympy.ceiling):
            op = ExprOp.FLOORDIV if isinstance(e, sympy.floor) else ExprOp.CEILDIV
            return self._quotient(op, e.args[0])
        if isinstance(e, choices.Choice):
            return choices.written(e, self.add, self._pair)
        if isinstance(e, sympy.Mod | sympy.Min | sympy.Max):
            op = ExprOp[type(e).__name__.upper()]
            return self._fold(op, _ordered(e) if not isinstance(e, sympy.Mod) else e.args)
        if isinstance(e, sympy.Pow) and e.exp.is_Integer and e.exp > 0:
            return self._fold(ExprOp.MUL, [e.base] * int(e.exp))
        if isinstance(e, sympy.Add | sympy.Mul):
            if sympy.denom(sympy.together(e)) != 1:
                return self._quotient(ExprOp.FLOORDIV, e)  # a size: the division is exact
            return self._sum(e) if isinstance(e, sympy.Add) else self._product(e)
        raise ProgramError(
            f"expression {e}: expected + - * // % min max over dimensions, got {type(e).__name__}"
        )

    def _quotient(self, op: ExprOp, e: sympy.Expr) -> int:
        num, den = sympy.fraction(sympy.together(e))
        a = self.add(num)
        return a if den == 1 else self._pair(op, a, self.add(den))

    def _fold(self, op: ExprOp, args: Sequence[sympy.Expr]) -> int:
        row = self.add(args[0])
        for other in args[1:]:
            row = self._pair(op, row, self.add(other))
        return row

    def _sum(self, e: sympy.Add) -> int:
        """Positive terms first, so that sizes stay sizes on the way."""
        terms = _ordered(e)
        negative = [t.could_extract_minus_sign() for t in terms]
        plus = [t for t, minus in zip(terms, negative, strict=True) if not minus]
        row = self._fold(ExprOp.ADD, plus) if plus else self._const(0)
        for term, minus in zip(terms, negative, strict=True):
            if minus:
                row = self._pair(ExprOp.SUB, row, self.add(-term))
        return row

    def _product(self, e: sympy.Mul) -> int:
        return self._fold(ExprOp.MUL, _ordered(e))


def _ordered(e: sympy.Expr) -> list[sympy.Expr]:
    """Its arguments in an order that is the same in every process."""
    return sorted(e.args, key=sympy.default_sort_key)


def evaluate(rows: Sequence[Row], sizes: Sequence[int]) -> list[int]:
    """Values of the rows for dimension sizes, by the rules of program.fbs; a division by zero gives 0."""
    out: list[int] = []
    for value, a, b, op in rows:
        if op is ExprOp.CONST:
            out.append(value)
        elif op is ExprOp.DIM:
            out.append(sizes[a])
        else:
            out.append(_apply(op, out[a], out[b]))
    return out


def _apply(op: ExprOp, a: int, b: int) -> int:
    value = applied(op, a, b)
    return 0 if value is None else value


def applied(op: ExprOp, a: int, b: int) -> int | None:
    """The result of an operation; None where it divides by zero."""
    if op in (ExprOp.FLOORDIV, ExprOp.CEILDIV, ExprOp.MOD) and b == 0:
        return None
    match op:
        case ExprOp.ADD:
            return a + b
        case ExprOp.SUB:
            return a - b
        case ExprOp.MUL:
            return a * b
        case ExprOp.FLOORDIV:
            return a // b
        case ExprOp.CEILDIV:
            return -(-a // b)
        case ExprOp.MOD:
            return a % b
        case ExprOp.MIN:
            return min(a, b)
        case _:
            return max(a, b)


def symbol(dim: Dim) -> sympy.Symbol:
    """The symbol that stands for `dim`."""
    return extents.symbol(dim.name, dim.min)


def to_sympy(rows: Sequence[Row], dims: Sequence[sympy.Symbol]) -> list[Extent]:
    """The expression of each row.

    Raises:
        ProgramError: an operand or a dimension is out of range.
    """
    out: list[Extent] = []
    for i, (value, a, b, op) in enumerate(rows):
        if op is ExprOp.CONST:
            out.append(value)
        elif op is ExprOp.DIM:
            if a >= len(dims):
                raise ProgramError(
                    f"expression {i}: expected a dimension below {len(dims)}, got {a}"
                )
            out.append(dims[a])
        elif max(a, b) >= i:
            raise ProgramError(f"expression {i}: expected operands below {i}, got {a} and {b}")
        else:
            out.append(_combine(op, out[a], out[b]))
    return out


def _combine(op: ExprOp, a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int):
        return _apply(op, a, b)
    match op:
        case ExprOp.FLOORDIV:
            e = sympy.floor(sympy.sympify(a) / b)
        case ExprOp.CEILDIV:
            e = sympy.ceiling(sympy.sympify(a) / b)
        case ExprOp.MOD:
            e = sympy.Mod(a, b)
        case ExprOp.MIN:
            e = sympy.Min(a, b)
        case ExprOp.MAX:
            e = sympy.Max(a, b)
        case _:
            e = sympy.sympify(_apply(op, a, b))
    return int(e) if e.is_Integer else e
