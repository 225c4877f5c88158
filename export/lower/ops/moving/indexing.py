"""Operators that read or write by index: the indexed axis is brought first (or last) by a view; indices are i64."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pteron.schema.dtypes import DTYPES

from ....program.terms import register
from ....sizes import extents
from ....sizes.extents import product, symbols_of
from ...context import Lowering
from ...elementwise import convert, ordered, unordered
from ...node import Node
from ...refs import Codes, Ref
from ...table import lowers
from ..rows.reduction import extreme_places
from .counted import size_within, sizes, taken


def bytes_only(l: Lowering, x: Ref) -> Ref:
    """Elements that kernels can move one by one."""
    return l.unpacked(x) if DTYPES[x.dtype].is_narrow else x


@lowers("Gather")
def lower_gather(l: Lowering, n: Node) -> Ref:
    x, at = n[0], n[1]
    axis = n.integer("axis") % x.rank
    known = l.values.elements(at)
    if known is not None and not any(symbols_of(e) for e in known.flat) and known.ndim <= 1:
        found = _as_slice(l, x, axis, [int(e) for e in known.flat])
        if found is not None:
            return l.squeeze(found, [axis]) if at.rank == 0 else found
    x = l.weight(x) if isinstance(x, Codes) else x
    source = l.move_axis(bytes_only(l, x), axis, 0)
    shape = (*at.shape, *source.shape[1:])
    y = l.one("gather", [source, convert(l, at, "i64")], {}, source.dtype, shape)
    rest = [at.rank + i for i in range(source.rank - 1)]
    order = [*rest[:axis], *range(at.rank), *rest[axis:]]
    return convert(l, l.transpose(y, order), x.dtype)


def _as_slice(l: Lowering, x: Ref, axis: int, at: Sequence[int]) -> Ref | None:
    """Indices in even steps are a view, of an axis that is as long as prepare sees it: else the kernel looks."""
    size = x.shape[axis]
    if l.sizes.is_counted(size):
        return None
    if not at or (any(i < 0 for i in at) and not isinstance(size, int)):
        return l.slice(x, axis, extents.add(size, at[0]), 1) if len(at) == 1 else None
    if isinstance(size, int):
        at = [i + size if i < 0 else i for i in at]
        if not all(0 <= i < size for i in at):
            l.fail(f"gathers {list(at)} from an axis of {size}; correct the indices")
    step = at[1] - at[0] if len(at) > 1 else 1
    if step == 0 or any(b - a != step for a, b in itertools.pairwise(at)):
        return None
    return l.slice(x, axis, at[0], len(at), step)


@lowers("GatherElements")
def lower_gather_elements(l: Lowering, n: Node) -> Ref:
    x, at = bytes_only(l, n[0]), convert(l, n[1], "i64")
    axis = n.integer("axis") % x.rank
    for a in range(x.rank):
        if a != axis:
            l.sizes.require_at_most(at.shape[a], x.shape[a], "indices lie inside the other axes")
    at = l.move_axis(at, axis, 0)
    y = l.one("gather_elements", [l.move_axis(x, axis, 0), at], {}, x.dtype, at.shape)
    return convert(l, l.move_axis(y, 0, axis), n[0].dtype)


@lowers("GatherND")
def lower_gather_nd(l: Lowering, n: Node) -> Ref:
    x, at = bytes_only(l, n[0]), convert(l, n[1], "i64")
    batch = n.integer("batch_dims")
    depth = at.shape[-1]
    if not isinstance(depth, int):
        l.fail(f"the last axis of its indices is {depth}; expected a number")
    shape = (*at.shape[:-1], *x.shape[batch + depth :])
    y = l.one("gather_nd", [x, at], {"batch_dims": batch}, x.dtype, shape)
    return convert(l, y, n[0].dtype)


@lowers("ScatterElements")
def lower_scatter_elements(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axis = n.integer("axis") % x.rank
    reduction = n.text("reduction", "none")
    dtype = _scattered(x.dtype, reduction)
    parts = [convert(l, x, dtype), convert(l, n[1], "i64"), convert(l, n[2], dtype)]
    source, at, updates = (l.move_axis(p, axis, 0) for p in parts)
    y = l.one(
        "scatter_elements", [source, at, updates], {"reduction": reduction}, dtype, source.shape
    )
    return convert(l, l.move_axis(y, 0, axis), x.dtype)


@lowers("ScatterND")
def lower_scatter_nd(l: Lowering, n: Node) -> Ref:
    x = n[0]
    if not isinstance(n[1].shape[-1], int):
        l.fail(f"the last axis of its indices is {n[1].shape[-1]}; expected a number")
    reduction = n.text("reduction", "none")
    dtype = _scattered(x.dtype, reduction)
    operands = [convert(l, x, dtype), convert(l, n[1], "i64"), convert(l, n[2], dtype)]
    y = l.one("scatter_nd", operands, {"reduction": reduction}, dtype, x.shape)
    return convert(l, y, x.dtype)


def _scattered(dtype: str, reduction: str) -> str:
    """Moving takes any type of whole bytes, reductions compute in register types."""
    if DTYPES[dtype].is_narrow or (reduction != "none" and dtype not in ("bool", "f64")):
        return "f32" if dtype[0] == "f" or dtype == "bf16" else "i64"
    return dtype


@lowers("TensorScatter")
def lower_tensor_scatter(l: Lowering, n: Node) -> Ref:
    """The axis that grows is brought to the last but one place."""
    cache, update, start = n[0], n[1], n.get(2)
    axis = n.integer("axis", -2) % cache.rank
    circular = n.text("mode", "linear") == "circular"
    at = cache.rank - 2
    y = l.one(
        "tensor_scatter",
        [
            l.move_axis(cache, axis, at),
            l.move_axis(update, axis, at),
            None if start is None else convert(l, start, "i64"),
        ],
        {"circular": circular},
        cache.dtype,
        l.move_axis(cache, axis, at).shape,
    )
    return l.move_axis(y, at, axis)


@lowers("NonZero")
def lower_nonzero(l: Lowering, n: Node) -> Ref:
    """As many columns as elements are not zero: a counted dimension, at most all of them."""
    x = bytes_only(l, n[0])
    if x.rank == 0:
        x = l.reshape(x, (1,))
    count = l.sizes.counted("nonzero", product(x.shape))
    return l.one("nonzero", [x], {}, "i64", (x.rank, count))


@lowers("Compress")
def lower_compress(l: Lowering, n: Node) -> Ref:
    """The slices whose condition is true: their places are found, then gathered."""
    x = n[0]
    if not n.has("axis"):
        x = l.reshape(x, (product(x.shape),))
    return taken(l, x, n.integer("axis", 0) % x.rank, n[1], "compress")


@lowers("TopK")
def lower_topk(l: Lowering, n: Node) -> list[Ref]:
    x = n[0]
    axis = n.integer("axis", -1) % x.rank
    k = l.reshape(n[1], (1,))
    if l.values.sizes_in(k) is None:
        count = size_within(l, l.reshape(k, ()), x.shape[axis])
    else:
        (count,) = sizes(l, k, "k")
    no_f64(l, x)
    source = l.move_axis(ordered(l, x), axis, -1)
    shape = (*source.shape[:-1], count)
    values, places = l.emit(
        "topk",
        [source],
        {"largest": bool(n.integer("largest", 1))},
        [(source.dtype, shape), ("i64", shape)],
    )
    assert values is not None and places is not None
    return [unordered(l, l.move_axis(values, -1, axis), x.dtype), l.move_axis(places, -1, axis)]


def no_f64(l: Lowering, x: Ref) -> None:
    if x.dtype == "f64":
        l.fail("orders f64 elements, which no kernel does; cast to f32 in front of it")


@lowers("ArgMax", "ArgMin")
def lower_arg(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axis = n.integer("axis") % x.rank
    kind = "max" if n.op_type == "ArgMax" else "min"
    y = extreme_places(l, l.move_axis(x, axis, -1), kind, last=bool(n.integer("select_last_index")))
    return l.unsqueeze(y, [axis]) if n.integer("keepdims", 1) else y


@lowers("CumSum", "CumProd")
def lower_cumulate(l: Lowering, n: Node) -> Ref:
    x = n[0]
    (axis,) = l.values.numbers(l.reshape(n[1], (1,)), "the axis")
    axis %= x.rank
    dtype = register(x.dtype)
    attrs = {
        "kind": "sum" if n.op_type == "CumSum" else "prod",
        "exclusive": bool(n.integer("exclusive")),
        "reverse": bool(n.integer("reverse")),
    }
    source = l.move_axis(convert(l, x, dtype), axis, -1)
    y = l.one("cumulate", [source], attrs, dtype, source.shape)
    return convert(l, l.move_axis(y, -1, axis), x.dtype)
