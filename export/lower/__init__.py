"""ONNX graph -> Program: `lower`. Families of operators are the folders and files of `ops`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import onnx_ir as ir
import sympy

from pteron.schema.errors import LoweringError, several

from ..program import Method, Program
from ..program.rebuild import replaced, used_names, used_symbols, without_unused_dims
from ..sizes import Check, Dim
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
        minimums: Smallest sizes of symbolic dimensions; default 1, and 0 for names that say "past".
        states: Input name -> output name of what the session keeps between runs.
        name: The model's name; default the graph's.

    Raises:
        LoweringError: nodes have no lowering; the message lists all of them.
        ModelError: inputs or states are not usable.
    """
    models = dict(model) if isinstance(model, Mapping) else {"main": model}
    l = Lowering()
    methods: list[Method] = []
    failures: list[Failure] = []
    for method, m in models.items():
        made, failed = lower_method(
            l, method, m, hints or {}, minimums or {}, _present(m, states or {})
        )
        methods.append(made)
        failures += failed
    if failures:
        raise _error(failures) from next((f.cause for f in failures if f.cause is not None), None)
    title = name or next(iter(models.values())).graph.name or "model"
    return with_initial(_program(l, title, tuple(methods)), list(models.values()))


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
