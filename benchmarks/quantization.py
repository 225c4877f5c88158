"""Size against accuracy of quantized weights: writes docs/quantization.md and its plot.

    make bench-quant        two hours of a core; needs make dev-torch
    python benchmarks/quantization.py --models decoder --formats nf4 int8        some of it
    python benchmarks/quantization.py --peers PYTHON --models minilm --formats --targets        other tools alone
    python benchmarks/quantization.py --models decoder --formats int4 --targets --rotation all        printed, not kept

minilm: 200 sentences of Python's documentation are embedded by the C runtime; the loss is mean(1 - cosine) x 10^4 against PyTorch in
f32. 1,024 other sentences calibrate. decoder: the perplexity of text that benchmarks/small_decoder.py kept apart from what its model
learned, by the C runtime; 256 pieces of what it learned calibrate. Only linear layers are quantized; bits count scales.
anchors: other tools round MiniLM's linear layers, in PYTHON's environment (benchmarks/anchors.py says what it needs); what they say
the weights are runs exactly, in the same runtime. Those that calibrate have the same 1,024 sentences.
What is measured goes to benchmarks/quantization.jsonl, in place of what was measured of the same, and the page is made from that.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import onnx_ir as ir
from anchors import tools, whole

import pteron
from pteron.export.passes import run_passes
from pteron.export.write import write_text
from pteron.pipeline import record
from pteron.quantize.encode.table import FORMATS as ALL
from pteron.quantize.mixed.sensitivity import METRICS, Weights, losses
from pteron.quantize.observe import statistics
from pteron.quantize.quantize import RAM_BYTES, Method, quantize_weights
from pteron.quantize.recipe.file import targeted
from pteron.quantize.recipe.layers import layers
from pteron.quantize.recipe.rules import ROTATIONS, recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding.weight import matrix_of
from pteron.quantize.transform.rotation import rotated

ROOT = Path(__file__).parent.parent
FORMATS = tuple(name for name in ALL if not re.match(r"int[234].*-g", name))
"""Integers of less than 8 bits in blocks of 32 alone."""
TARGETS = (4.5, 5.0, 5.5)
BARS = ((4.31, 60), (5.0, 40), (6.25, 11))
"""Bits a weight, and the loss that is allowed in them."""
KEPT = Path(__file__).with_suffix(".jsonl")
PIECES = 96
TEST, BATCH, LONGEST = slice(64, 264), 25, 96
CALIBRATION = slice(264, 264 + 1024)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """`losses`: computed exactly, and as --activations auto does; NaN where that was not measured. Bits 32: the model as it is."""

    model: str
    name: str
    algorithm: str
    bits: float
    losses: tuple[float, float]


class MiniLM:
    """The captured model, its sentences as arrays, and what PyTorch says of the test sentences."""

    def __init__(self) -> None:
        import torch

        from pteron.export.capture.torch import capture_torch

        spec = importlib.util.spec_from_file_location("search", ROOT / "examples/search/search.py")
        assert spec and spec.loader
        search = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(search)
        weights = search.get_model_path()
        tokenizer = search.AutoTokenizer.from_pretrained(weights)
        command = [sys.executable, "-I", str(ROOT / "tests/models/sentences.py")]
        texts = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

        def arrays(some: list[str]) -> dict[str, np.ndarray]:
            made = tokenizer(
                some, padding=True, truncation=True, max_length=LONGEST, return_tensors="np"
            )
            return {n: made[n].astype(np.int64) for n in ("input_ids", "attention_mask")}

        test = sorted(texts[TEST], key=len)
        self.test = [arrays(test[i : i + BATCH]) for i in range(0, len(test), BATCH)]
        self.calibration = [arrays([text]) for text in texts[CALIBRATION]]
        self.module = module = search.Embed(search.AutoModel.from_pretrained(weights)).eval()
        args = tuple(torch.from_numpy(a) for a in self.test[0].values())
        axes = {0: "batch", 1: "seq"}
        self.graph = capture_torch(module, args=args, dynamic_shapes=({**axes}, {**axes}))
        run_passes(self.graph)
        with torch.inference_mode():
            each = [module(*map(torch.from_numpy, batch.values())).numpy() for batch in self.test]
        self.wanted = np.concatenate(each)

    def loss(self, graph: ir.Model, mode: str) -> float:
        return self.apart(np.concatenate(list(outputs(graph, mode, self.test))))

    def apart(self, got: np.ndarray) -> float:
        """What embeddings have lost."""
        return float(np.mean(1 - (got.astype(np.float64) * self.wanted).sum(1)) * 1e4)

    def traced(self, path: Path) -> None:
        """The module as TorchScript."""
        import torch

        example = tuple(torch.from_numpy(a) for a in self.test[0].values())
        torch.jit.trace(self.module, example, check_trace=False).save(str(path))


class SmallDecoder:
    """The captured model and pieces of text: some that it never read, some that it learned from."""

    def __init__(self) -> None:
        import small_decoder
        import torch

        from pteron.export.capture.torch import capture_torch

        made = small_decoder.decoder()
        self.test = [{"input_ids": part} for part in np.split(made.apart[:PIECES], PIECES // 16)]
        self.calibration = [{"input_ids": part} for part in np.split(made.learned[:256], 128)]
        example = (torch.from_numpy(self.test[0]["input_ids"]),)
        self.graph = capture_torch(made.module, args=example, dynamic_shapes=({0: "batch"},))
        run_passes(self.graph)

    def loss(self, graph: ir.Model, mode: str) -> float:
        metric = METRICS["perplexity"]
        pairs = zip(outputs(graph, mode, self.test), self.test, strict=True)
        costs = np.concatenate([metric.each(got, got, sample) for got, sample in pairs])
        return metric.whole(float(costs.mean()))


def outputs(graph: ir.Model, mode: str, given: list[Any]) -> Iterator[np.ndarray]:
    """The first output of the graph's program for each of the samples."""
    with tempfile.TemporaryDirectory() as folder:
        pteron.export_model(graph.clone(), Path(folder) / "m.pte", activations=mode)
        model = pteron.load(Path(folder) / "m.pte")
        for sample in given:
            yield model(*sample.values())


