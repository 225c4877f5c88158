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

from ..program import Program, Value
from ..program.rebuild import renumber
from ..sizes import Dim
from .conflicts import FEW, Conflicts
from .lifetimes import (
    Lifetimes,
    Sizes,
    hints,
    planned_values,
    with_capacities,
)
from .place import best_order, top

GROWTH: Final = (16, 200)  # how much larger than their hints dimensions may well be


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one method at the hints: its plan, the most that is alive at one time (no plan needs less), its states.
    Scratch and border copies are the runtime's and come on top."""

    planned_bytes: int
    live_bytes: int
    state_bytes: int

    @property
    def ratio(self) -> float:
        return self.planned_bytes / self.live_bytes if self.live_bytes else 1.0


def plan(program: Program) -> Program:
    """Fills in `above` of every planned value, which renumbers the values of each method: planned ones from the bottom
    up, then the others, states by number, views. `measure` says what the plan takes."""
    for method in range(len(program.methods)):
        program = _plan_method(program, method)
    return program


def measure(program: Program, method: int, sizes: Mapping[str, int] | None = None) -> Memory:
    """What the plan in `program` takes, at the hints or at `sizes` of the dimensions."""
    at = hints(program.dims) if sizes is None else with_capacities(program.dims, sizes)
    values = list(planned_values(program, method))
    size = Sizes(program, values).at(at)
    offsets = _offsets(program, values, size)
    live = Lifetimes(program, method).peak(size)
    return Memory(top(offsets, size), live, _state_bytes(program, method, at))


def overlaps(program: Program, method: int, sizes: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pairs of values that are alive together and share bytes at these sizes; a right plan has none for any sizes."""
    values = list(planned_values(program, method))
    size = Sizes(program, values).at(with_capacities(program.dims, sizes))
    offset = _offsets(program, values, size)
    out = []
    conflicts = Lifetimes(program, method).conflicts()
    for v in conflicts:
        for u in map(int, conflicts[v]):
            if u < v and offset[u] < offset[v] + size[v] and offset[v] < offset[u] + size[u]:
                out.append((u, v))
    return sorted(out)


def _plan_method(program: Program, method: int) -> Program:
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
    return renumber(dataclasses.replace(program, values=filled), orders)


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


def _offsets(program: Program, values: Sequence[int], size: Mapping[int, int]) -> dict[int, int]:
    out: dict[int, int] = {}
    for v in values:  # what lies below has a lower index
        out[v] = max((out[u] + size[u] for u in program.values[v].above), default=0)
    return out


def _state_bytes(program: Program, method: int, at: Mapping[str, int]) -> int:
    start, stop = program.methods[method].values
    used = {v.base for v in program.values[start:stop] if v.storage == "state"}
    total = 0
    for i in sorted(used):
        state = program.states[i]
        value = Value(state.name, state.dtype, state.shape, layout=state.layout)
        one = Sizes(dataclasses.replace(program, values=(value,)), [0])
        total += one.at(at)[0]
    return total


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
