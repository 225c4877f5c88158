"""How a size moves with dimensions that a run counts, and between which sizes it stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import sympy

from . import Extent, extents
from .choices import Bound


def direction(n: Extent, counted: Collection[sympy.Symbol]) -> int | None:
    """1: never falls while one of `counted` grows, -1: never rises, 0: stays, None: not known."""
    if not extents.symbols_of(n) & set(counted):
        return 0
    assert isinstance(n, sympy.Expr)
    if n.is_Symbol:
        return 1
    if n.is_Add or isinstance(n, (sympy.Min, sympy.Max, sympy.floor, sympy.ceiling, Bound)):
        return _joined(direction(a, counted) for a in n.args)
    if n.is_Mul:
        return _of_product(n.args, counted)
    return None


def _joined(parts: Iterable[int | None]) -> int | None:
    found = set(parts) - {0}
    return found.pop() if len(found) == 1 else None if found else 0


def _of_product(factors: Iterable[Any], counted: Collection[sympy.Symbol]) -> int | None:
    sign, moving = 1, []
    for f in factors:
        if f.is_nonpositive and not f.free_symbols & set(counted):
            sign = -sign
        elif not f.is_nonnegative:
            return None
        else:
            moving.append(direction(f, counted))
    found = _joined(moving)
    return None if found is None else sign * found


def between(
    n: Extent, limits: Mapping[sympy.Symbol, tuple[Extent, Extent]]
) -> tuple[Extent, Extent]:
    """The least and the most that `n` can be while the dimensions in `limits` stay in theirs; others stay as they are.

    Raises:
        ValueError: it is not known.
    """
    if not extents.symbols_of(n) & limits.keys():
        return n, n
    assert isinstance(n, sympy.Expr)
    if n.is_Symbol:
        return limits[n]
    if isinstance(n, sympy.Mod) and n.args[1].is_Integer and n.args[1] > 0:
        return 0, int(n.args[1]) - 1
    parts = [between(a, limits) for a in n.args]
    rule = RULES.get(n.func)
    if rule is not None:
        return tuple(extents.extent(rule(*ends)) for ends in zip(*parts, strict=True))  # type: ignore[return-value]
    if n.is_Mul:
        return _product(parts)
    raise ValueError(n)


RULES: dict[Any, Callable[..., Any]] = {
    f: f for f in (sympy.Add, sympy.Min, sympy.Max, sympy.floor, sympy.ceiling, Bound)
}
"""What grows with each of its arguments: of the least comes the least."""


def _product(parts: Iterable[tuple[Extent, Extent]]) -> tuple[Extent, Extent]:
    low, high = sympy.Integer(1), sympy.Integer(1)
    for a, b in ((sympy.sympify(x), sympy.sympify(y)) for x, y in parts):
        if a.is_nonnegative and low.is_nonnegative:
            low, high = low * a, high * b
        elif b.is_nonpositive and low.is_nonnegative:
            low, high = high * a, low * b
        elif a.is_nonnegative and high.is_nonpositive:
            low, high = low * b, high * a
        else:
            raise ValueError((low, high))
    return low, high  # numbers such as 1/2 are whole again where they are rounded
