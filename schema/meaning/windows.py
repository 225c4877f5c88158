"""What the window and image operators of schema/ops.py mean, in NumPy: pools, resize, grid_sample; convolutions.
Channels last."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..row import Array


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
    x = padded(x, begin, end, spread or (1,) * len(kernel))
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


def same_pads(extent: int, stride: int, reach: int, auto: str) -> tuple[int, int]:
    """(begin, end) of an axis with which ceil(extent / stride) windows fit; the odd one at the end (SAME_UPPER) or the beginning."""
    total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
    less = total // 2
    return (less, total - less) if auto == "SAME_UPPER" else (total - less, less)


WINOGRAD_IN: Final = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ],
    np.float64,
)
WINOGRAD_WEIGHT: Final = np.array(
    [[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]], np.float64
)
"""A 24th of what it says, so that it is exact."""
WINOGRAD_OUT: Final = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]], np.float64
)
"""B^T, G and A^T of F(4, 3) at the points 0, 1, -1, 2, -2 and infinity."""


def winograd(
    x: Array,
    u: Array,
    begin: int,
    out: Sequence[int],
    into: Array = WINOGRAD_IN,
    back: Array = WINOGRAD_OUT,
) -> Array:
    """conv of 3 x 3 windows by transformed weights u [36 n, c] to `out` pixels; see the row. `into` and `back` are B^T and A^T."""
    down, across = (-(-o // 4) for o in out)
    grown = np.zeros((len(x), 4 * down + 2, 4 * across + 2, x.shape[-1]), x.dtype)
    inside = grown[:, begin : begin + x.shape[1], begin : begin + x.shape[2]]
    inside[:] = x[:, : inside.shape[1], : inside.shape[2]]
    tiles = np.empty((len(x), down, across, 6, 6, x.shape[-1]), x.dtype)
    for i, k in itertools.product(range(6), range(6)):
        tiles[:, :, :, i, k] = grown[:, i:, k:][:, ::4, ::4][:, :down, :across]
    v = np.einsum("ip,btsprc,jr->btsijc", into, tiles, into)
    m = np.einsum("btsijc,ijnc->btsijn", v, u.reshape(6, 6, len(u) // 36, u.shape[1]))
    y = np.einsum("pi,btsijn,rj->btpsrn", back, m, back)
    whole: Array = y.reshape(len(x), 4 * down, 4 * across, y.shape[-1])
    return whole[:, : out[0], : out[1]]


def filtered(
    x: Array, taps: Array, kernel: int, stride: int, begin: int, out: Sequence[int]
) -> Array:
    """conv of each channel by kernel x kernel taps [c, t], behind `begin` zeros and before as many as `out` pixels ask for."""
    reach = [(o - 1) * stride + kernel - begin - i for o, i in zip(out, x.shape[1:3], strict=True)]
    end = [max(r, 0) for r in reach]
    sides = ((kernel,) * 2, (stride,) * 2, (1, 1), (begin,) * 2, end, (1, 1))
    return conv(x, taps, *sides, max(x.shape[-1], 1))[:, : out[0], : out[1]]


def limited(x: Array, to: str) -> Array:
    """x, or what relu or relu6 makes of it."""
    x = x if to == "none" else np.maximum(x, x.dtype.type(0))
    return np.minimum(x, x.dtype.type(6)) if to == "relu6" else x


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
        mean: Array = total / np.asarray(number, x.dtype)[..., None]
    return mean.astype(x.dtype)


def taps(
    inside: Sequence[int],
    spatial: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    begin: Sequence[int],
) -> Iterator[tuple[tuple[Any, ...], Array]]:
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


def resize(
    x: Array, spatial: Sequence[int], region: Sequence[float], scales: Sequence[float], **how: Any
) -> Array:
    """ONNX Resize of the spatial axes; `how` are the row's attributes of these names: mode, coordinates, nearest, cubic,
    exclude_outside, antialias, extrapolation. `scales` one an axis, or none."""
    y = x
    for axis in reversed(range(len(spatial))):
        n, o = x.shape[axis + 1], spatial[axis]
        scale = scales[axis] if scales else o / n
        begin, end = (region[axis], region[axis + len(spatial)]) if region else (0.0, 1.0)
        if (n, scale, begin, end) == (o, 1.0, 0.0, 1.0):
            continue
        places = coordinates(how["coordinates"], n, o, scale, begin, end)
        index, weight = resize_taps(places, n, min(scale, 1.0) if how["antialias"] else 1.0, how)
        taken = np.take(y, np.clip(index, 0, n - 1), axis=axis + 1)
        shape = [1] * (axis + 1) + list(index.shape) + [1] * (x.ndim - axis - 2)
        y = (
            (taken * weight.reshape(shape)).sum(axis + 2)
            if how["mode"] != "nearest"
            else taken.squeeze(axis + 2)
        )
        if how["coordinates"] == "tf_crop_and_resize":
            outside = ((places < 0) | (places > n - 1)).reshape(
                [1] * (axis + 1) + [o] + [1] * (x.ndim - axis - 2)
            )
            y = np.where(outside, how["extrapolation"], y)
    return y.astype(x.dtype)


def coordinates(how: str, n: int, o: int, scale: float, begin: float, end: float) -> Array:
    """Where in 0 .. n - 1 each of the `o` elements lies."""
    at, length = np.arange(o, dtype=np.float64), scale * n
    if how == "align_corners":
        return at * (n - 1) / (length - 1) if length != 1 else at * 0
    if how == "asymmetric":
        return at / scale
    if how == "tf_crop_and_resize":  # the region is f32 in ONNX
        span, first = (
            float(np.float32(end) - np.float32(begin)),
            float(np.float32(begin) * np.float32(n - 1)),
        )
        return (
            at * span * (n - 1) / (length - 1) if length != 1 else at * 0 + span * (n - 1) / 2
        ) + first
    if how == "pytorch_half_pixel" and length == 1:
        return at * 0 - 0.5
    offset = n / 2 * (1 - o / length) if how == "half_pixel_symmetric" else 0.0
    return offset + (at + 0.5) / scale - 0.5


def resize_taps(
    places: Array, n: int, stretch: float, how: Mapping[str, Any]
) -> tuple[Array, Array]:
    """Indices, not clipped, and weights, [o, taps]. An element that is hit exactly counts as the right one of its pair."""
    left = np.ceil(places).astype(np.int64) - 1
    ratio = places - left
    if how["mode"] == "nearest":
        up = {
            "round_prefer_floor": ratio > 0.5,
            "round_prefer_ceil": ratio >= 0.5,
            "floor": ratio == 1,
            "ceil": ratio > 0,
        }[how["nearest"]]
        return (left + up)[:, None], np.ones((len(places), 1))
    reach = 1 if how["mode"] == "linear" else 2
    taps = np.arange(math.floor(-reach / stretch) + 1, -math.floor(-reach / stretch) + 1)
    index = left[:, None] + taps
    distance = np.abs(stretch * (taps - ratio[:, None]))
    weight = np.maximum(1 - distance, 0) if reach == 1 else cubic_weights(distance, how["cubic"])
    if how["exclude_outside"]:
        weight = np.where((index < 0) | (index >= n), 0.0, weight)
    if how["exclude_outside"] or how["antialias"]:
        total = weight.sum(-1, keepdims=True)
        weight = weight / np.where(total == 0, 1.0, total)
    return index, weight


def cubic_weights(x: Array, a: float) -> Array:
    """Keys' kernel at distance x >= 0."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x <= 1, near, np.where(x < 2, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, 0.0))


