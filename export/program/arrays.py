"""NumPy arrays and our dtype names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS

from ..graph.weights import Source, rows_of, whole
from . import Coded
from .views import View


def same_dtype(name: str) -> Any:
    return DTYPES[name].numpy


def decode(coded: Coded, dtype: str) -> NDArray[Any]:
    """The elements that codes stand for; the difference to the zero point is exact, the product f32."""
    codes = coded.codes
    if codes.dtype.kind in "iu" or coded.zero is not None:
        zero = None if coded.zero is None else whole(coded.zero)
        codes = codes.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))
    levels = FORMATS[coded.format].levels if coded.format else None
    values = codes.astype(np.float32) if levels is None else levels[codes]
    if coded.scale is not None:
        with np.errstate(over="ignore"):
            values = values * whole(coded.scale).astype(np.float32)
    return values.astype(same_dtype(coded.dtype)).astype(same_dtype(dtype))


def decoded(coded: Coded, dtype: str) -> Source:
    """`decode`, some rows at a time, when somebody asks."""
    shape = coded.codes.shape

    def bands() -> Iterator[NDArray[Any]]:
        parts = spread(coded)
        row_bytes = 8 * math.prod(shape[1:])
        for begin, end in rows_of(shape[0], row_bytes) if shape else [(0, 1)]:
            yield decode(rows(parts, begin, end) if shape else parts, dtype)

    return Source(shape, np.dtype(same_dtype(dtype)), bands)


def spread(coded: Coded) -> Coded:
    """Scale and zero point for each code."""
    parts = [
        None if a is None else np.broadcast_to(whole(a), coded.codes.shape)
        for a in (coded.scale, coded.zero)
    ]
    return dataclasses.replace(coded, scale=parts[0], zero=parts[1])


def rows(parts: Coded, begin: int, end: int) -> Coded:
    """Some rows of what `spread` gave."""
    scale, zero = (None if a is None else whole(a)[begin:end] for a in (parts.scale, parts.zero))
    return dataclasses.replace(parts, codes=parts.codes[begin:end], scale=scale, zero=zero)


def strided_view(array: NDArray[Any], ref: View) -> NDArray[Any]:
    """The elements of `ref` in the memory of `array`, which is its dense base; all sizes are numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    shape = tuple(int(n) for n in ref.shape)
    if 0 in shape:
        return np.zeros(shape, array.dtype)
    width = flat.itemsize
    strides = tuple(int(s) * width for s in ref.steps)
    plain = flat.view(f"u{width}")[int(ref.offset) :]  # as_strided does not know ml_dtypes' names
    return np.lib.stride_tricks.as_strided(plain, shape, strides, writeable=False).view(array.dtype)
