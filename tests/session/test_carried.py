"""What loops carry: several values at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from session.test_control import ADD, N, X, model, n, unary

from pteron.export.program import Block, Instr, Value
from pteron.schema.errors import ProgramError


def two_carried() -> list[Value]:
    """A loop that doubles `a` and adds it to `b`, as long as there are trips."""
    return [
        Value("a", "f32", (n,), "input", 0),
        Value("b", "f32", (n,), "input", 1),
        Value("trips", "i64", (), "input", 2),
        Value("go", "bool", (), "input", 3),
        Value("a_end", "f32", (n,), "output", 0),
        Value("b_end", "f32", (n,), "output", 1),
        Value("i", "i64", (), "param"),
        Value("a_now", "f32", (n,), "param"),
        Value("b_now", "f32", (n,), "param"),
        Value("go_on", "bool", ()),
        Value("a_next", "f32", (n,)),
        Value("b_next", "f32", (n,)),
    ]


def looped(values: list[Value]) -> Any:
    inside = (
        Instr("copy", (3,), (9,)),
        Instr("pointwise", (7,), (10,), unary("mul", 2.0)),
        Instr("pointwise", (7, 8), (11,), ADD),
    )
    blocks = [
        Block((Instr("loop", (2, None, 0, 1), (4, 5), {"body": 1}),)),
        Block(inside, (6, 7, 8), (9, 10, 11)),
    ]
    return model(values, blocks, [0, 1, 2, 3], [4, 5], dims=(N,))


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_a_loop_carries_two_values(trips: int):
    got = looped(two_carried()).run(
        {"a": X, "b": X + 1, "trips": np.int64(trips), "go": np.bool_(True)}
    )
    assert np.array_equal(got["a_end"], X * 2**trips)
    assert np.array_equal(got["b_end"], X + 1 + X * (2**trips - 1))


@pytest.mark.parametrize("at, named", [(0, "input a"), (1, "input b")])
def test_the_value_that_does_not_fit_what_a_loop_carries_is_named(at: int, named: str):
    values = two_carried()
    values[at] = Value("ab"[at], "f32", (n + 1,), "input", at)
    with pytest.raises(ProgramError, match=rf"loop.*: (carried|{named}|input {2 + at})"):
        looped(values).run(
            {
                "a": np.zeros(5 + (at == 0), np.float32),
                "b": np.zeros(5 + (at == 1), np.float32),
                "trips": np.int64(1),
                "go": np.bool_(True),
            }
        )
