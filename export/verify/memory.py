"""Where tensors lie: views inside their base, written elements apart, outputs apart from inputs (session/check.c).

Before there is a plan every planned value lies by itself; a planned program is checked at the offsets that it will have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from pteron.schema.dtypes import DTYPES

from ..plan.lifetimes import ALIGN
from ..program import Instr, Program, Value
from .parts import value_bytes
from .points import Points, Sizes
from .refusal import refuse

LOOKS: Final = 512
"""Operands that may lie between each other's elements, beside one an instruction (session/session.h)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tensor:
    """A value at one point: bytes from its first element's place in `root`, strides in elements."""

    root: tuple[str, int]
    first: int
    begin: int
    end: int
    size: int  # bytes of an element; 0: narrower than one, or packed
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Memory:
    """All values of a program at all points."""

    def __init__(self, program: Program, points: Points, planned: bool) -> None:
        self._program: Final = program
        self._points: Final = points
        self._planned: Final = planned
        self._count: Final = points.count
        self._rooms: Final[dict[tuple[Any, ...], Sizes]] = {}
        self._room: Final = [self._room_of(i) for i in range(len(program.values))]
        self._offset: Final = self._offsets()
        self._tensors: dict[tuple[int, int], Tensor] = {}
        instrs = sum(len(b.instrs) for b in program.blocks)
        self._looks: Final = [LOOKS + instrs] * self._count  # left at each point
        for i, v in enumerate(program.values):
            if v.storage == "view":
                self._check_inside(i)

    def shape(self, i: int) -> tuple[Sizes, ...]:
        return self._points.of(self._program.values[i].shape)

    # --- room and place ------------------------------------------------------------------------------------------

    def _room_of(self, i: int) -> Sizes:
        """Bytes of a value of its own, with counted dimensions at their capacities or at 0, whatever takes more."""
        v = self._program.values[i]
        if v.storage == "view":
            return ()
        key = (v.dtype, v.layout, v.format, v.groups, v.shape)
        found = self._rooms.get(key)
        if found is None:
            found = self._rooms[key] = self._new_room(v, f"value {i} ({v.name})")
        return found

    def _new_room(self, v: Value, where: str) -> Sizes:
        shapes = [self._points.of(v.shape), self._points.emptied(v.shape)]
        rooms = [
            tuple(value_bytes(v, _at(s, p), where) for p in range(self._count))
            for s in shapes
            if s is not None
        ]
        if any(n >= 2**63 for n in rooms[0]):
            refuse(where, "bytes", "below 2^63", rooms[0])
        return tuple(map(max, *rooms)) if len(rooms) > 1 else rooms[0]

    def _offsets(self) -> list[Sizes]:
        """Of planned values by the plan; of states one behind the other; 0 of all else."""
        out: list[Sizes] = []
        ends: list[Sizes] = []
        zero = states = (0,) * self._count
        for i, v in enumerate(self._program.values):
            at = zero
            if v.storage == "planned" and self._planned:
                for below in v.above:
                    at = tuple(map(max, at, ends[below]))
            elif v.storage == "state":
                at = states
            end = tuple(a + -(-n // ALIGN) * ALIGN for a, n in zip(at, self._room[i], strict=False))
            if any(n >= 2**63 for n in end):
                refuse(f"value {i} ({v.name})", "end of its place", "below 2^63", end)
            if v.storage == "state":
                states = end
            out.append(at)
            ends.append(end)
        return out

    def _check_inside(self, i: int) -> None:
        v = self._program.values[i]
        shape = self._points.of(v.shape)
        strides = self._strides(i)
        (first,) = self._points.of((v.offset,))
        size = DTYPES[v.dtype].bits // 8
        for p in range(self._count):
            if any(n[p] == 0 for n in shape):
                continue
            reach = [(n[p] - 1) * s[p] for n, s in zip(shape, strides, strict=True)]
            low = first[p] + sum(r for r in reach if r < 0)
            high = first[p] + sum(r for r in reach if r > 0)
            room = self._room[v.base][p]
            if low < 0 or (high + 1) * size > room:
                where = f"value {i} ({v.name})"
                refuse(
                    where,
                    "elements of the view",
                    f"within the {room} bytes of value {v.base}",
                    f"{low} to {high}",
                )

    def _strides(self, i: int) -> tuple[Sizes, ...]:
        v = self._program.values[i]
        if v.strides is not None:
            return self._points.of(v.strides)
        step = (1,) * self._count
        out = []
        for n in reversed(self._points.of(v.shape)):
            out.append(step)
            step = tuple(a * b for a, b in zip(step, n, strict=True))
        return tuple(reversed(out))

    def tensor(self, i: int, point: int) -> Tensor:
        found = self._tensors.get((i, point))
        if found is None:
            found = self._tensors[i, point] = self._tensor(i, point)
        return found

    def _tensor(self, i: int, p: int) -> Tensor:
        v = self._program.values[i]
        home = self._home(i)
        storage = self._program.values[home].storage
        root = (storage, -1 if self._shares(storage) else home)
        shape = _at(self._points.of(v.shape), p)
        strides = _at(self._strides(i), p)
        begin = self._offset[home][p]
        size = DTYPES[v.dtype].bits // 8 if v.layout == "strided" else 0
        if 0 in shape:
            return Tensor(root, begin, begin, begin, size, shape, strides)
        if size == 0:
            return Tensor(root, begin, begin, begin + self._room[home][p], 0, shape, strides)
        first = begin + self._points.of((v.offset,))[0][p] * size
        reach = [(n - 1) * s * size for n, s in zip(shape, strides, strict=True)]
        low = first + sum(r for r in reach if r < 0)
        high = first + sum(r for r in reach if r > 0) + size
        return Tensor(root, first, low, high, size, shape, strides)

    # --- what instructions ask -------------------------------------------------------------------------------------

    def is_dense(self, i: int) -> bool:
        """Row-major without gaps at every point, axes of extent 1 aside."""
        v = self._program.values[i]
        if v.strides is None:
            return True
        return all(_dense(self.tensor(i, p)) for p in range(self._count))

    def check(self, where: str, instr: Instr, copies: bool, inplace: Sequence[bool]) -> None:
        """Outputs are writable and touch nothing twice; unless the session `copies`, they are apart from inputs, but
        output 0 from those `inplace`, where both are the same elements in the same places."""
        outputs = [v for v in instr.outputs if v is not None]
        for v in outputs:
            self._check_written(where, v, instr.node)
        if copies:
            return
        for o, out in enumerate(instr.outputs):
            if out is None:
                continue
            for k, x in enumerate(instr.inputs):
                if x is not None and not self._apart(out, x, o == 0 and inplace[k]):
                    refuse(
                        where,
                        f"output {o}",
                        f"apart from input {k}",
                        "memory in common",
                        instr.node,
                    )
            for other in instr.outputs[:o]:
                if other is not None and not self._apart(out, other, False):
                    refuse(
                        where,
                        f"output {o}",
                        "apart from other outputs",
                        "memory in common",
                        instr.node,
                    )

    def _check_written(self, where: str, i: int, node: int) -> None:
        v = self._program.values[i]
        home = self._program.values[self._home(i)]
        if home.storage in ("input", "constant"):
            refuse(where, f"value {i}", "memory that may be written", home.storage, node)
        if v.strides is None:
            return
        for p in range(self._count):
            if _meets_itself(self.tensor(i, p)):
                refuse(where, f"value {i}", "a view that names no element twice", v.strides, node)

    def _apart(self, i: int, j: int, may_coincide: bool) -> bool:
        if (i == j and may_coincide) or self._homes_apart(i, j):
            return True
        for p in range(self._count):
            a, b = self.tensor(i, p), self.tensor(j, p)
            if a.root != b.root or a.end <= b.begin or b.end <= a.begin:
                continue
            self._looks[p] -= 1
            apart = self._looks[p] >= 0 and _interleave(a, b)
            if not apart and not (may_coincide and _coincide(a, b)):
                return False
        return True

    def _homes_apart(self, i: int, j: int) -> bool:
        """Whether they lie in places that do not meet: what most pairs do, at a glance."""
        values = self._program.values
        v, w = self._home(i), self._home(j)
        if v == w:
            return False
        if values[v].storage != values[w].storage or not self._shares(values[v].storage):
            return True
        ends = zip(self._offset[v], self._room[v], self._offset[w], self._room[w], strict=True)
        return all(a + n <= b or b + m <= a for a, n, b, m in ends)

    def _home(self, i: int) -> int:
        v = self._program.values[i]
        return v.base if v.storage == "view" else i

    def _shares(self, storage: str) -> bool:
        """Whether values of this storage lie in one memory."""
        return storage == "state" or (storage == "planned" and self._planned)


def _at(shapes: Sequence[Sizes], point: int) -> tuple[int, ...]:
    return tuple(axis[point] for axis in shapes)


def _dense(t: Tensor) -> bool:
    step = 1
    for n, s in zip(reversed(t.shape), reversed(t.strides), strict=True):
        if n == 0:
            return True
        if n != 1 and s != step:
            return False
        step *= n
    return True


def _meets_itself(t: Tensor) -> bool:
    """Not proved to be apart: axes by stride, each steps over all that the narrower ones reach."""
    if 0 in t.shape:
        return False
    reach = 0
    for s, n in sorted((abs(s), n) for n, s in zip(t.shape, t.strides, strict=True) if n > 1):
        if s <= reach:
            return True
        reach += s * (n - 1)
    return False


def _coincide(a: Tensor, b: Tensor) -> bool:
    """The same elements in the same places."""
    if (a.begin, a.end, a.size, a.shape) != (b.begin, b.end, b.size, b.shape):
        return False
    return all(n <= 1 or s == t for n, s, t in zip(a.shape, a.strides, b.strides, strict=True))


def _interleave(a: Tensor, b: Tensor) -> bool:
    """Tensors that share a range of addresses may still touch no common byte: columns of one matrix. Each stride of
    either is tried as the row length."""
    if a.size == 0 or b.size == 0:
        return False
    anchor = min(a.begin, b.begin)
    for t in (a, b):
        for n, s in zip(t.shape, t.strides, strict=True):
            period = abs(s) * t.size
            if n == 1 or period == 0:
                continue
            x, y = _inner(a, anchor, period), _inner(b, anchor, period)
            if x and y and (x[1] <= y[0] or y[1] <= x[0]):
                return True
    return False


def _inner(t: Tensor, anchor: int, period: int) -> tuple[int, int] | None:
    """Where the part that stays inside one period begins and ends in it; None: the tensor does not split so."""
    span = sum(
        abs((n - 1) * s * t.size)
        for n, s in zip(t.shape, t.strides, strict=True)
        if n != 1 and s * t.size % period
    )
    begin = (t.begin - anchor) % period
    end = begin + span + t.size
    return (begin, end) if end <= period else None
