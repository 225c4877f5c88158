"""What static integer operators compute: int8 or int16 in and out, exact sums, TOSA's RESCALE in between. ONNX layout.

One definition for the CPU and every delegate; equal to the bit to CONV2D, MATMUL, ADD and RESCALE (scale32, SINGLE_ROUND) of
TOSA 1.0. A tensor of zero point z and scale s means (q - z) * s. `low` and `high` are a fused Relu or Clip, in codes of the result.
Results have the type of the first operand; weights are int8 always. Sums that int32 does not hold saturate there, which changes no
result where a step of the result is less than 2**15 of the sum (`admits`); of int8 there are none.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from ..row import Array
from . import windows

LOWEST, HIGHEST = -128, 127
CODE: Final = (
    "; ".join(f"-128 <= {name} <= 127" for name in ("y_zero", "low", "high")) + "; low <= high"
)
"""What rows say of the zero point and the limits of `rescale`."""
SHIFT_MOST: Final = 55
"""Of factors that `multiplier_shift` makes: kernels take 32-bit lanes for 16 channels side by side where none has a larger one."""
WORD: Final = CODE.replace("-128", "-32768").replace("127", "32767")
"""The same of int16."""
SUM_LIMIT: Final = 2**31
"""Sums of products stay below; who makes a node proves it: see `sum_bounds`."""
ADD_SHIFTS: Final = {8: 20, 16: 14}
"""By the operands' bits: both addends of `add` are brought to the scale 2 * max(a_scale, b_scale) / 2**shift first."""


def multiplier_shift(scale: float) -> tuple[int, int]:
    """The factor of RESCALE nearest to `scale`: multiplier / 2**shift, multiplier in [2**30, 2**31), shift in 2 .. 55.

    A scale below 2**-25, by which int32 has results of 6 bits, has a multiplier of as many bits as that shift leaves: no result moves
    by more than 2**-25. One below 2**-32, which takes every int32 to 0, becomes 2**-32, which does so too.

    Raises:
        ValueError: scale is not in (0, 2**29).
    """
    if not 0 < scale < 2**29 - 1:
        raise ValueError(f"rescale: expected a factor in (0, 2**29), got {scale!r}")
    fraction, exponent = math.frexp(scale)
    multiplier = round(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    shift = 31 - exponent
    if shift > SHIFT_MOST:
        return max(round(math.ldexp(scale, SHIFT_MOST)), 2 ** (SHIFT_MOST - 32)), SHIFT_MOST
    return multiplier, shift


def multipliers_shifts(scales: Array) -> tuple[Array, Array]:
    """`multiplier_shift` of each of f64[n]: i32[n], i8[n]."""
    pairs = [multiplier_shift(float(s)) for s in scales]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)


def admits(bound: int, shift: int) -> bool:
    """Whether TOSA defines RESCALE of every |v| <= bound: the result before the zero point fits in int32."""
    return bound < 1 << (shift - 1)


def sum_bounds(w: Array, bias: Array, bits: int = 8, x_zero: int = 0) -> Array:
    """The largest |bias + sum of products (x - x_zero) * w| of each channel, i64[n], by the weights that there are, int8 [n, ...]; of
    int8 x whatever x_zero is."""
    most = 255 if bits == 8 else 2**15 + abs(x_zero)
    sums = np.abs(w.reshape(len(w), -1).astype(np.int64)).sum(1)
    return np.asarray(sums * most + np.abs(bias.astype(np.int64)))


def scaled(v: Array, multiplier: Array | int, shift: Array | int) -> Array:
    """v * multiplier / 2**shift, half up: (v * multiplier + (1 << (shift - 1))) >> shift, in i64."""
    shift = np.asarray(shift, np.int64)
    return np.asarray((v.astype(np.int64) * multiplier + (np.int64(1) << (shift - 1))) >> shift)


def rescale(
    v: Array,
    multiplier: Array | int,
    shift: Array | int,
    zero: int,
    low: int,
    high: int,
    kind: DTypeLike = np.int8,
) -> Array:
    """Integers that int32 holds to int8 or another `kind`: scaled(v) + zero, clamped to [low, high]."""
    return np.asarray(np.clip(scaled(v, multiplier, shift) + zero, low, high), kind)


