"""Attributes of instructions: known names, the row's kinds, numbers that the struct holds, lists not too long."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final

import sympy

from pteron.schema.ops import OPS
from pteron.schema.row import Op
from pteron.schema.signature import Attr, signature
from pteron.schema.steps import MAX_STEPS

from ..program import Instr, Program
from ..sizes import Extent
from .refusal import refuse

MAX_LIST: Final = 4096


def dims_of(instr: Instr) -> Iterator[Extent]:
    """The expressions among its attributes."""
    if instr.attrs and instr.op in OPS:
        for name in dims_names(OPS[instr.op]):
            yield from instr.attrs.get(name, ())


@functools.cache
def dims_names(row: Op) -> tuple[str, ...]:
    return tuple(a.name for a in signature(row).attrs if a.kind == "dims")


@functools.cache
def _rows(row: Op) -> dict[str, Attr]:
    return {a.name: a for a in signature(row).attrs}


def check_attributes(program: Program, instr: Instr, where: str) -> None:
    rows = _rows(OPS[instr.op])
    for name, value in instr.attrs.items():
        if name not in rows:
            refuse(where, f"attribute {name}", f"one of {sorted(rows)}", name, instr.node)
        if not _fits(program, rows[name], value):
            refuse(where, f"attribute {name}", _wanted(rows[name]), repr(value), instr.node)
    for name, a in rows.items():
        if a.default is None and name not in instr.attrs:
            refuse(where, f"attribute {name}", "a value", "none", instr.node)


def _fits(program: Program, a: Attr, value: Any) -> bool:
    match a.kind:
        case "int":
            return _is_word(value)
        case "float":
            return isinstance(value, int | float)
        case "bool":
            return value in (0, 1)
        case "enum":
            return value in a.values
        case "ints":
            return len(value) <= MAX_LIST and all(_is_word(v) for v in value)
        case "floats":
            return len(value) <= MAX_LIST and all(isinstance(v, int | float) for v in value)
        case "dims":
            return len(value) <= MAX_LIST and all(
                _is_word(v) or isinstance(v, sympy.Expr) for v in value
            )
        case "steps":
            return len(value) <= MAX_STEPS
        case _:
            return isinstance(value, int) and 0 <= value < len(program.blocks)


def _wanted(a: Attr) -> str:
    if a.kind == "enum":
        return f"one of {list(a.values)}"
    return {"ints": f"at most {MAX_LIST} numbers", "dims": f"at most {MAX_LIST} sizes"}.get(
        a.kind, f"a {a.kind} that the struct holds"
    )


def _is_word(value: Any) -> bool:
    try:
        return -(2**63) <= int(value) < 2**63 and int(value) == value
    except (TypeError, ValueError):
        return False
