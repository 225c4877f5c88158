"""Random numbers by Philox 2x32 with 10 rounds (Salmon et al. 2011): an element is a function of its flat place, the counter, and of
the node's seed, the key, which is the bits of the attribute as f32. So a program gives the same numbers at each run and everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.dtypes import FLOATS

from ....program.terms import Term, cast, index, lt, term
from ....program.views import Shape
from ....sizes.extents import product
from ...context import Lowering
from ...elementwise import convert
from ...graphs import RANDOM, onnx_node
from ...node import NAMES, Node
from ...refs import Ref
from ...table import lowers

MULTIPLIER: Final = 0xD256D193
WEYL: Final = 0x9E3779B9
ROUNDS: Final = 10
WORD: Final = 0xFFFFFFFF

Draw = Callable[[Term, int, str], Term]
"""(counter, key, f32 or f64) -> a number."""


def words(counter: Term, key: int) -> tuple[Term, Term]:
    """The two words of 32 bits of a counter of 64."""
    left, right = counter & WORD, term("shr", counter, 32)
    for k in range(ROUNDS):
        whole = left * MULTIPLIER
        left = term("shr", whole, 32) ^ right ^ ((key + k * WEYL) & WORD)
        right = whole & WORD
    return left, right


def uniform(counter: Term, key: int, kind: str) -> Term:
    """From 0 on, below 1: multiples of 2^-24, of f64 of 2^-53."""
    first, second = words(counter, key)
    if kind == "f32":
        return cast(term("shr", first, 8), kind) * 2.0**-24
    return cast(term("shl", first, 21) ^ term("shr", second, 11), kind) * 2.0**-53


def normal(counter: Term, key: int, kind: str) -> Term:
    """Box and Muller 1958, of the cosine."""
    first, second = words(counter, key)
    size = term("log", cast(first + 1, kind) * 2.0**-32) * -2.0
    return term("sqrt", size) * term("cos", cast(second, kind) * (2.0 * math.pi * 2.0**-32))


@lowers("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
def lower_random(l: Lowering, n: Node) -> Ref:
    """Numbers of a mean and a deviation, or between two bounds."""
    of = n[0] if n.op_type.endswith("Like") else None
    shape = (n.integers("shape") or ()) if of is None else of.shape
    dtype = _dtype(n, "f32" if of is None else of.dtype)
    if dtype not in FLOATS:
        l.fail(f"its result is {dtype}; expected a float: give it a dtype")
    if n.op_type.startswith("RandomNormal"):
        return _drawn(l, n, normal, shape, dtype, n.number("mean"), n.number("scale", 1.0))
    low = n.number("low")
    return _drawn(l, n, uniform, shape, dtype, low, n.number("high", 1.0) - low)


@lowers("Bernoulli")
def lower_bernoulli(l: Lowering, n: Node) -> Ref:
    """1 with the probability that the operand is."""
    p = convert(l, n[0], "f64" if n[0].dtype == "f64" else "f32")
    number = _drawn(l, n, uniform, p.shape, p.dtype)
    hit = l.pointwise(lt, [number, p], "bool")
    return convert(l, hit, _dtype(n, n[0].dtype))


@lowers("Multinomial")
def lower_multinomial(l: Lowering, n: Node) -> Ref:
    """How many of the sums of exp(x), from the first class on, are not above a part of the whole."""
    x = convert(l, n[0], "f64" if n[0].dtype == "f64" else "f32")
    batch, classes = x.shape
    sums = _one(l, "CumSum", _one(l, "Softmax", x, axis=1), l.values.scalar(1, "i64"))
    whole = l.slice(sums, 1, classes - 1, 1)
    number = _drawn(l, n, uniform, (batch, n.integer("sample_size", 1)), x.dtype)
    at = l.pointwise(lambda u, t: u * t, [number, whole], x.dtype)
    passed = l.pointwise(
        lambda s, t: cast(~lt(t, s), "i64"), [l.unsqueeze(sums, [1]), l.unsqueeze(at, [2])], "i64"
    )
    axis = l.values.constant(np.array([2], np.int64))
    return convert(l, _one(l, "ReduceSum", passed, axis, keepdims=0), _dtype(n, "i32"))


def _one(l: Lowering, op_type: str, *operands: Ref, **attrs: int) -> Ref:
    (y,) = onnx_node(l, op_type, operands, **attrs)
    assert y is not None
    return y


def _dtype(n: Node, default: str) -> str:
    return NAMES[ir.DataType(n.integer("dtype"))] if n.has("dtype") else default


def _drawn(
    l: Lowering,
    n: Node,
    draw: Draw,
    shape: Shape,
    dtype: str,
    start: float = 0.0,
    scale: float = 1.0,
) -> Ref:
    """start + scale times a number an element."""
    if not n.has("seed"):
        l.fail(RANDOM)
    if any(not scope.is_choice for scope in l.scopes[1:]):
        l.fail(
            "it gives random numbers in a loop, which would be the same at each turn; make them an input of the loop"
        )
    key = int(np.float32(n.number("seed")).view(np.uint32))
    kind = "f64" if dtype == "f64" else "f32"
    plain = start == 0.0 and scale == 1.0

    def build() -> Term:
        y = draw(index(0), key, kind)
        return y if plain else y * scale + start

    flat = l.pointwise(build, [], kind, (product(shape),))
    return convert(l, l.reshape(flat, shape), dtype)
