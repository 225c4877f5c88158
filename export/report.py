"""What export tells: nodes in and out, operators, bytes, states, copies, notes, seconds a stage."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.errors import several
from pteron.schema.printable import joined

from . import graph as g
from .graph.naming import title
from .pack.arithmetic import Product, products
from .plan.measure import Sized
from .program import Method, Placement, Program
from .program.rebuild import walk
from .sizes import Dim
from .tune import Chosen

MOST_ROWS: Final = 20
MOST_SITES: Final = 4


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
    placements: list[Placement] = dataclasses.field(default_factory=list)
    products: list[Product] = dataclasses.field(default_factory=list)  # of quantized weights
    coverage: list[dict[str, Any]] = dataclasses.field(
        default_factory=list
    )  # of each quantized graph
    chosen: list[Chosen] = dataclasses.field(default_factory=list)  # with a profile or by timing
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    file_bytes: int = 0

    def spent(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def begin(self, method: str, model: ir.Model) -> None:
        self.methods.append(MethodReport(method, nodes_in=sum(1 for _ in g.nodes(model))))
        self.notes += model.meta.get(g.NOTES, [])

    def passed(self, name: str, seconds: float) -> None:
        self.passes[name] = self.passes.get(name, 0) + 1

    def cleaned(self, model: ir.Model) -> None:
        count = collections.Counter(n.op_type for n in g.nodes(model))
        self.methods[-1].nodes_out = count.total()
        self.methods[-1].operators = dict(count.most_common())

    def end(self, program: Program, is_tuned: bool = False) -> None:
        """Measures the finished program; `is_tuned`: operators were to be chosen."""
        self.notes += choice_notes(self.chosen) if is_tuned else []
        self.dims = {d.name: d.hint for d in program.dims}
        self.products = list(products(program))
        self.placements = list(program.placements)
        self.constants = len(program.constants)
        self.constants_bytes = sum(c.elements.nbytes for c in program.constants)
        at = Sized(program)
        self.states = {s.name: at.bytes(s) for s in program.states}
        for mine, method, memory in zip(self.methods, program.methods, program.memory, strict=True):
            mine.planned_bytes, mine.live_bytes = memory.planned_bytes, memory.live_bytes
            _count(program, method, mine, at)
        for dim in program.dims:
            if dim.kind == "counted" and dim.capacity is None:
                self.notes.append(
                    f"data decides size {dim.name}: room for 4096 is planned unless max_extent says otherwise"
                )
        self.notes += counted_notes(program.dims)
        for mine in self.methods:
            if mine.copied_bytes:
                self.notes.append(
                    f"{mine.name}: copied in a run: {several(mine.copied_bytes, 'byte')} by {several(mine.copies, 'instruction')}"
                )

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def as_text(self) -> str:
        lines = []
        for m in self.methods:
            total = sum(m.instructions.values())
            most = ", ".join(f"{k} {v}" for k, v in list(m.instructions.items())[:8])
            lines.append(
                f"method {m.name}: {several(m.nodes_in, 'node')}, {m.nodes_out} after the passes, {several(total, 'instruction')} ({most})"
            )
            bound = f", at least {m.live_bytes:,} live" if m.live_bytes else ""
            lines.append(
                f"  memory     {m.planned_bytes:,} bytes planned{bound}; {several(m.border_copies, 'copy', 'copies')} into outputs"
            )
        lines.append(f"constants    {self.constants:,} in {self.constants_bytes:,} bytes")
        if self.products:
            kinds = collections.Counter((p.activations, p.format) for p in self.products)
            counts = ", ".join(f"{n} {format} {mode}" for (mode, format), n in kinds.items())
            lines.append(f"quantized    {counts}")
        lines += [f"layers       {row['text']}" for row in self.coverage]
        lines += choice_lines(self.chosen)
        if self.states:
            lines.append(
                "states       " + ", ".join(f"{k} {v:,} bytes" for k, v in self.states.items())
            )
        if self.dims:
            lines.append("planned for  " + ", ".join(f"{k}={v}" for k, v in self.dims.items()))
        lines += placement_lines(self.placements)
        if self.file_bytes:
            lines.append(f"file         {self.file_bytes:,} bytes")
        lines += [f"note         {note}" for note in self.notes]
        lines.append("seconds      " + ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items()))
        return joined(lines)


def placement_lines(rows: Sequence[Placement]) -> list[str]:
    """What went where: nodes and multiply-accumulates by delegate, then each node on the CPU with the reason."""
    if not rows:
        return []
    total = sum(r.macs for r in rows)
    lines = []
    for where in dict.fromkeys(r.delegate for r in rows):
        mine = [r for r in rows if r.delegate == where]
        part = sum(r.macs for r in mine)
        share = f", {part / total:.1%} of the multiply-accumulates" if total else ""
        lines.append(f"placement    {where}: {len(mine)} of {len(rows)} nodes{share}")
    left = [r for r in rows if r.delegate == "cpu"]
    lines += [f"  cpu        {title(r.op_type, r.name)}: {r.reason}" for r in left[:MOST_ROWS]]
    if len(left) > MOST_ROWS:
        lines.append(f"  cpu        ... {len(left) - MOST_ROWS} more: pteron inspect has all")
    return lines


def counted_notes(dims: Sequence[Dim]) -> list[str]:
    """What the sizes are at most that data decide: memory is planned for that."""
    told = [
        f"{d.name} at most {d.capacity}"
        for d in dims
        if d.kind == "counted" and d.capacity is not None
    ]
    if not told:
        return []
    more = f" and {len(told) - MOST_SITES} more" if len(told) > MOST_SITES else ""
    return [f"data decides {several(len(told), 'size')}: {', '.join(told[:MOST_SITES])}{more}"]


def choice_lines(rows: Sequence[Chosen]) -> list[str]:
    """How many sites got which operator."""
    if not rows:
        return []
    known = [row for row in rows if row.ratio is not None]
    counts = collections.Counter(row.took for row in rows)
    took = ", ".join(f"{n} {op}" for op, n in counts.most_common())
    return [f"chosen       {took}; {len(known)} of {several(len(rows), 'site')} as measured"]


def choice_notes(rows: Sequence[Chosen]) -> list[str]:
    """What was not measured."""
    if not rows:
        return [
            "tune: nothing has two operators to choose from; --fast-conv, --activations int8-block or --activations int8-token give some"
        ]
    sites = list(dict.fromkeys(row.site for row in rows if row.ratio is None))
    if not sites:
        return []
    more = f" and {len(sites) - MOST_SITES} more" if len(sites) > MOST_SITES else ""
    return [
        f"tune: not in the profile, by the rule: {', '.join(sites[:MOST_SITES])}{more}; measure with --mode max-autotune"
    ]


def _count(program: Program, method: Method, mine: MethodReport, at: Sized) -> None:
    count: collections.Counter[str] = collections.Counter()
    for _, instr in walk(program, method.block):
        count[instr.op] += 1
        if instr.op == "copy" and instr.outputs[0] is not None:
            target = program.values[instr.outputs[0]]
            mine.copies += 1
            mine.copied_bytes += at.bytes(target)
            inner = target.storage == "view" and program.values[target.base].storage == "output"
            mine.border_copies += target.storage == "output" or inner
    mine.instructions = dict(count.most_common())
