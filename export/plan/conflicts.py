"""Which values are alive together. A bit a pair: thousands of values that live at once make millions of pairs.

An interval meets all that begin before it ends, but those that ended before it began; what began and what ended by
some time are sets that grow as time goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Interval = tuple[int, int]
"""First and last time, both included."""

FEW: Final = 64
"""So many neighbours are a list; more are an array, made when it is asked for."""


class Conflicts:
    """`conflicts[v]`: the values that live at some time when v does, ascending by their place in `values`."""

    def __init__(self, values: Sequence[int], intervals: Mapping[int, Sequence[Interval]]) -> None:
        self.values: Final = np.array(values, np.int64)
        self._bytes: Final = -(-len(values) // 8)
        found = _bits([intervals.get(v, ()) for v in values])
        self._bits: Final = dict(zip(values, found, strict=True))
        self._few: Final = {
            v: self._many(v).tolist() for v, b in self._bits.items() if b.bit_count() <= FEW
        }

    def __getitem__(self, v: int) -> Sequence[int] | NDArray[Any]:
        return self._few[v] if v in self._few else self._many(v)

    def __iter__(self) -> Iterator[int]:
        return iter(self._bits)

    def _many(self, v: int) -> NDArray[Any]:
        packed = np.frombuffer(self._bits[v].to_bytes(self._bytes, "little"), np.uint8)
        return self.values[np.flatnonzero(np.unpackbits(packed, bitorder="little"))]


def _bits(lives: Sequence[Sequence[Interval]]) -> list[int]:
    """For each of `lives` those that meet it, as a number: bit i is the i-th.

    Those of several intervals have a bit for each on the way: the k-th of the i-th is bit k * count + i.
    """
    count = len(lives)
    all_of = [
        (first, last, k * count + i)
        for i, many in enumerate(lives)
        for k, (first, last) in enumerate(many)
    ]
    begun = _up_to([(first, bit) for first, _, bit in all_of], [last for _, last, _ in all_of])
    ended = _up_to([(last + 1, bit) for _, last, bit in all_of], [first for first, _, _ in all_of])
    out = [0] * count
    mask = (1 << count) - 1
    for _, last, bit in all_of:
        first = lives[bit % count][bit // count][0]
        met = begun[last] & ~ended[first]
        while met:
            out[bit % count] |= met & mask
            met >>= count
    return [met & ~(1 << i) for i, met in enumerate(out)]


def _up_to(events: list[tuple[int, int]], times: list[int]) -> dict[int, int]:
    """For each of `times` the bits of the events until then, as a number."""
    events, out, total, at = sorted(events), {}, 0, 0
    for time in sorted(set(times)):
        while at < len(events) and events[at][0] <= time:
            total |= 1 << events[at][1]
            at += 1
        out[time] = total
    return out
