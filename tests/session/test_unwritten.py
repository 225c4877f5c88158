"""No byte of an earlier run, or of the caller's memory, is in what a program gives: what it may read unwritten is cleared."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from program.bending import X, Y, over, sample
from program.samples import SAMPLES

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Method, Port, Program, Value

SECRET: Final = np.array([1, 2, 3, 4], np.float32)


def loaded(program: Program) -> pteron.Model:
    return pteron.load(emit_bytes(plan(program)), threads=1)


def given(program: Program, **more: np.ndarray) -> tuple[np.ndarray, int]:
    """y of a second run, over zeros, behind one that saw the secret, into an array that held it."""
    with loaded(program) as model:
        into = SECRET.copy()
        for x in (SECRET, np.zeros(4, np.float32)):
            into[...] = SECRET
            model.run({"x": x} | more, out={"y": into})
        return into, model.sizes.cleared_bytes


PLANNED: Final = Value("", "f32", (4,))


def half(base: int, which: int) -> Value:
    return Value("", "f32", (2,), "view", base, None, 2 * which)


def copy(*pairs: tuple[int, int]) -> tuple[Instr, ...]:
    return tuple(Instr("copy", (a,), (b,)) for a, b in pairs)


READS = {
    "what nothing wrote": over([X, Y, PLANNED], *copy((2, 1))),
    "what is written behind it": over([X, Y, PLANNED], *copy((2, 1), (0, 2))),
    "of which one half is written": over(
        [X, Y, PLANNED, half(2, 0), half(0, 0)], *copy((4, 3), (2, 1), (0, 2))
    ),
    "of which one half is written twice": over(
        [X, Y, PLANNED, half(2, 0), half(2, 0), half(0, 0)],
        *copy((5, 3), (5, 4), (2, 1), (0, 2)),
    ),
    "an output that nothing writes": over([X, Y, PLANNED], *copy((0, 2))),
    "an output of which one half is written": over([X, Y, half(1, 1), half(0, 1)], *copy((3, 2))),
    "an output before it is written": over([X, Y, PLANNED], *copy((1, 2), (2, 1))),
}


@pytest.mark.parametrize("program", READS.values(), ids=READS)
def test_a_read_of(program: Program) -> None:
    y, cleared = given(program)
    assert not y.any()
    assert cleared


def in_a_branch(then: tuple[Instr, ...], other: tuple[Instr, ...], *values: Value) -> Program:
    """y = what the taken branch leaves in value 3, which is planned."""
    which = Value("which", "bool", (), "input", 1)
    all_values = (X, Y, which, PLANNED, *values)
    blocks = (
        Block((Instr("if", (2,), (), {"then_block": 1, "else_block": 2}), *copy((3, 1), (0, 3)))),
        Block(then),
        Block(other),
    )
    method = Method(
        "main", (Port("x", 0), Port("which", 2)), (Port("y", 1),), (0, len(all_values)), 0
    )
    return Program("branches", values=all_values, blocks=blocks, methods=(method,))


def test_what_one_branch_writes_is_not_written() -> None:
    program = in_a_branch(copy((0, 3)), ())
    y, cleared = given(program, which=np.array(False))
    assert not y.any()
    assert cleared == 16


def test_parts_that_are_all_of_it_need_no_clearing() -> None:
    """As concatenations and pads are written: columns, rows, a middle and its borders."""
    halves = [X, Y, PLANNED, half(2, 1), half(2, 0), half(0, 0)]
    assert given(over(halves, *copy((5, 3), (5, 4), (2, 1))))[1] == 0
    x = Value("x", "f32", (4,), "input", 0)
    base = Value("y", "f32", (2, 5, 6), "output", 0)
    boxes = [
        Value("", "f32", (2, 2, 6), "view", 1, (30, 6, 1), 0),
        Value("", "f32", (2, 2, 6), "view", 1, (30, 6, 1), 18),
        Value("", "f32", (2, 1, 4), "view", 1, (30, 6, 1), 12),
        Value("", "f32", (2, 1, 2), "view", 1, (30, 6, 1), 16),
    ]
    one = Value("", "f32", (1,), "view", 0)
    for left_out in (None, 0, 1, 2, 3):
        kept = [box for i, box in enumerate(boxes) if i != left_out]
        expanded = [Value("", "f32", b.shape, "view", 0, (0, 0, 0)) for b in kept]
        values = [x, base, *kept, *expanded, one]
        pairs = [(2 + len(kept) + i, 2 + i) for i in range(len(kept))]
        with loaded(over(values, *copy(*pairs))) as model:
            model.run({"x": SECRET})
            assert (model.sizes.cleared_bytes == 0) == (left_out is None)


@pytest.mark.parametrize(
    "name", [n for n in SAMPLES if n not in ("counted", "control", "moves", "grown")]
)
def test_samples_need_no_clearing(name: str) -> None:
    program = sample(name)
    if any(d.kind != "symbolic" for d in program.dims):
        pytest.skip("sizes that data decides")
    with pteron.load(emit_bytes(program)) as model:
        try:
            model.run(
                {
                    p.name: np.ones(
                        [s if isinstance(s, int) else 3 for s in p.shape], p.numpy_dtype
                    )
                    for p in model.inputs
                }
            )
        except pteron.PteronError as e:
            pytest.skip(str(e))
        assert model.sizes.cleared_bytes == 0


def called(params: tuple[int, ...], results: tuple[int, ...], outs: tuple[int, ...]) -> Program:
    """y and planned 2 and 3 are what a block gives, whose PARAMs are 4 and 5."""
    values = (X, Y, PLANNED, PLANNED, *(Value("", "f32", (4,), "param", 1) for _ in range(2)))
    call = Instr("call", (0,) * len(params), outs, {"body": 1})
    body = Block(copy((0, results[-1])) if results != params else (), params, results)
    blocks = (Block((call, *copy((2, 1)))), body)
    return Program(
        "called",
        values=values,
        blocks=blocks,
        methods=(Method("main", (Port("x", 0),), (Port("y", 1),), (0, 6), 0),),
    )


def test_a_param_that_is_a_result_is_the_output() -> None:
    """It is bound twice, to the output in the end, whose memory nothing wrote."""
    y, cleared = given(called((4,), (4,), (2,)))
    assert not y.any()
    assert cleared


def test_a_result_that_stands_twice_is_the_last_output() -> None:
    y, cleared = given(called((), (4, 4), (2, 3)))
    assert not y.any()
    assert cleared
