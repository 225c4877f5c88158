"""What quantization did: bits and error of each layer, as text or JSON."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from pteron.schema.errors import several
from pteron.schema.printable import joined

from .encode.table import FORMATS
from .observe.calibrate import Ranges
from .recipe.coverage import Coverage, mix_of

FINER: Final = ("nf4", "mxfp6", "int8")
"""What a layer is given to lose less."""


@dataclasses.dataclass(frozen=True, slots=True)
class LayerReport:
    """One weight [n, k]: bits a weight with its scales; sums of squares of error and weight; largest error.

    `node` is the first that reads it; `activations`, as `schema.activations` calls them, are known once the graph was exported. `output`: mean
    square of the error at the layer's output over that of the output, by statistics. `loss`:
    of the whole model where this layer alone is rounded. `alpha`: by which its input was scaled.
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
    activations: str = ""
    algorithm: str = "nearest"
    output: float | None = None
    loss: float | None = None
    alpha: float = 0.0

    @property
    def cost(self) -> float:
        """Share of the layer's output, or of its weights, that is error: what formats for one layer are compared by."""
        share = self.noise / self.power if self.power > 0 else 0.0
        return share if self.output is None else self.output

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
    bits: int = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Rotated:
    """The residual stream that a sum is of, or the values of heads that a layer reads: `count` rotations of `size` channels.

    `why`: it stays as it is.
    """

    name: str
    kind: str
    size: int
    count: int
    why: str = ""

    @property
    def text(self) -> str:
        what = "heads" if self.kind == "heads" else "residual stream"
        if self.why:
            return f"{what} not rotated: {self.why}"
        many = f"{self.count} x " if self.kind == "heads" else ""
        return f"{what} rotated, {many}{self.size} channels"


