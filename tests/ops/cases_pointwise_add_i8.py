"""Cases of add_i8: all pairs of codes, all shifts, the ends of what is admitted."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.meaning import int8 as integer

EVERY: Array = np.arange(-128, 128).astype(np.int8)
A, B = (np.ascontiguousarray(x) for x in np.meshgrid(EVERY, EVERY))
PLAIN = {
    "a_zero": 3, "a_multiplier": 1 << 30, "a_shift": 11, "b_zero": -7, "b_multiplier": 1500000000, "b_shift": 13,
    "y_zero": 5, "multiplier": 1234567890, "shift": 50, "low": -128, "high": 127,
}  # fmt: skip


def add(a: Array = A, b: Array | None = B, **attrs: Any) -> Case:
    return Case("add_i8", (a, b), PLAIN | attrs)


def refused(**attrs: Any) -> Case:
    return dataclasses.replace(add(**attrs), status=Status.BAD_PROGRAM)


def drawn(seed: int) -> Case:
    """Factors as an export has them: addends of 2**19 or less, a sum's factor that brings them back."""
    rng = np.random.default_rng(seed)
    factors = [integer.multiplier_shift(float(s)) for s in rng.uniform(2.0**12, 2.0**19, 2)]
    (am, ashift), (bm, bshift) = factors
    m, shift = integer.multiplier_shift(float(2.0 ** rng.uniform(-21, -17)))
    a_zero, b_zero, y_zero = (int(z) for z in rng.integers(-128, 128, 3))
    return add(a_multiplier=am, a_shift=ashift, b_multiplier=bm, b_shift=bshift, multiplier=m, shift=shift,
               a_zero=a_zero, b_zero=b_zero, y_zero=y_zero)  # fmt: skip


CASES = [
    add(),
    *map(drawn, range(24)),
    *(add(a_multiplier=1 << 30, b_multiplier=1 << 30, a_shift=11 + d, b_shift=11, multiplier=1 << 30, shift=s, y_zero=z)
      for d in (0, 1, 5) for s in (48, 49, 50, 51) for z in (-128, 5)),  # powers of two: ties
    add(low=5, high=60, y_zero=-128),
    add(np.tile(EVERY, 300), np.tile(EVERY[::-1], 300).copy()),
    *(add(EVERY, None, a_shift=30, multiplier=m, shift=s) for s in range(1, 63) for m in (0, 1 << 30, (1 << 31) - 1)),
    *(add(a_multiplier=(1 << 31) - 1, b_multiplier=(1 << 31) - 1, a_shift=s, b_shift=s, shift=t) for s in (10, 62) for t in (1, 62)),
    *(add(a_zero=z, b_zero=z, y_zero=z, a_multiplier=(1 << 31) - 1, a_shift=s, b_shift=t, shift=u)
      for z in (-128, 127) for s, t in ((11, 11), (11, 40), (40, 41), (12, 39)) for u in (32, 33, 34, 55, 56)),
    *(add(np.resize(A, n), np.resize(B[::-1], n)) for n in (1, 15, 16, 17, 33, 63, 64, 65, 127)),
    add(a_zero=-128, b_zero=-128, a_shift=10, b_shift=10, multiplier=(1 << 31) - 1, shift=59),
    add(np.array(5, np.int8), np.array(-9, np.int8)),
    add(np.zeros((3, 0), np.int8), np.zeros((3, 0), np.int8)),
    *(refused(**{name: v}) for name in ("a_zero", "b_zero", "y_zero", "low", "high") for v in (-129, 128, 1 << 62)),
    *(refused(**{name: v}) for name in ("a_multiplier", "b_multiplier", "multiplier") for v in (-1, 1 << 31, 1 << 62)),
    *(refused(**{name: v}) for name in ("a_shift", "b_shift") for v in (-1, 9, 63, 1 << 62)),
    *(refused(shift=v) for v in (-1, 0, 63, 1 << 62)),
    refused(low=3, high=2),
]  # fmt: skip
