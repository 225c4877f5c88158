"""Latency percentiles, load time and memory of a program; with --vs-onnx, interleaved with onnxruntime."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError

from . import feeds, say
from .pairs import at_least, existing


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=Path)
    feeds.add(parser)
    parser.add_argument("--runs", type=at_least(1), default=50, help="counted runs (default 50)")
    parser.add_argument("--warmup", type=at_least(0), default=3)
    parser.add_argument(
        "--vs-onnx", type=Path, metavar="ONNX", help="time onnxruntime on this model, in turn"
    )
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    if args.vs_onnx:
        existing(args.vs_onnx)
    started = time.perf_counter()
    model = feeds.model_of(args)
    opened_ms = (time.perf_counter() - started) * 1e3
    inputs = feeds.of(args, model)
    started = time.perf_counter()
    outputs = model.run(inputs)
    first_ms = (time.perf_counter() - started) * 1e3
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    runners: dict[str, Callable[[], Any]] = {"pteron": lambda: model.run(inputs)}
    difference = None
    if args.vs_onnx:
        try:
            peer = _onnxruntime(args.vs_onnx, inputs, args.threads)
            theirs = peer()
        except ImportError:
            raise
        except Exception as error:  # its own kinds
            raise ArgumentError(f"--vs-onnx {args.vs_onnx}: onnxruntime refuses: {error}") from None
        difference = max(_relative(a, b) for a, b in zip(outputs.values(), theirs))
        runners["onnxruntime"] = peer
    times = interleaved(runners, args.runs, args.warmup)
    report = {
        "open_ms": opened_ms,
        "first_run_ms": first_ms,
        "peak_rss_mb": peak_mb,
        "arena_bytes": model.sizes.arena_bytes,
        "file_bytes": model.program.size_bytes,
        "latency_ms": {name: percentiles(row) for name, row in times.items()},
    }
    if difference is not None:
        ratio = float(np.median(np.array(times["pteron"]) / np.array(times["onnxruntime"])))
        report |= {"ratio_to_onnxruntime": ratio, "difference": difference}
    say.result("bench", args.json, report, lambda: text(report))
    return 0


def text(report: dict[str, Any]) -> str:
    lines = [
        f"open {report['open_ms']:.2f} ms, first run {report['first_run_ms']:.2f} ms, peak RSS {report['peak_rss_mb']:.0f} MB, "
        f"arena {report['arena_bytes'] / 1e6:.2f} MB, file {report['file_bytes'] / 1e6:.2f} MB"
    ]
    lines += [
        f"{name:12s} p50 {p['p50']:.3f}  p90 {p['p90']:.3f}  p99 {p['p99']:.3f}  min {p['min']:.3f} ms"
        for name, p in report["latency_ms"].items()
    ]
    if "difference" in report:
        lines.append(
            f"pteron / onnxruntime: {report['ratio_to_onnxruntime']:.2f} (median of pairs); "
            f"largest relative difference {report['difference']:.2g}"
        )
    return "\n".join(lines)


def interleaved(
    runners: dict[str, Callable[[], Any]], runs: int, warmup: int
) -> dict[str, list[float]]:
    """Milliseconds of each runner, in turn, so that a drift of the machine meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for i in range(warmup + runs):
        for name, once in runners.items():
            started = time.perf_counter()
            once()
            if i >= warmup:
                times[name].append((time.perf_counter() - started) * 1e3)
    return times


def percentiles(ms: list[float]) -> dict[str, float]:
    p50, p90, p99 = np.percentile(ms, [50, 90, 99])
    return {"p50": float(p50), "p90": float(p90), "p99": float(p99), "min": float(min(ms))}


def _onnxruntime(
    path: Path, inputs: dict[str, Any], threads: int | None
) -> Callable[[], list[Any]]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: list(session.run(None, inputs))


def _relative(a: Any, b: Any) -> float:
    scale = float(np.abs(b.astype(np.float64)).max(initial=0.0)) or 1.0
    return float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0.0)) / scale
