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
    `second`: dtype of another number a block, empty: none; a zero point, taken from each code (i8), or, where `shifts`, what is
    added to the product, codes counting from 0 then. `outer`: dtype of the scale that `outer_block` elements (0: a row) have in
    common, by which scales, and what is added, are multiplied first; what is added has such scales of its own.
    `foreign`: it keeps what others rounded; there is no encoder of ours.
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
    second: str
    shifts: bool
    outer: str
    outer_block: int
    meaning: Callable[..., Any]

    def same_levels(self, other: Format) -> bool:
        """Codes are places in one table."""
        if self.levels is None or other.levels is None:
            return False
        return np.array_equal(self.levels, other.levels)

    @property
    def planes(self) -> tuple[tuple[str, int], ...]:
        """What lies behind the codes, in order: dtype, and elements of a row that share a number (0: all)."""
        inner = [(dtype, self.block) for dtype in (self.scale, self.second) if dtype]
        return (*inner, *([(self.outer, self.outer_block)] * len(inner) if self.outer else ()))


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
    zero: str = "",
    shift: str = "",
    outer: str = "",
    outer_block: int = 0,
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
        if zero not in ("", "i8") or shift == "i8" or (zero and (shift or outer)):
            raise ValueError(
                f"format {name}: expected zero points in i8, or a shift of another type"
            )
        if outer_block % (block or 1):
            raise ValueError(f"format {name}: expected an outer block of whole blocks")
        if block & (block - 1) or outer_block & (outer_block - 1) or 1 in (block, outer_block):
            raise ValueError(f"format {name}: expected blocks of a power of two above 1")
        FORMATS[name] = Format(
            id, name, bits, block, scale, codes, offset, levels, dot, foreign, zero or shift, bool(shift), outer,
            outer_block, meaning,
        )  # fmt: skip
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


@format_(id=13, bits=4, block=32, scale="f16", codes="i4", offset=8, zero="i8")
def i4_zero(codes: Array, scale: Array, zero: Array) -> Array:
    """Integers -8 .. 7 stored with 8 added, less a zero point of 32, times an f16 scale of 32."""
    return spread(codes.astype(np.float32) - 8 - each(zero, 32, codes.shape), scale, 32)


@format_(id=14, bits=4, block=128, scale="f16", codes="i4", offset=8, zero="i8")
def i4_zero_128(codes: Array, scale: Array, zero: Array) -> Array:
    """As i4_zero, in blocks of 128."""
    return spread(codes.astype(np.float32) - 8 - each(zero, 128, codes.shape), scale, 128)


@format_(id=15, bits=4, block=32, scale="f32", codes="i4", offset=8, zero="i8", foreign=True)
def i4_zero_f32(codes: Array, scale: Array, zero: Array) -> Array:
    """As i4_zero, with f32 scales."""
    return spread(codes.astype(np.float32) - 8 - each(zero, 32, codes.shape), scale, 32)


@format_(id=16, bits=4, block=32, scale="f16", codes="i4", offset=8, shift="f16", foreign=True)
def q4_1(codes: Array, scale: Array, shift: Array) -> Array:
    """Of ggml: integers 0 .. 15 times an f16 scale of 32, rounded to f32, plus an f16 number of 32."""
    return shifted(codes, scale, shift, 32)


@format_(
    id=17, bits=4, block=32, scale="u8", codes="i4", offset=8, shift="u8", outer="f16", outer_block=256,
    foreign=True,
)  # fmt: skip
def q4_k(codes: Array, scale: Array, shift: Array, outer: Array, outer_shift: Array) -> Array:
    """Of ggml: as q4_1, scale and shift being bytes times an f16 number each of 256."""
    return shifted(codes, nested(scale, outer, 8), nested(shift, outer_shift, 8), 32)


@format_(id=18, bits=6, block=32, scale="f16", codes="i6", offset=32, foreign=True)
def q5_0(codes: Array, scale: Array) -> Array:
    """Of ggml, and all else that fits 6 bits: integers -32 .. 31 stored with 32 added, f16 scale of 32."""
    return spread(codes.astype(np.float32) - 32, scale, 32)


@format_(
    id=19, bits=6, block=32, scale="u8", codes="i6", offset=32, shift="u8", outer="f16", outer_block=256,
    foreign=True,
)  # fmt: skip
def q5_k(codes: Array, scale: Array, shift: Array, outer: Array, outer_shift: Array) -> Array:
    """Of ggml: as q4_k, integers 0 .. 63."""
    return shifted(codes, nested(scale, outer, 8), nested(shift, outer_shift, 8), 32)


@format_(
    id=20, bits=6, block=16, scale="i8", codes="i6", offset=32, outer="f16", outer_block=256, foreign=True
)  # fmt: skip
def q6_k(codes: Array, scale: Array, outer: Array) -> Array:
    """Of ggml: integers -32 .. 31 stored with 32 added, scale of 16 a signed byte times an f16 number of 256."""
    return spread(codes.astype(np.float32) - 32, nested(scale, outer, 16), 16)


