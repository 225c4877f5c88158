"""Elementwise operators and casts: one Term each. f16 and bf16 are computed in f32 and rounded once, by the store."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from pteron.schema.dtypes import BY_ONNX, DTYPES, FLOATS

from ...program.terms import Term, cast, eq, le, lt, register, select, term
from ..context import Lowering
from ..elementwise import cast_term, convert
from ..node import Node
from ..refs import Ref
from ..table import lowers

MOST_OPERANDS = 64
"""Of one program that folds; each is three steps at most."""

SQRT_HALF = 0.7071067811865476
SQRT_2_OVER_PI = 0.7978845608028654


# --- casts --------------------------------------------------------------------------------------------------------------


@lowers("Cast")
def lower_cast(l: Lowering, n: Node) -> Ref:
    to = n.integer("to")
    row = BY_ONNX.get(to)
    if row is None:
        l.fail(f"casts to ONNX type {to}; strings and complex numbers are not covered")
    return _cast(l, n, row.name)


@lowers("BitCast")
def lower_bit_cast(l: Lowering, n: Node) -> Ref:
    """The bits of each element as another type of as many."""
    x, row = n[0], BY_ONNX.get(n.integer("to"))
    if row is None or row.bits != DTYPES[x.dtype].bits or row.is_narrow:
        l.fail(
            f"makes ONNX type {n.integer('to')} of {x.dtype}; expected one with as many bits, 8 at least"
        )
    if row.name == "bool" != x.dtype:
        l.fail(f"makes bool of the bits of {x.dtype}, which has more than two values; cast it")
    return x if row.name == x.dtype else l.one("reshape", [x], {}, row.name, x.shape)


@lowers("CastLike")
def lower_cast_like(l: Lowering, n: Node) -> Ref:
    return _cast(l, n, n[1].dtype)


def _cast(l: Lowering, n: Node, dtype: str) -> Ref:
    saturate = n.integer("saturate", 1) != 0
    if dtype == "f8e8m0" and n.text("round_mode", "up") != "nearest":
        return _to_power(l, n[0], n.text("round_mode", "up"))
    if n[0].dtype == dtype == "f8e5m2" and saturate:  # its infinities are numbers then
        return l.one("repack", [l.unpacked(n[0])], {"saturate": True}, dtype, n[0].shape)
    return convert(l, n[0], dtype, saturate=saturate)


def _to_power(l: Lowering, x: Ref, mode: str) -> Ref:
    """f8e8m0 holds powers of two: the next one up, or down, from the nearest."""
    x = convert(l, x, "f32")
    near = convert(l, convert(l, x, "f8e8m0"), "f32")
    if mode == "up":
        y = l.pointwise(lambda p, t: select(lt(p, t), p * 2.0, p), [near, x], "f32")
    else:
        y = l.pointwise(lambda p, t: select(lt(t, p), p * 0.5, p), [near, x], "f32")
    return convert(l, y, "f8e8m0")


# --- one operand --------------------------------------------------------------------------------------------------------


def sigmoid(x: Term) -> Term:
    return 1.0 / (1.0 + term("exp", -x))


def softplus(x: Term) -> Term:
    """log(1 + exp(x)) without overflow."""
    return term("max", x, 0.0) + term("log1p", term("exp", -term("abs", x)))


def _sign(x: Term) -> Term:
    return term("sign", x)


UNARY: dict[str, Callable[[Term], Term]] = {
    "Neg": lambda x: -x,
    "Sigmoid": sigmoid,
    "Softplus": softplus,
    "Softsign": lambda x: x / (1.0 + term("abs", x)),
    "Mish": lambda x: x * term("tanh", softplus(x)),
    "Reciprocal": lambda x: 1.0 / x,
    "Relu": lambda x: term("max", x, 0),
    "HardSwish": lambda x: x * term("max", term("min", x * (1.0 / 6.0) + 0.5, 1.0), 0.0),
    "Round": lambda x: term("nearest", x),
    "Not": lambda x: ~x,
    "BitwiseNot": lambda x: ~x,
}
"""Operators whose result has the operand's dtype and that have no attributes."""

STEPS_BY_NAME = [
    "Abs",
    "Exp",
    "Log",
    "Sqrt",
    "Floor",
    "Ceil",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Tanh",
    "Asinh",
    "Acosh",
    "Atanh",
    "Erf",
]
"""Operators that are one step of their name."""


@lowers(*UNARY, *STEPS_BY_NAME)
def lower_unary(l: Lowering, n: Node) -> Ref:
    build = UNARY.get(n.op_type) or (lambda x: term(n.op_type.lower(), x))
    x = n[0]
    if n.op_type == "Abs" and x.dtype.startswith("u"):
        return x
    return l.pointwise(build, [x], x.dtype)


