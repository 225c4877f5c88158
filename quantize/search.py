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

from .encode import blocks, codec, elements
from .encode.format import BlockFormat, Encoded

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
    offers = np.stack(list(candidates(w.reshape(n, k // block, block), fmt)))
    refits = REFITS if fmt.scale != "e8m0" else 0
    values = elements.values(fmt.element)
    if codec.search(fmt.stored, w, first.codes, first.scale, values, offers, refits, each):
        return first
    return reference(w, first, offers, refits, each)


def reference(w: F32, first: Encoded, offers: Scale, refits: int, weight: F32 | None) -> Encoded:
    """The best of an encoding and those under scales [c, n, blocks], then of as many refits; `weight` [1 or n, k]."""
    cut = w.reshape(*first.scale.shape, -1)
    each = weight.reshape(-1, *cut.shape[1:]) if weight is not None else None
    with np.errstate(over="ignore", invalid="ignore"):
        best = _Best(cut, each, first)
        for scale in offers:
            best.offer(scale)
        for _ in range(refits):
            best.offer(best.refit())
    return best.encoded()


def candidates(cut: F32, fmt: BlockFormat) -> Iterator[Scale]:
    """Scales [n, blocks] worth trying for blocks [n, blocks, size], as they are stored."""
    absmax = np.maximum(cut.max(-1, initial=0.0), -cut.min(-1, initial=0.0))
    if fmt.scale == "e8m0":
        floor = blocks.e8m0_of(absmax, fmt.element, "floor").astype(np.int64)
        for more in EXPONENTS:
            yield np.where(absmax > 0, np.clip(floor + more, 0, 254), 127).astype(np.uint8)
        return
    signs = (1.0, -1.0) if lopsided(fmt) else (1.0,)
    for factor in FACTORS:
        for sign in signs:
            yield stored(absmax * np.float32(sign * factor / fmt.element.max), fmt)


def lopsided(fmt: BlockFormat) -> bool:
    """Codes reach or lie otherwise below zero than above: a negative scale is another format."""
    return fmt.element.levels is not None or fmt.element.least != -fmt.element.max


def stored(scale: F32, fmt: BlockFormat) -> Scale:
    """Scales of a real format in their type: finite, 1 where there is nothing to scale."""
    kind = blocks.SCALES[fmt.scale]
    least, most = float(np.finfo(kind).smallest_subnormal), float(np.finfo(kind).max)
    size = np.clip(np.abs(scale), least, most)
    return np.where(scale == 0, 1, np.copysign(size, scale)).astype(kind)


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
    """The best scales so far with their codes and errors."""

    def __init__(self, cut: F32, weight: F32 | None, first: Encoded) -> None:
        self.cut, self.weight, self.fmt = cut, weight, first.format
        self.scale = first.scale
        self.codes = first.codes.copy().reshape(cut.shape)
        self.error = self._error(self.codes, self.scale)

    def _error(self, codes: elements.Codes, scale: Scale) -> NDArray[np.float64]:
        step = blocks.steps(scale, self.fmt)[..., None]
        miss = np.square(elements.decode(codes, self.fmt.element) * step - self.cut)
        if self.weight is not None:
            miss *= self.weight
        return _sum(miss)

    def offer(self, scale: Scale) -> None:
        step = blocks.steps(scale, self.fmt)[..., None]
        codes = elements.encode(self.cut / step, self.fmt.element)
        error = self._error(codes, scale)
        better = error < self.error
        self.error = np.where(better, error, self.error)
        self.scale = np.where(better, scale, self.scale)
        self.codes[better] = codes[better]

    def refit(self) -> Scale:
        """The scales of least error for the codes as they are."""
        level = elements.decode(self.codes, self.fmt.element)
        heavy = level if self.weight is None else level * self.weight
        scale = _sum(heavy * self.cut) / np.maximum(_sum(heavy * level), 1e-300)
        return stored(scale.astype(np.float32), self.fmt)

    def encoded(self) -> Encoded:
        return Encoded(self.fmt, self.codes.reshape(len(self.cut), -1), self.scale)
