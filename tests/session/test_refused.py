"""What the verifier, prepare and run refuse of values and memory; nothing else notices when one of these is taken away."""

from __future__ import annotations

import numpy as np
import pytest
from program.samples import one_method, unary

from pteron.export.emit import emit_bytes
from pteron.export.expressions import symbol
from pteron.export.program import Block, Dim, Instr, Method, Port, Program, State, Value
from pteron.schema.errors import ArgumentError, ProgramError
from pteron.schema.steps import Step

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)

X = np.ones(4, np.float32)


def refused(program: Program, words: str) -> None:
    model = runtime.load(emit_bytes(program), threads=1)
    with pytest.raises(ProgramError, match=words):
        model(X)


def test_two_outputs_do_not_share_memory() -> None:
    steps = (Step("load", "f32", 0), *(Step("store", "f32", args=(0,), arg=k) for k in (0, 1)))
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("", "f32", (4,)),
        Value("", "f32", (4,)),  # neither lies above the other
        Value("y", "f32", (4,), "output", 0),
    ]
    split = Instr("pointwise", (0,), (1, 2), {"steps": steps})
    block = Block((split, Instr("copy", (1,), (3,))))
    refused(one_method(values, [block], [0], [3]), "shares memory with another output")


def test_a_result_is_dense_where_its_row_says_so() -> None:
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("", "f32", (8,)),
        Value("", "f32", (4,), "view", 1, (2,)),
        Value("y", "f32", (4,), "output", 0),
    ]
    block = Block((Instr("softmax", (0,), (2,), {}), Instr("copy", (2,), (3,))))
    refused(one_method(values, [block], [0], [3]), "output y: must be dense")


def test_a_called_block_does_not_write_an_input_of_the_caller() -> None:
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("y", "f32", (4,), "output", 0),
        Value("", "f32", (4,), "param"),
        Value("", "f32", (4,), "param"),
        Value("", "f32", (4,)),
    ]
    body = Block(
        (
            Instr("pointwise", (2,), (4,), {"steps": unary("neg")}),
            Instr("copy", (4,), (2,)),
            Instr("copy", (2,), (3,)),
        ),
        (2,),
        (3,),
    )
    main = Block((Instr("call", (0,), (1,), {"body": 1}),))
    refused(one_method(values, [main, body], [0], [1]), "writes memory that is read-only")


def two_methods(*second: Value, states: tuple[State, ...] = ()) -> Program:
    """The first copies its input; the second has these values, and no instructions."""
    first = (Value("x", "f32", (4,), "input", 0), Value("", "f32", (4,)))
    return Program(
        "two",
        values=(*first, *second),
        blocks=(Block(()), Block(())),
        methods=(
            Method("a", (Port("x", 0),), (), (0, 2), 0),
            Method("b", (), (), (2, 2 + len(second)), 1),
        ),
        states=states,
    )


def test_methods_do_not_look_into_each_other() -> None:
    with pytest.raises(ProgramError, match="the base belongs to another method"):
        runtime.load(emit_bytes(two_methods(Value("", "f32", (4,), "view", 1))))


def test_a_method_has_a_state_once() -> None:
    state = State("s", "f32", (4,))
    twice = [Value("", "f32", (4,), "state", 0) for _ in range(2)]
    with pytest.raises(ProgramError, match="states of a method come once each"):
        runtime.load(emit_bytes(two_methods(*twice, states=(state,))))


@pytest.mark.parametrize(
    "size, words",
    [
        (symbol(Dim("n", min=0)) ** 9 * 2**40, "does not fit in 64 bits"),
        (4 // symbol(Dim("n", min=0)), "divided by zero"),
    ],
)
def test_sizes_that_have_no_value_are_named(size: object, words: str) -> None:
    n = Dim("n", min=0)
    values = [
        Value("x", "f32", (symbol(n),), "input", 0),
        Value("", "f32", (size,)),
        Value("y", "f32", (symbol(n),), "output", 0),
    ]
    program = one_method(values, [Block((Instr("copy", (0,), (2,)),))], [0], [2], dims=(n,))
    model = runtime.load(emit_bytes(program), threads=1)
    with pytest.raises(ArgumentError, match=words):
        model(np.ones(0 if "zero" in words else 4096, np.float32))
