"""What every page is made of: the frame with its style and script, facts, tables that sort, modules that fold.

A page is one file: no other is loaded, and without script all of it is there, only unsorted. Texts come in as they are and are
escaped here; what is HTML already is `Markup`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final, Generic, TypeVar

T = TypeVar("T")


class Markup(str):
    """HTML; any other text is escaped."""

    __slots__ = ()


STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5f6772; --line: #d8dce3; --paper: #fff; --card: #f4f5f8; --bar: #2563eb; --bad: #c2410c }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --soft: #9aa1ad; --line: #343a45; --paper: #14161a; --card: #1c1f25; --bar: #5b8def; --bad: #f0814a } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 1140px; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1.5rem 0 .4rem }
p { overflow-wrap: anywhere } .soft { color: var(--soft) } pre { white-space: pre-wrap; overflow-wrap: anywhere }
a { color: inherit } .bad { color: var(--bad) }
.facts { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
.fact { background: var(--card); border-radius: 8px; padding: .4rem .8rem } .fact b { display: block; font-size: 1.05rem; overflow-wrap: anywhere }
.wide { overflow-x: auto; max-width: 100% }
table { border-collapse: collapse; width: 100%; font-size: 13px } th { text-align: left; color: var(--soft); font-weight: 500; white-space: nowrap }
td, th { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top } td { overflow-wrap: break-word; max-width: 30rem }
th[aria-sort] { cursor: pointer } th[aria-sort]::after { content: " \\2195"; opacity: .45 }
th[aria-sort=ascending]::after { content: " \\2191"; opacity: 1 } th[aria-sort=descending]::after { content: " \\2193"; opacity: 1 }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; min-width: 0 }
code { font: 12px ui-monospace, monospace }
.bar { display: inline-block; height: .7em; min-width: 1px; background: var(--bar); border-radius: 2px; margin-right: .5em } .bar.bad { background: var(--bad) }
.plan.small { display: none }
.bars { width: 34% ; min-width: 9rem; white-space: nowrap }
details { border-left: 2px solid var(--line); margin: .15rem 0; padding-left: .7rem } summary { cursor: pointer; overflow-wrap: anywhere; padding: .1rem 0 }
.step { padding: .1rem 0 .1rem 1rem; font-size: 13px; overflow-wrap: anywhere } .step:target { background: var(--card) }
.plan svg { width: 100%; min-width: 760px; height: auto; background: var(--card); border-radius: 8px; display: block }
.plan text { font: 13px system-ui, sans-serif; fill: var(--soft) } .plan .name { fill: #111; font-size: 12px; pointer-events: none }
.plan .peak { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 4 } .plan .peaktext { fill: var(--bad); font-weight: 600 }
.plan rect:hover { stroke: var(--ink); stroke-width: 1.5 }
@media (max-width: 600px) { body { margin: 1rem auto; padding: 0 .7rem } .fact { padding: .3rem .6rem } td, th { padding-right: .6rem; white-space: nowrap } td wbr { display: none } td.bars { min-width: 8rem }
  td.name { white-space: normal; min-width: 8.5rem } td.name wbr { display: inline } .plan.large { display: none } .plan.small { display: block } .plan.small svg { min-width: 0 } }
"""

SCRIPT: Final = """
document.addEventListener('click', e => { const h = e.target.closest('th[aria-sort]'); if (h) sort(h) })
document.addEventListener('keydown', e => { const h = e.target.closest('th[aria-sort]'); if (h && e.key == 'Enter') sort(h) })
function sort(head) {
  const up = head.ariaSort != 'ascending', at = head.cellIndex, body = head.closest('table').tBodies[0]
  for (const other of head.parentNode.cells) if (other.ariaSort) other.ariaSort = 'none'
  head.ariaSort = up ? 'ascending' : 'descending'
  const key = row => { const c = row.cells[at]; return c.dataset.v === undefined ? c.textContent : +c.dataset.v }
  const order = (a, b) => typeof a == 'number' && typeof b == 'number' ? a - b : String(a).localeCompare(String(b), undefined, {numeric: true})
  body.append(...[...body.rows].sort((a, b) => order(key(a), key(b)) * (up ? 1 : -1)))
}
addEventListener('hashchange', show); show()
function show() {
  const target = location.hash && document.getElementById(location.hash.slice(1))
  for (let e = target && target.parentElement; e; e = e.parentElement) if (e.tagName == 'DETAILS') e.open = true
  if (target) target.scrollIntoView({block: 'center'})
}
"""


def page(
    title: str, body: Iterable[str], about: str = "", *, style: str = "", script: str = ""
) -> str:
    """A whole page with `title` as its heading. `style`, `script`: what its parts need beyond that of every page."""
    below = f"<p class=soft>{escape(about)}</p>" if about else ""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style>"
        f"<h1>{escape(title)}</h1>{below}{''.join(body)}<script>{SCRIPT}{script}</script></html>\n"
    )


