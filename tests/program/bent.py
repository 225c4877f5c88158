"""Programs that break one rule each: all of them, those of instructions and blocks here, of values in bent_values.py."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
from program import bent_values  # noqa: F401
from program.bending import (
    BENT,
    Make,
    X,
    Y,
    bent,
    block,
    instr,
    over,
    sample,
    value,
)
from program.samples import one_method, unary

from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.steps import Step

__all__ = ["BENT", "Make"]


# --- instructions -----------------------------------------------------------------------------------------------------


@bent("shares memory with another output")
def _() -> Program:
    steps = (Step("load", "f32", 0), *(Step("store", "f32", args=(0,), arg=k) for k in (0, 1)))
    values = [X, Value("", "f32", (4,)), Value("", "f32", (4,)), Y]  # neither lies above the other
    return over(
        values, Instr("pointwise", (0,), (1, 2), {"steps": steps}), Instr("copy", (1,), (3,))
    )


@bent("shares memory with an input")
def _() -> Program:
    """Not the same elements in the same places: one further."""
    values = [X, Y, Value("", "f32", (8,)), Value("", "f32", (4,), "view", 2, None, 1)]
    values.append(Value("", "f32", (4,), "view", 2))
    neg = Instr("pointwise", (3,), (4,), {"steps": unary("neg")})
    return over(values, neg, Instr("copy", (4,), (1,)))


@bent("shares memory with an input")
def _() -> Program:
    """The same elements in another order."""
    values = [X, Y, Value("", "f32", (2, 2)), Value("", "f32", (2, 2), "view", 2, (1, 2))]
    return over(values, Instr("pointwise", (3,), (2,), {"steps": unary("neg")}))


@bent("shares memory with an input")
def _() -> Program:
    """Columns 0 to 4 and 4 to 8 of one matrix."""
    columns = [Value("", "f32", (4, 5), "view", 2, (9, 1), k) for k in (0, 4)]
    values = [X, Y, Value("", "f32", (4, 9)), *columns]
    neg = Instr("pointwise", (3,), (4,), {"steps": unary("neg")})
    return over(values, neg, Instr("copy", (0,), (1,)))


@bent("shares memory with an input")
def _() -> Program:
    """Only the first output may lie where an input does."""
    steps = (Step("load", "f32", 0), *(Step("store", "f32", args=(0,), arg=k) for k in (0, 1)))
    values = [X, Y, Value("", "f32", (4,)), Value("", "f32", (4,))]
    both = Instr("pointwise", (2,), (3, 2), {"steps": steps})
    return over(values, Instr("copy", (0,), (2,)), both, Instr("copy", (2,), (1,)))


@bent("output y: must be dense")
def _() -> Program:
    values = [X, Value("", "f32", (8,)), Value("", "f32", (4,), "view", 1, (2,)), Y]
    return over(values, Instr("softmax", (0,), (2,), {}), Instr("copy", (2,), (3,)))


@bent("shares memory with another output")
def _() -> Program:
    """Columns of one matrix lie apart; only so many pairs are looked into, and these are more."""
    columns = [Value("", "f32", (4, 1), "view", 2, (40, 1), k) for k in range(40)]
    values = [X, Y, Value("", "f32", (4, 40)), *columns]
    steps = (Step("load", "f32", 0), *(Step("store", "f32", args=(0,), arg=k) for k in range(40)))
    split = Instr("pointwise", (3,), tuple(range(3, 43)), {"steps": steps})
    return over(values, split, Instr("copy", (0,), (1,)))


@bent("instrs[0].outputs: pointwise: 0 of them: missing")
def _() -> Program:
    pointwise = Instr("pointwise", (0,), (), {"steps": unary("neg")[:2]})
    return over([X, Y], pointwise, Instr("copy", (0,), (1,)))


@bent("input x: must be dense")
def _() -> Program:
    values = [Value("x", "f32", (8,), "input", 0), Value("", "f32", (4,), "view", 0, (2,)), X, Y]
    values[2] = dataclasses.replace(X, name="gain", base=1)
    return over(values, Instr("rms_norm", (1, 2), (3,), {"count": 1, "epsilon": 1e-5}))


@bent("writes a view that is expanded or overlaps itself")
def _() -> Program:
    values = [X, Y, Value("", "f32", (4,)), Value("", "f32", (2, 3), "view", 2, (1, 1))]
    values.append(Value("z", "f32", (2, 3), "input", 1))
    return over(values, Instr("copy", (4,), (3,)), Instr("copy", (0,), (1,)))


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """A param of no block is read."""
    return over([X, Y, Value("", "f32", (4,), "param")], Instr("softmax", (2,), (1,), {}))


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """And written."""
    values = [X, Y, Value("", "f32", (4,), "param")]
    return over(values, Instr("softmax", (0,), (2,), {}), Instr("copy", (0,), (1,)))


@bent("index: no such axis, got 1")
def _() -> Program:
    steps = (
        Step("index", "i64", 0, arg=1),
        Step("cast", "f32", 1, (0,), source="i64"),
        Step("store", "f32", args=(1,)),
    )
    return over([X, Y], Instr("pointwise", (), (1,), {"steps": steps}))


@bent("round: no f16 or bf16, got")
def _() -> Program:
    return over([X, Y], Instr("pointwise", (0,), (1,), {"steps": one_step("round", "f32", "f32")}))


@bent("wrap: no integer, got")
def _() -> Program:
    values = [Value("x", "i64", (4,), "input", 0), Value("y", "i64", (4,), "output", 0)]
    return over(values, Instr("pointwise", (0,), (1,), {"steps": one_step("wrap", "i64", "f32")}))


def one_step(op: str, kind: str, arg: str) -> tuple[Step, ...]:
    return (
        Step("load", kind, 0),
        Step(op, kind, 1, (0,), arg=arg),
        Step("store", kind, args=(1,)),
    )


@bent("more outputs than steps, got 257")
def _() -> Program:
    many = [Value("", "f32", (4,)) for _ in range(257)]
    neg = Instr("pointwise", (0,), tuple(range(2, 259)), {"steps": unary("neg")})
    return over([X, Y, *many], neg, Instr("copy", (0,), (1,)))


@bent("at most 256 steps, got 257")
def _() -> Program:
    more = (Step("neg", "f32", 1, (0,)),) * 255
    return over(
        [X, Y], Instr("pointwise", (0,), (1,), {"steps": (unary("neg")[0], *more, unary("neg")[2])})
    )


@bent("too many elements, got 4097")
def _() -> Program:
    values = [X, Value("y", "i64", (4097,), "output", 0)]
    return over(values, Instr("dims", (), (1,), {"values": (3,) * 4097}))


@bent("expected at most 4096, got 4097")
def _() -> Program:
    return over([X, Y], Instr("pointwise", (0,) * 4097, (1,), {"steps": unary("neg")}))


@bent("store: the output is stored twice")
def _() -> Program:
    steps = (*unary("neg"), Step("store", "f32", args=(1,)))
    return over([X, Y], Instr("pointwise", (0,), (1,), {"steps": steps}))


@bent("operands without steps")
def _() -> Program:
    return instr(sample("matmul"), 0, 0, attrs={})


# --- blocks -----------------------------------------------------------------------------------------------------------


@bent("value 0 is not of method 1")
def _() -> Program:
    return block(block(called_by_two(), 0, instrs=()), 2, params=(0,))


@bent("the block is of another method")
def _() -> Program:
    return called_by_two()


def called_by_two() -> Program:
    """Two methods that call one block, which is the second's."""
    values = (X, Y, X, Y, Value("", "f32", (4,), "param"), Value("", "f32", (4,), "param"))
    called = Block((Instr("copy", (4,), (5,)),), (4,), (5,))
    return Program(
        "two",
        values=values,
        blocks=(*(Block((Instr("call", (i,), (i + 1,), {"body": 2}),)) for i in (0, 2)), called),
        methods=(
            Method("a", (Port("x", 0),), (Port("y", 1),), (0, 2), 0),
            Method("b", (Port("x", 2),), (Port("y", 3),), (2, 6), 1),
        ),
    )  # fmt: skip


