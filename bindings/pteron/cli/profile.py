"""Where the time goes: a table by operator and instruction, and a Chrome trace."""

from __future__ import annotations

import argparse
import collections
import json
from pathlib import Path

from pteron.cli import feeds
from pteron.cli.pairs import at_least, creatable
from pteron.runtime import TraceEvent
from pteron.schema.ops import OPS

_NAMES = {row.id: row.name for row in OPS.values()}


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=Path)
    feeds.add(parser)
    parser.add_argument(
        "--runs", type=at_least(1), default=10, help="counted runs after one warm-up"
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="Chrome trace JSON (chrome://tracing, Perfetto)"
    )
    parser.add_argument("--top", type=at_least(0), default=20, help="instructions to list")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    creatable(args.output)
    model = feeds.model_of(args)
    inputs = feeds.of(args, model)
    model.run(inputs)
    events: list[TraceEvent] = []
    for _ in range(args.runs):
        model.run(inputs, trace=events)
    nodes = node_names(args.program)
    if args.output:
        args.output.write_text(json.dumps(chrome_trace(events, nodes)))
    by_op: dict[str, list[float]] = collections.defaultdict(lambda: [0.0, 0.0])
    by_instr: dict[tuple[int, int, int], float] = collections.defaultdict(float)
    for e, ns in own_ns(events):
        ms = ns / 1e6 / args.runs
        by_op[_NAMES[e.op]][0] += ms
        by_op[_NAMES[e.op]][1] += 1 / args.runs
        by_instr[e.instr, e.op, e.node] += ms
    total = sum(ms for ms, _ in by_op.values())
    ops = sorted(by_op.items(), key=lambda item: -item[1][0])
    instrs = sorted(by_instr.items(), key=lambda item: -item[1])[: args.top]
    if args.json:
        rows = [{"op": op, "ms": ms, "count": n} for op, (ms, n) in ops]
        print(json.dumps({"ms": total, "runs": args.runs, "operators": rows}, indent=1))
        return 0
    print(f"{total:.3f} ms a run in instructions, mean of {args.runs} runs\n")
    print(f"{'operator':18s} {'ms':>9s} {'share':>6s} {'count':>6s}")
    for op, (ms, n) in ops:
        print(f"{op:18s} {ms:9.3f} {ms / max(total, 1e-12):6.1%} {n:6.0f}")
    print(f"\n{'instr':>5s} {'operator':18s} {'ms':>9s} {'share':>6s}  node")
    for (instr, opcode, node), ms in instrs:
        name = nodes.get(node, "")
        print(f"{instr:5d} {_NAMES[opcode]:18s} {ms:9.3f} {ms / max(total, 1e-12):6.1%}  {name}")
    return 0


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


def chrome_trace(events: list[TraceEvent], nodes: dict[int, str]) -> dict[str, object]:
    """Complete events in microseconds, as the Trace Event Format has them."""
    start = events[0].begin_ns if events else 0
    rows = [
        {
            "name": _NAMES[e.op],
            "cat": "instruction",
            "ph": "X",
            "ts": (e.begin_ns - start) / 1e3,
            "dur": (e.end_ns - e.begin_ns) / 1e3,
            "pid": 1,
            "tid": 1,
            "args": {"instr": e.instr, "node": nodes.get(e.node, "")},
        }
        for e in events
    ]
    return {"traceEvents": rows, "displayTimeUnit": "ms"}


def node_names(path: Path) -> dict[int, str]:
    """What the debug segment calls the source nodes; empty where it was stripped or the reader is not installed."""
    try:
        from pteron.export.read import read
    except ModuleNotFoundError:
        return {}
    nodes = read(path.read_bytes()).nodes
    return {i: f"{n.name} ({n.op_type}) {n.source}".rstrip() for i, n in enumerate(nodes)}
