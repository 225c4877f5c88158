"""What export tells: nodes in and out, operators, bytes, states, copies, notes, seconds a stage."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

import onnx_ir as ir
import sympy
from pteron.export import graph as g
from pteron.export.program import Block, Extent, Method, Program, Value

ALIGN = 64
BLOCK_ATTRS = ("then_block", "else_block", "body")


@dataclasses.dataclass
class MethodReport:
    """One method: nodes as captured, nodes after the passes by operator, instructions by operator."""

    name: str
    nodes_in: int = 0
    nodes_out: int = 0
    operators: dict[str, int] = dataclasses.field(default_factory=dict)
    instructions: dict[str, int] = dataclasses.field(default_factory=dict)
    planned_bytes: int = 0
    live_bytes: int = 0  # no plan can take less: the most bytes alive at one instruction
    copies: int = 0
    copied_bytes: int = 0
    border_copies: int = 0  # copies into method outputs


@dataclasses.dataclass
class Report:
    """Filled by `export`; sizes of symbolic dimensions are their hints."""

    methods: list[MethodReport] = dataclasses.field(default_factory=list)
    passes: dict[str, int] = dataclasses.field(default_factory=dict)
    constants: int = 0
    constants_bytes: int = 0
    states: dict[str, int] = dataclasses.field(default_factory=dict)  # name: bytes
    dims: dict[str, int] = dataclasses.field(default_factory=dict)  # name: hint
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    file_bytes: int = 0

    def spent(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def begin(self, method: str, model: ir.Model) -> None:
        self.methods.append(MethodReport(method, nodes_in=sum(1 for _ in g.nodes(model))))

    def passed(self, name: str, seconds: float) -> None:
        self.passes[name] = self.passes.get(name, 0) + 1

    def cleaned(self, model: ir.Model) -> None:
        count = collections.Counter(n.op_type for n in g.nodes(model))
        self.methods[-1].nodes_out = count.total()
        self.methods[-1].operators = dict(count.most_common())

    def end(self, program: Program) -> None:
        """Measures the finished program."""
        self.dims = {d.name: d.hint for d in program.dims}
        self.constants = len(program.constants)
        self.constants_bytes = sum(c.array.nbytes for c in program.constants)
        size = Sizes(program)
        self.states = {s.name: size.bytes(s.dtype, s.shape) for s in program.states}
        for method, mine in zip(program.methods, self.methods, strict=False):
            _measure(program, method, mine, size)
            if mine.copied_bytes:
                self.notes.append(
                    f"{mine.name}: {mine.copies} copies move {mine.copied_bytes:,} bytes a run"
                )

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def as_text(self) -> str:
        lines = []
        for m in self.methods:
            total = sum(m.instructions.values())
            most = ", ".join(f"{k} {v}" for k, v in list(m.instructions.items())[:8])
            lines.append(
                f"method {m.name}: {m.nodes_in} nodes, {m.nodes_out} after the passes, {total} instructions ({most})"
            )
            bound = f", at least {m.live_bytes:,} live" if m.live_bytes else ""
            lines.append(
                f"  memory     {m.planned_bytes:,} bytes planned{bound}; {m.border_copies} copies into outputs"
            )
        lines.append(f"constants    {self.constants:,} in {self.constants_bytes:,} bytes")
        if self.states:
            lines.append(
                "states       " + ", ".join(f"{k} {v:,} bytes" for k, v in self.states.items())
            )
        if self.dims:
            lines.append("planned for  " + ", ".join(f"{k}={v}" for k, v in self.dims.items()))
        if self.file_bytes:
            lines.append(f"file         {self.file_bytes:,} bytes")
        lines += [f"note         {note}" for note in self.notes]
        lines.append("seconds      " + ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items()))
        return "\n".join(lines)


class Sizes:
    """Bytes of values with every dimension at its hint."""

    def __init__(self, program: Program) -> None:
        self.at = {sympy.Symbol(d.name, integer=True, positive=True): d.hint for d in program.dims}
        self.by_name = {d.name: d.hint for d in program.dims}

    def number(self, extent: Extent) -> int:
        if isinstance(extent, int):
            return extent
        return int(extent.subs({s: self.by_name.get(s.name, 1) for s in extent.free_symbols}))

    def bytes(self, dtype: str, shape: tuple[Extent, ...]) -> int:
        count = 1
        for extent in shape:
            count *= max(self.number(extent), 0)
        return (count * bits(dtype) + 7) // 8


def bits(dtype: str) -> int:
    if dtype == "bool":
        return 8
    digits = "".join(c if c.isdigit() else " " for c in dtype).split()
    return int(digits[0]) if digits else 8


def walk(program: Program, block: Block) -> Iterator[Any]:
    """Instructions in the order they run, nested blocks after the instruction that runs them."""
    for instr in block.instrs:
        yield instr
        for name in BLOCK_ATTRS:
            if name in instr.attrs:
                yield from walk(program, program.blocks[instr.attrs[name]])


def _measure(program: Program, method: Method, mine: MethodReport, size: Sizes) -> None:
    values = program.values
    count: collections.Counter[str] = collections.Counter()
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    position = 0
    for position, instr in enumerate(walk(program, program.blocks[method.block])):
        count[instr.op] += 1
        for index in (*instr.inputs, *instr.outputs):
            if index is not None:
                owner = _owner(values, index)
                first.setdefault(owner, position)
                last[owner] = position
        if instr.op == "copy" and instr.outputs[0] is not None:
            target = values[instr.outputs[0]]
            mine.copies += 1
            mine.copied_bytes += size.bytes(target.dtype, target.shape)
            mine.border_copies += values[_owner(values, instr.outputs[0])].storage == "output"
    mine.instructions = dict(count.most_common())
    mine.planned_bytes = planned_bytes(program, method, size)
    planned = {v for v in first if values[v].storage == "planned"}
    change = [0] * (position + 2)
    for v in planned:
        need = size.bytes(values[v].dtype, values[v].shape)
        change[first[v]] += need
        change[last[v] + 1] -= need
    alive = 0
    for delta in change:
        alive += delta
        mine.live_bytes = max(mine.live_bytes, alive)


def _owner(values: tuple[Value, ...], index: int) -> int:
    return values[index].base if values[index].storage == "view" else index


def planned_bytes(program: Program, method: Method, size: Sizes) -> int:
    """The arena's bytes: every value above those it names, each size rounded up to 64."""
    end: dict[int, int] = {}
    for index in range(*method.values):
        value = program.values[index]
        if value.storage == "planned":
            need = -(-size.bytes(value.dtype, value.shape) // ALIGN) * ALIGN
            end[index] = max((end[a] for a in value.above), default=0) + need
    return max(end.values(), default=0)