MODELS = {"minilm": MiniLM, "decoder": SmallDecoder}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--formats", nargs="*", default=FORMATS)
    parser.add_argument("--algorithms", nargs="*", default=COLOURS, choices=COLOURS)
    parser.add_argument("--targets", nargs="*", type=float, default=TARGETS)
    parser.add_argument("--anchors", nargs="*", default=(*tools(), *whole()))
    parser.add_argument("--statistics", type=Path, help="a folder: kept there, and taken from it")
    parser.add_argument("--rotation", choices=ROTATIONS, default="none", help="of the f32 models")
    parser.add_argument("--seed", type=int, default=0, help="of --rotation")
    parser.add_argument("--peers", metavar="PYTHON", default=sys.executable)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.models:
        measured(name, options)
    if options.rotation != "none":
        return
    rows = kept()
    write_text(ROOT / "docs/quantization.md", page(rows))
    write_text(ROOT / "docs/quantization.svg", plot([r for r in rows if r.model == "minilm"]))


def measured(which: str, options: argparse.Namespace) -> None:
    """Everything that is asked for of a model, into the file."""
    model, turned, tell = MODELS[which](), options.rotation != "none", keep
    if turned:
        tell = show
        for row in rotated(model.graph, options.rotation, options.seed):
            print(f"{which} {row.name}: {row.text}")
    if which == "decoder":
        tell(Row(which, "f32", "nearest", 32, (model.loss(model.graph, "float"), math.nan)))
    with tempfile.TemporaryDirectory() as folder:
        name = f"{which}-{options.rotation}-{options.seed}" if turned else which
        seen = (options.statistics or Path(folder)) / f"{name}.npz"
        if not seen.exists():
            found = layers(model.graph, False)
            records = statistics.collect(model.graph, found, model.calibration, record, RAM_BYTES)
            statistics.write(seen, records)
        if isinstance(model, MiniLM) and not turned:
            anchors(model, options, Path(folder), statistics.load(seen))

        def run(name: str, wanted: Any, method: Method) -> None:
            graph = model.graph.clone()
            report: QuantReport = quantize_weights(graph, wanted, None, method)
            graph.metadata_props["pteron.quantized"] = wanted.format
            losses = model.loss(graph, "float"), model.loss(graph, "auto")
            tell(Row(which, name, wanted.algorithm or "gptq", report.bits, losses))

        for name in options.formats:
            for algorithm in options.algorithms:
                chosen = recipe(name, algorithm=algorithm, activations="float")
                run(name, chosen, Method(seen if algorithm == "gptq" else None))
        for bits in options.targets:
            wanted = targeted(recipe("nf4"), bits, None, None, ())
            run(f"{bits:g} bits at most", wanted, Method(seen, model.calibration[:64], record))


