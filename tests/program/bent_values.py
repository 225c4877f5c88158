"""Programs whose values or dimensions break a rule (bending.py)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import sympy
from program.bending import (
    X,
    Y,
    bent,
    block,
    method,
    over,
    sample,
    value,
)
from program.samples import N

from pteron.export.program import Block, Constant, Instr, Method, Port, Program, State, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol

# --- values -----------------------------------------------------------------------------------------------------------


def two_methods(*second: Value, states: tuple[State, ...] = (), **more: Any) -> Program:
    """The first has an input and a planned value; the second has these values, and no instructions."""
    return Program(
        "two",
        values=(X, Value("", "f32", (4,)), *second),
        blocks=(Block(()), Block(())),
        methods=(
            Method("a", (Port("x", 0),), (), (0, 2), 0),
            Method("b", (), (), (2, 2 + len(second)), 1),
        ),
        states=states,
        **more,
    )


@bent("the base belongs to another method")
def _() -> Program:
    return two_methods(Value("", "f32", (4,), "view", 1))


@bent("a value there belongs to another method")
def _() -> Program:
    return two_methods(Value("", "f32", (4,), above=(1,)))


@bent("value 1 belongs to another method")
def _() -> Program:
    return method(two_methods(), 1, inputs=(Port("x", 1),))


@bent("value 0 is not the method's")
def _() -> Program:
    return block(two_methods(Value("", "f32", (4,))), 1, instrs=(Instr("copy", (0,), (2,)),))


@bent("states of a method come once each")
def _() -> Program:
    twice = [Value("", "f32", (4,), "state", 0) for _ in range(2)]
    return two_methods(*twice, states=(State("s", "f32", (4,)),))


@bent("the state has another dtype, layout or rank")
def _() -> Program:
    return two_methods(Value("", "i32", (4,), "state", 0), states=(State("s", "f32", (4,)),))


@bent("the state has another dtype, layout or rank")
def _() -> Program:
    return two_methods(
        Value("", "f32", (16, 4), "state", 0, layout="panels"),
        states=(State("s", "f32", (16, 4)),),
    )


@bent("the state has another dtype, layout or rank")
def _() -> Program:
    return two_methods(Value("", "f32", (4, 1), "state", 0), states=(State("s", "f32", (4,)),))


@bent("expected the state's expressions")
def _() -> Program:
    n = symbol(N)
    program = two_methods(Value("", "f32", (n,), "state", 0), states=(State("s", "f32", (2 * n,)),))
    return dataclasses.replace(program, dims=(N,))


@bent("a state of counted size")
def _() -> Program:
    """How many there are is of one run; the state would outlive it."""
    rows = Dim("rows", "counted", min=0, capacity=sympy.Integer(4))
    shape = (2 * symbol(rows), 3)
    program = two_methods(Value("", "f32", shape, "state", 0), states=(State("s", "f32", shape),))
    return dataclasses.replace(program, dims=(rows,))


@bent("states[0].layout: expected below 1, got 1")
def _() -> Program:
    return two_methods(states=(State("s", "f32", (16, 4), layout="panels"),))


@bent("states[0].axis: expected below 2, got 2")
def _() -> Program:
    """What is kept of a run's tokens is counted along an axis that the state has."""
    position = State("position", "i64", (1,), role="position")
    return two_methods(states=(State("s", "f32", (16, 4), role="tokens", axis=2), position))


@bent("states[0].axis: expected below 4, got 4")
def _() -> Program:
    position = State("position", "i64", (1,), role="position")
    state = State("s", "f32", (2, 4, 3, 16), role="panels", axis=4)
    return two_methods(states=(state, position))


POSITION = State("position", "i64", (1,), role="position")


@bent("states[0].shape: expected 16 tokens along the last axis")
def _() -> Program:
    """Saving counts on whole lines of 16: of others it would write behind its buffer."""
    state = State("s", "f32", (1, 2, 48, 8), role="panels", axis=2)
    return two_methods(states=(state, POSITION))


@bent("states[0].shape: expected 16 tokens along the last axis")
def _() -> Program:
    """The axis of lines is not that which tells tokens apart."""
    return two_methods(states=(State("s", "f32", (4, 16), role="panels", axis=1), POSITION))


@bent("states[0].shape: expected 16 tokens along the last axis")
def _() -> Program:
    """16 by what the caller's shapes say is 16 by chance."""
    n = symbol(N)
    state = State("s", "f32", (4, n), role="panels")
    return dataclasses.replace(two_methods(states=(state, POSITION)), dims=(N,))


@bent("states[0].dtype: no rows of elements narrower than a byte")
def _() -> Program:
    return two_methods(states=(State("s", "i4", (4, 3), role="tokens"), POSITION))


@bent("states[0].role: rows of tokens need a position")
def _() -> Program:
    return two_methods(states=(State("s", "f32", (16, 4), role="tokens"),))


@bent("states[1].role: a second position")
def _() -> Program:
    return two_methods(states=(POSITION, dataclasses.replace(POSITION, name="other")))


@bent("states[0].role: a position is i64 [1]")
def _() -> Program:
    return two_methods(states=(State("position", "i64", (2,), role="position"),))


@bent("states[0].role: a position is i64 [1]")
def _() -> Program:
    return two_methods(states=(State("position", "i32", (1,), role="position"),))


