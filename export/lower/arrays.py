"""NumPy arrays and our dtype names."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pteron.export.lower.ref import Ref
from pteron.export.program import Coded
from pteron.schema.formats import NF4_VALUES

NUMPY: Final[dict[str, Any]] = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f6e2m3": ml_dtypes.float6_e2m3fn, "f6e3m2": ml_dtypes.float6_e3m2fn, "f4e2m1": ml_dtypes.float4_e2m1fn,
    "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "u2": ml_dtypes.uint2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}  # fmt: skip
"""dtype name -> the NumPy type that holds one element an item (sub-byte types too)."""

_NAMES: Final = {np.dtype(t): name for name, t in NUMPY.items()}


def same_dtype(name: str) -> Any:
    return np.dtype(NUMPY[name])


def array_dtype(array: NDArray[Any]) -> str:
    return _NAMES[array.dtype]


def decode(coded: Coded, dtype: str) -> NDArray[Any]:
    """The elements that codes stand for; the difference to the zero point is exact, the product f32."""
    codes = coded.codes
    if codes.dtype.kind in "iu" or coded.zero is not None:
        codes = codes.astype(np.int64) - (0 if coded.zero is None else coded.zero.astype(np.int64))
    values = NF4_VALUES[codes] if coded.format == "nf4" else codes.astype(np.float32)
    if coded.scale is not None:
        with np.errstate(over="ignore"):
            values = values * coded.scale.astype(np.float32)
    return values.astype(same_dtype(coded.dtype)).astype(same_dtype(dtype))


def strided_view(array: NDArray[Any], ref: Ref) -> NDArray[Any]:
    """The elements of `ref` in the memory of `array`, which is its dense base; all sizes are numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    shape = tuple(int(n) for n in ref.shape)
    if 0 in shape:
        return np.zeros(shape, array.dtype)
    width = flat.itemsize
    strides = tuple(int(s) * width for s in ref.steps)
    return np.lib.stride_tricks.as_strided(flat[int(ref.offset) :], shape, strides, writeable=False)
