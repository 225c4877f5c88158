"""Elements narrower than a byte, and small floats. How to read a row: schema/row.py."""

from __future__ import annotations

import numpy as np

from .meaning import narrow
from .row import A, Outs, op

INTEGERS = "(i2, u2, i4, u4)"
FLOATS = "(f8e4m3, f8e5m2, f8e8m0, f6e2m3, f6e3m2, f4e2m1, f8e4m3fnuz, f8e5m2fnuz)"


@op(
    id=70,
    since=1,
    shape="[*s] -> [*s]",
    where=f"""
        dtype(x) in {INTEGERS} or dtype(x) in {FLOATS}; dtype(y) in (i64, f32);
        (dtype(x) in {INTEGERS}) == (dtype(y) == i64)
    """,
)
def unpack(x: A, *, out: Outs) -> A:
    """Elements narrower than a byte, or of an 8-bit float type, as i64 or f32: what the code means, no scales."""
    return x.astype({"i64": np.int64, "f32": np.float32}[out[0].dtype])


@op(
    id=71,
    since=1,
    shape="[*s] -> [*s]",
    where=f"""
        dtype(y) in {INTEGERS} or dtype(y) in {FLOATS}; dtype(x) in (i64, f32);
        (dtype(y) in {INTEGERS}) == (dtype(x) == i64)
    """,
)
def repack(x: A, *, saturate: bool = True, out: Outs) -> A:
    """i64 or f32 to elements narrower than a byte, or of an 8-bit float type; to nearest, ties to even."""
    return narrow.repack(x, out[0].dtype, saturate)
