"""Facts of a program file for people: what `inspect` prints, draws and writes as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pteron.export.file.read import read, read_file
from pteron.export.graph.naming import title
from pteron.export.pack.arithmetic import product
from pteron.export.pack.choices import seen
from pteron.export.plan.measure import Sized, measured
from pteron.export.program import Instr, Method, Placement, Program, State, Value
from pteron.export.program.rebuild import blocks_of, walk
from pteron.export.tune import key_of
from pteron.export.tune.profile import Profile
from pteron.schema.errors import ArgumentError, ProgramError

Makers = tuple[int | str, ...]
"""Instructions that write a value, or the name of the input or state that it is."""
Made = dict[int, Makers]


@dataclasses.dataclass(frozen=True, slots=True)
class InstrRow:
    index: int
    depth: int
    op: str
    bytes: int
    result: str
    weight: str  # format of a quantized weight and its activations
    tuned: str  # the other operator that could compute it, and what a profile says of the two
    node: str  # of the source that it is from
    module: (
        str  # the dotted path of the module that the node lies in, "" where the file does not know
    )
    source: str  # line of the source
    reads: Makers  # of what it reads
    within: (
        int | None
    )  # the instruction that runs its block: an If, a Loop, a call, a delegate whose fallback it is


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """A planned value: alive from instruction `begin` to `end` inclusive, at `offset` in the arena."""

    name: str
    begin: int
    end: int
    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    total_bytes: int
    live_bytes: int
    peak: int  # the instruction at which so many are alive
    state_bytes: int
    placed: tuple[Placed, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class PortFacts:
    """An input, output or state; an extent is a number or an expression over dimensions."""

    name: str
    dtype: str
    shape: list[int | str]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{self.shape_text}"

    @property
    def shape_text(self) -> str:
        return f"[{', '.join(map(str, self.shape))}]"


@dataclasses.dataclass(frozen=True, slots=True)
class DimFacts:
    """A dimension, its bounds, and the size that the plan shown is for."""

    name: str
    kind: str
    min: int
    max: int
    size: int

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}, {self.min} to {self.max}, planned for {self.size}"


@dataclasses.dataclass(frozen=True, slots=True)
class DelegateFacts:
    """A segment that a delegate runs."""

    segment: int
    name: str
    target: str
    payload_bytes: int
    placement: str
    fallback: bool

    def __str__(self) -> str:
        behind = "fallback on the CPU" if self.fallback else "no fallback"
        return (
            f"segment {self.segment}: {self.name} for {self.target}, payload {self.payload_bytes} bytes, "
            f"placement {self.placement}, {behind}"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class MethodFacts:
    name: str
    inputs: list[PortFacts]
    outputs: list[PortFacts]
    states: list[PortFacts]
    makers: list[Makers]  # of each output
    instrs: tuple[InstrRow, ...]
    plan: Plan

    @property
    def ports(self) -> Iterator[tuple[str, PortFacts]]:
        """All of them, with what each is."""
        yield from (("input", p) for p in self.inputs)
        yield from (("output", p) for p in self.outputs)
        yield from (("state", p) for p in self.states)


@dataclasses.dataclass(frozen=True, slots=True)
class Description:
    path: str
    file_bytes: int
    model: str
    activations: str
    segments: list[dict[str, Any]]
    dims: list[DimFacts]
    methods: list[MethodFacts]
    delegates: list[DelegateFacts]
    placements: list[Placement]  # of each node that delegates were asked for

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def sizes_of(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """The hints of dimensions, or their `sizes`.

    Raises:
        ArgumentError: `sizes` names no dimension, or is none that the program takes.
    """
    known = {d.name for d in program.dims if d.kind != "counted"}  # the data decides those
    if set(sizes) - known:
        raise ArgumentError(
            f"--dim {', '.join(sorted(set(sizes) - known))}: the program has {', '.join(sorted(known)) or 'none'}"
        )
    for d in program.dims:
        if not d.min <= sizes.get(d.name, d.min) <= d.max:
            raise ArgumentError(
                f"--dim {d.name}={sizes[d.name]}: expected a size from {d.min} to {d.max}"
            )
    return {d.name: sizes.get(d.name, d.hint) for d in program.dims if d.kind != "counted"}


def describe(path: Path, sizes: Mapping[str, int], profile: Profile | None = None) -> Description:
    """Reads a file and evaluates it at the hints, or at `sizes` where they name a dimension; `profile`: of what operators take.

    Raises:
        ProgramError: the bytes are not a program; ArgumentError: see sizes_of.
    """
    data = path.read_bytes()
    try:
        program, file = read(data), read_file(data)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None
    own = sizes_of(program, sizes)
    view = Sized(program, own)
    return Description(
        str(path),
        len(data),
        program.model,
        program.activations,
        [{"kind": e.kind.name.lower(), "offset": e.offset, "size": e.size} for e in file.entries],
        [DimFacts(d.name, d.kind, d.min, d.max, view.dims[d.name]) for d in program.dims],
        [_method(program, m, view, profile) for m in program.methods],
        [
            DelegateFacts(i, d.name, d.target, len(d.blob), d.policy, d.fallback is not None)
            for i, d in enumerate(program.delegates)
        ],
        list(program.placements),
    )


def _method(program: Program, method: Method, view: Sized, profile: Profile | None) -> MethodFacts:
    rows = []
    made: Made = {p.value: (p.name,) for p in method.inputs}
    made |= {v: (program.states[program.values[v].base].name,) for v in _states(program, method)}
    around: list[int] = []  # the instructions whose blocks the next one lies in
    for index, (depth, instr) in enumerate(walk(program, method.block)):
        around = [*around[:depth], index]
        outputs = [program.values[o] for o in instr.outputs if o is not None]
        node = program.nodes[instr.node] if instr.node < len(program.nodes) else None
        name = _node(program, instr)
        found = product(program, instr)
        rows.append(
            InstrRow(
                index,
                depth,
                instr.op,
                sum(map(view.bytes, outputs)),
                ", ".join(f"{v.dtype}{_shape(v)}" for v in outputs),
                f"{found.format} {found.activations}" if found else "",
                "" if profile is None else _tuned(program, instr, view, profile),
                name,
                node.name.rpartition("/")[0] if node and name == node.name else "",
                node.source if node else "",
                _reads(program, instr, made),
                around[depth - 1] if depth else None,
            )
        )
        made |= {v: (index,) for b in blocks_of(program, instr) for v in program.blocks[b].params}
        for o in instr.outputs:
            if o is not None:
                root = _root(program, o)
                part = view.bytes(program.values[o]) < view.bytes(program.values[root])
                made[root] = (*made.get(root, ()), index) if part else (index,)
    return MethodFacts(
        method.name,
        [_port(p.name, program.values[p.value]) for p in method.inputs],
        [_port(p.name, program.values[p.value]) for p in method.outputs],
        [_port(s.name, s) for s in program.states],
        [made.get(_root(program, p.value), ()) for p in method.outputs],
        tuple(rows),
        plan(program, method, view),
    )


def _tuned(program: Program, instr: Instr, view: Sized, profile: Profile) -> str:
    """Its time in the profile as a part of the other operator's, "0.54 of conv"; "" where that was not measured."""
    site = seen(program, instr)
    times = None if site is None else profile.measured.get(key_of(site, view))
    if site is None or times is None:
        return ""
    if instr.op == site.operator:
        return f"{times.own / times.plain:.2f} of {site.plain}"
    return f"{times.plain / times.own:.2f} of {site.operator}"


