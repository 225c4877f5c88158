"""Control flow, counted sizes, states and hostile sizes, from a Program to results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sympy

from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import (
    Block,
    Constant,
    Delegate,
    Instr,
    Method,
    Port,
    Program,
    State,
    Value,
)
from pteron.export.sizes import Check, Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.errors import ArgumentError, DataError, LimitError, ProgramError
from pteron.schema.steps import Step

delegates = pytest.importorskip(
    "pteron.runtime.delegates", reason="needs the built module pteron._pteron"
)
runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)

N = Dim("n", min=0, max=512, hint=8)
C = Dim("c", "counted", min=0, capacity=symbol(N))
T = Dim("t", "counted", min=0)
C_OUT, D_OUT = (Dim(k, "counted", min=0, capacity=symbol(N)) for k in ("c_out", "d_out"))
n, c, t = map(symbol, (N, C, T))
X = np.arange(5, dtype=np.float32)


def unary(op: str, value: float, type: str = "f32") -> dict[str, Any]:
    """y = x op value."""
    return {
        "steps": (
            Step("load", type, 0),
            Step("literal", type, 1, arg=value),
            Step(op, type, 2, (0, 1)),
            Step("store", type, args=(2,)),
        )
    }


ADD = {
    "steps": (
        Step("load", "f32", 0),
        Step("load", "f32", 1, arg=1),
        Step("add", "f32", 2, (0, 1)),
        Step("store", "f32", args=(2,)),
    )
}
BELOW_100 = {
    "steps": (
        Step("load", "i64", 0),
        Step("literal", "i64", 1, arg=100),
        Step("lt", "i64", 2, (0, 1)),
        Step("store", "bool", args=(2,)),
    )
}


def model(
    values: Sequence[Value],
    blocks: Sequence[Block],
    inputs: Sequence[int],
    outputs: Sequence[int],
    **more: Any,
) -> Any:
    """A model of one method whose ports are these values; `caps` go to the runtime."""
    caps = more.pop("caps", {})
    ports = [tuple(Port(values[i].name, i) for i in side) for side in (inputs, outputs)]
    method = Method("main", ports[0], ports[1], (0, len(values)), 0)
    program = Program("test", values=tuple(values), blocks=tuple(blocks), methods=(method,), **more)
    return runtime.load(emit_bytes(plan(program)), threads=2, **caps)


def test_if_runs_one_branch():
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("which", "bool", (), "input", 1),
        Value("y", "f32", (n,), "output", 0),
        Value("a", "f32", (n,)),
        Value("b", "f32", (n,)),
    ]
    blocks = [
        Block((Instr("if", (1,), (2,), {"then_block": 1, "else_block": 2}),)),
        Block((Instr("pointwise", (0,), (3,), unary("add", 1.0)),), (), (3,)),
        Block((Instr("pointwise", (0,), (4,), unary("mul", -1.0)),), (), (4,)),
    ]
    m = model(values, blocks, [0, 1], [2], dims=(N,))
    assert np.array_equal(m(X, True), X + 1)
    assert np.array_equal(m(X, False), -X)


def loop_model(**caps: Any) -> Any:
    """Doubles x `k` times, at most 101, and keeps what it was before each time."""
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("k", "i64", (), "input", 1),
        Value("y", "f32", (n,), "output", 0),
        Value("rows", "f32", (t, n), "output", 1),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (n,), "param"),
        Value("go", "bool", ()),
        Value("next", "f32", (n,)),
        Value("row", "f32", (n,)),
    ]
    body = Block(
        (
            Instr("pointwise", (5,), (7,), unary("mul", 2.0)),
            Instr("copy", (5,), (8,)),
            Instr("pointwise", (4,), (6,), BELOW_100),
        ),
        (4, 5),
        (6, 7, 8),
    )
    main = Block((Instr("loop", (1, None, 0), (2, 3), {"body": 1}),))
    return model(values, [main, body], [0, 1], [2, 3], dims=(N, T), caps=caps)


@pytest.mark.parametrize("trips", [0, 1, 7])
def test_loop_carries_values_and_collects_rows(trips: int):
    y, rows = loop_model()(X, np.int64(trips))
    assert np.array_equal(y, X * 2**trips)
    assert rows.shape == (trips, 5)
    assert all(np.array_equal(row, X * 2**i) for i, row in enumerate(rows))


def test_loop_ends_when_its_body_says_so():
    assert loop_model()(X, np.int64(10**15))[1].shape == (101, 5)


def test_more_rows_than_the_capacity_are_a_limit():
    m = loop_model(max_extent=50)
    assert m(X, np.int64(50))[1].shape == (50, 5)
    with pytest.raises(LimitError, match="more rows than the output has room for; raise max_ext"):
        m(X, np.int64(51))


def test_memory_that_the_system_does_not_give_says_whose_it_is_and_what_bounds_it():
    with pytest.raises(
        MemoryError, match=r"main: .* 2,748,779,069,440 bytes .*; max_extent bounds"
    ):
        loop_model(max_extent=2**37)(X, np.int64(3))


def test_a_counted_size_goes_through_views_and_operators():
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("where", "i64", (1, c)),
        Value("", "i64", (c,), "view", 1),
        Value("picked", "f32", (c,)),
        Value("y", "f32", (c,), "output", 0),
    ]
    instrs = (
        Instr("nonzero", (0,), (1,)),
        Instr("gather", (0, 2), (3,)),
        Instr("pointwise", (3,), (4,), unary("add", 0.5)),
    )
    m = model(values, [Block(instrs)], [0], [4], dims=(N, C))
    for x in (np.array([0, 1, 0, 3, 4, 0], np.float32), np.zeros(6, np.float32), X, X[:0]):
        assert np.array_equal(m(x), x[x != 0] + np.float32(0.5))


def test_a_loop_carries_a_counted_size():
    """The same dimension outside, as the body's param and as the output: nothing resets it."""
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("k", "i64", (), "input", 1),
        Value("where", "i64", (1, c)),
        Value("y", "i64", (1, c), "output", 0),
        Value("i", "i64", (), "param"),
        Value("carried", "i64", (1, c), "param"),
        Value("go", "bool", ()),
        Value("next", "i64", (1, c)),
    ]
    body = Block(
        (
            Instr("pointwise", (5,), (7,), unary("add", 10, "i64")),
            Instr("pointwise", (4,), (6,), BELOW_100),
        ),
        (4, 5),
        (6, 7),
    )
    main = Block((Instr("nonzero", (0,), (2,)), Instr("loop", (1, None, 2), (3,), {"body": 1})))
    m = model(values, [main, body], [0, 1], [3], dims=(N, C))
    assert np.array_equal(m(X, np.int64(3)), [[31, 32, 33, 34]])
    assert np.array_equal(m(np.float32([0, 0, 7]), np.int64(0)), [[2]])


