"""One static HTML page of a program: facts, the memory plan as a picture, the instructions. No script, no other file."""

from __future__ import annotations

from html import escape

from pteron.cli.describe import Description, MethodFacts, Placed
from pteron.cli.inspect import ports as ports_of
from pteron.cli.inspect import size

WIDTH, HEIGHT = 1100, 420

STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #6b7280; --line: #d8dce3; --paper: #fff; --card: #f6f7f9 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --soft: #9aa1ad; --line: #343a45; --paper: #14161a; --card: #1c1f25 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 1140px; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin-top: 2rem }
p, td { overflow-wrap: anywhere } .soft { color: var(--soft) }
.facts { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1rem 0 }
.fact { background: var(--card); border-radius: 8px; padding: .5rem .9rem } .fact b { display: block; font-size: 1.1rem }
table { border-collapse: collapse; width: 100%; font-size: 13px } th { text-align: left; color: var(--soft); font-weight: 500 }
td, th { padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top } .n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
code { font: 12px ui-monospace, monospace } svg { width: 100%; height: auto; background: var(--card); border-radius: 8px }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft) } rect.v:hover { stroke: var(--ink); stroke-width: 1.5 }
"""


def page(about: Description) -> str:
    """The whole page as text."""
    facts = [("file", size(about.file_bytes)), ("model", about.model), ("weights", about.exec_mode)]
    facts += [(s["kind"], size(s["size"])) for s in about.segments]
    dims = "".join(f"<li><code>{escape(str(d))}</code></li>" for d in about.dims)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(about.path)}</title>"
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>"
        f"<h1>{escape(about.path)}</h1><div class=facts>{_facts(facts)}</div>"
        + (f"<h2>Dimensions</h2><ul>{dims}</ul>" if dims else "")
        + _placements(about)
        + "".join(_method(m) for m in about.methods)
        + "</html>\n"
    )


def _placements(about: Description) -> str:
    """Where each node went and why; nothing where no delegate was asked."""
    if not about.placements:
        return ""
    segments = "".join(f"<li><code>{escape(str(d))}</code></li>" for d in about.delegates)
    rows = "".join(
        f"<tr><td>{escape(p.delegate)}</td><td>{escape(p.op_type)}</td><td>{escape(p.name)}</td>"
        f"<td>{escape(p.reason)}</td></tr>"
        for p in about.placements
    )
    return (
        f"<h2>Placement</h2><ul>{segments}</ul>"
        f"<table><tr><th>where<th>operator<th>node<th>reason</tr>{rows}</table>"
    )


def _facts(rows: list[tuple[str, str]]) -> str:
    return "".join(
        f"<div class=fact><span class=soft>{escape(k)}</span><b>{escape(v)}</b></div>"
        for k, v in rows
    )


def _method(method: MethodFacts) -> str:
    ports = "".join(
        f"<tr><td>{kind}</td><td><code>{escape(str(port))}</code></td></tr>"
        for kind, port in ports_of(method)
    )
    plan = method.plan
    facts = [
        ("planned memory", size(plan.total_bytes)),
        ("live-bytes bound", size(plan.live_bytes)),
        ("ratio", f"{plan.total_bytes / max(plan.live_bytes, 1):.3f}"),
        ("states", size(plan.state_bytes)),
        ("instructions", str(len(method.instrs))),
    ]
    rows = "".join(
        f"<tr><td class=n>{r.index}</td><td>{'&emsp;' * r.depth}{escape(r.op)}</td><td class=n>{size(r.bytes)}</td>"
        f"<td><code>{escape(r.result)}</code></td><td>{escape(r.weight)}</td><td>{escape(r.node)}</td></tr>"
        for r in method.instrs
    )
    return (
        f"<h2>Method {escape(method.name)}</h2><table>{ports}</table><div class=facts>{_facts(facts)}</div>"
        f"<h2>Memory plan</h2>{picture(plan.placed, plan.total_bytes, len(method.instrs))}"
        f"<p class=soft>Across: instructions. Up: bytes of the arena. A box is a value from its first to its last use.</p>"
        f"<h2>Instructions</h2><table><tr><th class=n>#<th>operator<th class=n>bytes<th>result<th>weight<th>node</tr>{rows}</table>"
    )


def picture(placed: tuple[Placed, ...], total: int, steps: int) -> str:
    """The plan as SVG: time across, arena offsets up; the box's title names the value."""
    left, bottom = 64, 24
    across, up = (WIDTH - left - 8) / max(steps, 1), (HEIGHT - bottom - 8) / max(total, 1)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="memory plan">']
    for i in range(5):
        y = HEIGHT - bottom - i / 4 * total * up
        parts.append(f'<text x="4" y="{y + 4:.1f}">{size(total * i // 4)}</text>')
        parts.append(
            f'<line x1="{left}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
        )
    for number, p in enumerate(placed):
        x, width = left + p.begin * across, max((p.end - p.begin + 1) * across, 1)
        y, height = HEIGHT - bottom - (p.offset + p.bytes) * up, max(p.bytes * up, 0.5)
        title = escape(
            f"{p.name}: {size(p.bytes)} at {p.offset}, instructions {p.begin} to {p.end}"
        )
        hue = number * 137 % 360
        parts.append(
            f'<rect class="v" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="hsl({hue} 55% 58%)" fill-opacity=".8"><title>{title}</title></rect>'
        )
    for i in range(0, steps, max(1, steps // 10)):
        parts.append(f'<text x="{left + i * across:.1f}" y="{HEIGHT - 6}">{i}</text>')
    return "".join(parts) + "</svg>"
