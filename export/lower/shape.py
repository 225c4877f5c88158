"""Shape, Size, and the folding of shape arithmetic: operators on tensors whose elements are known as expressions.

What is folded never reaches the runtime. Elements are integers, booleans, expressions over sizes, and floats where a
model scales sizes (Resize). A fold returns None where it cannot tell; the node is then lowered like any other.
Views (Reshape, Slice, Unsqueeze ...) carry known elements by themselves.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import sympy

from pteron.export import extents
from pteron.export.extents import at_most, same, symbols_of
from pteron.export.lower.arrays import same_dtype
from pteron.export.lower.core import Lowering
from pteron.export.lower.movement import axes_of, slice_range
from pteron.export.lower.node import DTYPES, FOLDS, Node, lowers
from pteron.export.lower.ref import Elements, Ref, as_elements
from pteron.export.terms import FLOATS, INTEGERS

Folded = tuple[Elements, str]


class UnknownError(Exception):
    """The result depends on sizes in a way that no expression says."""


def folds(*op_types: str) -> Callable[..., Any]:
    """Enters a function (l, node, elements of each operand) -> Elements, called where all operands are known."""

    def enter(function: Callable[[Lowering, Node, list[Elements]], Folded]) -> Any:
        def fold(l: Lowering, n: Node) -> Folded | None:
            if any(x is not None and x.dtype not in FOLDED for x in n.inputs):
                return None
            known = [l.elements(x) for x in n.inputs if x is not None]
            if not known or any(k is None for k in known):
                return None
            try:
                return function(l, n, [k for k in known if k is not None])
            except UnknownError:
                return None

        for op_type in op_types:
            FOLDS[op_type] = fold
        return function

    return enter


FOLDED: Final = (*INTEGERS, "bool", "f32", "f64")


@lowers("Shape")
def lower_shape(l: Lowering, n: Node) -> Ref:
    shape = n[0].shape
    start, count = slice_range(l, len(shape), n.integer("start"), n.integer("end", len(shape)), 1)
    assert isinstance(start, int) and isinstance(count, int)
    return l.of_elements(as_elements(shape[start : start + count], (count,)), "i64")


@lowers("Size")
def lower_size(l: Lowering, n: Node) -> Ref:
    return l.of_elements(as_elements([extents.product(n[0].shape)], ()), "i64")


# --- element by element -------------------------------------------------------------------------------------------------


def _exact(x: Any) -> Any:
    """A float beside an expression becomes the fraction that it is."""
    return sympy.Rational(x) if isinstance(x, float) else x


def _whole(x: Any) -> Any:
    return extents.extent(x) if isinstance(x, sympy.Basic) and x.is_Integer else x


def _numbers(*xs: Any) -> bool:
    return not any(symbols_of(x) for x in xs)


def _calculate(op: str, a: Any, b: Any, dtype: str) -> Any:
    if _numbers(a, b):
        return _plain(op, a, b, dtype)
    a, b = _exact(a), _exact(b)
    if op == "Add":
        return _whole(a + b)
    if op == "Sub":
        return _whole(a - b)
    if op == "Mul":
        return _whole(sympy.expand(a * b))
    if op in ("Min", "Max"):
        return extents.minimum(a, b) if op == "Min" else extents.maximum(a, b)
    if op == "Div" and dtype in FLOATS:
        return _whole(sympy.expand(sympy.sympify(a) / b))
    if op in ("Div", "Mod") and at_most(1, b) and at_most(0, a):
        return extents.floordiv(a, b) if op == "Div" else extents.mod(a, b)
    raise UnknownError


def _plain(op: str, a: Any, b: Any, dtype: str) -> Any:
    """Numbers: integers wrap as their dtype does, f32 rounds."""
    kind = same_dtype(dtype).type
    x, y = kind(a), kind(b)
    if op in ("Div", "Mod") and dtype in INTEGERS:
        if b == 0:
            raise UnknownError
        return int(kind(math.trunc(sympy.Rational(a, b)) if op == "Div" else a % b))
    with np.errstate(all="ignore"):
        pick = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
                "Mod": np.mod, "Min": np.minimum, "Max": np.maximum}[op]  # fmt: skip
        return pick(x, y).item()


@folds("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max")
def fold_arithmetic(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    dtype = n[0].dtype
    if dtype == "bool" or (n.op_type == "Mod" and dtype in FLOATS):
        raise UnknownError

    def pair(a: Elements, b: Elements) -> Elements:
        a, b = np.broadcast_arrays(a, b)
        flat = [_calculate(n.op_type, p, q, dtype) for p, q in zip(a.flat, b.flat, strict=True)]
        return as_elements(flat, a.shape)

    return functools.reduce(pair, xs), dtype


@folds("Neg", "Abs", "Floor", "Ceil", "Not", "Sqrt")
def fold_unary(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    dtype = n[0].dtype
    return as_elements([_unary(n.op_type, x, dtype) for x in xs[0].flat], xs[0].shape), dtype


def _unary(op: str, x: Any, dtype: str) -> Any:
    if op == "Not":
        return not x
    if op == "Neg":
        return _whole(-x)
    if op == "Abs" and at_most(0, _exact(x)):
        return x
    if op == "Floor":
        return float(math.floor(x)) if isinstance(x, float) else _whole(sympy.floor(x))
    if op == "Ceil":
        return float(math.ceil(x)) if isinstance(x, float) else _whole(sympy.ceiling(x))
    if _numbers(x) and op == "Abs":
        return abs(x)
    raise UnknownError


@folds("Cast")
def fold_cast(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    to = next((name for d, name in DTYPES.items() if int(d) == n.integer("to")), "")
    if to not in FOLDED:
        raise UnknownError
    return as_elements([_cast(x, to) for x in xs[0].flat], xs[0].shape), to


def _cast(x: Any, to: str) -> Any:
    if _numbers(x):
        x = float(x) if isinstance(x, sympy.Basic) else x
        if to in INTEGERS and isinstance(x, float) and not math.isfinite(x):
            raise UnknownError
        value = math.trunc(x) if to in INTEGERS else x
        return np.array(value).astype(same_dtype(to)).item()
    if to in INTEGERS and not x.is_integer:
        if not at_most(0, x):
            raise UnknownError
        return _whole(sympy.floor(x))
    if to == "bool":
        raise UnknownError
    return x


@folds("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def fold_compare(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    a, b = np.broadcast_arrays(*xs)
    flat = [_compare(n.op_type, _exact(p), _exact(q)) for p, q in zip(a.flat, b.flat, strict=True)]
    return as_elements(flat, a.shape), "bool"


def _compare(op: str, a: Any, b: Any) -> bool:
    """True or False where it is proved for all sizes."""
    if op.startswith("Greater"):
        return _compare(op.replace("Greater", "Less"), b, a)
    if op == "Equal":
        if same(a, b):
            return True
        if _numbers(a, b) or at_most(a + 1, b) or at_most(b + 1, a):
            return False
        raise UnknownError
    if op == "Less":
        return not _compare("LessOrEqual", b, a)
    if at_most(a, b):
        return True
    if _numbers(a, b) or at_most(b + 1, a):
        return False
    raise UnknownError


@folds("And", "Or")
def fold_logic(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    a, b = np.broadcast_arrays(*xs)
    pick = all if n.op_type == "And" else any
    flat = [pick((bool(p), bool(q))) for p, q in zip(a.flat, b.flat, strict=True)]
    return as_elements(flat, a.shape), "bool"


@folds("Where")
def fold_where(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    c, a, b = np.broadcast_arrays(*xs)
    flat = [p if k else q for k, p, q in zip(c.flat, a.flat, b.flat, strict=True)]
    return as_elements(flat, c.shape), n[1].dtype


# --- picking and joining ------------------------------------------------------------------------------------------------


def _small(l: Lowering, ref: Ref) -> list[int]:
    """Numbers that pick elements."""
    elements = l.elements(ref)
    if elements is None or not _numbers(*elements.flat):
        raise UnknownError
    return [int(e) for e in elements.flat]


@folds("Gather")
def fold_gather(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    at = np.array(_small(l, n[1]), np.int64).reshape(xs[1].shape)
    axis = n.integer("axis")
    if at.size and not (-xs[0].shape[axis] <= at.min() and at.max() < xs[0].shape[axis]):
        raise UnknownError
    return np.asarray(np.take(xs[0], at, axis), object), n[0].dtype


@folds("Concat")
def fold_concat(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    return np.concatenate(xs, n.integer("axis")), n[0].dtype


@folds("Range")
def fold_range(l: Lowering, n: Node, xs: list[Elements]) -> Folded:
    start, limit, delta = (x.item() for x in xs)
    if not _numbers(start, limit, delta) or n[0].dtype in FLOATS:
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
    ):
        raise UnknownError
    op = {"ReduceProd": "Mul", "ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min"}[
        n.op_type
    ]
    total = functools.reduce(lambda a, b: _calculate(op, a, b, n[0].dtype), x.flat)
    return as_elements([total], (1,) if n.integer("keepdims", 1) else ()), n[0].dtype
