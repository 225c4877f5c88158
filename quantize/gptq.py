"""GPTQ for every format: columns are rounded one after another, and those to come take up what each one misses.

Frantar et al. 2022, https://arxiv.org/abs/2210.17323: with H = x^T x the best that the columns left over can do against the
error of column j is a row of the Cholesky factor of H^-1. The same without an inverse: with H = A^T A, A lower triangular, the error
e costs |A e|^2, whose term i the columns up to i decide alone: column i is rounded to nearest of w_i + sum_{j < i} A_ij / A_ii e_j.
Which number a code stands for is the format's own affair: scales are found first, by the search that weighs columns by H's
diagonal, and columns with much input come first. Then sweeps of coordinate descent over codes and scales take what the greedy order
left: each lowers trace((w - q) H (w - q)^T).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import QuantError

from . import linear
from .encode import blocks, elements
from .encode.format import BlockFormat, Encoded, joined
from .search import search

F32 = NDArray[np.float32]

DAMP: Final = 0.01
"""Of the mean diagonal, added to the diagonal: what the samples did not show may happen."""
BATCH: Final = 128
"""Columns whose effect on those behind them is summed up at once."""
SWEEPS: Final = 2
LEAST: Final = 2.0**-126
"""Of a mean diagonal: inputs that were all zero."""


def gptq(w: F32, fmt: BlockFormat, second: F32, sweeps: int = SWEEPS, threads: int = 1) -> Encoded:
    """Rounds [n, k] for inputs with second moments [groups, k, k]; rows of one group are next to each other.

    `threads` at most share the factor of the moments; no bit depends on them.

    Raises:
        QuantError: as `blocks.encode`; moments are not finite.
    """
    if not np.isfinite(second).all():
        raise QuantError(
            "gptq: expected samples with finite second moments, got inputs whose squares are beyond f32; leave them out"
        )
    begun = search(w, fmt, np.diagonal(second, axis1=1, axis2=2))
    each = len(w) // len(second)
    parts = [
        _group(w[g * each :][:each], begun.each(_rows(g * each, each)), moments, sweeps, threads)
        for g, moments in enumerate(second)
    ]
    return joined(parts)


def _rows(begin: int, count: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda part: part[begin : begin + count]


@dataclasses.dataclass(frozen=True, slots=True)
class _Grid:
    """What codes of each column stand for: `step` and `zero` of its block and row, [k, n]."""

    element: elements.Element
    step: F32
    zero: NDArray[np.int8] | None

    def nearest(self, x: F32, j: int) -> elements.Codes:
        return elements.encode(x / self.step[j], self.element, self._zero(j))

    def value(self, codes: elements.Codes, j: int) -> F32:
        return np.asarray(elements.decode(codes, self.element, self._zero(j)) * self.step[j])

    def _zero(self, j: int) -> NDArray[np.int8] | None:
        return None if self.zero is None else self.zero[j]


def _group(w: F32, begun: Encoded, second: F32, sweeps: int, threads: int) -> Encoded:
    h = second.astype(np.float64)
    diagonal = np.diagonal(h).copy()
    idle = diagonal <= 0
    h[idle, idle] = 1
    h[np.diag_indices_from(h)] += DAMP * max(float(diagonal.mean()), LEAST)
    fmt, step = begun.format, blocks.steps(begun)
    block = fmt.block or max(w.shape[1], 1)

    def each(part: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(np.repeat(part, block, axis=1).T)

    zero = None if begun.zero is None else each(begun.zero)
    codes = _greedy(w, _Grid(fmt.element, each(step), zero), h, threads)
    moments = h.astype(np.float32)
    for _ in range(sweeps):
        if fmt.scale != "e8m0":
            step = _rescaled(w, codes, step, begun, moments)
        codes = _descend(w, codes, _Grid(fmt.element, each(step), zero), moments)
    return blocks.with_steps(begun, codes, step)


def _greedy(w: F32, grid: _Grid, h: NDArray[np.float64], threads: int) -> elements.Codes:
    order = np.argsort(-np.diagonal(h), kind="stable")
    lower = _lower(h, order, threads)
    exact = np.ascontiguousarray(w.T[order])
    wanted = exact.copy()
    codes = np.empty(exact.shape, np.uint8)
    for begin in range(0, len(exact), BATCH):
        end = min(begin + BATCH, len(exact))
        missed = np.empty((end - begin, exact.shape[1]), np.float32)
        for j in range(begin, end):
            codes[j] = grid.nearest(wanted[j], order[j])
            missed[j - begin] = exact[j] - grid.value(codes[j], order[j])
            wanted[j + 1 : end] += lower[j + 1 : end, j, None] * missed[j - begin]
        wanted[end:] += lower[end:, begin:end] @ missed
    out = np.empty_like(codes)
    out[order] = codes
    return np.ascontiguousarray(out.T)


def _lower(h: NDArray[np.float64], order: NDArray[np.intp], threads: int) -> F32:
    """A_ij / A_ii of the ordered moments. Those in f32 about a large mean can be off by more than `DAMP`: then the diagonal gets more."""
    turned = h[np.ix_(order[::-1], order[::-1])]
    more = float(np.diagonal(h).mean())
    while True:
        try:
            low = linear.factor(turned, threads)
            columns = np.empty(low.shape, np.float32)
            np.divide(low, np.diagonal(low), out=columns, casting="same_kind")
            return np.ascontiguousarray(columns.T[::-1, ::-1])
        except np.linalg.LinAlgError:
            turned[np.diag_indices_from(turned)] += more
            more *= 10


def _descend(w: F32, codes: elements.Codes, grid: _Grid, h: F32) -> elements.Codes:
    """Each column once more, with all others as they are; of those before it nobody asks again."""
    out = np.ascontiguousarray(codes.T)
    now = elements.decode(out, grid.element, grid.zero) * grid.step
    pull = h @ (np.ascontiguousarray(w.T) - now)  # minus half the gradient, [k, n]
    for begin in range(0, len(now), BATCH):
        end = min(begin + BATCH, len(now))
        moved = np.empty((end - begin, now.shape[1]), np.float32)
        for j in range(begin, end):
            wanted = now[j] + pull[j] / h[j, j]
            out[j] = grid.nearest(wanted, j)
            moved[j - begin] = grid.value(out[j], j) - now[j]
            pull[j + 1 : end] -= h[j + 1 : end, j, None] * moved[j - begin]
        pull[end:] -= h[end:, begin:end] @ moved
    return np.ascontiguousarray(out.T)


def _rescaled(w: F32, codes: elements.Codes, before: F32, begun: Encoded, h: F32) -> F32:
    """Each block's scale once more, with codes and all other scales as they are."""
    block = begun.format.block or max(w.shape[1], 1)
    fmt, steps = begun.format, before.copy()
    zero = None if begun.zero is None else np.repeat(begun.zero, block, axis=1)
    level = elements.decode(codes, fmt.element, zero)
    pull = (w - level * np.repeat(steps, block, axis=1)) @ h
    for b in range(steps.shape[1]):
        at = slice(b * block, (b + 1) * block)
        some = level[:, at]
        power = ((some @ h[at, at]) * some).sum(1, dtype=np.float64)
        more = (some * pull[:, at]).sum(1, dtype=np.float64) / np.maximum(power, 1e-300)
        wanted = (steps[:, b] + more).astype(np.float32)[:, None]
        now = blocks.snapped(wanted, fmt, begun.outer)[:, 0]
        if b + 1 < steps.shape[1]:
            pull -= ((now - steps[:, b])[:, None] * some) @ h[at]
        steps[:, b] = now
    return steps