@bent("a result is a PARAM; expected its own value")
def _() -> Program:
    return block(value(sample("control"), 3, storage="output"), 3, results=(8, 6))


@bent("the block has other params or results")
def _() -> Program:
    return block(sample("control"), 2, results=())


@bent("the block has other params or results")
def _() -> Program:
    return block(sample("control"), 4, results=())


@bent("a result of a called block is no PARAM of it")
def _() -> Program:
    return block(sample("control"), 4, results=(3,))


@bent("a result of a called block is no PARAM of it")
def _() -> Program:
    """It is one of the block that calls."""
    return called_in_turn(Block((Instr("copy", (4,), (5,)),), (4,), (3,)))


@bent("is no PARAM of it")
def _() -> Program:
    """Two blocks have one parameter."""
    return called_in_turn(Block((Instr("copy", (2,), (5,)),), (2,), (5,)))


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """A block reads a parameter of one that has ended."""
    return called_in_turn(Block((Instr("copy", (2,), (5,)),), (4,), (5,)))


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """And one of a loop that has ended."""
    values = [X, Y, *(Value(n, "f32", (4,), s) for n, s in (("c", "param"), ("", "planned")))]
    values += [Value("trips", "i64", (), "input", 1), Value("", "i64", (), "param")]
    values += [Value("on", "bool", (), "input", 2), Value("", "bool", ()), Value("", "f32", (4,))]
    body = Block((Instr("copy", (6,), (7,)), Instr("copy", (0,), (8,))), (5, 2), (7, 8))
    loop = Instr("loop", (4, None, 0), (3,), {"body": 1})
    return called(values, loop, Instr("copy", (2,), (1,)), body=body)