def saturated(v: Array) -> Array:
    """The nearest integers that int32 holds."""
    return np.asarray(np.clip(v, -SUM_LIMIT, SUM_LIMIT - 1))


SAMES: Final = ("NOTSET", "SAME_UPPER", "SAME_LOWER")
"""Pads by ONNX's auto_pad, by number; 0: those that are written."""


def conv(
    x: Array,
    w: Array,
    bias: Array,
    multiplier: Array,
    shift: Array,
    *,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    group: int,
    x_zero: int,
    y_zero: int,
    low: int,
    high: int,
    same: int = 0,
) -> Array:
    """x i8 or i16[b, c, *s], w i8[n, c // group, *k]; bias, multiplier i32[n], shift i8[n]; pads begin..., end... count as x_zero.
    `same`: they are what SAMES has there, of the extents of x."""
    axes = x.ndim - 2
    if same:
        sizes = zip(x.shape[2:], strides, w.shape[2:], dilations, strict=True)
        pairs = [windows.same_pads(n, s, (k - 1) * d + 1, SAMES[same]) for n, s, k, d in sizes]
        pads = [pair[end] for end in (0, 1) for pair in pairs]
    pixels = np.moveaxis(x, 1, -1).astype(np.float64) - x_zero  # f64 is exact below 2**53
    rows = np.moveaxis(w, 1, -1).reshape(len(w), -1).astype(np.float64)
    kernel, begin, end = w.shape[2:], pads[:axes], pads[axes:]
    total = windows.conv(
        pixels, rows, kernel, strides, dilations, begin, end, [1] * axes, group
    ).astype(np.int64)
    y = rescale(saturated(total + bias), multiplier, shift, y_zero, low, high, x.dtype)
    return np.ascontiguousarray(np.moveaxis(y, -1, 1))


def linear(
    x: Array,
    w: Array,
    bias: Array,
    multiplier: Array,
    shift: Array,
    *,
    x_zero: int,
    y_zero: int,
    low: int,
    high: int,
) -> Array:
    """x i8 or i16[..., k], w i8[n, k], bias and multiplier i32[n], shift i8[n] -> as x[..., n]."""
    total = ((x.astype(np.float64) - x_zero) @ w.T.astype(np.float64)).astype(np.int64)
    return rescale(saturated(total + bias), multiplier, shift, y_zero, low, high, x.dtype)


def add(
    a: Array,
    b: Array | None,
    a_zero: int,
    a_multiplier: int,
    a_shift: int,
    b_zero: int,
    b_multiplier: int,
    b_shift: int,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
) -> Array:
    """rescale(scaled(a - a_zero) + scaled(b - b_zero)), without b of a alone; factors from `add_factors`."""
    total = scaled(a.astype(np.int64) - a_zero, a_multiplier, a_shift)
    if b is not None:
        total = total + scaled(b.astype(np.int64) - b_zero, b_multiplier, b_shift)
    return rescale(total, multiplier, shift, y_zero, low, high, a.dtype)


def multiply(
    a: Array,
    b: Array,
    *,
    a_zero: int,
    b_zero: int,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    combine: Callable[[Array, Array], Array] = np.multiply,
) -> Array:
    """rescale((a - a_zero) * (b - b_zero)), element by element, or as `combine` does."""
    v = combine(a.astype(np.int64) - a_zero, b.astype(np.int64) - b_zero)
    return rescale(v, multiplier, shift, y_zero, low, high, a.dtype)


product = functools.partial(multiply, combine=np.matmul)
"""rescale of the product of matrices a - a_zero and b - b_zero."""


def add_factors(
    a_scale: float, b_scale: float, y_scale: float, bits: int = 8
) -> tuple[float, float, float]:
    """Factors of `add` for a, b and their sum: 2**ADD_SHIFTS[bits] is the larger addend's unit, halved for headroom."""
    common = 2 * max(a_scale, b_scale) / 2 ** ADD_SHIFTS[bits]
    return a_scale / common, b_scale / common, common / y_scale


