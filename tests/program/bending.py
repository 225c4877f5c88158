"""How programs are made that break one rule each (bent.py), and the words in which the runtime refuses them.

Random changes (meanings.py) reach what many programs can break; these are the rules that need a program of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from program.samples import SAMPLES, one_method

from pteron.export.program import (
    Block,
    Instr,
    Program,
    Value,
)

Make = Callable[[], Program]
BENT: Final[list[tuple[str, str, Make]]] = []
"""Words of the refusal, why the exporter's verifier takes the program ("": it does not), and the program."""


def bent(words: str, why: str = "") -> Callable[[Make], Make]:
    def keep(make: Make) -> Make:
        BENT.append((words, why, make))
        return make

    return keep


def sample(name: str) -> Program:
    return SAMPLES[name]()


def value(program: Program, at: int, **what: Any) -> Program:
    values = list(program.values)
    values[at] = dataclasses.replace(values[at], **what)
    return dataclasses.replace(program, values=tuple(values))


def block(program: Program, at: int, **what: Any) -> Program:
    blocks = list(program.blocks)
    blocks[at] = dataclasses.replace(blocks[at], **what)
    return dataclasses.replace(program, blocks=tuple(blocks))


def instr(program: Program, at: int, k: int, **what: Any) -> Program:
    instrs = list(program.blocks[at].instrs)
    instrs[k] = dataclasses.replace(instrs[k], **what)
    return block(program, at, instrs=tuple(instrs))


def method(program: Program, at: int, **what: Any) -> Program:
    methods = list(program.methods)
    methods[at] = dataclasses.replace(methods[at], **what)
    return dataclasses.replace(program, methods=tuple(methods))


def over(values: list[Value], *instrs: Instr, **more: Any) -> Program:
    """One block over these values; inputs and outputs by storage."""
    sides = [[i for i, v in enumerate(values) if v.storage == s] for s in ("input", "output")]
    return one_method(values, [Block(tuple(instrs))], *sides, **more)


X: Final = Value("x", "f32", (4,), "input", 0)
Y: Final = Value("y", "f32", (4,), "output", 0)
