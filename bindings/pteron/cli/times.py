"""Where the time of runs went, by operator and instruction, from their traces."""

from __future__ import annotations

import collections
import dataclasses

from pteron.schema.ops import OPS

from ..runtime import TraceEvent

Nodes = dict[int, tuple[str, str]]
"""Name and source line of nodes, by number."""

NAMES = {row.id: row.name for row in OPS.values()}


@dataclasses.dataclass(frozen=True, slots=True)
class OpTime:
    op: str
    ms: float
    count: float  # a run


@dataclasses.dataclass(frozen=True, slots=True)
class InstrTime:
    instr: int
    op: str
    ms: float
    node: str
    source: str


@dataclasses.dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds a run, means over the runs; most first."""

    ms: float
    runs: int
    operators: tuple[OpTime, ...]
    instructions: tuple[InstrTime, ...]


def summary(events: list[TraceEvent], nodes: Nodes, runs: int) -> Spent:
    by_op: dict[str, list[float]] = collections.defaultdict(list)
    by_instr: dict[tuple[int, int, int], float] = collections.defaultdict(float)
    for e, ns in own_ns(events):
        by_op[NAMES[e.op]].append(ns / 1e6 / runs)
        by_instr[e.instr, e.op, e.node] += ns / 1e6 / runs
    ops = [OpTime(op, sum(row), len(row) / runs) for op, row in by_op.items()]
    rows = [
        InstrTime(instr, NAMES[op], ms, *nodes.get(node, ("", "")))
        for (instr, op, node), ms in by_instr.items()
    ]
    return Spent(
        sum(o.ms for o in ops),
        runs,
        tuple(sorted(ops, key=lambda o: -o.ms)),
        tuple(sorted(rows, key=lambda r: -r.ms)),
    )


def own_ns(events: list[TraceEvent]) -> list[tuple[TraceEvent, int]]:
    """Each event and its time without that of the instructions that it ran: a branch, a loop's body, a delegate's fallback."""
    found: list[list[int]] = []
    order = sorted(events, key=lambda e: (e.begin_ns, -e.end_ns, e.instr))
    around: list[int] = []  # indices of the events that the present one lies in
    for index, e in enumerate(order):
        while around and order[around[-1]].end_ns <= e.begin_ns:
            around.pop()
        found.append([e.end_ns - e.begin_ns])
        if around:
            found[around[-1]][0] -= e.end_ns - e.begin_ns
        around.append(index)
    return [(e, max(ns, 0)) for e, (ns,) in zip(order, found)]
