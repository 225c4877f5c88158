"""What passes over a Program share: which blocks belong together, and values renumbered or dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from pteron.schema.errors import ProgramError
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL, signature

from ..sizes import extents
from ..sizes.extents import symbols_of
from . import Block, Instr, Method, Port, Program, Value


def blocks_of(program: Program, instr: Instr) -> list[int]:
    """The blocks that an instruction runs."""
    if instr.op not in CONTROL:
        return []
    if instr.op == "delegate":
        fallback = program.delegates[instr.attrs["index"]].fallback
        return [] if fallback is None else [fallback]
    kinds = {a.name: a.kind for a in signature(OPS[instr.op]).attrs}
    return [value for name, value in instr.attrs.items() if kinds.get(name) == "block"]


def walk(program: Program, block: int, depth: int = 0) -> Iterator[tuple[int, Instr]]:
    """(depth, instruction) in the order of a run that takes every block once: blocks after the instruction that runs them."""
    for instr in program.blocks[block].instrs:
        yield depth, instr
        for inner in blocks_of(program, instr):
            yield from walk(program, inner, depth + 1)


def homes(program: Program) -> list[tuple[int, int]]:
    """(method, depth) of each block; a block is deeper than all that name it.

    Raises:
        ProgramError: no method reaches a block, or a block is named by one that is not before it.
    """
    out: dict[int, tuple[int, int]] = {m.block: (i, 0) for i, m in enumerate(program.methods)}
    for i, block in enumerate(program.blocks):
        if i not in out:
            raise ProgramError(f"block {i}: expected a block before it that names it, got none")
        method, depth = out[i]
        for instr in block.instrs:
            for inner in blocks_of(program, instr):
                if inner <= i:
                    raise ProgramError(
                        f"block {i} ({instr.op}): expected a block above {i}, got {inner}"
                    )
                out[inner] = (method, max(depth + 1, out.get(inner, (0, 0))[1]))
    return [out[i] for i in range(len(program.blocks))]


def _is_param(program: Program, v: int) -> bool:
    return 0 <= v < len(program.values) and program.values[v].storage == "param"


def param_owners(program: Program) -> dict[int, int]:
    """The block that each param belongs to: the one that has it as a parameter, else the outermost that has it as a result."""
    owners: dict[int, int] = {}
    for side in ("params", "results"):
        for b, block in enumerate(program.blocks):
            for v in getattr(block, side):
                owners.setdefault(v, b)
    return {v: b for v, b in owners.items() if _is_param(program, v)}


def used_values(program: Program) -> set[int]:
    """Values that an instruction, a block or a port names, and the bases of views among them."""
    found: set[int] = set()
    for block in program.blocks:
        found.update(block.params, block.results)
        for instr in block.instrs:
            found.update(v for v in (*instr.inputs, *instr.outputs) if v is not None)
    for method in program.methods:
        found.update(p.value for p in (*method.inputs, *method.outputs))
    return found | {program.values[v].base for v in found if program.values[v].storage == "view"}


def prune(program: Program) -> Program:
    """Drops values that nobody names, then constants without a value."""
    used = used_values(program)
    orders = [[v for v in range(*m.values) if v in used] for m in program.methods]
    program = renumber(program, orders)
    kept = {v.base for v in program.values if v.storage == "constant"}
    kept |= {s.initial for s in program.states if s.initial is not None}
    new = {old: i for i, old in enumerate(sorted(kept))}
    values = tuple(
        dataclasses.replace(v, base=new[v.base])
        if v.storage == "constant" and new[v.base] != v.base
        else v
        for v in program.values
    )
    states = tuple(
        s if s.initial is None else dataclasses.replace(s, initial=new[s.initial])
        for s in program.states
    )
    constants = tuple(program.constants[i] for i in sorted(kept))
    return dataclasses.replace(program, values=values, states=states, constants=constants)


def renumber(program: Program, orders: Sequence[Sequence[int]]) -> Program:
    """Puts each method's values into the given order; those left out must not be named by anyone."""
    new = {v: i for i, v in enumerate(v for order in orders for v in order)}
    values = [_move_value(program.values[old], new) for old in new]
    blocks = tuple(move_block(b, new) for b in program.blocks)
    ends = list(_ranges(orders))
    methods = tuple(_move_method(m, new, r) for m, r in zip(program.methods, ends, strict=True))
    return dataclasses.replace(program, values=tuple(values), blocks=blocks, methods=methods)


