"""The page of a profile: where the time of a run goes, by operator, module and instruction."""

from __future__ import annotations

from ...reports.template import Number, facts, lasting, modules, outline, page, place, table, text
from ..times import InstrTime, Spent


def profile_page(spent: Spent, about: str) -> str:
    """The whole page as text."""
    most, ops = max(spent.ms, 1e-12), spent.operators
    longest = max((o.ms for o in ops), default=1.0) or 1.0
    slowest = max((r.ms for r in spent.instructions), default=1.0) or 1.0
    order = sorted(spent.instructions, key=lambda r: r.instr)
    return page(
        f"{lasting(spent.ms)} a run",
        [
            facts([("runs", spent.runs), ("instructions", len(order)), ("operators", len(ops))]),
            "<h2>Operators</h2>",
            table(
                ["operator", "time", "#share", "#count"],
                [
                    (
                        o.op,
                        Number(o.ms, lasting(o.ms), o.ms / longest),
                        Number(o.ms, f"{o.ms / most:.1%}"),
                        Number(o.count, f"{o.count:.0f}"),
                    )
                    for o in ops
                ],
            ),
            "<h2>Modules</h2>",
            outline(
                modules(order, lambda r: r.node.rpartition("/")[0] if " " not in r.node else ""),
                lambda r: _step(r, most),
                lambda rows: _sum(rows, most),
                unfold=len(order) <= 30,
            ),
            "<h2>Instructions</h2>",
            table(
                ["#", "operator", "time", "#share", "node", "source"],
                [
                    (
                        r.instr,
                        r.op,
                        Number(r.ms, lasting(r.ms), r.ms / slowest),
                        Number(r.ms, f"{r.ms / most:.1%}"),
                        r.node,
                        place(r.source),
                    )
                    for r in spent.instructions
                ],
            ),
        ],
        about,
    )


def _sum(rows: list[InstrTime], whole: float) -> str:
    ms = sum(r.ms for r in rows)
    return f"{lasting(ms)}, {ms / whole:.1%}"


def _step(row: InstrTime, whole: float) -> str:
    return (
        f"<div class=step>#{row.instr} <b>{text(row.op)}</b> {lasting(row.ms)} "
        f"<span class=soft>{row.ms / whole:.1%} {text(row.node.rpartition('/')[2])}</span></div>"
    )