def grid_sample(x: Array, grid: Array, mode: str, padding: str, align_corners: bool) -> Array:
    """ONNX GridSample; coordinates in f32 as there. A NaN coordinate counts as far outside."""
    axes = x.ndim - 2
    found = [
        grid_taps(grid[..., axes - 1 - i], x.shape[i + 1], mode, padding, align_corners)
        for i in range(axes)
    ]
    y = np.zeros((*grid.shape[:-1], x.shape[-1]), x.dtype)
    batch = np.arange(x.shape[0]).reshape(-1, *[1] * (grid.ndim - 2))
    for taps in itertools.product(*found):
        weight = math.prod(t[1] for t in taps)
        inside = np.logical_and.reduce([t[2] for t in taps])
        value = x[(batch, *(t[0] for t in taps))]
        y = y + np.where(inside[..., None], np.asarray(weight)[..., None] * value, 0)
    return y.astype(x.dtype)


def grid_taps(
    normal: Array, n: int, mode: str, padding: str, align_corners: bool
) -> list[tuple[Array, Array, Array]]:
    """For each tap along one axis: element, weight, whether it lies inside (else it is a zero)."""
    normal = normal.astype(np.float32)
    at = (normal + 1) / 2 * (n - 1) if align_corners else ((normal + 1) * n - 1) / 2
    low, high = (0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)
    at = np.rint(at) if mode == "nearest" else at
    if padding == "border" and mode != "cubic":  # whose taps are moved inside, each by itself
        at = np.where((at < low) | (at > high), np.clip(at, 0, n - 1), at)
    if padding == "reflection":
        at = reflect(at, low, high)
    at = np.clip(np.where(np.isnan(at), -3, at), -3, n + 3).astype(np.float64)
    left, taps = np.floor(at), []
    for tap in {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[mode]:
        index = (at if mode == "nearest" else left) + tap
        distance = np.abs(at - index)
        weight = cubic_weights(distance, -0.75) if mode == "cubic" else 1 - distance
        inside = (index >= 0) & (index <= n - 1) if padding == "zeros" else np.ones(at.shape, bool)
        index = reflect(index, low, high) if padding == "reflection" else index
        taps.append((np.clip(index, 0, n - 1).astype(np.int64), weight, inside))
    return taps


def reflect(x: Array, low: float, high: float) -> Array:
    """Mirrored at the borders until it lies within."""
    if high <= low:
        return np.full_like(x, low)
    with np.errstate(invalid="ignore"):
        away = np.where(x < low, low - x, x - high)
        turns = np.floor(away / (high - low))
        rest = away - turns * (high - low)
        even = turns % 2 == 0
        mirrored = np.where((x < low) == even, low + rest, high - rest)
        return np.where(away > 0, mirrored, x)
