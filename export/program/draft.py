"""A Program taken apart for passes: instructions by position, who reads and writes which memory, values that change.

A `Draft` is edited in place and put together again by `finish`. Memory is named by base value: a view stands for its
base. Positions are places in one block's list; an instruction that runs blocks reads and writes what they do.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final

import sympy

from pteron.schema.ops import OPS
from pteron.schema.shape import counted_axes
from pteron.schema.signature import CONTROL

from ..graph import common_module
from ..sizes.expressions import symbol
from . import Block, DebugNode, Instr, Program, Value, views
from .rebuild import blocks_of, mentioned, move_block, prune, without_unused_dims
from .views import View

MOST_OPERATORS: Final = 4
"""That the name of a fused instruction lists."""

Place = tuple[int, int]
"""A block and a position in it."""


class _Book:
    """Who reads, or who writes, each base: `places`, and as seen from each block around them their positions, in order."""

    def __init__(self) -> None:
        self.places: dict[int, set[Place]] = {}
        self.seen: dict[
            tuple[int, int], list[int]
        ] = {}  # by base and block; a position once for each place inside

    def add(self, v: int, place: Place, around: Iterable[Place]) -> None:
        mine = self.places.setdefault(v, set())
        if place not in mine:
            mine.add(place)
            for block, at in around:
                bisect.insort(self.seen.setdefault((v, block), []), at)

    def discard(self, v: int, place: Place, around: Iterable[Place]) -> None:
        mine = self.places.get(v, set())
        if place in mine:
            mine.discard(place)
            for block, at in around:
                seen = self.seen[v, block]
                del seen[bisect.bisect_left(seen, at)]


class Draft:
    """`blocks[i][k]` is instruction k of block i, None where it was dropped; `put` keeps the books when one changes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes: list[DebugNode] = list(program.nodes)
        self.values: list[Value] = list(program.values)
        self.blocks: list[list[Instr | None]] = [[None] * len(b.instrs) for b in program.blocks]
        self.owner: dict[int, Place] = {}  # of a block: the instruction that runs it
        self._read, self._written = _Book(), _Book()
        self.views: dict[int, list[int]] = {}
        self.method_of = [0] * len(program.values)
        for k, m in enumerate(program.methods):
            self.method_of[slice(*m.values)] = [k] * (m.values[1] - m.values[0])
        for v, value in enumerate(self.values):
            if value.storage == "view":
                self.views.setdefault(value.base, []).append(v)
        for b, block in enumerate(program.blocks):
            for at, i in enumerate(block.instrs):
                self.put(b, at, i)
        kept = [p.value for m in program.methods for p in (*m.inputs, *m.outputs)]
        kept += [v for b in program.blocks for v in (*b.params, *b.results)]
        self.kept: set[int] = {self.base(v) for v in kept}

    def base(self, v: int) -> int:
        return self.values[v].base if self.values[v].storage == "view" else v

    def ref(self, v: int) -> View:
        """The value as a view of its base."""
        value = self.values[v]
        if value.storage == "view":
            return View(value.dtype, value.shape, value.base, value.strides, value.offset)
        return View(value.dtype, value.shape, v)

    def value(self, ref: View, method: int) -> int:
        """The value that is `ref`, made where it is new."""
        assert ref.base is not None
        base = self.values[ref.base]
        if views.covers(ref, base.shape):
            return ref.base
        self.values.append(
            Value(base.name, ref.dtype, ref.shape, "view", ref.base, ref.strides, ref.offset)
        )
        self.method_of.append(method)
        self.views.setdefault(ref.base, []).append(len(self.values) - 1)
        return len(self.values) - 1

    def settle(self, v: int, base: int) -> None:
        """Value v, dense and row-major so far, becomes a view of `base` from its start; so do v's own views."""
        moved = [v, *self.views.pop(v, [])]
        for i in moved:
            self.values[i] = dataclasses.replace(self.values[i], storage="view", base=base)
        self.views.setdefault(base, []).extend(moved)
        for book in (self._read, self._written):
            for place in list(book.places.get(v, ())):
                around = self._around(place)
                book.discard(v, place, around)
                book.add(base, place, around)
        if v in self.kept:
            self.kept.add(base)

    def put(self, block: int, at: int, instr: Instr | None) -> None:
        """Replaces an instruction, or drops it."""
        old = self.blocks[block][at]
        place, around = (block, at), self._around((block, at))
        if old is not None:
            for v in self.reads(old):
                self._read.discard(v, place, around)
            for v in self.writes(old):
                self._written.discard(v, place, around)
        if instr is not None:
            for v in self.reads(instr):
                if (
                    self.values[v].storage != "constant"
                ):  # nobody asks who reads what is never written
                    self._read.add(v, place, around)
            for v in self.writes(instr):
                self._written.add(v, place, around)
            for b in blocks_of(self.program, instr):
                self.owner[b] = place
        self.blocks[block][at] = instr

    def joint_node(self, members: Sequence[int]) -> int:
        """The node that an instruction made of several is shown as: their common module and their operators, else the last."""
        distinct = list(dict.fromkeys(members))
        known = [self.nodes[i] for i in distinct if i < len(self.nodes)]
        inside = common_module(n.name.rpartition("/")[0] for n in known)
        if len(distinct) == 1 or len(known) != len(distinct) or not inside:
            return members[-1]
        ops = "+".join(n.op_type for n in known[:MOST_OPERATORS])
        ops += "+..." if len(known) > MOST_OPERATORS else ""
        self.nodes.append(DebugNode(f"{inside}/{ops}", ops, known[-1].source))
        return len(self.nodes) - 1

    def reads(self, i: Instr) -> set[int]:
        """Bases that the instruction itself reads, or that its blocks hand over."""
        found = {self.base(v) for v in i.inputs if v is not None}
        for b in blocks_of(self.program, i):
            found |= {self.base(v) for v in self.program.blocks[b].results}
        return found

    def writes(self, i: Instr) -> set[int]:
        return {self.base(v) for v in i.outputs if v is not None}

    def sizes(self, i: Instr) -> set[sympy.Symbol]:
        """What the extents, strides and attributes of the instruction mention."""
        given = [a for name, a in i.attrs.items() if name != "steps"]
        for v in (*i.inputs, *i.outputs):
            if v is not None:
                value = self.values[v]
                given += [value.shape, value.strides, value.offset]
        return set().union(*map(mentioned, given))

    def counting(self) -> dict[sympy.Symbol, set[Place]]:
        """The instructions that set each counted dimension: by their row, or as a block's result does."""
        counted = {symbol(d) for d in self.program.dims if d.kind == "counted"}
        out: dict[sympy.Symbol, set[Place]] = {}
        for b, instrs in enumerate(self.blocks if counted else ()):
            for at, i in enumerate(instrs):
                for s in _set_by(self.values, i) & counted if i is not None else ():
                    out.setdefault(s, set()).add((b, at))
        return out

    def reading(self, v: int) -> set[Place]:
        """The instructions that read base v."""
        return self._read.places.get(v, set())

    def writing(self, v: int) -> set[Place]:
        return self._written.places.get(v, set())

    def readers(self, v: int, block: int) -> list[int]:
        """Positions in `block` that read base v, also inside the blocks they run; ascending, some more than once."""
        return self._read.seen.get((v, block), [])

    def writers(self, v: int, block: int) -> list[int]:
        return self._written.seen.get((v, block), [])

    def read_elsewhere(self, v: int, block: int) -> bool:
        """Base v is read outside of `block` and what it runs."""
        return len(self.reading(v)) > len(self.readers(v, block))

    def written_elsewhere(self, v: int, block: int) -> bool:
        return len(self.writing(v)) > len(self.writers(v, block))

    def touched(self, v: int, block: int, first: int, last: int) -> bool:
        """Base v is read or written by a position of first .. last - 1."""
        found = (self.readers(v, block), self.writers(v, block))
        return any(between(positions, first, last) for positions in found)

    def only_writer(self, v: int, block: int) -> int | None:
        """The position that alone writes base v, in `block` or outside."""
        at = self.writers(v, block)
        alone = at and at[0] == at[-1] and not self.written_elsewhere(v, block)
        return at[0] if alone else None

    def only_user(self, v: int, block: int, at: int) -> bool:
        """Nobody but position `at` reads it, in `block` or outside."""
        planned = self.values[v].storage == "planned" and v not in self.kept
        readers = self.readers(v, block)
        alone = readers and readers[0] == readers[-1] == at
        return bool(planned and alone and not self.read_elsewhere(v, block))

    def may_move(self, block: int, source: int, at: int) -> bool:
        """Nothing between touches what position `source` writes, or writes what it reads."""
        i = self.blocks[block][source]
        assert i is not None
        for v in self.writes(i):
            if between(self.readers(v, block), source + 1, at):
                return False
            if self.only_writer(v, block) != source:
                return False
        written = (self.writers(v, block) for v in self.reads(i))
        return not any(between(positions, source + 1, at) for positions in written)

    def _around(self, place: Place) -> list[Place]:
        """The place, and those of the instructions that run its block."""
        found = [place]
        while place[0] in self.owner:
            place = self.owner[place[0]]
            found.append(place)
        return found

    def finish(self) -> Program:
        """The Program of what is left: views after the values they lie in, unnamed values dropped."""
        blocks = tuple(
            Block(tuple(i for i in instrs if i is not None), old.params, old.results)
            for instrs, old in zip(self.blocks, self.program.blocks, strict=True)
        )
        order = sorted(
            range(len(self.values)),
            key=lambda v: (self.method_of[v], self.values[v].storage == "view", v),
        )
        return without_unused_dims(prune(self._ordered(blocks, order)))

    def _ordered(self, blocks: tuple[Block, ...], order: list[int]) -> Program:
        new = {v: i for i, v in enumerate(order)}
        values = tuple(
            dataclasses.replace(v, base=new[v.base])
            if v.storage == "view" and new[v.base] != v.base
            else v
            for v in (self.values[at] for at in order)
        )
        start, methods = 0, []
        for i, m in enumerate(self.program.methods):
            count = self.method_of.count(i)
            inputs = tuple(dataclasses.replace(p, value=new[p.value]) for p in m.inputs)
            outputs = tuple(dataclasses.replace(p, value=new[p.value]) for p in m.outputs)
            span = (start, start + count)
            methods.append(dataclasses.replace(m, inputs=inputs, outputs=outputs, values=span))
            start += count
        moved = tuple(move_block(b, new) for b in blocks)
        return dataclasses.replace(
            self.program,
            values=values,
            blocks=moved,
            methods=tuple(methods),
            nodes=tuple(self.nodes),
        )


def _set_by(values: Sequence[Value], i: Instr) -> set[sympy.Symbol]:
    """Extents of its outputs that the instruction decides while running, if they are counted."""
    axes = counted_axes(OPS[i.op])
    found: set[sympy.Symbol] = set()
    for k, v in enumerate(i.outputs):
        if v is not None and (i.op in CONTROL or k in axes):
            shape = values[v].shape
            own = range(len(shape)) if i.op in CONTROL else axes[k]
            found |= {shape[a] for a in own if isinstance(shape[a], sympy.Symbol)}
    return found


def between(positions: list[int], first: int, last: int) -> bool:
    """One of the ascending `positions` is among first .. last - 1."""
    at = bisect.bisect_left(positions, first)
    return at < len(positions) and positions[at] < last
