"""Unique without an axis: a stable sort, then the places where a sorted element differs from the one before it.

How many there are is a counted dimension. With sorted = 0 the groups are put in the order of their first elements.
"""

from __future__ import annotations

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


@lowers("Unique")
def lower_unique(l: Lowering, n: Node) -> list[Ref]:
    """values, first places, inverse, counts."""
    x = n[0]
    if n.has("axis") and x.rank != 1:
        l.fail("compares slices along an axis; only whole tensors are covered, flatten it")
    no_f64(l, x)
    size = product(x.shape)
    flat = l.reshape(ordered(l, x), (size,))
    values, places = _sort(l, flat, size)
    is_new = _differs(l, values, size)
    count = l.sizes.counted("unique", size)
    starts = l.reshape(l.one("nonzero", [is_new], {}, "i64", (1, count)), (count,))
    rest = maximum(sub(count, 1), 0)
    ends = concat(l, [l.slice(starts, 0, 1, rest), _size(l, size)], 0)
    ends = ends if at_most(1, count) else l.slice(ends, 0, 0, count, inside=True)
    results = [
        _gather(l, values, starts),
        _gather(l, places, starts),
        _group_of(l, is_new, places, size),
        l.pointwise(lambda a, b: a - b, [ends, starts], "i64"),
    ]
    if not n.integer("sorted", 1):
        results = _by_first(l, results, count)
    return [unordered(l, results[0], x.dtype), *results[1:]]


def _sort(l: Lowering, x: Ref, count: Extent) -> tuple[Ref, Ref]:
    """Ascending values and where they stood, equal ones in order."""
    results = [(x.dtype, (count,)), ("i64", (count,))]
    values, places = l.emit("topk", [x], {"largest": False}, results)
    assert values is not None and places is not None
    return values, places


def _differs(l: Lowering, values: Ref, size: Extent) -> Ref:
    """Which sorted elements are not the one before them; the first is not."""
    rest = maximum(sub(size, 1), 0)
    later, earlier = l.slice(values, 0, 1, rest), l.slice(values, 0, 0, rest)
    changed = l.pointwise(lambda a, b: ~eq(a, b), [later, earlier], "bool")
    each = concat(l, [l.expand(l.values.scalar(True, "bool"), (1,)), changed], 0)
    return each if at_most(1, size) else l.slice(each, 0, 0, size, inside=True)


def _size(l: Lowering, size: Extent) -> Ref:
    return l.one("dims", [], {"values": (size,)}, "i64", (1,))


def _gather(l: Lowering, x: Ref, at: Ref) -> Ref:
    return l.one("gather", [x, at], {}, x.dtype, at.shape)


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
