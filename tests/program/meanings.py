"""Programs of which one thing means something else: a dtype, a rank, an extent, a stride, an operand, an attribute, a step.

Where mutate.py changes bytes, this changes what the dataclasses say, so that most copies reach the rules behind the first.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any, Final

from pteron.export.program import Instr, Program
from pteron.schema.layout import DType, Layout, Storage
from pteron.schema.ops import OPS
from pteron.schema.signature import signature
from pteron.schema.steps import STEPS, TYPES, Step

EXTENTS: Final = (0, 1, 2, 3, 7, -1, 2**31, 2**50)
NUMBERS: Final = (-1, 0, 1, 2, 3, 8, 9, 2**31, 2**63 - 1, -(2**63))
DTYPES: Final = tuple(d.name.lower() for d in DType)
Edit = Callable[[Program, random.Random], Program]


def changed(program: Program, rng: random.Random) -> Program:
    """A copy with one to two changes."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        program = rng.choice(EDITS)(program, rng)
    return program


def _value(program: Program, rng: random.Random, **what: Any) -> Program:
    at = rng.randrange(len(program.values))
    return _with_value(program, at, what)


def _with_value(program: Program, at: int, what: dict[str, Any]) -> Program:
    values = list(program.values)
    values[at] = dataclasses.replace(values[at], **what)
    return dataclasses.replace(program, values=tuple(values))


def dtype(program: Program, rng: random.Random) -> Program:
    return _value(program, rng, dtype=rng.choice(DTYPES))


def extent(program: Program, rng: random.Random) -> Program:
    at = rng.randrange(len(program.values))
    shape = list(program.values[at].shape)
    if not shape:
        return program
    axis = rng.randrange(len(shape))
    shape[axis] = rng.choice((*EXTENTS, shape[axis] + 1, *shape))
    return _with_value(program, at, {"shape": tuple(shape)})


def rank(program: Program, rng: random.Random) -> Program:
    at = rng.randrange(len(program.values))
    shape = program.values[at].shape
    new = rng.choice((shape[1:], shape[:-1], (*shape, 1), (1, *shape), shape * 3, (1,) * 9))
    return _with_value(program, at, {"shape": new})


def geometry(program: Program, rng: random.Random) -> Program:
    """Strides and offset of a view."""
    views = [i for i, v in enumerate(program.values) if v.storage == "view"]
    if not views:
        return view(program, rng)
    at = rng.choice(views)
    v = program.values[at]
    if rng.random() < 0.3:
        return _with_value(program, at, {"offset": v.offset + rng.choice((-1, 1, 12, 2**40))})
    strides = list(v.strides or [1] * len(v.shape))
    if strides:
        strides[rng.randrange(len(strides))] = rng.choice((-1, 0, 1, 2, 3, 2**62))
    return _with_value(program, at, {"strides": tuple(strides)})


def view(program: Program, rng: random.Random) -> Program:
    """A value becomes a view of another: what it was written to and read from may now meet."""
    at, base = rng.randrange(len(program.values)), rng.randrange(len(program.values))
    shape = program.values[at].shape
    strides = rng.choice((None, tuple(rng.choice((0, 1, 2, 4)) for _ in shape)))
    what = {"storage": "view", "base": base, "strides": strides, "above": ()}
    return _with_value(program, at, {**what, "offset": rng.choice((0, 0, 1))})


def storage(program: Program, rng: random.Random) -> Program:
    kinds = [s.name.lower() for s in Storage]
    return _value(program, rng, storage=rng.choice(kinds), base=rng.choice((0, 0, 1)))


def kind(program: Program, rng: random.Random) -> Program:
    layouts = [s.name.lower() for s in Layout]
    what = rng.choice(
        ({"layout": rng.choice(layouts)}, {"groups": rng.choice((0, 2, 3))}, {"format": "i4"})
    )
    return _value(program, rng, **what)


def above(program: Program, rng: random.Random) -> Program:
    return _value(program, rng, above=(rng.randrange(len(program.values)),))


def constant(program: Program, rng: random.Random) -> Program:
    if not program.constants:
        return extent(program, rng)
    at = rng.randrange(len(program.constants))
    c = program.constants[at]
    shape = tuple(n + rng.choice((0, 1)) for n in c.shape)
    what = rng.choice(
        ({"dtype": rng.choice(DTYPES)}, {"groups": 2}, {"shape": shape}, {"format": "nf4"})
    )
    new = (*program.constants[:at], dataclasses.replace(c, **what), *program.constants[at + 1 :])
    return dataclasses.replace(program, constants=new)


def state(program: Program, rng: random.Random) -> Program:
    if not program.states:
        return extent(program, rng)
    at = rng.randrange(len(program.states))
    what = rng.choice(
        ({"dtype": rng.choice(DTYPES)}, {"initial": rng.choice((0, 3))}, {"shape": ()})
    )
    new = list(program.states)
    new[at] = dataclasses.replace(new[at], **what)
    return dataclasses.replace(program, states=tuple(new))


def dim(program: Program, rng: random.Random) -> Program:
    if not program.dims:
        return extent(program, rng)
    at = rng.randrange(len(program.dims))
    what = rng.choice(
        ({"min": rng.choice(NUMBERS)}, {"max": rng.choice(NUMBERS)}, {"hint": rng.choice(NUMBERS)},
         {"kind": rng.choice(("symbolic", "counted", "shape"))}, {"port": rng.choice((0, 1, 9))})
    )  # fmt: skip
    new = list(program.dims)
    new[at] = dataclasses.replace(new[at], **what)
    return dataclasses.replace(program, dims=tuple(new))


