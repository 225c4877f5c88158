"""One form of a size where Min, Max and roundings write it in several: what differs by spelling alone is 0 then.

Bounded: each Min, Max, floor and ceiling is visited once, and expanded. (sympy.simplify tries all ways to order the
arguments of Min and Max, which does not end for a window of a padded length.)
"""

from __future__ import annotations

import functools

import sympy


def canonical(x: sympy.Expr) -> sympy.Expr:
    """`x` with max(0, .), floor, Mod and products alone; equal to it for all sizes.

    max(a, b) = a + max(0, b - a), min(a, b) = a - max(0, a - b), ceiling(y) = -floor(-y), and max(0, -y) = max(0, y) - y
    where -y has the minus: so n + max(0, 256 - n) and max(256, n) are one.
    """
    return sympy.expand(_canonical(sympy.sympify(x)))


@functools.lru_cache(maxsize=65536)
def _canonical(x: sympy.Expr) -> sympy.Expr:
    if not x.args:
        return x
    args = [sympy.expand(_canonical(a)) for a in x.args]
    if isinstance(x, sympy.Max):
        return functools.reduce(lambda a, b: a + _above(b - a), args)
    if isinstance(x, sympy.Min):
        return functools.reduce(lambda a, b: a - _above(a - b), args)
    if isinstance(x, sympy.ceiling):
        return -_floor(-args[0])
    if isinstance(x, sympy.floor):
        return _floor(args[0])
    return x.func(*args)


def _above(x: sympy.Expr) -> sympy.Expr:
    """max(0, x)."""
    x = sympy.expand(x)
    if x.could_extract_minus_sign():
        return sympy.Max(0, sympy.expand(-x)) + x
    return sympy.Max(0, x)


def _floor(x: sympy.Expr) -> sympy.Expr:
    return sympy.floor(sympy.expand(x))
