"""Size against accuracy of quantized weights: writes docs/quantization.md and its plot.

    make bench-quant        about an hour on two cores; needs make dev-torch
    python benchmarks/quantization.py --models decoder --formats nf4 int8        some of it

minilm: 200 sentences of Python's documentation are embedded by the C runtime; the loss is mean(1 - cosine) x 10^4 against PyTorch in
f32. 1,024 other sentences calibrate. decoder: the perplexity of text that benchmarks/small_decoder.py kept apart from what its model
learned, by the C runtime; 256 pieces of what it learned calibrate. Only linear layers are quantized; bits count scales.
anchors: other tools round MiniLM's linear layers; what they say the weights are runs exactly, in the same runtime.
What is measured goes to benchmarks/quantization.jsonl, in place of what was measured of the same, and the page is made from that.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import onnx_ir as ir

import pteron
from pteron.export.passes import run_passes
from pteron.export.write import write_text
from pteron.pipeline import record
from pteron.quantize.layers import layers
from pteron.quantize.measure import METRICS, losses
from pteron.quantize.quantize import Calibration, Method, quantize_weights
from pteron.quantize.recipe import recipe
from pteron.quantize.recipe_file import targeted
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding import matrix_of

ROOT = Path(__file__).parent.parent
FORMATS = ("nf4", "mxfp4", "int4", "mxfp6", "int8", "fp8-e4m3", "mxfp8")
TARGETS = (4.5, 5.0, 5.5)
KEPT = Path(__file__).with_suffix(".jsonl")
PIECES = 96
GGUF = {"Q4_0": 4.5, "Q4_1": 5.0, "Q5_0": 5.5, "Q5_1": 6.0, "Q8_0": 8.5}
TEST, BATCH, LONGEST = slice(64, 264), 25, 96
CALIBRATION = slice(264, 264 + 1024)

Arrays = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """`losses`: computed exactly, and as --exec auto does; NaN where that was not measured. Bits 32: the model as it is."""

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
        module = search.Embed(search.AutoModel.from_pretrained(weights)).eval()
        args = tuple(torch.from_numpy(a) for a in self.test[0].values())
        axes = {0: "batch", 1: "seq"}
        self.graph = capture_torch(module, args=args, dynamic_shapes=({**axes}, {**axes}))
        run_passes(self.graph)
        with torch.inference_mode():
            each = [module(*map(torch.from_numpy, batch.values())).numpy() for batch in self.test]
        self.wanted = np.concatenate(each)

    def loss(self, graph: ir.Model, mode: str) -> float:
        got = np.concatenate(list(outputs(graph, mode, self.test)))
        return float(np.mean(1 - (got.astype(np.float64) * self.wanted).sum(1)) * 1e4)


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
        pteron.export_model(graph.clone(), Path(folder) / "m.pte", exec_mode=mode)
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
    parser.add_argument("--anchors", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.models:
        measured(name, options)
    rows = kept()
    write_text(ROOT / "docs/quantization.md", page(rows))
    write_text(ROOT / "docs/quantization.svg", plot([r for r in rows if drawn(r)]))


def measured(which: str, options: argparse.Namespace) -> None:
    """Everything that is asked for of a model, into the file."""
    model = MODELS[which]()
    if which == "decoder":
        keep(Row(which, "f32", "nearest", 32, (model.loss(model.graph, "exact"), math.nan)))
    elif options.anchors:
        anchors(model)
    with tempfile.TemporaryDirectory() as folder:
        statistics = Path(folder) / "statistics.npz"

        def run(
            name: str, wanted: Any, method: Method, calibration: Calibration | None = None
        ) -> None:
            graph = model.graph.clone()
            report: QuantReport = quantize_weights(graph, wanted, calibration, method)
            graph.metadata_props["pteron.quantized"] = wanted.format
            losses = model.loss(graph, "exact"), model.loss(graph, "auto")
            keep(Row(which, name, wanted.algorithm or "gptq", report.bits, losses))

        first = Calibration(model.calibration, record, len(model.calibration))
        for name in options.formats:
            for algorithm in options.algorithms:
                chosen = recipe(name, algorithm=algorithm, activations="float")
                if algorithm != "gptq":
                    run(name, chosen, Method())
                else:
                    run(name, chosen, Method(statistics), None if statistics.exists() else first)
        for bits in options.targets:
            wanted = targeted(recipe("nf4"), bits, None, None, ())
            method = Method(statistics, model.calibration[:64], record)
            run(f"{bits:g} bits at most", wanted, method, None if statistics.exists() else first)


def anchors(model: MiniLM) -> None:
    """What other tools make of the same weights."""
    import bitsandbytes.functional as bnb
    import gguf
    import torch

    def of_gguf(name: str) -> Callable[[np.ndarray], np.ndarray]:
        kind = gguf.GGMLQuantizationType[name]
        return lambda w: gguf.quants.dequantize(gguf.quants.quantize(w, kind), kind)

    def nf4(w: np.ndarray) -> np.ndarray:
        codes, state = bnb.quantize_4bit(torch.from_numpy(w), blocksize=64, quant_type="nf4")
        return np.asarray(bnb.dequantize_4bit(codes, state).numpy())

    tools = {
        "bitsandbytes nf4": (nf4, 4.5),
        **{f"gguf {n}": (of_gguf(n), bits) for n, bits in GGUF.items()},
    }
    found = layers(model.graph, False)
    made = (
        {i: round_(matrix_of(layer)) for i, layer in enumerate(found)}
        for round_, _ in tools.values()
    )
    lost = losses(model.graph, False, made, model.test, record)
    for (name, (_, bits)), loss in zip(tools.items(), lost, strict=True):
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
    exact, auto = row.losses
    print(f"{row.model} {row.name:16s} {row.algorithm:8s} {row.bits:6.3f} bits  {exact:9.4f} {auto:9.4f}", flush=True)  # fmt: skip


def page(rows: list[Row]) -> str:
    return f"""# Size against accuracy