# --- instructions and blocks --------------------------------------------------------------------------------------


def _instr(program: Program, rng: random.Random, change: Callable[[Instr], Instr]) -> Program:
    blocks = [b for b, block in enumerate(program.blocks) if block.instrs]
    b = rng.choice(blocks)
    instrs = list(program.blocks[b].instrs)
    at = rng.randrange(len(instrs))
    instrs[at] = change(instrs[at])
    return _with_block(program, b, {"instrs": tuple(instrs)})


def _with_block(program: Program, at: int, what: dict[str, Any]) -> Program:
    blocks = list(program.blocks)
    blocks[at] = dataclasses.replace(blocks[at], **what)
    return dataclasses.replace(program, blocks=tuple(blocks))


def _refs(refs: tuple[Any, ...], count: int, rng: random.Random) -> tuple[Any, ...]:
    new = rng.randrange(count)
    if not refs or rng.random() < 0.2:
        return (*refs, new)
    at = rng.randrange(len(refs))
    less = refs[:at] + refs[at + 1 :]
    return rng.choice(
        (less, (*refs[:at], new, *refs[at + 1 :]), (*refs[:at], None, *refs[at + 1 :]))
    )


def operand(program: Program, rng: random.Random) -> Program:
    side = rng.choice(("inputs", "outputs"))
    count = len(program.values)
    return _instr(
        program,
        rng,
        lambda i: dataclasses.replace(i, **{side: _refs(getattr(i, side), count, rng)}),
    )


def operator(program: Program, rng: random.Random) -> Program:
    names = [n for n, row in OPS.items() if signature(row).has_defaults]
    return _instr(program, rng, lambda i: dataclasses.replace(i, op=rng.choice(names), attrs={}))


def attribute(program: Program, rng: random.Random) -> Program:
    def change(i: Instr) -> Instr:
        attrs = dict(i.attrs)
        rows = [a for a in signature(OPS[i.op]).attrs if a.kind != "steps"]
        if not rows:
            return i
        a = rng.choice(rows)
        attrs[a.name] = _attribute(a.kind, a.values, attrs.get(a.name, a.default), rng)
        return dataclasses.replace(i, attrs=attrs)

    return _instr(program, rng, change)


def _attribute(kind: str, values: tuple[str, ...], old: Any, rng: random.Random) -> Any:
    match kind:
        case "enum":
            return rng.choice(values)
        case "bool":
            return not old
        case "float":
            return rng.choice((0.0, -1.0, 1e30, float("nan"), float("inf")))
        case "ints" | "dims":
            items = list(old or ())
            more = [*items, 1]
            if items:
                items[rng.randrange(len(items))] = rng.choice(NUMBERS)
            return tuple(rng.choice((items, items[1:], more)))
        case "floats":
            return tuple(old or ())[1:]
        case "block":
            return rng.choice((0, 1, 2, 3))
        case _:
            return rng.choice(NUMBERS)


def steps(program: Program, rng: random.Random) -> Program:
    def change(i: Instr) -> Instr:
        old: tuple[Step, ...] = i.attrs.get("steps", ())
        if not old:
            return i
        at = rng.randrange(len(old))
        new = (*old[:at], _step(old[at], rng), *old[at + 1 :])
        new = rng.choice((new, new, new, old[:at] + old[at + 1 :], (*old, old[at])))
        return dataclasses.replace(i, attrs={**i.attrs, "steps": new})

    return _instr(program, rng, change)


def _step(s: Step, rng: random.Random) -> Step:
    what: dict[str, Any] = rng.choice(
        ({"type": rng.choice(TYPES)}, {"dst": rng.choice((0, 1, 2, 15, 16))},
         {"args": tuple(rng.choice((0, 1, 2, 3, 15)) for _ in s.args)},
         {"op": rng.choice(tuple(STEPS))})
    )  # fmt: skip
    if s.op in ("load", "store", "index") and rng.random() < 0.4:
        what = {"arg": rng.choice((0, 1, 2, 3, 60000))}
    if "op" in what:
        arity = STEPS[what["op"]].arity
        what["args"] = (*s.args, 0, 0, 0)[:arity]
        arg: Any = rng.choice((0, 1))
        if what["op"] in ("round", "wrap"):
            arg = rng.choice(("f16", "bf16", "i8", "f32", "bool"))
        what |= {"arg": arg, "source": rng.choice(TYPES) if what["op"] == "cast" else ""}
    return dataclasses.replace(s, **what)


def block(program: Program, rng: random.Random) -> Program:
    at = rng.randrange(len(program.blocks))
    side = rng.choice(("params", "results"))
    refs = tuple(
        v
        for v in _refs(getattr(program.blocks[at], side), len(program.values), rng)
        if v is not None
    )
    return _with_block(program, at, {side: refs})


EDITS: Final[tuple[Edit, ...]] = (
    dtype, extent, extent, rank, rank, geometry, geometry, view, storage, kind, above, constant, state, dim,
    operand, operand, operator, attribute, attribute, steps, steps, block,
)  # fmt: skip