@dataclasses.dataclass(slots=True)
class QuantReport:
    """`activations`, `ranges`, `in_int16` and `in_f32`, units that compute in int16 and in f32, and `relative_time`, about how many times as long a
    run takes as in int8, are of static quantization only; `loss` is of all layers together, where it was measured, in words of `metric`, and
    `exact` what the model as it was has. `coverage`: how many of the layers there are these are, and why others stay."""

    format: str
    layers: list[LayerReport] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    activations: list[ActivationReport] = dataclasses.field(default_factory=list)
    ranges: Ranges | None = None
    loss: float | None = None
    exact: float = 0.0
    metric: str = "cosine"
    in_int16: list[str] = dataclasses.field(default_factory=list)
    in_f32: list[str] = dataclasses.field(default_factory=list)
    relative_time: float = 1.0
    rotated: list[Rotated] = dataclasses.field(default_factory=list)
    coverage: Coverage | None = None
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def formats(self) -> str:
        """What layers have: one name, or counts."""
        return mix_of(r.format for r in self.layers) or self.format

    @property
    def weights(self) -> int:
        return sum(r.shape[0] * r.shape[1] for r in self.layers)

    @property
    def bits(self) -> float:
        """Bits a quantized weight, scales included."""
        return sum(r.bits * r.shape[0] * r.shape[1] for r in self.layers) / max(self.weights, 1)

    def worst(self, most: int = 10) -> list[LayerReport]:
        """Those that cost most: by the loss that each alone makes, else by the share of error at their outputs, or in their weights."""
        measured = bool(self.layers) and all(r.loss is not None for r in self.layers)
        return sorted(self.layers, key=lambda r: -(r.loss or 0) if measured else -r.cost)[:most]

    def front(self) -> list[tuple[str, float, float]]:
        """Size against accuracy where each layer's own loss is known: (layer, bytes of all weights, share of these losses left).

        First what is, of no layer, then one layer more mended in each, those first that lose most for the bytes they take. What a
        mended layer still loses is not counted.
        """
        losses = [r.loss or 0.0 for r in self.layers if r.loss is not None]
        whole, left = sum(losses), sum(losses)
        if whole <= 0:
            return []
        bits = sum(r.bits * r.shape[0] * r.shape[1] for r in self.layers)
        found = [(r.loss or 0.0, mend[1], r.name) for r in self.layers if (mend := mended(r))]
        points = [("", bits / 8, 1.0)]
        for loss, more, name in sorted(found, key=lambda f: -f[0] / max(f[1], 1)):
            bits, left = bits + more, left - loss
            points.append((name, bits / 8, max(left, 0.0) / whole))
        return points

    def executed(self, activations: Mapping[str, str]) -> None:
        """Fills in what activations the nodes have in the exported program."""
        self.layers = [
            dataclasses.replace(r, activations=activations.get(r.node, "")) for r in self.layers
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
            "metric": self.metric,
            "exact": self.exact,
            "loss": self.loss,
            "layers": rows,
            "worst": [
                {"name": r.name, "rule": mend[0], "bits": mend[1]}
                for r in self.worst()
                if (mend := mended(r)) is not None
            ],
            "front": [
                {"mended": name, "bytes": size, "left": left} for name, size, left in self.front()
            ],
            "skipped": self.skipped,
            "coverage": None if self.coverage is None else self.coverage.as_dict(),
            "rotated": [dataclasses.asdict(r) for r in self.rotated],
            "in_int16": self.in_int16,
            "in_f32": self.in_f32,
            "relative_time": self.relative_time,
            "samples": self.ranges.samples if self.ranges else 0,
            "activations": [dataclasses.asdict(a) for a in self.activations],
            "notes": self.notes,
        }

    def as_text(self) -> str:
        measured = "" if self.loss is None else f", {said(self.metric, self.loss, self.exact)}"
        lines = [
            f"{self.formats}: {several(len(self.layers), 'layer')}, "
            f"{self.weights} weights, {self.bits:.3f} bits a weight{measured}"
        ]
        if self.coverage is not None and self.coverage.left:
            lines.append(f"  {self.coverage.text}")
        if not self.layers and not self.skipped:
            lines.append(
                "  nothing to quantize: no MatMul, Gemm or Conv has a constant float weight; quantized ones stay as they are"
            )
        lines += [
            f"  {r.name:40s} {r.operator:7s} {r.format:9s} {r.shape[0]:6d} x {r.shape[1]:<6d} {r.bits:6.3f} bits  {r.sqnr_db:6.2f} dB  {_number(r.output)}  {_number(r.loss)}  {r.activations}".rstrip()
            for r in self.layers
        ]
        lines += [f"  {name:40s} left as it is" for name in self.skipped]
        lines += [f"  {r.name:40s} {r.text}" for r in self.rotated]
        lines += [f"  {name:40s} computes in int16" for name in self.in_int16]
        lines += [f"  {name:40s} computes in f32, weight too" for name in self.in_f32]
        if self.in_int16 or self.in_f32:
            lines.append(f"  a run takes about {self.relative_time:.2f} times as long as in int8")
        lines += [
            f"  {a.name:40s} int{a.bits} values in [{a.low:.6g}, {a.high:.6g}], step {a.scale:.6g}, zero {a.zero}"
            for a in self.activations
        ]
        lines += [f"note: {note}" for note in self.notes]
        return joined(lines)


def said(metric: str, loss: float, exact: float) -> str:
    """What a metric found, in words."""
    if metric == "top1":
        return f"the largest element is another in {loss:.4g} % of the outputs"
    return f"loss {loss:.4g}" if metric == "cosine" else f"{metric} {loss:.6g}, in f32 {exact:.6g}"


def mended(row: LayerReport) -> tuple[str, int] | None:
    """The rule that gives a layer the next finer format, and the bits that this takes more; None: there is none."""
    if row.format not in FORMATS:  # of another tool
        return None
    n, k = row.shape
    now = FORMATS[row.format].bits_of(n, k)
    finer = {
        name: FORMATS[name].bits_of(n, k)
        for name in FINER
        if FORMATS[name].element.bits > FORMATS[row.format].element.bits
    }
    if not finer:
        return None
    name = min(finer, key=lambda f: finer[f])
    return f"^{re.escape(row.name)}$={name}", finer[name] - now


def _number(value: float | None) -> str:
    return " " * 9 if value is None else f"{value:9.3g}"
