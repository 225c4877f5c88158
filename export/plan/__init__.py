"""Static memory planning: which planned values lie above which others.

A value's offset is the maximum of the ends of the values in its `above` list, so one list serves every size of every
dimension: two values alive together are joined by a chain of lists, and no sizes can make them overlap. The
lists come from the best of several greedy placements (place.py) at the hints of the dimensions and above them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..program import Memory, Program
from ..program.rebuild import renumber
from ..sizes import Dim
from .conflicts import FEW, Conflicts
from .lifetimes import Lifetimes, Sizes, planned_values, with_capacities
from .measure import Sized, measure, measured, offsets, state_bytes
from .place import best_order, top

__all__ = ["measure", "overlaps", "plan"]

GROWTH: Final = (16, 200)  # how much larger than their hints dimensions may well be


def plan(program: Program) -> Program:
    """Fills in `above` of every planned value, which renumbers the values of each method: planned ones from the bottom
    up, then the others, states by number, views. `memory` says what that takes at the hints."""
    memory: list[Memory] = []
    for method in range(len(program.methods)):
        program, taken = _plan_method(program, method)
        memory.append(taken)
    return dataclasses.replace(program, memory=tuple(memory))


def overlaps(program: Program, method: int, sizes: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pairs of values that are alive together and share bytes at these sizes; a right plan has none for any sizes."""
    found = measured(program, method, sizes)
    conflicts, at, size = found.lives.conflicts(), found.offsets, found.bytes
    pairs = ((u, v) for v in conflicts for u in map(int, conflicts[v]) if u < v)
    return sorted((u, v) for u, v in pairs if at[u] < at[v] + size[v] and at[v] < at[u] + size[u])


def _plan_method(program: Program, method: int) -> tuple[Program, Memory]:
    values = list(planned_values(program, method))
    lives = Lifetimes(program, method)
    conflicts = Conflicts(values, lives.intervals)
    sizes = Sizes(program, values)
    points = [sizes.at(point) for point in _points(program.dims)]
    order = best_order(values, points, conflicts, lives)
    above = _above(order, conflicts)
    filled = tuple(
        dataclasses.replace(v, above=tuple(above[i])) if i in above else v
        for i, v in enumerate(program.values)
    )
    orders = [list(range(*m.values)) for m in program.methods]
    orders[method] = [*order, *_others(program, method)]
    taken = Memory(
        top(offsets(order, above, points[0]), points[0]),
        lives.peak(points[0]),
        state_bytes(program, method, Sized(program)),
    )
    return renumber(dataclasses.replace(program, values=filled), orders), taken


def _points(dims: Sequence[Dim]) -> list[dict[str, int]]:
    """The hints, and sizes well above them: an order that is good at one may be bad at the other."""
    given = {d.name: d for d in dims if d.kind != "counted"}
    points = []
    for factor in (1, *GROWTH):
        at = {name: max(d.hint, min(d.hint * factor, d.max)) for name, d in given.items()}
        at = with_capacities(dims, at)
        points += [] if at in points else [at]
    return points


def _others(program: Program, method: int) -> list[int]:
    """All but the planned values: states by number, views after what they lie in."""
    values = program.values

    def key(v: int) -> tuple[int, int]:
        if values[v].storage == "state":
            return 1, values[v].base
        return (2 if values[v].storage == "view" else 0), v

    return sorted(
        (v for v in range(*program.methods[method].values) if values[v].storage != "planned"),
        key=key,
    )


def _above(order: Sequence[int], conflicts: Conflicts) -> dict[int, list[int]]:
    """For each value the conflicting ones that come before it in `order`, without those that others of them imply."""
    rank = np.zeros(max(order, default=-1) + 1, np.int64)
    rank[list(order)] = np.arange(len(order))
    below: list[int] = []  # by rank, a set of ranks: bits
    out: dict[int, list[int]] = {}
    for v in order:
        near = rank[np.asarray(conflicts[v], np.int64)]
        left, seen = _bits(near[near < len(below)], len(order)), 0
        out[v] = []
        while left:  # the highest one first
            highest = left.bit_length() - 1
            out[v].append(order[highest])
            seen |= below[highest] | 1 << highest
            left &= ~seen
        below.append(seen)
    return out


def _bits(ranks: NDArray[Any], count: int) -> int:
    if len(ranks) <= FEW:
        return sum(1 << r for r in ranks.tolist())
    flags = np.zeros(count, np.uint8)
    flags[ranks] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
