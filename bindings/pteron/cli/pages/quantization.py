"""The page of a quantization: bits and error of each layer, worst in red, and the grids of activations."""

from __future__ import annotations

import math

from pteron.quantize.report import LayerReport, QuantReport, mended

from .template import Cell, Number, facts, page, table, text

WORST = 10


def quantization_page(report: QuantReport, about: str = "") -> str:
    """The whole page as text."""
    count = len(report.layers)
    rows = [
        ("layers", count),
        ("weights", f"{report.weights:,}"),
        ("bits a weight", f"{report.bits:.3f}"),
        ("left as they are", len(report.skipped)),
    ]
    if report.loss is not None:
        rows.append(("loss", f"{report.loss:.4g}"))
    left = ", ".join(report.skipped)
    return page(
        f"{report.format}: {report.bits:.3f} bits a weight",
        [
            facts(rows),
            f"<p>Left as they are: {text(left)}.</p>" if left else "",
            "<h2>Layers</h2>",
            _explained(report.layers),
            _layers(report.layers) if count else "<p>Nothing was quantized.</p>",
            _worst(report),
            _activations(report),
        ],
        about,
    )


def _explained(layers: list[LayerReport]) -> str:
    """What the columns say, of those that are there."""
    costs = []
    if any(r.output is not None for r in layers):
        costs.append("error at output is the share of the layer's output that is error")
    if any(r.loss is not None for r in layers):
        costs.append(
            "loss is the mean of 1 - cosine at the model's outputs, times 10^4, with this layer alone rounded"
        )
    misled = " It misleads where weights were rounded for their inputs: " if costs else ""
    red = f" The {WORST} worst are red." if len(layers) > WORST else ""
    return (
        "<p class=soft>SQNR is the signal to quantization noise ratio of a weight; larger is better."
        f"{red}{misled}{'; '.join(costs)}{'.' if costs else ''}</p>"
    )


def _layers(layers: list[LayerReport]) -> str:
    top = max((r.sqnr_db for r in layers if math.isfinite(r.sqnr_db)), default=1.0)
    worst = {id(r) for r in sorted(layers, key=lambda r: r.sqnr_db)[:WORST] if len(layers) > WORST}
    known = any(r.arithmetic for r in layers)  # once exported
    told = [
        name for name in ("output", "loss") if any(getattr(r, name) is not None for r in layers)
    ]
    rows = []
    for r in layers:
        share = max(r.sqnr_db, 0.0) / max(top, 1e-9) if math.isfinite(r.sqnr_db) else 1.0
        shown = f"{r.sqnr_db:.1f} dB" if math.isfinite(r.sqnr_db) else "exact"
        value = r.sqnr_db if math.isfinite(r.sqnr_db) else 1e9
        rows.append(
            (
                r.name,
                Number(value, shown, share, id(r) in worst),
                r.operator,
                r.format,
                Number(r.shape[0] * r.shape[1], f"{r.shape[0]} x {r.shape[1]}"),
                Number(r.bits, f"{r.bits:.3f}"),
                Number(r.worst, f"{r.worst:.3g}"),
                *(_measured(getattr(r, name)) for name in told),
                *((r.arithmetic,) if known else ()),
            )
        )
    heads = ["layer", "SQNR", "operator", "format", "#shape", "#bits", "#largest error"]
    heads += [{"output": "#error at output", "loss": "#loss"}[name] for name in told]
    return table(heads + (["arithmetic"] if known else []), rows)


def _measured(value: float | None) -> Number:
    return Number(-1.0 if value is None else value, "" if value is None else f"{value:.3g}")


def _worst(report: QuantReport) -> str:
    """The layers that cost most and what would mend each."""
    rows: list[tuple[Cell, ...]] = []
    for r in report.worst(WORST):
        mend = mended(r)
        if mend is not None:
            rule, bits = mend
            costs = _measured(r.loss if r.loss is not None else r.cost)
            rows.append((r.name, costs, f"--rule '{rule}'", Number(bits, f"{bits / 8:,.0f}")))
    if not rows:
        return ""
    heads = [
        "layer",
        "#loss" if report.layers[0].loss is not None else "#error",
        "rule that mends it",
        "#bytes more",
    ]
    return "<h2>Worst layers</h2>" + table(heads, rows)


def _activations(report: QuantReport) -> str:
    if report.ranges is None:
        return ""
    rows: list[tuple[Cell, ...]] = [
        (a.name, *(Number(v, f"{v:.6g}") for v in (a.low, a.high, a.scale)), a.zero)
        for a in report.activations
    ]
    return f"<h2>Activations</h2><p>int8, ranges over {report.ranges.samples} samples.</p>" + table(
        ["value", "#lowest", "#highest", "#step", "#zero point"], rows
    )
