"""The page of an export: what became of the model, or which nodes it cannot be exported for."""

from __future__ import annotations

from pteron.export.report import MethodReport, Report

from .template import Cell, Number, code, facts, lasting, page, table, text
from .told import size


def export_page(report: Report, model: str) -> str:
    """The whole page as text."""
    rows: list[tuple[str, object]] = [
        ("file", size(report.file_bytes) if report.file_bytes else "not written"),
        ("constants", f"{report.constants:,} in {size(report.constants_bytes)}"),
        ("seconds", f"{sum(report.seconds.values()):.2f}"),
    ]
    rows += [(f"planned for {name}", value) for name, value in report.dims.items()]
    notes = "".join(f"<li>{text(note)}" for note in report.notes)
    longest = max(report.seconds.values(), default=1.0) or 1.0
    stages = [(k, Number(v, lasting(v * 1e3), v / longest)) for k, v in report.seconds.items()]
    return page(
        "Exported",
        [
            facts(rows),
            f"<h2>Notes</h2><ul>{notes}</ul>" if notes else "",
            *(part for m in report.methods for part in _method(m)),
            *_placements(report),
            "<h2>Stages</h2>",
            table(["stage", "time"], stages),
        ],
        model,
    )


def failure_page(error: BaseException, model: str) -> str:
    """The page of an export that failed: the text, a row for each node that it names."""
    first, *rest = str(error).splitlines() or [type(error).__name__]
    nodes = () if rest else getattr(error, "nodes", ())  # lines of a text have more to say of them
    return page(
        "Not exported",
        [
            f"<p class=bad><b>{text(type(error).__name__)}</b>: {text(first)}</p>",
            f"<pre>{text(chr(10).join(rest))}</pre>" if rest else "",
            "<h2>Nodes</h2>" if nodes else "",
            table(["node"], [(str(name),) for name in nodes]) if nodes else "",
        ],
        model,
    )


def _method(m: MethodReport) -> list[str]:
    rows: list[tuple[str, object]] = [
        ("nodes", f"{m.nodes_in}, {m.nodes_out} after the passes"),
        ("instructions", sum(m.instructions.values())),
        ("planned memory", size(m.planned_bytes)),
        ("live-bytes bound", size(m.live_bytes)),
        ("copies", f"{m.copies}, {size(m.copied_bytes)}"),
    ]
    return [
        f"<h2>Method {text(m.name)}</h2>",
        facts(rows),
        table(["instruction", "#count"], [(code(k), v) for k, v in m.instructions.items()]),
        "<h3>Operators after the passes</h3>",
        table(["operator", "#count"], [(code(k), v) for k, v in m.operators.items()]),
    ]


def _placements(report: Report) -> list[str]:
    if not report.placements:
        return []
    rows: list[tuple[Cell, ...]] = [
        (p.delegate, p.op_type, p.name, Number(p.macs, f"{p.macs:,}"), p.reason)
        for p in report.placements
    ]
    heads = ["where", "operator", "node", "#multiply-adds", "reason"]
    return ["<h2>Placement</h2>", table(heads, rows)]
