"""Cases of what works along rows, and of what moves data: softmax, norms, reductions, running sums, copy, pad, dims."""

from __future__ import annotations

from typing import Any

import numpy as np
from ops.cases_pointwise import random
from ops.harness import Array, Case, Status

from pteron.schema.row import Out

LENGTHS = (*range(35), 47, 48, 49, 63, 64, 65, 66, 67, 255, 256, 257, 300, 1000)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e38, -1e38, 1e-40], np.float32)


def special_rows(n: int) -> Array:
    """One special value in each row, then rows of nothing else."""
    x = random(n, (len(SPECIAL) + 4, n))
    for i, v in enumerate(SPECIAL):
        x[i, (3 * i) % n] = v
    x[-4:] = np.array([0.0, -0.0, -np.inf, np.nan], np.float32)[:, None]
    return x


def softmax(x: Array, **attrs: Any) -> Case:
    n = x.shape[-1]
    reach = np.nanmax(np.abs(np.where(np.isfinite(x), x, 0)), initial=1.0)
    return Case(
        "softmax", [x], attrs, terms=max(n, 8), scale=max(1.0, reach if attrs.get("log") else 1.0)
    )


SOFTMAX = [
    *(softmax(random(n, (3, n)), log=log) for n in LENGTHS for log in (False, True)),
    *(softmax(special_rows(n), log=log) for n in (5, 16, 40) for log in (False, True)),
    softmax(random(1, (2, 3, 4, 5))),
    softmax(random(1, (7,))),
    softmax(random(1, (0, 7))),
    softmax(random(1, (40, 100)) * 30),
]


def norm(op: str, x: Array, count: int, extras: int, **attrs: Any) -> Case:
    """`extras`: bit 0 gain, bit 1 bias (layer_norm)."""
    shape = x.shape[x.ndim - count :]
    given: list[Any] = [x, random(7, shape) if extras & 1 else None]
    if op == "layer_norm":
        given.append(random(8, shape) if extras & 2 else None)
    n = int(np.prod(shape))
    magnitude = np.abs(np.where(np.isfinite(x), x, 0)).max(initial=1.0)
    return Case(op, given, {"count": count, **attrs}, terms=max(n, 8), scale=10 * float(magnitude))


NORMS = [
    *(norm("layer_norm", random(n, (3, n)) + 2, 1, n % 4) for n in LENGTHS[1:]),
    *(norm("layer_norm", random(1, (2, 3, 40)), c, e) for c in (1, 2, 3) for e in range(4)),
    norm("layer_norm", random(1, (2, 0, 4)), 1, 3),
    norm("layer_norm", random(1, (5, 64)) * 0.001, 1, 3, epsilon=1e-12),
    *(norm("rms_norm", random(n, (3, n)) + 2, 1, n % 2) for n in LENGTHS[1:]),
    *(norm("rms_norm", random(1, (2, 3, 40)), c, e) for c in (1, 2, 3) for e in range(2)),
    norm("rms_norm", np.zeros((2, 40), np.float32), 1, 1),
]


def reduce(x: Array, kind: str, count: int = 1, **more: Any) -> Case:
    n = int(np.prod(x.shape[x.ndim - count :]))
    if kind == "prod" and x.dtype.kind == "f":
        x = (1 + x / 100).astype(x.dtype)
    more.setdefault("sums", kind in ("sum", "mean"))
    return Case("reduce", [x], {"kind": kind, "count": count}, terms=max(n, 4), **more)


KINDS = ("sum", "mean", "max", "min", "prod")


def moved(x: Array, *axes: int) -> Array:
    """A view: memory stays as it was, axes in another order."""
    return x.transpose(axes)


REDUCE = [
    *(reduce(random(n, (3, n)), kind) for n in LENGTHS for kind in KINDS),
    *(
        reduce(random(n, (5, n), d), kind)
        for n in (0, 1, 15, 17, 40)
        for d in ("f64", "i64")
        for kind in KINDS
        if (d, kind) != ("i64", "mean")
    ),
    *(reduce(random(n, (5, n), "bool"), kind) for n in (0, 1, 2, 17) for kind in ("max", "min")),
    *(
        reduce(special_rows(n), kind, sums=False, scale=1e40)
        for n in (5, 16, 40)
        for kind in ("sum", "max", "min")
    ),
    *(reduce(random(1, (2, 3, 4, 35)), "sum", c) for c in (0, 1, 2, 3, 4)),
    *(
        reduce(moved(random(2, (2, 7, 9, c)), 0, 3, 1, 2), kind, 2)
        for c in (1, 3, 4, 67, 130)
        for kind in KINDS
    ),
    *(reduce(moved(random(2, (3, 21, 70)), 0, 2, 1), kind, 1) for kind in KINDS),
    reduce(np.full((2, 3), -(2**62), np.int64), "sum"),
    Case(
        "reduce",
        [random(1, (2, 3), "bool")],
        {"kind": "sum", "count": 1},
        status=Status.BAD_PROGRAM,
    ),
    Case(
        "reduce",
        [random(1, (2, 3), "i64")],
        {"kind": "mean", "count": 1},
        status=Status.BAD_PROGRAM,
    ),
]

