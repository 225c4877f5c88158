"""Keys of a context in panels, as attention reads them: 16 tokens side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..program import PANEL_TOKENS, Instr, Program, State, Value


def keys_in_panels(program: Program) -> Program:
    """state [1, g, t, d] -> tensor_scatter -> k of attention  =>  state [1, g, t / 16, d, 16] -> panel_scatter -> k.

    Requires: the state's rows are of tokens, a whole number of panels of them, from zeros; it is written in place, and what
    is written is read by attention alone. Others stay: the bits are the same.
    """
    moved = {i for i, state in enumerate(program.states) if _fits(state)}
    values = {i: v.base for i, v in enumerate(program.values) if v.storage == "state"}
    written = {
        i: values[v.base]
        for i, v in enumerate(program.values)
        if v.storage == "view" and v.base in values and _is_whole(v, program.values[v.base])
    }
    places = values | written
    for block in program.blocks:
        for instr in block.instrs:
            moved -= set(_others(instr, values, written))
        moved -= {places[v] for v in (*block.params, *block.results) if v in places}
    for i, value in enumerate(program.values):
        base = value.base
        if value.storage == "view" and base in places and i not in written:
            moved.discard(places[base])
    for method in program.methods:
        ports = (*method.inputs, *method.outputs)
        moved -= {places[p.value] for p in ports if p.value in places}
    if not moved:
        return program
    states = tuple(_panels(s) if i in moved else s for i, s in enumerate(program.states))
    new_values = tuple(
        dataclasses.replace(v, shape=states[places[i]].shape) if places.get(i) in moved else v
        for i, v in enumerate(program.values)
    )
    blocks = tuple(
        dataclasses.replace(b, instrs=tuple(_scatter(i, places, moved) for i in b.instrs))
        for b in program.blocks
    )
    return dataclasses.replace(program, states=states, values=new_values, blocks=blocks)


def _fits(s: State) -> bool:
    sizes = all(isinstance(n, int) for n in s.shape)
    return (
        s.role == "tokens"
        and (s.axis, len(s.shape), s.initial) == (2, 4, None)
        and s.dtype in ("f32", "f16", "f8e4m3", "i8")
        and sizes
        and int(s.shape[2]) % PANEL_TOKENS == 0
    )


def _panels(s: State) -> State:
    batch, heads, tokens, size = s.shape
    return dataclasses.replace(
        s, shape=(batch, heads, int(tokens) // PANEL_TOKENS, size, PANEL_TOKENS), role="panels"
    )


def _is_whole(view: Value, of: Value) -> bool:
    return view.strides is None and view.offset == 0 and view.shape == of.shape


def _others(instr: Instr, values: dict[int, int], written: dict[int, int]) -> Iterator[int]:
    """States that the instruction reads or writes in another way than a cache of keys is."""
    places = values | written
    scatters = (
        instr.op == "tensor_scatter" and instr.inputs[0] in values and instr.outputs[0] in written
    )
    scatters = scatters and len(instr.inputs) > 2 and instr.inputs[2] is not None
    scatters = scatters and values[instr.inputs[0] or 0] == written[instr.outputs[0] or 0]
    for i, v in enumerate(instr.inputs):
        attends = instr.op == "attention" and i == 1 and v in written
        if v in places and not attends and not (i == 0 and scatters):
            yield places[v]
    for v in instr.outputs:
        if v in places and not scatters:
            yield places[v]


def _scatter(instr: Instr, places: dict[int, int], moved: set[int]) -> Instr:
    if instr.op != "tensor_scatter" or places.get(instr.inputs[0] or 0) not in moved:
        return instr
    return dataclasses.replace(instr, op="panel_scatter")