def _ranges(orders: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for order in orders:
        yield start, start + len(order)
        start += len(order)


def _move_value(v: Value, new: Mapping[int, int]) -> Value:
    base = new[v.base] if v.storage == "view" else v.base
    above = tuple(sorted(new[u] for u in v.above)) if v.above else ()
    if (base, above) == (v.base, v.above):
        return v
    return dataclasses.replace(v, base=base, above=above)


def move_block(block: Block, new: Mapping[int, int]) -> Block:
    """The block with its values renumbered; instructions whose values keep their numbers stay the same objects."""
    instrs = tuple(_move_instr(i, new) for i in block.instrs)
    return Block(instrs, tuple(new[v] for v in block.params), tuple(new[v] for v in block.results))


def _move_instr(i: Instr, new: Mapping[int, int]) -> Instr:
    inputs = tuple([None if v is None else new[v] for v in i.inputs])
    outputs = tuple([None if v is None else new[v] for v in i.outputs])
    if (inputs, outputs) == (i.inputs, i.outputs):
        return i
    return Instr(i.op, inputs, outputs, i.attrs, i.node)


def _move_method(method: Method, new: Mapping[int, int], values: tuple[int, int]) -> Method:
    def move(ports: tuple[Port, ...]) -> tuple[Port, ...]:
        return tuple(Port(p.name, new[p.value]) for p in ports)

    return dataclasses.replace(
        method, inputs=move(method.inputs), outputs=move(method.outputs), values=values
    )


def without_unused_dims(program: Program) -> Program:
    """Drops counted and shape dimensions that no size mentions."""
    used = used_names(program)
    dims = tuple(d for d in program.dims if d.kind == "symbolic" or d.name in used)
    return dataclasses.replace(program, dims=dims)


def used_names(program: Program) -> set[str]:
    """Names of the symbols in any shape, stride, attribute, check or capacity."""
    return {str(s.name) for s in used_symbols(program)}


def used_symbols(program: Program) -> set[sympy.Symbol]:
    """The symbols in any shape, stride, attribute, check, or capacity of a dimension among them."""
    found: set[sympy.Symbol] = set()

    def note(x: Any) -> None:
        found.update(mentioned(x))

    for v in program.values:
        note((v.shape, v.strides, v.offset))
    for b in program.blocks:
        for i in b.instrs:
            note([a for name, a in i.attrs.items() if name != "steps"])
    for c in program.checks:
        note((c.a, c.b))
    for s in program.states:
        note(s.shape)
    for d in program.dims:
        if any(s.name == d.name for s in found):
            note(d.capacity)
    return found


def replaced(program: Program, symbols: Mapping[sympy.Symbol, sympy.Symbol]) -> Program:
    """Other symbols wherever these stand."""
    if not symbols:
        return program

    def other(x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return type(x)(other(e) for e in x)
        return extents.extent(x.xreplace(symbols)) if isinstance(x, sympy.Expr) else x

    def of(part: Any, *names: str) -> Any:
        return dataclasses.replace(part, **{name: other(getattr(part, name)) for name in names})

    blocks = (
        dataclasses.replace(
            b,
            instrs=tuple(
                dataclasses.replace(
                    i, attrs={k: a if k == "steps" else other(a) for k, a in i.attrs.items()}
                )
                for i in b.instrs
            ),
        )
        for b in program.blocks
    )
    return dataclasses.replace(
        program,
        values=tuple(of(v, "shape", "strides", "offset") for v in program.values),
        blocks=tuple(blocks),
        checks=tuple(of(c, "a", "b") for c in program.checks),
        states=tuple(of(s, "shape") for s in program.states),
        dims=tuple(of(d, "capacity") for d in program.dims),
    )


def mentioned(x: Any) -> set[sympy.Symbol]:
    """The symbols of an extent, or of lists of them."""
    if isinstance(x, (tuple, list)):
        return set().union(*map(mentioned, x))
    return set(symbols_of(x))