def test_what_is_left_of_a_list_has_room():
    """n - c elements are most when c is 0."""
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("where", "i64", (1, c)),
        Value("", "f32", (n - c,), "view", 0, (1,), c),
        Value("rest", "f32", (n - c,)),
        Value("y", "f32", (n - c,), "output", 0),
    ]
    instrs = (
        Instr("nonzero", (0,), (1,)),
        Instr("copy", (2,), (3,)),
        Instr("softmax", (3,), (4,)),
    )
    m = model(values, [Block(instrs)], [0], [4], dims=(N, C))
    for x in (X, 0 * X, X + 1, X[:0]):
        y = m(x)
        assert y.shape == (np.sum(x == 0),)
        assert y.size == 0 or abs(y.sum() - 1) < 1e-6


def test_what_sorts_the_rest_of_a_list_has_scratch():
    """Most when c is 0, too."""
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("where", "i64", (1, c)),
        Value("", "f32", (n - c,), "view", 0, None, c),
        Value("y", "f32", (n - c,), "output", 0),
        Value("at", "i64", (n - c,), "output", 1),
    ]
    instrs = (Instr("nonzero", (0,), (1,)), Instr("topk", (2,), (3, 4)))
    m = model(values, [Block(instrs)], [0], [3, 4], dims=(N, C))
    for x in (np.zeros(500, np.float32), np.ones(7, np.float32), np.float32([0, 3, 0, -1, 0])):
        best, at = m(x)
        rest = x[np.count_nonzero(x) :]
        assert np.array_equal(best, np.sort(rest)[::-1]) and np.array_equal(rest[at], best)


