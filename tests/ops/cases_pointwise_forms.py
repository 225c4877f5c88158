"""Cases of `pointwise`: programs that hold what the runtime computes at once: codes to floats and back, GELU, SiLU, and
programs over codes alone, which become a table."""

from __future__ import annotations

import dataclasses

import numpy as np
from ops.cases_pointwise import SPECIAL, values
from ops.harness import Array, Case, Status

from pteron.schema.row import Out
from pteron.schema.steps import Step

Steps = tuple[Step, ...]
LIMITS = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767), "u16": (0, 65535)}
NUMPY = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16}
EVERY = {d: np.arange(a, b + 1).astype(NUMPY[d]) for d, (a, b) in LIMITS.items()}
TIES = np.arange(-600, 600, dtype=np.float32) * np.float32(0.125)
NEAR = np.linspace(-8, 8, 4001, dtype=np.float32)  # where functions have their parts
FLOATS: Array = np.concatenate([np.float32(SPECIAL), TIES, NEAR, values(9, "f32")])


def literal(dst: int, value: float, type_: str = "f32") -> Step:
    return Step("literal", type_, dst, arg=value)


def difference(zero: int | None, operand: int = 0) -> Steps:
    """r3 = code - zero"""
    shift = (literal(0, zero, "i64"), Step("sub", "i64", 1, (1, 0))) if zero is not None else ()
    return (
        Step("load", "i64", 1, arg=operand),
        *shift,
        Step("cast", "f32", 3, (1,), source="i64"),
    )


def decoding(zero: int | None, scale: float, operand: int = 0) -> Steps:
    """r2 = (code - zero) * scale"""
    return (
        *difference(zero, operand),
        literal(0, scale),
        Step("mul", "f32", 2, (3, 0)),
    )


def encoding(zero: int | None, scale: float, dtype: str, far: float = 0.0, x: int = 2) -> Steps:
    """output 0 = r2 in codes; registers are used again at once, as the exporter does"""
    least, most = LIMITS[dtype]
    far = far or 2.0 * (most - least + 1)
    shift = (literal(0, zero, "i64"), Step("add", "i64", 1, (0, 1))) if zero is not None else ()
    return (
        literal(0, scale),
        Step("div", "f32", 1, (x, 0)),
        Step("nearest", "f32", x, (1,)),
        literal(0, far),
        Step("min", "f32", 1, (x, 0)),
        literal(x, -far),
        Step("max", "f32", 0, (x, 1)),
        Step("cast", "i64", 1, (0,), source="f32"),
        *shift,
        literal(x, most, "i64"),
        Step("min", "i64", 0, (1, x)),
        literal(1, least, "i64"),
        Step("max", "i64", x, (0, 1)),
        Step("store", "i64", x, (x,)),
    )


# Without what 1 + erf(x) and exp(-x) make of negative numbers: nothing is left of their bits.
MILD = FLOATS[~((FLOATS < -2) & (FLOATS > -2000))]
LOAD = (Step("load", "f32", 2, arg=0),)
STORE = (Step("store", "f32", 2, (2,)),)
GELU: Steps = (
    literal(0, 0.7071067811865476),
    Step("mul", "f32", 1, (2, 0)),
    Step("erf", "f32", 0, (1,)),
    literal(1, 1.0),
    Step("add", "f32", 3, (1, 0)),
    literal(0, 0.5),
    Step("mul", "f32", 1, (2, 0)),
    Step("mul", "f32", 2, (1, 3)),
)
SILU: Steps = (
    Step("neg", "f32", 0, (2,)),
    Step("exp", "f32", 1, (0,)),
    literal(0, 1.0),
    Step("add", "f32", 3, (0, 1)),
    Step("div", "f32", 1, (0, 3)),
    Step("mul", "f32", 2, (1, 2)),
)


