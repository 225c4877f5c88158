"""ONNX graph -> Program: `lower`. Families of operators are the folders and files of `ops`."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import onnx_ir as ir
import sympy

from pteron.schema.errors import LoweringError, ModelError, several

from ..graph import bounds
from ..program import Method, Program
from ..program.rebuild import replaced, used_names, used_symbols, without_unused_dims
from ..sizes import HUGE, Check, Dim
from ..sizes.expressions import symbol
from . import ops  # noqa: F401  (its import enters the lowerings)
from .context import Lowering
from .env import Failure
from .method import lower_method
from .states import with_initial

__all__ = ["lower"]


def lower(
    model: ir.Model | Mapping[str, ir.Model],
    *,
    hints: Mapping[str, int] | None = None,
    minimums: Mapping[str, int] | None = None,
    states: Mapping[str, str] | None = None,
    name: str = "",
) -> Program:
    """Makes the program of a model, or of several that become its methods.

    Args:
        model: One graph (method "main"), or graphs by method name. They share constants and states.
        hints: Sizes of symbolic dimensions that the stored plan is made for; default 1.
        minimums: Smallest sizes of symbolic dimensions; default 0 where the same instructions do for it, else 1.
        states: Input name -> output name of what the session keeps between runs.
        name: The model's name; default the graph's.

    Raises:
        LoweringError: nodes have no lowering; the message lists all of them.
        ModelError: inputs or states are not usable.
    """
    models = dict(model) if isinstance(model, Mapping) else {"main": model}
    title = name or next(iter(models.values())).graph.name or "model"
    given = dict(minimums or {})
    told = {size for m in models.values() for size in bounds.read(m).sizes}

    def lowered(least: Mapping[str, int]) -> Program:
        return _lowered(models, title, hints or {}, {**given, **least}, states or {})

    program = lowered({})
    for names in _empty(program, told | given.keys(), sum(len(m.graph) for m in models.values())):
        with contextlib.suppress(LoweringError, ModelError):
            other = lowered(dict.fromkeys(names, 0))
            if _work(other) == _work(program):
                program, given = other, {**given, **dict.fromkeys(names, 0)}
                if len(names) > 1:
                    break
    return with_initial(program, list(models.values()))


def _lowered(
    models: Mapping[str, ir.Model],
    title: str,
    hints: Mapping[str, int],
    minimums: Mapping[str, int],
    states: Mapping[str, str],
) -> Program:
    l = Lowering()
    methods: list[Method] = []
    failures: list[Failure] = []
    for method, m in models.items():
        made, failed = lower_method(l, method, m, hints, minimums, _present(m, states))
        methods.append(made)
        failures += failed
    if failures:
        raise _error(failures) from next((f.cause for f in failures if f.cause is not None), None)
    return _program(l, title, tuple(methods))


TWICE: Final = 4000
"""Nodes up to which a model is lowered again, for sizes of 0 too."""
EACH: Final = 400
"""Nodes up to which that is tried size by size where not all can be 0."""


def _empty(program: Program, given: AbstractSet[str], nodes: int) -> list[list[str]]:
    """The sizes that may be 0 if that costs no instruction: all of them, then each."""
    names = [
        d.name
        for d in program.dims
        if d.kind == "symbolic" and d.min == 1 and d.max == HUGE and d.name not in given
    ]
    if not names or nodes > TWICE:
        return []
    each = [[n] for n in names[:4]] if len(names) > 1 and nodes <= EACH else []
    return [names, *each]


def _work(program: Program) -> list[str]:
    return [i.op for block in program.blocks for i in block.instrs]


def _present(model: ir.Model, states: Mapping[str, str]) -> dict[str, str]:
    """The state pairs of one method: a method need not have all of them."""
    names = {v.name for v in model.graph.inputs}
    return {past: present for past, present in states.items() if past in names}


def _error(failures: list[Failure]) -> LoweringError:
    lines = sorted({f.line() for f in failures})
    return LoweringError(
        f"{several(len(failures), 'node')} cannot be lowered:\n  " + "\n  ".join(lines),
        tuple(f.name for f in failures),
    )


def _program(l: Lowering, name: str, methods: tuple[Method, ...]) -> Program:
    blocks = tuple(b for b in l.blocks if b is not None)
    assert len(blocks) == len(l.blocks)
    program = Program(
        name,
        (),
        tuple(l.sizes.checks),
        tuple(l.values.constants),
        tuple(l.states),
        tuple(l.values.all),
        blocks,
        methods,
        tuple(l.delegates),
        tuple(l.nodes),
    )
    program = _one_face(program, l.values.signed, l.sizes.dims)
    return without_unused_dims(_with_taken(program, l.values.taken))


def _one_face(
    program: Program, signed: Mapping[sympy.Symbol, sympy.Symbol], dims: Mapping[sympy.Symbol, Dim]
) -> Program:
    """An element of a shape input that something takes for a size is one everywhere; else it may have any sign."""
    program = dataclasses.replace(program, dims=tuple(dims.values()))
    used = used_symbols(program)
    sizes = {s: s in used or signed[s] not in used for s in signed}
    gone = {signed[s] if is_size else s for s, is_size in sizes.items()}
    kept = tuple(d for s, d in dims.items() if s not in gone)
    both = {signed[s]: s for s in signed if {s, signed[s]} <= used}
    return replaced(dataclasses.replace(program, dims=kept), both)


def _with_taken(program: Program, taken: AbstractSet[sympy.Symbol]) -> Program:
    """An element of a shape input that was taken for a size is not negative, which may have decided what it was taken for, so that
    nothing names it any more: prepare still looks."""
    lost = {str(s) for s in taken} - used_names(program)
    checks = [
        Check("le", 0, symbol(d), f"{d.name}: a size")
        for d in program.dims
        if d.kind == "shape" and d.name in lost
    ]
    return dataclasses.replace(program, checks=(*program.checks, *checks))