def _node(program: Program, instr: Instr) -> str:
    """The name of the node that it is from, or "" where names were stripped."""
    if instr.node >= len(program.nodes):
        return ""
    node = program.nodes[instr.node]
    return title(node.op_type, node.name)


def _root(program: Program, v: int) -> int:
    """The value whose memory it is."""
    return program.values[v].base if program.values[v].storage == "view" else v


def _reads(program: Program, instr: Instr, made: Made) -> Makers:
    roots = (_root(program, v) for v in instr.inputs if v is not None)
    return tuple(dict.fromkeys(maker for v in roots for maker in made.get(v, ())))


def _states(program: Program, method: Method) -> Iterator[int]:
    return (v for v in range(*method.values) if program.values[v].storage == "state")


def _port(name: str, value: Value | State) -> PortFacts:
    return PortFacts(name, value.dtype, [e if isinstance(e, int) else str(e) for e in value.shape])


def _shape(value: Value) -> str:
    return f"[{', '.join(str(e) for e in value.shape)}]"


def plan(program: Program, method: Method, view: Sized) -> Plan:
    """Where every planned value lies and when it lives, from the file alone."""
    found = measured(program, program.methods.index(method), view.dims)
    lives, memory = found.lives, found.memory
    makers: dict[int, str] = {}
    for _, instr in walk(program, method.block):
        for v in (*instr.inputs, *instr.outputs):
            if v is not None:
                makers.setdefault(_root(program, v), _node(program, instr))
    placed = []
    for v, offset in found.offsets.items():
        spans = lives.intervals.get(v, ((0, 0),))
        begin, end = lives.at[spans[0][0]], lives.at[max(last for _, last in spans)]
        value = program.values[v]
        placed.append(
            Placed(value.name or makers.get(v, ""), begin, end, offset, view.bytes(value))
        )
    alive = lives.alive(found.bytes)
    peak = lives.at[alive.index(max(alive))]
    return Plan(memory.planned_bytes, memory.live_bytes, peak, memory.state_bytes, tuple(placed))
