"""Scales that cost least: for each block a few candidates around absmax, compared by the squared error that they leave.

The search runs in C where it is built (runtime_c/codec/search.c) and in NumPy here, which is what it means: squares and products
are f32, their sums run in 8 lanes of f64 (`_sum`).

`weight` [groups, k], the mean square of each column's input, makes that the error at the layer's output where columns are
independent; without data all columns count the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..encode import blocks, codec, elements
from ..encode.format import BlockFormat, Encoded

F32 = NDArray[np.float32]
Scale = NDArray[Any]

FACTORS: Final = (0.65, 0.72, 0.78, 0.84, 0.88, 0.92, 0.96, 1.0, 1.04, 1.1)
"""Of absmax / largest code. Beyond 1 where the codes at the ends are far apart."""
EXPONENTS: Final = (-1, 0, 1)
"""Added to the exponent of OCP's floor rule."""
REFITS: Final = 2
LANES: Final = 8


def search(w: F32, fmt: BlockFormat, weight: F32 | None = None) -> Encoded:
    """Rounds to nearest under the scale of each block that leaves the least weighted squared error.

    Args:
        w: Weights [n, k], finite; k a multiple of fmt.block.
        weight: Of each column, [groups, k]; rows of one group are next to each other.

    Raises:
        QuantError: as `blocks.encode`.
    """
    first = blocks.encode(w, fmt)  # refuses what cannot be encoded
    if not w.size:
        return first
    n, k = w.shape
    block = fmt.block or k
    each = _by_row(weight, n, k) if weight is not None else None
    offers, zeros = offered(w.reshape(n, k // block, block), first)
    scales = blocks.steps(first) if first.outer is not None else first.scale
    values = elements.values(fmt.element)
    if codec.search(first, w, scales, values, offers, zeros, refits_of(fmt), each):
        return first if first.outer is None else blocks.with_steps(first, first.codes, scales)
    return reference(w, first, offers, zeros, refits_of(fmt), each)


def reference(
    w: F32,
    first: Encoded,
    offers: Scale,
    zeros: NDArray[np.int8] | None,
    refits: int,
    weight: F32 | None,
) -> Encoded:
    """The best of an encoding and those under scales [c, n, blocks], then of as many refits; `weight` [1 or n, k]."""
    cut = w.reshape(*first.scale.shape, -1)
    each = weight.reshape(-1, *cut.shape[1:]) if weight is not None else None
    with np.errstate(over="ignore", invalid="ignore"):
        best = _Best(cut, each, first)
        for i, scale in enumerate(offers):
            best.offer(scale, None if zeros is None else zeros[i])
        for _ in range(refits):
            best.offer(best.refit(), best.zero)
    return best.encoded(first)


def refits_of(fmt: BlockFormat) -> int:
    """Powers of two are all tried; scales of scales would have to be rounded twice."""
    return REFITS if fmt.scale in ("f16", "f32") else 0


def offered(cut: F32, first: Encoded) -> tuple[Scale, NDArray[np.int8] | None]:
    """Scales [c, n, blocks] worth trying for blocks [n, blocks, size], as they are stored, or as steps where there are outer ones;
    and their zero points."""
    fmt = first.format
    if not fmt.zero:
        return np.stack(list(candidates(cut, fmt, first.outer))), None
    low, high = cut.min(-1, initial=0.0), cut.max(-1, initial=0.0)
    with np.errstate(over="ignore"):
        ends = [(low * np.float32(f), high * np.float32(f)) for f in FACTORS]
        scales = [np.minimum(blocks.scale_between(*pair, fmt), np.float16(65504)) for pair in ends]
    zeros = [blocks.zero_of(pair[0], scale, fmt) for pair, scale in zip(ends, scales, strict=True)]
    return np.stack(scales), np.stack(zeros)


def candidates(cut: F32, fmt: BlockFormat, outer: F32 | None = None) -> Iterator[Scale]:
    """`offered` of a format without zero points."""
    absmax = np.maximum(cut.max(-1, initial=0.0), -cut.min(-1, initial=0.0))
    if fmt.scale == "e8m0":
        floor = blocks.e8m0_of(absmax, fmt.element, "floor").astype(np.int64)
        for more in EXPONENTS:
            yield np.where(absmax > 0, np.clip(floor + more, 0, 254), 127).astype(np.uint8)
        return
    signs = (1.0, -1.0) if lopsided(fmt) and outer is None else (1.0,)
    kind = np.float32 if outer is not None else fmt.scale_type
    for factor in FACTORS:
        for sign in signs:
            step = absmax * np.float32(sign * factor / fmt.element.max)
            yield blocks.snapped(step, fmt, outer).astype(kind)


def lopsided(fmt: BlockFormat) -> bool:
    """Codes reach or lie otherwise below zero than above: a negative scale is another format."""
    return fmt.element.levels is not None or fmt.element.least != -fmt.element.max


def _by_row(weight: F32, n: int, k: int) -> F32:
    """[1, k] where all rows share it, else [n, k]."""
    return weight if len(weight) == 1 else np.repeat(weight, n // len(weight), axis=0)


def _sum(x: F32) -> NDArray[np.float64]:
    """Over the last axis: element i to lane i % LANES one after another, then the upper half of the lanes to the lower until one is left."""
    short = -x.shape[-1] % LANES
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, short)]).astype(np.float64)
    lanes = wide.reshape(*x.shape[:-1], -1, LANES).cumsum(-2)[..., -1, :]
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return np.asarray(lanes[..., 0])


