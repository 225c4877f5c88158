"""NumPy arrays and our dtype names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.export.elements import NAMES, NUMPY
from pteron.export.lower.ref import Ref
from pteron.export.program import Coded
from pteron.schema.formats import FORMATS


def same_dtype(name: str) -> Any:
    return NUMPY[name]


def array_dtype(array: NDArray[Any]) -> str:
    return NAMES[array.dtype]


def decode(coded: Coded, dtype: str) -> NDArray[Any]:
    """The elements that codes stand for; the difference to the zero point is exact, the product f32."""
    codes = coded.codes
    if codes.dtype.kind in "iu" or coded.zero is not None:
        codes = codes.astype(np.int64) - (0 if coded.zero is None else coded.zero.astype(np.int64))
    levels = FORMATS[coded.format].levels if coded.format else None
    values = codes.astype(np.float32) if levels is None else levels[codes]
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
