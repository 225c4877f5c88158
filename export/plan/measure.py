"""What a planned program takes at sizes of its dimensions: bytes, places, lifetimes. The report, the file and `inspect` ask here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..program import Memory, Program, State, Value
from ..sizes import Extent
from ..sizes.extents import evaluate, symbols_of
from .lifetimes import ALIGN, Lifetimes, Sizes, dense_bytes, hints, planned_values, with_capacities
from .place import top


class Sized:
    """A program at its hints, or at `sizes` of dimensions; a counted one has its capacity, for which the runtime prepares."""

    def __init__(self, program: Program, sizes: Mapping[str, int] | None = None) -> None:
        given = hints(program.dims) if sizes is None else with_capacities(program.dims, sizes)
        self.dims = given
        self._known: dict[Extent, int] = {}

    def extent(self, extent: Extent) -> int:
        if isinstance(extent, int):
            return extent
        if extent not in self._known:
            at = {s: self.dims.get(s.name, 1) for s in symbols_of(extent)}
            try:
                self._known[extent] = evaluate(extent, at)
            except ZeroDivisionError:  # the model does not run at these sizes
                self._known[extent] = 0
        return self._known[extent]

    def bytes(self, value: Value | State) -> int:
        return dense_bytes(value, [self.extent(e) for e in value.shape])


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """Planned values of one method: their bytes (a multiple of 64), their places in the arena, when they live."""

    bytes: Mapping[int, int]
    offsets: Mapping[int, int]
    lives: Lifetimes
    memory: Memory


def measured(program: Program, method: int, sizes: Mapping[str, int] | None = None) -> Measured:
    """At the hints, or at `sizes` of the dimensions."""
    at = Sized(program, sizes)
    values = list(planned_values(program, method))
    size = Sizes(program, values).at(at.dims)
    places = offsets(values, {v: program.values[v].above for v in values}, size)
    lives = Lifetimes(program, method)
    memory = Memory(top(places, size), lives.peak(size), state_bytes(program, method, at))
    return Measured(size, places, lives, memory)


def measure(program: Program, method: int, sizes: Mapping[str, int] | None = None) -> Memory:
    return measured(program, method, sizes).memory


def offsets(
    order: Sequence[int], above: Mapping[int, Sequence[int]], size: Mapping[int, int]
) -> dict[int, int]:
    """Places of values that lie above others, which come before them in `order`."""
    out: dict[int, int] = {}
    for v in order:
        out[v] = max((out[u] + size[u] for u in above.get(v, ())), default=0)
    return out


def state_bytes(program: Program, method: int, at: Sized) -> int:
    """Of the states that a method has values in."""
    start, stop = program.methods[method].values
    used = {v.base for v in program.values[start:stop] if v.storage == "state"}
    return sum(-(-at.bytes(program.states[i]) // ALIGN) * ALIGN for i in used)