Written by `make bench-quant` (benchmarks/quantization.py), which says how, from benchmarks/quantization.jsonl.
`exact` computes with the weights as they are stored, `auto` with activations in 8 bits where the format has sums in integers.
A dash was not measured.

## MiniLM-L6

Linear layers, loss of 200 sentence embeddings, 1,024 other sentences for GPTQ; less is better.

![bits a weight against loss, both lower is better](quantization.svg)

{table([r for r in rows if r.model == "minilm"], 1)}

What other tools round the same weights to, computed exactly:

| tool | bits a weight | loss |
|---|---|---|
{anchor_lines(rows)}

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
    head = "| format | bits a weight | nearest | search | GPTQ, exact | GPTQ, auto |\n|---|---|---|---|---|---|\n"
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


def anchor_lines(rows: list[Row]) -> str:
    found = [r for r in rows if r.algorithm == "anchor"]
    return "\n".join(f"| {r.name} | {r.bits:.3f} | {_shown(r.losses[0], 1)} |" for r in found)


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
    return f"Both models have {len(same)} of these; how they rank them has a correlation (Spearman's) of {rho:.2f}."


def _shown(number: float, digits: int) -> str:
    return "-" if math.isnan(number) else f"{number:.{digits}f}"


COLOURS = {"nearest": "#b0b4bf", "search": "#6b8fd6", "gptq": "#1d4ed8"}


def drawn(row: Row) -> bool:
    return row.model == "minilm" and row.algorithm in COLOURS and row.bits >= 4


def plot(rows: list[Row]) -> str:
    """Bits across, the logarithm of the loss up; a dot a row."""
    wide, tall, left, low = 720, 400, 60, 350
    most = max(r.bits for r in rows) + 0.3
    ends = (
        math.log10(min(r.losses[0] for r in rows)) - 0.1,
        math.log10(max(r.losses[0] for r in rows)) + 0.1,
    )

    def x(bits: float) -> float:
        return left + (bits - 4) / (most - 4) * (wide - left - 90)

    def y(loss: float) -> float:
        return low - (math.log10(loss) - ends[0]) / (ends[1] - ends[0]) * (low - 20)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="12">',
        f'<rect width="{wide}" height="{tall}" fill="white"/>',
    ]
    for loss in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        if ends[0] <= math.log10(loss) <= ends[1]:
            at = y(loss)
            parts.append(f'<path d="M{left} {at:.1f}H{wide - 20}" stroke="#e5e7eb"/>')
            parts.append(
                f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end" fill="#555">{loss:g}</text>'
            )
    for bits in range(4, math.floor(most) + 1):
        parts.append(
            f'<text x="{x(bits):.1f}" y="{low + 20}" text-anchor="middle" fill="#555">{bits}</text>'
        )
    parts.append(
        f'<text x="{(left + wide) / 2}" y="{low + 42}" text-anchor="middle">bits a weight</text>'
    )
    parts.append(
        f'<text x="16" y="{low / 2}" text-anchor="middle" transform="rotate(-90 16 {low / 2})">loss</text>'
    )
    rows = [r for r in rows if r.algorithm in COLOURS]
    front = sorted((r for r in rows if r.algorithm == "gptq"), key=lambda r: (r.bits, r.losses[0]))
    kept = [r for i, r in enumerate(front) if all(r.losses[0] < s.losses[0] for s in front[:i])]
    line = "L".join(f"{x(r.bits):.1f} {y(r.losses[0]):.1f}" for r in kept)
    parts.append(f'<path d="M{line}" fill="none" stroke="#1d4ed8" stroke-opacity=".4"/>')
    for r in rows:
        at = f'cx="{x(r.bits):.1f}" cy="{y(r.losses[0]):.1f}"'
        parts.append(f'<circle {at} r="4" fill="{COLOURS[r.algorithm]}"/>')
        if r.algorithm == "gptq":
            parts.append(
                f'<text x="{x(r.bits) + 7:.1f}" y="{y(r.losses[0]) + 4:.1f}">{r.name}</text>'
            )
    for i, (name, colour) in enumerate(COLOURS.items()):
        parts.append(f'<circle cx="{wide - 110}" cy="{30 + 18 * i}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{wide - 100}" y="{34 + 18 * i}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
