"""The page of a program: facts, the memory plan as a picture with its peak, instructions by module, tables."""

from __future__ import annotations

from pathlib import Path

from pteron.export.sizes import HUGE
from pteron.schema.errors import several

from ...reports.template import (
    Cell,
    Markup,
    Number,
    code,
    facts,
    modules,
    outline,
    page,
    place,
    table,
    text,
)
from ...reports.told import size
from ..describe import Description, InstrRow, MethodFacts, Plan
from .graph import STYLE, graph, script

WIDTH, HEIGHT = 1100, 460
PHONE = 380  # width of the picture that a phone shows
LEFT, BOTTOM, TOP = 76, 26, 30
LETTER = 6.8  # width of one of the names
BOLD = 8.0  # of the peak's
FEW = 8  # states that are shown at once
STEP, WIDEST = 15, 16000  # of an instruction where there is room for names; of all


def program_page(about: Description) -> str:
    """The whole page as text."""
    rows = [
        ("file", size(about.file_bytes)),
        ("model", about.model),
        ("weights", about.activations),
    ]
    rows += [(s["kind"], size(s["size"])) for s in about.segments]
    dims = [(d.name, d.kind, d.min, _most(d.max), d.size) for d in about.dims]
    return page(
        Path(about.path).name,
        [
            facts(rows),
            "<h2>Dimensions</h2>" if dims else "",
            table(["name", "kind", "#least", "#most", "#planned for"], dims) if dims else "",
            *_placements(about),
            *(part for i, m in enumerate(about.methods) for part in _method(m, i)),
        ],
        "" if about.path == Path(about.path).name else about.path,
        style=STYLE,
        script=script(),
    )


def _placements(about: Description) -> list[str]:
    """Where each node went and why; nothing where no delegate was asked."""
    if not about.placements:
        return []
    segments = "".join(f"<li><code>{text(d)}</code></li>" for d in about.delegates)
    rows = [
        (p.delegate, p.op_type, p.name, Number(p.macs, f"{p.macs:,}"), p.reason)
        for p in about.placements
    ]
    return [
        f"<h2>Placement</h2><ul>{segments}</ul>",
        table(["where", "operator", "node", "#multiply-adds", "reason"], rows),
    ]


def _method(method: MethodFacts, number: int) -> list[str]:
    plan = method.plan
    peak = method.instrs[plan.peak] if method.instrs else None
    rows: list[tuple[str, object]] = [
        ("planned memory", size(plan.total_bytes)),
        ("live-bytes bound", size(plan.live_bytes)),
        ("ratio", f"{plan.total_bytes / max(plan.live_bytes, 1):.3f}"),
        ("states", size(plan.state_bytes)),
        ("instructions", len(method.instrs)),
    ]
    if peak is not None:
        rows.append(("peak at", f"#{peak.index} {peak.node or peak.op}"))
    return [
        f"<h2>Method {text(method.name)}</h2>",
        _ports(method, plan),
        facts(rows),
        "<h3>Memory plan</h3>",
        f"<div class='plan large'>{picture(plan, method.instrs)}</div>",
        f"<div class='plan small'>{picture(plan, method.instrs, PHONE)}</div>",
        _detail(plan, method.instrs),
        "<p class=soft>Across: instructions. Up: bytes of the arena. A box is a value from its first to its last use. "
        "The dashed line is where most bytes are alive.</p>",
        *graph(method, number),
        "<h3>Instructions by module</h3>",
        outline(
            modules(method.instrs, lambda r: r.module),
            lambda r: _step(r, number),
            _sum,
            unfold=len(method.instrs) <= 30,
        ),
        "<h3>Instructions</h3>",
        table(
            ["#", "operator", "#bytes", "result", "weight", "node", "source"],
            [_row(r, number) for r in method.instrs],
        ),
    ]


def _most(size: int) -> Number:
    return Number(size, "any" if size >= HUGE else str(size))


def _ports(method: MethodFacts, plan: Plan) -> str:
    """Inputs, outputs and states; many states are folded."""
    kinds = [(kind, (kind, p.name, p.dtype, code(p.shape_text))) for kind, p in method.ports]
    states = [row for kind, row in kinds if kind == "state"]
    heads = ["kind", "name", "dtype", "shape"]
    if len(states) <= FEW:
        return table(heads, [row for _, row in kinds])
    folded = f"<details><summary>{len(states)} states, {size(plan.state_bytes)}</summary>{table(heads, states)}</details>"
    return table(heads, [row for kind, row in kinds if kind != "state"]) + folded


def _detail(plan: Plan, instrs: tuple[InstrRow, ...]) -> str:
    """The picture again, so wide that boxes have room for names, where there are many instructions."""
    width = STEP * len(instrs)
    if width <= WIDTH:
        return ""
    drawn = picture(plan, instrs, min(width, WIDEST))
    return f"<details><summary>The plan with names</summary><div class='wide plan'>{drawn}</div></details>"


