"""NumPy arrays and our dtype names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS

from ..graph.weights import Elements, Source, rows_of, whole
from . import Blocks, Coded
from .views import View


def same_dtype(name: str) -> Any:
    return DTYPES[name].numpy


def decode(coded: Coded, dtype: str) -> NDArray[Any]:
    """The elements that codes stand for; the difference to the zero point is exact, the product f32."""
    codes, shape = coded.codes, coded.codes.shape
    if codes.dtype.kind in "iu" or coded.zero is not None:
        zero = 0 if coded.zero is None else spread(coded.zero, shape).astype(np.int64)
        codes = codes.astype(np.int64) - zero
    levels = FORMATS[coded.format].levels if coded.format else None
    values = codes.astype(np.float32) if levels is None else levels[codes]
    with np.errstate(over="ignore"):
        if coded.scale is not None:
            values = values * spread(coded.scale, shape).astype(np.float32)
            if coded.shift is not None:
                values = values + spread(coded.shift, shape).astype(np.float32)
        return values.astype(same_dtype(coded.dtype)).astype(same_dtype(dtype))


def decoded(coded: Coded, dtype: str) -> Source:
    """`decode`, some rows at a time, when somebody asks."""
    shape = coded.codes.shape

    def bands() -> Iterator[NDArray[Any]]:
        parts = each_part(coded, coded.codes, lambda part: _by_rows(part, shape))
        row_bytes = 8 * math.prod(shape[1:])
        for begin, end in rows_of(shape[0], row_bytes) if shape else [(0, 1)]:
            yield decode(rows(parts, begin, end) if shape else parts, dtype)

    return Source(shape, np.dtype(same_dtype(dtype)), bands)


def spread(part: Elements | Blocks, shape: tuple[int, ...]) -> NDArray[Any]:
    """A scale or zero point for each code."""
    if not isinstance(part, Blocks):
        return np.broadcast_to(whole(part), shape)
    each = np.repeat(part.parts, part.size, part.axis)
    return each[(slice(None),) * part.axis + (slice(shape[part.axis]),)]


def _by_rows(part: Elements | Blocks, shape: tuple[int, ...]) -> Elements | Blocks:
    """Spread, unless each row has blocks of its own: those are spread with their row."""
    return part if isinstance(part, Blocks) and part.axis > 0 else spread(part, shape)


def rows(parts: Coded, begin: int, end: int) -> Coded:
    """Some rows of codes whose scales, zero points and shifts are spread, or in blocks behind the first axis."""
    shape = parts.codes.shape

    def taken(part: Elements | Blocks) -> Elements | Blocks:
        if isinstance(part, Blocks) and part.axis > 0:
            return Blocks(part.parts[begin:end], part.axis, part.size)
        return spread(part, shape)[begin:end]

    return each_part(parts, parts.codes[begin:end], taken)


def each_part(
    coded: Coded, codes: NDArray[Any], do: Callable[[Elements | Blocks], Elements | Blocks]
) -> Coded:
    """`codes` in place of the codes, and what `do` makes of all that belongs to them."""
    scale, zero, shift = (
        None if part is None else do(part) for part in (coded.scale, coded.zero, coded.shift)
    )
    return dataclasses.replace(coded, codes=codes, scale=scale, zero=zero, shift=shift)


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
