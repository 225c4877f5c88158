"""Cases of conv_i16: windows of every kind, the ends of all ranges, sums that wrap and sums that saturate."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from ops.cases_matrix import extents, window
from ops.cases_matrix_conv_i8 import FLOATS, HUGE, bad_shift, every_shift, some_wide, with_input
from ops.harness import Array, Case, Status, weight

from pteron.schema.row import Out

RNG = np.random.default_rng(77)
CODES = {"x_zero": 0, "y_zero": 0, "low": -32768, "high": 32767, "wide": False}


def codes(bits: int, *shape: int) -> Array:
    ends = 1 << (bits - 1)
    return RNG.integers(-ends, ends, shape).astype(np.int8 if bits == 8 else np.int16)


def conv(
    size: tuple[int, ...], c: int, n: int, kernel: int | tuple[int, ...], groups: int = 1, batch: int = 1, **rest: Any
) -> Case:  # fmt: skip
    """Factors such that results are spread over all codes."""
    own = {name: rest.pop(name, value) for name, value in CODES.items()}
    attrs = window(len(size), kernel, **rest)
    out = extents(size, attrs)
    del attrs["spread"]
    depth = math.prod(attrs["kernel"]) * (c // groups)
    shift = RNG.integers(36, 39, n) + int(math.log2(depth + 1) / 2)
    inputs = (
        codes(16, batch, *size, c),
        weight(codes(8, n, depth), 1 if c == n == groups else groups),
        RNG.integers(-500000, 500000, n).astype(np.int32),
        RNG.integers(1 << 30, 1 << 31, n).astype(np.int32),
        shift.astype(np.int8),
    )
    out_shape = (batch, *out, n)
    return Case("conv_i16", inputs, {**attrs, "groups": groups, **own}, [Out(out_shape, "i16")])


def all_ends(wide: bool) -> Case:
    """Every product of the ends of x with -128, -1, 0, 127, and every end of bias, multiplier and shift."""
    case = conv((1,), 64, 36, 1, wide=wide)
    few = np.array([-32768, -1, 0, 32767], np.int16)
    ends = np.array([-(2**31), -1, 0, 1, 2**30, 2**31 - 1], np.int32)
    return with_input(
        case,
        x=np.repeat(few, 16)[None, None],
        w=weight(np.resize(np.array([-128, -1, 0, 127], np.int8), (36, 64))),
        bias=np.repeat(ends, 6),
        multiplier=np.tile(ends, 6),
        shift=np.resize(np.array([1, 2, 30, 31, 32, 62], np.int8), 36),
    )


def narrow_ends(zero: int, low: int = -32768, high: int = 32767) -> Case:
    """Sums at both ends of int32, every end of the multiplier, shifts about those that 32-bit lanes take."""
    case = conv((3,), 5, 64, 1, y_zero=zero, low=low, high=high)
    ends = np.array([-(2**31), 1 - 2**31, -1, 0, 1, 2**30, 2**31 - 2, 2**31 - 1], np.int32)
    return with_input(
        case,
        x=np.zeros((1, 3, 5), np.int16),
        bias=np.repeat(ends, 8),
        multiplier=np.tile(ends[1:], 10)[:64],
        shift=np.repeat(np.array([33, 46, 47, 55], np.int8), 16),
    )


def mixed(case: Case) -> Case:
    """Sixteen columns side by side have sixteen shifts, each of them beside all others and on every lane."""
    shift = np.asarray(case.inputs[4])
    return with_input(
        case, shift=np.roll(np.resize(np.arange(1, 63), shift.shape), 5).astype(np.int8)
    )


def largest(case: Case, x: int, w: int, bias: int = 0) -> Case:
    """Every product the same: sums at the end of what a part holds, and beyond int32."""
    given = case.inputs[0]
    shape = case.inputs[1].array.shape
    groups = case.inputs[1].groups
    return with_input(
        case,
        x=np.full(np.shape(given), x, np.int16),
        w=weight(np.full(shape, w, np.int8), groups),
        bias=np.full(shape[0], bias, np.int32),
        shift=np.full(shape[0], 46, np.int8),
    )


def refused(status: Status = Status.BAD_PROGRAM, **attrs: Any) -> Case:
    return dataclasses.replace(PLAIN, attrs=PLAIN.attrs | attrs, status=status)


PLAIN = conv((7, 7), 4, 6, 3)

CASES = [
    *(conv((m,), k, n, 1, wide=k == 33) for m in (1, 2, 3, 4, 5, 6, 7, 13) for k, n in ((1, 1), (5, 16), (33, 17), (64, 40))),
    conv((300,), 70, 50, 1),
    conv((1,), 2048, 200, 1),
    conv((5,), 3000, 20, 1, x_zero=-32768, wide=True),
    conv((14, 15), 32, 48, 1, batch=2),
    conv((14, 15), 32, 48, 1, stride=2),
    conv((9,), 5, 7, 3, begin=1, end=2, x_zero=1234),
    conv((9, 8), 5, 7, 3, stride=2, begin=1, end=1, x_zero=32767, wide=True),
    conv((5, 6, 7), 4, 20, 3, stride=(1, 2, 1), begin=1, end=(0, 1, 2)),
    conv((12, 11), 20, 33, (3, 2), dilation=(2, 3), begin=2, batch=2),
    *(conv((9, 9), 12, 24, 3, groups=3, begin=1, end=1, wide=wide) for wide in (False, True)),
    *(conv((14, 15), 24, 40, 1, groups=2, batch=batch, wide=batch == 1) for batch in (1, 2)),
    *(conv((9, 9), 8, 8, 3, groups=8, low=-500, high=4000, wide=wide) for wide in (False, True)),
    conv((9, 9), 40, 40, 3, groups=40, begin=1, end=1, x_zero=-99),
    conv((9, 10), 33, 33, (5, 3), groups=33, dilation=(1, 2), begin=2, end=1, stride=(2, 1), batch=2),
    conv((5, 6, 7), 16, 16, 3, groups=16, begin=1, end=1, x_zero=-32768, low=0),
    conv((30, 31), 70, 70, 3, groups=70, begin=1, end=1),
    *(conv((4, 1 + i), c, c, 3, groups=c, stride=1 + i % 2, begin=(i % 3, i // 2 % 3), end=(1, 2), batch=2)
      for i, c in enumerate((5, 16, 17, 32, 33, 48, 64, 70, 96, 100, 129))),
    conv((3, 7, 8), 40, 40, (1, 3, 3), groups=40, begin=(1, 2, 4), end=(1, 0, 0), dilation=(1, 3, 1), stride=(2, 1, 2)),
    conv((7, 9), 20, 20, 3, groups=20, begin=(-1, -2), end=(1, 3), low=-20, high=90),
    conv((9, 9), 8, 16, 3, groups=8),
    conv((9,), 20, 5, 5, begin=-1, end=3),
    conv((30, 30), 3, 40, 7, stride=2, begin=3, end=3),
    conv((40, 41), 16, 33, 3, begin=1, end=1, low=-500, high=9999),
    conv((6, 6), 300, 20, 3, begin=1, end=1, wide=True),
    *(conv((3,), 9000, 33, 1, wide=wide) for wide in (False, True)),
    *(narrow_ends(zero, *limits) for zero in (-32768, 0, 32767) for limits in ((-32768, 32767), (-7, 9))),
    *(form(every_shift(conv((m,), 5, 992, 1, y_zero=zero, wide=m == 7)))
      for m, zero in ((4, -32768), (6, 32767), (7, 3)) for form in (mixed, dataclasses.replace)),
    *(form(every_shift(conv((4, 5), 992, 992, 3, groups=992, begin=1, end=1, y_zero=zero)))
      for zero in (0, 32767) for form in (mixed, dataclasses.replace)),
    *(mixed(conv((4, 5), c, c, 3, groups=c, begin=1, end=1, wide=c == 77)) for c in (1, 3, 15, 31, 33, 47, 77)),
    some_wide(conv((5,), 30, 70, 1)),
    some_wide(conv((5, 6), 97, 97, 3, groups=97, begin=1, end=1)),
    *(largest(conv((7,), k, 20, 1, wide=wide), x, w, bias)
      for k in (508, 512, 1200) for x, w in ((-32768, -128), (-32768, 127), (32767, 127)) for wide in (False, True)
      for bias in (0, 2**31 - 1, -(2**31))),
    *(largest(conv((9, 9), 40, 40, 9, groups=40, wide=wide, begin=4, end=4), x, -128, 2**31 - 1)
      for x in (-32768, 32767) for wide in (False, True)),
    conv((3, 3), 4, 5, 5),
    conv((0, 3), 4, 5, 1),
    conv((3, 3), 0, 5, 1),
    conv((3, 3), 4, 0, 1),
    conv((3, 3), 4, 5, 3, begin=9, end=9),
    conv((6, 5), 4, 5, 3, low=7, high=7),
    *(all_ends(wide) for wide in (False, True)),
    *(refused(**{name: value}) for name in ("kernel", "stride", "dilation") for value in ((0, 3), (HUGE, 3), (3,))),
    *(refused(**{name: (value, 0)}) for name in ("begin", "end") for value in (1, HUGE, -HUGE)),
    *(refused(groups=groups) for groups in (-HUGE, -1, 0, 2, 3, HUGE)),
    *(refused(**{name: value}) for name in ("x_zero", "y_zero", "low", "high") for value in (-32769, 32768, HUGE, -HUGE)),
    refused(low=3, high=2),
    *(bad_shift(value, PLAIN, 3) for value in (-128, -1, 0, 63, 127)),
    dataclasses.replace(with_input(PLAIN, w=FLOATS), status=Status.BAD_PROGRAM),
    *(
        dataclasses.replace(with_input(PLAIN, **{name: np.ones(6, np.int64)}), status=Status.BAD_PROGRAM)
        for name in ("bias", "multiplier", "shift")
    ),
]  # fmt: skip
