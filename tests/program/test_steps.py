"""Pointwise programs that verify refuses: a register that is not set, another type, a missing operand, a lost output."""

from __future__ import annotations

import pytest
from program.samples import one_method

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Value
from pteron.schema.steps import Step

LOAD = Step("load", "f32", 0, arg=0)
STORE = Step("store", "f32", args=(0,), arg=0)
REFUSED = {
    "a register that is not set": (LOAD, Step("add", "f32", 0, (0, 1)), STORE),
    "does not admit this type": (LOAD, Step("exp", "i64", 0, (0,)), STORE),
    "a register of another type": (LOAD, Step("add", "i64", 0, (0, 0)), STORE),
    "no such operand": (Step("load", "f32", 0, arg=1), STORE),
    "is never stored": (LOAD,),
    "stored twice": (LOAD, STORE, STORE),
    "the operand has another type": (Step("load", "i64", 0), Step("cast", "f32", 0, (0,), "i64"), STORE),
    "no such register": (LOAD, Step("neg", "f32", 0, (0, 16)), STORE),
    "no such axis": (LOAD, Step("index", "i64", 1, arg=1), STORE),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_a_wrong_program_is_refused(why: str) -> None:
    values = [Value("x", "f32", (4,), "input", 0), Value("y", "f32", (4,), "output", 0)]
    instr = Instr("pointwise", (0,), (1,), {"steps": REFUSED[why]})
    with pytest.raises(pteron.ProgramError, match=why):
        pteron.load(emit_bytes(plan(one_method(values, [Block((instr,))], [0], [1]))))


def test_an_epilogue_must_store_its_result() -> None:
    values = [
        Value("a", "f32", (4, 4), "input", 0),
        Value("w", "f32", (4, 4), layout="panels"),
        Value("y", "f32", (4, 4), "output", 0),
    ]
    instrs = (Instr("pack", (0,), (1,)), Instr("matmul", (0, 1, None), (2,), {"steps": (LOAD,)}))
    with pytest.raises(pteron.ProgramError, match="is never stored"):
        pteron.load(emit_bytes(plan(one_method(values, [Block(instrs)], [0], [2]))))
