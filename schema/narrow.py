"""What unpack and repack of schema/ops.py mean: NumPy casts through the types of ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.schema.row import Array

TYPES = {
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
    "f6e2m3": "float6_e2m3fn",
    "f6e3m2": "float6_e3m2fn",
    "f4e2m1": "float4_e2m1fn",
    "i4": "int4",
    "u4": "uint4",
    "i2": "int2",
    "u2": "uint2",
}
"""Narrow types by their names in program.fbs, lower case."""


def repack(x: Array, name: str, saturate: bool) -> Array:
    """`x` as the narrow type: integers keep their low bits; floats round to nearest, ties to even (f8e8m0: ties up). Beyond
    the largest number: that number when saturating or where there is nothing else, else infinity or NaN."""
    import ml_dtypes

    dtype: Any = np.dtype(getattr(ml_dtypes, TYPES[name]))
    with np.errstate(all="ignore"):
        if not saturate or name[0] != "f":
            return x.astype(dtype)
        if name == "f8e8m0":
            top = np.float32(2.0**127)
            return np.where(x == 0, np.float32(2.0**-127), np.where(x > top, top, x)).astype(dtype)
        info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        return np.clip(x, np.float32(info.min), np.float32(info.max)).astype(dtype)
