"""Pointwise programs: opcodes and types admitted, registers written before they are read and of the right type,
operands that exist, every output stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pteron.schema.steps import MAX_STEPS, REGISTERS, STEPS, TYPES, Step

from ..sizes import NONE
from .refusal import refuse

INTEGERS: Final = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
WIDE: Final = {
    "bool": "bool", "f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", **dict.fromkeys(INTEGERS, "i64"),
}  # fmt: skip
"""dtype -> the compute type that its elements are loaded to and stored from; the others have none."""


def check_steps(
    where: str,
    steps: Sequence[Step],
    operands: Sequence[str],
    outputs: Sequence[str],
    rank: int,
    node: int = NONE,
) -> None:
    """`operands`, `outputs`: their dtypes."""
    if len(steps) > MAX_STEPS:
        refuse(where, "steps", f"at most {MAX_STEPS}", len(steps), node)
    types: dict[int, str] = {}
    stored: set[int] = set()
    for at, s in enumerate(steps):
        here = f"{where}: step {at} ({s.op})"
        if s.op not in STEPS:
            refuse(here, "opcode", "one of schema/steps.py", s.op, node)
        if s.type not in STEPS[s.op].types:
            refuse(here, "type", f"one of {list(STEPS[s.op].types)}", s.type, node)
        _arg(here, s, operands, outputs, rank, node)
        if s.op == "store":
            if s.arg in stored:
                refuse(here, "output", "one that is not stored yet", s.arg, node)
            stored.add(int(s.arg))
        _registers(here, s, types, node)
    if stored != set(range(len(outputs))):
        refuse(where, "outputs stored", len(outputs), sorted(stored), node)


def _arg(
    here: str, s: Step, operands: Sequence[str], outputs: Sequence[str], rank: int, node: int
) -> None:
    if s.op in ("load", "store"):
        dtypes = operands if s.op == "load" else outputs
        if not 0 <= int(s.arg) < len(dtypes):
            refuse(
                here, "operand" if s.op == "load" else "output", f"below {len(dtypes)}", s.arg, node
            )
        if WIDE.get(dtypes[int(s.arg)]) != s.type:
            refuse(here, "type", f"that of {dtypes[int(s.arg)]}", s.type, node)
    elif s.op == "index" and not 0 <= int(s.arg) < rank:
        refuse(here, "axis", f"below {rank}", s.arg, node)
    elif s.op == "cast" and s.source not in TYPES:
        refuse(here, "source", f"one of {list(TYPES)}", s.source, node)
    elif s.op == "round" and s.arg not in ("f16", "bf16"):
        refuse(here, "dtype", "f16 or bf16", s.arg, node)
    elif s.op == "wrap" and s.arg not in INTEGERS:
        refuse(here, "dtype", "an integer's", s.arg, node)


def _registers(here: str, s: Step, types: dict[int, str], node: int) -> None:
    row = STEPS[s.op]
    if len(s.args) != row.arity:
        refuse(here, "registers read", row.arity, len(s.args), node)
    for k, register in enumerate(s.args):
        expected = (row.reads[k] if k < len(row.reads) else "") or s.type
        if s.op == "cast":
            expected = s.source
        if types.get(register) != expected:
            refuse(here, f"register {register}", expected, types.get(register, "nothing"), node)
    if s.op == "store":
        return
    if not 0 <= s.dst < REGISTERS:
        refuse(here, "register", f"below {REGISTERS}", s.dst, node)
    types[s.dst] = row.result or s.type
