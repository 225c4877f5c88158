"""Scales of E4M3, held as their codes, times one in f32 of the row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import elements
from .elements import E4M3, F32, Codes
from .format import BlockFormat

ONE: Final = 0x38


def outer_of(w: F32, fmt: BlockFormat) -> F32 | None:
    """Of each row, [n, 1], what scales of E4M3 are multiplied by: the largest scale becomes 448; 1 for a row of zeros."""
    if fmt.scale != "e4m3":
        return None
    absmax = np.maximum(w.max(1, initial=0.0), -w.min(1, initial=0.0))[:, None].astype(np.float32)
    most = np.float32(fmt.element.max) * np.float32(E4M3.max)
    with np.errstate(invalid="ignore"):
        outer = np.maximum(absmax / most, np.float32(2**-126))
    return np.where(absmax > 0, outer, np.float32(1)).astype(np.float32)


def inner_of(step: F32, outer: F32) -> Codes:
    """The scale next to step / outer, at least the smallest; 1 where there is nothing to scale."""
    codes = np.maximum(elements.encode(np.asarray(np.maximum(step, 0) / outer), E4M3), 1)
    return np.where(step != 0, codes, ONE).astype(np.uint8)


def steps_of(inner: NDArray[Any], outer: F32) -> F32:
    """What such scales stand for."""
    return np.asarray(elements.decode(inner, E4M3) * outer)
