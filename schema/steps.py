"""The opcodes of pointwise programs: one decorated NumPy function each.

A program is straight-line code over 16 registers of one tile of elements, at most 256 steps, each register defined
before it is used. A step has a compute type: f32, f64, i64 or bool (0 or 1). Loads widen (f16, bf16 -> f32; every
integer -> i64, u64 by its bits), stores round f32 to f16 or bf16 and wrap i64 to the output's width. A step whose
unfused value had a narrower type is followed by ROUND or WRAP, so fusing never changes bits.

Integers wrap. Float to int saturates to i64 (then WRAP), NaN gives 0. Shifts by 64 or more, or less than 0, give 0. Integer division
by zero is BAD_DATA. min and max give NaN when either is NaN. `ulp` is the promise against the function in f64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TYPES: Final = ("f32", "f64", "i64", "bool")
NUMPY: Final = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "bool": np.bool_}
REGISTERS: Final = 16
MAX_STEPS: Final = 256


@dataclasses.dataclass(frozen=True, slots=True)
class StepRow:
    """One opcode: `arity` registers read, the compute types it admits, the result's type (None: the compute type).

    `reads`: types of the registers read where they are not the compute type ("" = compute type)."""

    id: int
    name: str
    types: tuple[str, ...]
    result: str | None
    arity: int
    ulp: float
    meaning: Callable[..., Any]
    reads: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One step. `arg`: operand (load), output (store), axis (index), dtype name (round, wrap), value (literal)."""

    op: str
    type: str
    dst: int = 0
    args: tuple[int, ...] = ()
    source: str = ""  # the type cast from
    arg: int | float | bool | str = 0


STEPS: Final[dict[str, StepRow]] = {}


