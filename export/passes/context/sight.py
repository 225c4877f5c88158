"""Which keys an Attention's mask lets a query see, found by evaluating it: all before it, or a window of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from ... import graph as g

STRIDE: Final = 512
FAR: Final = -1e4
"""What is added to a hidden score is no more than this."""
WHOLE: Final = 8192
"""Queries that are looked at one and all: what they see takes time and room by the square."""
BEYOND: Final = 64
"""Places behind those at which two neighbours are looked at, where a mask has a past."""

Mask = Callable[[int, int], g.Array]


def window_of(mask: Mask, capacity: int, has_past: bool) -> int | str:
    """How many keys a query sees, itself included; 0: all before it. Each of the first 8,192 queries is looked at, and some behind
    those.

    Args:
        mask: Its elements, [.., queries, keys], for (tokens before, tokens now).

    Returns:
        The window, or why the mask is no such.
    """
    if not has_past and capacity > WHOLE:
        return f"it is written for whole texts and looked at up to {WHOLE} tokens; got a context of {capacity}"
    last = _seen(mask(*_runs(capacity, has_past)[-1]))
    if isinstance(last, str):
        return last
    window = int(last[-1].sum())
    for past, new in _runs(capacity, has_past):
        seen = _seen(mask(past, new))
        if isinstance(seen, str):
            return seen
        queries = past + np.arange(new)[:, None]
        keys = np.arange(past + new)[None]
        wanted = (keys <= queries) & (keys > queries - window)
        if seen.shape != wanted.shape:
            return f"expected {list(wanted.shape)} queries and keys, got {list(seen.shape)}"
        if not np.array_equal(seen, wanted):
            at = np.argwhere(seen != wanted)[0]
            what = "sees" if seen[tuple(at)] else "does not see"
            return f"query {past + at[0]} {what} key {at[1]}, with {window} seen by the last"
    return 0 if window == capacity else window


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


def _seen(mask: g.Array) -> g.Array | str:
    """[queries, keys] of a mask that is the same for every head."""
    flat = mask.reshape(-1, *mask.shape[-2:])
    if len(flat) == 0 or not all(np.array_equal(row, flat[0]) for row in flat[1:]):
        return "it differs by head"
    first: g.Array = flat[0]
    if first.dtype == np.bool_:
        return first
    numbers = first.astype(np.float64)
    if not np.all((numbers == 0) | (numbers <= FAR)):
        return "it adds to scores that are seen (a bias by position)"
    shown: g.Array = numbers == 0
    return shown