TIES = np.array([[1, 3, 3, 2, 3], [5, 5, 5, 5, 5], [0, -1, 4, -1, 4]])
ARG = [
    Case("arg_reduce", [x], {"kind": kind, "last": last})
    for kind in ("max", "min")
    for last in (False, True)
    for x in (
        *(random(n, (3, n)) for n in (1, 2, 15, 33, 67)),
        random(1, (2, 5, 7), "i64"),
        TIES.astype(np.float32),
        TIES,
        special_rows(9),
        random(1, (0, 5)),
        random(1, (9,)),
    )
] + [Case("arg_reduce", [random(1, (3, 0))], {"kind": "max"}, status=Status.BAD_PROGRAM)]

CUMULATE = [
    Case(
        "cumulate",
        [x],
        {"kind": kind, "exclusive": exclusive, "reverse": reverse},
        terms=x.shape[-1] + 1,
        scale=1e3,
    )
    for kind in ("sum", "prod")
    for exclusive in (False, True)
    for reverse in (False, True)
    for x in (
        random(1, (3, 0)),
        random(1, (3, 1)),
        random(1, (2, 3, 67)) / 3,
        random(1, (2, 17), "f64") / 3,
        random(1, (2, 70), "i64"),
    )
]

ALL_TYPES = (
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


def codes(shape: tuple[int, ...], dtype: str) -> Array:
    """Elements of a type narrower than a byte, or of an 8-bit float type."""
    from pteron.schema.dtypes import DTYPES

    rng = np.random.default_rng(3)
    return (
        rng.integers(0, 1 << min(DTYPES[dtype].bits, 6), shape)
        .astype(np.uint8)
        .view(DTYPES[dtype].numpy)
    )


COPY = [
    *(Case("copy", [random(1, (3, 17, 5), d)]) for d in ALL_TYPES),
    *(
        Case("copy", [codes((3, 7), d)])
        for d in ("i4", "u4", "i2", "u2", "f4e2m1", "f6e2m3", "f8e4m3", "f8e5m2")
    ),
    *(Case("copy", [random(n, (n,))]) for n in (0, 1, 67, 5000)),
    Case("copy", [random(1, ())]),
    Case("copy", [moved(random(1, (37, 67)), 1, 0)]),
    *(Case("copy", [moved(random(1, (37, 130), d), 1, 0)]) for d in ("i8", "i16", "i64")),
    Case("copy", [moved(random(1, (2, 33, 5, 18)), 0, 3, 1, 2)]),
    Case("copy", [moved(random(1, (2, 18, 33, 5)), 0, 2, 3, 1)]),
    Case("copy", [moved(random(1, (4, 3, 2, 5, 6)), 4, 2, 0, 1, 3)]),
    *(
        Case("copy", [moved(random(1, (2, 3, 29, 23), d), 0, 2, 3, 1)])
        for d in ("i8", "f16", "f32", "f64")
    ),
    *(
        Case("copy", [moved(random(1, (2, 29, 23, 3), d), 0, 3, 1, 2)])
        for d in ("i8", "f16", "f32", "f64")
    ),
    Case("copy", [np.broadcast_to(random(1, (5, 1, 7)), (5, 9, 7))]),
    Case("copy", [np.broadcast_to(random(1, (5, 9, 1)), (5, 9, 70))]),
    Case("copy", [random(1, (9, 40))[::-2, ::-3]]),
    Case("copy", [random(1, (3, 0, 4))]),
]


def pad(
    x: Array,
    begin: tuple[int, ...],
    shape: tuple[int, ...],
    mode: str,
    dtype: str = "f32",
    **more: Any,
) -> Case:
    return Case("pad", [x], {"begin": begin, "mode": mode}, out=[Out(shape, dtype)], **more)


PAD = [
    case
    for mode in ("reflect", "edge", "wrap")
    for case in (
        pad(random(1, (7,)), (2,), (12,), mode),
        pad(random(1, (3, 5)), (1, 2), (5, 9), mode),
        pad(random(1, (3, 5)), (7, 11), (17, 40), mode),
        pad(random(1, (2, 6, 7)), (0, -2, 3), (2, 7, 9), mode),
        pad(random(1, (2, 6, 7)), (0, 2, -3), (2, 5, 9), mode),
        pad(random(1, (2, 6)), (0, -2), (2, 3), mode),
        pad(random(1, (1, 1)), (2, 3), (4, 9), mode),
        pad(random(1, (3, 4), "i64"), (1, 1), (5, 6), mode, "i64"),
        pad(random(1, (3, 4), "bool"), (1, 1), (5, 6), mode, "bool"),
        pad(random(1, ()), (), (), mode),
        pad(random(1, (3, 4)), (0, 0), (0, 4), mode),
        pad(random(1, (0, 4)), (1, 0), (3, 4), mode, status=Status.BAD_PROGRAM),
    )
]

DIMS = [
    Case("dims", [], {"values": v}, out=[Out((len(v),), "i64")]) for v in ((), (5,), (3, -1, 2**40))
]

CASES = [*SOFTMAX, *NORMS, *REDUCE, *ARG, *CUMULATE, *COPY, *PAD, *DIMS]