@lowers("Sign")
def lower_sign(l: Lowering, n: Node) -> Ref:
    if n[0].dtype.startswith("u"):
        return l.pointwise(lambda x: select(eq(x, 0), x, 1), [n[0]], n[0].dtype)
    return l.pointwise(lambda x: term("sign", x), [n[0]], n[0].dtype)


@lowers("IsNaN")
def lower_is_nan(l: Lowering, n: Node) -> Ref:
    return l.pointwise(lambda x: term("is_nan", x), [n[0]], "bool")


@lowers("IsInf")
def lower_is_inf(l: Lowering, n: Node) -> Ref:
    low, high = n.integer("detect_negative", 1), n.integer("detect_positive", 1)

    def build(x: Term) -> Term:
        found = term("is_inf", x)
        if low and high:
            return found
        return found & (lt(0.0, x) if high else lt(x, 0.0) if low else lt(x, x))

    return l.pointwise(build, [n[0]], "bool")


@lowers("Gelu")
def lower_gelu(l: Lowering, n: Node) -> Ref:
    def exact(x: Term) -> Term:
        return x * 0.5 * (1.0 + term("erf", x * SQRT_HALF))

    def by_tanh(x: Term) -> Term:
        return x * 0.5 * (1.0 + term("tanh", SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))

    build = by_tanh if n.text("approximate", "none") == "tanh" else exact
    return l.pointwise(build, [n[0]], n[0].dtype)


def _negative_side(below: Callable[[Term], Term]) -> Callable[[Term], Term]:
    """x from 0 on, `below(x)` under 0."""
    return lambda x: select(lt(x, 0.0), below(x), x)


