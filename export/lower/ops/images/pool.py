"""Pools, Resize and GridSample, channels last (views of [b, c, *i])."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pteron.schema.dtypes import DTYPES

from ....graph import INTEGER
from ....program.terms import Term, cast, index, le, lt, select, term
from ....program.views import Shape
from ....sizes import Extent, extents
from ....sizes.extents import Scaled, floordiv, mul, product, same
from ...context import Lowering
from ...elementwise import cast_term, convert, rounded
from ...node import Node
from ...refs import Ref
from ...scaled import meant
from ...table import lowers
from ...windows import (
    Window,
    channels_first,
    channels_last,
    counts,
    read_window,
    static,
)
from ..matrix.conv import convolve
from ..moving.counted import asserted
from ..moving.counted import sizes as known_sizes
from ..moving.pads import padded_window
from ..rows.reduction import reduce

EXACT_WIDE = ("i32", "u32", "i64", "u64", "f64")
"""Element types that f32 has not all elements of."""

TOGETHER = 3
"""Axes that one instruction resizes; more are resized one group after the other, from the last."""

KERNEL_TYPES = {"f32": "f32", "f16": "f32", "bf16": "f32", "i16": "f32", "f64": "f64"}


@lowers("MaxPool")
@lowers("MaxPool", domain=INTEGER)
def lower_max_pool(l: Lowering, n: Node) -> Sequence[Ref | None]:
    x = n[0]
    window, out = _pool_window(l, n, x)
    kind = "i8" if x.dtype == "i8" else KERNEL_TYPES.get(x.dtype, "i64")
    shape = (x.shape[0], *out, x.shape[1])
    image = channels_last(l, convert(l, x, kind))
    wants_index = len(n.wanted) > 1 and n.wanted[1]
    if not wants_index:  # the places are those in what is not padded
        least = -math.inf if kind == "f32" else DTYPES[kind].least
        image, window = padded_window(l, image, window, l.values.scalar(least, kind))
    attrs = {
        "kernel": window.kernel,
        "stride": window.stride,
        "dilation": window.dilation,
        "begin": static(l, window.begin, "padding"),
        "column_major": bool(n.integer("storage_order")),
    }
    y, index = l.emit(
        "max_pool",
        [image],
        attrs,
        [(kind, shape), ("i64", shape) if wants_index else None],
    )
    assert y is not None
    return [
        convert(l, channels_first(l, y), x.dtype),
        None if index is None else channels_first(l, index),
    ]


@lowers("AveragePool")
def lower_average_pool(l: Lowering, n: Node) -> Ref:
    x = n[0]
    window, out = _pool_window(l, n, x)
    y = _mean(l, convert(l, x, "f32"), window, out, n.integer("count_include_pad") == 1)
    return convert(l, y, x.dtype)


def _pool_window(l: Lowering, n: Node, x: Ref) -> tuple[Window, Shape]:
    kernel = n.integers("kernel_shape") or ()
    window = read_window(l, n, x.shape[2:], kernel)
    return window, counts(x.shape[2:], window, ceil=n.integer("ceil_mode") == 1)


def _mean(l: Lowering, x: Ref, window: Window, out: Shape, count_padding: bool) -> Ref:
    """[b, c, *i] to [b, c, *o]."""
    image, fixed = padded_window(l, channels_last(l, x), window, l.values.scalar(0.0, "f32"))
    y = _average(l, image, fixed, out, count_padding)
    if fixed is not window and not count_padding:  # of how many the mean is to be
        ones = l.expand(l.values.scalar(1.0, "f32"), (1, *x.shape[2:], 1))
        filled, _ = padded_window(l, ones, window, l.values.scalar(0.0, "f32"))
        part = _average(l, filled, fixed, out, count_padding)
        y = l.pointwise(lambda mean, share: mean / share, [y, part], "f32")
    return channels_first(l, y)


def _average(l: Lowering, image: Ref, window: Window, out: Shape, count_padding: bool) -> Ref:
    attrs = {
        "kernel": window.kernel,
        "stride": window.stride,
        "dilation": window.dilation,
        "begin": static(l, window.begin, "padding"),
        "end": static(l, window.end, "padding"),
        "count_padding": count_padding,
    }
    return l.one("average_pool", [image], attrs, "f32", (image.shape[0], *out, image.shape[-1]))


@lowers("LpPool")
def lower_lp_pool(l: Lowering, n: Node) -> Ref:
    """The p-norm of each window: sums are a convolution with ones, every channel by itself."""
    x = n[0]
    window, out = _pool_window(l, n, x)
    p = float(n.integer("p", 2))
    powers = _powers(l, convert(l, x, "f32"), p)
    b, c = x.shape[0], x.shape[1]
    flat = l.reshape(powers, (mul(b, c), *x.shape[2:], 1))
    ones = l.values.constant(np.ones((1, 1, *window.kernel), np.float32))
    sums = convolve(l, flat, ones, None, _reaching(window) if n.integer("ceil_mode") else window, 1)
    for axis, count in enumerate(out):
        sums = l.slice(sums, axis + 1, 0, count)
    y = l.reshape(sums, (b, c, *out))
    return convert(l, _root(l, y, p), x.dtype)


def _reaching(window: Window) -> Window:
    """The window with so much end padding that the last, incomplete stride has one too."""
    end = tuple(extents.add(e, s - 1) for e, s in zip(window.end, window.stride, strict=True))
    return dataclasses.replace(window, end=end)


def _powers(l: Lowering, x: Ref, p: float) -> Ref:
    def build(t: Term) -> Term:
        if p == 2.0:
            return t * t
        return term("abs", t) if p == 1.0 else term("pow", term("abs", t), p)

    return l.pointwise(build, [x], "f32")


def _root(l: Lowering, y: Ref, p: float) -> Ref:
    if p == 1.0:
        return y
    if p == 2.0:
        return l.pointwise(lambda t: term("sqrt", t), [y], "f32")
    return l.pointwise(lambda t: term("pow", t, 1.0 / p), [y], "f32")


@lowers("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def lower_global_pool(l: Lowering, n: Node) -> Ref:
    x = n[0]
    kind = KERNEL_TYPES.get(x.dtype, "i64")
    wide = convert(l, x, kind)
    p = float(n.integer("p", 2))
    if n.op_type == "GlobalLpPool":
        wide = _powers(l, wide, p)
    name = {"GlobalAveragePool": "mean", "GlobalMaxPool": "max", "GlobalLpPool": "sum"}[n.op_type]
    attrs = {"kind": name, "count": x.rank - 2}
    y = l.one("reduce", [wide], attrs, kind, x.shape[:2])
    if n.op_type == "GlobalLpPool":
        y = _root(l, y, p)
    return convert(l, l.unsqueeze(y, range(2, x.rank)), x.dtype)


# --- Resize -------------------------------------------------------------------------------------------------------------


@lowers("Resize")
def lower_resize(l: Lowering, n: Node) -> Ref:
    x = n[0]
    out, factors = _resized(l, n)
    moving = [a for a in range(x.rank) if not _is_kept(x.shape[a], out[a], factors[a])]
    if n.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        moving = list(range(x.rank)) if n.get(1) is None else _cropped(l, n)
    if not moving:
        return x
    is_moved = n.text("mode", "nearest") == "nearest" and x.dtype in EXACT_WIDE
    y = x if is_moved else _in_f32(l, x)
    for end in range(len(moving), 0, -TOGETHER):
        part = moving[max(end - TOGETHER, 0) : end]
        y = _along(l, y, part, [out[a] for a in part], _resize_attrs(l, n, part, factors), is_moved)
    return y if is_moved else rounded(l, y, x.dtype)


def _along(
    l: Lowering,
    x: Ref,
    moving: Sequence[int],
    wanted: Sequence[Extent],
    attrs: dict[str, Any],
    is_moved: bool,
) -> Ref:
    """`x` resized to `wanted` along the axes `moving`, as f32, or moved as it is."""
    image, order = _as_image(l, x, moving)
    shape = (image.shape[0], *wanted, image.shape[-1])
    if is_moved:
        y = _nearest(l, image, attrs, shape)
    else:
        y = l.one("resize", [image], attrs, "f32", shape)
    out = {**dict(enumerate(x.shape)), **dict(zip(moving, wanted, strict=True))}
    y = l.reshape(y, tuple(out[a] for a in order))
    return l.transpose(y, [order.index(a) for a in range(x.rank)])


def _in_f32(l: Lowering, x: Ref) -> Ref:
    """`x` in the type that is resized; the run fails where that does not have an integer of `x`."""
    if x.dtype not in EXACT_WIDE or x.dtype == "f64":
        return convert(l, x, "f32")
    least = -(2**24) if DTYPES[x.dtype].least else 0  # of u64 the top half is negative here
    x = convert(l, x, "i64")
    inside = l.pointwise(lambda t: le(least, t) & le(t, 2**24), [x], "bool")
    beyond = l.pointwise(lambda t: 1 - cast_term(t, "bool", "i64"), [inside], "i64")
    count = reduce(l, beyond, range(x.rank), "sum", keep=False)
    count = asserted(l, count, lambda n: lt(0, n))
    return convert(l, l.pointwise(lambda t, none: t + none, [x, count], "i64"), "f32")


def _nearest(l: Lowering, image: Ref, attrs: dict[str, Any], shape: Shape) -> Ref:
    """Elements that f32 has not: the places of pixels are resized, which says where each element comes from."""
    pixels, channels = image.shape[1:-1], image.rank - 1
    count = product(pixels)
    l.sizes.require_at_most(count, 2**24, "pixels that f32 counts")
    places = l.pointwise(lambda: cast(index(0), "f32"), [], "f32", (count,))
    places = l.reshape(places, (1, *pixels, 1))
    outside = {"extrapolation": -1.0}
    at = l.one("resize", [places], attrs | outside, "f32", (1, *shape[1:-1], 1))
    at = l.reshape(convert(l, at, "i64"), shape[1:-1])
    rows = l.transpose(l.reshape(image, (image.shape[0], count, image.shape[channels])), (1, 0, 2))
    clipped = l.pointwise(lambda t: term("max", t, 0), [at], "i64")
    y = l.one("gather", [rows, clipped], {}, image.dtype, (*shape[1:-1], shape[0], shape[-1]))
    y = l.transpose(y, (channels - 1, *range(channels - 1), channels))
    if attrs["coordinates"] != "tf_crop_and_resize":
        return y
    fill = convert(l, l.values.scalar(attrs["extrapolation"], "f64"), image.dtype)
    beside = l.reshape(at, (*at.shape, 1))
    return l.pointwise(lambda p, e, t: select(lt(p, 0), e, t), [beside, fill, y], image.dtype)


def _is_kept(n: Extent, out: Extent, factor: Fraction | None) -> bool:
    return same(n, out) and factor in (None, Fraction(1))


def _as_image(l: Lowering, x: Ref, moving: Sequence[int]) -> tuple[Ref, list[int]]:
    """`x` as [b, *moving, c] and the order of its axes there: a view of [b, c, *i] where that is what is resized, else
    the axes that stay are one batch axis and c is 1."""
    if x.rank >= 3 and list(moving) == list(range(2, x.rank)):
        return channels_last(l, x), [0, *moving, 1]
    kept = [a for a in range(x.rank) if a not in moving]
    order = [*kept, *moving]
    moved = l.transpose(x, order)
    shape = (product(x.shape[a] for a in kept), *(x.shape[a] for a in moving), 1)
    return l.reshape(moved, shape), order


def _resized(l: Lowering, n: Node) -> tuple[Shape, list[Fraction | None]]:
    """(extents of the result, factor of each axis or None where the extents say it)."""
    x = n[0]
    axes = [a % x.rank for a in n.integers("axes") or range(x.rank)]
    sizes = n.get(3)
    out: list[Extent] = list(x.shape)
    factors: list[Fraction | None] = [None] * x.rank
    if sizes is not None and not same(product(sizes.shape), 0):
        return _sized(l, n, axes, known_sizes(l, sizes, "the sizes"))
    array = l.values.array(n[2])
    scales = l.values.sizes_in(n[2]) if array is None else array.reshape(-1)
    for axis, scale in zip(axes, [None] * len(axes) if scales is None else scales, strict=True):
        if scale is None or isinstance(scale, Scaled):
            out[axis] = _scaled_by_sizes(l, x.shape[axis], scale)
            continue
        factor = meant(float(scale))  # as f32 rounds the extent, and 3 / 0.6f is 5
        factors[axis] = factor
        out[axis] = floordiv(mul(x.shape[axis], factor.numerator), factor.denominator)
    return tuple(out), factors


def _scaled_by_sizes(l: Lowering, size: Extent, scale: Scaled | None) -> Extent:
    """The extent of an axis whose scale is H / h, made of sizes: h is the axis's own, so it becomes H, and the axis is resized as the
    extents say. That floor(h * (H / h)) is H, as floats round, is checked at prepare.

    Raises:
        RefusedError: the scale is something else.
    """
    parts = scale.args if scale is not None and scale.op == "Div" else ()
    casts = [p for p in parts if isinstance(p, Scaled) and p.op == "Cast"]
    whole = [p.args[0] for p in casts if not isinstance(p.args[0], Scaled)]
    if scale is None or len(whole) != 2 or not same(whole[1], size):
        l.fail(
            "scales are computed while running; expected a constant, a size by that of the axis, or sizes instead of scales"
        )
    scaled = Scaled("f32", "Mul", (Scaled("f32", "Cast", (size,)), scale))
    text = f"an axis of {size} scaled by {whole[0]} / {size} has {whole[0]} elements"
    l.sizes.require_equal(l.sizes.whole(scaled), whole[0], text)
    return extents.extent(whole[0])


def _sized(
    l: Lowering, n: Node, axes: Sequence[int], sizes: Sequence[Extent]
) -> tuple[Shape, list[Fraction | None]]:
    x = n[0]
    out: list[Extent] = list(x.shape)
    factors: list[Fraction | None] = [None] * x.rank
    policy = n.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        pairs = [(x.shape[a], s) for a, s in zip(axes, sizes, strict=True)]
        if not all(isinstance(i, int) and isinstance(s, int) for i, s in pairs):
            l.fail(
                f"keep_aspect_ratio_policy {policy} with sizes that are not numbers; fix the sizes"
            )
        ratios = [Fraction(int(s), int(i)) for i, s in pairs]
        factor = min(ratios) if policy == "not_larger" else max(ratios)
        for axis in axes:
            out[axis] = int(factor * int(x.shape[axis]) + Fraction(1, 2))
            factors[axis] = factor
        return tuple(out), factors
    for axis, size in zip(axes, sizes, strict=True):
        out[axis] = size
    return tuple(out), factors


def _cropped(l: Lowering, n: Node) -> list[int]:
    """Axes with a region other than the whole."""
    x = n[0]
    axes = [a % x.rank for a in n.integers("axes") or range(x.rank)]
    region = l.values.array(n[1])
    if region is None:
        l.fail("the region (roi) is computed while running; expected a constant")
    pairs = region.reshape(2, -1).T
    out, factors = _resized(l, n)
    return sorted(
        a
        for a, (start, stop) in zip(axes, pairs, strict=True)
        if (start, stop) != (0, 1) or not _is_kept(x.shape[a], out[a], factors[a])
    )


def _resize_attrs(
    l: Lowering, n: Node, moving: Sequence[int], factors: Sequence[Fraction | None]
) -> dict[str, Any]:
    mode = n.text("mode", "nearest")
    attrs: dict[str, Any] = {"mode": mode}
    chosen = [factors[a] for a in moving]
    if all(f is not None for f in chosen):
        attrs["scales"] = tuple(float(f) for f in chosen if f is not None)
    attrs |= {
        "coordinates": n.text("coordinate_transformation_mode", "half_pixel"),
        "nearest": n.text("nearest_mode", "round_prefer_floor"),
        "cubic": n.number("cubic_coeff_a", -0.75),
        "exclude_outside": bool(n.integer("exclude_outside")),
        "antialias": bool(n.integer("antialias")),
        "extrapolation": n.number("extrapolation_value"),
    }
    if attrs["coordinates"] == "tf_crop_and_resize":
        attrs["region"] = _region(l, n, moving)
    return attrs


def _region(l: Lowering, n: Node, moving: Sequence[int]) -> tuple[float, ...]:
    """Starts, then ends, of the axes resized."""
    x = n[0]
    axes = [a % x.rank for a in n.integers("axes") or range(x.rank)]
    region = l.values.array(n[1])
    assert region is not None
    starts, ends = region.reshape(2, -1).astype(np.float64)
    places = [axes.index(a) for a in moving]
    return (*(float(starts[p]) for p in places), *(float(ends[p]) for p in places))


# --- GridSample ---------------------------------------------------------------------------------------------------------


@lowers("GridSample")
def lower_grid_sample(l: Lowering, n: Node) -> Ref:
    x, grid = n[0], convert(l, n[1], "f32")
    attrs = {
        "mode": n.text("mode", "linear"),
        "padding": n.text("padding_mode", "zeros"),
        "align_corners": bool(n.integer("align_corners")),
    }
    image = channels_last(l, convert(l, x, "f32"))
    shape = (x.shape[0], *grid.shape[1:-1], x.shape[1])
    y = l.one("grid_sample", [image, grid], attrs, "f32", shape)
    return convert(l, channels_first(l, y), x.dtype)
