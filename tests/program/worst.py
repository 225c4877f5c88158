"""Programs that are as slow to verify and prepare as their bytes allow: `WORST[name](n)` has about n of what it is named for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sympy
from program.samples import one_method, unary

from pteron.export.program import Block, Delegate, Instr, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.steps import Step

WORST: Final[dict[str, Callable[[int], Program]]] = {}
N = Dim("n", min=0, max=9)
C = Dim("c", "counted", min=0)


def worst(make: Callable[[int], Program]) -> Callable[[int], Program]:
    WORST[make.__name__] = make
    return make


def line(values: list[Value], instrs: list[Instr], **more: object) -> Program:
    """Value 0 is the input; a last one becomes the output, a copy of it."""
    y = len(values)
    values = [*values, Value("y", values[0].dtype, values[0].shape, "output", 0)]
    return one_method(values, [Block((*instrs, Instr("copy", (0,), (y,))))], [0], [y], **more)


def floats(count: int) -> list[Value]:
    return [Value("x", "f32", (2,), "input", 0)] + [Value("", "f32", (2,)) for _ in range(count)]


def stacked(count: int) -> list[Value]:
    """The same, each above the one before."""
    above = ((k - 1,) if k > 1 else () for k in range(1, count + 1))
    return [*floats(0), *(Value("", "f32", (2,), above=a) for a in above)]


@worst
def instructions(n: int) -> Program:
    return line(floats(1), [Instr("pointwise", (0,), (1,), {"steps": unary("neg")})] * n)


@worst
def interleaved_views(n: int) -> Program:
    """Sources and targets that lie between each other's elements along the last of eight axes."""
    shape, strides = (2,) * 8, tuple(2 << k for k in range(7, -1, -1))
    values = [*floats(0), Value("", "f32", (1024,))]
    values += [Value("", "f32", shape, "view", 1, strides, k) for k in (0, 1)]
    return line(values, [Instr("copy", (2,), (3,))] * n)


@worst
def operands_in_common(n: int) -> Program:
    """One list of inputs that many instructions share."""
    step = (Step("load", "f32", 0), Step("store", "f32", args=(0,)))
    wide = tuple(range(1, 201))
    out = Instr("pointwise", wide, (201,), {"steps": step})
    return line(floats(201), [out] * (n // 10))


@worst
def operands_as_often_as_allowed(n: int) -> Program:
    """The same, as many as the verifier lets through for values that take some bytes."""
    step = (Step("load", "f32", 0), Step("store", "f32", args=(0,)))
    out = Instr("pointwise", tuple(range(1, 201)), (201,), {"steps": step})
    return line(floats(201 + n), [out] * (n // 24))


@worst
def outputs_in_common(n: int) -> Program:
    """One list of outputs, each of which is compared with all others."""
    steps = (Step("load", "f32", 0), *(Step("store", "f32", args=(0,), arg=k) for k in range(200)))
    out = Instr("pointwise", (0,), tuple(range(1, 201)), {"steps": steps})
    return line(stacked(200), [out] * (n // 10))


@worst
def delegates(n: int) -> Program:
    """Many entries, whose operands are many; nobody permits them."""
    count = min(n // 10, 1000)
    values = [*stacked(64), *(Value("", "f32", (2,), "param") for _ in range(65))]
    stand = Block((Instr("copy", (65,), (66,)),), (65,), tuple(range(66, 130)))
    y = len(values)
    values.append(Value("y", "f32", (2,), "output", 0))
    instrs = [Instr("delegate", (0,), tuple(range(1, 65)), {"index": k}) for k in range(count)]
    main = Block((*instrs, Instr("copy", (0,), (y,))))
    entries = tuple(Delegate("nobody", "t", b"b" * 64, 1, "allow") for _ in range(count))
    return one_method(values, [main, stand], [0], [y], delegates=entries)


@worst
def blocks(n: int) -> Program:
    """Calls of as many blocks, each empty."""
    values = [*floats(0), Value("", "f32", (2,), "param"), Value("y", "f32", (2,), "output", 0)]
    calls = [Instr("call", (0,), (), {"body": 1 + k}) for k in range(n)]
    bodies = [Block((), (1,)) for _ in range(n)]
    return one_method(values, [Block((*calls, Instr("copy", (0,), (2,)))), *bodies], [0], [2])


@worst
def deep_expressions(n: int) -> Program:
    """A chain of sizes, and inputs that ask for its end on each axis."""
    count = min(n, 4000)
    sizes = chain(symbol(N), n)
    values = [Value("x", "f32", (2,), "input", 0), Value("m", "f32", (symbol(N),), "input", 1)]
    values += [Value("", "f32", (size,)) for size in sizes]
    first = len(values)
    values += [Value("i", "f32", (sizes[-1],) * 8, "input", 2 + k) for k in range(count)]
    y = len(values)
    values.append(Value("y", "f32", (2,), "output", 0))
    main = Block((Instr("copy", (0,), (y,)),))
    return one_method(values, [main], [0, 1, *range(first, y)], [y], dims=(N,))


@worst
def deep_counts(n: int) -> Program:
    """The same where data decides: tried at nothing first, where no view fits its base."""
    views = [Value("", "f32", (1,), "view", 0, (1,), size) for size in chain(symbol(C), n)]
    return line([*floats(0), *views], [], dims=(C,))


def chain(size: sympy.Expr, n: int) -> list[sympy.Expr]:
    """min(size, 2), min(min(size, 2), 3), ..."""
    sizes = []
    for k in range(n):
        size = sympy.Min(size, 2 + k % 2, evaluate=False)
        sizes.append(size)
    return sizes


@worst
def lists_above(n: int) -> Program:
    """Values that all lie above one long list."""
    below = tuple(range(1, 65))
    values = floats(64)
    values += [Value("", "f32", (2,), above=below) for _ in range(n)]
    return line(values, [])


@worst
def steps_in_common(n: int) -> Program:
    steps = (
        Step("load", "f32", 0),
        *(Step("neg", "f32", 1, (0,)) for _ in range(250)),
        Step("store", "f32", args=(1,)),
    )
    return line(floats(1), [Instr("pointwise", (0,), (1,), {"steps": steps})] * (n // 10))
