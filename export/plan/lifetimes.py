"""When each planned value of a method is in use, and how large it is.

Time runs over the method's instructions with blocks inlined where they run; an instruction that runs blocks spans them.
A value lives from its first to its last access, through views too. What a loop's body accesses but does not own lives
through the whole loop, since every iteration comes back to it. A block that is called from several places gives its
values several intervals.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pteron.schema.dtypes import stored_bytes

from ..program import Instr, Program, State, Value
from ..program.rebuild import blocks_of
from ..sizes import Dim, Extent
from ..sizes.expressions import Expressions
from .conflicts import Conflicts, Interval

ALIGN: Final = 64
MAX_EXTENT: Final = 4096  # of a counted dimension without a capacity; include/pteron/pteron.h


@dataclasses.dataclass(slots=True, eq=False)
class _Frame:
    """One run of a loop's or a call's block; `last` is set when it is over."""

    block: int
    is_loop: bool
    first: int
    last: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class _Access:
    first: int
    last: int
    frames: tuple[_Frame, ...]  # around it, outermost first


class Lifetimes:
    """`intervals`: planned value -> when it lives, in order of time; `ends`: how many points in time there are, and `at`:
    for each the instruction, as `walk` counts them."""

    def __init__(self, program: Program, method: int) -> None:
        self._program: Final = program
        self._accesses: dict[int, list[_Access]] = {}
        self.at: Final[list[int]] = []
        self._count = 0
        m = program.methods[method]
        self._block(m.block, ())
        for port in m.outputs:
            self._touch([port.value], len(self.at), len(self.at), ())
        self.at.append(max(self._count - 1, 0))
        self.ends: Final = len(self.at)
        self.intervals: Final = {v: _merge(a) for v, a in sorted(self._accesses.items())}

    def conflicts(self) -> Conflicts:
        """Value -> the values alive at some time when it is."""
        return Conflicts(list(self.intervals), self.intervals)

    def peak(self, sizes: Mapping[int, int]) -> int:
        """The largest sum of `sizes` alive at one time: no plan needs less."""
        return max(self.alive(sizes))

    def alive(self, sizes: Mapping[int, int]) -> list[int]:
        """The sum of `sizes` alive at each point in time."""
        change = [0] * (self.ends + 1)
        for v, many in self.intervals.items():
            for first, last in many:
                change[first] += sizes[v]
                change[last + 1] -= sizes[v]
        return list(itertools.accumulate(change[:-1]))

    def _block(self, index: int, frames: tuple[_Frame, ...]) -> None:
        block = self._program.blocks[index]
        for instr in block.instrs:
            self._instr(instr, frames)
        self._touch(block.results, len(self.at), len(self.at), frames)
        self.at.append(max(self._count - 1, 0))

    def _instr(self, instr: Instr, frames: tuple[_Frame, ...]) -> None:
        start = len(self.at)
        self.at.append(self._count)
        self._count += 1
        ends = [start]
        for block in blocks_of(self._program, instr):
            frame = _Frame(block, instr.op == "loop", start)
            self._block(block, frames if instr.op == "if" else (*frames, frame))
            frame.last = len(self.at) - 1
            ends.append(frame.last)
        inputs, outputs = (start, ends[-1]), (start, ends[-1])
        if instr.op == "if":  # each branch copies its results as it ends, the first one at ends[1]
            inputs, outputs = (start, start), (ends[1], ends[-1])
        elif instr.op == "loop":  # initial values are copied before the first iteration
            self._touch(instr.inputs[2:], start, start, frames)
        self._touch(instr.inputs[:2] if instr.op == "loop" else instr.inputs, *inputs, frames)
        self._touch(instr.outputs, *outputs, frames)

    def _touch(
        self, values: Sequence[int | None], first: int, last: int, frames: tuple[_Frame, ...]
    ) -> None:
        for v in values:
            if v is None:
                continue
            value = self._program.values[v]
            home = value.base if value.storage == "view" else v
            if self._program.values[home].storage == "planned":
                self._accesses.setdefault(home, []).append(_Access(first, last, frames))


def _merge(accesses: list[_Access]) -> tuple[Interval, ...]:
    """One interval for each run of the block that owns the value, the innermost one that holds all its accesses;
    accesses in a loop further inside stretch over that loop."""
    depth = _common([tuple(f.block for f in a.frames) for a in accesses])
    runs: dict[tuple[_Frame, ...], list[Interval]] = {}
    for a in accesses:
        inside = [f for f in a.frames[depth:] if f.is_loop]
        span = (inside[0].first, inside[0].last) if inside else (a.first, a.last)
        runs.setdefault(a.frames[:depth], []).append(span)
    return tuple(
        sorted((min(a for a, _ in spans), max(b for _, b in spans)) for spans in runs.values())
    )


def _common(paths: list[tuple[int, ...]]) -> int:
    """Length of the common beginning."""
    length = min(len(p) for p in paths)
    return next((i for i in range(length) if any(p[i] != paths[0][i] for p in paths)), length)


# --- sizes ------------------------------------------------------------------------------------------------------


def planned_values(program: Program, method: int) -> Iterator[int]:
    start, stop = program.methods[method].values
    return (v for v in range(start, stop) if program.values[v].storage == "planned")


def hints(dims: Sequence[Dim]) -> dict[str, int]:
    """The sizes that the stored plan is made for; a counted dimension has its capacity."""
    return with_capacities(dims, {d.name: d.hint for d in dims if d.kind != "counted"})


def with_capacities(dims: Sequence[Dim], sizes: Mapping[str, int]) -> dict[str, int]:
    """`sizes` and, for each counted dimension, the value of its capacity."""
    out = dict(sizes)
    for d in dims:
        if d.kind == "counted":
            out[d.name] = MAX_EXTENT if d.capacity is None else _value(dims, d.capacity, out)
    return out


def _value(dims: Sequence[Dim], extent: Extent, sizes: Mapping[str, int]) -> int:
    exprs = Expressions([d.name for d in dims])
    row = exprs.add(extent)
    return exprs.evaluate(sizes)[row]


class Sizes:
    """Bytes of values, rounded up to 64, for given sizes of dimensions."""

    def __init__(self, program: Program, values: Sequence[int]) -> None:
        self._exprs: Final = Expressions([d.name for d in program.dims])
        self._rows: Final = {
            v: (program.values[v], [self._exprs.add(e) for e in program.values[v].shape])
            for v in values
        }

    def at(self, sizes: Mapping[str, int]) -> dict[int, int]:
        extents = self._exprs.evaluate(sizes)
        return {
            v: -(-dense_bytes(value, [extents[r] for r in rows]) // ALIGN) * ALIGN
            for v, (value, rows) in self._rows.items()
        }


def dense_bytes(value: Value | State, shape: Sequence[int]) -> int:
    """What a dense value takes; panels hold 16 rows."""
    extents = [max(0, n) for n in shape]
    if value.layout == "panels":
        extents[0] = -(-extents[0] // 16) * 16
    count = 1
    for n in extents:
        count *= n
    return stored_bytes(value.dtype, count)