@lowers("LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "HardSigmoid", "Swish", "Shrink")
def lower_activation(l: Lowering, n: Node) -> Ref:
    def expm1(x: Term) -> Term:
        return term("expm1", x)

    a = n.number(
        "alpha", {"LeakyRelu": 0.01, "HardSigmoid": 0.2, "Selu": SELU_ALPHA}.get(n.op_type, 1.0)
    )
    b = n.number("beta", 0.5)
    g = n.number("gamma", SELU_GAMMA)
    bias, edge = n.number("bias", 0.0), n.number("lambd", 0.5)
    build: Callable[[Term], Term] = {
        "LeakyRelu": _negative_side(lambda x: x * a),
        "Elu": _negative_side(lambda x: a * expm1(x)),
        "Selu": lambda x: g * select(lt(0.0, x), x, a * expm1(x)),
        "Celu": lambda x: term("max", x, 0.0) + term("min", a * expm1(x / a), 0.0),
        "ThresholdedRelu": lambda x: select(lt(a, x), x, 0.0),
        "HardSigmoid": lambda x: term("max", term("min", a * x + b, 1.0), 0.0),
        "Swish": lambda x: x * sigmoid(a * x),
        "Shrink": lambda x: shrink(x, bias, edge),
    }[n.op_type]
    return l.pointwise(build, [n[0]], n[0].dtype)


SELU_ALPHA, SELU_GAMMA = 1.6732632423543772, 1.0507009873554805


def shrink(x: Term, bias: float, edge: float) -> Term:
    """ONNX Shrink; integers are compared and moved as f64."""
    if x.result == "i64":
        return cast(shrink(cast(x, "f64"), bias, edge), "i64")
    return select(lt(x, -edge), x + bias, select(lt(edge, x), x - bias, 0.0))


# --- two operands -------------------------------------------------------------------------------------------------------


def _unsigned(name: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: term(name, a, b)


def pick_less(a: Term, b: Term) -> Term:
    return select(term("lt_u64", a, b), a, b)


def pick_greater(a: Term, b: Term) -> Term:
    return select(term("lt_u64", a, b), b, a)


ARITHMETIC: dict[str, str] = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div",
    "And": "and", "Or": "or", "Xor": "xor", "BitwiseAnd": "and", "BitwiseOr": "or", "BitwiseXor": "xor",
}  # fmt: skip


@lowers(*ARITHMETIC)
def lower_arithmetic(l: Lowering, n: Node) -> Ref:
    name = ARITHMETIC[n.op_type]
    if name == "div" and n[0].dtype == "u64":
        name = "div_u64"
    return l.pointwise(lambda a, b: term(name, a, b), [n[0], n[1]], n[0].dtype)


@lowers("Mod")
def lower_mod(l: Lowering, n: Node) -> Ref:
    name = "fmod" if n.integer("fmod") else "mod"
    if n[0].dtype == "u64":
        name = "mod_u64"
    return l.pointwise(lambda a, b: term(name, a, b), [n[0], n[1]], n[0].dtype)


@lowers("Pow")
def lower_pow(l: Lowering, n: Node) -> Ref:
    """The base's dtype decides; small whole exponents of floats are products."""
    x, y = n[0], n[1]
    array = l.values.array(y)
    power = float(array.reshape(-1)[0]) if array is not None and array.size == 1 else 0.0
    if x.dtype in FLOATS and power in (2.0, 3.0) and y.rank <= x.rank:
        shape = l.sizes.broadcast([x.shape, y.shape])
        return l.pointwise(lambda a: a * a if power == 2.0 else a * a * a, [x], x.dtype, shape)

    def build(a: Term, b: Term) -> Term:
        kind = "f64" if x.dtype not in FLOATS and y.dtype in FLOATS else register(x.dtype)
        result = term("pow", cast_term(a, x.dtype, kind), cast_term(b, y.dtype, kind))
        return cast_term(result, kind, x.dtype)

    return l.pointwise(build, [x, y], x.dtype)


@lowers("PRelu")
def lower_prelu(l: Lowering, n: Node) -> Ref:
    if n[0].dtype.startswith("u"):  # nothing is below 0; u64 is read as i64
        return l.expand(n[0], l.sizes.broadcast([n[0].shape, n[1].shape]))
    return l.pointwise(lambda x, s: select(lt(x, 0), x * s, x), [n[0], n[1]], n[0].dtype)


@lowers("BitShift")
def lower_bit_shift(l: Lowering, n: Node) -> Ref:
    """Signed numbers keep their sign to the right, also beyond their width."""
    signed = n[0].dtype.startswith("i")

    def build(a: Term, b: Term) -> Term:
        if n.text("direction") == "LEFT":
            return term("shl", a, b)
        right = term("shr", a, b)
        return select(lt(a, 0), ~term("shr", ~a, b), right) if signed else right

    return l.pointwise(build, [n[0], n[1]], n[0].dtype)


@lowers("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def lower_compare(l: Lowering, n: Node) -> Ref:
    return l.pointwise(lambda x, y: compare(n.op_type, x, y, n[0].dtype), [n[0], n[1]], "bool")


def compare(op: str, x: Term, y: Term, dtype: str) -> Term:
    """Greater is Less of swapped operands; u64 compares its bits as such."""
    if op.startswith("Greater"):
        return compare(op.replace("Greater", "Less"), y, x, dtype)
    if op == "Equal":
        return eq(x, y)
    if dtype == "u64":
        return term("lt_u64", x, y) if op == "Less" else ~term("lt_u64", y, x)
    return lt(x, y) if op == "Less" else le(x, y)


# --- several operands ---------------------------------------------------------------------------------------------------


@lowers("Where")
def lower_where(l: Lowering, n: Node) -> Ref:
    x, y = l.unpacked(n[1]), l.unpacked(n[2])
    result = l.pointwise(select, [n[0], x, y], x.dtype)
    return result if x.dtype == n[1].dtype else convert(l, result, n[1].dtype)


@lowers("Min", "Max")
def lower_extreme(l: Lowering, n: Node) -> Ref:
    return folded(l, [n[i] for i in range(len(n.inputs))], extreme(n.op_type.lower(), n[0].dtype))


def folded(
    l: Lowering, xs: Sequence[Ref], step: Callable[[Term, Term], Term], share: float = 1.0
) -> Ref:
    """`step` of the operands from the first to the last, floats divided by `share`; rounded once. A program has room for some
    operands: the next goes on from its result, which is as wide as it computes."""
    dtype = xs[0].dtype
    wide = register(dtype) if dtype in FLOATS else dtype

    def build(*terms: Term) -> Term:
        return functools.reduce(step, terms)

    while len(xs) > MOST_OPERANDS:
        xs = [l.pointwise(build, xs[:MOST_OPERANDS], wide), *xs[MOST_OPERANDS:]]
    return l.pointwise(lambda *ts: build(*ts) / share if share != 1.0 else build(*ts), xs, dtype)


def extreme(name: str, dtype: str) -> Callable[[Term, Term], Term]:
    if dtype == "u64":
        return pick_less if name == "min" else pick_greater
    return lambda a, b: term(name, a, b)


@lowers("Sum", "Mean")
def lower_sum(l: Lowering, n: Node) -> Ref:
    xs = [n[i] for i in range(len(n.inputs))]
    return folded(l, xs, lambda a, b: a + b, float(len(xs)) if n.op_type == "Mean" else 1.0)


@lowers("Clip")
def lower_clip(l: Lowering, n: Node) -> Ref:
    """min(max(x, low), high)."""
    x = n[0]
    bounds = [(name, b) for name, b in (("max", n.get(1)), ("min", n.get(2))) if b is not None]
    if not bounds:
        return x

    def build(t: Term, *limits: Term) -> Term:
        for (name, _), limit in zip(bounds, limits, strict=True):
            t = extreme(name, x.dtype)(t, limit)
        return t

    return l.pointwise(build, [x, *(b for _, b in bounds)], x.dtype)
