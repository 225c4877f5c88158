"""Cases of conv_i8: windows of every kind, the ends of all ranges, sums that wrap."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from ops.cases_matrix import extents, window
from ops.harness import Array, Case, Status, weight

from pteron.schema.row import Out

RNG = np.random.default_rng(46)
CODES = {"x_zero": 3, "y_zero": -5, "low": -128, "high": 127}


def codes(*shape: int) -> Array:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def conv(
    size: tuple[int, ...], c: int, n: int, kernel: int | tuple[int, ...], groups: int = 1, batch: int = 1, **rest: Any
) -> Case:  # fmt: skip
    """Factors such that results are spread over all codes."""
    own = {name: rest.pop(name, value) for name, value in CODES.items()}
    attrs = window(len(size), kernel, **rest)
    out = extents(size, attrs)
    depth = math.prod(attrs["kernel"]) * (c // groups)
    shift = RNG.integers(37, 40, n) + int(math.log2(depth + 1) / 2)
    inputs = (
        codes(batch, *size, c),
        weight(codes(n, depth), 1 if c == n == groups else groups),
        RNG.integers(-5000, 5000, n).astype(np.int32),
        RNG.integers(1 << 30, 1 << 31, n).astype(np.int32),
        shift.astype(np.int8),
    )
    return Case(
        "conv_i8", inputs, {**attrs, "groups": groups, **own}, [Out((batch, *out, n), "i8")]
    )


def with_input(case: Case, **arrays: Any) -> Case:
    names = ("x", "w", "bias", "multiplier", "shift")
    inputs = tuple(arrays.get(name, old) for name, old in zip(names, case.inputs, strict=True))
    return dataclasses.replace(case, inputs=inputs)


def all_ends() -> Case:
    """Every product of -128, -1, 0, 127 with themselves, and every end of bias, multiplier and shift."""
    case = conv((1,), 64, 36, 1)
    few = np.array([-128, -1, 0, 127], np.int8)
    ends = np.array([-(2**31), -1, 0, 1, 2**30, 2**31 - 1], np.int32)
    return with_input(
        case,
        x=np.repeat(few, 16)[None, None],
        w=weight(np.resize(few, (36, 64))),
        bias=np.repeat(ends, 6),
        multiplier=np.tile(ends, 6),
        shift=np.resize(np.array([1, 2, 30, 31, 32, 62], np.int8), 36),
    )


def narrow_ends(zero: int, low: int = -128, high: int = 127) -> Case:
    """Sums at both ends of int32, every end of the multiplier, shifts about those that 32-bit lanes take."""
    case = conv((3,), 5, 64, 1, y_zero=zero, low=low, high=high)
    ends = np.array([-(2**31), 1 - 2**31, -1, 0, 1, 2**30, 2**31 - 2, 2**31 - 1], np.int32)
    return with_input(
        case,
        x=np.zeros((1, 3, 5), np.int8),
        bias=np.repeat(ends, 8),
        multiplier=np.tile(ends[1:], 10)[:64],
        shift=np.repeat(np.array([33, 34, 54, 55], np.int8), 16),
    )


def every_shift(case: Case) -> Case:
    """On its 992 channels; multipliers of all sizes and both signs, biases of all sizes that leave int32 to either side."""
    few = np.array([-(2**31), -(2**30), -3, 0, 1, 2**19 + 1, 2**30, 2**31 - 1], np.int32)
    sizes = RNG.integers(0, 2**31, 992) >> RNG.integers(0, 31, 992)
    return with_input(
        case,
        bias=(sizes * RNG.choice([-1, 1], 992)).astype(np.int32),
        multiplier=np.tile(few, 124),
        shift=np.repeat(np.arange(1, 63), 16).astype(np.int8),
    )


def some_wide(case: Case) -> Case:
    """Panels side by side of which one has a shift that 32-bit lanes do not take."""
    shift = np.asarray(case.inputs[4]).copy()
    shift[20], shift[69] = 32, 56
    return with_input(case, shift=shift)


def behind_relu(case: Case, most: int) -> Case:
    """Elements from -128 to most - 128, one of a hundred to 127."""
    x = RNG.integers(0, most + 1, case.inputs[0].shape)  # type: ignore[union-attr]
    x[RNG.random(x.shape) < 0.01] = 255
    return with_input(case, x=(x - 128).astype(np.int8))


def around_zero(case: Case, spread: float) -> Case:
    """Elements and weights as a normal distribution has them."""

    def few(spread: float, shape: tuple[int, ...]) -> Array:
        return np.clip(np.rint(RNG.normal(0, spread, shape)), -128, 127).astype(np.int8)

    x, w = (np.shape(getattr(given, "array", given)) for given in case.inputs[:2])
    return with_input(case, x=few(spread, x), w=weight(few(30, w)))


def sums_at_the_end(x_zero: int) -> Case:
    """Sums of two and four products about the ends of 16 bits: panels of one weight each, times each element."""
    case = conv((256,), 64, 96, 1, x_zero=x_zero)
    ends = np.repeat(np.array([-128, 127, -127, 64, 1, 0], np.int8), 16)
    x = np.arange(-128, 128).astype(np.int8)
    return with_input(
        case, x=np.repeat(x, 64).reshape(1, 256, 64), w=weight(np.repeat(ends[:, None], 64, 1))
    )


def refused(status: Status = Status.BAD_PROGRAM, **attrs: Any) -> Case:
    return dataclasses.replace(PLAIN, attrs=PLAIN.attrs | attrs, status=status)


def bad_shift(value: int, case: Case, at: int) -> Case:
    shift = np.asarray(case.inputs[4]).copy()
    shift[at] = value
    case = with_input(case, shift=shift)
    return dataclasses.replace(case, status=Status.BAD_DATA, position=at)


PLAIN = conv((7, 7), 4, 6, 3)
FLOATS = weight(np.ones((6, 36), np.float32))
HUGE = 1 << 62

CASES = [
    # Several blocks of rows a thread, whose strips begin with a row of zeros.
    behind_relu(conv((24, 25), 16, 40, 3, x_zero=-128), 40),
    around_zero(conv((24, 25), 16, 40, 3, x_zero=0), 20),
    *(conv((m,), k, n, 1) for m in (1, 2, 3, 5, 6, 7, 13) for k, n in ((1, 1), (5, 16), (33, 17), (64, 40))),
    conv((300,), 70, 50, 1),
    conv((50,), 500, 144, 1),
    some_wide(conv((400,), 30, 97, 1)),
    conv((1,), 2048, 200, 1),
    conv((5,), 3000, 20, 1, x_zero=-128),
    conv((14, 15), 32, 48, 1, batch=2),
    conv((14, 15), 32, 48, 1, stride=2),
    conv((9,), 5, 7, 3, begin=1, end=2),
    conv((9, 8), 5, 7, 3, stride=2, begin=1, end=1, x_zero=127),
    conv((5, 6, 7), 4, 20, 3, stride=(1, 2, 1), begin=1, end=(0, 1, 2)),
    conv((12, 11), 20, 33, (3, 2), dilation=(2, 3), begin=2, batch=2),
    conv((9, 9), 12, 24, 3, groups=3, begin=1, end=1),
    conv((9, 9), 8, 8, 3, groups=8, low=-5, high=40),
    conv((9, 9), 40, 40, 3, groups=40, begin=1, end=1),
    conv((9, 10), 33, 33, (5, 3), groups=33, dilation=(1, 2), begin=2, end=1, stride=(2, 1), batch=2),
    conv((5, 6, 7), 16, 16, 3, groups=16, begin=1, end=1, x_zero=-128, low=0),
    conv((6, 6), 4, 4, 4, groups=4, begin=2, end=2, spread=2),
    conv((30, 31), 70, 70, 3, groups=70, begin=1, end=1),
    *(conv((4, 1 + i), c, c, 3, groups=c, stride=1 + i % 2, begin=(i % 3, i // 2 % 3), end=(1, 2), batch=2)
      for i, c in enumerate((5, 32, 33, 64, 70, 96, 100, 129) * 2)),
    *(some_wide(conv((4, 5), c, c, 3, groups=c, stride=s, begin=1, end=1)) for c, s in ((390, 1), (600, 2))),
    conv((3, 7, 8), 40, 40, (1, 3, 3), groups=40, begin=(1, 2, 4), end=(1, 0, 0), dilation=(1, 3, 1), stride=(2, 1, 2)),
    conv((7, 9), 20, 20, 3, groups=20, begin=(-1, -2), end=(1, 3), spread=(2, 1), low=-20, high=90),
    some_wide(conv((5, 6), 97, 97, 3, groups=97, begin=1, end=1, stride=2)),
    conv((9, 9), 8, 16, 3, groups=8),
    conv((6, 6), 4, 5, 4, begin=2, end=2, spread=2),
    conv((5,), 20, 5, 5, begin=-1, end=3, spread=3),
    conv((30, 30), 3, 40, 7, stride=2, begin=3, end=3),
    conv((40, 41), 16, 33, 3, begin=1, end=1, low=-5, high=99),
    conv((6, 6), 300, 20, 3, begin=1, end=1),
    conv((7, 7), 32, 40, 3, begin=1, end=1, batch=3),
    conv((25,), 9000, 33, 1),
    conv((3,), 20000, 40, 1),
    conv((9, 9), 6, 20, 3, stride=2, dilation=(2, 1), begin=1, end=1),
    *(conv((6, 7), c, 5, (2, k), begin=1, end=2) for c, k in ((1, 1), (1, 3), (3, 3), (3, 5), (7, 9), (9, 7), (32, 2), (33, 2))),
    *(narrow_ends(zero, *limits) for zero in (-128, 0, 127) for limits in ((-128, 127), (-7, 9))),
    *(every_shift(conv((m,), 5, 992, 1, y_zero=zero)) for m, zero in ((4, -128), (17, 127))),
    every_shift(conv((4, 5), 992, 992, 3, groups=992, begin=1, end=1)),
    every_shift(conv((3, 4), 992, 992, 2, groups=992, low=-7, high=9)),
    some_wide(conv((5,), 30, 70, 1)),
    some_wide(conv((5, 6), 97, 97, 3, groups=97, begin=1, end=1)),
    some_wide(conv((5, 6), 130, 130, 2, groups=130, stride=2)),
    *(conv((5, 8), c, c, k, groups=c, begin=1, end=1, x_zero=-128) for c, k in ((31, 3), (32, 1), (64, (5, 3)), (65, 3), (96, 4), (161, (1, 2)))),
    conv((3, 3), 4, 5, 5),
    conv((0, 3), 4, 5, 1),
    conv((3, 3), 0, 5, 1),
    conv((3, 3), 4, 0, 1),
    conv((3, 3), 4, 5, 3, begin=9, end=9),
    conv((6, 5), 4, 5, 3, low=7, high=7),
    all_ends(),
    *(sums_at_the_end(zero) for zero in (-128, 3)),
    *(around_zero(conv((m,), k, 33, 1), spread) for m, k in ((16, 3), (17, 20), (19, 130), (30, 500), (16, 1100)) for spread in (8, 25, 60)),
    *(behind_relu(conv((m,), k, n, 1, x_zero=-128), most) for m, k, n in ((16, 5, 16), (17, 64, 33), (50, 129, 20)) for most in (0, 60, 140, 255)),
    *(behind_relu(conv((9, 11), c, 20, 3, begin=1, end=1, x_zero=-128), 90) for c in (3, 6, 16, 70)),
    behind_relu(conv((40,), 8192, 17, 1, x_zero=-128), 90),
    behind_relu(conv((9, 8), 12, 24, 3, groups=3, begin=1, end=1, x_zero=-128, batch=2), 90),
    some_wide(behind_relu(conv((20,), 30, 70, 1, x_zero=-128), 90)),
    *(refused(**{name: value}) for name in ("kernel", "stride", "dilation", "spread") for value in ((0, 3), (HUGE, 3), (3,))),
    *(refused(**{name: (value, 0)}) for name in ("begin", "end") for value in (1, HUGE, -HUGE)),
    *(refused(groups=groups) for groups in (-HUGE, -1, 0, 2, 3, HUGE)),
    *(refused(**{name: value}) for name in CODES for value in (-129, 128, HUGE, -HUGE)),
    refused(low=3, high=2),
    *(bad_shift(value, PLAIN, 3) for value in (-128, -1, 0, 63, 127)),
    *(bad_shift(value, conv((2,), 4, 21, 1), 8 + at) for at, value in enumerate((-128, -1, 0, 63, 127))),
    dataclasses.replace(with_input(PLAIN, w=FLOATS), status=Status.BAD_PROGRAM),
    *(
        dataclasses.replace(with_input(PLAIN, **{name: np.ones(6, np.int64)}), status=Status.BAD_PROGRAM)
        for name in ("bias", "multiplier", "shift")
    ),
]  # fmt: skip
