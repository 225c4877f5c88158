"""Size against accuracy of quantized weights on MiniLM-L6: writes docs/quantization.md and its plot.

    make bench-quant        about half an hour on two cores; needs make dev-torch

200 sentences of Python's documentation are embedded by the C runtime; the loss is mean(1 - cosine) x 10^4 against PyTorch in f32. 1,024
other sentences calibrate. Only the linear layers are quantized; bits count scales.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import onnx_ir as ir

import pteron
from pteron.export.passes import run_passes
from pteron.export.write import write_text
from pteron.pipeline import record
from pteron.quantize.quantize import Calibration, Method, quantize_weights
from pteron.quantize.recipe import recipe
from pteron.quantize.recipe_file import targeted
from pteron.quantize.report import QuantReport

ROOT = Path(__file__).parent.parent
FORMATS = ("nf4", "mxfp4", "int4", "mxfp6", "int8", "fp8-e4m3", "mxfp8")
TARGETS = (4.5, 5.0, 5.5)
TEST, BATCH, LONGEST = slice(64, 264), 25, 96
CALIBRATION = slice(264, 264 + 1024)

Arrays = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """`losses`: computed exactly, and as --exec auto does."""

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
        with tempfile.TemporaryDirectory() as folder:
            pteron.export_model(graph.clone(), Path(folder) / "m.pte", exec_mode=mode)
            model = pteron.load(Path(folder) / "m.pte")
            got = np.concatenate([model(*batch.values()) for batch in self.test])
        return float(np.mean(1 - (got.astype(np.float64) * self.wanted).sum(1)) * 1e4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--formats", nargs="*", default=FORMATS)
    parser.add_argument("--targets", nargs="*", type=float, default=TARGETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    model, rows = MiniLM(), list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "statistics.npz"

        def run(
            name: str, wanted: Any, method: Method, calibration: Calibration | None = None
        ) -> None:
            graph = model.graph.clone()
            report: QuantReport = quantize_weights(graph, wanted, calibration, method)
            graph.metadata_props["pteron.quantized"] = wanted.format
            losses = model.loss(graph, "exact"), model.loss(graph, "auto")
            algorithm = wanted.algorithm or "gptq"
            rows.append(Row(name, algorithm, report.bits, losses))
            print(
                f"{name:16s} {algorithm:8s} {report.bits:6.3f} bits  loss {losses[0]:7.2f} {losses[1]:7.2f}",
                flush=True,
            )

        first = Calibration(model.calibration, record, len(model.calibration))
        for name in options.formats:
            for algorithm in ("nearest", "search"):
                run(name, recipe(name, algorithm=algorithm), Method())
            run(
                name,
                recipe(name, algorithm="gptq", activations="float"),
                Method(kept),
                None if kept.exists() else first,
            )
        for bits in options.targets:
            wanted = targeted(recipe("nf4"), bits, None, None, ())
            run(f"{bits:g} bits at most", wanted, Method(kept, model.calibration[:64], record))
    write_text(ROOT / "docs/quantization.md", page(rows))
    write_text(ROOT / "docs/quantization.svg", plot(rows))


def page(rows: list[Row]) -> str:
    head = f"""# Size against accuracy

Written by `make bench-quant` (benchmarks/quantization.py), which says how; Python {platform.python_version()}, {platform.machine()}.
MiniLM-L6's linear layers, loss of 200 sentence embeddings, 1,024 other sentences for GPTQ; less is better.
`exact` computes with the weights as they are stored, `auto` with activations in 8 bits where the format has sums in integers.

![bits a weight against loss, both lower is better](quantization.svg)

| format | bits a weight | nearest | search | GPTQ, exact | GPTQ, auto |
|---|---|---|---|---|---|
"""
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, {})[row.algorithm] = row
    lines = []
    for name, found in sorted(by_name.items(), key=lambda item: item[1]["gptq"].bits):
        plain = [f"{found[a].losses[0]:.1f}" if a in found else "" for a in ("nearest", "search")]
        best = found["gptq"]
        cells = [name, f"{best.bits:.3f}", *plain, *(_shown(x) for x in best.losses)]
        lines.append(f"| {' | '.join(cells)} |")
    return head + "\n".join(lines) + "\n"


def _shown(loss: float) -> str:
    return "-" if math.isnan(loss) else f"{loss:.1f}"


COLOURS = {"nearest": "#b0b4bf", "search": "#6b8fd6", "gptq": "#1d4ed8"}


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