def anchors(
    model: MiniLM, options: argparse.Namespace, folder: Path, seen: statistics.Statistics
) -> None:
    """What other tools make of the same model; one that fails is told and left out."""
    found = layers(model.graph, False)
    given = {"module": np.array(str(folder / "module.pt"))}
    model.traced(folder / "module.pt")
    for i, layer in enumerate(found):
        given[f"w{i}"] = matrix_of(layer)
        moments = seen.of(layer, *layer.extents)
        assert moments is not None and len(moments.second) == 1
        values, vectors = np.linalg.eigh(moments.second[0].astype(np.float64))
        rows = np.sqrt(np.maximum(values, 0) * len(values))[:, None] * vectors.T
        given[f"x{i}"] = rows.astype(np.float32)
    for part, samples in (("calibration", model.calibration), ("test", model.test)):
        for name in samples[0]:
            each = [row for sample in samples for row in sample[name]]
            padded = [np.pad(row, (0, LONGEST - len(row))) for row in each]
            given[f"{part}.{name}"] = np.stack(padded)
    np.savez(folder / "given.npz", **given)  # type: ignore[arg-type]
    told: collections.deque[tuple[str, float]] = collections.deque()

    def each() -> Iterator[Weights]:
        for name in options.anchors:
            command = [options.peers, ROOT / "benchmarks/anchors.py", name, folder / "given.npz"]
            ran = subprocess.run([*command, folder / "made.npz"], capture_output=True, text=True)
            if ran.returncode:
                last = ran.stderr.strip().splitlines()[-1:]
                print(f"minilm {name}: left out: {' '.join(last)}", flush=True)
                continue
            with np.load(folder / "made.npz") as made:
                bits = float(made["bits"])
                if "outputs" in made.files:
                    loss = model.apart(made["outputs"])
                    keep(Row("minilm", name, "anchor", bits, (loss, math.nan)))
                    continue
                rounded: Weights = {i: (made[f"w{i}"], None) for i in range(len(found))}
            told.append((name, bits))
            yield rounded

    for loss in losses(model.graph, False, each(), model.test, record):
        name, bits = told.popleft()
        keep(Row("minilm", name, "anchor", bits, (loss, math.nan)))


def kept() -> list[Row]:
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    found = (json.loads(line) for line in lines)
    return [Row(**{**row, "losses": tuple(row["losses"])}) for row in found]


def keep(row: Row) -> None:
    """In place of what was measured of the same."""
    what = (row.model, row.name, row.algorithm)
    rows = [*(r for r in kept() if (r.model, r.name, r.algorithm) != what), row]
    rows.sort(key=lambda r: (r.model, r.bits, r.name, r.algorithm))
    KEPT.write_text("".join(json.dumps(dataclasses.asdict(r)) + "\n" for r in rows))
    show(row)


def show(row: Row) -> None:
    exact, auto = row.losses
    print(f"{row.model} {row.name:16s} {row.algorithm:8s} {row.bits:6.3f} bits  {exact:9.4f} {auto:9.4f}", flush=True)  # fmt: skip


def page(rows: list[Row]) -> str:
    return f"""# Size against accuracy

Written by `make bench-quant` (benchmarks/quantization.py), which says how, from benchmarks/quantization.jsonl.
Only linear layers are quantized; bits count scales. The formats and the algorithms nearest, search and GPTQ: [quantize.md](quantize.md).
`float` and `auto` are `--activations`: f32 beside the weights as they are stored, and int8 in blocks of 32 where the format has sums in integers; nearest and search are by `float`.
`N bits at most` takes a format for each layer by what it costs, measured.
A dash was not measured.

## MiniLM-L6

Its 36 linear layers. Loss: 10,000 times the mean of 1 - cosine between the embeddings of 200 sentences and PyTorch's in f32; less is better.
GPTQ reads 1,024 other sentences. Both are of Python's documentation.

![bits a weight against loss, both lower is better](quantization.svg)

{table([r for r in rows if r.model == "minilm"], 1)}

What is asked of them:

{bars(rows)}

## Other tools on the same layers

Each by its own code (benchmarks/anchors.py names the versions); bits are what it stores, scales as it holds them.
What it says its weights are is computed exactly by our runtime, NNCF's model by OpenVINO in f32.
`imatrix`, `AWQ`, `scale estimation` and `GPTQ` read the 1,024 sentences; beside: the least loss of ours in as many bits or fewer.

| tool | bits a weight | loss | ours in as many bits |
|---|---|---|---|
{anchor_lines(rows)}

- llama.cpp's kinds whose blocks have 256 weights do not fit rows of 384, 30 of the 36 layers: as its `quantize` does, those take Q5_0 for Q4_K, Q5_1 for Q5_K, Q8_0 for Q6_K, IQ4_NL for IQ4_XS.
- gguf is what that package's Python rounds to; its Q4_0 loses to the last digit what llama.cpp's does.
- torchao's Int4WeightOnlyConfig asks for mslk or CUDA; measured is its form for the CPU (prototype.quantization.int4), in bfloat16 as that kernel has it, and IntxWeightOnlyConfig.
- GPTQ of onnxruntime 1.31.1 gives what its nearest rounding (RTN) gives: it reads the column of an upper triangular factor where the row is meant (neural_compressor/weight_only.py, `Hinv1[i:, i]`), so nothing is passed on; seen on random matrices, to 3e-8. Its bits have scales in f32, as the model is.
- Not measured: the package hqq (no wheel; its method is in torchao and onnxruntime), AutoRound, GPTQModel, AutoAWQ and llm-compressor (made for decoders, most for GPUs; not tried on an encoder).

{decoder(rows)}
"""


