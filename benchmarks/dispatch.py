"""Nanoseconds an instruction whose work is next to nothing: python benchmarks/dispatch.py [--rounds 300]

A chain of 2,001 instructions over four numbers less one of 1, one thread, the least of the rounds of each: so what a run costs
as a whole is left out, and the kernel's own setup is in it.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Method, Port, Program, Value
from pteron.runtime import cpu
from pteron.runtime.model import Model, load
from pteron.schema.steps import Step

MANY = 2000
HALVES = (
    Step("load", "f32", 0),
    Step("literal", "f32", 1, arg=0.5),
    Step("mul", "f32", 0, (0, 1)),
    Step("store", "f32", args=(0,)),
)
KINDS: dict[str, dict[str, Any]] = {
    "copy": {},
    "pointwise": {"steps": HALVES},
    "softmax": {},
    "cumulate": {"kind": "sum"},
}


def chain(op: str, count: int) -> Model:
    """`count` instructions, each on what the one before it wrote."""
    between = [Value("", "f32", (4,)) for _ in range(count - 1)]
    values = (Value("x", "f32", (4,), "input", 0), *between, Value("y", "f32", (4,), "output", 0))
    block = Block(tuple(Instr(op, (i,), (i + 1,), KINDS[op]) for i in range(count)))
    method = Method("main", (Port("x", 0),), (Port("y", count),), (0, len(values)), 0)
    program = Program("chain", values=values, blocks=(block,), methods=(method,))
    return load(emit_bytes(plan(program)), threads=1)


def cost(op: str, rounds: int) -> float:
    feeds = {"x": np.ones(4, np.float32)}
    models = (chain(op, MANY + 1), chain(op, 1))
    least = [float("inf")] * 2
    for _ in range(rounds):
        for i, model in enumerate(models):
            begin = time.perf_counter_ns()
            model.run(feeds)
            least[i] = min(least[i], time.perf_counter_ns() - begin)
    return (least[0] - least[1]) / MANY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    print(cpu.machine())
    for op in KINDS:
        print(f"{op:10s} {cost(op, rounds):6.0f} ns")


if __name__ == "__main__":
    main()