def test_more_than_at_the_least_and_the_most_count_has_no_room():
    """A size that is largest in between: prepare has seen both ends, and the run looks again."""
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("where", "i64", (1, c), "output", 0),
        Value("", "f32", (n, c * (n - c)), "view", 0, (1, 0)),
        Value("", "f32", (n, c * (n - c))),
    ]
    block = Block((Instr("nonzero", (0,), (1,)), Instr("copy", (2,), (3,))))
    m = model(values, [block], [0], [1], dims=(N, C))
    assert m(np.ones(4, np.float32)).tolist() == [[0, 1, 2, 3]]
    with pytest.raises(LimitError, match="needs 64 bytes, its memory has 0"):
        m(np.float32([0, 1, 0, 1]))


def test_a_branch_with_fewer_rows_than_the_output_says():
    rows = Dim("rows", "counted", min=0, capacity=sympy.Integer(4))
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("which", "bool", (), "input", 1),
        Value("y", "i64", (1, 4), "output", 0),
        Value("where", "i64", (1, symbol(rows))),
        Value("other", "i64", (1, 4), "input", 2),
        Value("copied", "i64", (1, 4)),
    ]
    blocks = [
        Block((Instr("if", (1,), (2,), {"then_block": 1, "else_block": 2}),)),
        Block((Instr("nonzero", (0,), (3,)),), (), (3,)),
        Block((Instr("copy", (4,), (5,)),), (), (5,)),
    ]
    m = model(values, blocks, [0, 1, 4], [2], dims=(rows,))
    other = np.array([[9, 8, 7, 6]])
    assert m(np.ones(4, np.float32), True, other).tolist() == [[0, 1, 2, 3]]
    assert m(np.float32([0, 1, 0, 1]), False, other).tolist() == other.tolist()
    with pytest.raises(
        DataError, match=r"op 0 \(if\): output 0, axis 1: expected 4 elements, got 2"
    ):
        m(np.float32([0, 1, 0, 1]), True, other)


def test_a_relation_of_sizes_is_asked_of_the_caller():
    m_ = Dim("m", min=0, max=512, hint=8)
    values = [
        Value("a", "f32", (n,), "input", 0),
        Value("b", "f32", (symbol(m_),), "input", 1),
        Value("y", "f32", (n,), "output", 0),
    ]
    relation = Check("le", n, symbol(m_), "a is no longer than b")
    block = Block((Instr("copy", (0,), (2,)),))
    m = model(values, [block], [0, 1], [2], dims=(N, m_), checks=(relation,))
    assert np.array_equal(m(X, X), X)
    with pytest.raises(ArgumentError, match="shapes: a is no longer than b: got 5 and 4"):
        m(X, X[:4])


def test_more_rows_than_a_copy_has_room_for_are_a_limit():
    of, to = (
        Dim(k, "counted", min=0, capacity=sympy.Integer(c)) for k, c in (("of", 4), ("to", 2))
    )
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("which", "bool", (), "input", 1),
        Value("y", "i64", (1, symbol(to)), "output", 0),
        Value("where", "i64", (1, symbol(of))),
    ]
    branch = Block((Instr("nonzero", (0,), (3,)),), (), (3,))
    blocks = [Block((Instr("if", (1,), (2,), {"then_block": 1, "else_block": 2}),)), branch]
    values.append(Value("where", "i64", (1, symbol(of))))
    blocks.append(Block((Instr("nonzero", (0,), (4,)),), (), (4,)))
    m = model(values, blocks, [0, 1], [2], dims=(of, to))
    assert m(np.float32([0, 1, 0, 1]), True).tolist() == [[1, 3]]
    with pytest.raises(LimitError, match="dimension to is 3, its capacity is 2; raise max_extent"):
        m(np.float32([0, 1, 1, 1]), True)


