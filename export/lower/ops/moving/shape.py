"""Shape, Size, and the folding of shape arithmetic: operators on tensors whose elements are known as expressions.

What is folded never reaches the runtime. Elements are numbers, each rounded or wrapped as its dtype does, expressions
over sizes, and floats that come from sizes (export/lower/scaled.py). A fold returns None where it cannot tell; the node
is then lowered like any other. Views (Reshape, Slice, Unsqueeze ...) carry known elements by themselves.

An element of a shape input may have any value. To move it is exact; to reckon with it takes it for a size, and the
result says so (`Known.assumes`): it may decide extents, and whoever wants the values has them computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import sympy

from pteron.schema.dtypes import BY_ONNX, FLOATS, INTEGERS

from ....program.arrays import same_dtype
from ....program.views import Elements, as_elements
from ....sizes import extents
from ....sizes.extents import at_most, same, symbols_of
from ... import scaled
from ...context import Lowering
from ...node import Node
from ...refs import Known, Ref
from ...table import FOLDS, lowers
from ...table import Folded as Folding
from .movement import axes_of, slice_range

Folded = tuple[Elements, str]
Fold = Callable[[Lowering, Node, list[Elements]], Folded]

RANGE_LIMIT: Final = 1 << 20
"""Longer ranges are computed while running."""


class UnknownError(Exception):
    """The result depends on sizes in a way that no expression says."""


def folds(*op_types: str, moves: bool = False) -> Callable[[Fold], Fold]:
    """Enters a function (l, node, elements of each operand) -> (elements, dtype), called where all operands are known.

    `moves`: it reckons with no element, so it takes none for a size.
    """

    def enter(function: Fold) -> Fold:
        def fold(l: Lowering, n: Node) -> Folding | None:
            given = [x for x in n.inputs if x is not None]
            if any(x.dtype not in FOLDED for x in given):
                return None
            known = [x.elements if isinstance(x, Known) else l.values.elements(x) for x in given]
            if not known or any(k is None for k in known):
                return None
            operands = [k for k in known if k is not None]
            try:
                elements, dtype = function(l, n, operands)
            except UnknownError:
                return None
            assumes = frozenset[Any]().union(*(x.assumes for x in given if isinstance(x, Known)))
            if not moves:
                assumes |= {s for k in operands for s in _given(l, k)}
            return elements, dtype, assumes

        for op_type in op_types:
            FOLDS[op_type] = fold
        return function

    return enter


def _given(l: Lowering, elements: Elements) -> set[sympy.Symbol]:
    """The elements of shape inputs among the symbols."""
    found = set[sympy.Symbol]().union(*(symbols_of(e) for e in elements.flat))
    return {s for s in found if l.sizes.dims[s].kind == "shape" and l.sizes.dims[s].min >= 0}


FOLDED: Final = (*INTEGERS, "bool", "f32", "f64")


@lowers("Shape")
def lower_shape(l: Lowering, n: Node) -> Ref:
    shape = n[0].shape
    start, count = slice_range(l, len(shape), n.integer("start"), n.integer("end", len(shape)), 1)
    assert isinstance(start, int) and isinstance(count, int)
    return Known("i64", as_elements(shape[start : start + count], (count,)))


@lowers("Size")
def lower_size(l: Lowering, n: Node) -> Ref:
    return Known("i64", as_elements([extents.product(n[0].shape)], ()))


# --- element by element -------------------------------------------------------------------------------------------------


def _whole(x: Any) -> Any:
    return extents.extent(x) if isinstance(x, sympy.Basic) and x.is_Integer else x


def _numbers(*xs: Any) -> bool:
    return not any(symbols_of(x) for x in xs)


def _calculate(op: str, a: Any, b: Any, dtype: str, *, fmod: bool = False) -> Any:
    if _numbers(a, b):
        return _plain("Fmod" if fmod else op, a, b, dtype)
    if dtype in FLOATS:
        if op not in scaled.ARITHMETIC:
            raise UnknownError
        return extents.Scaled(dtype, op, (a, b))
    if op == "Add":
        return _whole(a + b)
    if op == "Sub":
        return _whole(a - b)
    if op == "Mul":
        return _whole(sympy.expand(a * b))
    if op in ("Min", "Max"):
        return extents.minimum(a, b) if op == "Min" else extents.maximum(a, b)
    if op in ("Div", "Mod") and at_most(1, b):
        whole = op == "Div" and isinstance(b, int) and extents.same(extents.mod(a, b), 0)
        if whole or at_most(0, a):
            return extents.floordiv(a, b) if op == "Div" else extents.mod(a, b)
        if op == "Mod" and not fmod:  # has the sign of b
            return extents.mod(a, b)
        if op == "Div":  # towards zero
            up, down = extents.maximum(a, 0), extents.maximum(extents.mul(-1, a), 0)
            return extents.sub(extents.floordiv(up, b), extents.floordiv(down, b))
    raise UnknownError


PLAIN: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Mod": np.mod, "Fmod": np.fmod,
    "Min": np.minimum, "Max": np.maximum,
}  # fmt: skip


def _plain(op: str, a: Any, b: Any, dtype: str) -> Any:
    """Numbers: integers wrap as their dtype does and divide towards zero, floats round."""
    kind = same_dtype(dtype).type
    if op in ("Div", "Mod", "Fmod") and dtype in INTEGERS:
        if b == 0:
            raise UnknownError
        if op == "Div":
            quotient = abs(a) // abs(b)
            return _wrapped(quotient if (a < 0) == (b < 0) else -quotient, dtype)
    with np.errstate(all="ignore"):
        return PLAIN[op](kind(a), kind(b)).item()


def _wrapped(x: int, dtype: str) -> int:
    """The low bits of `x`, as `dtype` reads them."""
    bits = int(dtype[1:])
    low = x % (1 << bits)
    return low - (1 << bits) if dtype[0] == "i" and low >> (bits - 1) else low


@folds("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max")
def fold_arithmetic(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    dtype = n[0].dtype
    fmod = n.op_type == "Mod" and n.integer("fmod") != 0
    if dtype == "bool" or (n.op_type == "Mod" and dtype in FLOATS):
        raise UnknownError

    def pair(a: Elements, b: Elements) -> Elements:
        a, b = np.broadcast_arrays(a, b)
        flat = [
            _calculate(n.op_type, p, q, dtype, fmod=fmod)
            for p, q in zip(a.flat, b.flat, strict=True)
        ]
        return as_elements(flat, a.shape)

    return functools.reduce(pair, xs), dtype


@folds("Neg", "Abs", "Floor", "Ceil", "Not")
def fold_unary(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    dtype = n[0].dtype
    return as_elements([_unary(n.op_type, x, dtype) for x in xs[0].flat], xs[0].shape), dtype


def _unary(op: str, x: Any, dtype: str) -> Any:
    if op == "Not":
        return not x
    if _numbers(x):
        if dtype in INTEGERS:
            return _wrapped(-x if op == "Neg" or (op == "Abs" and x < 0) else x, dtype)
        with np.errstate(all="ignore"):
            pick = {"Neg": np.negative, "Abs": np.abs, "Floor": np.floor, "Ceil": np.ceil}[op]
            return pick(same_dtype(dtype).type(x)).item()
    if dtype in FLOATS:
        if op == "Abs":
            raise UnknownError
        return extents.Scaled(dtype, op, (x,))
    if op == "Neg":
        return _whole(-x)
    if op in ("Floor", "Ceil") or at_most(0, x):
        return x
    raise UnknownError


@folds("Cast")
def fold_cast(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    row = BY_ONNX.get(n.integer("to"))
    to = row.name if row else ""
    if to not in FOLDED:
        raise UnknownError
    return as_elements([_cast(l, x, n[0].dtype, to) for x in xs[0].flat], xs[0].shape), to


def _cast(l: Lowering, x: Any, source: str, to: str) -> Any:
    if _numbers(x):
        return _cast_number(x, source, to)
    if to in FLOATS:
        return extents.Scaled(to, "Cast", (x,))
    if to not in ("i64", "i32", "u32", "u64"):
        raise UnknownError
    if isinstance(x, extents.Scaled):
        found = scaled.whole(x)
        if found is None:
            raise UnknownError
        result, size, largest = found
        l.sizes.check(
            "le", size, largest, "a size that is scaled in floats is rounded as the model says"
        )
        return result
    return x


def _cast_number(x: Any, source: str, to: str) -> Any:
    """Integers wrap, floats round once or lose their fraction; what saturates is left to the runtime."""
    if to == "bool":
        return bool(x != 0)
    if to in FLOATS:
        with np.errstate(over="ignore"):
            return same_dtype(source).type(x).astype(same_dtype(to)).item()
    if source in FLOATS:
        limits = np.iinfo(same_dtype(to))
        if not limits.min <= x <= limits.max:
            raise UnknownError
        return int(x)
    return _wrapped(int(x), to)


@folds("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def fold_compare(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    a, b = np.broadcast_arrays(*xs)
    flat = [_compare(n.op_type, p, q) for p, q in zip(a.flat, b.flat, strict=True)]
    return as_elements(flat, a.shape), "bool"


def _compare(op: str, a: Any, b: Any) -> bool:
    """True or False where it is proved for all sizes."""
    if op.startswith("Greater"):
        return _compare(op.replace("Greater", "Less"), b, a)
    if _numbers(a, b):
        return bool(a == b if op == "Equal" else a < b if op == "Less" else a <= b)
    if isinstance(a, extents.Scaled) or isinstance(b, extents.Scaled):
        raise UnknownError
    if op == "Equal":
        if same(a, b):
            return True
        if at_most(a + 1, b) or at_most(b + 1, a):
            return False
        raise UnknownError
    if op == "Less":
        return not _compare("LessOrEqual", b, a)
    if at_most(a, b):
        return True
    if at_most(b + 1, a):
        return False
    raise UnknownError


@folds("And", "Or")
def fold_logic(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    a, b = np.broadcast_arrays(*xs)
    pick = all if n.op_type == "And" else any
    flat = [pick((bool(p), bool(q))) for p, q in zip(a.flat, b.flat, strict=True)]
    return as_elements(flat, a.shape), "bool"


@folds("Where", moves=True)
def fold_where(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    c, a, b = np.broadcast_arrays(*xs)
    flat = [p if k else q for k, p, q in zip(c.flat, a.flat, b.flat, strict=True)]
    return as_elements(flat, c.shape), n[1].dtype


# --- picking and joining ------------------------------------------------------------------------------------------------


def _small(l: Lowering, ref: Ref) -> list[int]:
    """Numbers that pick elements."""
    elements = l.values.elements(ref)
    if elements is None or not _numbers(*elements.flat):
        raise UnknownError
    return [int(e) for e in elements.flat]


@folds("Gather", moves=True)
def fold_gather(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    at = np.array(_small(l, n[1]), np.int64).reshape(xs[1].shape)
    axis = n.integer("axis")
    if at.size and not (-xs[0].shape[axis] <= at.min() and at.max() < xs[0].shape[axis]):
        raise UnknownError
    return np.asarray(np.take(xs[0], at, axis), object), n[0].dtype


@folds("Concat", moves=True)
def fold_concat(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    return np.concatenate(xs, n.integer("axis")), n[0].dtype


@folds("Range")
def fold_range(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    start, limit, delta = (x.item() for x in xs)
    if not _numbers(start, limit, delta) or n[0].dtype in FLOATS or delta == 0:
        raise UnknownError
    if len(range(start, limit, delta)) > RANGE_LIMIT:
        raise UnknownError
    return as_elements(range(start, limit, delta), (len(range(start, limit, delta)),)), n[0].dtype


@folds("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def fold_reduce(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    """All elements of a flat tensor."""
    x = xs[0]
    axes = axes_of(l, n, 1)
    if (
        x.ndim != 1
        or axes not in (None, (0,), (-1,))
        or n.integer("noop_with_empty_axes")
        or not x.size
        or n[0].dtype in FLOATS
    ):
        raise UnknownError
    op = {"ReduceProd": "Mul", "ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min"}[
        n.op_type
    ]
    total = functools.reduce(lambda a, b: _calculate(op, a, b, n[0].dtype), x.flat)
    return as_elements([total], (1,) if n.integer("keepdims", 1) else ()), n[0].dtype
