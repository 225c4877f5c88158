"""Several programs become the methods of one: constants shared by content, states and dimensions by name.

Every method keeps its own values, blocks and nodes; indices are shifted. Symbols are joined by name.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

from pteron.export.program import NONE, Block, Constant, Dim, Instr, Program, State, Value
from pteron.schema.errors import ModelError

BLOCK_ATTRS = ("then_block", "else_block", "body")


def merge(programs: Sequence[Program]) -> Program:
    """One program with the methods of all, in order; each program has methods of other names.

    Raises:
        ModelError: a state or a dimension of one name means different things in two methods.
    """
    whole = programs[0]
    for part in programs[1:]:
        whole = _join(whole, part)
    return _share_constants(whole)


def _join(a: Program, b: Program) -> Program:
    taken = {m.name for m in a.methods}
    for method in b.methods:
        if method.name in taken:
            raise ModelError(f"methods: expected different names, got {method.name!r} twice")
    constant, value, block, node = len(a.constants), len(a.values), len(a.blocks), len(a.nodes)
    states, state_at = _states(a, b, constant)
    moved = tuple(_value(v, value, constant, state_at) for v in b.values)
    blocks = tuple(_block(x, value, block, node, len(a.delegates)) for x in b.blocks)
    methods = tuple(
        dataclasses.replace(
            m,
            inputs=tuple(dataclasses.replace(p, value=p.value + value) for p in m.inputs),
            outputs=tuple(dataclasses.replace(p, value=p.value + value) for p in m.outputs),
            values=(m.values[0] + value, m.values[1] + value),
            block=m.block + block,
        )
        for m in b.methods
    )
    fallen = tuple(
        d if d.fallback is None else dataclasses.replace(d, fallback=d.fallback + block)
        for d in b.delegates
    )
    return dataclasses.replace(
        a,
        dims=_dims(a, b),
        checks=tuple(dict.fromkeys((*a.checks, *b.checks))),
        constants=(*a.constants, *b.constants),
        states=states,
        values=(*a.values, *moved),
        blocks=(*a.blocks, *blocks),
        methods=(*a.methods, *methods),
        delegates=(*a.delegates, *fallen),
        nodes=(*a.nodes, *b.nodes),
    )


def _dims(a: Program, b: Program) -> tuple[Dim, ...]:
    joined = {d.name: d for d in a.dims}
    for dim in b.dims:
        mine = joined.get(dim.name)
        if mine is None:
            joined[dim.name] = dim
        elif (mine.kind, mine.port, mine.element) != (dim.kind, dim.port, dim.element):
            raise ModelError(
                f"methods: dimension {dim.name!r} means different things in two methods; rename one of them"
            )
        else:
            joined[dim.name] = dataclasses.replace(
                mine, min=max(mine.min, dim.min), max=min(mine.max, dim.max)
            )
    return tuple(joined.values())


def _states(a: Program, b: Program, shift: int) -> tuple[tuple[State, ...], list[int]]:
    """All states, and where each of b's lies among them; equal names are one state, which must look the same."""
    states, at = list(a.states), []
    for state in b.states:
        mine = next((i for i, s in enumerate(states) if s.name == state.name), None)
        if mine is None:
            at.append(len(states))
            states.append(
                dataclasses.replace(
                    state, initial=None if state.initial is None else state.initial + shift
                )
            )
            continue
        other = states[mine]
        if (other.dtype, other.shape, other.layout) != (state.dtype, state.shape, state.layout):
            raise ModelError(
                f"methods: state {state.name!r}: expected {other.dtype}{list(other.shape)} in every method, "
                f"got {state.dtype}{list(state.shape)}; give both methods the same cache shape"
            )
        at.append(mine)
    return tuple(states), at


def _value(v: Value, value: int, constant: int, state_at: list[int]) -> Value:
    base = v.base
    if v.storage == "constant":
        base += constant
    elif v.storage == "state":
        base = state_at[base]
    elif v.storage == "view":
        base += value
    return dataclasses.replace(v, base=base, above=tuple(x + value for x in v.above))


def _block(b: Block, value: int, block: int, node: int, delegate: int) -> Block:
    def instr(i: Instr) -> Instr:
        attrs: dict[str, Any] = {
            k: x + block if k in BLOCK_ATTRS else x for k, x in i.attrs.items()
        }
        if i.op == "delegate":
            attrs["index"] = attrs.get("index", 0) + delegate
        return dataclasses.replace(
            i,
            inputs=tuple(None if x is None else x + value for x in i.inputs),
            outputs=tuple(None if x is None else x + value for x in i.outputs),
            attrs=attrs,
            node=i.node if i.node == NONE else i.node + node,
        )

    return Block(
        tuple(instr(i) for i in b.instrs),
        tuple(x + value for x in b.params),
        tuple(x + value for x in b.results),
    )


def _share_constants(program: Program) -> Program:
    """Constants of equal type, shape, layout and bytes become one."""
    kept: list[Constant] = []
    at: list[int] = []
    seen: dict[tuple[Any, ...], int] = {}
    for c in program.constants:
        digest = hashlib.blake2s(c.array.tobytes()).digest()
        key = (c.dtype, c.shape, c.layout, c.format, digest)
        if key not in seen:
            seen[key] = len(kept)
            kept.append(c)
        at.append(seen[key])
    values = tuple(
        dataclasses.replace(v, base=at[v.base]) if v.storage == "constant" else v
        for v in program.values
    )
    states = tuple(
        s if s.initial is None else dataclasses.replace(s, initial=at[s.initial])
        for s in program.states
    )
    return dataclasses.replace(program, constants=tuple(kept), values=values, states=states)
