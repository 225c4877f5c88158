"""Cases of non_max_suppression."""

from __future__ import annotations

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.ops import OPS
from pteron.schema.row import Out

RNG = np.random.default_rng(44)


def boxes(batch: int, count: int, *, center: bool = False) -> Array:
    """Boxes on a coarse grid: many touch, many are equal, some have no area."""
    at = RNG.integers(0, 6, (batch, count, 2)).astype(np.float32) / 4
    size = RNG.integers(0, 4, (batch, count, 2)).astype(np.float32) / 4
    parts = [at, size] if center else [at + size, at]  # the larger corner may come first
    return np.concatenate(parts, -1)


def scores(batch: int, classes: int, count: int) -> Array:
    """With ties, and a NaN, which is never kept."""
    values = RNG.integers(-3, 9, (batch, classes, count)).astype(np.float32) / 8
    values[..., :1] = np.nan if count > 3 else values[..., :1]
    return values


def case(
    shape: tuple[int, int, int],
    limit: int | None = 5,
    overlap: float | None = 0.3,
    threshold: float | None = None,
    *,
    center: bool = False,
    room: int | None = None,
    status: Status = Status.OK,
) -> Case:
    batch, classes, count = shape
    inputs = [
        boxes(batch, count, center=center),
        scores(batch, classes, count),
        None if limit is None else np.asarray(limit, np.int64),
        None if overlap is None else np.asarray(overlap, np.float32),
        None if threshold is None else np.asarray(threshold, np.float32),
    ]
    with np.errstate(all="ignore"):
        want = OPS["non_max_suppression"].meaning(*inputs, center=center)
    capacity = batch * classes * count if room is None else room
    return Case(
        "non_max_suppression",
        inputs,
        {"center": center},
        out=[Out((capacity, 3), "i64")],
        want=[want],
        status=status,
    )


CASES = [
    *(case(s) for s in ((1, 1, 1), (1, 1, 7), (2, 3, 20), (1, 2, 200), (0, 2, 3), (2, 0, 3))),
    *(case((2, 2, 30), limit=n) for n in (None, 0, -1, 1, 1000)),
    *(case((1, 2, 30), overlap=v) for v in (None, 0.0, 0.5, 1.0, -1.0)),
    *(case((1, 2, 30), threshold=v) for v in (0.25, 2.0)),
    *(case((2, 2, 30), center=True, overlap=v) for v in (0.2, 0.6)),
    case((1, 1, 0)),
    case((1, 2, 30), overlap=1.0, room=3, status=Status.LIMIT),
]
