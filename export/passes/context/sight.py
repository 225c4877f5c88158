"""Which keys an Attention's mask lets a query see, found by evaluating it: all before it, or a window of them; and ALiBi, what it
adds to their scores."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from ... import graph as g

STRIDE: Final = 512
FAR: Final = -1e4
"""What is added to a hidden score is no more than this."""
HIDDEN: Final = -1e8
"""The same beside numbers that are added to others."""
NEAR: Final = 1e-5
WHOLE: Final = 8192
"""Queries that are looked at one and all: what they see takes time and room by the square."""
BEYOND: Final = 64
"""Places behind those at which two neighbours are looked at, where a mask has a past."""

Mask = Callable[[int, int], g.Array]


@dataclasses.dataclass(frozen=True, slots=True)
class Sight:
    """`window`: how many keys a query sees, itself included; 0: all before it. `slopes`: by head, times how far behind the query a
    key is, is added to its score; `sink`: by head, the score of a key that has no value."""

    window: int = 0
    slopes: g.Array | None = None
    sink: g.Array | None = None


def sight_of(mask: Mask, capacity: int, has_past: bool) -> Sight | str:
    """What queries see. Each of the first 8,192 queries is looked at, and some behind those.

    Args:
        mask: Its elements, [.., queries, keys], for (tokens before, tokens now).

    Returns:
        Window and slopes, or why the mask is no such.
    """
    if not has_past and capacity > WHOLE:
        return f"it is written for whole texts and looked at up to {WHOLE} tokens; got a context of {capacity}"
    last = _seen(mask(*_runs(capacity, has_past)[-1]))
    if isinstance(last, str):
        return last
    window, slopes = int(last[0][-1].sum()), last[1]
    for past, new in _runs(capacity, has_past):
        found = _seen(mask(past, new))
        if isinstance(found, str):
            return found
        seen, also = found
        of = np.zeros(1) if slopes is None else slopes
        also = np.zeros(1) if also is None else also
        if seen.sum(1).max(initial=0) > 1 and not np.allclose(also, of, NEAR, 1e-9):
            return "what it adds to scores differs by their place (a bias by position)"
        queries = past + np.arange(new)[:, None]
        keys = np.arange(past + new)[None]
        wanted = (keys <= queries) & (keys > queries - window)
        if seen.shape != wanted.shape:
            return f"expected {list(wanted.shape)} queries and keys, got {list(seen.shape)}"
        if not np.array_equal(seen, wanted):
            at = np.argwhere(seen != wanted)[0]
            what = "sees" if seen[tuple(at)] else "does not see"
            return f"query {past + at[0]} {what} key {at[1]}, with {window} seen by the last"
    return Sight(0 if window == capacity else window, slopes)


def _runs(capacity: int, has_past: bool) -> list[tuple[int, int]]:
    """(tokens before, tokens now) that cover every query, and single tokens behind."""
    if not has_past:
        return [(0, n) for n in sorted({1, min(2, capacity), capacity})]
    end = min(capacity, WHOLE)
    whole = [(at, min(STRIDE, end - at)) for at in range(0, end, STRIDE)]
    return [*whole, *((at, 1) for at in _some(capacity))]


def _some(capacity: int) -> Iterator[int]:
    step = (capacity - WHOLE) // BEYOND + 1
    beyond = [n for at in range(WHOLE, capacity, step) for n in (at - 1, at)]
    yield from sorted(
        {n for n in (0, 1, capacity // 2, *beyond, capacity - 1) if 0 <= n < capacity}
    )


def _seen(mask: g.Array) -> tuple[g.Array, g.Array | None] | str:
    """[queries, keys] of a mask that hides the same keys for every head, and slopes by head where it adds something."""
    flat = mask.reshape(-1, *mask.shape[-2:])
    if len(flat) == 0:
        return "it is of no head"
    if flat.dtype == np.bool_:
        same = all(np.array_equal(row, flat[0]) for row in flat[1:])
        return (flat[0], None) if same else "it differs by head"
    numbers = flat.astype(np.float64)
    if np.all((numbers == 0) | (numbers <= FAR)):
        shown = numbers == 0
        same = all(np.array_equal(row, shown[0]) for row in shown[1:])
        return (shown[0], None) if same else "it differs by head"
    shown = numbers > HIDDEN
    if not all(np.array_equal(row, shown[0]) for row in shown[1:]):
        return "it differs by head"
    slopes = _slopes(numbers, shown[0])
    return slopes if isinstance(slopes, str) else (shown[0], slopes)


def _slopes(numbers: g.Array, shown: g.Array) -> g.Array | str:
    """Of each head, where what it adds is slope * key + something of the query, which softmax does not see."""
    heads, queries, keys = numbers.shape
    counts = shown.sum(1)
    far = int(counts.argmax()) if queries else 0
    if queries == 0 or counts[far] < 2:
        return np.zeros(heads)  # one key says nothing
    of = np.flatnonzero(shown[far])
    slopes: g.Array = (numbers[:, far, of[-1]] - numbers[:, far, of[0]]) / (of[-1] - of[0])
    rest = np.where(shown, numbers - slopes[:, None, None] * np.arange(keys), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a query that sees nothing
        apart = np.nanmax(rest, 2) - np.nanmin(rest, 2)
    largest = np.abs(np.where(shown, numbers, 0)).max((1, 2), initial=0.0)
    if np.any(np.nan_to_num(apart) > NEAR * (1 + largest[:, None])):
        return "what it adds to scores is no slope times how far a key is (a bias by position)"
    return slopes
