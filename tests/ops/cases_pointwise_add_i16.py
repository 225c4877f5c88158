"""Cases of add_i16: codes from end to end, all shifts, the ends of what is admitted."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.meaning import int8 as integer

RNG = np.random.default_rng(78)
FEW = np.array([-32768, -32767, -16384, -1, 0, 1, 255, 16383, 32766, 32767], np.int16)
A: Array = np.concatenate([np.repeat(FEW, 10), RNG.integers(-32768, 32768, 923).astype(np.int16)])
B: Array = np.concatenate([np.tile(FEW, 10), RNG.integers(-32768, 32768, 923).astype(np.int16)])
PLAIN = {
    "a_zero": 0, "a_multiplier": 1 << 30, "a_shift": 17, "b_zero": 0, "b_multiplier": 1500000000, "b_shift": 19,
    "y_zero": 5, "multiplier": 1234567890, "shift": 44, "low": -32768, "high": 32767,
}  # fmt: skip
MOST = (1 << 31) - 1


def add(a: Array = A, b: Array | None = B, **attrs: Any) -> Case:
    return Case("add_i16", (a, b), PLAIN | attrs)


def refused(**attrs: Any) -> Case:
    return dataclasses.replace(add(**attrs), status=Status.BAD_PROGRAM)


def drawn(seed: int) -> Case:
    """Factors as an export has them."""
    rng = np.random.default_rng(seed)
    parts = integer.add_factors(*rng.uniform(0.2, 1.0, 3), 16)
    (am, a_shift), (bm, b_shift), (m, shift) = map(integer.multiplier_shift, parts)
    return add(a_multiplier=am, a_shift=a_shift, b_multiplier=bm, b_shift=b_shift, multiplier=m, shift=shift, y_zero=0)  # fmt: skip


CASES = [
    add(),
    *map(drawn, range(12)),
    *(add(a_multiplier=1 << 30, b_multiplier=1 << 30, a_shift=17 + d, b_shift=17, multiplier=1 << 30, shift=s, y_zero=z)
      for d in (0, 1, 5) for s in (42, 43, 44, 45) for z in (-32768, 5)),  # powers of two: ties
    add(low=5, high=60, y_zero=-32768),
    *(add(A, None, a_shift=30, multiplier=m, shift=s) for s in (1, 2, 31, 32, 33, 46, 47, 62) for m in (0, 1 << 30, MOST)),
    *(add(A, None, a_shift=s, shift=s + 14, b_multiplier=MOST) for s in (17, 30, 46, 47)),  # b's factor says nothing
    *(add(A, None, a_shift=17, shift=44, b_zero=z) for z in (-32768, 9)),
    *(add(a_multiplier=MOST, b_multiplier=MOST, a_shift=s, b_shift=t, shift=u, a_zero=z, b_zero=z, y_zero=z)
      for z in (-32768, 0, 32767) for s, t in ((17, 17), (17, 46), (46, 47), (18, 62)) for u in (1, 32, 33, 46, 47, 55, 56, 62)),
    *(add(np.resize(A, n), np.resize(B[::-1], n)) for n in (1, 15, 16, 17, 33, 63, 64, 65, 127)),
    add(np.tile(A, 60), np.tile(B, 60)),
    add(np.array(5, np.int16), np.array(-9, np.int16)),
    add(np.zeros((3, 0), np.int16), np.zeros((3, 0), np.int16)),
    *(refused(**{name: v}) for name in ("a_zero", "b_zero", "y_zero", "low", "high") for v in (-32769, 32768, 1 << 62)),
    *(refused(**{name: v}) for name in ("a_multiplier", "b_multiplier", "multiplier") for v in (-1, 1 << 31, 1 << 62)),
    *(refused(**{name: v}) for name in ("a_shift", "b_shift") for v in (-1, 16, 63, 1 << 62)),
    *(refused(shift=v) for v in (-1, 0, 63, 1 << 62)),
    refused(low=3, high=2),
]  # fmt: skip