def gate(
    inner: float | None = 1 / 6, low: float = 0.0, high: float = 1.0, first: str = "min"
) -> Steps:
    """r2 = r2 * max(min(r2 * inner + 0.5, high), low), or min(max)"""
    limits = {"min": high, "max": low}
    second = "max" if first == "min" else "min"
    scaled = () if inner is None else (literal(0, inner), Step("mul", "f32", 1, (2, 0)))
    return (
        *scaled,
        literal(0, 0.5),
        Step("add", "f32", 3, (2 if inner is None else 1, 0)),
        literal(0, limits[first]),
        Step(first, "f32", 1, (3, 0)),
        literal(0, limits[second]),
        Step(second, "f32", 3, (1, 0)),
        Step("mul", "f32", 2, (2, 3)),
    )


def product(
    zeros: tuple[int | None, int | None], multiplier: int, shift: int, dtype: str, zero: int = 5
) -> Steps:
    """Output 0 = codes of the product of two operands' codes, as the exporter rescales it."""
    least, most = LIMITS[dtype]

    def away(operand: int, dst: int) -> Steps:
        load = Step("load", "i64", dst, arg=operand)
        z = zeros[operand]
        if z is None:
            return (load,)
        return (load, literal(0, z, "i64"), Step("sub", "i64", dst, (dst, 0)))

    return (
        *away(0, 1),
        *away(1, 2),
        Step("mul", "i64", 3, (1, 2)),
        literal(0, multiplier, "i64"),
        Step("mul", "i64", 1, (3, 0)),
        literal(0, (1 << (shift - 1)) - (1 << 63), "i64"),
        Step("add", "i64", 2, (1, 0)),
        literal(0, shift, "i64"),
        Step("shr", "i64", 1, (2, 0)),
        literal(0, zero - (1 << (63 - shift)), "i64"),
        Step("add", "i64", 2, (1, 0)),
        literal(0, least, "i64"),
        Step("max", "i64", 1, (2, 0)),
        literal(0, most, "i64"),
        Step("min", "i64", 2, (1, 0)),
        Step("store", "i64", 2, (2,)),
    )


# The register of x is written before the last step: not one loop.
LOST: Steps = (*SILU[:-1], Step("abs", "f32", 2, (2,)), Step("mul", "f32", 2, (1, 2)))


def case(name: str, xs: list[Array], steps: Steps, dtype: str, ulp: float = 64.0) -> Case:
    out = [Out(xs[0].shape, dtype)]
    return Case("pointwise", xs, {"steps": steps}, out=out, ulp=ulp, name=name)


def codes(dtype: str, count: int = 3000) -> Array:
    return np.resize(EVERY[dtype], count)


def image(shape: tuple[int, ...]) -> Array:
    return np.resize(FLOATS, shape)


def pixels(dtype: str, shape: tuple[int, ...]) -> Array:
    """Codes whose axis 1 is innermost in memory."""
    moved = (shape[0], *shape[2:], shape[1])
    return np.moveaxis(np.resize(EVERY[dtype], moved), -1, 1)


def ties(scale: float, dtype: str) -> Array:
    """Floats around every place at which codes change, or around 2,000 of them, up to three units of the last place away."""
    least, most = LIMITS[dtype]
    half = np.arange(least - most - 1, most - least + 2) + 0.5
    if len(half) > 2000:
        half = np.random.default_rng(5).choice(half, 2000)
    near = (half * float(np.float32(scale))).astype(np.float32).view(np.int32)
    return (near[:, None] + np.arange(-3, 4, dtype=np.int32)).view(np.float32).reshape(-1)


def pairs(dtype: str) -> list[tuple[Array, Array]]:
    """Operands of a product: of one shape, one of them a row for all, moved in memory, one number."""
    image, row = pixels(dtype, (2, 5, 7, 11)), codes(dtype, 300)
    return [
        (codes(dtype), codes(dtype)[::-1].copy()),
        (np.broadcast_to(row[::3], (30, 100)), codes(dtype).reshape(30, 100)),
        (image, codes(dtype, image.size).reshape(image.shape)),
        (np.broadcast_to(row[:1], (3000,)), codes(dtype)),
    ]


