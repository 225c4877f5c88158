"""Show where the time of a run goes: a table by operator and instruction, and a Chrome trace.

Example:

    pteron profile model.pte --runs 10 -o trace.json
"""

from __future__ import annotations

import argparse
import dataclasses
import json

from pteron.export.write import write_text
from pteron.schema.errors import several
from pteron.schema.printable import joined

from ..runtime import TraceEvent
from . import feeds, say
from .pairs import as_json, at_least, file, kind, ready
from .times import NAMES, Nodes, Spent, summary


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file")
    feeds.add(parser)
    parser.add_argument(
        "--runs", type=at_least(1), default=10, help="counted runs after one warm-up"
    )
    parser.add_argument(
        "-o", "--output", type=file, help="Chrome trace JSON (chrome://tracing, Perfetto)"
    )
    parser.add_argument("--html", type=file, metavar="FILE", help="write one static page")
    parser.add_argument("--top", type=at_least(0), default=20, help="instructions to list")
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    kind("--output", args.output, ".json")
    kind("--html", args.html, ".html")
    outputs = [args.output, args.html]
    ready(outputs, [args.program, *feeds.files(args)])
    model = feeds.model_of(args)
    inputs = feeds.of(args, model)
    model.run(inputs)
    events: list[TraceEvent] = []
    for _ in range(args.runs):
        model.run(inputs, trace=events)
    nodes = node_names(model.program.data)
    if args.output:
        write_text(args.output, json.dumps(chrome_trace(events, nodes)))
    spent = summary(events, nodes, args.runs)
    if args.html:
        from .pages.profile import profile_page

        write_text(args.html, profile_page(spent, str(args.program)))
    say.result(
        "profile",
        args.json,
        dataclasses.asdict(spent),
        lambda: text(spent, args.top),
        outputs,
    )
    return 0


def text(spent: Spent, top: int) -> str:
    whole = max(spent.ms, 1e-12)
    lines = [f"{spent.ms:.3f} ms a run in instructions, mean of {several(spent.runs, 'run')}", ""]
    lines.append(f"{'operator':18s} {'ms':>9s} {'share':>6s} {'count':>6s}")
    lines += [f"{o.op:18s} {o.ms:9.3f} {o.ms / whole:6.1%} {o.count:6.0f}" for o in spent.operators]
    lines += ["", f"{'instr':>5s} {'operator':18s} {'ms':>9s} {'share':>6s}  node"]
    lines += [
        f"{r.instr:5d} {r.op:18s} {r.ms:9.3f} {r.ms / whole:6.1%}  {f'{r.node} {r.source}'.rstrip()}"
        for r in spent.instructions[:top]
    ]
    return joined(lines)


def chrome_trace(events: list[TraceEvent], nodes: Nodes) -> dict[str, object]:
    """Complete events in microseconds, as the Trace Event Format has them."""
    start = events[0].begin_ns if events else 0
    rows = [
        {
            "name": NAMES[e.op],
            "cat": "instruction",
            "ph": "X",
            "ts": (e.begin_ns - start) / 1e3,
            "dur": (e.end_ns - e.begin_ns) / 1e3,
            "pid": 1,
            "tid": 1,
            "args": {"instr": e.instr, "node": " ".join(nodes.get(e.node, ())).rstrip()},
        }
        for e in events
    ]
    return {"traceEvents": rows, "displayTimeUnit": "ms"}


def node_names(data: bytes) -> Nodes:
    """What a program's debug segment calls the source nodes; empty where it was stripped or the reader is not installed."""
    try:
        from pteron.export.file.read import read
        from pteron.export.graph.naming import title
    except ModuleNotFoundError:
        return {}
    return {i: (title(n.op_type, n.name), n.source) for i, n in enumerate(read(data).nodes)}
