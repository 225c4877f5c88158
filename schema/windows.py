"""What the window and image operators of schema/ops.py mean, in NumPy: pools, resize, grid_sample; convolutions.
Channels last."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from pteron.schema.row import Array


def conv(
    x: Array,
    w: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    spread: Sequence[int],
    groups: int,
) -> Array:
    """Sums of products over windows of x, spread and padded; w is [n, (*kernel, c // groups)]; see the row."""
    x = padded(x, begin, end, spread)
    n, depth = len(w), math.prod(kernel) * (x.shape[-1] // groups)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    room = [max(extent - span + 1, 0) for extent, span in zip(x.shape[1:-1], spans, strict=True)]
    patches = [
        x[
            (
                slice(None),
                *(
                    slice(t * d, t * d + r, s)
                    for t, d, r, s in zip(tap, dilation, room, stride, strict=True)
                ),
            )
        ]
        for tap in itertools.product(*map(range, kernel))
    ]
    rows = np.stack(patches, -2)  # [b, *o, taps, c]
    rows = rows.reshape(*rows.shape[:-1], groups, x.shape[-1] // groups)
    parts = [
        rows[..., g, :].reshape(*rows.shape[:-3], depth) @ part.T
        for g, part in enumerate(w.reshape(groups, n // groups, depth))
    ]
    return np.concatenate(parts, -1)


def padded(x: Array, begin: Sequence[int], end: Sequence[int], spread: Sequence[int]) -> Array:
    """x with spread - 1 zeros between elements, then with begin and end zeros; negative ones crop."""
    spatial = x.shape[1:-1]
    extents = [max((n - 1) * s + 1, 0) for n, s in zip(spatial, spread, strict=True)]
    y = np.zeros((x.shape[0], *extents, x.shape[-1]), x.dtype)
    y[(slice(None), *(slice(None, None, s) for s in spread))] = x
    around = [(max(b, 0), max(e, 0)) for b, e in zip(begin, end, strict=True)]
    y = np.pad(y, [(0, 0), *around, (0, 0)])
    inside = (
        slice(max(-b, 0), max(n - max(-e, 0), 0))
        for b, e, n in zip(begin, end, y.shape[1:-1], strict=True)
    )
    return y[(slice(None), *inside)]


def max_pool(
    x: Array,
    spatial: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    begin: Sequence[int],
    channel_major: bool,
    column_major: bool,
) -> tuple[Array, Array]:
    """Maxima and their flat indices; see the row. An empty window gives the type's lowest and index -1."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    y = np.full((x.shape[0], *spatial, x.shape[-1]), lowest, x.dtype)
    index = np.full(y.shape, -1, np.int64)
    inside = x.shape[1:-1]
    pixels = np.arange(math.prod(inside)).reshape(inside, order="F" if column_major else "C")
    for at, valid in taps(inside, spatial, kernel, stride, dilation, begin):
        value = x[(slice(None), *at)]
        better = valid[..., None] & ((index < 0) | (value > y) | ((value != value) & (y == y)))
        y = np.where(better, value, y)
        index = np.where(better, pixels[at][..., None], index)
    batch = np.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1))
    channel = np.arange(x.shape[-1])
    if channel_major:
        flat = index + (batch * x.shape[-1] + channel) * pixels.size
    else:
        flat = (batch * pixels.size + index) * x.shape[-1] + channel
    return y, np.where(index < 0, -1, flat)


def average_pool(
    x: Array,
    spatial: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    count_padding: bool,
) -> Array:
    """Means of the windows; see the row."""
    total = np.zeros((x.shape[0], *spatial, x.shape[-1]), x.dtype)
    inside = x.shape[1:-1]
    for at, valid in taps(inside, spatial, kernel, stride, dilation, begin):
        total = total + np.where(valid[..., None], x[(slice(None), *at)], 0)
    counted = (
        tuple(b + n + e for b, n, e in zip(begin, inside, end, strict=True))
        if count_padding
        else inside
    )
    offset = [0] * len(begin) if count_padding else begin
    number = sum(
        valid.astype(np.int64)
        for _, valid in taps(counted, spatial, kernel, stride, dilation, offset)
    )
    with np.errstate(invalid="ignore"):
        return (total / np.asarray(number, x.dtype)[..., None]).astype(x.dtype)


def taps(
    inside: Sequence[int],
    spatial: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    begin: Sequence[int],
) -> Iterator[tuple[tuple[Array, ...], Array]]:
    """For each tap in row-major order: open-mesh indices into x for every window, clipped, and which lie inside."""
    for tap in itertools.product(*(range(k) for k in kernel)):
        axes = [
            np.arange(o) * s - b + t * d
            for o, s, b, t, d in zip(spatial, stride, begin, tap, dilation, strict=True)
        ]
        places = np.ix_(*axes)
        valid = np.ones(tuple(spatial), bool)
        for place, n in zip(places, inside, strict=True):
            valid = valid & (place >= 0) & (place < n)
        yield tuple(np.clip(p, 0, n - 1) for p, n in zip(places, inside, strict=True)), valid
