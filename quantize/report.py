"""What quantization did: bits and error of each layer, as text, JSON, or one static HTML page with a plot."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from html import escape
from typing import Any

from pteron.quantize.calibrate import Ranges


@dataclasses.dataclass(frozen=True, slots=True)
class LayerReport:
    """One weight [n, k]: bits a weight with its scales; sums of squares of error and weight; largest error.

    `node` is the first that reads it; `arithmetic`, exact, int8 or static, is known once the graph was exported.
    """

    name: str
    operator: str
    format: str
    shape: tuple[int, int]
    bits: float
    noise: float
    power: float
    worst: float
    node: str = ""
    arithmetic: str = ""

    @property
    def sqnr_db(self) -> float:
        """Signal to quantization noise, in dB; infinite where nothing was lost."""
        return (
            10 * math.log10(self.power / self.noise)
            if self.noise > 0 and self.power > 0
            else math.inf
        )


@dataclasses.dataclass(frozen=True, slots=True)
class ActivationReport:
    """A value quantized while running: what calibration saw of it, and its grid (code - zero) * scale."""

    name: str
    low: float
    high: float
    scale: float
    zero: int


@dataclasses.dataclass(slots=True)
class QuantReport:
    """`activations` and `ranges` are of static quantization only."""

    format: str
    layers: list[LayerReport] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    activations: list[ActivationReport] = dataclasses.field(default_factory=list)
    ranges: Ranges | None = None

    @property
    def weights(self) -> int:
        return sum(r.shape[0] * r.shape[1] for r in self.layers)

    @property
    def bits(self) -> float:
        """Bits a quantized weight, scales included."""
        return sum(r.bits * r.shape[0] * r.shape[1] for r in self.layers) / max(self.weights, 1)

    def executed(self, arithmetic: Mapping[str, str]) -> None:
        """Fills in which arithmetic the nodes have in the exported program."""
        self.layers = [
            dataclasses.replace(r, arithmetic=arithmetic.get(r.node, "")) for r in self.layers
        ]

    def as_dict(self) -> dict[str, Any]:
        rows = [
            dataclasses.asdict(r) | {"sqnr_db": r.sqnr_db if math.isfinite(r.sqnr_db) else None}
            for r in self.layers
        ]
        return {
            "format": self.format,
            "weights": self.weights,
            "bits": self.bits,
            "layers": rows,
            "skipped": self.skipped,
            "samples": self.ranges.samples if self.ranges else 0,
            "activations": [dataclasses.asdict(a) for a in self.activations],
        }

    def as_text(self) -> str:
        lines = [
            f"{self.format}: {len(self.layers)} {'layer' if len(self.layers) == 1 else 'layers'}, "
            f"{self.weights} weights, {self.bits:.3f} bits a weight"
        ]
        if not self.layers and not self.skipped:
            lines.append(
                "  nothing to quantize: no MatMul, Gemm or Conv has a constant float weight; quantized ones stay as they are"
            )
        lines += [
            f"  {r.name:40s} {r.operator:7s} {r.format:9s} {r.shape[0]:6d} x {r.shape[1]:<6d} {r.bits:6.3f} bits  {r.sqnr_db:6.2f} dB  {r.arithmetic}".rstrip()
            for r in self.layers
        ]
        lines += [f"  {name:40s} left as it is" for name in self.skipped]
        lines += [
            f"  {a.name:40s} int8 values in [{a.low:.6g}, {a.high:.6g}], step {a.scale:.6g}, zero {a.zero}"
            for a in self.activations
        ]
        return "\n".join(lines)

    def as_html(self) -> str:
        """One page, no script, no other file: a bar of SQNR for each layer, worst in red."""
        top = max((r.sqnr_db for r in self.layers if math.isfinite(r.sqnr_db)), default=1.0)
        worst = sorted(self.layers, key=lambda r: r.sqnr_db)[:10]
        bars = []
        for i, r in enumerate(self.layers):
            width = 560 * min(max(r.sqnr_db, 0.0) / max(top, 1e-9), 1.0)
            colour = "#c2410c" if r in worst and len(self.layers) > 10 else "#2563eb"
            bars.append(
                f"<text x='0' y='{i * 18 + 13}'>{escape(r.name[-44:])}</text>"
                f"<rect x='330' y='{i * 18 + 3}' width='{width:.1f}' height='12' rx='2' fill='{colour}'>"
                f"<title>{escape(r.name)}: {r.sqnr_db:.2f} dB, {r.bits:.3f} bits</title></rect>"
                f"<text x='{336 + width:.1f}' y='{i * 18 + 13}'>{r.sqnr_db:.1f} dB</text>"
            )
        known = any(r.arithmetic for r in self.layers)  # once exported
        rows = "".join(
            f"<tr><td>{escape(r.name)}<td>{r.operator}<td>{r.format}<td>{r.shape[0]} x {r.shape[1]}<td>{r.bits:.3f}"
            f"<td>{r.sqnr_db:.2f}<td>{r.worst:.3g}" + (f"<td>{r.arithmetic}" if known else "")
            for r in self.layers
        )
        left = ", ".join(map(escape, self.skipped)) or "none"
        count = "1 layer" if len(self.layers) == 1 else f"{len(self.layers)} layers"
        return (
            "<!doctype html><html lang=en><meta charset=utf-8><title>quantization</title><style>"
            ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem}"
            "svg text{font:11px system-ui,sans-serif;fill:currentColor}table{border-collapse:collapse;font-size:13px}"
            "td,th{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid #8884}</style>"
            f"<h1>{escape(self.format)}: {self.bits:.3f} bits a weight</h1>"
            f"<p>{count}, {self.weights} weights. Left as they are: {left}.</p>"
            f"<h2>Signal to quantization noise</h2><svg viewBox='0 0 980 {len(self.layers) * 18 + 10}' width='100%'>{''.join(bars)}</svg>"
            "<h2>Layers</h2><table><tr><th>layer<th>operator<th>format<th>shape<th>bits<th>SQNR dB<th>largest error"
            f"{'<th>arithmetic' if known else ''}"
            f"{rows}</table>{self._activations()}</html>\n"
        )

    def _activations(self) -> str:
        if self.ranges is None:
            return ""
        rows = "".join(
            f"<tr><td>{escape(a.name)}<td>{a.low:.6g}<td>{a.high:.6g}<td>{a.scale:.6g}<td>{a.zero}"
            for a in self.activations
        )
        return (
            f"<h2>Activations</h2><p>int8, ranges over {self.ranges.samples} samples.</p>"
            "<table><tr><th>value<th>lowest<th>highest<th>step<th>zero point"
            f"{rows}</table>"
        )
