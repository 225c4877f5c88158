"""Integer nodes of int16, as lower/test_integer.py has those of int8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lower.test_integer import Array, Built, factor

from pteron.export.graph import int8 as integer

RNG = np.random.default_rng(16)
WORD = {"low": -32768, "high": 32767}


def words(*shape: int) -> Array:
    return RNG.integers(-32768, 32768, shape).astype(np.int16)


def channels(n: int, depth: int) -> dict[str, Any]:
    """Bias and factors of n sums of `depth` products of words and codes."""
    scales = RNG.uniform(0.3, 3, n) / (70 * np.sqrt(depth))
    multiplier, shift = integer.integer.multipliers_shifts(scales)
    bias = RNG.integers(-(10**6), 10**6, n).astype(np.int32)
    return {"bias": bias, "multiplier": multiplier, "shift": shift}


def conv(n: int, c: int, kernel: tuple[int, ...], group: int = 1, **given: Any) -> integer.Conv:
    axes = len(kernel)
    w = RNG.integers(-127, 128, (n, c // group, *kernel)).astype(np.int8)
    fields: dict[str, Any] = {
        "strides": (1,) * axes, "pads": (1,) * 2 * axes, "dilations": (1,) * axes, "group": group, "x_zero": 0, "y_zero": 0, **WORD,
    }  # fmt: skip
    return integer.Conv(w, **channels(n, w[0].size), **(fields | given))


@pytest.mark.parametrize(
    "row",
    [
        conv(20, 6, (3, 3)),
        conv(33, 12, (3,), x_zero=300, y_zero=-7, low=-100, high=20000),
        conv(24, 24, (3, 3), group=24, strides=(2, 1)),
        conv(12, 6, (2, 2), group=3),
        conv(17, 40, (1, 1), pads=(0,) * 4),
        conv(5, 700, (3,), pads=(0, 0)),  # sums that int32 does not hold
    ],
    ids=lambda row: f"{row.w.shape}, group {row.group}",
)
def test_conv(row: integer.Conv) -> None:
    x = words(2, row.w.shape[1] * row.group, *(9, 7)[: row.w.ndim - 2])
    built = Built.of(x)
    program = built.agrees(built.add(row, *built.graph.inputs))
    instr = next(i for i in program.blocks[0].instrs if i.op == "conv_i16")
    assert instr.attrs["wide"] == (row.w.shape[1] == 700)


def test_linear_add_and_the_types_between() -> None:
    """int8 -> int16 -> products and sums -> int8."""
    x = RNG.integers(-128, 128, (3, 50)).astype(np.int8)
    built = Built.of(x)
    wide = integer.Rescale(3, 0, 1 << 30, 24, **WORD, bits=16)
    a = built.add(wide, *built.graph.inputs)
    w = RNG.integers(-127, 128, (50, 50)).astype(np.int8)
    b = built.add(integer.Linear(w, **channels(50, 50), x_zero=0, y_zero=0, **WORD), a)
    parts = [integer.integer.multiplier_shift(s) for s in integer.integer.add_factors(1, 0.7, 1.5, 16)]  # fmt: skip
    c = built.add(integer.Add(0, *parts[0], 0, *parts[1], 0, *parts[2], **WORD), a, b)
    d = built.add(integer.Rescale(0, -5, 1 << 30, 31, **WORD, bits=16), c)
    narrow = integer.Rescale(-5, 12, 1 << 30, 38, -128, 127, bits=8)
    program = built.agrees(built.add(narrow, d), d)
    assert {"conv_i16", "add_i16"} <= {i.op for i in program.blocks[0].instrs}


@pytest.mark.parametrize(("given", "bits"), [(8, 16), (16, 8), (16, 16)])
def test_rescale_by_every_shift(given: int, bits: int) -> None:
    """Also of zero points at the ends, and of factors past all that an export has."""
    low = -(1 << (given - 1))
    x = np.concatenate([np.arange(low, -low, 1 if given == 8 else 97), [low, -1, 0, 1, -1 - low]])
    built = Built.of(x.astype(integer.TYPES[given].numpy())[None])
    ends = {"low": -(1 << (bits - 1)), "high": (1 << (bits - 1)) - 1}
    rows = [
        integer.Rescale(x_zero, y_zero, m, shift, **ends, bits=bits)
        for x_zero in (low, 0, -1 - low)
        for shift in range(2, 63)
        for m, y_zero in ((1 << 30, -2), (1431655765, 0), ((1 << 31) - 1, ends["high"]))
    ]
    program = built.agrees(*(built.add(row, *built.graph.inputs) for row in rows))
    assert sum(i.op == "add_i16" for i in program.blocks[0].instrs) == len(rows)


def test_a_rescale_of_few_values_is_clamped() -> None:
    built = Built.of(words(3, 70))
    row = integer.Rescale(0, 5, 1518500250, 39, -3, 60, bits=8)
    built.agrees(built.add(row, *built.graph.inputs))


def test_pools_moves_and_products_of_elements() -> None:
    x = words(2, 5, 6, 8)
    built = Built.of(x)
    (value,) = built.graph.inputs
    scale = dict(zip(("multiplier", "shift"), integer.integer.multiplier_shift(1 / 9), strict=True))
    ends = {"x_zero": 0, "y_zero": 4, **WORD}
    whole = built.add(integer.AveragePool((6, 8), (1, 1), (0,) * 4, **ends, **scale), value)
    some = built.add(integer.AveragePool((3, 3), (2, 2), (1,) * 4, **ends, **scale), value)
    multiplier, shift = integer.integer.shares(1.0, np.full((5, 7), 4))
    inner = built.add(
        integer.InnerAverage(multiplier, (2, 2), (1, 1), (0,) * 4, (1, 1), shift=shift, **ends),
        value,
    )
    squared = built.add(integer.Mul(0, 0, 0, **factor(RNG, 1e9), **WORD), value, value)
    most = built.add(integer.MaxPool((3, 2), (2, 1), (1, 0, 1, 1), (1, 1)), value)
    built.agrees(whole, some, inner, squared, most)


def test_a_window_that_f32_might_round_says_so() -> None:
    row = integer.AveragePool((257,), (1,), (0, 0), 0, 0, 1 << 30, 40, **WORD)
    built = Built.of(words(1, 1, 300))
    with pytest.raises(Exception, match="window of 257"):
        built.agrees(built.add(row, *built.graph.inputs))