def called_in_turn(second: Block) -> Program:
    """One block after the other: the first has params 2 and 3, `second` what it says of 2 to 5."""
    values = [X, Y, *(Value("", "f32", (4,), "param") for _ in range(4)), Value("", "f32", (4,))]
    first = Block((Instr("copy", (2,), (3,)),), (2,), (3,))
    calls = (Instr("call", (0,), (6,), {"body": 1}), Instr("call", (6,), (1,), {"body": 2}))
    return one_method(values, [Block(calls), first, second], [0], [1])


@bent("the block has other params or results")
def _() -> Program:
    return block(sample("control"), 3, results=(8,))


@bent("writes memory that is read-only", "what is bound to a param shows while running")
def _() -> Program:
    """A called block writes an input of its caller."""
    values = [X, Y, *(Value("", "f32", (4,), s) for s in ("param", "param", "planned"))]
    neg = Instr("pointwise", (2,), (4,), {"steps": unary("neg")})
    body = Block((neg, Instr("copy", (4,), (2,)), Instr("copy", (2,), (3,))), (2,), (3,))
    main = Block((Instr("call", (0,), (1,), {"body": 1}),))
    return one_method(values, [main, body], [0], [1])


def called(values: list[Value], *instrs: Instr, body: Block) -> Program:
    """A main block over these values, and a block that it runs."""
    sides = [[i for i, v in enumerate(values) if v.storage == s] for s in ("input", "output")]
    return one_method(values, [Block(tuple(instrs)), body], *sides)


WIDE: Final = Value("x", "f32", (8,), "input", 0)
EVERY_OTHER: Final = Value("", "f32", (4,), "view", 0, (2,))


@bent("must be dense")
def _() -> Program:
    """What a call binds to a param."""
    values = [WIDE, EVERY_OTHER, Y, *(Value("", "f32", (4,), "param") for _ in range(2))]
    body = Block((Instr("copy", (3,), (4,)),), (3,), (4,))
    return called(values, Instr("call", (1,), (2,), {"body": 1}), body=body)


@bent("must be dense")
def _() -> Program:
    """And to a result."""
    values = [X, Y, Value("", "f32", (8,)), Value("", "f32", (4,), "view", 2, (2,))]
    values += [Value("", "f32", (4,), "param") for _ in range(2)]
    body = Block((Instr("copy", (4,), (5,)),), (4,), (5,))
    return called(
        values, Instr("call", (0,), (3,), {"body": 1}), Instr("copy", (0,), (1,)), body=body
    )