def text(value: object) -> Markup:
    return Markup(escape(str(value)))


def code(value: object) -> Markup:
    return Markup(f"<code>{escape(str(value))}</code>")


def place(source: str) -> Markup:
    """A line of source by its file's name; the whole path is what a pointer that rests on it reads."""
    short = source.rpartition("/")[2]
    if short == source:
        return text(source)
    return Markup(f"<span title='{escape(source)}'>{broken(short)}</span>")


def facts(rows: Iterable[tuple[str, object]]) -> Markup:
    """Cards: what, and how much."""
    cards = (
        f"<div class=fact><span class=soft>{escape(what)}</span><b>{broken(str(value))}</b></div>"
        for what, value in rows
    )
    return Markup(f"<div class=facts>{''.join(cards)}</div>")


@dataclasses.dataclass(frozen=True, slots=True)
class Number:
    """A cell that sorts by `value` and shows `shown`, with a bar of `share` of the column where there is one."""

    value: float
    shown: str
    share: float | None = None
    bad: bool = False


def lasting(ms: float) -> str:
    """A time in the unit that it has digits in."""
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    return f"{ms:.3g} ms" if ms >= 0.1 else f"{ms * 1e3:.3g} \u00b5s"


WORD: Final = 16
"""Letters of a text that stays on one line."""

Cell = Markup | Number | str | int


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Markup:
    """A table that sorts by any column; a head that starts with `#` is of numbers. Columns without a word are left out."""
    rows = list(rows)
    kept = [i for i in range(len(heads)) if not rows or any(row[i] != "" for row in rows)]
    top = "".join(
        f"<th aria-sort=none tabindex=0{' class=n' if h.startswith('#') else ''}>{escape(h.removeprefix('#') or '#')}"
        for h in (heads[i] for i in kept)
    )
    body = "".join(f"<tr>{''.join(_cell(row[i]) for i in kept)}" for row in rows)
    return Markup(f"<div class=wide><table><thead><tr>{top}<tbody>{body}</table></div>")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Number):
        if cell.share is None:
            return f"<td class=n data-v={cell.value!r}>{escape(cell.shown)}"
        kind = "bar bad" if cell.bad else "bar"
        width = min(max(cell.share, 0.0), 1.0) * 48
        return f"<td class=bars data-v={cell.value!r}><span class='{kind}' style='width:{width:.1f}%'></span>{escape(cell.shown)}"
    if isinstance(cell, int):
        return f"<td class=n data-v={cell}>{cell}"
    if isinstance(cell, Markup):
        return f"<td>{cell}"
    kind = " class=name" if len(cell) > WORD else ""
    return f"<td{kind}>{broken(cell)}"


def broken(name: str) -> Markup:
    """A name that a line may break between its parts, where it is longer than a word."""
    if len(name) <= WORD:
        return text(name)
    return Markup(re.sub(r"([./_])", r"\1<wbr>", escape(name)))


@dataclasses.dataclass(slots=True)
class Module(Generic[T]):
    """What belongs to one module, in order: rows of its own, and modules within."""

    name: str
    parts: list[Module[T] | T] = dataclasses.field(default_factory=list)
    inner: dict[str, Module[T]] = dataclasses.field(default_factory=dict)

    def rows(self) -> Iterable[T]:
        for part in self.parts:
            if isinstance(part, Module):
                yield from part.rows()
            else:
                yield part


def modules(rows: Iterable[T], path: Callable[[T], str]) -> Module[T]:
    """Rows by the dotted path of their module; each module stands where its first row does."""
    top: Module[T] = Module("")
    for row in rows:
        here = top
        for name in filter(None, path(row).split(".")):
            if name not in here.inner:
                here.inner[name] = Module(name)
                here.parts.append(here.inner[name])
            here = here.inner[name]
        here.parts.append(row)
    return top


def outline(
    module: Module[T],
    step: Callable[[T], str],
    about: Callable[[list[T]], str],
    *,
    unfold: bool = False,
) -> Markup:
    """Modules that fold. `step` is the HTML of a row, `about` a text on the rows of a module; `unfold`: all open."""
    made = []
    for part in module.parts:
        if not isinstance(part, Module):
            made.append(f"{step(part)}")
            continue
        name, inner = part.name, part
        while len(inner.parts) == 1 and isinstance(inner.parts[0], Module):
            inner = inner.parts[0]
            name += f".{inner.name}"
        opened = " open" if unfold or len(module.parts) < 4 else ""
        made.append(
            f"<details{opened}><summary><b>{escape(name)}</b> <span class=soft>{escape(about(list(part.rows())))}</span>"
            f"</summary>{outline(inner, step, about, unfold=unfold)}</details>"
        )
    return Markup("".join(made))
