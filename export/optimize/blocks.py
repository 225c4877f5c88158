"""Blocks of convolutions as one instruction, whose steps between are never in memory as a whole.

    conv of one pixel => conv_depthwise => conv of one pixel    becomes conv_block

where each is the only reader of the one before, with constant f32 weights, nothing but relu or relu6 behind the first two, and
as many windows as the sizes that are known at export make worth it. The first one may be missing. The bits stay.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from ..program import Instr, terms
from ..program.draft import Draft
from ..program.terms import Term, read_terms

LEAST_BYTES: Final = 1 << 20
"""Of what is between, all images: with fewer it stays in a core's cache from one instruction to the next."""

FIRST_X: Final = 3


def join_blocks(draft: Draft, block: int) -> None:
    for at in range(len(draft.blocks[block])):
        last = draft.blocks[block][at]
        if last is None or not _is_pixel(draft, last):
            continue
        middle = _before(draft, block, at)
        i = None if middle is None else draft.blocks[block][middle]
        if middle is None or i is None or not _is_window(draft, i):
            continue
        first = _before(draft, block, middle)
        e = None if first is None else draft.blocks[block][first]
        if e is not None and not (_is_pixel(draft, e) and _limits(e) and pays(draft, e)):
            e = None
        if e is None and not pays(draft, i):
            continue
        draft.put(block, middle, None)
        if e is not None and first is not None:
            draft.put(block, first, None)
        draft.put(block, at, _joined(e, i, last))


def pays(draft: Draft, i: Instr) -> bool:
    """Whether what `i` writes is large."""
    (y,) = i.outputs
    assert y is not None
    size = 4
    for axis, extent in enumerate(draft.values[y].shape):
        if not isinstance(extent, int) and axis > 0:
            return False
        size *= extent if isinstance(extent, int) else 1
    return size >= LEAST_BYTES


def _before(draft: Draft, block: int, at: int) -> int | None:
    """The position that makes what the instruction at `at` reads, for it alone, if all of that could be done there."""
    i = draft.blocks[block][at]
    assert i is not None
    x = i.inputs[0]
    assert x is not None
    if draft.values[x].storage != "planned" or not draft.only_user(x, block, at):
        return None
    source = draft.only_writer(x, block)
    if source is None or source >= at or not draft.may_move(block, source, at):
        return None
    return source if list(i.inputs).count(x) == 1 else None


def _is_pixel(draft: Draft, i: Instr) -> bool:
    """A conv of two axes and of one pixel."""
    a = i.attrs
    if i.op != "conv" or len(a["kernel"]) != 2 or a.get("groups", 1) != 1:
        return False
    ones = (a[key] for key in ("kernel", "stride", "spread"))
    zeros = (a[key] for key in ("begin", "end"))
    return (
        all(n == 1 for part in ones for n in part)
        and all(n == 0 for part in zeros for n in part)
        and _is_plain(draft, i)
    )


def _is_window(draft: Draft, i: Instr) -> bool:
    """A conv_depthwise of as many taps down as across."""
    a = i.attrs
    if i.op != "conv_depthwise" or len(a["kernel"]) != 2 or tuple(a["dilation"]) != (1, 1):
        return False
    square = all(a[key][0] == a[key][1] for key in ("kernel", "stride", "begin"))
    within = a["kernel"][0] <= 255 and a["stride"][0] <= 255 and 0 <= a["begin"][0] <= 255
    return square and within and _limits(i) != "" and _is_plain(draft, i)


def _is_plain(draft: Draft, i: Instr) -> bool:
    """By a constant f32 weight, to a dense result."""
    w, (y,) = i.inputs[1], i.outputs
    assert w is not None and y is not None
    base = draft.values[draft.base(w)]
    if base.storage != "constant" or base.dtype != "f32" or draft.values[y].storage == "view":
        return False
    return draft.program.constants[base.base].coded is None


def _limits(i: Instr) -> str:
    """The word of conv_block for what follows the sums; "": none says it."""
    steps = i.attrs.get("steps") or ()
    made = read_terms(steps)[0] if steps else terms.load(0, "f32")
    return next((word for word, t in _words().items() if t is made), "")


def _words() -> dict[str, Term]:
    y = terms.load(0, "f32")
    low = terms.term("max", y, 0.0)
    return {"none": y, "relu": low, "relu6": terms.term("min", low, 6.0)}


def _joined(first: Instr | None, middle: Instr, last: Instr) -> Instr:
    bias = [None if i is None else (*i.inputs, None)[2] for i in (first, middle, last)]
    x, expand = (middle.inputs[0], None) if first is None else first.inputs[:2]
    inputs = (x, expand, last.inputs[1], middle.inputs[1], *bias, *last.inputs[FIRST_X:])
    a = middle.attrs
    attrs = {key: a[key][0] for key in ("kernel", "stride", "begin")}
    attrs |= {"first": "none" if first is None else _limits(first), "second": _limits(middle)}
    attrs |= {"steps": last.attrs.get("steps", ())}
    return dataclasses.replace(last, op="conv_block", inputs=inputs, attrs=attrs)
