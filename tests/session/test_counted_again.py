"""Counted sizes that are set again, by several, and by results that are views."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from session.test_control import BELOW_100, C_OUT, D_OUT, C, N, c, model, n, unary

from pteron.export.program import Block, Instr, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol


def test_what_counts_has_its_whole_room_each_time():
    """The second iteration finds more than the first: what the first one found is no bound."""
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("y", "i64", (1, c), "output", 0),
        Value("trips", "i64", (), "input", 1),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (4,), "param"),
        Value("go", "bool", ()),
        Value("next", "f32", (4,)),
        Value("out", "f32", (4,)),
        Value("where", "i64", (1, c)),
    ]
    body = Block(
        (
            Instr("nonzero", (4,), (8,)),
            Instr("copy", (8,), (1,)),
            Instr("pointwise", (4,), (6,), unary("add", 1.0)),
            Instr("pointwise", (3,), (5,), BELOW_100),
        ),
        (3, 4),
        (5, 6),
    )
    main = Block((Instr("loop", (2, None, 0), (7,), {"body": 1}),))
    capacity = Dim("c", "counted", min=0, capacity=sympy.Integer(4))
    m = model(values, [main, body], [0, 2], [1], dims=(capacity,))
    assert m(np.float32([0, 0, 0, 5]), np.int64(2)).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("by", ["if", "loop"])
def test_results_that_are_views_are_moved_element_by_element(by: str):
    """A transposed, a reversed and an expanded view of what a block has made."""
    shape, x = (3, 2, 2), np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    views = (
        Value("", "f32", shape, "view", 5, (1, 6, 3)),
        Value("", "f32", shape, "view", 5, (-4, -2, -1), 11),
        Value("", "f32", shape, "view", 5, (0, 1, 4), 2),
    )
    values = [
        Value("x", "f32", (2, 2, 3), "input", 0),
        Value("on", "bool", (), "input", 1),
        Value("trips", "i64", (), "input", 2),
        Value("zero", "f32", shape, "input", 3),
        Value("y0", "f32", shape, "output", 0),
        Value("made", "f32", (2, 2, 3)),
        Value("i", "i64", (), "param"),
        Value("go", "bool", ()),
        *[Value(f"y{k}", "f32", shape, "output", k) for k in (1, 2)],
        *[Value(f"p{k}", "f32", shape, "param") for k in range(3)],
        *views,
    ]
    work = (Instr("pointwise", (0,), (5,), unary("add", 1.0)), Instr("copy", (1,), (7,)))
    outputs, params, made = (4, 8, 9), (10, 11, 12), (13, 14, 15)
    branch = {"then_block": 1, "else_block": 1}
    blocks = {
        "if": (Block((Instr("if", (1,), outputs, branch),)), Block(work, (), made)),
        "loop": (
            Block((Instr("loop", (2, None, 3, 3, 3), outputs, {"body": 1}),)),
            Block(work, (6, *params), (7, *made)),
        ),
    }[by]
    m = model(values, blocks, [0, 1, 2, 3], outputs)
    got = m(x, np.bool_(True), np.int64(2), np.zeros(shape, np.float32))
    flat = (x + 1).ravel()
    for y, wanted in zip(
        got, ((x + 1).transpose(2, 0, 1), flat[::-1].reshape(shape), [flat[[[2, 6], [3, 7]]]] * 3)
    ):
        assert np.array_equal(y, wanted)


def test_a_loop_carries_several_counted_sizes():
    """Each output takes the extents of its own param."""
    d = Dim("d", "counted", min=0, capacity=symbol(N))
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("k", "i64", (), "input", 1),
        Value("a", "i64", (1, c)),
        Value("b", "i64", (1, symbol(d))),
        Value("y", "i64", (1, symbol(C_OUT)), "output", 0),
        Value("z", "i64", (1, symbol(D_OUT)), "output", 1),
        Value("i", "i64", (), "param"),
        Value("p", "i64", (1, c), "param"),
        Value("q", "i64", (1, symbol(d)), "param"),
        Value("go", "bool", ()),
        Value("", "i64", (1, c)),
        Value("", "i64", (1, symbol(d))),
        Value("", "f32", (n,)),
    ]
    body = Block(
        (
            Instr("pointwise", (7,), (10,), unary("add", 10, "i64")),
            Instr("copy", (8,), (11,)),
            Instr("pointwise", (6,), (9,), BELOW_100),
        ),
        (6, 7, 8),
        (9, 10, 11),
    )
    main = Block(
        (
            Instr("nonzero", (0,), (2,)),
            Instr("pointwise", (0,), (12,), unary("sub", 1.0)),
            Instr("nonzero", (12,), (3,)),
            Instr("loop", (1, None, 2, 3), (4, 5), {"body": 1}),
        )
    )
    m = model(values, [main, body], [0, 1], [4, 5], dims=(N, C, d, C_OUT, D_OUT))
    y, z = m(np.float32([0, 1, 0, 2, 1]), np.int64(2))
    assert y.tolist() == [[21, 23, 24]] and z.tolist() == [[0, 2, 3]]
    y, z = m(np.float32([1, 1, 1]), np.int64(3))
    assert y.tolist() == [[30, 31, 32]] and z.shape == (1, 0)