@bent("rows of tokens, the method has no position")
def _() -> Program:
    rows = Value("", "f32", (16, 4), "state", 0)
    return two_methods(rows, states=(State("s", "f32", (16, 4), role="tokens"), POSITION))


@bent("states[0].axis: expected below 1, got 1")
def _() -> Program:
    return two_methods(states=(State("s", "f32", (16, 4), axis=1),))


@bent("states[0].reach: expected 0 of a value, got 5")
def _() -> Program:
    return two_methods(states=(State("s", "f32", (16, 4), reach=5),))


@bent("a value there is not PLANNED")
def _() -> Program:
    return value(sample("moves"), 3, above=(0,))


@bent("expected 0 for PLANNED")
def _() -> Program:
    return value(sample("pointwise"), 3, base=1)


@bent("only a view has strides or an offset")
def _() -> Program:
    return value(sample("pointwise"), 3, strides=(3, 1))


@bent("only a view has strides or an offset")
def _() -> Program:
    return value(sample("pointwise"), 3, offset=1)


@bent("the base is a view itself")
def _() -> Program:
    return value(sample("moves"), 8, base=2)


@bent("no views of elements narrower than a byte")
def _() -> Program:
    values = [X, Y, Value("", "i4", (4,)), Value("", "i4", (4,), "view", 2)]
    return over(values, Instr("copy", (0,), (1,)))


@bent("values[2].base: expected below 2")
def _() -> Program:
    return over([X, Y, Value("", "f32", (4,), "view", 2)], Instr("copy", (0,), (1,)))


@bent("the port has another value")
def _() -> Program:
    return value(
        over([X, Y, Value("", "f32", (4,))], Instr("copy", (0,), (1,))), 2, storage="input"
    )


@bent("values: 1 of 3 belong to no method")
def _() -> Program:
    return method(over([X, Y, Value("", "f32", (4,))], Instr("copy", (0,), (1,))), 0, values=(0, 2))


@bent("methods[1].values: expected start 2")
def _() -> Program:
    return method(two_methods(Value("", "f32", (4,))), 1, values=(1, 3))


@bent("methods: expected at least one")
def _() -> Program:
    return Program("none")


@bent("constants[0].shape: axis 0 is -1")
def _() -> Program:
    program = sample("pointwise")
    (bias,) = program.constants
    return dataclasses.replace(program, constants=(dataclasses.replace(bias, shape=(-1,)),))


@bent("none for this dtype, format and shape")
def _() -> Program:
    odd = Constant("w", "f32", (17, 4), np.zeros(1, np.uint8), "panels", groups=3)
    values = [X, Y, Value("w", "f32", (17, 4), "constant", 0, layout="panels", groups=3)]
    return over(values, Instr("copy", (0,), (1,)), constants=(odd,))


@bent("value 2: its rows do not divide into its groups")
def _() -> Program:
    values = [X, Y, Value("", "f32", (17, 4), layout="panels", groups=3)]
    return over(values, Instr("copy", (0,), (1,)))


@bent("more than 2^40 elements")
def _() -> Program:
    """Beside an extent of 0, too: kernels loop over the others."""
    return over([X, Y, Value("", "f32", (2**40 + 1, 0))], Instr("copy", (0,), (1,)))


@bent("a view of elements -1 to 2, value 0 has 16 bytes")
def _() -> Program:
    return over([X, Y, Value("", "f32", (4,), "view", 0, None, -1)], Instr("copy", (2,), (1,)))


@bent("a view of elements 1 to 4, value 0 has 16 bytes")
def _() -> Program:
    return over([X, Y, Value("", "f32", (4,), "view", 0, None, 1)], Instr("copy", (2,), (1,)))


@bent("a view of elements 0 to 0, value 0 has 16 bytes")
def _() -> Program:
    """Its range of elements does not fit in 64 bits."""
    view = Value("", "f32", (4, 4), "view", 0, (2**62, 2**62))
    return over([X, view, Value("y", "f32", (4, 4), "output", 0)], Instr("copy", (1,), (2,)))


# --- dimensions -------------------------------------------------------------------------------------------------------


@bent("capacity of dimension 1 is expression")
def _() -> Program:
    program = sample("counted")
    n, count, k = program.dims
    return dataclasses.replace(
        program, dims=(n, dataclasses.replace(count, capacity=symbol(count) + 1), k)
    )


@bent("dimension k: input 1, the method has 0")
def _() -> Program:
    k = Dim("k", "shape", min=0, max=9, hint=2, port=1, element=0)
    return Program(
        "two",
        dims=(k,),
        values=(X, Value("s", "i64", (1,), "input", 1), Value("", "f32", (symbol(k),))),
        blocks=(Block(()), Block(())),
        methods=(
            Method("a", (Port("x", 0), Port("s", 1)), (), (0, 2), 0),
            Method("b", (), (), (2, 3), 1),
        ),
    )


@bent("dimension n: bound by no input of the method")
def _() -> Program:
    values = [X, Value("", "f32", (symbol(N),)), Y]
    return over(values, Instr("copy", (0,), (2,)), dims=(N,))


@bent("dimension n is bound by no input")
def _() -> Program:
    """An axis is the square of the size, which the runtime does not solve for it."""
    n = Dim("n", min=0)
    x = Value("x", "f32", (symbol(n) ** 2,), "input", 0)
    y = Value("y", "f32", (symbol(n) ** 2,), "output", 0)
    return over([x, Value("", "f32", (symbol(n),)), y], Instr("copy", (0,), (2,)), dims=(n,))
