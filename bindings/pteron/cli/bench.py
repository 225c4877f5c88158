"""Measure latency, load time and memory of a program, beside other runtimes with --vs.

Shows percentiles, and operators beside what the processor can do (roofline). Runtimes are measured in turn.

Example:

    pteron bench model.pte --threads 1 --vs onnxruntime=model.onnx
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError, existing
from pteron.schema.printable import joined

from .. import __version__
from ..runtime import Model, TraceEvent, cpu
from . import decoders, feeds, memory, peers, roofline, say
from .pairs import as_json, at_least, file
from .times import summary


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file")
    feeds.add(parser)
    parser.add_argument("--runs", type=at_least(1), default=50, help="counted runs (default 50)")
    parser.add_argument(
        "--warmup", type=at_least(0), default=3, help="runs before those that count (default 3)"
    )
    parser.add_argument(
        "--vs-onnx", type=file, metavar="ONNX", help="time other runtimes on this model, in turn"
    )
    parser.add_argument(
        "--vs",
        metavar="NAME[=FILE],...",
        help=f"which of {','.join(peers.PEERS)}, where installed (default onnxruntime), each on a file of its own or the ONNX model",
    )
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.vs_onnx:
        existing(args.vs_onnx)
    named = args.vs if args.vs is not None else "onnxruntime" if args.vs_onnx else None
    rivals = {} if named is None else peers.wanted(named, args.vs_onnx)
    if any(peers.PEERS[name].open is None for name in rivals):
        return decoders.run(args, rivals)
    started = time.perf_counter()
    model = feeds.model_of(args)
    opened_ms = (time.perf_counter() - started) * 1e3
    inputs = feeds.of(args, model)
    started = time.perf_counter()
    outputs = model.run(inputs)
    first_ms = (time.perf_counter() - started) * 1e3
    peak = memory.peak_bytes()
    threads = cpu.threads(args.threads)
    runners: dict[str, Callable[[], Any]] = {"pteron": lambda: model.run(inputs)}
    differences = {}
    for name, path in rivals.items():
        runners[name] = peer = peers.peer(name, path, inputs, threads)
        theirs = peer()
        ours, got = ([list(a.shape) for a in each] for each in (outputs.values(), theirs))
        if ours != got:
            raise ArgumentError(
                f"{path}: expected the program's model, with outputs {ours}, got {got}"
            )
        differences[name] = max(peers.difference(a, b) for a, b in zip(outputs.values(), theirs))
    times = interleaved(runners, args.runs, args.warmup)
    limits = roofline.peaks(cpu.machine())
    work = roofline.work_of(Path(args.program), {k: v.shape for k, v in inputs.items()})
    report = {
        "machine": cpu.machine(),
        "versions": {
            "pteron": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "threads": threads,
        "peaks": limits,
        "open_ms": opened_ms,
        "first_run_ms": first_ms,
        "peak_rss_mb": None if peak is None else peak / 2**20,
        "arena_bytes": model.sizes.arena_bytes,
        "file_bytes": model.program.size_bytes,
        "latency_ms": {name: percentiles(row) for name, row in times.items()},
        "operators": operators(model, inputs, min(args.runs, 10), (work, limits, threads)),
        "peers": {
            name: {
                "version": peers.version(name),
                "ratio": float(np.median(np.array(times["pteron"]) / np.array(times[name]))),
                "difference": difference,
            }
            for name, difference in differences.items()
        },
    }
    say.result("bench", args.json, report, lambda: text(report))
    return 0


Roof = tuple[Mapping[int, roofline.Work], Mapping[str, float], int]
"""What `roofline.reached` wants: the work of instructions, the peaks of a thread, how many threads."""


def operators(model: Model, inputs: dict[str, Any], runs: int, roof: Roof) -> list[dict[str, Any]]:
    """Milliseconds of each operator a run, by the tracer, which costs under a microsecond an instruction; and what it reaches."""
    events: list[TraceEvent] = []
    for _ in range(runs):
        model.run(inputs, trace=events)
    spent, reached = summary(events, {}, runs), roofline.reached(events, *roof)
    return [
        {"op": o.op, "ms": o.ms, "share": o.ms / max(spent.ms, 1e-12), "count": o.count}
        | reached.get(o.op, {})
        for o in spent.operators
    ]


def reach(operator: Mapping[str, Any]) -> str:
    """The shares of the peaks, as words."""
    return ", ".join(
        f"{operator[key]:.0%} of {name}"
        for key, name in (("fma_share", "FMA"), ("dot_share", "dot"), ("L2_share", "L2"))
        if key in operator
    )


def text(report: dict[str, Any]) -> str:
    peak = report["peak_rss_mb"]
    lines = [
        f"{report['machine']}; {report['threads']} threads; pteron {report['versions']['pteron']}",
        f"open {report['open_ms']:.2f} ms, first run {report['first_run_ms']:.2f} ms, "
        f"peak RSS {'not known here' if peak is None else f'{peak:.0f} MB'}, "
        f"arena {report['arena_bytes'] / 1e6:.2f} MB, file {report['file_bytes'] / 1e6:.2f} MB",
    ]
    lines += [
        f"{name:12s} p50 {p['p50']:.3f}  p90 {p['p90']:.3f}  p99 {p['p99']:.3f}  min {p['min']:.3f} ms"
        for name, p in report["latency_ms"].items()
    ]
    lines += [
        f"pteron / {name} {p['version']}: {p['ratio']:.2f} (median of pairs); "
        f"largest relative difference {p['difference']:.2g}"
        for name, p in report["peers"].items()
    ]
    lines += [
        f"{o['op']:18s} {o['ms']:9.3f} ms {o['share']:6.1%} {o['count']:6.0f}  {reach(o)}".rstrip()
        for o in report["operators"]
    ]
    known = ", ".join(f"{kind} {rate:.0f}" for kind, rate in report["peaks"].items() if rate > 0)
    lines.append(f"a thread's peaks, 10^9 products or bytes a second: {known or 'not known here'}")
    return joined(lines)


def interleaved(
    runners: dict[str, Callable[[], Any]], runs: int, warmup: int
) -> dict[str, list[float]]:
    """Milliseconds of each runner, in turn, so that a drift of the machine meets all alike.

    Threads of some runtimes spin for a while after a run and would take a core from the next: with several, a turn is a rest, a
    run that warms the caches, and one that counts.
    """
    times: dict[str, list[float]] = {name: [] for name in runners}
    for i in range(warmup + runs):
        for name, once in runners.items():
            if len(runners) > 1:
                time.sleep(peers.REST)
                once()
            started = time.perf_counter()
            once()
            if i >= warmup:
                times[name].append((time.perf_counter() - started) * 1e3)
    return times


def percentiles(ms: list[float]) -> dict[str, float]:
    p50, p90, p99 = np.percentile(ms, [50, 90, 99])
    return {"p50": float(p50), "p90": float(p90), "p99": float(p99), "min": float(min(ms))}
