"""GPTQ for every format: columns are rounded one after another, and those to come take up what each one misses.

Frantar et al. 2022, https://arxiv.org/abs/2210.17323: with H = x^T x the best that the columns left over can do against the
error of column j is a row of the Cholesky factor of H^-1. The same without an inverse: with H = A^T A, A lower triangular, the error
e costs |A e|^2, whose term i the columns up to i decide alone: column i is rounded to nearest of w_i + sum_{j < i} A_ij / A_ii e_j.
Which number a code stands for is the format's own affair: scales are found first, by the search that weighs columns by H's
diagonal, and columns with much input come first. Then sweeps of coordinate descent over codes and scales take what the greedy order
left: each lowers trace((w - q) H (w - q)^T).
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import QuantError

from ..encode import blocks, elements
from ..encode.format import BlockFormat, Encoded, joined
from . import cholesky
from .scale_search import search

F32 = NDArray[np.float32]

DAMP: Final = 0.01
"""Of the mean diagonal, added to the diagonal: what the samples did not show may happen."""
BATCH: Final = 128
"""Columns whose effect on those behind them is summed up at once."""
SWEEPS: Final = 2
LEAST: Final = 2.0**-126
"""Of a mean diagonal: inputs that were all zero."""
ROOM: Final = 1 << 20
"""Elements of moments of groups that are rounded side by side, or one group."""
At = tuple[Any, Any]
"""Which column of each group."""


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
    each, k = len(w) // len(second), w.shape[1]
    most = max(ROOM // max(k * k, 1), 1)
    parts = []
    for g in range(0, len(second), most):
        some = second[g : g + most]
        begin, end = g * each, (g + len(some)) * each
        part = w[begin:end].reshape(len(some), each, k)
        parts.append(_groups(part, begun.rows(begin, end), some, sweeps, threads))
    return joined(parts)


@dataclasses.dataclass(frozen=True, slots=True)
class _Grid:
    """What codes of each column of each group stand for: `step` and `zero` of its block and row, [groups, k, n]."""

    element: elements.Element
    step: F32
    zero: NDArray[np.int8] | None

    def nearest(self, x: F32, at: At) -> elements.Codes:
        return elements.encode(x / self.step[at], self.element, self._zero(at))

    def value(self, codes: elements.Codes, at: At) -> F32:
        return np.asarray(elements.decode(codes, self.element, self._zero(at)) * self.step[at])

    def _zero(self, at: At) -> NDArray[np.int8] | None:
        return None if self.zero is None else self.zero[at]


def _groups(w: F32, begun: Encoded, second: F32, sweeps: int, threads: int) -> Encoded:
    """Groups [g, n, k], which know nothing of each other, side by side: of depthwise weights one is nine numbers."""
    h, at = second.astype(np.float64), np.arange(w.shape[2])
    diagonal = h[:, at, at]
    damp = DAMP * np.maximum(diagonal.mean(1), LEAST)
    h[:, at, at] = np.where(diagonal <= 0, 1, diagonal) + damp[:, None]
    fmt, step = begun.format, blocks.steps(begun).reshape(*w.shape[:2], -1)
    block = fmt.block or max(w.shape[2], 1)

    def each(part: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(np.repeat(part, block, axis=2).swapaxes(1, 2))

    zero = None if begun.zero is None else begun.zero.reshape(step.shape)
    columns = None if zero is None else each(zero)
    codes = _greedy(w, _Grid(fmt.element, each(step), columns), h, threads)
    moments = h.astype(np.float32)
    for _ in range(sweeps):
        if fmt.scale != "e8m0":
            step = _rescaled(w, codes, step, zero, begun, moments)
        codes = _descend(w, codes, _Grid(fmt.element, each(step), columns), moments)
    rows = len(w) * w.shape[1]
    return blocks.with_steps(begun, codes.reshape(rows, -1), step.reshape(rows, -1))


def _greedy(w: F32, grid: _Grid, h: NDArray[np.float64], threads: int) -> elements.Codes:
    groups, n, k = w.shape
    order = np.argsort(-np.diagonal(h, axis1=1, axis2=2), axis=1, kind="stable")
    lower = _lowers(h, order, threads)
    exact = np.take_along_axis(w.swapaxes(1, 2), order[:, :, None], 1)
    wanted = exact.copy()
    codes = np.empty(exact.shape, np.uint8)
    for begin in range(0, k, BATCH):
        end = min(begin + BATCH, k)
        missed = np.empty((groups, end - begin, n), np.float32)
        for j in range(begin, end):
            at = np.arange(groups), order[:, j]
            codes[:, j] = grid.nearest(wanted[:, j], at)
            missed[:, j - begin] = exact[:, j] - grid.value(codes[:, j], at)
            wanted[:, j + 1 : end] += lower[:, j + 1 : end, j, None] * missed[:, None, j - begin]
        wanted[:, end:] += lower[:, end:, begin:end] @ missed
    out = np.empty_like(codes)
    np.put_along_axis(out, order[:, :, None], codes, 1)
    return np.ascontiguousarray(out.swapaxes(1, 2))


def _lowers(h: NDArray[np.float64], order: NDArray[np.intp], threads: int) -> F32:
    """`_lower` of each group; of small ones in one call, as long as none is difficult."""
    back = order[:, ::-1]
    if len(h) > 1 and h.shape[1] <= cholesky.BLOCK:
        with contextlib.suppress(np.linalg.LinAlgError):
            at = np.arange(len(h))[:, None, None]
            low = np.linalg.cholesky(h[at, back[:, :, None], back[:, None, :]])
            columns = (low / np.diagonal(low, axis1=1, axis2=2)[:, None]).astype(np.float32)
            return np.ascontiguousarray(columns.swapaxes(1, 2)[:, ::-1, ::-1])
    return np.stack([_lower(*each, threads) for each in zip(h, order, strict=True)])


def _lower(h: NDArray[np.float64], order: NDArray[np.intp], threads: int) -> F32:
    """A_ij / A_ii of the ordered moments. Those in f32 about a large mean can be off by more than `DAMP`: then the diagonal gets more."""
    turned = h[np.ix_(order[::-1], order[::-1])]
    more = float(np.diagonal(h).mean())
    while True:
        try:
            low = cholesky.factor(turned, threads)
            columns = np.empty(low.shape, np.float32)
            np.divide(low, np.diagonal(low), out=columns, casting="same_kind")
            return np.ascontiguousarray(columns.T[::-1, ::-1])
        except np.linalg.LinAlgError:
            turned[np.diag_indices_from(turned)] += more
            more *= 10


def _descend(w: F32, codes: elements.Codes, grid: _Grid, h: F32) -> elements.Codes:
    """Each column once more, with all others as they are; of those before it nobody asks again."""
    groups, n, k = w.shape
    out = np.ascontiguousarray(codes.swapaxes(1, 2))
    now = elements.decode(out, grid.element, grid.zero) * grid.step
    pull = h @ (np.ascontiguousarray(w.swapaxes(1, 2)) - now)  # minus half the gradient
    for begin in range(0, k, BATCH):
        end = min(begin + BATCH, k)
        moved = np.empty((groups, end - begin, n), np.float32)
        for j in range(begin, end):
            at = slice(None), j
            wanted = now[at] + pull[at] / h[:, j, j, None]
            out[at] = grid.nearest(wanted, at)
            moved[:, j - begin] = grid.value(out[at], at) - now[at]
            pull[:, j + 1 : end] -= h[:, j + 1 : end, j, None] * moved[:, None, j - begin]
        pull[:, end:] -= h[:, end:, begin:end] @ moved
    return np.ascontiguousarray(out.swapaxes(1, 2))


def _rescaled(
    w: F32,
    codes: elements.Codes,
    before: F32,
    zero: NDArray[np.int8] | None,
    begun: Encoded,
    h: F32,
) -> F32:
    """Each block's scale once more, with codes and all other scales as they are."""
    block = begun.format.block or max(w.shape[2], 1)
    fmt, steps = begun.format, before.copy()
    zero = None if zero is None else np.repeat(zero, block, axis=2)
    level = elements.decode(codes, fmt.element, zero)
    pull = (w - level * np.repeat(steps, block, axis=2)) @ h
    for b in range(steps.shape[2]):
        at = slice(b * block, (b + 1) * block)
        some = level[:, :, at]
        power = ((some @ h[:, at, at]) * some).sum(2, dtype=np.float64)
        more = (some * pull[:, :, at]).sum(2, dtype=np.float64) / np.maximum(power, 1e-300)
        wanted = (steps[:, :, b] + more).astype(np.float32).reshape(-1, 1)
        now = blocks.snapped(wanted, fmt, begun.outer).reshape(more.shape)
        if b + 1 < steps.shape[2]:
            pull -= ((now - steps[:, :, b])[:, :, None] * some) @ h[:, at]
        steps[:, :, b] = now
    return steps
