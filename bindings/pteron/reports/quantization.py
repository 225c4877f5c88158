"""The page of a quantization: bits and error of each layer, worst in red, and the grids of activations."""

from __future__ import annotations

import math

from pteron.quantize.report import LayerReport, QuantReport, mended

from .template import Cell, Number, facts, page, table, text

WORST = 10
STYLE = """
.front svg { width: 100%; max-width: 760px; height: auto; background: var(--card); border-radius: 8px; display: block }
.front text { font: 12px system-ui, sans-serif; fill: var(--soft) } .front path { fill: none; stroke: var(--line) }
.front .line { stroke: var(--bar); stroke-width: 2 } .front circle { fill: var(--bar) } .front .now { fill: var(--bad) }
"""
LEFT, TOP, WIDE, HIGH = 56, 16, 660, 190
"""Of the plot of the front, in its own units."""


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
        rows += _lost(report, report.loss)
    left = ", ".join(report.skipped)
    covers = report.coverage
    return page(
        f"{report.format}: {report.bits:.3f} bits a weight",
        [
            facts(rows),
            f"<p>{text(covers.text)}.</p>" if covers is not None else "",
            f"<p>Left as they are: {text(left)}.</p>" if left else "",
            _rotated(report),
            "<h2>Layers</h2>",
            _explained(report.layers),
            _layers(report) if count else "<p>Nothing was quantized.</p>",
            _worst(report),
            _front(report),
            _activations(report),
        ],
        about,
        style=STYLE,
    )


def _lost(report: QuantReport, loss: float) -> list[tuple[str, object]]:
    """What the metric says of all layers together, beside f32 where that has a number of its own."""
    if report.metric == "top1":
        return [("another largest element", f"{loss:.4g} %")]
    if report.metric == "cosine":
        return [("loss", f"{loss:.4g}")]
    return [(f"{report.metric} in f32", f"{report.exact:.6g}"), (report.metric, f"{loss:.6g}")]


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


def _layers(report: QuantReport) -> str:
    layers = report.layers
    top = max((r.sqnr_db for r in layers if math.isfinite(r.sqnr_db)), default=1.0)
    worst = {id(r) for r in report.worst(WORST) if len(layers) > WORST}
    known = any(r.activations for r in layers)  # once exported
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
                *((r.activations,) if known else ()),
            )
        )
    heads = ["layer", "SQNR", "operator", "format", "#shape", "#bits", "#largest error"]
    heads += [{"output": "#error at output", "loss": "#loss"}[name] for name in told]
    return table(heads + (["activations"] if known else []), rows)


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


def _front(report: QuantReport) -> str:
    """Size against accuracy: a point for each layer more that its rule mends."""
    points = report.front()
    if len(points) < 2:
        return ""
    least, most = points[0][1], points[-1][1]

    def at(size: float, left: float) -> tuple[float, float]:
        share = (size - least) / (most - least) if most > least else 0.0
        return LEFT + share * WIDE, TOP + (1 - left) * HIGH

    parts = [f'<svg viewBox="0 0 {LEFT + WIDE + 24} {TOP + HIGH + 44}" role="img" aria-label="size against accuracy">']  # fmt: skip
    for left in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = at(least, left)
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDE}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{left:.0%}</text>')
    for step in range(5):
        size = least + (most - least) * step / 4
        x, y = at(size, 0.0)
        anchor = "end" if step == 4 else "middle"
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="{anchor}">{_bytes(size)}</text>')  # fmt: skip
    middle = LEFT + WIDE / 2
    parts.append(f'<text x="{middle}" y="{TOP + HIGH + 38}" text-anchor="middle">weights</text>')
    line = "L".join("{:.1f} {:.1f}".format(*at(size, left)) for _, size, left in points)
    parts.append(f'<path class="line" d="M{line}"/>')
    for name, size, left in points:
        x, y = at(size, left)
        about = f"{name or 'as it is'}: {_bytes(size)}, {left:.1%}"
        kind = "" if name else ' class="now"'
        parts.append(f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{text(about)}</title></circle>')  # fmt: skip
    return (
        "<h2>Size against accuracy</h2><p class=soft>What is left of the sum of the layers' losses as one layer more gets the rule that "
        "mends it, those first that lose most for the bytes it takes; red is the model as it is.</p>"
        f"<div class='wide front'>{''.join(parts)}</svg></div>"
    )


def _bytes(size: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def _rotated(report: QuantReport) -> str:
    rows: list[tuple[Cell, ...]] = [(r.name, r.text) for r in report.rotated]
    return "<h2>Rotations</h2>" + table(["value", "what became of it"], rows) if rows else ""


def _activations(report: QuantReport) -> str:
    if report.ranges is None:
        return ""
    rows: list[tuple[Cell, ...]] = [
        (a.name, *(Number(v, f"{v:.6g}") for v in (a.low, a.high, a.scale)), a.zero)
        for a in report.activations
    ]
    kinds = sorted({f"int{a.bits}" for a in report.activations})
    said = f"{' and '.join(kinds)}, ranges over {report.ranges.samples} samples."
    return f"<h2>Activations</h2><p>{said}</p>" + table(
        ["value", "#lowest", "#highest", "#step", "#zero point"], rows
    )