def average_pool(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    x_zero: int,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
) -> Array:
    """rescale(sum over the window of x - x_zero), pads counting as x_zero; the factor holds 1 / number of the window's elements."""
    padded = np.pad(x.astype(np.int64) - x_zero, around(pads))
    views = _windows(padded, kernel_shape, strides, [1] * len(strides))
    total = views.sum(tuple(range(-len(strides), 0)))
    return rescale(total, multiplier, shift, y_zero, low, high, x.dtype)


def inner_average(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    multiplier: Array,
    shift: int,
    x_zero: int,
    y_zero: int,
    low: int,
    high: int,
) -> Array:
    """As `average_pool`, where windows count what they have inside: multiplier[*o] of each place holds 1 / that number. See `shares`."""
    padded = np.pad(x.astype(np.int64) - x_zero, around(pads))
    views = _windows(padded, kernel_shape, strides, dilations)
    total = views.sum(tuple(range(-len(strides), 0)))
    return rescale(total, multiplier, shift, y_zero, low, high, x.dtype)


def shares(scale: float, counts: Array) -> tuple[Array, int]:
    """Factors scale / counts as i32 multipliers of one shift, that of the largest: `multiplier_shift` of it.

    Raises:
        ValueError: the largest is not in (0, 2**29).
    """
    least = int(counts.min())
    first, shift = multiplier_shift(scale / least)
    rest = {int(n): round(math.ldexp(scale / int(n), shift)) for n in np.unique(counts)}
    return np.vectorize({**rest, least: first}.__getitem__, otypes=[np.int32])(counts), shift


def max_pool(
    x: Array,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> Array:
    """Largest of each window; pads begin..., end... count as the least code."""
    padded = np.pad(x, around(pads), constant_values=np.iinfo(x.dtype).min)
    views = _windows(padded, kernel_shape, strides, dilations)
    return np.asarray(views.max(tuple(range(-len(strides), 0))))


def around(pads: Sequence[int]) -> list[tuple[int, int]]:
    """For numpy.pad: pads begin..., end... of the axes after the first two."""
    axes = len(pads) // 2
    return [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:], strict=True)]


def interpolate(
    x: Array,
    *,
    extents: Sequence[int],
    numerators: Sequence[int],
    denominators: Sequence[int],
    offsets: Sequence[int],
    multiplier: int,
    shift: int,
) -> Array:
    """TOSA's RESIZE (BILINEAR), along each axis after the first two, then RESCALE: x[b, c, *s] -> [b, c, *extents], on one grid.

    Element j lies at (j * denominator + offset) / numerator, between the two elements of x around it, or on the first or last one.
    The factor is 1 / the product of the numerators.
    """
    total = x.astype(np.int64)
    places = zip(extents, numerators, denominators, offsets, strict=True)
    for axis, (out, n, d, offset) in enumerate(places, 2):
        before, after, part = neighbours(x.shape[axis], out, n, d, offset)
        part = part.reshape(-1, *[1] * (x.ndim - 1 - axis))
        left, right = (np.take(total, at, axis) for at in (before, after))
        total = left * (n - part) + right * part
    return rescale(total, multiplier, shift, 0, LOWEST, HIGHEST)


def neighbours(
    extent: int, out: int, numerator: int, denominator: int, offset: int
) -> tuple[Array, Array, Array]:
    """For each of `out` elements the two of `extent` that it lies between, and how far from the first, in parts of the numerator."""
    at, part = np.divmod(np.arange(out, dtype=np.int64) * denominator + offset, numerator)
    before, after = (np.clip(i, 0, extent - 1) for i in (at, at + 1))
    return before, after, part


def requantize(
    x: Array,
    *,
    x_zero: int,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    bits: int = 8,
) -> Array:
    """int8 or int16 to `bits` of another scale: rescale(x - x_zero)."""
    kind = np.int8 if bits == 8 else np.int16
    return rescale(x.astype(np.int64) - x_zero, multiplier, shift, y_zero, low, high, kind)


def _windows(
    x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """[b, c, *s] -> [b, c, *o, *kernel], a view."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    places = tuple(range(2, x.ndim))
    views = np.lib.stride_tricks.sliding_window_view(x, spans, places)
    steps = (*(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))
    return np.asarray(views[(slice(None), slice(None), *steps)])