def decoder(rows: list[Row]) -> str:
    """What the small language model says; nothing where it was not asked."""
    found = [r for r in rows if r.model == "decoder"]
    if not found:
        return ""
    return f"""## A small language model

{next(r.losses[0] for r in found if r.name == "f32"):.3f} is the perplexity in f32, of text that it never read; its 3.5 M weights learn the documentation of Python, by benchmarks/small_decoder.py.
256 pieces of 128 tokens of what it learned for GPTQ.

{table([r for r in found if r.name != "f32"], 3)}

{agreement(rows)}
"""


def table(rows: list[Row], digits: int) -> str:
    head = "| format | bits a weight | nearest | search | GPTQ, float | GPTQ, auto |\n|---|---|---|---|---|---|\n"
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.algorithm != "anchor":
            by_name.setdefault(row.name, {})[row.algorithm] = row
    lines = []
    for name, found in sorted(by_name.items(), key=lambda i: next(iter(i[1].values())).bits):
        bits = next(iter(found.values())).bits
        numbers = [found[a].losses[0] if a in found else math.nan for a in COLOURS]
        numbers.append(found["gptq"].losses[1] if "gptq" in found else math.nan)
        cells = [name, f"{bits:.3f}", *(_shown(x, digits) for x in numbers)]
        lines.append(f"| {' | '.join(cells)} |")
    return head + "\n".join(lines)


def bars(rows: list[Row]) -> str:
    """A line for each: the best of the rows in so many bits, and whether it is enough."""
    ours = [r for r in rows if r.model == "minilm" and r.algorithm != "anchor"]
    lines = []
    for bits, most in BARS:
        best = min((r for r in ours if r.bits <= bits), key=lambda r: r.losses[0])
        lines.append(_bar(f"{most} in {bits:g} bits", best, best.losses[0], most))
    best = next(r for r in ours if (r.name, r.algorithm) == ("int8", "gptq"))
    return "\n".join([*lines, _bar("6 with int8 weights and activations", best, best.losses[1], 6)])


def _bar(what: str, best: Row, loss: float, most: float) -> str:
    held = "holds" if loss <= most else "missed"
    return f"- at most {what}: {held}, {loss:.1f} by {best.name} ({best.algorithm}), {best.bits:.3f} bits"


def anchor_lines(rows: list[Row]) -> str:
    ours = [r for r in rows if r.model == "minilm" and r.algorithm != "anchor"]
    lines = []
    for row in (r for r in rows if r.algorithm == "anchor"):
        best = min((r for r in ours if r.bits <= row.bits), key=lambda r: r.losses[0])
        beside = f"{best.losses[0]:.1f}, {best.name}, {best.algorithm}, {best.bits:.3f}"
        lines.append(f"| {row.name} | {row.bits:.3f} | {row.losses[0]:.1f} | {beside} |")
    return "\n".join(lines)


def agreement(rows: list[Row]) -> str:
    """How far the two models rank formats and algorithms alike."""
    of = {
        model: {(r.name, r.algorithm): r.losses[0] for r in rows if r.model == model}
        for model in MODELS
    }
    same = sorted(of["minilm"].keys() & of["decoder"].keys())
    if len(same) < 3:
        return ""
    ranks = [np.argsort(np.argsort([of[model][key] for key in same])) for model in MODELS]
    rho = float(np.corrcoef(ranks)[0, 1])
    most = int(np.argmax(abs(ranks[0] - ranks[1])))
    name, algorithm = same[most]
    return f"""Both models have {len(same)} of these; how they rank them has a correlation (Spearman's) of {rho:.2f}.
They differ most on {name} by {algorithm}: place {ranks[0][most] + 1} of {len(same)} on MiniLM, {ranks[1][most] + 1} here."""


