"""Reading integer vectors: which sizes of which values their elements are, without running anything."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import onnx_ir as ir

from .. import graph as g

DEPTH = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """`factor` times the extent of `value` at `axis`, or times the symbol `name` where inference knows one."""

    name: str
    factor: int = 1


Element: TypeAlias = int | Size | None


def size_of(value: ir.Value, axis: int) -> Element:
    """The extent of one axis: a number, else a name that equals itself only for one size."""
    extents = g.dims(value)
    if extents is not None and axis < len(extents):
        extent = extents[axis]
        if isinstance(extent, int):
            return extent
        if extent is not None:
            return Size(extent)
    return Size(f"{value.name}[{axis}]")


def elements(value: ir.Value | None, depth: int = DEPTH) -> list[Element] | None:
    """The elements of an integer vector or scalar, None where even their number is unknown.

    Follows Shape, Gather, Slice, Concat, Unsqueeze, Squeeze, Reshape, Cast, Mul and Div by a constant, and the Where that old exporters put
    around the shape of an Expand (it replaces -1, which no size is).
    """
    known = g.ints(value)
    if known is not None:
        return list(known)
    node = value.producer() if value is not None else None
    if node is None or depth == 0:
        return None
    if g.is_op(node, "Shape") and node.inputs[0] is not None:
        return _shape(node, node.inputs[0])
    if g.is_op(node, "Concat"):
        parts = [elements(v, depth - 1) for v in node.inputs]
        return (
            None
            if any(p is None for p in parts)
            else [e for p in parts if p is not None for e in p]
        )
    if g.is_op(node, "Where") and g.is_op(
        node.inputs[0].producer() if node.inputs[0] else None, "Equal"
    ):
        return elements(node.inputs[2], depth - 1)
    first = elements(node.inputs[0], depth - 1) if node.inputs else None
    if g.is_op(node, "Unsqueeze", "Squeeze", "Reshape", "Cast", "Identity"):
        return first
    if first is None:
        return None
    if g.is_op(node, "Gather"):
        index = g.ints(node.inputs[1])
        return (
            None
            if index is None or not all(-len(first) <= i < len(first) for i in index)
            else [first[i] for i in index]
        )
    if g.is_op(node, "Slice") and len(node.inputs) < 5:
        start, end = g.ints(node.inputs[1]), g.ints(node.inputs[2])
        return None if start is None or end is None else first[start[0] : end[0]]
    if g.is_op(node, "Mul"):
        return _times(first, elements(node.inputs[1], depth - 1))
    if g.is_op(node, "Div"):
        by = g.ints(node.inputs[1])
        whole = by is not None and len(by) == 1 and by[0] > 0
        return [
            e // by[0] if whole and by and isinstance(e, int) and e >= 0 else None for e in first
        ]
    return [None] * len(first)


def _shape(node: ir.Node, x: ir.Value) -> list[Element] | None:
    rank = g.rank(x)
    if rank is None:
        return None
    every = [size_of(x, i) for i in range(rank)]
    return every[g.attr(node, "start", 0) : g.attr(node, "end", rank)]


def _times(a: list[Element], b: list[Element] | None) -> list[Element] | None:
    if b is None or len(b) != len(a):
        return [None] * len(a)
    return [_product(x, y) for x, y in zip(a, b, strict=True)]


def _product(x: Element, y: Element) -> Element:
    if isinstance(x, Size) and isinstance(y, int):
        return Size(x.name, x.factor * y)
    if isinstance(y, Size) and isinstance(x, int):
        return Size(y.name, y.factor * x)
    return x * y if isinstance(x, int) and isinstance(y, int) else None
