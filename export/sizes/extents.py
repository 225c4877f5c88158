"""Sizes as integers or sympy expressions: the arithmetic that lowering, planning and emitting share.

Expressions are built from positive or non-negative integer symbols with + - *, floor(a / b), ceiling(a / b), Mod, Min,
Max and what floats.py has only, so that each has a form in the file (ExprOp in schema/program.fbs).
"""

from __future__ import annotations

import dataclasses
import fractions
import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy

from pteron.schema.layout import ExprOp

from . import HUGE, Extent, choices
from .canonical import canonical
from .floats import Real, Whole, applied_floats


@dataclasses.dataclass(frozen=True, slots=True)
class Scaled:
    """A float that comes from a size: `op` of `args` in IEEE arithmetic of `dtype`; export/lower/scaled.py."""

    dtype: str
    op: str
    args: tuple[Any, ...]

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        return set[sympy.Symbol]().union(*(symbols_of(a) for a in self.args))


def symbol(name: str, minimum: int = 1) -> sympy.Symbol:
    """A dimension of at least `minimum`; below 0 an element of any sign."""
    if minimum >= 1:
        return sympy.Symbol(name, integer=True, positive=True)
    if minimum >= 0:
        return sympy.Symbol(name, integer=True, nonnegative=True)
    return sympy.Symbol(name, integer=True)


def extent(x: Any) -> Extent:
    """`x` as a plain int where it is a number."""
    if isinstance(x, int):
        return x
    if isinstance(x, sympy.Expr):
        return int(x) if x.is_Integer else x
    return int(x)


def add(a: Extent, b: Extent) -> Extent:
    return extent(_shorter(a + b))


def sub(a: Extent, b: Extent) -> Extent:
    return extent(_shorter(a - b))


def mul(a: Extent, b: Extent) -> Extent:
    return extent(a * b)


def _shorter(x: Extent) -> Extent:
    """In one form where Min and Max meet and that is shorter: (n + Max(0, 8 - n) - Max(8, n)) is 0."""
    if isinstance(x, int) or len(x.atoms(sympy.Min, sympy.Max)) < 2:
        return x
    one = canonical(x)
    return one if one.count_ops() < x.count_ops() else x


def product(xs: Iterable[Extent]) -> Extent:
    result: Extent = 1
    for x in xs:
        result = mul(result, x)
    return result


def floordiv(a: Extent, b: Extent) -> Extent:
    """Towards minus infinity; b is positive."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if _is_negated(a):
        return mul(-1, ceildiv(mul(-1, a), b))
    for part in sympy.Add.make_args(sympy.sympify(a)):  # (x - x mod b) / b is whole
        if isinstance(-part, sympy.Mod) and sympy.Mod(a - part, b) == -part:
            a = a - part
            break
    return extent(
        _shorter(sympy.floor(sympy.expand(_opened(sympy.sympify(a), b, sympy.floor) / b)))
    )


def ceildiv(a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    if _is_negated(a):
        return mul(-1, floordiv(mul(-1, a), b))
    return extent(
        _shorter(sympy.ceiling(sympy.expand(_opened(sympy.sympify(a), b, sympy.ceiling) / b)))
    )


def _opened(a: sympy.Expr, b: Extent, kind: Any) -> sympy.Expr:
    """floor((floor(x) + c) / n) = floor((x + c) / n) for whole c and n > 0, so stacks of windows stay flat; likewise
    ceiling."""
    if not isinstance(b, int):
        return a
    inner = [t for t in sympy.Add.make_args(a) if isinstance(t, kind)]
    rest = a - sum(inner)
    if len(inner) != 1 or not rest.is_integer:
        return a
    return inner[0].args[0] + rest


def _is_negated(a: Extent) -> bool:
    """Whether all terms of `a` have a minus: what is rounded then is written without, so that it has one form."""
    terms = sympy.Add.make_args(sympy.sympify(a))
    return all(t.could_extract_minus_sign() for t in terms)


def mod(a: Extent, b: Extent) -> Extent:
    """With the sign of b. What is missing up to a multiple, -n mod b, is the multiple less n: sympy's Mod(255 n, 256) of
    -n mod 256 would hide that n and it are one."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if isinstance(b, int) and b > 0:
        less = _least_residue(sympy.expand(a), b)
        if _is_negated(less):
            return extent(sympy.expand(b * ceildiv(-less, b) + less))
        a = extent(less)
    return a % b if isinstance(a, int) else extent(sympy.Mod(a, b))