class _Best:
    """The best scales so far with their zero points, codes and errors."""

    def __init__(self, cut: F32, weight: F32 | None, first: Encoded) -> None:
        self.cut, self.weight, self.fmt = cut, weight, first.format
        self.step, self.zero = blocks.steps(first), first.zero
        self.scale = first.scale if first.outer is None else self.step
        self.codes = first.codes.copy().reshape(cut.shape)
        self.error = self._error(self.codes, self.step, self.zero)

    def _steps(self, scale: Scale) -> F32:
        if self.fmt.scale == "e8m0":
            return blocks.steps(Encoded(self.fmt, self.codes, scale))
        return scale.astype(np.float32)

    def _error(
        self, codes: elements.Codes, step: F32, zero: NDArray[np.int8] | None
    ) -> NDArray[np.float64]:
        level = elements.decode(codes, self.fmt.element, _wide(zero))
        miss = np.square(level * step[..., None] - self.cut)
        if self.weight is not None:
            miss *= self.weight
        return _sum(miss)

    def offer(self, scale: Scale, zero: NDArray[np.int8] | None) -> None:
        step = self._steps(scale)
        codes = elements.encode(self.cut / step[..., None], self.fmt.element, _wide(zero))
        error = self._error(codes, step, zero)
        better = error < self.error
        self.error = np.where(better, error, self.error)
        self.scale = np.where(better, scale, self.scale)
        if zero is not None and self.zero is not None:
            self.zero = np.where(better, zero, self.zero)
        self.codes[better] = codes[better]

    def refit(self) -> Scale:
        """The scales of least error for the codes as they are."""
        level = elements.decode(self.codes, self.fmt.element, _wide(self.zero))
        heavy = level if self.weight is None else level * self.weight
        scale = _sum(heavy * self.cut) / np.maximum(_sum(heavy * level), 1e-300)
        step = blocks.snapped(scale.astype(np.float32), self.fmt, None)
        return step.astype(self.fmt.scale_type)

    def encoded(self, first: Encoded) -> Encoded:
        codes = self.codes.reshape(len(self.cut), -1)
        if first.outer is not None:
            return blocks.with_steps(first, codes, self.scale)
        return Encoded(self.fmt, codes, self.scale, self.zero)


def _wide(zero: NDArray[np.int8] | None) -> NDArray[np.int8] | None:
    return None if zero is None else zero[..., None]
