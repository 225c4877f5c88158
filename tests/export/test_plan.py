"""Plans never let two values that are alive together overlap, whatever the sizes, and are close to the bound."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_programs import everything, planned

from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.plan import measure, overlaps, plan
from pteron.export.plan.conflicts import Conflicts
from pteron.export.plan.lifetimes import Lifetimes
from pteron.export.program import Block, Instr, Method, Port, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol

SIZES = st.fixed_dictionaries({"n": st.integers(0, 300), "m": st.integers(0, 300)})


@given(planned(), st.lists(SIZES, min_size=3, max_size=3))
@settings(max_examples=150, deadline=None)
def test_no_two_values_alive_together_overlap_at_any_sizes(
    program: Program, many: list[dict[str, int]]
):
    program = plan(program)
    for sizes in many:
        assert overlaps(program, 0, sizes) == []


@given(planned())
@settings(max_examples=50, deadline=None)
def test_plans_are_close_to_what_is_alive(program: Program):
    program = plan(program)
    (memory,) = program.memory
    assert memory.live_bytes <= memory.planned_bytes <= 1.1 * memory.live_bytes
    assert memory == measure(program, 0)


@given(planned())
@settings(max_examples=30, deadline=None)
def test_planning_again_and_reading_back_change_nothing(program: Program):
    once = plan(program)
    assert measure(plan(once), 0) == measure(once, 0)
    assert read(emit_bytes(once)) == once


def chain(n: int, size: int | object) -> Program:
    """x -> v1 -> v2 -> ... -> y, each a copy of the one before."""
    values = [Value("x", "f32", (size,), "input", 0)]  # type: ignore[arg-type]
    values += [Value(f"v{i}", "f32", (size,)) for i in range(n)]  # type: ignore[arg-type]
    values.append(Value("y", "f32", (size,), "output", 0))  # type: ignore[arg-type]
    instrs = tuple(Instr("copy", (i,), (i + 1,)) for i in range(n + 1))
    method = Method("main", (Port("x", 0),), (Port("y", n + 1),), (0, n + 2), 0)
    return Program(
        "chain",
        (Dim("n", hint=10),),
        values=tuple(values),
        blocks=(Block(instrs),),
        methods=(method,),
    )


def test_a_chain_needs_two_buffers():
    memory = measure(plan(chain(20, symbol(Dim("n")))), 0)
    assert memory.planned_bytes == memory.live_bytes == 128


def test_lists_stay_short():
    program = plan(chain(50, 100))
    assert max(len(v.above) for v in program.values) <= 2


def test_what_a_loop_reads_lives_through_the_loop():
    values = (
        Value("x", "f32", (16,), "input", 0),
        Value("outer", "f32", (16,)),
        Value("inner", "f32", (16,)),
        Value("next", "f32", (16,)),
        Value("out", "f32", (16,)),
        Value("carried", "f32", (16,), "param"),
        Value("y", "f32", (16,), "output", 0),
    )
    body = Block((Instr("copy", (1,), (2,)), Instr("copy", (2,), (3,))), params=(5,), results=(3,))
    main = Block(
        (
            Instr("copy", (0,), (1,)),
            Instr("loop", (None, None, 0), (4,), {"body": 1}),
            Instr("copy", (4,), (6,)),
        )
    )
    method = Method("main", (Port("x", 0),), (Port("y", 6),), (0, 7), 0)
    program = Program("loop", values=values, blocks=(main, body), methods=(method,))
    conflicts = Lifetimes(program, 0).conflicts()
    assert set(conflicts[1]) == {2, 3, 4}
    assert set(conflicts[3]) >= {4}


def test_a_block_called_twice_lives_twice():
    values = (
        Value("x", "f32", (16,), "input", 0),
        Value("a", "f32", (16,)),
        Value("b", "f32", (160,)),
        Value("inside", "f32", (1600,)),
        Value("c", "f32", (16,)),
        Value("p", "f32", (16,), "param"),
        Value("r", "f32", (16,), "param"),
        Value("y", "f32", (16,), "output", 0),
        Value("between", "f32", (1600,)),
    )
    body = Block((Instr("copy", (5,), (3,)), Instr("copy", (3,), (6,))), (5,), (6,))
    main = Block(
        (
            Instr("copy", (0,), (1,)),
            Instr("call", (1,), (2,), {"body": 1}),
            Instr("copy", (2,), (8,)),
            Instr("call", (8,), (4,), {"body": 1}),
            Instr("copy", (4,), (7,)),
        )
    )
    method = Method("main", (Port("x", 0),), (Port("y", 7),), (0, 9), 0)
    lives = Lifetimes(Program("call", values=values, blocks=(main, body), methods=(method,)), 0)
    assert len(lives.intervals[3]) == 2
    assert set(lives.conflicts()[3]) == {1, 2, 8, 4}


def test_counted_dimensions_are_planned_at_their_capacity():
    program = plan(everything())
    memory = measure(program, 0)
    assert memory.state_bytes == 128  # 8 x 4 floats
    assert measure(program, 0, {"n": 100, "m": 3}).planned_bytes > memory.planned_bytes


@pytest.mark.parametrize("width", [4, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_net_of_mixed_sizes_is_planned_within_a_tenth(width: int, seed: int):
    rng = np.random.default_rng(seed)
    values = [Value("x", "f32", (16,), "input", 0)]
    instrs = []
    for _ in range(150):
        recent = range(max(0, len(values) - width), len(values))
        inputs = tuple(int(v) for v in rng.choice(recent, min(3, len(recent)), replace=False))
        values.append(Value("", "f32", (int(2 ** rng.uniform(4, 16)),)))
        instrs.append(Instr("pointwise", inputs, (len(values) - 1,), {"steps": ()}))
    values.append(Value("y", "f32", (16,), "output", 0))
    instrs.append(Instr("copy", (150,), (151,)))
    method = Method("main", (Port("x", 0),), (Port("y", 151),), (0, 152), 0)
    program = Program(
        "net", values=tuple(values), blocks=(Block(tuple(instrs)),), methods=(method,)
    )
    assert measure(plan(program), 0).ratio <= 1.1


def test_a_plan_made_for_small_sizes_is_good_at_large_ones():
    """At the hints both middle values take 64 bytes; above them one is far larger."""
    n = symbol(Dim("n"))
    shapes = [(1,), (n,), (n * n,), (n,), (n * n * n,), (n,), (1,)]
    values = [Value(f"v{i}", "f32", s) for i, s in enumerate(shapes)]
    values[0] = Value("x", "f32", (1,), "input", 0)
    values[-1] = Value("y", "f32", (1,), "output", 0)
    instrs = tuple(
        Instr("pointwise", (i, i - 1) if i else (i,), (i + 1,), {"steps": ()}) for i in range(6)
    )
    method = Method("main", (Port("x", 0),), (Port("y", 6),), (0, 7), 0)
    program = Program(
        "n", (Dim("n"),), values=tuple(values), blocks=(Block(instrs),), methods=(method,)
    )
    planned_program = plan(program)
    for size in (1, 20, 500):
        assert measure(planned_program, 0, {"n": size}).ratio <= 1.1


def test_an_overlap_is_told_with_the_pair_that_shares_bytes():
    """y = b + a: a lies until the end. A plan that puts b, or y's operand, over any part of it is wrong."""
    values = (
        Value("x", "f32", (100,), "input", 0),
        Value("a", "f32", (100,)),
        Value("b", "f32", (100,)),
        Value("y", "f32", (100,), "output", 0),
    )
    instrs = (
        Instr("copy", (0,), (1,)),
        Instr("copy", (0,), (2,)),
        Instr("pointwise", (1, 2), (3,), {"steps": ()}),
    )
    method = Method("main", (Port("x", 0),), (Port("y", 3),), (0, 4), 0)
    program = Program("p", values=values, blocks=(Block(instrs),), methods=(method,))
    right = plan(program)
    assert overlaps(right, 0, {}) == []
    nothing_below = tuple(dataclasses.replace(v, above=()) for v in right.values)
    (pair,) = overlaps(dataclasses.replace(right, values=nothing_below), 0, {})
    assert {right.values[v].name for v in pair} == {"a", "b"}


TIMES = st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda t: (t[0], t[0] + t[1]))


@given(st.lists(st.lists(TIMES, max_size=3), max_size=90))
def test_conflicts_are_the_pairs_with_a_time_in_common(lives: list[list[tuple[int, int]]]):
    found = Conflicts(range(len(lives)), dict(enumerate(lives)))
    times = [{t for first, last in many for t in range(first, last + 1)} for many in lives]
    for v, mine in enumerate(times):
        wanted = [u for u, other in enumerate(times) if u != v and mine & other]
        assert list(found[v]) == wanted
