"""Pad: copies into a frame, or the operator `pad`, which extends a tensor by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ....sizes import Extent, extents
from ....sizes.extents import add, at_most, has_any_sign, maximum, mul, same, sub, symbols_of
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ...windows import Window
from .counted import sizes
from .movement import axes_of, like_memory


@lowers("Pad")
def lower_pad(l: Lowering, n: Node) -> Ref:
    x, given = l.unpacked(n[0]), n.get(2)
    mode = n.text("mode", "constant")
    given_pads = l.values.sizes_in(n[1], signed=True)
    if given_pads is not None and any(map(has_any_sign, given_pads.flat)):
        pads = l.values.known(n[1], "how much to pad", signed=True)
    else:
        pads = sizes(l, n[1], "how much to pad")
    fill = l.values.scalar(0, x.dtype) if given is None else l.unpacked(given)
    return convert(l, _padded(l, n, x, mode, pads, fill), n[0].dtype)


def _padded(l: Lowering, n: Node, x: Ref, mode: str, pads: Sequence[Extent], fill: Ref) -> Ref:
    axes = axes_of(l, n, 3) or tuple(range(x.rank))
    begin: list[Extent] = [0] * x.rank
    end: list[Extent] = [0] * x.rank
    for i, a in enumerate(axes):
        begin[a], end[a] = pads[i], pads[i + len(axes)]
    if all(same(p, 0) for p in pads):
        return x
    if mode == "constant":
        return pad_constant(l, x, begin, end, fill)
    shape = [add(s, add(a, b)) for s, a, b in zip(x.shape, begin, end, strict=True)]
    return l.one("pad", [x], {"begin": tuple(begin), "mode": mode}, x.dtype, shape)


def pad_constant(
    l: Lowering, x: Ref, begin: Sequence[Extent], end: Sequence[Extent], fill: Ref
) -> Ref:
    """x (cropped where pads are negative) inside its output; the frame is filled slab by slab, no element twice: one that a run
    makes negative has no extent, which it refuses."""
    x, begin, end = crop(l, x, begin, end)
    shape = [add(s, add(a, b)) for s, a, b in zip(x.shape, begin, end, strict=True)]
    if extents.same_shape(shape, x.shape):
        return x
    base = like_memory(l, l.real(x), x.dtype, shape)
    fill = l.reshape(fill, ())
    inner = base
    for axis in range(x.rank):
        for start, count in ((0, begin[axis]), (sub(shape[axis], end[axis]), end[axis])):
            if count != 0:
                slab = l.slice(inner, axis, start, count, inside=True)
                l.copy_into(l.expand(fill, slab.shape), slab)
        inner = l.slice(inner, axis, begin[axis], x.shape[axis], inside=True)
    l.copy_into(x, inner)
    return base


def padded_window(l: Lowering, x: Ref, window: Window, fill: Ref) -> tuple[Ref, Window]:
    """[b, *i, c] and its window, without padding that depends on sizes: that is put around `x` first."""
    if all(isinstance(p, int) for p in (*window.begin, *window.end)):
        return x, window
    nowhere = (0,) * len(window.kernel)
    x = pad_constant(l, x, (0, *window.begin, 0), (0, *window.end, 0), fill)
    return x, dataclasses.replace(window, begin=nowhere, end=nowhere)


def crop(
    l: Lowering, x: Ref, begin: Sequence[Extent], end: Sequence[Extent]
) -> tuple[Ref, list[Extent], list[Extent]]:
    """Negative pads as slices; what is left is not negative."""
    left, right = list(begin), list(end)
    for a in range(x.rank):
        for p in (left[a], right[a]):
            if symbols_of(p) and not at_most(0, p) and not has_any_sign(p):
                l.sizes.check("le", 0, p, "computed pads are not negative")
        cut = [_below_0(p) for p in (left[a], right[a])]
        if any(cut):
            x = l.slice(x, a, cut[0], sub(x.shape[a], add(*cut)))
            left[a] = maximum(left[a], 0) if cut[0] else left[a]
            right[a] = maximum(right[a], 0) if cut[1] else right[a]
    return x, left, right


def _below_0(p: Extent) -> Extent:
    """How far a pad is below 0."""
    known = isinstance(p, int) or has_any_sign(p)
    return maximum(mul(-1, p), 0) if known else 0
