"""A method's graph as a picture that folds by module: its data, which graph.js lays out and draws where the page is read."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from typing import Final

from ...reports.template import Markup
from ..describe import InstrRow, MethodFacts

MOST: Final = 5000
"""Instructions that a browser lays out at once; of more, the outline tells."""

BLOCKS: Final = {"delegate": "fallback", "if": "branches"}
"""What the blocks of an instruction are to a reader; of all others they are its body."""

STYLE: Final = """
.graph { overflow: auto; max-width: 100%; max-height: 85vh; background: var(--card); border-radius: 8px; padding: .6rem }
.graph svg { display: block; margin: 0 auto; font: 13px system-ui, sans-serif }
.graph rect { fill: var(--paper); stroke: var(--line) } .graph text { fill: var(--ink); pointer-events: none } .graph .title { font-weight: 600 }
.graph .over { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round } .graph .about { fill: var(--soft); font-size: 11px } .graph .shut rect { stroke: var(--bar); stroke-width: 1.5 } .graph .open > rect { fill: var(--bar); fill-opacity: .05; stroke: var(--bar); stroke-opacity: .5 }
.graph .port rect { fill: var(--card); stroke: var(--soft) } .graph .shut, .graph .open, .graph .leaf { cursor: pointer }
.graph .leaf:hover rect, .graph .shut:hover rect, .graph g:focus-visible > rect { stroke: var(--ink); stroke-width: 2 } .graph g:focus { outline: none }
.graph path { fill: none; stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.3; pointer-events: none } .graph path.hot { stroke: var(--bad); stroke-opacity: 1; stroke-width: 2 }
.buttons { margin: .4rem 0 } .buttons button { font: inherit; font-size: 13px; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .7rem; margin-right: .5rem; cursor: pointer }
"""


def graph(method: MethodFacts, number: int) -> list[str]:
    """The picture; nothing of a method that is too large for one."""
    if not 0 < len(method.instrs) <= MOST:
        return []
    data = {
        "method": number,
        "inputs": [p.name for p in method.inputs],
        "states": [p.name for p in method.states],
        "outputs": [[p.name, made] for p, made in zip(method.outputs, method.makers, strict=True)],
        "instrs": [
            [r.op, r.result, path, r.node, r.bytes, list(r.reads)]
            for r, path in zip(method.instrs, paths(method.instrs), strict=True)
        ],
    }
    return [
        "<h3>Graph</h3>",
        "<p class=soft>A click on a module unfolds or folds it, on an instruction shows it in the list below.</p>",
        Markup("<div class=buttons></div>"),
        Markup(
            f"<div class=graph><script type='application/json'>{_inert(data)}</script><svg></svg></div>"
        ),
    ]


def paths(instrs: Sequence[InstrRow]) -> list[str]:
    """The box that each instruction lies in: its module, and of a block what runs it, with the modules inside."""
    out: list[str] = []
    for row in instrs:
        if row.within is None:
            out.append(row.module)
            continue
        outer = instrs[row.within]
        inside = "" if row.module == outer.module else row.module.removeprefix(f"{outer.module}.")
        block = f"{BLOCKS.get(outer.op, 'body')} of #{outer.index}"
        out.append(".".join(filter(None, [out[row.within], block, inside])))
    return out


def script() -> str:
    """What draws all graphs of a page; it comes last."""
    return importlib.resources.files(__package__).joinpath("graph.js").read_text("utf-8")


def _inert(data: object) -> str:
    """JSON that ends no script and begins no comment, whatever names say."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