def _shown(number: float, digits: int) -> str:
    return "-" if math.isnan(number) else f"{number:.{digits}f}"


COLOURS = {"nearest": "#b0b4bf", "search": "#6b8fd6", "gptq": "#1d4ed8"}
OTHERS = "#c2410c"
WIDE, TALL, LEFT, LOW = 1000, 560, 60, 500


def plot(rows: list[Row]) -> str:
    """Bits across, the logarithm of the loss up; a dot a row, a ring a row of another tool, and the front of each."""
    few, most = math.floor(min(r.bits for r in rows)), max(r.bits for r in rows) + 0.8
    logs = [math.log10(r.losses[0]) for r in rows]
    least, largest = min(logs) - 0.1, max(logs) + 0.1

    def at(row: Row) -> tuple[float, float]:
        up = (math.log10(row.losses[0]) - least) / (largest - least)
        return LEFT + (row.bits - few) / (most - few) * (WIDE - LEFT), LOW - up * (LOW - 20)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {TALL}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDE}" height="{TALL}" fill="white"/>',
    ]
    for loss in (d * 10.0**e for e in range(-1, 5) for d in (1, 2, 5)):
        if least <= math.log10(loss) <= largest:
            y = at(Row("", "", "", few, (loss, 0)))[1]
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDE}" stroke="#e5e7eb"/>')
            parts.append(_text(LEFT - 8, y + 4, f"{loss:g}", "#555", "end"))
    for bits in range(few, math.floor(most) + 1):
        x = at(Row("", "", "", bits, (1, 0)))[0]
        parts.append(_text(x, LOW + 20, str(bits), "#555", "middle"))
    parts.append(_text((LEFT + WIDE) / 2, LOW + 42, "bits a weight", "black", "middle"))
    parts.append(f'<g transform="translate(16 {LOW / 2}) rotate(-90)">{_text(0, 0, "loss", "black", "middle")}</g>')  # fmt: skip
    fronts: list[tuple[Row, str]] = []
    for colour, some in (
        (COLOURS["gptq"], [r for r in rows if r.algorithm != "anchor"]),
        (OTHERS, [r for r in rows if r.algorithm == "anchor"]),
    ):
        front = _front(some)
        fronts += [(r, colour) for r in front]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in map(at, front))
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-opacity=".4"/>')
    for r in rows:
        x, y = at(r)
        fill = COLOURS.get(r.algorithm, "none")
        edge = "none" if r.algorithm in COLOURS else OTHERS
        title = f"{r.name}, {r.algorithm}: {r.bits:.3f} bits, {r.losses[0]:.1f}"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{edge}"><title>{title}</title></circle>')  # fmt: skip
    placed: list[tuple[float, float, float]] = []
    for r, colour in fronts:  # of ours under the line, of others above it
        x, y = at(r)
        wide, side = 6.5 * len(r.name), 1 if colour == OTHERS else -1
        begin = x + 7 if side > 0 else x - 7 - wide
        y += next(
            move
            for move in range(-side * 5 + 4, -side * LOW, -side * 12)
            if all(
                abs(y + move - v) > 11 or begin + wide < u or u + w < begin for u, v, w in placed
            )
        )
        placed.append((begin, y, wide))
        parts.append(_text(x + 7 * side, y, r.name, colour, "start" if side > 0 else "end"))
    for i, (name, colour) in enumerate({**COLOURS, "other tools": OTHERS}.items()):
        fill = colour if name in COLOURS else "none"
        y = 30 + 18 * i
        parts.append(f'<circle cx="{WIDE - 110}" cy="{y}" r="4" fill="{fill}" stroke="{colour}"/>')
        parts.append(_text(WIDE - 100, y + 4, name, "black", "start"))
    return "\n".join([*parts, "</svg>", ""])


def _front(rows: list[Row]) -> list[Row]:
    """Those that lose less than all in as many bits or fewer."""
    some = sorted(rows, key=lambda r: (r.bits, r.losses[0]))
    return [r for i, r in enumerate(some) if all(r.losses[0] < s.losses[0] for s in some[:i])]


def _text(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


if __name__ == "__main__":
    main()
