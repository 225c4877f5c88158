"""Storage formats of constants: one decorated decoder each, which is the format's meaning.

A format says what one block of `block` elements along K looks like and what number each code stands for. PLAIN means
that the bytes are elements of the constant's dtype. Block scales, where a format has them, follow the codes of the
constant in planes (docs/format.md draws them). Formats are added here; nothing else lists them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Format:
    """`bits` a code, `block` elements a scale (0: the whole row), `scale` the dtype of the scales (empty: none).

    A code is an element of dtype `codes`, to which `offset` is added: kernels/matrix/panel_decode.inc has a function for each
    such pair, and does not compile without it; or the place of one of `levels`, which ascend, and whose decoder is
    generated.
    `foreign`: it keeps what others rounded, with scales in f32; there is no encoder of ours.
    `dot`: matmul_int8 has sums of it in integers; kernels/gemm_blocks* do not compile until each has them.
    """

    id: int
    name: str
    bits: int
    block: int
    scale: str
    codes: str
    offset: int
    levels: Array | None
    dot: bool
    foreign: bool
    meaning: Callable[..., Any]


FORMATS: Final[dict[str, Format]] = {}

MOST_ID: Final = 62
"""Relations of rows name sets of formats as the bits of one positive 64-bit integer."""


def format_(
    id: int,
    bits: int,
    block: int = 0,
    scale: str = "",
    codes: str = "",
    offset: int = 0,
    levels: Array | None = None,
    dot: bool = False,
    foreign: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the decorated decoder to FORMATS. `id`: at most MOST_ID, never reused."""

    def add(meaning: Callable[..., Any]) -> Callable[..., Any]:
        name = meaning.__name__
        if not 0 <= id <= MOST_ID:
            raise ValueError(f"format {name}: expected an id of 0 to {MOST_ID}, got {id}")
        if name in FORMATS or any(row.id == id for row in FORMATS.values()):
            raise ValueError(f"format {name}: id {id} or the name is taken")
        if levels is not None and (levels.shape != (1 << bits,) or np.any(np.diff(levels) <= 0)):
            raise ValueError(f"format {name}: expected {1 << bits} ascending levels")
        if bits and bool(codes) == (levels is not None):
            raise ValueError(f"format {name}: expected either codes or levels")
        if dot and block % 32:
            raise ValueError(
                f"format {name}: sums in integers have blocks of 32, a scale has {block}"
            )
        FORMATS[name] = Format(
            id, name, bits, block, scale, codes, offset, levels, dot, foreign, meaning
        )
        return meaning

    return add


# The published constants: quantiles of N(0, 1), eight levels above zero and seven below. The last bits decide ties.
NF4_VALUES: Final = np.array(
    [
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
        -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
        0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
        0.7229568362236023, 1.0,
    ],
    np.float32,
)  # fmt: skip


@format_(id=0, bits=0)
def plain(codes: Array) -> Array:
    """Elements of the constant's dtype, as they are."""
    return codes


@format_(id=1, bits=8, scale="f32", codes="i8", dot=True)
def i8_channel(codes: Array, scale: Array) -> Array:
    """Signed bytes, one f32 scale a row: w = f32(code) * scale."""
    return spread(codes.view(np.int8).astype(np.float32), scale)


@format_(id=2, bits=4, block=64, scale="f16", levels=NF4_VALUES, dot=True)
def nf4(codes: Array, scale: Array) -> Array:
    """NF4_VALUES[code] * scale. Dettmers et al. 2023."""
    return spread(NF4_VALUES[codes], scale, 64)


@format_(id=3, bits=8, scale="f32", codes="f8e4m3")
def e4m3_channel(codes: Array, scale: Array) -> Array:
    """FP8 E4M3FN codes, one f32 scale a row."""
    return spread(float_values(4, 3)[codes], scale)


@format_(id=4, bits=8, block=32, scale="f8e8m0", codes="f8e4m3")
def mxfp8(codes: Array, scale: Array) -> Array:
    """OCP MX: E4M3 elements, E8M0 scale of 32."""
    return spread(float_values(4, 3)[codes], power_of_two(scale), 32)


@format_(id=5, bits=6, block=32, scale="f8e8m0", codes="f6e2m3", dot=True)
def mxfp6(codes: Array, scale: Array) -> Array:
    """OCP MX: E2M3 elements, E8M0 scale of 32."""
    return spread(float_values(2, 3)[codes], power_of_two(scale), 32)


