"""GPTQ for every format: columns are rounded one after another, and those to come take up what each one misses.

Frantar et al. 2022, https://arxiv.org/abs/2210.17323: with H = x^T x the best that the columns left over can do against the
error of column j is a row of the Cholesky factor of H^-1. Which number a code stands for is the format's own affair: scales are
found first, by the search that weighs columns by H's diagonal, and columns with much input come first. Then sweeps of
coordinate descent over codes and scales take what the greedy order left: each lowers trace((w - q) H (w - q)^T).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .encode import blocks, elements
from .encode.format import BlockFormat, Encoded
from .search import search, stored

F32 = NDArray[np.float32]

DAMP: Final = 0.01
"""Of the mean diagonal, added to the diagonal: what the samples did not show may happen."""
BATCH: Final = 128
"""Columns whose effect on those behind them is summed up at once."""
SWEEPS: Final = 2
LEAST: Final = 2.0**-126
"""Of a mean diagonal: inputs that were all zero."""


def gptq(w: F32, fmt: BlockFormat, second: F32, sweeps: int = SWEEPS) -> Encoded:
    """Rounds [n, k] for inputs with second moments [groups, k, k]; rows of one group are next to each other.

    Raises:
        QuantError: as `blocks.encode`.
    """
    begun = search(w, fmt, np.diagonal(second, axis1=1, axis2=2))
    each = len(w) // len(second)
    parts = [
        _group(w[g * each :][:each], begun.scale[g * each :][:each], fmt, moments, sweeps)
        for g, moments in enumerate(second)
    ]
    codes, scales = zip(*parts, strict=True)
    return Encoded(fmt, np.concatenate(codes), np.concatenate(scales))


def _group(
    w: F32, scale: NDArray[Any], fmt: BlockFormat, second: F32, sweeps: int
) -> tuple[elements.Codes, NDArray[Any]]:
    h = second.astype(np.float64)
    diagonal = np.diagonal(h).copy()
    idle = diagonal <= 0
    h[idle, idle] = 1
    h[np.diag_indices_from(h)] += DAMP * max(float(diagonal.mean()), LEAST)
    block = fmt.block or max(w.shape[1], 1)
    codes = _greedy(w, np.repeat(blocks.steps(scale, fmt), block, axis=1), fmt, h)
    moments = h.astype(np.float32)
    for _ in range(sweeps):
        if fmt.scale != "e8m0":
            scale = _rescaled(w, codes, scale, fmt, moments)
        codes = _descend(w, codes, np.repeat(blocks.steps(scale, fmt), block, axis=1), fmt, moments)
    return codes, scale


def _greedy(w: F32, step: F32, fmt: BlockFormat, h: NDArray[np.float64]) -> elements.Codes:
    order = np.argsort(-np.diagonal(h), kind="stable")
    inverse = np.linalg.inv(h[np.ix_(order, order)])
    upper = np.linalg.cholesky((inverse + inverse.T) / 2).T.astype(np.float32)
    left, steps = np.ascontiguousarray(w.T[order]), np.ascontiguousarray(step.T[order])
    codes = np.empty(left.shape, np.uint8)
    for begin in range(0, len(left), BATCH):
        end = min(begin + BATCH, len(left))
        missed = np.empty((end - begin, left.shape[1]), np.float32)
        for j in range(begin, end):
            codes[j] = elements.encode(left[j] / steps[j], fmt.element)
            taken = elements.decode(codes[j], fmt.element) * steps[j]
            missed[j - begin] = (left[j] - taken) / upper[j, j]
            left[j + 1 : end] -= upper[j, j + 1 : end, None] * missed[j - begin]
        left[end:] -= upper[begin:end, end:].T @ missed
    out = np.empty_like(codes)
    out[order] = codes
    return np.ascontiguousarray(out.T)


def _descend(w: F32, codes: elements.Codes, step: F32, fmt: BlockFormat, h: F32) -> elements.Codes:
    """Each column once more, with all others as they are."""
    steps, out = np.ascontiguousarray(step.T), np.ascontiguousarray(codes.T)
    now = elements.decode(out, fmt.element) * steps
    pull = h @ (np.ascontiguousarray(w.T) - now)  # minus half the gradient, [k, n]
    for begin in range(0, len(now), BATCH):
        end = min(begin + BATCH, len(now))
        moved = np.empty((end - begin, now.shape[1]), np.float32)
        for j in range(begin, end):
            wanted = now[j] + pull[j] / h[j, j]
            out[j] = elements.encode(wanted / steps[j], fmt.element)
            moved[j - begin] = elements.decode(out[j], fmt.element) * steps[j] - now[j]
            pull[begin:end] -= h[begin:end, j, None] * moved[j - begin]
        pull[:begin] -= h[:begin, begin:end] @ moved
        pull[end:] -= h[end:, begin:end] @ moved
    return np.ascontiguousarray(out.T)


def _rescaled(
    w: F32, codes: elements.Codes, scale: NDArray[Any], fmt: BlockFormat, h: F32
) -> NDArray[Any]:
    """Each block's scale once more, with codes and all other scales as they are."""
    block = fmt.block or max(w.shape[1], 1)
    level = elements.decode(codes, fmt.element)
    steps = blocks.steps(scale, fmt).copy()
    out = scale.copy()
    pull = (w - level * np.repeat(steps, block, axis=1)) @ h
    for b in range(steps.shape[1]):
        at = slice(b * block, (b + 1) * block)
        some = level[:, at]
        power = ((some @ h[at, at]) * some).sum(1, dtype=np.float64)
        more = (some * pull[:, at]).sum(1, dtype=np.float64) / np.maximum(power, 1e-300)
        out[:, b] = stored((steps[:, b] + more).astype(np.float32), fmt)
        moved = blocks.steps(out[:, b], fmt) - steps[:, b]
        pull -= (moved[:, None] * some) @ h[at]
    return out