def called(
    params: Sequence[Value], weight: int = 5, layer: Block | None = None, **more: Any
) -> Any:
    constants = (
        Constant("a", "f32", (5,), np.full(5, 10, np.float32)),
        Constant("b", "f32", (5,), np.full(5, 0.5, np.float32)),
    )
    values = [
        Value("x", "f32", (5,), "input", 0),
        Value("h", "f32", (5,)),
        Value("y", "f32", (5,), "output", 0),
        Value("a", "f32", (5,), "constant", 0),
        Value("b", "f32", (5,), "constant", 1),
        *params,
    ]
    main = Block(
        (Instr("call", (0, 3), (1,), {"body": 1}), Instr("call", (1, 4), (2,), {"body": 1}))
    )
    body = layer or Block((Instr("pointwise", (5, 6), (7,), ADD),), (5, 6), (7,))
    return model(values, [main, body], [0], [2], constants=constants, **more)


PARAMS = [
    Value("in", "f32", (5,), "param"),
    Value("w", "f32", (5,), "param"),
    Value("out", "f32", (5,), "param"),
]


def test_a_repeated_layer_is_one_block():
    assert np.array_equal(called(PARAMS)(X), X + 10.5)


def test_a_param_of_another_size_is_refused_when_prepared():
    for i in range(3):
        params = [
            Value(p.name, "f32", (6,) if i == k else (5,), "param") for k, p in enumerate(PARAMS)
        ]
        with pytest.raises(
            ProgramError, match=r"axis 0: expected [56] elements, got [56]|shape rule"
        ):
            called(params)(X)


def test_writing_a_bound_constant_is_refused():
    layer = Block((Instr("pointwise", (5, 6), (7,), ADD), Instr("copy", (5,), (6,))), (5, 6), (7,))
    with pytest.raises(ProgramError, match="read-only"):
        called(PARAMS, layer=layer)(X)


@pytest.mark.parametrize("writer", ["loop", "rows", "if"])
@pytest.mark.parametrize("kind", ["constant", "input"])
def test_a_block_inside_binds_nothing_anew(writer: str, kind: str):
    """Control flow writes into a param that was proved; in between, another block would get it as memory that nobody writes."""
    kept = np.full((1, 5), 10, np.float32)
    values = [
        Value("x", "f32", (1, 5), "input", 0),
        Value("on", "bool", (), "input", 1),
        Value("trips", "i64", (), "input", 2),
        Value("y", "f32", (1, 5), "output", 0),
        Value("kept", "f32", (1, 5), kind, 3 if kind == "input" else 0),
        Value("written", "f32", (1, 5), "param"),
        Value("out", "f32", (1, 5), "param"),
        Value("", "f32", (1, 5)),
        Value("next", "f32", (1, 5)),
        Value("i", "i64", (), "param"),
        Value("go", "bool", ()),
        Value("", "f32", (5,), "view", 0),
        Value("row", "f32", (5,)),
    ]
    inside = (Instr("call", (4,), (7,), {"body": 3}), Instr("copy", (0,), (8,)))
    goes_on, row = Instr("copy", (1,), (10,)), Instr("copy", (11,), (12,))
    blocks = {
        "loop": (
            Block((Instr("call", (0,), (3,), {"body": 1}),)),
            Block((Instr("loop", (2, None, 5), (6,), {"body": 2}),), (5,), (6,)),
            Block((*inside, goes_on), (9, 5), (10, 8)),
        ),
        "rows": (
            Block((Instr("call", (), (3,), {"body": 1}),)),
            Block((Instr("loop", (2, None), (5,), {"body": 2}),), (), (5,)),
            Block((*inside, row, goes_on), (9,), (10, 12)),
        ),
        "if": (
            Block((Instr("call", (), (3,), {"body": 1}),)),
            Block((Instr("if", (1,), (5,), {"then_block": 2, "else_block": 2}),), (), (5,)),
            Block(inside, (), (8,)),
        ),
    }[writer]
    rebinds = Block((Instr("copy", (5,), (6,)),), (5,), (6,))
    constants = (Constant("kept", "f32", (1, 5), kept.copy()),) if kind == "constant" else ()
    inputs = [0, 1, 2, *([4] if kind == "input" else [])]
    with pytest.raises(ProgramError, match="is no PARAM of it"):
        model(values, (*blocks, rebinds), inputs, [3], constants=constants)