def tables(name: str, dtype: str, outs: tuple[str, ...]) -> Case:
    """One operand of codes, results of other types."""
    steps = (*decoding(3, 0.02), *GELU)
    for i, out in enumerate(outs):
        if out in LIMITS:
            *encoded, store = encoding(-9, 0.01, out, x=2)
            kept = (Step("abs", "f32", 5, (2,)),)  # r2 is lost in encoding
            steps = (
                *steps,
                *kept,
                *encoded,
                dataclasses.replace(store, arg=i),
                Step("neg", "f32", 2, (5,)),
            )
        else:
            whole = out == "i64"
            load = (Step("load", "i64", 6, arg=0),) if whole else ()
            steps = (
                *steps,
                *load,
                Step(
                    "store",
                    "i64" if whole else "f32",
                    6 if whole else 2,
                    (6 if whole else 2,),
                    arg=i,
                ),
            )
    return dataclasses.replace(
        case(name, [codes(dtype)], steps, outs[0]), out=[Out((3000,), out) for out in outs]
    )


# A power of two; others with ones in their last bits, without, and a few of what is left after the bits that codes ask for.
SCALES = (0.25, 0.0186584, 0.75, 1.0000001, 1.9999999, 1.25 + 2.0**-20, 3e-20, 1e-12, 7e17)


