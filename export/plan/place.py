"""Greedy placement of values in one arena, for known sizes; and the best of many for several sizes at once.

Each value in turn goes into the smallest gap between those placed that it must not touch. The turn decides how good the
result is: largest first (Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020), longest
first, in order of time; then what ends at the top gets its turn earlier, as long as that helps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .conflicts import Conflicts
from .lifetimes import Lifetimes

Bytes = Mapping[int, int]
Near = Conflicts | Mapping[int, Collection[int]]
"""Value -> those that it must not touch."""

TOLERATED: Final = 1.05  # of the bound at the hints, for the sake of other sizes
WORK: Final = 40_000  # values placed while improving: bounds the time of large methods


def best_order(
    values: Sequence[int], points: Sequence[Bytes], conflicts: Near, lives: Lifetimes
) -> list[int]:
    """Values from the bottom up. `points`: bytes of the values at several sizes of the dimensions, the hints first."""
    bounds = [max(lives.peak(size), 1) for size in points]
    best: list[int] = []
    score: tuple[float, ...] = ()
    for size in points:
        for turns in _turns(values, size, lives):
            order = _bottom_up(_improved(turns, size, conflicts, lives), size)
            ratios = [
                top(stacked(order, s, conflicts), s) / bound
                for s, bound in zip(points, bounds, strict=True)
            ]
            new = (max(ratios[0], TOLERATED), max(ratios), ratios[0])
            if not score or new < score:
                best, score = order, new
            if score[1] == 1.0:
                return best
    return best


def place(turns: Sequence[int], size: Bytes, conflicts: Near) -> dict[int, int]:
    """Offsets: each value in turn into the smallest gap that holds it."""
    laid = _Laid(turns)
    for v in turns:
        near = conflicts[v]
        if isinstance(near, np.ndarray):
            at = _gap_among(laid.start[near], laid.end[near], size[v])
        else:
            taken = sorted(
                (laid.offset[u], laid.offset[u] + size[u]) for u in near if u in laid.offset
            )
            at = _gap(taken, size[v])
        laid.put(v, at, size[v])
    return laid.offset


def stacked(order: Sequence[int], size: Bytes, conflicts: Near) -> dict[int, int]:
    """Offsets where each value lies on top of those before it that it must not touch."""
    laid = _Laid(order)
    for v in order:
        near = conflicts[v]
        if isinstance(near, np.ndarray):
            at = int(laid.end[near].max(initial=0))
        else:
            at = max((laid.offset[u] + size[u] for u in near if u in laid.offset), default=0)
        laid.put(v, at, size[v])
    return laid.offset


class _Laid:
    """Where values lie that have their place; the same as arrays by value: from -1 to 0 for those that have none."""

    def __init__(self, values: Sequence[int]) -> None:
        count = max(values, default=-1) + 1
        self.offset: dict[int, int] = {}
        self.start: Final = np.full(count, -1, np.int64)
        self.end: Final = np.zeros(count, np.int64)

    def put(self, v: int, at: int, size: int) -> None:
        self.offset[v] = self.start[v] = at
        self.end[v] = at + size


def top(offset: Bytes, size: Bytes) -> int:
    return max((offset[v] + size[v] for v in offset), default=0)


def _bottom_up(offset: Bytes, size: Bytes) -> list[int]:
    return sorted(offset, key=lambda v: (offset[v], offset[v] + size[v], v))


def _turns(values: Sequence[int], size: Bytes, lives: Lifetimes) -> Iterator[list[int]]:
    first = {v: lives.intervals[v][0][0] if v in lives.intervals else 0 for v in values}
    span = {v: sum(b - a + 1 for a, b in lives.intervals.get(v, ())) for v in values}
    keys: list[Callable[[int], tuple[int, ...]]] = [
        lambda v: (-size[v], first[v], v),
        lambda v: (-size[v] * span[v], first[v], v),
        lambda v: (first[v], -size[v], v),
        lambda v: (-span[v], -size[v], v),
        lambda v: (-first[v], -size[v], v),
    ]
    for key in keys:
        yield sorted(values, key=key)


def _improved(turns: list[int], size: Bytes, conflicts: Near, lives: Lifetimes) -> dict[int, int]:
    """Offsets after what ended at the top was placed first, again and again."""
    bound = lives.peak(size)
    best = offset = place(turns, size, conflicts)
    for _ in range(min(len(turns), WORK // max(len(turns), 1))):
        height = top(offset, size)
        if height <= bound:
            break
        highest = next(v for v in turns if offset[v] + size[v] == height)
        if turns[0] == highest:
            break
        turns = [highest, *(v for v in turns if v != highest)]
        offset = place(turns, size, conflicts)
        if top(offset, size) < top(best, size):
            best = offset
    return best


def _gap(taken: Sequence[tuple[int, int]], need: int) -> int:
    """Start of the smallest gap of at least `need` bytes; above all of `taken` where there is none."""
    best, best_room, end = -1, 0, 0
    for start, stop in taken:
        room = start - end
        if room >= need and (best < 0 or room < best_room):
            best, best_room = end, room
        end = max(end, stop)
    return end if best < 0 else best


def _gap_among(start: NDArray[Any], end: NDArray[Any], need: int) -> int:
    """`_gap` among those of many that have a place."""
    order = np.lexsort((end, start))[np.count_nonzero(start < 0) :]
    below = np.maximum.accumulate(np.concatenate(([0], end[order])))
    room = start[order] - below[:-1]
    fits = np.flatnonzero(room >= need)
    return int(below[fits[np.argmin(room[fits])]]) if len(fits) else int(below[-1])