def _least_residue(a: sympy.Expr, b: int) -> sympy.Expr:
    """What `a` is modulo b, each term with its factor nearest to 0; remainders by multiples of b are what they are of."""
    terms = []
    for term in sympy.Add.make_args(a):
        factor, rest = term.as_coeff_Mul()
        if isinstance(rest, sympy.Mod) and rest.args[1].is_Integer and rest.args[1] % b == 0:
            terms.append(_least_residue(sympy.expand(factor * rest.args[0]), b))
        elif factor.is_Integer and rest.is_integer:
            near = int(factor) % b
            terms.append((near if 2 * near <= b else near - b) * rest)
        else:
            terms.append(term)
    return sympy.Add(*terms)


def minimum(a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if isinstance(a, int) and a >= HUGE:
        return b
    if isinstance(b, int) and b >= HUGE:
        return a
    if at_most(a, b):
        return a
    return b if at_most(b, a) else extent(sympy.Min(a, b))


def maximum(a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    if at_most(a, b):
        return b
    return a if at_most(b, a) else extent(sympy.Max(a, b))


def same(a: Extent, b: Extent) -> bool:
    """Proved equal for all sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return a is b or _same(a, b)


@functools.lru_cache(maxsize=65536)
def _same(a: Extent, b: Extent) -> bool:
    if a == b:
        return True
    if any(x != y for x, y in _tried(a, b)):
        return False
    difference = sympy.expand(sympy.sympify(a) - b)
    return all(map(_is_zero, _cases(difference)))


def _tried(a: Extent, b: Extent) -> Iterator[tuple[int, int]]:
    """Both at some sizes."""
    names = sorted(symbols_of(a) | symbols_of(b), key=lambda s: str(s.name))
    for first, step in POINTS:
        sizes = {s: first + step * i for i, s in enumerate(names)}
        try:
            yield evaluate(a, sizes), evaluate(b, sizes)
        except ZeroDivisionError:  # a size by which another is divided may be 0 there
            continue


def _is_zero(x: sympy.Expr) -> bool:
    """Proved. Not tried where it would take seconds: the sizes are compared by the runtime then."""
    if x == 0 or x.count_ops() > PROVED:
        return bool(x == 0)
    return bool((canonical(x) if x.has(sympy.Min, sympy.Max) else sympy.simplify(x)) == 0)


PROVED = 100
"""Operations of a difference that is looked into to see whether it is 0, or below."""


def _cases(x: sympy.Expr) -> Iterator[sympy.Expr]:
    """`x`, or, for what Min and Max hide, `x` with a size of 0 and with more: 1 - Max(0, 1 - n) is 0, then 1."""
    inner = x.atoms(sympy.Min, sympy.Max)
    open_ = sorted((s for m in inner for s in m.free_symbols if not s.is_positive), key=str)
    if not open_ or len(set(open_)) > 3:
        yield x
        return
    more = symbol(open_[0].name)
    negative = () if open_[0].is_nonnegative else (-more,)
    for size in (sympy.Integer(0), more, *negative):
        try:
            case = sympy.expand(x.subs(open_[0], size))
        except ZeroDivisionError:  # nothing has a size that 0 divides
            continue
        yield from _cases(case)


POINTS = ((97, 12), (64, 7), (2, 3), (1, 0), (1005, 1))
"""Sizes (first symbol, step to the next) where sizes that are not the same mostly differ: sparing a proof."""


@functools.lru_cache(maxsize=65536)
def at_most(a: Extent, b: Extent) -> bool:
    """Proved a <= b for all sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    if any(x > y for x, y in _tried(a, b)):
        return False
    difference = sympy.expand(sympy.sympify(b) - a)
    return all(d.is_nonnegative or _least(d).is_nonnegative for d in _cases(difference))


def _least(x: sympy.Expr) -> sympy.Expr:
    """`x` or less, without rounding in its terms: ceiling(y) is y or more, -floor(y) is -y or more."""
    return sympy.expand(sympy.Add(*map(_unrounded, sympy.Add.make_args(x))))


def _unrounded(term: sympy.Expr) -> sympy.Expr:
    factor, rest = term.as_coeff_Mul()
    kind = sympy.ceiling if factor.is_positive else sympy.floor
    others = sympy.Mul.make_args(rest)
    rounded = [f for f in others if isinstance(f, kind)]
    if len(rounded) != 1 or not all(f.is_nonnegative for f in others if f is not rounded[0]):
        return term
    return term.subs(rounded[0], rounded[0].args[0])


def has_any_sign(n: Any) -> bool:
    """Whether an input's element that may be below 0 takes part."""
    return any(s.is_nonnegative is None for s in symbols_of(n))


def is_below_0(n: Extent) -> Extent:
    """1 where n is below 0, else 0; of the lowest integer, too."""
    return mul(-1, minimum(maximum(n, -1), 0))


def is_narrow(n: Extent) -> bool:
    """Whether an axis has no or one element: it broadcasts as one of one element does."""
    return at_most(n, 1)


def simpler(a: Extent, b: Extent) -> Extent:
    """Of two sizes that agree, the one that is easier to reckon with."""
    if isinstance(a, int) or isinstance(b, int):
        return a if isinstance(a, int) else b
    return a if a.count_ops() <= b.count_ops() else b


@dataclasses.dataclass(frozen=True, slots=True)
class Linear:
    """factor * symbol + offset, where a larger symbol makes it larger: of such an axis the runtime finds the symbol's size."""

    symbol: sympy.Symbol
    factor: int
    offset: int


def linear(x: Extent) -> Linear | None:
    """`x` as such; None where it is something else."""
    if isinstance(x, int):
        return None
    x = sympy.expand(x)
    symbols = list(x.free_symbols)
    if len(symbols) != 1 or not x.is_polynomial(symbols[0]) or sympy.degree(x, symbols[0]) != 1:
        return None
    factor, offset = x.coeff(symbols[0], 1), x.coeff(symbols[0], 0)
    if not (factor.is_Integer and offset.is_Integer and factor > 0):
        return None
    return Linear(symbols[0], int(factor), int(offset))


def same_shape(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def symbols_of(x: Any) -> set[sympy.Symbol]:
    return set(x.free_symbols) if isinstance(x, (sympy.Basic, Scaled)) else set()


def evaluate(x: Extent, sizes: Mapping[sympy.Symbol, int]) -> int:
    """The number at the given sizes of all symbols."""
    return x if isinstance(x, int) else int(_value(x, sizes))


def _value(x: Any, sizes: Mapping[sympy.Symbol, int]) -> Any:
    """An int or a Fraction; much faster than substituting."""
    if x.is_Symbol:
        return sizes[x]
    if x.is_Integer:
        return int(x)
    if x.is_Rational:
        return fractions.Fraction(int(x.p), int(x.q))
    args = [_value(a, sizes) for a in x.args]
    if x.is_Add:
        return sum(args)
    if x.is_Mul:
        return math.prod(args)
    if x.is_Pow:
        return fractions.Fraction(args[0]) ** args[1]
    if isinstance(x, Real | Whole):
        op = ExprOp.WHOLE if isinstance(x, Whole) else ExprOp(args.pop(0))
        found = applied_floats(op, args[0], args[-1])
        if found is None:
            raise ZeroDivisionError(f"{x} is no integer")
        return found
    function = FUNCTIONS.get(type(x))
    if function is None:
        raise TypeError(
            f"size {x}: expected + - * floor ceiling Mod Min Max, got {type(x).__name__}"
        )
    return function(*args)


FUNCTIONS: dict[Any, Any] = {
    sympy.floor: math.floor,
    sympy.ceiling: math.ceil,
    sympy.Mod: lambda a, b: a - b * math.floor(fractions.Fraction(a) / b),
    sympy.Min: min,
    sympy.Max: max,
    **choices.FUNCTIONS,
}


@functools.lru_cache(maxsize=65536)
def magnitude(x: Extent) -> int:
    """`x` at fixed made-up sizes: orders strides and pairs factors; nothing that must be right relies on it."""
    if isinstance(x, int):
        return x
    names = sorted(x.free_symbols, key=lambda s: str(s.name))
    return evaluate(x, {s: 97 + 12 * i for i, s in enumerate(names)})


def row_major(shape: Sequence[Extent]) -> tuple[Extent, ...]:
    """Strides of a dense tensor."""
    strides: list[Extent] = []
    step: Extent = 1
    for n in reversed(shape):
        strides.append(step)
        step = mul(step, n)
    return tuple(reversed(strides))


def exact_div(a: Extent, b: Extent) -> Extent | None:
    """a / b where that is proved to be whole; else None."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b and a % b == 0 else None
    quotient = sympy.cancel(sympy.sympify(a) / b)
    if not quotient.is_polynomial(*quotient.free_symbols):
        return extent(quotient) if quotient.is_integer else None
    whole = (
        all(
            c.is_integer
            for c in sympy.Poly(quotient, *sorted(quotient.free_symbols, key=str)).coeffs()
        )
        if quotient.free_symbols
        else quotient.is_integer
    )
    return extent(quotient) if whole else None
