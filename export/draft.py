"""A Program taken apart for passes: instructions by position, who reads and writes which memory, values that change.

A `Draft` is edited in place and put together again by `finish`. Memory is named by base value: a view stands for its
base. Positions are places in one block's list; an instruction that runs blocks reads and writes what they do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from pteron.export.extents import symbols_of
from pteron.export.lower import ref as views
from pteron.export.lower.ref import Ref, Shape
from pteron.export.program import Block, Instr, Program, Value
from pteron.export.rebuild import blocks_of, prune


class Draft:
    """`blocks[i][k]` is instruction k of block i, None where it was dropped."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: list[Value] = list(program.values)
        self.blocks: list[list[Instr | None]] = [list(b.instrs) for b in program.blocks]
        self.method_of: list[int] = [0] * len(program.values)
        for i, m in enumerate(program.methods):
            for v in range(*m.values):
                self.method_of[v] = i
        self.kept: set[int] = {
            p.value for m in program.methods for p in (*m.inputs, *m.outputs)
        } | {v for b in program.blocks for v in (*b.params, *b.results)}

    def base(self, v: int) -> int:
        return self.values[v].base if self.values[v].storage == "view" else v

    def ref(self, v: int) -> Ref:
        """The value as a view of its base."""
        value = self.values[v]
        if value.storage == "view":
            return Ref(value.dtype, value.shape, value.base, value.strides, value.offset)
        return Ref(value.dtype, value.shape, v)

    def value(self, ref: Ref, method: int) -> int:
        """The value that is `ref`, made where it is new."""
        assert ref.base is not None
        if views.covers(ref, self.values[ref.base].shape):
            return ref.base
        found = Value("", ref.dtype, ref.shape, "view", ref.base, ref.strides, ref.offset)
        self.values.append(dataclasses.replace(found, name=self.values[ref.base].name))
        self.method_of.append(method)
        return len(self.values) - 1

    def new(self, dtype: str, shape: Shape, method: int) -> int:
        self.values.append(Value("", dtype, shape))
        self.method_of.append(method)
        return len(self.values) - 1

    def settle(self, v: int, base: int) -> None:
        """Value v, dense and row-major so far, becomes a view of `base` from its start; so do v's own views."""
        for i, value in enumerate(self.values):
            if value.storage == "view" and value.base == v:
                self.values[i] = dataclasses.replace(value, base=base)
        old = self.values[v]
        self.values[v] = dataclasses.replace(old, storage="view", base=base)

    def reads(self, i: Instr) -> set[int]:
        """Bases that the instruction reads, also inside its blocks."""
        found = {self.base(v) for v in i.inputs if v is not None}
        for inner in self.inner(i):
            found |= self.reads(inner)
        for b in blocks_of(self.program, i):
            found |= {self.base(v) for v in self.program.blocks[b].results}
        return found

    def writes(self, i: Instr) -> set[int]:
        found = {self.base(v) for v in i.outputs if v is not None}
        for inner in self.inner(i):
            found |= self.writes(inner)
        return found

    def inner(self, i: Instr) -> Iterator[Instr]:
        """Instructions of the blocks that `i` runs."""
        for b in blocks_of(self.program, i):
            for instr in self.blocks[b]:
                if instr is not None:
                    yield instr

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

        def move(values: tuple[int | None, ...]) -> tuple[int | None, ...]:
            return tuple(None if v is None else new[v] for v in values)

        def instr(i: Instr) -> Instr:
            return dataclasses.replace(i, inputs=move(i.inputs), outputs=move(i.outputs))

        values = tuple(
            dataclasses.replace(v, base=new[v.base]) if v.storage == "view" else v
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
        moved = tuple(
            Block(
                tuple(instr(i) for i in b.instrs),
                tuple(new[v] for v in b.params),
                tuple(new[v] for v in b.results),
            )
            for b in blocks
        )
        return dataclasses.replace(
            self.program, values=values, blocks=moved, methods=tuple(methods)
        )


def without_unused_dims(program: Program) -> Program:
    """Drops counted and shape dimensions that no size mentions."""
    used = used_names(program)
    dims = tuple(d for d in program.dims if d.kind == "symbolic" or d.name in used)
    return dataclasses.replace(program, dims=dims)


def used_names(program: Program) -> set[str]:
    """Names of the symbols in any shape, stride, attribute, check or capacity."""
    found: set[str] = set()

    def note(x: Any) -> None:
        if isinstance(x, (tuple, list)):
            for e in x:
                note(e)
        else:
            found.update(str(s.name) for s in symbols_of(x))

    for v in program.values:
        note((v.shape, v.strides, v.offset))
    for b in program.blocks:
        for i in b.instrs:
            note([a for name, a in i.attrs.items() if name != "steps"])
    for c in program.checks:
        note((c.a, c.b))
    for s in program.states:
        note(s.shape)
    for d in program.dims:
        if d.name in found:
            note(d.capacity)
    return found
