"""Cases of matmul_int8 and matmul_turned: every format, ragged sizes, hostile numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ops.cases_matrix import normal, relu, scaled_sum
from ops.cases_pointwise_forms import GELU, SILU, STORE
from ops.harness import Array, Case, Status, weight
from ops.stored import stored

from pteron.schema.steps import Step

NAMES = ("i8_channel", "nf4", "mxfp6", "mxfp4", "i4", "i4_64", "i4_256")
SIZES = ((1, 1), (5, 7), (16, 32), (17, 33), (33, 70), (48, 129), (70, 300), (20, 0), (97, 64))


def int8(name: str, m: tuple[int, ...], n: int, k: int, bias: bool = False, **rest: Any) -> Case:
    xs, x = rest.pop("xs", ()), rest.pop("x", None)
    inputs = (
        normal(*m, k) if x is None else x,
        stored(name, n, k, integers=True),
        normal(n) if bias else None,
        *xs,
    )
    return Case("matmul_int8", inputs, rest, terms=k + 1, sums="steps" not in rest, scale=k, name=f"{name} {m} {n} {k}")  # fmt: skip


def hostile() -> Array:
    """Rows with blocks of zeros, tiny and huge numbers, ties, infinities, NaN."""
    x = normal(9, 100)
    x[1, :64] = 0
    x[2, 32:64] *= np.float32(1e-44)
    x[3, :] = np.float32(2.0**-149) * np.arange(100)
    x[4, 7], x[5, 40], x[6, 99] = np.inf, np.nan, -np.inf
    x[7, :32] = np.float32(3e38)
    x[8, :] = np.arange(100, dtype=np.float32) - 49.5
    x[8, 0::32] = 127
    return x


def turned(m: tuple[int, ...], n: int, k: int, bias: bool = False, **rest: Any) -> Case:
    xs, x = rest.pop("xs", ()), rest.pop("x", None)
    inputs = (
        normal(*m, k) if x is None else x,
        stored("i8_channel", n, -(-k // 64) * 64),
        normal(n) if bias else None,
        *xs,
    )
    # A code that is off by one moves y by more than its scale times a weight: some tens.
    return Case(
        "matmul_turned", inputs, rest, terms=1, scale=100 * (k + 64), name=f"turned {m} {n} {k}"
    )


def added(*operands: int) -> tuple[Step, ...]:
    """r2 = y and operands of the program, added from the left."""
    first, *rest = operands
    adds = ((Step("load", "f32", 0, arg=x), Step("add", "f32", 2, (2, 0))) for x in rest)
    return (Step("load", "f32", 2, arg=first), *(step for pair in adds for step in pair))


def whole(steps: tuple[Step, ...], *xs: Array, m: int = 30, n: int = 300, k: int = 70) -> Case:
    """Sums of ordinary size, so that functions have their curves there."""
    case = turned((m,), n, k, x=normal(m, k) * np.float32(1e-3), steps=(*steps, *STORE), xs=xs)
    return dataclasses.replace(case, name=f"{case.name} {len(steps)}")


FACTOR = (Step("load", "f32", 4, arg=1),)


def times(
    before: tuple[Step, ...], behind: tuple[Step, ...], product: tuple[int, int] = (2, 4)
) -> tuple[Step, ...]:
    """The product of a form and operand 1, which is loaded on the way."""
    return (*before, *behind, Step("mul", "f32", 2, product))


ROW, FULL = np.broadcast_to(normal(300), (30, 300)), normal(30, 300)[::-1]
WHOLE = [
    *(whole((*added(*operands), *form), *xs) for form in (GELU, SILU) for operands, *xs in (
        ((0,),), ((0, 1), ROW), ((1, 0), ROW), ((0, 1), FULL), ((0, 1), FULL.copy())
    )),
    *(whole(steps, x) for x in (ROW, FULL, FULL.copy(), normal(300, 30).T) for form in (GELU, SILU) for steps in (
        times((*added(0), *form), FACTOR), times((*added(0), *FACTOR), form, (4, 2)), times((*FACTOR, *added(0)), form),
    )),
    whole(times((*added(0), *SILU), (Step("load", "f32", 4, arg=0),))),
    whole(times((*added(0, 1), *SILU), (Step("load", "f32", 4, arg=2),)), ROW, FULL),
    whole((*times((*added(0), *SILU), FACTOR), Step("add", "f32", 2, (2, 4))), FULL),
    whole((*added(0, 0), *GELU)),
    whole((*added(0, 1), *GELU), normal(300, 30).T),
    whole((*added(0, 1), *GELU, *SILU), ROW),
    *(
        Case("matmul", (normal(30, 40), weight(normal(300, 40)), bias, x), {"steps": (*added(0, 1), *GELU, *STORE)}, terms=41, scale=40, name=f"gelu {i}")
        for i, (bias, x) in enumerate(((None, ROW), (normal(300), FULL)))
    ),
]  # fmt: skip
"""Programs that are one form, and some that are nearly: tests/ops/test_forms.py compares them with their steps."""

TURNED = [
    *WHOLE,
    *(whole(added(*range(1 + len(xs))), *xs, m=m) for m, xs in ((30, (ROW,)), (30, (ROW, FULL.copy())))),
    *(turned((m,), 64, 128, True) for m in (11, 14, 23, 35, 36, 47, 48, 255, 256, 257, 600)),
    turned((150,), 32, 5000, True),
    *(turned((1 + i % 7,), n, k, i % 2 == 0) for i, (n, k) in enumerate(SIZES)),
    *(turned((m,), n, 70) for m in (1, 2, 5, 6, 7, 11, 12, 13, 24, 25, 130, 200) for n in (16, 40)),
    *(turned((25,), n, 130, True) for n in (1, 15, 16, 31, 32, 33, 300)),
    turned((), 40, 70, True),
    turned((13,), 64, 8200, True),
    *(turned((m,), 33, k) for m, k in ((16, 64), (50, 600), (200, 1100), (20, 8200))),
    turned((2, 3), 40, 70, True, steps=relu()),
    turned((2, 5), 37, 70, True, steps=scaled_sum(), xs=(np.broadcast_to(normal(37), (2, 5, 37)), normal(2, 5, 37))),
    dataclasses.replace(turned((9,), 20, 100, x=hostile()), scale=np.float32(3e38)),
    turned((0,), 20, 4),
    turned((3,), 0, 4),
    *(
        Case("matmul_turned", (normal(3, 64), w), status=Status.BAD_PROGRAM)
        for w in (stored("i4", 4, 64), stored("i8_channel", 4, 128), weight(normal(4, 64)))
    ),
]  # fmt: skip

CASES = [
    *TURNED,
    *(int8(name, (1 + i % 7,), n, k, i % 2 == 0) for name in NAMES for i, (n, k) in enumerate(SIZES)),
    *(int8(name, (m,), 40, 70) for name in NAMES for m in (1, 2, 3, 4, 5, 7, 130)),
    *(int8(name, (m,), 72, 600) for name in NAMES for m in (3, 6, 8, 13, 33, 71)),
    *(int8(name, (m,), 40, k) for name in NAMES for m, k in ((16, 130), (35, 300), (70, 1100))),
    *(int8(name, (), 40, 70, True) for name in NAMES),
    *(int8(name, (1,), 600, 530) for name in NAMES),
    *(int8(name, (2, 3), 40, 70, True, steps=relu()) for name in NAMES),
    *(
        int8(name, (2, 5), 37, 70, True, steps=scaled_sum(), xs=(np.broadcast_to(normal(37), (2, 5, 37)), normal(2, 5, 37)))
        for name in NAMES
    ),
    *(dataclasses.replace(int8(name, (9,), 20, 100, x=hostile()), sums=False, scale=np.float32(3e38)) for name in NAMES),
    *(
        dataclasses.replace(int8(name, (18,), 20, 100, x=np.tile(hostile(), (2, 1))), sums=False, scale=np.float32(3e38))
        for name in NAMES
    ),
    int8("nf4", (0,), 20, 4),
    int8("i4", (3,), 0, 4),
    *(
        Case("matmul_int8", (normal(3, 8), w), status=Status.BAD_PROGRAM)
        for w in (stored("mxfp8", 4, 8), stored("e4m3_channel", 4, 8), weight(normal(4, 8)))
    ),
]  # fmt: skip