@bent("must be dense")
def _() -> Program:
    """The rows that a loop collects."""
    values = [X, Y, Value("trips", "i64", (), "input", 1), Value("", "f32", (8,))]
    values += [Value("", "f32", (1, 4), "view", 3, (4, 2)), Value("", "i64", (), "param")]
    values += [Value("on", "bool", (), "input", 2), Value("", "bool", ()), Value("", "f32", (4,))]
    body = Block((Instr("copy", (6,), (7,)), Instr("copy", (0,), (8,))), (5,), (7, 8))
    loop = Instr("loop", (2, None), (4,), {"body": 1})
    return called(values, loop, Instr("copy", (0,), (1,)), body=body)


@bent("(loop): output y: must be dense")
def _() -> Program:
    """The second value that a loop carries."""
    values = [X, Value("z", "f32", (4,), "input", 1), Value("trips", "i64", (), "input", 2), Y]
    values += [Value("", "f32", (8,)), Value("", "f32", (4,), "view", 4, (2,))]
    values += [Value("", "i64", (), "param"), *(Value("", "f32", (4,), "param") for _ in range(2))]
    values += [Value("on", "bool", (), "input", 3), Value("", "bool", ())]
    values += [Value("", "f32", (4,)) for _ in range(2)]
    copies = (Instr("copy", (f,), (t,)) for f, t in ((9, 10), (8, 11), (7, 12)))
    body = Block(tuple(copies), (6, 7, 8), (10, 11, 12))
    return called(values, Instr("loop", (2, None, 0, 1), (3, 5), {"body": 1}), body=body)


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """The result of a branch is a view of a param of no block."""
    values = [X, Y, Value("f", "bool", (), "input", 1), Value("", "f32", (8,), "param")]
    values += [Value("", "f32", (4,), "view", 3)]
    body = Block((), (), (4,))
    return called(values, Instr("if", (2,), (1,), {"then_block": 1, "else_block": 1}), body=body)


@bent("is bound to nothing", "what is bound to a param shows while running")
def _() -> Program:
    """And so is the condition of a loop."""
    values = [X, Y, Value("trips", "i64", (), "input", 1), Value("", "i64", (), "param")]
    values += [Value("", "bool", (4,), "param"), Value("", "bool", (), "view", 4)]
    body = Block((), (3,), (5,))
    loop = Instr("loop", (2, None), (), {"body": 1})
    return called(values, loop, Instr("copy", (0,), (1,)), body=body)


@bent("rows of elements narrower than a byte")
def _() -> Program:
    values = [X, Y, Value("trips", "i64", (), "input", 1), Value("", "i64", (), "param")]
    values += [Value("on", "bool", (), "input", 2), Value("", "bool", ())]
    values += [Value("", "i4", (1, 4)), Value("z", "i4", (4,))]
    body = Block((Instr("copy", (4,), (5,)),), (3,), (5, 7))
    loop = Instr("loop", (2, None), (6,), {"body": 1})
    return called(values, loop, Instr("copy", (0,), (1,)), body=body)


@bent("operands outgrow the file", "no pass makes so many")
def _() -> Program:
    """Prepare would compare each with each."""
    many = [Value("", "f32", (4,), "param") for _ in range(1200)]
    outs = tuple(range(2, 1202))
    call = Instr("call", outs, outs, {"body": 1})
    return one_method(
        [X, Y, *many],
        [Block((call, Instr("copy", (0,), (1,)))), Block((), outs, outs)],
        [0],
        [1],
    )


@bent("delegates[0] has one already")
def _() -> Program:
    program = sample("delegated")
    return block(program, 0, instrs=program.blocks[0].instrs * 2)


@bent("1025 delegates, at most 1024")
def _() -> Program:
    program = sample("delegated")
    more = [dataclasses.replace(program.delegates[0], blob=b"%d" % i) for i in range(1025)]
    return dataclasses.replace(program, delegates=tuple(more))


@bent("does not fit in 64 bits", "sizes of a caller")
def _() -> Program:
    return with_size((symbol(Dim("n", min=0)) + 2**40) ** 2)