def test_a_param_used_outside_its_block_is_refused():
    values = [Value("x", "f32", (5,), "input", 0), Value("y", "f32", (5,), "output", 0), PARAMS[0]]
    m = model(values, [Block((Instr("copy", (2,), (1,)),))], [0], [1])
    with pytest.raises(ProgramError, match="bound to nothing"):
        m(X)


def test_a_param_larger_than_what_is_bound_to_it_is_refused():
    """What is bound has a counted size, so that only its room is known."""
    rows = Dim("rows", "counted", min=0, capacity=sympy.Integer(4))
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("where", "i64", (1, symbol(rows))),
        Value("y", "i64", (1, 8), "output", 0),
        Value("in", "i64", (1, 8), "param"),
        Value("out", "i64", (1, 8), "param"),
    ]
    main = Block((Instr("nonzero", (0,), (1,)), Instr("call", (1,), (2,), {"body": 1})))
    body = Block((Instr("copy", (3,), (4,)),), (3,), (4,))
    m = model(values, [main, body], [0], [2], dims=(rows,))
    with pytest.raises(ProgramError, match="is smaller than what the block declares"):
        m(np.ones(4, np.float32))


def test_scratch_that_does_not_fit_in_memory_is_a_limit():
    values = [
        Value("x", "f32", (2**30,), "input", 0),
        Value("y", "f32", (2**30,), "output", 0),
        Value("", "i64", (2**30,)),
    ]
    m = model(values, [Block((Instr("topk", (0,), (1, 2)),))], [0], [1])
    m._session.threads = 2**32 - 1
    with pytest.raises(LimitError, match="scratch does not fit in memory"):
        m._session._prepare([np.broadcast_to(np.float32(0), (2**30,))])


def test_a_loop_larger_than_its_output_is_refused():
    values = [
        Value("x", "f32", (500,), "input", 0),
        Value("y", "f32", (5,), "output", 0),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (500,), "param"),
        Value("go", "bool", ()),
        Value("next", "f32", (500,)),
    ]
    body = Block(
        (Instr("copy", (3,), (5,)), Instr("pointwise", (2,), (4,), BELOW_100)), (2, 3), (4, 5)
    )
    m = model(values, [Block((Instr("loop", (None, None, 0), (1,), {"body": 1}),)), body], [0], [1])
    with pytest.raises(ProgramError, match="axis 0: expected 500 elements, got 5"):
        m(np.zeros(500, np.float32))


@pytest.mark.parametrize("offset, ok", [(0, True), (5, True), (2, False), (-1, False)])
def test_outputs_may_not_lie_on_inputs(offset: int, ok: bool):
    """Rows of one planned value: the same row in place, another row apart, a shifted one across, one outside."""
    values = [
        Value("x", "f32", (5,), "input", 0),
        Value("room", "f32", (2, 5)),
        Value("", "f32", (5,), "view", 1),
        Value("", "f32", (5,), "view", 1, None, offset),
        Value("y", "f32", (5,), "output", 0),
    ]
    instrs = (
        Instr("copy", (0,), (2,)),
        Instr("pointwise", (2,), (3,), unary("add", 1.0)),
        Instr("copy", (3,), (4,)),
    )
    m = model(values, [Block(instrs)], [0], [4])
    if ok:
        assert np.array_equal(m(X), X + 1)
    else:
        with pytest.raises(ProgramError, match=r"shares memory|a view of elements"):
            m(X)