@format_(id=6, bits=4, block=32, scale="f8e8m0", codes="f4e2m1", dot=True)
def mxfp4(codes: Array, scale: Array) -> Array:
    """OCP MX: E2M1 elements, E8M0 scale of 32."""
    return spread(float_values(2, 1)[codes], power_of_two(scale), 32)


@format_(id=7, bits=4, block=32, scale="f16", codes="i4", offset=8, dot=True)
def i4(codes: Array, scale: Array) -> Array:
    """Integers -8 .. 7 stored with 8 added, f16 scale of 32."""
    return spread(codes.astype(np.float32) - np.float32(8), scale, 32)


@format_(id=8, bits=4, block=32, scale="f32", codes="i4", offset=8, foreign=True)
def i4_f32(codes: Array, scale: Array) -> Array:
    """Integers -8 .. 7 stored with 8 added, f32 scale of 32."""
    return spread(codes.astype(np.float32) - np.float32(8), scale, 32)


@format_(id=9, bits=8, block=32, scale="f32", codes="i8", foreign=True)
def i8_f32(codes: Array, scale: Array) -> Array:
    """Signed bytes, f32 scale of 32."""
    return spread(codes.view(np.int8).astype(np.float32), scale, 32)


@format_(id=10, bits=8, block=32, scale="f8e8m0", codes="f8e5m2")
def mxfp8_e5m2(codes: Array, scale: Array) -> Array:
    """OCP MX: E5M2 elements, E8M0 scale of 32."""
    return spread(float_values(5, 2)[codes], power_of_two(scale), 32)


@format_(id=11, bits=6, block=32, scale="f8e8m0", codes="f6e3m2")
def mxfp6_e3m2(codes: Array, scale: Array) -> Array:
    """OCP MX: E3M2 elements, E8M0 scale of 32."""
    return spread(float_values(3, 2)[codes], power_of_two(scale), 32)


@format_(id=12, bits=8, block=32, scale="f8e8m0", codes="i8")
def mxint8(codes: Array, scale: Array) -> Array:
    """OCP MX: signed bytes, E8M0 scale of 32. OCP counts a code in units of 2^-6; here the scale has taken that in."""
    return spread(codes.view(np.int8).astype(np.float32), power_of_two(scale), 32)


NF4_SEVEN: Final = (np.rint(63 * NF4_VALUES.astype(np.float64)) + 64).astype(np.uint8)
"""The levels in 7 bits, for sums in integers: t stands for (t - 64) / 63; -1, 0 and 1 are exact."""


def float_values(exponent_bits: int, mantissa_bits: int) -> Array:
    """What each code of a small float (sign, exponent, mantissa) stands for, f32; S.1111.111 of E4M3 is NaN; E5M2 has
    infinities and NaN as IEEE has, the others neither. OCP 8-bit floating point specification 1.0, OCP MX 1.0."""
    codes = np.arange(1 << (1 + exponent_bits + mantissa_bits))
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    fraction = (codes & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    normal = (1 + fraction) * 2.0 ** (exponent - bias)
    magnitude = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), normal)
    if (exponent_bits, mantissa_bits) == (4, 3):
        magnitude = np.where(codes & 0x7F == 0x7F, np.nan, magnitude)
    if (exponent_bits, mantissa_bits) == (5, 2):
        magnitude = np.where(exponent == 31, np.where(fraction > 0, np.nan, np.inf), magnitude)
    sign = codes >> (exponent_bits + mantissa_bits)
    return np.asarray(np.where(sign, -magnitude, magnitude).astype(np.float32))


def power_of_two(byte: Array) -> Array:
    """2 ** (byte - 127), NaN for 255: an E8M0 scale, in f64, where it is exact and so are its products."""
    return np.asarray(np.where(byte == 255, np.nan, np.exp2(byte.astype(np.float64) - 127)))


def spread(values: Array, scale: Array, block: int = 0) -> Array:
    """values [n, k] times the scale of each one's block, rounded once to f32; scale [n, ceil(k / block)], or [n] for whole
    rows (block 0)."""
    k = values.shape[1]
    wide = np.float64 if scale.dtype == np.float64 else np.float32
    rows = scale if scale.ndim == 2 else scale[:, None]
    each = np.repeat(rows.astype(wide), block or max(k, 1), axis=1)[:, :k]
    return np.asarray((values.astype(wide) * each).astype(np.float32))
