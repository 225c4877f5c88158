"""Element types: real numbers to codes, by NumPy alone, and nothing about blocks or scales.

Rounding is to nearest, ties to even in the code (for the floats that is the even significand), and values beyond the largest
are clamped to it first, so that every reference agrees bit for bit: they differ only in what they do beyond.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.formats import NF4_VALUES, float_values

F32 = NDArray[np.float32]
Codes = NDArray[np.uint8]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Element:
    """A code of `bits` bits: one of `levels`, which ascend; else a float, or an integer where `integer`.

    `max` is the largest number; `emax` the exponent of it (OCP MX v1.0 section 5.3); `mantissa` its bits; `low` the smallest
    number where that is not -max.
    """

    name: str
    bits: int
    max: float
    emax: int
    mantissa: int
    integer: bool = False
    levels: F32 | None = None
    low: float | None = None

    @property
    def least(self) -> float:
        """The smallest number that is encoded."""
        return -self.max if self.low is None else self.low


E4M3: Final = Element("e4m3", 8, 448.0, 8, 3)
E5M2: Final = Element("e5m2", 8, 57344.0, 15, 2)
E3M2: Final = Element("e3m2", 6, 28.0, 4, 2)
E2M3: Final = Element("e2m3", 6, 7.5, 2, 3)
E2M1: Final = Element("e2m1", 4, 6.0, 2, 1)
NF4: Final = Element("nf4", 4, 1.0, 0, 0, levels=NF4_VALUES)
I8: Final = Element("i8", 8, 127.0, 6, 0, integer=True)
I4: Final = Element("i4", 4, 7.0, 2, 0, integer=True, low=-8.0)
I3: Final = Element("i3", 3, 3.0, 1, 0, integer=True, low=-4.0)
I2: Final = Element("i2", 2, 1.0, 0, 0, integer=True, low=-2.0)
I4_SYMMETRIC: Final = Element("i4_symmetric", 4, 7.0, 2, 0, integer=True)
I3_SYMMETRIC: Final = Element("i3_symmetric", 3, 3.0, 1, 0, integer=True)
I2_SYMMETRIC: Final = Element("i2_symmetric", 2, 1.0, 0, 0, integer=True)


@functools.cache
def values(element: Element) -> F32:
    """What each code stands for, shape [2 ** bits]; NaN codes are NaN."""
    codes = np.arange(2**element.bits)
    if element.levels is not None:
        return element.levels
    if element.integer:
        half = 1 << (element.bits - 1)
        return ((codes ^ half) - half).astype(np.float32)
    return float_values(element.bits - 1 - element.mantissa, element.mantissa)


def encode(x: F32, element: Element, zero: NDArray[np.int8] | None = None) -> Codes:
    """Codes of the nearest values.

    Args:
        x: Any shape; finite.
        zero: Of integers, the code of 0, which broadcasts against x.

    Returns:
        Codes of the same shape, one a byte, the low `bits` bits used (two's complement for integers).

    Error bound: half the distance of neighbouring values, inside +-max.
    """
    if element.levels is not None:
        middles = (element.levels[1:] + element.levels[:-1]) / np.float32(2)
        return np.searchsorted(middles, x, side="left").astype(np.uint8)
    least: NDArray[Any] | np.float32 = np.float32(element.least)
    most: NDArray[Any] | np.float32 = np.float32(element.max)
    base: NDArray[np.int64] | np.int64 = np.int64(0)
    if zero is not None:
        least, most, base = least - zero.astype(np.float32), most - zero.astype(np.float32), zero.astype(np.int64)  # fmt: skip
    clamped = np.clip(x, least, most)
    if element.integer:
        codes = np.rint(clamped).astype(np.int64) + base
        return np.asarray((codes & ((1 << element.bits) - 1)).astype(np.uint8))
    return _encode_float(clamped, element)


def _encode_float(x: F32, element: Element) -> Codes:
    """Rounds to `mantissa` bits at the value's own exponent (the smallest normal one below it), ties to even."""
    m, e_bits = element.mantissa, element.bits - 1 - element.mantissa
    bias = (1 << (e_bits - 1)) - 1
    magnitude = np.abs(x).astype(np.float64)
    _, exponent = np.frexp(magnitude)
    exponent = np.where(magnitude > 0, np.maximum(exponent - 1, 1 - bias), 1 - bias)
    steps = np.rint(np.ldexp(magnitude, m - exponent)).astype(np.int64)  # 2^m .. 2^(m+1) if normal
    code = steps + ((exponent + bias - 1) << m)  # a carry out of the fraction raises the exponent
    sign = np.signbit(x).astype(np.int64) << (element.bits - 1)
    return np.asarray((code | sign).astype(np.uint8))


def decode(codes: Codes, element: Element, zero: NDArray[np.int8] | None = None) -> F32:
    """What codes stand for, f32, same shape."""
    found = np.asarray(values(element)[codes], np.float32)
    return found if zero is None else found - zero.astype(np.float32)