@bent("value 1: a size is divided by zero", "sizes of a caller")
def _() -> Program:
    """Of the place of a view."""
    n = symbol(Dim("n", min=0))
    x, y = (Value(s[0], "f32", (n,), s, 0) for s in ("input", "output"))
    view = Value("", "f32", (1,), "view", 0, (1,), 4 // (n - 1))
    return over([x, view, y], Instr("copy", (0,), (2,)), dims=(Dim("n", min=0),))


def far_apart(shape: tuple[int, ...], step: int, first: int = 0) -> Program:
    """So far apart that 64 bits do not count them."""
    values = [X, Value("", "f32", shape, "view", 0, (step,) * len(shape), first), Y]
    return over(values, Instr("copy", (0,), (2,)))


@bent("a view of elements")
def _() -> Program:
    return far_apart((4,), 2**62)


@bent("a view of elements")
def _() -> Program:
    """Each axis alone would do."""
    return far_apart((2, 2), 2**62)


@bent("a view of elements")
def _() -> Program:
    return far_apart((2, 2, 2), -(2**62))


@bent("a view of elements")
def _() -> Program:
    return far_apart((2,), 2**62, 2**62)


@bent("expected the constant's, in numbers")
def _() -> Program:
    """The first of its axes alone."""
    rows = Constant("rows", "f32", (4, 2), np.zeros((4, 2), np.float32))
    return over(
        [Value("rows", "f32", (4,), "constant", 0), Y], Instr("copy", (0,), (1,)), constants=(rows,)
    )


@bent("divided by zero", "sizes of a caller")
def _() -> Program:
    return with_size(4 // (symbol(Dim("n", min=0)) - 1))


@bent("extent -3 is negative", "sizes of a caller")
def _() -> Program:
    return with_size(1 - 4 * symbol(Dim("n", min=0)))


def with_size(size: Any) -> Program:
    """Of a value that nothing reads, from an n that a caller gives."""
    n = Dim("n", min=0)
    x, y = (Value(s[0], "f32", (symbol(n),), s, 0) for s in ("input", "output"))
    return over([x, Value("", "f32", (size,)), y], Instr("copy", (0,), (2,)), dims=(n,))


# --- what a kernel asks beyond its row ----------------------------------------------------------------------------------

KERNEL: Final = "what a kernel asks beyond its row"


def resized(out: int, **attrs: Any) -> Program:
    values = [
        Value("x", "f32", (1, 4, 4, 2), "input", 0),
        Value("y", "f32", (1, out, 4, 2), "output", 0),
    ]
    return over(values, Instr("resize", (0,), (1,), attrs))


@bent("extent does not follow from the scale", KERNEL)
def _() -> Program:
    return resized(8, scales=(1.0, 1.0))


@bent("extent does not follow from the scale", KERNEL)
def _() -> Program:
    return resized(8, scales=(3.5, 1.0))


@bent("region out of range", KERNEL)
def _() -> Program:
    crop = {"coordinates": "tf_crop_and_resize", "region": (0.0, 0.0, 2.0**21, 1.0)}
    return resized(8, scales=(2.0, 1.0), **crop)


@bent("values[2].groups: needs layout PANELS")
def _() -> Program:
    return over([X, Y, Value("", "f32", (4,), groups=2)], Instr("copy", (0,), (1,)))


@bent("constants[0].groups: needs layout PANELS")
def _() -> Program:
    program = sample("pointwise")
    return dataclasses.replace(
        program, constants=(dataclasses.replace(program.constants[0], groups=2),)
    )


@bent("shares memory with an input")
def _() -> Program:
    """Elements of four bits lie whole, or not at all."""
    values = [X, Y, Value("", "i4", (4,)), Value("", "i64", (4,))]
    return over(values, Instr("unpack", (2,), (3,), {}), Instr("copy", (0,), (1,)))


@bent("shares memory with an input")
def _() -> Program:
    """And so do panels."""
    values = [X, Y, Value("", "f32", (16, 4)), Value("", "f32", (16, 4), layout="panels")]
    return over(values, Instr("pack", (2,), (3,), {}), Instr("copy", (0,), (1,)))


@bent("shares memory with an input")
def _() -> Program:
    """Columns beside which two rows would fit, of which a panel makes sixteen."""
    values = [X, Y, Value("", "f32", (2, 32)), Value("", "f32", (2, 8), "view", 2, (32, 1))]
    values += [Value("", "f32", (16,)), Value("", "f32", (2, 8), above=(4,), layout="panels")]
    return over(values, Instr("pack", (3,), (5,), {}), Instr("copy", (0,), (1,)))
