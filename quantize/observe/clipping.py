"""Ranges that leave outliers out, by what samples say of how elements lie: percentile, entropy, mse.

Elements of each value are counted in bins over its whole range; counts are integers, so samples in any order give the same bytes, and 16
KiB a value is all that is kept. Zeros are counted by themselves: every grid holds 0. A range narrower than the bins' is

    percentile   but for so many elements at each end that `PERCENTILE` of all lie inside; onnxruntime's number
    entropy      [-t, t] of the bins', where the codes tell least else of how elements lie: t of the least Kullback-Leibler divergence.
                 Migacz 2017, 8-bit inference with TensorRT, on the codes that the range has, whether it has a sign or not
    mse          of the least mean square that codes miss, rounded or clipped; each end by itself, the upper one first, twice

Inputs whose codes `input_ranges` has brought to lie on their elements keep that range.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from .grids import grid_of
from .samples import Runner, Sample
from .segmented import in_segments, within

Array = NDArray[Any]
Pair = tuple[float, float]

BINS: Final = 2048
PERCENTILE: Final = 99.999
SHARES: Final = 128
"""Ends are tried at so many parts of the whole range,"""
LEAST: Final = 16
"""from this one on: no range is an eighth of what was seen."""
ROUNDS: Final = 2
EPSILON: Final = 1e-4
"""What a bin without elements has in a divergence, as onnxruntime does."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many elements lie in each of `BINS` parts of [low, high], which has 0 in it; zeros are counted apart."""

    low: float
    high: float
    counts: Array
    zeros: int = 0

    def added(self, x: Array) -> Histogram:
        some = np.asarray(x, np.float64).reshape(-1)
        some = some[some != 0]
        at = (some - self.low) * (BINS / (self.high - self.low))
        bins = np.clip(at.astype(np.int64), 0, BINS - 1)
        more = np.bincount(bins, minlength=BINS)
        zeros = self.zeros + x.size - some.size
        return dataclasses.replace(self, counts=self.counts + more, zeros=zeros)

    @property
    def edges(self) -> Array:
        return np.linspace(self.low, self.high, BINS + 1)

    @property
    def centers(self) -> Array:
        edges = self.edges
        return np.asarray((edges[1:] + edges[:-1]) / 2)

    def whole(self) -> Array:
        """Counts with the zeros where they lie."""
        at = int(-self.low * (BINS / (self.high - self.low)))
        counts = self.counts.copy()
        counts[min(at, BINS - 1)] += self.zeros
        return counts


def histograms(
    model: ir.Model,
    ends: Mapping[str, Pair],
    given: Iterable[Sample],
    runner: Runner,
    ram_bytes: int = sys.maxsize,
) -> dict[str, Histogram]:
    """Of the values that `ends` names, over the samples, a bin where a value has left its ends; values that were always 0 have none.

    In segments, as `calibrate.observe`.
    """
    wide = {n: (min(low, 0.0), max(high, 0.0)) for n, (low, high) in ends.items()}
    found = {n: Histogram(*pair, np.zeros(BINS, np.int64)) for n, pair in wide.items() if any(pair)}
    for runs in in_segments(model, within(model, found, ram_bytes), given, runner):
        for values in runs:
            found |= {name: found[name].added(np.asarray(x)) for name, x in values.items()}
    return found


def clipped(
    model: ir.Model, ends: Mapping[str, Pair], rule: str, given: Iterable[Sample], runner: Runner, ram_bytes: int = sys.maxsize
) -> dict[str, Pair]:  # fmt: skip
    """The ends of the named values by a rule of `RULES`."""
    found = histograms(model, ends, given, runner, ram_bytes)
    return {name: RULES[rule](histogram) for name, histogram in found.items()}


def by_percentile(seen: Histogram) -> Pair:
    counts, edges = seen.whole(), seen.edges
    out = int(counts.sum() * (1 - PERCENTILE / 100) / 2)
    low = int(np.searchsorted(np.cumsum(counts), out, "right"))
    high = int(np.searchsorted(np.cumsum(counts[::-1]), out, "right"))
    return min(float(edges[min(low, BINS - 1)]), 0.0), max(float(edges[max(BINS - high, 1)]), 0.0)


def by_entropy(seen: Histogram) -> Pair:
    counts, centers = seen.counts, seen.centers
    far = max(-seen.low, seen.high)
    pairs = [
        (max(seen.low, -far * i / SHARES), min(seen.high, far * i / SHARES))
        for i in range(LEAST, SHARES + 1)
    ]
    return pairs[int(np.argmin([_divergence(counts, centers, *pair) for pair in pairs]))]


def _divergence(counts: Array, centers: Array, low: float, high: float) -> float:
    """Of how elements lie within [low, high], those outside at its ends, from what its codes say of those inside."""
    first, last = np.searchsorted(centers, (low, high))
    inside = counts[first:last].astype(np.float64)
    if not inside.any():
        return np.inf
    want = inside.copy()
    want[0] += counts[:first].sum()
    want[-1] += counts[last:].sum()
    codes = _codes(centers[first:last], low, high)[1]
    held = inside > 0
    sums, bins = (np.bincount(codes, x, 256) for x in (inside, held))
    told = np.where(held, sums[codes] / np.maximum(bins[codes], 1), 0)
    p, q = _smoothed(want), _smoothed(told)
    return float((p * np.log(p / q)).sum())


def _smoothed(counts: Array) -> Array:
    """Probabilities, none of them 0."""
    empty = counts == 0
    share = EPSILON * empty.sum() / max(len(counts) - empty.sum(), 1)
    some = np.where(empty, EPSILON, np.maximum(counts - share, EPSILON))
    return np.asarray(some / some.sum())


def by_mse(seen: Histogram) -> Pair:
    low, high = seen.low, seen.high
    parts = [i / SHARES for i in range(SHARES, LEAST - 1, -1)]
    for _ in range(ROUNDS):
        high = _least(seen, [(low, seen.high * part) for part in parts])[1]
        low = _least(seen, [(seen.low * part, high) for part in parts])[0]
    return low, high


def _least(seen: Histogram, pairs: Sequence[Pair]) -> Pair:
    """The first of those that miss least."""
    centers = seen.centers
    missed = []
    for low, high in pairs:
        met = _codes(centers, low, high)[0] if low < high else np.zeros(BINS)
        missed.append(float((np.square(met - centers) * seen.counts).sum()))
    return pairs[int(np.argmin(missed))]


def _codes(x: Array, low: float, high: float) -> tuple[Array, Array]:
    """What elements become on the grid of [low, high], and their codes from 0 on."""
    grid = grid_of(low, high)
    scale = float(grid.scale)
    codes = np.clip(np.rint(x / scale) + grid.zero, -128, 127)
    return (codes - grid.zero) * scale, codes.astype(np.int64) + 128


RULES: Final[Mapping[str, Callable[[Histogram], Pair]]] = {
    "percentile": by_percentile,
    "entropy": by_entropy,
    "mse": by_mse,
}