def _sum(rows: list[InstrRow]) -> str:
    return f"{several(len(rows), 'instruction')}, writes {size(sum(r.bytes for r in rows))}"


def _row(row: InstrRow, method: int) -> tuple[Cell, ...]:
    at = Markup(f"<a href='#m{method}i{row.index}'>{'&emsp;' * row.depth}{text(row.op)}</a>")
    return (
        row.index,
        at,
        Number(row.bytes, size(row.bytes)),
        code(row.result),
        " ".join(filter(None, (row.weight, row.tuned))),
        row.node,
        place(row.source),
    )


def _step(row: InstrRow, method: int) -> str:
    """One instruction of the outline, with links to those that it reads from."""
    read = ", ".join(
        f"<a href='#m{method}i{r}'>#{r}</a>" if isinstance(r, int) else f"{text(r)}"
        for r in row.reads
    )
    name = row.node.rpartition("/")[2] if row.module else row.node
    return (
        f"<div class=step id=m{method}i{row.index}>#{row.index} <b>{text(row.op)}</b> "
        f"{code(row.result)} <span class=soft>{text(' '.join(filter(None, (row.weight, row.tuned, name))))}"
        f"{f' &larr; {read}' if read else ''}</span></div>"
    )


def picture(plan: Plan, instrs: tuple[InstrRow, ...], wide: int = WIDTH) -> str:
    """The plan as SVG: time across, arena offsets up. Boxes have names where these fit, and in their titles."""
    steps, total = len(instrs), plan.total_bytes
    across = (wide - LEFT - 8) / max(steps, 1)
    up = (HEIGHT - BOTTOM - TOP) / max(total, 1)
    grown = f' style="width: {wide}px"' if wide > WIDTH else ""
    parts = [f'<svg viewBox="0 0 {wide} {HEIGHT}"{grown} role="img" aria-label="memory plan">']
    for i in range(5):
        y = HEIGHT - BOTTOM - i / 4 * total * up
        parts.append(f'<text x="4" y="{y + 4:.1f}">{size(total * i // 4)}</text>')
        parts.append(
            f'<line x1="{LEFT}" x2="{wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
        )
    for number, p in enumerate(plan.placed):
        x, width = LEFT + p.begin * across, max((p.end - p.begin + 1) * across, 1)
        y, height = HEIGHT - BOTTOM - (p.offset + p.bytes) * up, max(p.bytes * up, 0.5)
        title = text(f"{p.name}: {size(p.bytes)} at {p.offset}, instructions {p.begin} to {p.end}")
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
            f'fill="hsl({number * 137 % 360} 55% 68%)" stroke="var(--card)" stroke-width=".7"><title>{title}</title></rect>'
        )
        parts.append(_label(p.name, x, y, width, height))
    for i in range(0, steps, max(1, steps * 110 // wide)):
        if (x := LEFT + i * across) < wide - 24:
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 8}">{i}</text>')
    return "".join(parts) + _peak(plan, instrs, across, wide) + "</svg>"


def _label(name: str, x: float, y: float, width: float, height: float) -> str:
    """The name within its box, across, or upwards where that shows more of it; nothing where there is no room."""
    across = fitting(name, int((width - 8) / LETTER)) if height >= 14 else ""
    upwards = fitting(name, int((height - 8) / LETTER)) if width >= 14 else ""
    if across and len(across) >= len(upwards):
        return (
            f'<text class="name" x="{x + 4:.1f}" y="{y + height / 2 + 4:.1f}">{text(across)}</text>'
        )
    if not upwards:
        return ""
    right, bottom = x + width / 2 + 4, y + height - 4
    return (
        f'<text class="name" transform="translate({right:.1f} {bottom:.1f}) rotate(-90)">'
        f"{text(upwards)}</text>"
    )


def _peak(plan: Plan, instrs: tuple[InstrRow, ...], across: float, wide: int) -> str:
    if not instrs or not plan.live_bytes:
        return ""
    x = LEFT + (plan.peak + 0.5) * across
    row = instrs[plan.peak]
    label = f"peak {size(plan.live_bytes)} at #{row.index}"
    room = int((max(x, wide - x) - 8) / BOLD) - len(label) - 1
    label = f"{label} {fitting(row.node or row.op, min(room, 48))}".rstrip()
    anchor, dx = ("end", -6) if x > wide / 2 else ("start", 6)
    return (
        f'<line class="peak" x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="{HEIGHT - BOTTOM}"/>'
        f'<text class="peaktext" x="{x + dx:.1f}" y="18" text-anchor="{anchor}">{text(label)}</text>'
    )


def fitting(name: str, letters: int) -> str:
    """A name in that many letters: without its operator, then by the innermost modules alone; nothing where none fits."""
    if len(name) <= letters:
        return name
    module = name.rpartition("/")[0] or name
    words = module.split(".")
    for first in range(len(words)):
        shown = ("…" if first else "") + ".".join(words[first:])
        if len(shown) <= letters:
            return shown
    return ""
