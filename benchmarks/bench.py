"""Pteron beside other runtimes on this machine: python benchmarks/bench.py [--threads 1,2] [--runs 9] [--only NAME,...] [--vs NAMES]

Each round runs every runtime once, in turn; a ratio is the median over rounds of ours / theirs, a time the least, which a
busy machine disturbs least. Models have seeded random weights. Writes RESULTS.md beside this file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from models import MODELS

import pteron
from pteron.cli import peers
from pteron.cli.bench import interleaved, machine, operators

RESULTS = Path(__file__).parent / "RESULTS.md"


def bench(name: str, threads: int, runs: int, folder: Path, rivals: list[str]) -> list[str]:
    """Lines of the table."""
    source, target = folder / f"{name}.onnx", folder / f"{name}.pte"
    if not target.exists():
        onnx.save(MODELS[name](), source)
        pteron.export_model(source, target)
    started = time.perf_counter()
    model = pteron.load(target, threads=threads)
    rng = np.random.default_rng(0)
    feeds = {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in model.inputs}
    got = next(iter(model.run(feeds).values()))
    first = (time.perf_counter() - started) * 1e3
    runners = {"pteron": lambda: model.run(feeds)}
    errors = {}
    for rival in rivals:
        runners[rival] = peers.peer(rival, source, feeds, threads)  # type: ignore[assignment]
        want = peers.PEERS[rival](source, feeds, threads)()[0]
        errors[rival] = float(np.abs(got - want).max() / np.abs(want).max())
    times = {k: np.array(v) for k, v in interleaved(runners, runs, 2).items()}
    spent = ", ".join(f"{o['op']} {o['share']:.0%}" for o in operators(model, feeds, 3)[:3])
    rows = [
        f"| {name} | {threads} | pteron | {times['pteron'].min():.2f} | | | {first:.0f} | {spent} |"
    ]
    for rival in rivals:
        ratio = float(np.median(times["pteron"] / times[rival]))
        rows.append(
            f"| | | {rival} | {times[rival].min():.2f} | {ratio:.2f} | {errors[rival]:.1e} | | |"
        )
    print("\n".join(rows), flush=True)
    return rows


def installed(names: list[str]) -> list[str]:
    found = []
    for name in names:
        try:
            peers.version(name)
            found.append(name)
        except ModuleNotFoundError:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--vs", default=",".join(peers.PEERS))
    args = parser.parse_args()
    rivals = installed(args.vs.split(","))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only.split(","):
            for threads in map(int, args.threads.split(",")):
                rows += bench(name, threads, args.runs, Path(folder), rivals)
    versions = ", ".join(f"{r} {peers.version(r)}" for r in rivals)
    RESULTS.write_text(
        f"""# Results

Written by `make bench` (`{" ".join(["python benchmarks/bench.py", *sys.argv[1:]])}`); f32, batch 1, seeded random weights.
{machine()}, load average {os.getloadavg()[0]:.1f}; pteron {pteron.__version__}, {versions}.
Least of {args.runs} interleaved rounds in ms; ratio: median of pairs, ours / theirs; first: file to first output.

| model | threads | runtime | ms | ratio | difference | first ms | most of our time |
|---|---|---|---|---|---|---|---|
"""
        + "\n".join(rows)
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
