"""Cases of `pointwise`: every step on numbers and special values, types, strides, literals, several outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.dtypes import DTYPES
from pteron.schema.row import Out
from pteron.schema.steps import STEPS, Step

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-40,
    1e-38,
    3e38,
    -3e38,
]
WIDE = [
    0,
    1,
    -1,
    2,
    -2,
    63,
    64,
    -64,
    7,
    -7,
    2**31,
    -(2**31),
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
]
PLAIN = {"f32": "f32", "f64": "f64", "i64": "i64", "bool": "bool"}


def random(seed: int, shape: tuple[int, ...], dtype: str = "f32") -> Array:
    rng = np.random.default_rng(seed)
    kind = DTYPES[dtype].numpy
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        info = np.iinfo(kind)
        return rng.integers(max(info.min, -100), min(info.max, 100), shape).astype(kind)
    return np.asarray(rng.standard_normal(shape) * 3).astype(kind)


def values(seed: int, type_: str) -> Array:
    """67 or more numbers of a register type: the special ones first, in every order of magnitude after."""
    rng = np.random.default_rng(seed)
    if type_ == "bool":
        return rng.random(67) < 0.5
    if type_ == "i64":
        return np.concatenate([np.array(WIDE, np.int64), rng.integers(-1000, 1000, 51)])
    spread = rng.standard_normal(300) * 10.0 ** rng.integers(-6, 7, 300)
    return np.concatenate([SPECIAL, spread]).astype(DTYPES[type_].numpy)


def pairs(seed: int, type_: str) -> tuple[Array, Array]:
    """Every special value against every other, then numbers."""
    a, b = values(seed, type_), values(seed + 1, type_)
    few = a[:17]
    return np.concatenate([np.repeat(few, 17), a]), np.concatenate([np.tile(few, 17), b])


def one_step(name: str, type_: str) -> Case:
    row = STEPS[name]
    reads = [r or type_ for r in (row.reads or ("",) * row.arity)]
    if row.arity == 1:
        xs = [values(1, reads[0])]
    else:
        a, b = pairs(2, type_)
        xs = (
            [values(1, "bool"), a, b]
            if (reads[0] == "bool" and type_ != "bool") or name == "select"
            else [a, b]
        )
        count = min(len(x) for x in xs)
        xs = [x[:count] for x in xs]
    if name in ("div", "mod", "fmod", "div_u64", "mod_u64") and type_ == "i64":
        xs[1] = np.where(xs[1] == 0, 3, xs[1])
    loads = [Step("load", r, i, arg=i) for i, r in enumerate(reads)]
    result = row.result or type_
    steps = (*loads, Step(name, type_, 3, tuple(range(row.arity))), Step("store", result, 3, (3,)))
    want = None
    if row.ulp and type_ != "i64":
        with np.errstate(all="ignore"):
            want = [
                row.meaning(*(x.astype(np.longdouble if name != "erf" else np.float64) for x in xs))
            ]
    return Case(
        "pointwise",
        xs,
        {"steps": steps},
        out=[Out(xs[0].shape, result)],
        ulp=row.ulp or 0.0,
        want=want,
        name=f"{name}_{type_}",
    )


def cast_case(source: str, target: str) -> Case:
    x = values(5, source)
    if source in ("f32", "f64"):
        x = np.concatenate(
            [x, np.array([2.0**63, -(2.0**63), 2.0**62, 9e18, -9.3e18, 1e30], x.dtype)]
        )
    steps = (
        Step("load", source, 0, arg=0),
        Step("cast", target, 1, (0,), source=source),
        Step("store", target, 1, (1,)),
    )
    return Case(
        "pointwise",
        [x],
        {"steps": steps},
        out=[Out(x.shape, target)],
        name=f"cast_{source}_{target}",
    )


def unary(name: str, type_: str = "f32") -> tuple[Step, ...]:
    return (
        Step("load", type_, 0, arg=0),
        Step(name, type_, 1, (0,)),
        Step("store", type_, 1, (1,)),
    )


def binary(name: str, type_: str = "f32") -> tuple[Step, ...]:
    return (
        Step("load", type_, 0, arg=0),
        Step("load", type_, 1, arg=1),
        Step(name, type_, 0, (0, 1)),
        Step("store", type_, 0, (0,)),
    )


def chain() -> tuple[Step, ...]:
    """Two outputs, literals kept and overwritten, a register read after it was stored."""
    return (
        Step("literal", "f32", 2, arg=0.5),
        Step("literal", "f32", 3, arg=3.0),
        Step("load", "f32", 0, arg=0),
        Step("load", "f32", 1, arg=1),
        Step("mul", "f32", 4, (0, 2)),
        Step("add", "f32", 3, (4, 3)),
        Step("store", "f32", 0, (3,), arg=1),
        Step("lt", "f32", 5, (0, 1)),
        Step("select", "f32", 0, (5, 3, 0)),
        Step("sub", "f32", 0, (0, 1)),
        Step("store", "f32", 0, (0,), arg=0),
    )


def widened(dtype: str) -> Case:
    """x + x in the register type, stored as it came; then the same number of elements in three axes."""
    type_ = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "bool": "bool"}.get(
        dtype, "i64"
    )
    x = random(9, (3, 5, 31), dtype)
    if dtype in ("f16", "bf16"):
        x.reshape(-1)[:12] = np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 1e-5, 6.1e-5, 65504, 1e-7, 1], x.dtype
        )
    op = "or" if type_ == "bool" else "add"
    steps = (
        Step("load", type_, 0, arg=0),
        Step(op, type_, 1, (0, 0)),
        Step("store", type_, 1, (1,)),
    )
    with np.errstate(all="ignore"):
        want = (
            (x | x)
            if type_ == "bool"
            else (x.astype(np.float32) * 2).astype(x.dtype)
            if type_ == "f32"
            else x + x
        )
    return Case(
        "pointwise",
        [x],
        {"steps": steps},
        out=[Out(x.shape, dtype)],
        want=[want],
        name=f"widen_{dtype}",
    )


def narrowed(kind: str, dtype: str) -> Case:
    type_ = "f32" if kind == "round" else "i64"
    x = values(4, type_)
    if kind == "round":
        x = np.concatenate(
            [
                x,
                np.float32(
                    [
                        65504,
                        65519.9,
                        65520,
                        1e5,
                        2**-24,
                        2**-25,
                        2**-25 * 1.5,
                        2**-14,
                        1.0009765,
                        1.00048828125,
                        1.001464843,
                    ]
                ),
            ]
        )
    steps = (
        Step("load", type_, 0, arg=0),
        Step(kind, type_, 1, (0,), arg=dtype),
        Step("store", type_, 1, (1,)),
    )
    return Case(
        "pointwise", [x], {"steps": steps}, out=[Out(x.shape, type_)], name=f"{kind}_{dtype}"
    )


def shaped(name: str, xs: list[Array], steps: Any = None) -> Case:
    shape = np.broadcast_shapes(*(x.shape for x in xs))
    xs = [np.broadcast_to(x, shape) for x in xs]
    return Case(
        "pointwise", xs, {"steps": steps or binary("add")}, out=[Out(shape, "f32")], name=name
    )


def index_case(axis: int) -> Case:
    steps = (
        Step("index", "i64", 0, arg=axis),
        Step("load", "i64", 1, arg=0),
        Step("add", "i64", 2, (0, 1)),
        Step("store", "i64", 2, (2,)),
    )
    x = random(3, (3, 5, 67), "i64")
    return Case("pointwise", [x], {"steps": steps}, out=[Out(x.shape, "i64")], name=f"index_{axis}")


def zero_divisor() -> Case:
    a = np.arange(2000, dtype=np.int64)
    b = np.ones(2000, np.int64)
    b[[777, 1500]] = 0
    return Case(
        "pointwise",
        [a, b],
        {"steps": binary("div", "i64")},
        out=[Out((2000,), "i64")],
        status=Status.BAD_DATA,
        position=777,
    )


_load = Step("load", "f32", 0, arg=0)
_store = Step("store", "f32", 0, (0,))
COMPUTING = [row for row in STEPS.values() if row.id >= 10]
CASES = [
    *(one_step(row.name, t) for row in COMPUTING for t in row.types),
    *(cast_case(s, t) for s in PLAIN for t in PLAIN),
    *(
        widened(d)
        for d in (
            "bool",
            "i8",
            "i16",
            "i32",
            "i64",
            "u8",
            "u16",
            "u32",
            "u64",
            "f16",
            "bf16",
            "f32",
            "f64",
        )
    ),
    *(narrowed("round", d) for d in ("f16", "bf16")),
    *(narrowed("wrap", d) for d in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")),
    *(
        shaped(f"length_{n}", [random(n, (n,)), random(n + 1, (n,))])
        for n in (0, 1, 3, 7, 8, 15, 16, 17, 33, 67, 255, 256, 257, 1000)
    ),
    shaped("scalar", [random(0, ()), random(1, ())]),
    shaped("empty_axis", [random(0, (3, 0, 5)), random(1, (3, 0, 5))]),
    shaped("bias", [random(0, (37, 19)), random(1, (19,))]),
    shaped("column", [random(0, (37, 19)), random(1, (37, 1))]),
    shaped("outer", [random(0, (41, 1)), random(1, (1, 43))]),
    shaped("middle", [random(0, (5, 7, 11, 3)), random(1, (5, 1, 11, 1))]),
    shaped("constant", [random(0, (5, 700)), random(1, (1, 1))]),
    shaped("chain_one", [random(0, (5, 701)), random(1, (5, 701))], binary("sub")),
    Case(
        "pointwise",
        [random(0, (13, 67)), random(1, (13, 67))],
        {"steps": chain()},
        out=[Out((13, 67), "f32")] * 2,
        name="chain",
    ),
    Case(
        "pointwise",
        [random(0, (13, 67)), random(1, (13, 67))],
        {"steps": chain()},
        out=[Out((13, 67), "f32"), None],
        name="one_unwanted",
    ),
    Case(
        "pointwise",
        [],
        {"steps": (Step("index", "i64", 0, arg=1), Step("store", "i64", 0, (0,)))},
        out=[Out((3, 300), "i32")],
        name="no_operand",
    ),
    *(index_case(a) for a in range(3)),
    zero_divisor(),
]
