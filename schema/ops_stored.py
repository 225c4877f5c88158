"""Elements narrower than a byte, and small floats. How to read a row: schema/row.py."""

from __future__ import annotations

import numpy as np

from pteron.schema import narrow
from pteron.schema.row import A, Outs, op


@op(id=70, since=1, shape="[*s] -> [*s]")
def unpack(x: A, *, out: Outs) -> A:
    """Elements narrower than a byte, or of an 8-bit float type, as i64 or f32: what the code means, no scales."""
    return x.astype({"i64": np.int64, "f32": np.float32}[out[0].dtype])


@op(id=71, since=1, shape="[*s] -> [*s]")
def repack(x: A, *, saturate: bool = True, out: Outs) -> A:
    """i64 or f32 to elements narrower than a byte, or of an 8-bit float type; to nearest, ties to even."""
    return narrow.repack(x, out[0].dtype, saturate)
