"""Element types: the names of program.fbs, NumPy's types for them, and their stored bytes."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NUMPY: Final[dict[str, np.dtype[Any]]] = {
    name: np.dtype(kind)
    for name, kind in {
        "bool": np.bool_,
        "i8": np.int8,
        "i16": np.int16,
        "i32": np.int32,
        "i64": np.int64,
        "u8": np.uint8,
        "u16": np.uint16,
        "u32": np.uint32,
        "u64": np.uint64,
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "f32": np.float32,
        "f64": np.float64,
        "f8e4m3": ml_dtypes.float8_e4m3fn,
        "f8e5m2": ml_dtypes.float8_e5m2,
        "f8e8m0": ml_dtypes.float8_e8m0fnu,
        "f6e2m3": ml_dtypes.float6_e2m3fn,
        "f6e3m2": ml_dtypes.float6_e3m2fn,
        "f4e2m1": ml_dtypes.float4_e2m1fn,
        "i4": ml_dtypes.int4,
        "u4": ml_dtypes.uint4,
        "i2": ml_dtypes.int2,
        "u2": ml_dtypes.uint2,
        "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    }.items()
}
"""Name -> type. NumPy gives elements narrower than a byte a byte each; stored they are packed."""

NAMES: Final = {dtype: name for name, dtype in NUMPY.items()}
NARROW: Final = {"f6e2m3": 6, "f6e3m2": 6, "f4e2m1": 4, "i4": 4, "u4": 4, "i2": 2, "u2": 2}
"""Bits of the types narrower than a byte."""


def bits(dtype: str) -> int:
    return NARROW.get(dtype) or NUMPY[dtype].itemsize * 8


def stored_bytes(dtype: str, count: int) -> int:
    """Bytes that `count` dense elements take."""
    return -(-count * bits(dtype) // 8)


def to_stored(array: Array, dtype: str) -> Array:
    """The elements as stored, uint8 [bytes]: row-major, little-endian, element 0 of a narrow type in the low bits."""
    array = np.ascontiguousarray(array)
    if dtype not in NARROW:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return little.reshape(-1).view(np.uint8)
    codes = array.reshape(-1).view(np.uint8)
    width = NARROW[dtype]
    lanes = np.unpackbits(codes[:, None], axis=1, count=width, bitorder="little")
    return np.packbits(lanes.reshape(-1), bitorder="little")


def from_stored(data: Array, dtype: str, shape: tuple[int, ...]) -> Array:
    """The reverse: `data` uint8 [bytes] as elements; no copy for whole-byte types."""
    if dtype not in NARROW:
        return data.view(NUMPY[dtype]).reshape(shape)
    width, count = NARROW[dtype], int(np.prod(shape, dtype=np.int64))
    lanes = np.unpackbits(data, bitorder="little")[: count * width].reshape(count, width)
    codes = np.packbits(lanes, axis=1, bitorder="little").reshape(-1)
    return codes.view(NUMPY[dtype]).reshape(shape)
