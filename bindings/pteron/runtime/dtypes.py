"""Element types: the runtime's numbers, NumPy's dtypes, and the names that users read."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron._pteron import lib
from pteron.schema.extras import missing

_PLAIN: dict[int, str] = {
    lib.PTE_BOOL: "bool",
    lib.PTE_I8: "int8",
    lib.PTE_I16: "int16",
    lib.PTE_I32: "int32",
    lib.PTE_I64: "int64",
    lib.PTE_U8: "uint8",
    lib.PTE_U16: "uint16",
    lib.PTE_U32: "uint32",
    lib.PTE_U64: "uint64",
    lib.PTE_F16: "float16",
    lib.PTE_F32: "float32",
    lib.PTE_F64: "float64",
}

_ML_DTYPES: dict[int, str] = {
    lib.PTE_BF16: "bfloat16",
    lib.PTE_F8E4M3: "float8_e4m3fn",
    lib.PTE_F8E5M2: "float8_e5m2",
    lib.PTE_F8E4M3FNUZ: "float8_e4m3fnuz",
    lib.PTE_F8E5M2FNUZ: "float8_e5m2fnuz",
    lib.PTE_F8E8M0: "float8_e8m0fnu",
}

PACKED: dict[int, tuple[str, int]] = {
    lib.PTE_I4: ("int4", 4),
    lib.PTE_U4: ("uint4", 4),
    lib.PTE_I2: ("int2", 2),
    lib.PTE_U2: ("uint2", 2),
    lib.PTE_F4E2M1: ("float4_e2m1fn", 4),
    lib.PTE_F6E2M3: ("float6_e2m3fn", 6),
    lib.PTE_F6E3M2: ("float6_e3m2fn", 6),
}


def name_of(dtype: int) -> str:
    """The name a user reads: float32, bfloat16, int4 ..."""
    known = {**_PLAIN, **_ML_DTYPES, **{number: name for number, (name, _) in PACKED.items()}}
    return known.get(dtype, f"dtype {dtype}")


def numpy_of(dtype: int) -> np.dtype[Any]:
    """The NumPy dtype of a runtime dtype; ml_dtypes is imported only for the types it adds."""
    if dtype in _PLAIN:
        return np.dtype(_PLAIN[dtype])
    return _foreign(name_of(dtype))


def array_dtype(dtype: int) -> np.dtype[Any]:
    """The NumPy dtype of arrays that hold it: sub-byte elements lie one in a byte, in ml_dtypes' types."""
    return _foreign(PACKED[dtype][0]) if dtype in PACKED else numpy_of(dtype)


def _foreign(name: str) -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"arrays of {name}: {missing('ml_dtypes')}", name="ml_dtypes"
        ) from None
    kind: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return kind
