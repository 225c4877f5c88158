"""Unique: a stable sort, then the places where a sorted element, or slice along an axis, differs from the one before it.

How many there are is a counted dimension. With sorted = 0 the groups are put in the order of their first elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....program.terms import eq, index
from ....sizes import Extent
from ....sizes.extents import at_most, maximum, product, sub
from ...context import Lowering
from ...elementwise import convert, ordered, unordered
from ...node import Node
from ...refs import Ref
from ...table import lowers
from .indexing import no_f64
from .movement import concat

MOST_COLUMNS: Final = 64
"""Elements of a slice: each is a sort."""


@lowers("Unique")
def lower_unique(l: Lowering, n: Node) -> list[Ref]:
    """values, first places, inverse, counts."""
    x = n[0]
    no_f64(l, x)
    flat, rest, axis = _rows(l, n, ordered(l, x))
    size = flat.shape[0]
    values, places = _sort(l, flat, size) if flat.rank == 1 else _sort_rows(l, flat)
    is_new = _differs(l, values, size)
    count = l.sizes.counted("unique", size)
    starts = l.reshape(l.one("nonzero", [is_new], {}, "i64", (1, count)), (count,))
    later = maximum(sub(count, 1), 0)
    ends = concat(l, [l.slice(starts, 0, 1, later), _size(l, size)], 0)
    ends = ends if at_most(1, count) else l.slice(ends, 0, 0, count, inside=True)
    results = [
        _gather(l, values, starts),
        _gather(l, places, starts),
        _group_of(l, is_new, places, size),
        l.pointwise(lambda a, b: a - b, [ends, starts], "i64"),
    ]
    if not n.integer("sorted", 1):
        results = _by_first(l, results, count)
    found = l.move_axis(l.reshape(results[0], (count, *rest)), 0, axis)
    return [unordered(l, found, x.dtype), *results[1:]]


def _rows(l: Lowering, n: Node, x: Ref) -> tuple[Ref, Sequence[Extent], int]:
    """(elements [n], or slices along the axis as rows [n, columns]; the shape of one; the axis)."""
    if not n.has("axis") or x.rank == 1:
        return l.reshape(x, (product(x.shape),)), (), 0
    axis = n.integer("axis") % x.rank
    x = l.move_axis(x, axis, 0)
    rest = x.shape[1:]
    columns = product(rest)
    if not isinstance(columns, int) or not 1 <= columns <= MOST_COLUMNS:
        l.fail(f"compares slices of {columns} elements; expected a number from 1 to {MOST_COLUMNS}")
    return l.reshape(x, (x.shape[0], columns)), rest, axis


def _sort(l: Lowering, x: Ref, count: Extent) -> tuple[Ref, Ref]:
    """Ascending values and where they stood, equal ones in order."""
    results = [(x.dtype, (count,)), ("i64", (count,))]
    values, places = l.emit("topk", [x], {"largest": False}, results)
    assert values is not None and places is not None
    return values, places


def _sort_rows(l: Lowering, rows: Ref) -> tuple[Ref, Ref]:
    """The same of rows [n, columns], by the first column first: sorted by the last first, each sort keeps the order of equals."""
    count, columns = rows.shape[0], rows.shape[1]
    assert isinstance(columns, int)
    order = l.pointwise(lambda: index(0), [], "i64", (count,))
    for k in reversed(range(columns)):
        column = l.reshape(l.slice(rows, 1, k, 1), (count,))
        _, places = _sort(l, _gather(l, column, order), count)
        order = _gather(l, order, places)
    return _gather(l, rows, order), order


def _differs(l: Lowering, values: Ref, size: Extent) -> Ref:
    """Which sorted elements, or rows, are not the one before them; the first is not."""
    rest = maximum(sub(size, 1), 0)
    later, earlier = l.slice(values, 0, 1, rest), l.slice(values, 0, 0, rest)
    changed = l.pointwise(lambda a, b: ~eq(a, b), [later, earlier], "bool")
    if changed.rank > 1:
        counts = convert(l, changed, "i64")
        attrs = {"kind": "max", "count": 1}
        changed = convert(l, l.one("reduce", [counts], attrs, "i64", (rest,)), "bool")
    each = concat(l, [l.expand(l.values.scalar(True, "bool"), (1,)), changed], 0)
    return each if at_most(1, size) else l.slice(each, 0, 0, size, inside=True)


def _size(l: Lowering, size: Extent) -> Ref:
    return l.one("dims", [], {"values": (size,)}, "i64", (1,))


def _gather(l: Lowering, x: Ref, at: Ref) -> Ref:
    return l.one("gather", [x, at], {}, x.dtype, (*at.shape, *x.shape[1:]))


def _scatter(l: Lowering, at: Ref, values: Ref) -> Ref:
    """y[at[i]] = values[i] for a permutation `at`."""
    empty = l.expand(l.values.scalar(0, "i64"), at.shape)
    operands = [empty, at, values]
    return l.one("scatter_elements", operands, {"reduction": "none"}, "i64", at.shape)


def _group_of(l: Lowering, is_new: Ref, places: Ref, size: Extent) -> Ref:
    """For each element of the operand, the number of its value."""
    steps = convert(l, is_new, "i64")
    numbers = l.one("cumulate", [steps], {"kind": "sum"}, "i64", (size,))
    return _scatter(l, places, l.pointwise(lambda a: a - 1, [numbers], "i64"))


def _by_first(l: Lowering, results: list[Ref], count: Extent) -> list[Ref]:
    """The groups in the order of their first elements."""
    values, first, inverse, counts = results
    first, order = _sort(l, first, count)
    numbers = l.pointwise(lambda: index(0), [], "i64", (count,))
    back = _scatter(l, order, numbers)
    return [_gather(l, values, order), first, _gather(l, back, inverse), _gather(l, counts, order)]
