"""Ratios to onnxruntime on this machine: python benchmarks/bench.py [--threads 1,2] [--runs 15] [--only NAME,...]

Each round runs every runtime once, in turn; the ratio is the median over rounds of ours / theirs. Writes nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from models import MODELS

import pteron
from pteron.cli.bench import interleaved


def bench(name: str, threads: int, runs: int, folder: Path) -> None:
    source, target = folder / f"{name}.onnx", folder / f"{name}.pte"
    if not target.exists():
        onnx.save(MODELS[name](), source)
        pteron.export_model(source, target)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    peer = ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    model = pteron.load(target, threads=threads)
    rng = np.random.default_rng(0)
    feeds = {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in peer.get_inputs()}
    want, got = peer.run(None, feeds)[0], next(iter(model.run(feeds).values()))
    error = float(np.abs(got - want).max() / np.abs(want).max())
    runners = {"pteron": lambda: model.run(feeds), "onnxruntime": lambda: peer.run(None, feeds)}
    times = {k: np.array(v) for k, v in interleaved(runners, runs, 2).items()}
    ratio = float(np.median(times["pteron"] / times["onnxruntime"]))
    ours, theirs = (float(np.median(times[k])) for k in runners)
    print(
        f"{name:12s} {threads} threads  pteron {ours:8.2f} ms  onnxruntime {theirs:8.2f} ms  ratio {ratio:5.2f}  difference {error:.1e}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default=",".join(MODELS))
    args = parser.parse_args()
    print(
        f"pteron {pteron.__version__}, onnxruntime {ort.__version__}, medians of {args.runs} interleaved rounds"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only.split(","):
            for threads in map(int, args.threads.split(",")):
                bench(name, threads, args.runs, Path(folder))


if __name__ == "__main__":
    main()
