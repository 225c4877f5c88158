"""Element types: `DTYPES`, a row each. What else is known of a type follows from its row.

`id` is the type's number in a file and in C, as `DType` of program.fbs has it, `onnx` its number in ONNX
(TensorProto.DataType), 0 where ONNX lacks it.
`register` is the type that pointwise programs compute it in; a `packed` type comes there by `unpack` and goes by `repack`.
Needs NumPy; ml_dtypes for the types that NumPy lacks, when one of them is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Dtype:
    """One element type. `bits`: of a stored element."""

    id: int
    name: str
    bits: int
    word: str  # what NumPy or ml_dtypes calls it, and users read
    onnx: int
    register: str
    packed: bool = False

    @property
    def numpy(self) -> np.dtype[Any]:
        """Its type of arrays, in which an element narrower than a byte takes a byte.

        Raises:
            ModuleNotFoundError: it is one of ml_dtypes, which is not installed.
        """
        return _numpy(self.word)

    @property
    def is_float(self) -> bool:
        return "f" in self.name[:2]

    @property
    def is_integer(self) -> bool:
        return self.name[0] in "iu"

    @property
    def is_narrow(self) -> bool:
        """Stored elements share bytes: such values have no views."""
        return self.bits < 8

    @property
    def least(self) -> int:
        """The lowest integer."""
        return -(1 << (self.bits - 1)) if self.name[0] == "i" else 0

    @property
    def most(self) -> int:
        """The highest integer."""
        return (1 << (self.bits - (self.name[0] == "i"))) - 1


@functools.cache
def _numpy(word: str) -> np.dtype[Any]:
    home = np if hasattr(np, word) else importlib.import_module("ml_dtypes")
    kind: np.dtype[Any] = np.dtype(getattr(home, word))
    return kind


DTYPES: Final[dict[str, Dtype]] = {
    row.name: row
    for row in (
        Dtype(0, "bool", 8, "bool_", 9, "bool"),
        Dtype(1, "i8", 8, "int8", 3, "i64"),
        Dtype(2, "i16", 16, "int16", 5, "i64"),
        Dtype(3, "i32", 32, "int32", 6, "i64"),
        Dtype(4, "i64", 64, "int64", 7, "i64"),
        Dtype(5, "u8", 8, "uint8", 2, "i64"),
        Dtype(6, "u16", 16, "uint16", 4, "i64"),
        Dtype(7, "u32", 32, "uint32", 12, "i64"),
        Dtype(8, "u64", 64, "uint64", 13, "i64"),
        Dtype(9, "f16", 16, "float16", 10, "f32"),
        Dtype(10, "bf16", 16, "bfloat16", 16, "f32"),
        Dtype(11, "f32", 32, "float32", 1, "f32"),
        Dtype(12, "f64", 64, "float64", 11, "f64"),
        Dtype(13, "f8e4m3", 8, "float8_e4m3fn", 17, "f32", packed=True),
        Dtype(14, "f8e5m2", 8, "float8_e5m2", 19, "f32", packed=True),
        Dtype(15, "f8e8m0", 8, "float8_e8m0fnu", 24, "f32", packed=True),
        Dtype(16, "f6e2m3", 6, "float6_e2m3fn", 27, "f32", packed=True),
        Dtype(17, "f6e3m2", 6, "float6_e3m2fn", 28, "f32", packed=True),
        Dtype(18, "f4e2m1", 4, "float4_e2m1fn", 23, "f32", packed=True),
        Dtype(19, "i4", 4, "int4", 22, "i64", packed=True),
        Dtype(20, "u4", 4, "uint4", 21, "i64", packed=True),
        Dtype(21, "i2", 2, "int2", 26, "i64", packed=True),
        Dtype(22, "u2", 2, "uint2", 25, "i64", packed=True),
        Dtype(23, "f8e4m3fnuz", 8, "float8_e4m3fnuz", 18, "f32", packed=True),
        Dtype(24, "f8e5m2fnuz", 8, "float8_e5m2fnuz", 20, "f32", packed=True),
    )
}
"""By name, in the order of ids."""

BY_ID: Final = {row.id: row for row in DTYPES.values()}
BY_ONNX: Final = {row.onnx: row for row in DTYPES.values() if row.onnx}
INTEGERS: Final = tuple(d.name for d in DTYPES.values() if d.is_integer and not d.packed)
FLOATS: Final = tuple(d.name for d in DTYPES.values() if d.is_float and not d.packed)


@functools.lru_cache(64)  # NumPy makes the text of a name anew each time
def name_of(kind: np.dtype[Any]) -> str:
    """The name here of an array's type.

    Raises:
        KeyError: there is none.
    """
    return _NAMES[kind.name]


_NAMES: Final = {row.word.rstrip("_"): row.name for row in DTYPES.values()}


def stored_bytes(dtype: str, count: int) -> int:
    """Bytes that `count` dense elements take."""
    return -(-count * DTYPES[dtype].bits // 8)


def to_stored(array: Array, dtype: str) -> Array:
    """The elements as stored, uint8 [bytes]: row-major, little-endian, element 0 of a narrow type in the low bits."""
    array, row = np.ascontiguousarray(array), DTYPES[dtype]
    if not row.is_narrow:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return little.reshape(-1).view(np.uint8)
    codes = array.reshape(-1).view(np.uint8)
    lanes = np.unpackbits(codes[:, None], axis=1, count=row.bits, bitorder="little")
    return np.packbits(lanes.reshape(-1), bitorder="little")


def from_stored(data: Array, dtype: str, shape: tuple[int, ...]) -> Array:
    """The reverse: `data` uint8 [bytes] as elements; no copy for whole-byte types."""
    row, count = DTYPES[dtype], math.prod(shape)
    if not row.is_narrow:
        return data[: stored_bytes(dtype, count)].view(row.numpy).reshape(shape)
    lanes = np.unpackbits(data, bitorder="little")[: count * row.bits].reshape(count, row.bits)
    codes = np.packbits(lanes, axis=1, bitorder="little").reshape(-1)
    if row.is_float:
        return codes.view(row.numpy).reshape(shape)
    sign = 1 << (row.bits - 1) if row.least else 0
    return ((codes ^ sign).astype(np.int8) - np.int8(sign)).astype(row.numpy).reshape(shape)