@format_(id=21, bits=8, block=32, scale="f16", codes="i8")
def q8_0(codes: Array, scale: Array) -> Array:
    """Of ggml: signed bytes, f16 scale of 32."""
    return spread(codes.view(np.int8).astype(np.float32), scale, 32)


# Bytes of ggml: its quantiles for weights, times 127.
IQ4_NL_VALUES: Final = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)


@format_(id=22, bits=4, block=32, scale="f16", levels=IQ4_NL_VALUES, foreign=True)
def iq4_nl(codes: Array, scale: Array) -> Array:
    """Of ggml: IQ4_NL_VALUES[code] * scale of 32."""
    return spread(IQ4_NL_VALUES[codes], scale, 32)


@format_(id=23, bits=4, block=16, scale="f8e4m3", codes="f4e2m1", outer="f32")
def nvfp4(codes: Array, scale: Array, outer: Array) -> Array:
    """E2M1 elements, E4M3 scale of 16 times an f32 scale of the row."""
    return spread(float_values(2, 1)[codes], nested(scale, outer, 0), 16)


@format_(id=24, bits=4, block=64, scale="f32", levels=NF4_VALUES, foreign=True)
def nf4_f32(codes: Array, scale: Array) -> Array:
    """NF4_VALUES[code] * scale of 64, in f32."""
    return spread(NF4_VALUES[codes], scale, 64)


@format_(id=25, bits=8, block=128, scale="f32", codes="f8e4m3")
def e4m3_f32(codes: Array, scale: Array) -> Array:
    """FP8 E4M3FN codes, f32 scale of 128."""
    return spread(float_values(4, 3)[codes], scale, 128)


@format_(id=26, bits=4, block=32, scale="f8e4m3", levels=NF4_VALUES, outer="f32")
def nf4_e4m3(codes: Array, scale: Array, outer: Array) -> Array:
    """NF4_VALUES[code], E4M3 scale of 32 times an f32 scale of the row."""
    return spread(NF4_VALUES[codes], nested(scale, outer, 0), 32)


@format_(id=27, bits=8, scale="f32", codes="f8e5m2")
def e5m2_channel(codes: Array, scale: Array) -> Array:
    """FP8 E5M2 codes, one f32 scale a row."""
    return spread(float_values(5, 2)[codes], scale)


def integers(id: int, bits: int, block: int) -> None:
    """Signed integers of few bits in groups: i<bits>_<block>."""
    half = 1 << (bits - 1)

    def meaning(codes: Array, scale: Array) -> Array:
        return spread(codes.astype(np.float32) - half, scale, block)

    meaning.__name__ = f"i{bits}_{block}"
    meaning.__doc__ = (
        f"Integers {-half} .. {half - 1} stored with {half} added, f16 scale of {block}."
    )
    format_(id, bits, block, "f16", f"i{bits}", half, dot=bits == 4 and block % 32 == 0)(meaning)


def integers_zero(id: int, bits: int, block: int) -> None:
    """The same less a zero point: i<bits>_zero_<block>."""
    half = 1 << (bits - 1)

    def meaning(codes: Array, scale: Array, zero: Array) -> Array:
        return spread(
            codes.astype(np.float32) - half - each(zero, block, codes.shape), scale, block
        )

    meaning.__name__ = f"i{bits}_zero_{block}"
    meaning.__doc__ = f"As i{bits}_{block}, less a zero point of {block}."
    format_(id, bits, block, "f16", f"i{bits}", half, zero="i8")(meaning)


GROUPS: Final = (16, 32, 64, 128, 256)
"""Sizes that a group of integers may have."""

for place, size in enumerate(GROUPS):
    if size != 32:
        integers(28 + place, 4, size)
    if size not in (32, 128):
        integers_zero(33 + place, 4, size)
    integers(38 + place, 3, size)
    integers_zero(43 + place, 3, size)
    integers(48 + place, 2, size)
    integers_zero(53 + place, 2, size)


@format_(id=29, bits=8, block=128, scale="f16", codes="i8")
def i8_128(codes: Array, scale: Array) -> Array:
    """Signed bytes, f16 scale of 128."""
    return spread(codes.view(np.int8).astype(np.float32), scale, 128)


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


def each(part: Array, block: int, shape: tuple[int, ...]) -> Array:
    """A number of each block [n, ceil(k / block)] for each of its codes [n, k]."""
    return np.repeat(part.astype(np.float32), block, axis=1)[:, : shape[1]]


def shifted(codes: Array, scale: Array, shift: Array, block: int) -> Array:
    """codes * scale + shift of the block, each operation rounded to f32."""
    return spread(codes.astype(np.float32), scale, block) + each(shift, block, codes.shape)


def nested(scale: Array, outer: Array, blocks: int) -> Array:
    """Scales [n, c] times an outer one of `blocks` of them (0: of the row), rounded to f32."""
    inner = scale.astype(np.float32)
    return np.asarray(
        inner
        * np.repeat(outer.astype(np.float32), blocks or max(inner.shape[1], 1), 1)[
            :, : inner.shape[1]
        ]
    )
