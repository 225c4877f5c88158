"""What the operators on boxes mean, in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..row import Array


def non_max_suppression(
    boxes: Array,
    scores: Array,
    limit: Array | None,
    overlap: Array | None,
    threshold: Array | None,
    center: bool,
) -> Array:
    """Rows (batch, class, box) of the boxes kept; see the row. Arithmetic in the boxes' type."""
    most = 0 if limit is None else int(limit)
    share = 0.0 if overlap is None else float(overlap)
    above = -np.inf if threshold is None else float(threshold)
    kept = [
        (b, c, i)
        for b in range(scores.shape[0])
        for c in range(scores.shape[1])
        for i in _kept(corners(boxes[b], center), scores[b, c], most, share, above)
    ]
    return np.asarray(kept, np.int64).reshape(-1, 3)


def corners(boxes: Array, center: bool) -> Array:
    """[n, 4] as (least y, least x, most y, most x)."""
    if center:
        half = boxes[:, [3, 2]] / 2
        at = boxes[:, [1, 0]]
        return np.concatenate([at - half, at + half], 1)
    first, second = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], 1)


def _kept(
    boxes: Array, scores: Array, limit: int, overlap: float, threshold: float
) -> Iterator[int]:
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] > threshold]
    chosen: list[int] = []
    for i in order:
        if len(chosen) >= limit:
            return
        if all(_share(boxes[i], boxes[j]) <= overlap for j in chosen):
            chosen.append(int(i))
            yield int(i)


def _share(a: Array, b: Array) -> float:
    """Area of the intersection over that of the union; 0 where a box has no area."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    areas = [(x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)]
    if min(sides) <= 0 or min(areas) <= 0:
        return 0.0
    inside = sides[0] * sides[1]
    return float(inside / (areas[0] + areas[1] - inside))