def test_columns_of_one_matrix_do_not_overlap():
    """The halves of a concat along the last axis interleave in memory but share no byte."""
    values = [
        Value("x", "f32", (n, 3), "input", 0),
        Value("y", "f32", (n, 6), "output", 0),
        Value("", "f32", (n, 3), "view", 1, (6, 1), 0),
        Value("", "f32", (n, 3), "view", 1, (6, 1), 3),
    ]
    instrs = (Instr("copy", (0,), (2,)), Instr("pointwise", (2,), (3,), unary("mul", 2.0)))
    m = model(values, [Block(instrs)], [0], [1], dims=(N,))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert np.array_equal(m(x), np.concatenate([x, 2 * x], 1))


def test_states_live_between_runs_and_shapes():
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("sum", "f32", (5,), "state", 0),
        Value("y", "f32", (5,), "output", 0),
        Value("", "f32", (5,), "view", 0),
    ]
    instrs = (Instr("pointwise", (3, 1), (2,), ADD), Instr("copy", (2,), (1,)))
    m = model(values, [Block(instrs)], [0], [2], dims=(N,), states=(State("sum", "f32", (5,)),))
    for k, size in enumerate((5, 9, 5), 1):
        x = np.arange(size, dtype=np.float32)
        assert np.array_equal(m(x), X * k)
    m.states["sum"] = X * 7
    assert np.array_equal(m(X), X * 8)
    m.states.reset()
    assert np.array_equal(m(X), X)
    with pytest.raises(ProgramError, match="a view of elements"):
        m(X[:4])


def test_a_fault_names_instruction_operator_input_and_position():
    values = [
        Value("x", "f32", (5,), "input", 0),
        Value("i", "i64", (3,), "input", 1),
        Value("y", "f32", (3,), "output", 0),
    ]
    m = model(values, [Block((Instr("gather", (0, 1), (2,)),))], [0, 1], [2])
    assert np.array_equal(m(X, np.array([4, -5, 0])), [4, 0, 0])
    with pytest.raises(DataError, match=r"op 0 \(gather\): input index at 1: .*got 5, expected 4"):
        m(X, np.array([0, 5, 0]))


def test_an_entry_of_a_delegate_has_one_instruction() -> None:
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("y", "f32", (4,), "output", 0),
        Value("z", "f32", (4,), "output", 1),
    ]
    block = Block(tuple(Instr("delegate", (0,), (k,), {"index": 0}) for k in (1, 2)))
    ports = (Port("x", 0),), (Port("y", 1), Port("z", 2))
    program = Program(
        "twice",
        values=tuple(values),
        blocks=(block,),
        methods=(Method("main", *ports, (0, 3), 0),),
        delegates=(Delegate("null", "null-1", b"blob", None, "allow"),),
    )
    with pytest.raises(ProgramError, match=r"instrs\[1\]\.index: delegates\[0\] has one already"):
        runtime.load(emit_bytes(plan(program)))


def test_a_delegate_gets_no_views_with_gaps() -> None:
    values = [
        Value("x", "f32", (8,), "input", 0),
        Value("", "f32", (4,), "view", 0, (2,)),
        Value("y", "f32", (4,), "output", 0),
    ]
    block = Block((Instr("delegate", (1,), (2,), {"index": 0}),))
    entry = Delegate("null", "null-1", b"blob", None, "forbid")
    null = next(d for d in delegates.known() if d.name == "null")
    m = model(values, [block], [0], [2], delegates=(entry,), caps={"delegates": [null]})
    with pytest.raises(ProgramError, match="operands of a delegate must be dense"):
        m(np.zeros(8, np.float32))
