"""Programs for the tests of emit, read and plan: one of every kind of row, and random ones."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import sympy
from hypothesis import strategies as st

from pteron.export.program import (
    Block,
    Constant,
    DebugNode,
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
from pteron.schema.steps import Step

N = Dim("n", min=1, max=512, hint=8)
M = Dim("m", min=0, max=99, hint=5)
COUNT = Dim("count", "counted", min=0, capacity=2 * symbol(N))


def relu() -> tuple[Step, ...]:
    return (
        Step("load", "f32", 0),
        Step("literal", "f32", 1, arg=0.1),
        Step("max", "f32", 2, (0, 1)),
        Step("round", "f32", 2, (2,), arg="bf16"),
        Step("cast", "i64", 3, (2,), "f32"),
        Step("wrap", "i64", 3, (3,), arg="u8"),
        Step("literal", "i64", 4, arg=-7),
        Step("store", "i64", args=(3,), arg=0),
    )


def everything() -> Program:
    """Uses each field of the file once; it makes sense to emit and read, not to a kernel."""
    n, m, count = symbol(N), symbol(M), symbol(COUNT)
    weight = np.arange(32 * 3, dtype=np.float32).reshape(32, 3)
    constants = (
        Constant("scale", "f32", (3,), np.array([1, -0.0, np.inf], np.float32)),
        Constant("same", "f32", (3,), np.array([1, -0.0, np.inf], np.float32)),
        Constant("codes", "i4", (3,), np.array([-8, 7, 1], ml_dtypes.int4)),
        Constant("half", "bf16", (2, 2), np.ones((2, 2), ml_dtypes.bfloat16)),
        Constant("w", "f32", (32, 3), weight.view(np.uint8).reshape(-1), "panels", groups=2),
        Constant("empty", "i64", (0,), np.zeros(0, np.int64)),
    )
    shape = (n, sympy.floor((m + 1) / 2), 3)
    values = (
        Value("x", "f32", shape, "input", 0),
        Value("flat", "f32", (n, 3), "planned"),
        Value("", "f32", (3, n), "view", 1, (1, 3), 0),
        Value("", "f32", (n - 1, 3), "view", 1, (3, 1), 3),
        Value("w", "f32", (32, 3), "constant", 4, layout="panels", groups=2),
        Value("past", "f32", (n, 4), "state", 0),
        Value("found", "i64", (1, count), "planned", above=(1,)),
        Value("y", "f32", (n, 32), "output", 0),
        Value("i", "i64", (), "param"),
        Value("axes", "i64", (2,), "planned", above=(6,)),
        Value("rows", "f32", (32,), "constant", 0),
    )
    main = Block(
        (
            Instr("pointwise", (0,), (1,), {"steps": relu()}, 0),
            Instr("matmul", (1, 4, None), (7,), {"steps": relu()}),
            Instr("dims", (), (9,), {"values": (n, 2 * m + 1)}),
            Instr("resize", (1,), (1,), {"scales": (1.0, 2.5), "mode": "linear", "cubic": -0.5}),
            Instr("loop", (None, None, 1), (1,), {"body": 1}),
            Instr("softmax", (2,), (2,)),
            Instr("reduce", (2,), (2,), {"kind": "mean", "count": 1}),
        )
    )
    body = Block((Instr("copy", (3,), (3,), {}, 1), Instr("nonzero", (5,), (6,))), (8,), (6, 1))
    return Program(
        model="everything é",
        dims=(N, M, COUNT, Dim("k", "shape", port=0, element=1)),
        checks=(Check("le", m, n, "m <= n"), Check("divides", 4, n * m, "4 divides n * m")),
        constants=constants,
        states=(State("past", "f32", (n, 4), 0), State("zeros", "i64", (m,))),
        values=values,
        blocks=(main, body),
        methods=(Method("main", (Port("x", 0),), (Port("y", 7),), (0, 11), 0),),
        delegates=(Delegate("null", "v1", b"blob", 1, "warn"),),
        nodes=(DebugNode("a", "Relu", "m.py:3"), DebugNode("b", "Gemm")),
        activations="float",
    )


@st.composite
def planned(draw: st.DrawFn) -> Program:
    """A program of copies with blocks, whose planned values come and go in random order."""
    dims = (Dim("n", hint=draw(st.integers(1, 40))), Dim("m", hint=draw(st.integers(1, 40))))
    n, m = map(symbol, dims)
    extents = st.sampled_from([1, 7, 64, n, m, 3 * n, n * m, n + m])
    values = [Value("x", "f32", (n,), "input", 0)]
    blocks: list[Block | None] = [None]

    def new() -> int:
        values.append(Value("", "f32", (draw(extents),)))
        return len(values) - 1

    def fill(depth: int, outer: list[int]) -> tuple[Instr, ...]:
        instrs, seen = [], list(outer)
        for _ in range(draw(st.integers(1, 6))):
            kind = draw(
                st.sampled_from(["copy", "copy", "copy", "loop", "if"] if depth < 2 else ["copy"])
            )
            inputs = tuple(draw(st.lists(st.sampled_from(seen), min_size=1, max_size=2)))
            if kind == "copy":
                y = new()
                instrs.append(Instr("pointwise", inputs, (y,), {"steps": ()}))
                seen.append(y)
                continue
            names = ["then_block", "else_block"] if kind == "if" else ["body"]
            attrs = {}
            for name in names:
                attrs[name] = len(blocks)
                blocks.append(None)
                inside = fill(depth + 1, seen)
                results = (inside[-1].outputs[0],)
                blocks[attrs[name]] = Block(inside, (), results)  # type: ignore[arg-type]
            y = new()
            instrs.append(
                Instr(kind, (None, None, *inputs) if kind == "loop" else inputs[:1], (y,), attrs)
            )
            seen.append(y)
        return tuple(instrs)

    main = fill(0, [0])
    values.append(Value("y", "f32", (n,), "output", 0))
    blocks[0] = Block((*main, Instr("copy", main[-1].outputs[:1], (len(values) - 1,))))
    method = Method("main", (Port("x", 0),), (Port("y", len(values) - 1),), (0, len(values)), 0)
    return Program("random", dims, values=tuple(values), blocks=tuple(blocks), methods=(method,))  # type: ignore[arg-type]