FORMS = [
    *(
        case(f"quantize_{dtype}_{zero}_{scale}", [FLOATS], (*LOAD, *encoding(zero, scale, dtype)), dtype)
        for dtype in ("i8", "u8")
        for zero in (None, 0, 5, -128, 300)
        for scale in (0.25, 0.0186584)
    ),
    *(
        case(f"quantize_planes_{'x'.join(map(str, shape))}_{dtype}", [image(shape)], (*LOAD, *encoding(5, 0.0186584, dtype)), dtype)
        for dtype in ("i8", "u8")
        for shape in ((1, 3, 19, 31), (2, 3, 16, 16), (2, 2, 300), (1, 4, 5, 7, 11), (3, 5, 67), (2, 70, 9, 31))
    ),
    *(
        case(f"quantize_planes_{'x'.join(map(str, shape))}_{dtype}", [image(shape)], (*LOAD, *encoding(5, 0.0186584, dtype)), dtype)
        for dtype in ("i16", "u16")
        for shape in ((1, 3, 19, 31), (2, 24, 300), (1, 70, 150))
    ),
    *(
        case(f"quantize_ties_{dtype}_{scale}", [ties(scale, dtype)], (*LOAD, *encoding(zero, scale, dtype)), dtype)
        for dtype, zero in (("i8", 0), ("u8", 131), ("i16", None), ("u16", 32768))
        for scale in SCALES
    ),
    *(
        case(f"quantize_{dtype}_{zero}", [FLOATS], (*LOAD, *encoding(zero, 0.0003, dtype)), dtype)
        for dtype in ("i16", "u16")
        for zero in (None, -7, 40000)
    ),
    *(
        case(f"dequantize_pixels_{dtype}_{'x'.join(map(str, shape))}", [pixels(dtype, shape)], (*decoding(7, 0.0171), *STORE), "f32")
        for dtype in LIMITS
        for shape in ((1, 3, 19, 31), (2, 24, 300), (1, 70, 150), (2, 16, 128))
    ),
    case("quantize_planes_of_sums", [image((1, 3, 19, 31))], (*LOAD, Step("abs", "f32", 2, (2,)), *encoding(5, 0.02, "i8")), "i8"),
    case("quantize_far", [FLOATS], (*LOAD, *encoding(3, 0.01, "i8", 100.0)), "i8"),
    case("quantize_broken_far", [FLOATS], (*LOAD, *encoding(3, 0.01, "i8", 100.5)), "i8"),
    *(
        case(f"dequantize_{dtype}_{zero}", [codes(dtype)], (*decoding(zero, 0.0171), *STORE), "f32")
        for dtype in LIMITS
        for zero in (None, 7, -128)
    ),
    *(
        case(f"difference_{dtype}_{zero}", [codes(dtype)], (*difference(zero), Step("store", "f32", 3, (3,))), "f32")
        for dtype in ("i8", "u8")
        for zero in (None, 7, -128)
    ),
    case(
        "difference_and_scaled_after",
        [codes("i8")],
        (*difference(9), Step("abs", "f32", 2, (3,)), literal(0, 0.3), Step("mul", "f32", 2, (2, 0)), *STORE),
        "f32",
    ),
    case(
        "dequantize_and_add",
        [np.broadcast_to(EVERY["i8"][:, None], (256, 5)), values(3, "f32")[:5] + np.zeros((256, 1), np.float32)],
        (*decoding(3, 0.5), Step("load", "f32", 0, arg=1), Step("add", "f32", 2, (0, 2)), *STORE),
        "f32",
    ),
    case("gelu", [MILD], (*LOAD, *GELU, *STORE), "f32"),
    case("silu", [MILD], (*LOAD, *SILU, *STORE), "f32"),
    *(
        case(f"gate_{inner}_{low}_{high}_{first}", [FLOATS], (*LOAD, *gate(inner, low, high, first), *STORE), "f32")
        for inner in (1 / 6, None)
        for low, high in ((0.0, 1.0), (-0.0, 6.0), (-1.0, 0.0))
        for first in ("min", "max")
    ),
    *(
        case(f"product_{dtype}_{zeros}_{shift}_{'x'.join(map(str, y.shape))}", [x, y], product(zeros, 1077954243, shift, dtype), dtype)
        for dtype in ("i8", "u8")
        for zeros in ((-128, 8), (None, 3), (7, None), (255, -128))
        for shift in (33, 38, 54, 55, 32)
        for x, y in pairs(dtype)
    ),
    case("product_of_words", [codes("i16"), codes("i16")[::-1]], product((0, 3), 1 << 30, 45, "i16"), "i16"),
    *(case(f"product_by_{m}", [codes("i8"), codes("i8")[::-1]], product((3, -5), m, 40, "i8"), "i8") for m in (1, -77, (1 << 31) - 1, 1 << 31, -(1 << 31))),
    *(
        tables(f"tables_of_{dtype}_{'_'.join(outs)}", dtype, outs)
        for dtype, outs in (("i8", ("i8", "f32")), ("u8", ("f32", "f16")), ("i8", ("i64", "i8")), ("i8", ("i8", "u8", "f32")), ("u8", ("f32",)))
    ),
    case("silu_lost", [MILD], (*LOAD, *LOST, *STORE), "f32"),
    case("gelu_of_silu", [MILD], (*LOAD, *SILU, *GELU, *STORE), "f32"),
    *(
        case(f"table_{a}_{b}", [codes(a)], (*decoding(3, 0.02, 0), *GELU, *encoding(-9, 0.01, b)), b)
        for a, b in (("i8", "i8"), ("u8", "i8"), ("i8", "u8"))
    ),
    case("table_of_truth", [codes("u8") % 3 > 0], (Step("load", "bool", 1, arg=0), Step("not", "bool", 2, (1,)), Step("store", "bool", 2, (2,))), "bool"),
]  # fmt: skip

DIVIDES: Steps = (
    literal(0, 100, "i64"),
    Step("load", "i64", 1, arg=0),
    Step("div", "i64", 2, (0, 1)),
    Step("store", "i64", 2, (2,)),
)
WITHOUT_ZERO = np.where(codes("i8") == 0, 1, codes("i8")).astype(np.int8)
CASES = [
    *FORMS,
    case("no_table_by_a_code_that_is_not_there", [WITHOUT_ZERO], DIVIDES, "i8"),
    dataclasses.replace(
        case("no_table_by_zero", [codes("i8")], DIVIDES, "i8"), status=Status.BAD_DATA, position=128
    ),
]
