"""Small correct programs, one for each thing that a file can hold; what hostile files are made from.

`python tests/program/samples.py FOLDER` writes them as .pte files. The package `pteron` must be importable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from pteron.export.file.emit import emit, emit_bytes
from pteron.export.plan import plan
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

N = Dim("n", min=1, max=64, hint=4)
SAMPLES: Final[dict[str, Callable[[], Program]]] = {}


def sample(make: Callable[[], Program]) -> Callable[[], Program]:
    SAMPLES[make.__name__] = make
    return make


def one_method(
    values: list[Value], blocks: list[Block], inputs: list[int], outputs: list[int], **more: object
) -> Program:
    """A program of one method over all values."""
    ports = [tuple(Port(values[v].name, v) for v in side) for side in (inputs, outputs)]
    method = Method("main", ports[0], ports[1], (0, len(values)), 0)
    return Program("sample", values=tuple(values), blocks=tuple(blocks), methods=(method,), **more)  # type: ignore[arg-type]


def unary(op: str) -> tuple[Step, ...]:
    return (
        Step("load", "f32", 0),
        Step(op, "f32", 1, (0,)),
        Step("store", "f32", args=(1,), arg=0),
    )


def add(scale: float = 1.0) -> tuple[Step, ...]:
    return (
        Step("load", "f32", 0, arg=0),
        Step("load", "f32", 1, arg=1),
        Step("literal", "f32", 2, arg=scale),
        Step("mul", "f32", 1, (1, 2)),
        Step("add", "f32", 0, (0, 1)),
        Step("store", "f32", args=(0,), arg=0),
    )


@sample
def pointwise() -> Program:
    """A dynamic batch, a constant expanded by strides, a planned value in between, names for the nodes."""
    n = symbol(N)
    bias = Constant("bias", "f32", (3,), np.array([1, 2, 3], np.float32))
    values = [
        Value("x", "f32", (n, 3), "input", 0),
        Value("bias", "f32", (3,), "constant", 0),
        Value("", "f32", (n, 3), "view", 1, (0, 1)),
        Value("sum", "f32", (n, 3)),
        Value("y", "f32", (n, 3), "output", 0),
    ]
    block = Block(
        (
            Instr("pointwise", (0, 2), (3,), {"steps": add(0.5)}, 0),
            Instr("pointwise", (3,), (4,), {"steps": unary("tanh")}, 1),
        )
    )
    nodes = (DebugNode("first", "Add", "m.py:1"), DebugNode("second", "Tanh"))
    checks = (Check("le", n, 64, "n <= 64"),)
    return one_method(
        values, [block], [0], [4], dims=(N,), constants=(bias,), nodes=nodes, checks=checks
    )


@sample
def matmul() -> Program:
    """A packed weight, a bias, an epilogue with an operand."""
    n = symbol(N)
    weight = np.arange(16 * 8, dtype=np.float32) / 64
    constants = (
        Constant("w", "f32", (5, 8), weight.view(np.uint8).reshape(-1), "panels"),
        Constant("b", "f32", (5,), np.ones(5, np.float32)),
    )
    values = [
        Value("x", "f32", (n, 8), "input", 0),
        Value("w", "f32", (5, 8), "constant", 0, layout="panels"),
        Value("b", "f32", (5,), "constant", 1),
        Value("more", "f32", (n, 5), "input", 1),
        Value("y", "f32", (n, 5), "output", 0),
    ]
    block = Block((Instr("matmul", (0, 1, 2, 3), (4,), {"steps": add(2.0)}),))
    return one_method(values, [block], [0, 3], [4], dims=(N,), constants=constants)


@sample
def moves() -> Program:
    """Copies in and out of views, gathers, a pool, a tuple of outputs, integers."""
    values = [
        Value("x", "f32", (2, 6, 4), "input", 0),
        Value("index", "i64", (3,), "input", 1),
        Value("", "f32", (4, 6, 2), "view", 0, (1, 4, 24)),
        Value("turned", "f32", (4, 6, 2)),
        Value("picked", "f32", (3, 6, 2)),
        Value("best", "f32", (3, 6, 1), "output", 0),
        Value("where", "i64", (3, 6, 1), "output", 1),
        Value("pooled", "f32", (2, 3, 4), "output", 2),
        Value("", "f32", (6, 2), "view", 3, None, 12),
        Value("row", "f32", (6, 2), "output", 3),
    ]
    pool = {"kernel": (2,), "stride": (2,), "dilation": (1,), "begin": (0,)}
    block = Block(
        (
            Instr("copy", (2,), (3,)),
            Instr("gather", (3, 1), (4,)),
            Instr("topk", (4,), (5, 6), {"largest": False}),
            Instr("max_pool", (0,), (7, None), pool),
            Instr("copy", (8,), (9,)),
        )
    )
    return one_method(values, [block], [0, 1], [5, 6, 7, 9])


@sample
def state() -> Program:
    """A cache that is written in place, and a second method that shares it."""
    n = symbol(N)
    start = Constant("start", "f32", (2, 8, 4), np.ones((2, 8, 4), np.float32))
    values = [
        Value("update", "f32", (2, 1, 4), "input", 0),
        Value("at", "i64", (2,), "input", 1),
        Value("cache", "f32", (2, 8, 4), "state", 0),
        Value("", "f32", (2, 8, 4), "view", 2),
        Value("y", "f32", (2, 8, 4), "output", 0),
        Value("x", "f32", (n,), "input", 0),
        Value("cache", "f32", (2, 8, 4), "state", 0),
        Value("all", "f32", (2, 8, 4), "output", 0),
    ]
    blocks = (
        Block(
            (
                Instr("tensor_scatter", (2, 0, 1), (3,), {"circular": True}),
                Instr("copy", (3,), (4,)),
            )
        ),
        Block((Instr("copy", (6,), (7,)),)),
    )
    methods = (
        Method("step", (Port("update", 0), Port("at", 1)), (Port("y", 4),), (0, 5), 0),
        Method("peek", (Port("x", 5),), (Port("all", 7),), (5, 8), 1),
    )
    states = (State("cache", "f32", (2, 8, 4), 0),)
    return Program(
        "state",
        dims=(N,),
        constants=(start,),
        states=states,
        values=tuple(values),
        blocks=blocks,
        methods=methods,
    )


@sample
def held() -> Program:
    """A state as long as the input is, to which each run adds."""
    n = symbol(N)
    values = [
        Value("x", "f32", (n, 64), "input", 0),
        Value("sum", "f32", (n, 64), "state", 0),
        Value("y", "f32", (n, 64), "output", 0),
    ]
    block = Block((Instr("pointwise", (0, 1), (2,), {"steps": add()}), Instr("copy", (2,), (1,))))
    states = (State("sum", "f32", (n, 64)),)
    return one_method(values, [block], [0], [2], dims=(N,), states=states)


@sample
def context() -> Program:
    """A cache whose rows are of tokens, written in place one by one, and the position that counts them."""
    one = Constant("one", "i64", (1,), np.ones(1, np.int64))
    values = [
        Value("update", "f32", (1, 2, 1, 4), "input", 0),
        Value("cache", "f32", (1, 2, 8, 4), "state", 0),
        Value("position", "i64", (1,), "state", 1),
        Value("one", "i64", (1,), "constant", 0),
        Value("", "f32", (1, 2, 8, 4), "view", 1),
        Value("", "i64", (1,), "view", 2),
        Value("y", "f32", (1, 2, 8, 4), "output", 0),
    ]
    steps = (
        Step("load", "i64", 0, arg=0),
        Step("load", "i64", 1, arg=1),
        Step("add", "i64", 0, (0, 1)),
        Step("store", "i64", args=(0,), arg=0),
    )
    block = Block(
        (
            Instr("tensor_scatter", (1, 0, 2), (4,), {"circular": False}),
            Instr("copy", (4,), (6,)),
            Instr("pointwise", (2, 3), (5,), {"steps": steps}),
        )
    )
    states = (
        State("cache", "f32", (1, 2, 8, 4), role="tokens", axis=2),
        State("position", "i64", (1,), role="position"),
    )
    return one_method(values, [block], [0], [6], constants=(one,), states=states)


@sample
def ring() -> Program:
    """A cache of 8 rows for any number of tokens, of which a run reads 3, and one of lines of 16 tokens."""
    one = Constant("one", "i64", (1,), np.ones(1, np.int64))
    values = [
        Value("update", "f32", (1, 2, 1, 4), "input", 0),
        Value("rows", "f32", (1, 2, 8, 4), "state", 0),
        Value("lines", "i8", (3, 2, 4, 16), "state", 1),
        Value("position", "i64", (1,), "state", 2),
        Value("one", "i64", (1,), "constant", 0),
        Value("", "f32", (1, 2, 8, 4), "view", 1),
        Value("", "i64", (1,), "view", 3),
        Value("y", "f32", (1, 2, 8, 4), "output", 0),
        Value("told", "i8", (3, 2, 4, 16), "output", 1),
        Value("past", "i64", (1,), "output", 2),
    ]
    steps = (
        Step("load", "i64", 0, arg=0),
        Step("load", "i64", 1, arg=1),
        Step("add", "i64", 0, (0, 1)),
        Step("store", "i64", args=(0,), arg=0),
    )
    block = Block(
        (
            Instr("copy", (3,), (9,)),
            Instr("tensor_scatter", (1, 0, 9), (5,), {"circular": True}),
            Instr("copy", (5,), (7,)),
            Instr("copy", (2,), (8,)),
            Instr("pointwise", (3, 4), (6,), {"steps": steps}),
        )
    )
    states = (
        State("rows", "f32", (1, 2, 8, 4), role="tokens", axis=2, reach=3),
        State("lines", "i8", (3, 2, 4, 16), role="panels"),
        State("position", "i64", (1,), role="position"),
    )
    return one_method(values, [block], [0], [7, 8, 9], constants=(one,), states=states)


@sample
def control() -> Program:
    """An if whose branch holds a loop; a block called twice."""
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("which", "bool", (), "input", 1),
        Value("trips", "i64", (), "input", 2),
        Value("y", "f32", (4,), "output", 0),
        Value("chosen", "f32", (4,)),
        Value("iteration", "i64", (), "param"),
        Value("carried", "f32", (4,), "param"),
        Value("next", "f32", (4,)),
        Value("go", "bool", ()),
        Value("looped", "f32", (4,)),
        Value("copied", "f32", (4,)),
        Value("in", "f32", (4,), "param"),
        Value("out", "f32", (4,), "param"),
        Value("twice", "f32", (4,)),
        Value("x_true", "bool", (), "input", 3),
    ]
    main = Block(
        (
            Instr("if", (1,), (4,), {"then_block": 1, "else_block": 2}),
            Instr("call", (4,), (13,), {"body": 4}),
            Instr("call", (13,), (3,), {"body": 4}),
        )
    )
    then = Block((Instr("loop", (2, None, 0), (9,), {"body": 3}),), (), (9,))
    other = Block((Instr("copy", (0,), (10,)),), (), (10,))
    body = Block(
        (Instr("copy", (14,), (8,)), Instr("pointwise", (6,), (7,), {"steps": unary("neg")})),
        (5, 6),
        (8, 7),
    )
    called = Block((Instr("pointwise", (11,), (12,), {"steps": unary("exp")}),), (11,), (12,))
    return one_method(values, [main, then, other, body, called], [0, 1, 2, 14], [3])


@sample
def nested() -> Program:
    """A called block that loops over another: params are bound while those further out are."""
    kept = Constant("kept", "f32", (4,), np.array([1, 2, 3, 4], np.float32))
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("trips", "i64", (), "input", 1),
        Value("x_true", "bool", (), "input", 2),
        Value("y", "f32", (4,), "output", 0),
        Value("kept", "f32", (4,), "constant", 0),
        Value("in", "f32", (4,), "param"),
        Value("out", "f32", (4,), "param"),
        Value("iteration", "i64", (), "param"),
        Value("carried", "f32", (4,), "param"),
        Value("go", "bool", ()),
        Value("made", "f32", (4,)),
        Value("next", "f32", (4,)),
        Value("inner", "f32", (4,), "param"),
        Value("result", "f32", (4,), "param"),
    ]
    main = Block((Instr("call", (0,), (3,), {"body": 1}),))
    outer = Block((Instr("loop", (1, None, 5), (6,), {"body": 2}),), (5,), (6,))
    body = Block(
        (
            Instr("call", (4,), (10,), {"body": 3}),
            Instr("pointwise", (8, 10), (11,), {"steps": add()}),
            Instr("copy", (2,), (9,)),
        ),
        (7, 8),
        (9, 11),
    )
    inner = Block((Instr("pointwise", (12,), (13,), {"steps": unary("neg")}),), (12,), (13,))
    blocks, inputs = [main, outer, body, inner], [0, 1, 2]
    return one_method(values, blocks, inputs, [3], constants=(kept,))


@sample
def counted() -> Program:
    """An extent that data decides, a shape input, dims as data."""
    dims = (
        N,
        Dim("count", "counted", min=0, capacity=2 * symbol(N)),
        Dim("k", "shape", min=0, max=9, hint=2, port=1, element=0),
    )
    n, count, k = map(symbol, dims)
    values = [
        Value("x", "f32", (2, n), "input", 0),
        Value("shape", "i64", (1,), "input", 1),
        Value("found", "i64", (2, count), "output", 0),
        Value("size", "i64", (3,), "output", 1),
        Value("", "f32", (k, n), "view", 0, (0, 1)),
        Value("wide", "f32", (k, n), "output", 2),
    ]
    block = Block(
        (
            Instr("nonzero", (0,), (2,)),
            Instr("dims", (), (3,), {"values": (n, k, 2 * n + 1)}),
            Instr("copy", (4,), (5,)),
        )
    )
    return one_method(values, [block], [0, 1], [2, 3, 5], dims=dims)


@sample
def grown() -> Program:
    """A loop that carries a counted size and collects rows, whose number is counted too."""
    dims = (
        N,
        Dim("count", "counted", min=0, capacity=symbol(N)),
        Dim("rows", "counted", min=0, capacity=4 * symbol(N)),
    )
    n, count, rows = map(symbol, dims)
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("trips", "i64", (), "input", 1),
        Value("always", "bool", (), "input", 2),
        Value("where", "i64", (1, count)),
        Value("", "i64", (count,), "view", 3, (1,), 0),
        Value("picked", "f32", (count,)),
        Value("last", "f32", (count,), "output", 0),
        Value("all", "f32", (rows, count), "output", 1),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (count,), "param"),
        Value("", "f32", (count,), "view", 9, (-1,), count - 1),
        Value("go", "bool", ()),
        Value("next", "f32", (count,)),
        Value("row", "f32", (count,)),
    ]
    main = Block(
        (
            Instr("nonzero", (0,), (3,)),
            Instr("gather", (0, 4), (5,)),
            Instr("loop", (1, None, 5), (6, 7), {"body": 1}),
        )
    )
    body = Block(
        (
            Instr("copy", (2,), (11,)),
            Instr("pointwise", (10,), (12,), {"steps": unary("neg")}),
            Instr("copy", (10,), (13,)),
        ),
        (8, 9),
        (11, 12, 13),
    )
    return one_method(values, [main, body], [0, 1, 2], [6, 7], dims=dims)


@sample
def layers() -> Program:
    """A layer called twice with other constants and states, its params seen through views, a call inside."""
    n = symbol(N)
    constants = tuple(Constant(f"w{i}", "f32", (4,), np.full(4, i, np.float32)) for i in (1, 2))
    states = tuple(State(f"s{i}", "f32", (3, 4)) for i in (1, 2))
    param = "param"
    values = [
        Value("x", "f32", (n, 4), "input", 0),
        Value("h", "f32", (n, 4)),
        Value("y", "f32", (n, 4), "output", 0),
        Value("w1", "f32", (4,), "constant", 0),
        Value("w2", "f32", (4,), "constant", 1),
        Value("s1", "f32", (3, 4), "state", 0),
        Value("s2", "f32", (3, 4), "state", 1),
        Value("in", "f32", (n, 4), param),
        Value("w", "f32", (4,), param),
        Value("s", "f32", (3, 4), param),
        Value("out", "f32", (n, 4), param),
        Value("", "f32", (n, 4), "view", 8, (0, 1)),
        Value("", "f32", (n, 4), "view", 9, (0, 1), 4),
        Value("", "f32", (4,), "view", 9, (1,), 4),
        Value("sum", "f32", (n, 4)),
        Value("row", "f32", (4,)),
        Value("inner", "f32", (4,), param),
        Value("outer", "f32", (4,), param),
    ]
    main = Block(
        (
            Instr("call", (0, 3, 5), (1,), {"body": 1}),
            Instr("call", (1, 4, 6), (2,), {"body": 1}),
        )
    )
    layer = Block(
        (
            Instr("pointwise", (7, 11), (14,), {"steps": add(2.0)}),
            Instr("pointwise", (14, 12), (10,), {"steps": add(-1.0)}),
            Instr("call", (8,), (15,), {"body": 2}),
            Instr("copy", (15,), (13,)),
        ),
        (7, 8, 9),
        (10,),
    )
    inner = Block((Instr("pointwise", (16,), (17,), {"steps": unary("exp")}),), (16,), (17,))
    return one_method(
        values,
        [main, layer, inner],
        [0],
        [2],
        dims=(N,),
        constants=constants,
        states=states,
    )


@sample
def delegated() -> Program:
    """A delegate and the block that stands in for it."""
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("y", "f32", (4,), "output", 0),
        Value("in", "f32", (4,), "param"),
        Value("out", "f32", (4,), "param"),
    ]
    main = Block((Instr("delegate", (0,), (1,), {"index": 0}),))
    stand_in = Block((Instr("copy", (2,), (3,)),), (2,), (3,))
    delegates = (Delegate("null", "null-1", b"blob" * 30, 1, "warn"),)
    return one_method(values, [main, stand_in], [0], [1], delegates=delegates)


@sample
def wide() -> Program:
    """Enough elements for a pool."""
    double = (
        Step("load", "f32", 0),
        Step("add", "f32", 1, (0, 0)),
        Step("store", "f32", args=(1,)),
    )
    n = symbol(N)
    values = [
        Value("x", "f32", (n, 2048), "input", 0),
        Value("y", "f32", (n, 2048), "output", 0),
    ]
    main = Block((Instr("pointwise", (0,), (1,), {"steps": double}),))
    return one_method(values, [main], [0], [1], dims=(N,))


@sample
def delegated_only() -> Program:
    """A delegate that nothing stands in for."""
    values = [Value("x", "f32", (4,), "input", 0), Value("y", "f32", (4,), "output", 0)]
    main = Block((Instr("delegate", (0,), (1,), {"index": 0}),))
    delegates = (Delegate("null", "null-1", b"blob" * 30, None, "forbid"),)
    return one_method(values, [main], [0], [1], delegates=delegates)


def write(folder: Path) -> list[Path]:
    """Every sample as FOLDER/<name>.pte, and one with its constants beside it in FOLDER/apart."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in SAMPLES.items():
        path = folder / f"{name}.pte"
        path.write_bytes(emit_bytes(plan(make())))
        paths.append(path)
    apart = folder / "apart"
    apart.mkdir(exist_ok=True)
    emit(plan(pointwise()), apart / "pointwise.pte", data="pointwise.bin")
    return paths


if __name__ == "__main__":
    write(Path(sys.argv[1]))
