"""Cases of the operators that move data by index: gather*, scatter*, tensor_scatter, nonzero, topk."""

from __future__ import annotations

from typing import Any

import numpy as np
from ops.harness import Array, Case, Status, Weight, weight

from pteron.schema import dtypes
from pteron.schema.dtypes import name_of
from pteron.schema.row import Out

RNG = np.random.default_rng(11)
DTYPES = ("bool", "int8", "uint16", "float16", "float32", "int64", "float64")
REDUCTIONS = ("none", "add", "mul", "max", "min")


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return (RNG.standard_normal(shape) * 5).astype(dtype)


def picks(extent: int, shape: tuple[int, ...]) -> Array:
    """Indices of both signs."""
    return np.asarray(RNG.integers(-extent, extent, shape), np.int64)


def tuples(extents: tuple[int, ...], lead: tuple[int, ...]) -> Array:
    if not extents:
        return np.zeros((*lead, 0), np.int64)
    return np.stack([picks(n, lead) for n in extents], -1)


def i8_channel(n: int, k: int) -> Weight:
    """Codes [n/16][k/4][16][4], then a scale a row."""
    codes = np.zeros((-(-n // 16) * 16, -(-k // 4) * 4), np.int8)
    codes[:n, :k] = RNG.integers(-128, 128, (n, k))
    scale = RNG.random(len(codes)).astype(np.float32)
    laid = codes.reshape(-1, 16, codes.shape[1] // 4, 4).swapaxes(1, 2)
    stored = np.concatenate([laid.reshape(-1).view(np.uint8), scale.view(np.uint8)])
    return Weight(codes[:n, :k].astype(np.float32) * scale[:n, None], stored, format=1)


def gather_nd(batch: int, lead: tuple[int, ...], depth: int) -> Case:
    x = numbers((4, 5, 6, 3))
    index = tuples(x.shape[batch : batch + depth], (*x.shape[:batch], *lead))
    shape = (*index.shape[:-1], *x.shape[batch + depth :])
    return Case("gather_nd", [x, index], {"batch_dims": batch}, out=[Out(shape, "f32")])


def scatter_elements(
    shape: tuple[int, ...], index: tuple[int, ...], how: str, dtype: Any = np.float32
) -> Case:
    inputs = [numbers(shape, dtype), picks(shape[0], index), numbers(index, dtype)]
    return Case("scatter_elements", inputs, {"reduction": how}, want=exact(inputs, "elements", how))


def scatter_nd(lead: tuple[int, ...], depth: int, how: str, dtype: Any = np.float32) -> Case:
    x = numbers((4, 5, 6), dtype)
    inputs = [
        x,
        tuples(x.shape[:depth], lead),
        numbers((*lead, *x.shape[depth:]), dtype),
    ]
    return Case("scatter_nd", inputs, {"reduction": how}, want=exact(inputs, "nd", how))


def exact(inputs: list[Array], kind: str, how: str) -> list[Array]:
    """The row's meaning in the type itself: each combination is rounded, in order."""
    from pteron.schema.ops import OPS

    with np.errstate(all="ignore"):
        return [OPS[f"scatter_{kind}"].meaning(*inputs, reduction=how)]


def nonzero(x: Array, capacity: int) -> Case:
    want = np.argwhere(x).T.astype(np.int64)
    return Case("nonzero", [x], out=[Out((x.ndim, capacity), "i64")], want=[want])


def topk(x: Array, k: int, largest: bool) -> Case:
    shape = (*x.shape[:-1], k)
    outs = [Out(shape, name_of(x.dtype)), Out(shape, "i64")]
    return Case("topk", [x], {"largest": largest}, out=outs)


def tensor_scatter(u: int, start: list[int] | None, circular: bool) -> Case:
    inputs = [
        numbers((2, 3, 5, 4)),
        numbers((2, 3, u, 4)),
        None if start is None else np.array(start),
    ]
    return Case("tensor_scatter", inputs, {"circular": circular})


def panel_scatter(u: int, start: list[int], dtype: Any = np.float32, **how: Any) -> Case:
    batch = len(start)
    inputs = [numbers((batch, 3, 2, 5, 16), dtype), numbers((batch, 3, u, 5), dtype)]
    return Case("panel_scatter", [*inputs, np.array(start)], how)


def bad(op: str, inputs: list[Any], position: int, **rest: Any) -> Case:
    return Case(op, inputs, status=Status.BAD_DATA, position=position, **rest)


SPECIAL = np.array([[1, np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, 1]], np.float32)
CASES = [
    *(Case("gather", [numbers((5, 3, 4), d), picks(5, (2, 3))]) for d in DTYPES),
    *(
        Case("gather", [numbers(x), picks(x[0], i)])
        for x, i in (
            ((5,), ()),
            ((5, 3), ()),
            ((7, 1), (0,)),
            ((4, 0), (2,)),
            ((3, 40, 70), (60,)),
            ((1, 1, 1), (1, 1)),
        )
    ),
    bad("gather", [numbers((3, 2)), np.array([[0, -3], [3, 9]])], 2),
    bad("gather", [numbers((0, 2)), np.array([0])], 0),
    *(
        Case("gather_rows", [weight(numbers((n, k))), picks(n, i)])
        for n, k, i in ((37, 13, (3, 5)), (16, 1, ()), (1, 8, (2,)), (33, 4, (0,)))
    ),
    *(
        Case("gather_rows", [i8_channel(n, k), picks(n, (5,))])
        for n, k in ((37, 13), (16, 4), (3, 1))
    ),
    bad("gather_rows", [weight(numbers((20, 4))), np.array([0, 20])], 1),
    *(
        Case("gather_elements", [numbers(x), picks(x[0], i)])
        for x, i in (
            ((5,), (7,)),
            ((5, 3), (2, 2)),
            ((5, 3, 4), (9, 3, 2)),
            ((5, 3), (0, 3)),
            ((40, 50, 20), (30, 50, 20)),
        )
    ),
    *(Case("gather_elements", [numbers((5, 3), d), picks(5, (2, 3))]) for d in DTYPES),
    bad("gather_elements", [numbers((3, 2)), np.array([[0, 1], [-4, 0]])], 2),
    Case(
        "gather_elements",
        [numbers((3, 2)), picks(3, (2, 3))],
        status=Status.BAD_PROGRAM,
        name="wide_index",
    ),
    *(
        gather_nd(*a)
        for a in (
            (0, (2,), 3),
            (0, (7,), 1),
            (0, (2, 2), 4),
            (1, (), 2),
            (2, (3,), 1),
            (2, (), 2),
            (1, (7,), 3),
            (0, (0,), 2),
        )
    ),
    bad(
        "gather_nd",
        [numbers((3, 2)), np.array([[0, 1], [-4, 0]])],
        2,
        out=[Out((2,), "f32")],
    ),
    *(
        scatter_elements(x, i, how)
        for how in REDUCTIONS
        for x, i in (((5,), (7,)), ((5, 3), (2, 2)), ((5, 3, 4), (9, 3, 2)), ((4, 3), (0, 3)))
    ),
    *(
        scatter_elements((5, 3), (8, 3), how, d)
        for how in REDUCTIONS
        for d in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    ),
    *(scatter_elements((5, 3), (8, 3), how, np.float64) for how in REDUCTIONS),
    scatter_elements((5, 3), (8, 3), "none", np.float16),
    bad(
        "scatter_elements",
        [numbers((3, 2)), np.array([[0, 1], [3, 0]]), numbers((2, 2))],
        2,
    ),
    *(
        scatter_nd(lead, depth, how)
        for how in REDUCTIONS
        for lead, depth in (((2,), 3), ((7,), 1), ((2, 9), 2), ((0,), 2), ((), 1))
    ),
    *(scatter_nd((9,), 2, "none", d) for d in DTYPES),
    *(scatter_nd((9,), 2, "add", d) for d in ("bool", "int8", "float64")),
    bad("scatter_nd", [numbers((3, 2)), np.array([[2], [3]]), numbers((2, 2))], 1),
    *(tensor_scatter(*a) for a in ((3, [2, 1], False), (5, None, False), (0, [5, 0], False))),
    *(tensor_scatter(*a) for a in ((3, [4, 1], True), (5, [7, 12], True), (3, None, True))),
    *(panel_scatter(*a) for a in ((3, [2, 15]), (32, [0]), (17, [15, 0, 7]), (0, [32]), (1, [31]))),
    *(panel_scatter(9, [11], d) for d in DTYPES),
    *(panel_scatter(u, at, circular=True) for u, at in ((3, [30, 2**40]), (32, [17]), (40, [5]))),
    bad("panel_scatter", [*panel_scatter(2, [0, 0]).inputs[:2], np.array([30, 31])], 1),
    bad("panel_scatter", [*panel_scatter(2, [0]).inputs[:2], np.array([-1])], 0),
    bad("panel_scatter", [*panel_scatter(2, [0]).inputs[:2], np.array([2**62])], 0),
    bad("panel_scatter", panel_scatter(33, [0]).inputs, 0),
    bad("tensor_scatter", [numbers((2, 1, 4, 1)), numbers((2, 1, 2, 1)), np.array([2, 3])], 1),
    bad("tensor_scatter", [numbers((1, 1, 4, 1)), numbers((1, 1, 2, 1)), np.array([-1])], 0),
    *(
        nonzero(
            np.asarray(numbers(s, d) * np.asarray(RNG.random(s) < 0.5, d)),
            max(1, int(np.prod(s))),
        )
        for d in DTYPES
        for s in ((), (5,), (3, 4), (0, 2), (2, 3, 4))
    ),
    *(
        Case("reshape", [numbers(s, d)], out=[Out(o, name_of(np.dtype(d)))])
        for d in DTYPES
        for s, o in (((2, 3), (6,)), ((1, 1), ()), ((0, 3), (5, 0)), ((40, 50, 7), (7, 2000)))
    ),
    *(
        Case("reshape", [x], out=[Out(x.shape, to)], want=[x.view(dtypes.DTYPES[to].numpy)])
        for x, to in (
            (numbers((3, 5)), "i32"),
            (picks(2**31, (3, 5)).astype(np.int32), "f32"),
            (numbers((4,), np.float64), "i64"),
            (picks(2**60, ()), "f64"),
            (numbers((7,), np.float16), "u16"),
            (np.array([True, False]), "u8"),
        )
    ),
    Case(
        "reshape",
        [np.ones(3, np.uint8)],
        out=[Out((3,), "bool")],
        status=Status.BAD_PROGRAM,
        name="to_bool",
    ),
    Case("reshape", [numbers((2, 3))], out=[Out((5,), "f32")], status=Status.BAD_DATA),
    Case("reshape", [numbers((2, 3))], out=[Out((7,), "f32")], status=Status.BAD_DATA),
    nonzero(np.array([-0.0, np.nan, 1e-45, 0.0], np.float32), 4),
    Case(
        "nonzero",
        [np.ones((3, 2), np.float32)],
        out=[Out((2, 5), "i64")],
        status=Status.LIMIT,
    ),
    *(
        topk(RNG.integers(-5, 5, s).astype(d), k, largest)
        for d in (np.float32, np.int64)
        for largest in (True, False)
        for s, k in (
            ((5,), 3),
            ((4, 7), 7),
            ((3, 1), 1),
            ((2, 50), 0),
            ((6, 100), 10),
            ((0, 3), 2),
        )
    ),
    topk(SPECIAL, 8, True),
    topk(SPECIAL, 5, False),
    topk(np.array([[-(2**63), 2**63 - 1, 0, -(2**63)]]), 4, False),
    Case(
        "topk",
        [numbers((3, 2))],
        out=[Out((3, 3), "f32"), Out((3, 3), "i64")],
        status=Status.BAD_PROGRAM,
    ),
]