def step(
    id: int,
    types: str = "f32 f64",
    result: str | None = None,
    ulp: float = 0.0,
    reads: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the decorated function to STEPS; its positional parameters are the registers read. ulp 0: exactly rounded."""

    def add(meaning: Callable[..., Any]) -> Callable[..., Any]:
        name = meaning.__name__.rstrip("_")
        if name in STEPS or any(row.id == id for row in STEPS.values()):
            raise ValueError(f"step {name}: id {id} or the name is taken")
        STEPS[name] = StepRow(
            id,
            name,
            tuple(types.split()),
            result,
            meaning.__code__.co_argcount,
            ulp,
            meaning,
            reads,
        )
        return meaning

    return add


ALL = "f32 f64 i64 bool"
NUMBER = "f32 f64 i64"


def special() -> None:
    """Done by the interpreter itself."""


for _id, _name, _types, _arity in (
    (1, "load", ALL, 0),
    (2, "store", ALL, 1),
    (3, "index", "i64", 0),
    (4, "literal", ALL, 0),
    (5, "cast", ALL, 1),
    (6, "round", "f32", 1),
    (7, "wrap", "i64", 1),
):
    STEPS[_name] = StepRow(_id, _name, tuple(_types.split()), None, _arity, 0.0, special)


@step(10, NUMBER)
def add(a: Array, b: Array) -> Array:
    return a + b


@step(11, NUMBER)
def sub(a: Array, b: Array) -> Array:
    return a - b


@step(12, NUMBER)
def mul(a: Array, b: Array) -> Array:
    return a * b


@step(13, NUMBER)
def div(a: Array, b: Array) -> Array:
    if a.dtype.kind != "i":
        return a / b
    q = np.floor_divide(a, b)
    return np.asarray(q + ((q < 0) & (q * b != a)))  # towards zero, as C and ONNX do


@step(14, NUMBER)
def mod(a: Array, b: Array) -> Array:
    """The sign of the divisor (ONNX Mod with fmod=0)."""
    return np.mod(a, b)


@step(15, NUMBER)
def fmod(a: Array, b: Array) -> Array:
    """The sign of the dividend, exact."""
    return np.fmod(a, b)


@step(16, NUMBER)
def min_(a: Array, b: Array) -> Array:
    return np.minimum(a, b)


@step(17, NUMBER)
def max_(a: Array, b: Array) -> Array:
    return np.maximum(a, b)


@step(18, NUMBER)
def neg(a: Array) -> Array:
    return -a


@step(19, NUMBER)
def abs_(a: Array) -> Array:
    return np.abs(a)


@step(20, NUMBER)
def sign(a: Array) -> Array:
    return np.sign(a)


@step(21, NUMBER, ulp=4)
def pow_(a: Array, b: Array) -> Array:
    """Integers by squaring with wrap-around; a negative integer exponent gives 0 but for bases 1 and -1."""
    if a.dtype.kind != "i":
        return np.power(a, b)
    ones = np.where(a == 1, 1, np.where(a == -1, np.where(b & 1, -1, 1), 0))
    return np.where(b < 0, ones, np.power(a, np.maximum(b, 0)))


@step(22)
def floor(a: Array) -> Array:
    return np.floor(a)


@step(23)
def ceil(a: Array) -> Array:
    return np.ceil(a)


@step(24)
def trunc(a: Array) -> Array:
    return np.trunc(a)


@step(25)
def nearest(a: Array) -> Array:
    """Ties to even."""
    return np.rint(a)


@step(26)
def sqrt(a: Array) -> Array:
    return np.sqrt(a)


@step(30, ulp=2)
def exp(a: Array) -> Array:
    return np.exp(a)


@step(31, ulp=2)
def log(a: Array) -> Array:
    return np.log(a)


@step(32, ulp=2)
def sin(a: Array) -> Array:
    return np.sin(a)


@step(33, ulp=2)
def cos(a: Array) -> Array:
    return np.cos(a)


@step(34, ulp=4)
def tan(a: Array) -> Array:
    return np.tan(a)


@step(35, ulp=4)
def asin(a: Array) -> Array:
    return np.arcsin(a)


@step(36, ulp=4)
def acos(a: Array) -> Array:
    return np.arccos(a)


@step(37, ulp=4)
def atan(a: Array) -> Array:
    return np.arctan(a)


@step(38, ulp=4)
def sinh(a: Array) -> Array:
    return np.sinh(a)


@step(39, ulp=4)
def cosh(a: Array) -> Array:
    return np.cosh(a)


@step(40, ulp=4)
def tanh(a: Array) -> Array:
    return np.tanh(a)


@step(41, ulp=4)
def asinh(a: Array) -> Array:
    return np.arcsinh(a)


@step(42, ulp=4)
def acosh(a: Array) -> Array:
    return np.arccosh(a)


@step(43, ulp=4)
def atanh(a: Array) -> Array:
    return np.arctanh(a)


@step(44, ulp=4)
def erf(a: Array) -> Array:
    from math import erf as one

    return np.asarray(np.vectorize(one, otypes=[a.dtype])(a))


@step(45, ulp=4)
def log1p(a: Array) -> Array:
    return np.log1p(a)


@step(46, ulp=4)
def expm1(a: Array) -> Array:
    return np.expm1(a)


@step(50, ALL, "bool")
def eq(a: Array, b: Array) -> Array:
    return np.equal(a, b)


@step(51, ALL, "bool")
def lt(a: Array, b: Array) -> Array:
    return a < b


@step(52, ALL, "bool")
def le(a: Array, b: Array) -> Array:
    return a <= b


@step(53, ALL, reads=("bool", "", ""))
def select(condition: Array, a: Array, b: Array) -> Array:
    """The first register is bool, whatever the compute type."""
    return np.where(condition, a, b)


@step(54, "f32 f64", "bool")
def is_nan(a: Array) -> Array:
    return np.isnan(a)


@step(55, "f32 f64", "bool")
def is_inf(a: Array) -> Array:
    return np.isinf(a)


@step(60, "i64 bool")
def and_(a: Array, b: Array) -> Array:
    return a & b


@step(61, "i64 bool")
def or_(a: Array, b: Array) -> Array:
    return a | b


@step(62, "i64 bool")
def xor(a: Array, b: Array) -> Array:
    return a ^ b


@step(63, "i64 bool")
def not_(a: Array) -> Array:
    return ~a


@step(64, "i64")
def shl(a: Array, b: Array) -> Array:
    return np.where((b < 0) | (b > 63), 0, np.left_shift(a, np.clip(b, 0, 63)))


@step(65, "i64")
def shr(a: Array, b: Array) -> Array:
    """Logical: of the bits, as an unsigned number."""
    return np.where(
        (b < 0) | (b > 63),
        0,
        (a.view(np.uint64) >> np.clip(b, 0, 63).astype(np.uint64)).view(np.int64),
    )


@step(70, "i64")
def div_u64(a: Array, b: Array) -> Array:
    return (a.view(np.uint64) // b.view(np.uint64)).view(np.int64)


@step(71, "i64")
def mod_u64(a: Array, b: Array) -> Array:
    return (a.view(np.uint64) % b.view(np.uint64)).view(np.int64)


@step(72, "i64", "bool")
def lt_u64(a: Array, b: Array) -> Array:
    return a.view(np.uint64) < b.view(np.uint64)


@step(73, "f32 f64", reads=("i64",))
def from_u64(a: Array) -> Array:
    """The i64 register's bits as an unsigned number, rounded to the compute type."""
    return a.view(np.uint64)  # evaluate() casts to the compute type


@step(74, "i64", reads=("f64",))
def to_u64(a: Array) -> Array:
    """An f64 register to unsigned bits, saturating; NaN gives 0."""
    top = np.float64(2.0**64)
    safe = np.where(np.isnan(a) | (a < 0), 0, np.minimum(a, np.nextafter(top, 0)))
    return np.where(a >= top, np.uint64(2**64 - 1), safe.astype(np.uint64)).view(np.int64)


def evaluate(
    program: Sequence[Step], xs: Sequence[Array], shape: tuple[int, ...] | None = None
) -> tuple[Array, ...]:
    """Runs a program in NumPy, every step rounded to its type.

    Args:
        program: Steps; loads name operands of `xs`.
        xs: Operands of one shape (or broadcastable to it).
        shape: The outputs' shape; default what the operands broadcast to.

    Returns:
        The outputs in order, in their registers' types; the caller casts to the values' dtypes.
    """
    if shape is None:
        shape = np.broadcast_shapes(*(x.shape for x in xs))
    registers: dict[int, Array] = {}
    outputs: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for s in program:
            if s.op == "store":
                outputs[int(s.arg)] = registers[s.args[0]]
            else:
                value = np.asarray(_value(s, xs, shape, registers))
                registers[s.dst] = np.broadcast_to(value, shape).astype(
                    NUMPY[STEPS[s.op].result or s.type]
                )
    return tuple(outputs[i] for i in range(len(outputs)))


def _value(
    s: Step, xs: Sequence[Array], shape: tuple[int, ...], registers: dict[int, Array]
) -> Any:
    if s.op == "load":
        x = xs[int(s.arg)]
        return x.view(np.int64) if x.dtype == np.uint64 else x
    if s.op == "index":
        axis = int(s.arg)
        return np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    if s.op == "literal":
        return s.arg
    args = [registers[a] for a in s.args]
    if s.op == "cast":
        return _cast(args[0], s.type)
    if s.op == "round":
        return args[0].astype(_narrow_float(str(s.arg))).astype(np.float32)
    if s.op == "wrap":
        return args[0].astype(
            str(s.arg).replace("i", "int").replace("u", "uint").replace("uintnt", "uint")
        )
    return STEPS[s.op].meaning(*args)


def _narrow_float(name: str) -> Any:
    if name == "f16":
        return np.float16
    import ml_dtypes

    return {"bf16": ml_dtypes.bfloat16}[name]


def _cast(a: Array, to: str) -> Array:
    if to == "i64" and a.dtype.kind == "f":
        top = 2.0**63
        inside = np.where(np.isnan(a) | (np.abs(a) >= top), 0, a).astype(np.int64)
        return np.where(
            a >= top, np.int64(2**63 - 1), np.where(a <= -top, np.int64(-(2**63)), inside)
        )
    return a != 0 if to == "bool" else a.astype(NUMPY[to])


def epilogue(y: Array, bias: Array | None, xs: tuple[Array, ...], steps: Sequence[Step]) -> Array:
    """y + bias, then the program over (y, *xs)."""
    y = y if bias is None else y + bias
    return evaluate(steps, (y, *xs))[0] if steps else y
