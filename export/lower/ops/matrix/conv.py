"""Conv, ConvTranspose and the integer convolutions, channels last.

x [b, c, *i] is viewed as [b, *i, c], the result viewed back, so that a chain of convolutions moves nothing. Weights
[n, c / groups, *k] become [n, (*k, c / groups)]; depthwise ones [c, taps].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....program import views
from ....program.views import Shape
from ....sizes import Extent, extents
from ....sizes.extents import add, mul, product, sub
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ...windows import (
    Window,
    channels_first,
    channels_last,
    counts,
    read_window,
    static,
)
from ..moving.movement import concat
from ..moving.pads import pad_constant, padded_window
from .products import centered, multiply, requantize

ONE = (1, 1, 1)


@lowers("Conv")
def lower_conv(l: Lowering, n: Node) -> Ref:
    x, w = n[0], n[1]
    bias = n.get(2)
    window = read_window(l, n, x.shape[2:], n.integers("kernel_shape") or w.shape[2:])
    y = convolve(
        l,
        channels_last(l, convert(l, x, "f32")),
        convert(l, w, "f32"),
        None if bias is None else convert(l, bias, "f32"),
        window,
        n.integer("group", 1),
    )
    return convert(l, channels_first(l, y), x.dtype)


def convolve(
    l: Lowering,
    x: Ref,
    w: Ref,
    bias: Ref | None,
    window: Window,
    groups: int,
    spread: Sequence[int] = (),
) -> Ref:
    """[b, *i, c] with weights [n, c / groups, *k] to [b, *o, n]; `window` moves over the spread x."""
    spatial = tuple(
        add(mul(sub(i, 1), s), 1) for i, s in zip(x.shape[1:-1], spread or ONE, strict=False)
    )
    out = counts(spatial, window)
    x = l.agree(x, -1, mul(w.shape[1], groups), "channels of the input and of the weights")
    x, window = padded_window(l, x, window, l.values.scalar(0, x.dtype))
    if groups > 1 and not l.values.is_constant(w):
        return _by_group(l, x, w, bias, window, groups, spread)
    channels, count = x.shape[-1], w.shape[0]
    attrs: dict[str, Any] = {
        "kernel": window.kernel,
        "stride": window.stride,
        "dilation": window.dilation,
        "begin": window.begin,
        "end": window.end,
    }
    depthwise = groups > 1 and channels == groups == count and not any(s > 1 for s in spread)
    shape = (x.shape[0], *out, count)
    if depthwise:
        taps = l.reshape(w, (count, product(window.kernel)))
        return l.one("conv_depthwise", [x, taps, bias], attrs, "f32", shape)
    attrs |= {"spread": tuple(spread) or (1,) * len(out), "groups": groups}
    rows = l.transpose(w, (0, *range(2, w.rank), 1))
    flat = l.reshape(rows, (count, product(rows.shape[1:])))
    return l.one("conv", [x, flat, bias], attrs, "f32", shape)


def _padded(l: Lowering, x: Ref, window: Window) -> Ref:
    zero = l.values.scalar(0, x.dtype)
    return pad_constant(l, x, (0, *window.begin, 0), (0, *window.end, 0), zero)


def _by_group(
    l: Lowering,
    x: Ref,
    w: Ref,
    bias: Ref | None,
    window: Window,
    groups: int,
    spread: Sequence[int],
) -> Ref:
    """Computed weights: one convolution a group, written side by side."""
    inner, rows = w.shape[1], extents.floordiv(w.shape[0], groups)
    parts = []
    for g in range(groups):
        own = None if bias is None else l.slice(bias, 0, mul(rows, g), rows)
        part = l.slice(x, x.rank - 1, mul(inner, g), inner)
        parts.append(convolve(l, part, l.slice(w, 0, mul(rows, g), rows), own, window, 1, spread))
    return concat(l, parts, -1)


# --- transposed ---------------------------------------------------------------------------------------------------------


@lowers("ConvTranspose")
def lower_conv_transpose(l: Lowering, n: Node) -> Ref:
    """A convolution of x spread by the strides with the kernel mirrored; what the padding takes away is cut off.

    Zeros between the pixels and around them are multiplied, so weights are to be finite; constants are asked."""
    x, w = n[0], n[1]
    _check_finite(l, w)
    groups = n.integer("group", 1)
    kernel = n.integers("kernel_shape") or w.shape[2:]
    forward = read_window(l, n, x.shape[2:], kernel)
    begin, out = _transposed_place(l, n, x.shape[2:], forward)
    reach = forward.reach
    first = tuple(r - 1 - b for r, b in zip(reach, begin, strict=True))
    # The spread and padded x must be o + reach - 1 long; a negative begin is a cut of the result.
    cut = tuple(max(0, -f) for f in first)
    lead = tuple(max(0, f) for f in first)
    last: list[Extent] = []
    for i, o, s, r, b, c in zip(x.shape[2:], out, forward.stride, reach, lead, cut, strict=True):
        spread = add(mul(sub(i, 1), s), 1)
        last.append(sub(sub(add(add(o, c), r - 1), spread), b))
    tail = static(l, tuple(last), "end padding")
    rank = len(out)
    window = Window(
        forward.kernel, (1,) * rank, forward.dilation, lead, tuple(max(0, t) for t in tail)
    )
    bias = n.get(2)
    y = convolve(
        l,
        channels_last(l, convert(l, x, "f32")),
        _mirrored(l, convert(l, w, "f32"), groups),
        None if bias is None else convert(l, bias, "f32"),
        window,
        groups,
        forward.stride,
    )
    for axis, (c, o) in enumerate(zip(cut, out, strict=True)):
        y = l.slice(y, axis + 1, c, o)
    return convert(l, channels_first(l, y), x.dtype)


def _check_finite(l: Lowering, w: Ref) -> None:
    array = l.values.array(w) if l.values.is_constant(w) else None
    if (
        array is not None
        and array.dtype.kind in "fV"
        and not np.isfinite(array.astype(np.float32)).all()
    ):
        l.fail("its weights are not all finite; expected numbers, correct the weights")


def _mirrored(l: Lowering, w: Ref, groups: int) -> Ref:
    """[c, n / groups, *k] as [n, c / groups, *k], every spatial axis reversed."""
    for axis in range(2, w.rank):
        w = l.flip(w, axis)
    c, rows = w.shape[0], w.shape[1]
    inner = extents.floordiv(c, groups)
    w = l.reshape(w, (groups, inner, *w.shape[1:]))
    w = l.transpose(w, (0, 2, 1, *range(3, w.rank)))
    return l.reshape(w, (mul(rows, groups), inner, *w.shape[3:]))


def _transposed_place(
    l: Lowering, n: Node, spatial: Shape, window: Window
) -> tuple[tuple[int, ...], Shape]:
    """(padding taken from the beginning, extents of the result) by ONNX's rules.

    Padding is never negative: a result that is asked to be larger than what the pixels reach has zeros at its end, as
    onnxruntime has them."""
    rank = len(spatial)
    extra = n.integers("output_padding") or (0,) * rank
    full = tuple(
        add(add(mul(sub(i, 1), s), r), e)
        for i, s, r, e in zip(spatial, window.stride, window.reach, extra, strict=True)
    )
    wanted: Shape | None = n.integers("output_shape")
    auto = n.text("auto_pad", "NOTSET")
    if wanted is not None:
        wanted = wanted[-rank:]
    elif auto.startswith("SAME"):
        wanted = tuple(mul(i, s) for i, s in zip(spatial, window.stride, strict=True))
    if wanted is None:
        begin = static(l, window.begin, "padding")
        pads = zip(full, window.begin, window.end, strict=True)
        return begin, tuple(sub(sub(f, b), e) for f, b, e in pads)
    total = static(l, tuple(sub(f, o) for f, o in zip(full, wanted, strict=True)), "padding")
    taken = [max(0, t) for t in total]
    return tuple(t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in taken), wanted


# --- integers -----------------------------------------------------------------------------------------------------------


@lowers("ConvInteger")
def lower_conv_integer(l: Lowering, n: Node) -> Ref:
    sums = _integer_sums(l, n, n[0], n[1], n.get(2), n.get(3))
    return convert(l, sums, "i32")


@lowers("QLinearConv")
def lower_qlinear_conv(l: Lowering, n: Node) -> Ref:
    x, w = n[0], n[3]
    sums = _integer_sums(l, n, x, w, n.get(2), n.get(5))
    bias = n.get(8)
    if bias is not None:
        sums = l.pointwise(lambda a, b: a + b, [sums, _by_channel(l, bias, x.rank)], "i64")
    scale = _by_channel(l, n[4], x.rank)
    return requantize(l, sums, n[1], scale, n[6], n.get(7), x.dtype)


def _by_channel(l: Lowering, v: Ref, rank: int) -> Ref:
    """[n] or [1] or [] beside [b, n, *o]."""
    return l.reshape(v, (product(v.shape), *[1] * (rank - 2)))


def _integer_sums(
    l: Lowering, n: Node, x: Ref, w: Ref, x_zero: Ref | None, w_zero: Ref | None
) -> Ref:
    """Sums of products in i64: every window becomes a row, groups are a batch."""
    window = read_window(l, n, x.shape[2:], n.integers("kernel_shape") or w.shape[2:])
    groups = n.integer("group", 1)
    out = counts(x.shape[2:], window)
    wide = _padded(l, channels_last(l, centered(l, x, x_zero)), window)
    if w_zero is not None:
        w_zero = l.reshape(w_zero, (product(w_zero.shape), *[1] * (w.rank - 1)))
    rows = _windows(l, wide, window, out)  # [b, *o, *k, c]
    rank, batch = len(out), x.shape[0]
    inner, count = w.shape[1], extents.floordiv(w.shape[0], groups)
    rows = l.reshape(rows, (batch, *out, product(window.kernel), groups, inner))
    rows = l.transpose(rows, (rank + 2, *range(rank + 1), rank + 1, rank + 3))
    depth = mul(product(window.kernel), inner)
    rows = l.reshape(rows, (groups, mul(batch, product(out)), depth))
    weights = centered(l, w, w_zero)  # [n, c / groups, *k]
    weights = l.transpose(weights, (0, *range(2, w.rank), 1))
    weights = l.transpose(l.reshape(weights, (groups, count, depth)), (0, 2, 1))
    y = multiply(l, rows, weights)  # [groups, b * o, n / groups]
    y = l.reshape(y, (groups, batch, *out, count))
    y = l.transpose(y, (1, 0, rank + 2, *range(2, rank + 2)))
    return l.reshape(y, (batch, mul(groups, count), *out))


def _windows(l: Lowering, x: Ref, window: Window, out: Shape) -> Ref:
    """[b, *i, c] as [b, *o, *k, c]: overlapping views, copied by whoever needs them dense."""
    dense = l.dense(x)
    steps = dense.steps
    inner = steps[1:-1]
    strides = (
        steps[0],
        *(mul(s, t) for s, t in zip(inner, window.stride, strict=True)),
        *(mul(s, d) for s, d in zip(inner, window.dilation, strict=True)),
        steps[-1],
    )
    shape = (x.shape[0], *out, *window.kernel, x.shape[-1])
    return views.place(dense, shape, strides, dense.offset)
