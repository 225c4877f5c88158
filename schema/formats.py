"""Storage formats of constants.

A row says what a code stands for and which numbers lie behind the codes; how many elements of K share those, the block, is a number of
each constant. PLAIN means that the bytes are elements of the constant's dtype. docs/format.md draws the planes of the others. Rows are
added here; nothing else lists them.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCKS: Final = (16, 32, 64, 128, 256)
"""Elements of K that may share a scale, powers of two; or all of a row: 0."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Format:
    """Row `row` with scales of `block` elements (0: the whole row). `bits` a code, `scale` the dtype of the scales (empty: none).

    A code is an element of dtype `codes`, to which `offset` is added: kernels/gemm/panel_decode.inc has a function for each
    such pair, and does not compile without it; or the place of one of `levels`, which ascend, and whose decoder is
    generated.
    `second`: dtype of another number a block, empty: none; a zero point, taken from each code (i8), or, where `shifts`, what is
    added to the product, codes counting from 0 then. `outer`: dtype of the scale that `outer_block` elements (0: a row) have in
    common, by which scales, and what is added, are multiplied first; what is added has such scales of its own.
    `foreign`: it keeps what others rounded; there is no encoder of ours.
    `dot`: matmul_int8 has sums of it in integers; kernels/gemm_blocks* do not compile until each has them.
    """

    id: int
    row: str
    name: str
    text: str
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

    def same_levels(self, other: Format) -> bool:
        """Codes are places in one table."""
        if self.levels is None or other.levels is None:
            return False
        return np.array_equal(self.levels, other.levels)

    @property
    def exponent(self) -> int:
        """Of the block, as a file has it; 0: the row."""
        return max(self.block, 1).bit_length() - 1

    @property
    def planes(self) -> tuple[tuple[str, int], ...]:
        """What lies behind the codes, in order: dtype, and elements of a row that share a number (0: all)."""
        inner = [(dtype, self.block) for dtype in (self.scale, self.second) if dtype]
        return (*inner, *([(self.outer, self.outer_block)] * len(inner) if self.outer else ()))

    def meaning(self, codes: Array, *planes: Array) -> Array:
        """The weights [n, k] of codes, one a byte, and of the planes behind them, [n, blocks] ([n] for whole rows): (value - zero) *
        scale + shift, each operation rounded to f32; a scale of E8M0 is exact, whatever it is."""
        if not self.bits:
            return codes
        inner = [p.astype(np.float32) for p in planes]
        if self.outer:
            half = len(inner) // 2
            per = self.outer_block // self.block if self.outer_block else 0
            inner = [nested(p, o, per) for p, o in zip(inner[:half], inner[half:], strict=True)]
        scale = power_of_two(planes[0]) if self.scale == "f8e8m0" else inner[0]
        if not self.second:
            return spread(self.values(codes), scale, self.block)
        second = each(inner[1], self.block, codes.shape)
        if self.shifts:
            return spread(codes.astype(np.float32), scale, self.block) + second
        return spread(self.values(codes) - second, scale, self.block)

    def values(self, codes: Array) -> Array:
        """What codes stand for, f32."""
        if self.levels is not None:
            return np.asarray(self.levels[codes])
        if self.codes.startswith("f"):
            return float_values(int(self.codes[-3]), int(self.codes[-1]))[codes]
        whole = codes if self.offset else codes.view(np.int8)
        return whole.astype(np.float32) - np.float32(self.offset)


ROWS: Final[dict[str, Format]] = {}
"""By the name of the row, with the block that is usual for it."""

FORMATS: Final[dict[str, Format]] = {}
"""Rows with each block that they may have, by name: the row's where the block is the usual one, else <row>_<block>, <row>_channel."""

MOST_ID: Final = 62
"""Relations of operators name sets of rows as the bits of one positive 64-bit integer."""


def row(
    id: int,
    name: str,
    bits: int,
    scale: str,
    text: str,
    *,
    block: int = 0,
    codes: str = "",
    offset: int = 0,
    levels: Array | None = None,
    dot: bool = False,
    foreign: bool = False,
    zero: str = "",
    shift: str = "",
    outer: str = "",
    outer_block: int = 0,
) -> None:
    """Adds a row. `id`: at most MOST_ID, never reused; `block`: the usual one, 0 where none is."""
    if not 0 <= id <= MOST_ID:
        raise ValueError(f"format {name}: expected an id of 0 to {MOST_ID}, got {id}")
    if name in FORMATS or name in ROWS or any(other.id == id for other in ROWS.values()):
        raise ValueError(f"format {name}: id {id} or the name is taken")
    if levels is not None and (levels.shape != (1 << bits,) or not _ascend(levels)):
        raise ValueError(f"format {name}: expected {1 << bits} ascending levels")
    if bits and bool(codes) == (levels is not None):
        raise ValueError(f"format {name}: expected either codes or levels")
    if zero not in ("", "i8") or shift == "i8" or (zero and (shift or outer)):
        raise ValueError(f"format {name}: expected zero points in i8, or a shift of another type")
    if outer_block not in (0, BLOCKS[-1]) or block not in (0, *BLOCKS):
        raise ValueError(
            f"format {name}: expected an outer block of {BLOCKS[-1]} or a row, a usual block of {BLOCKS} or 0"
        )
    for size in (0,) if not bits else BLOCKS if outer_block else (0, *BLOCKS):
        usual = size == block and (size > 0 or not bits)
        full = name if usual else f"{name}_{size or 'channel'}"
        FORMATS[full] = Format(
            id, name, full, text, bits, size, scale, codes, offset, levels, dot and size % 32 == 0, foreign,
            zero or shift, bool(shift), outer, outer_block,
        )  # fmt: skip
        if size == block:
            ROWS[name] = FORMATS[full]


def _ascend(levels: Array) -> bool:
    """-0 may lie before 0."""
    zeros = (levels[:-1] == 0) & np.signbit(levels[:-1]) & ~np.signbit(levels[1:])
    return bool(np.all((np.diff(levels) > 0) | zeros))


def named(name: str, block: int) -> str:
    """The name, in FORMATS, of a row with scales of `block` elements."""
    return next(f.name for f in FORMATS.values() if (f.row, f.block) == (name, block))


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


# Bytes of ggml: its quantiles for weights, times 127.
IQ4_NL_VALUES: Final = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)

# Of bitsandbytes: eight magnitudes of either sign, which it has in another order.
FP4_VALUES: Final = np.array(
    [
        -1.0, -0.6666666865348816, -0.5, -0.3333333432674408, -0.25, -0.1666666716337204, -0.0052083334885537624, -0.0,
        0.0, 0.0052083334885537624, 0.1666666716337204, 0.25, 0.3333333432674408, 0.5, 0.6666666865348816, 1.0,
    ],
    np.float32,
)  # fmt: skip

# fmt: off
row(0, "plain", 0, "", "Elements of the constant's dtype, as they are.")
row(1, "i8", 8, "f32", "Signed bytes.", codes="i8", dot=True)
row(2, "nf4", 4, "f16", "NF4_VALUES[code] * scale. Dettmers et al. 2023.", block=64, levels=NF4_VALUES, dot=True)
row(3, "e4m3", 8, "f32", "FP8 E4M3FN.", codes="f8e4m3")
row(4, "mxfp8", 8, "f8e8m0", "OCP MX: E4M3 elements.", block=32, codes="f8e4m3")
row(5, "mxfp6", 6, "f8e8m0", "OCP MX: E2M3 elements.", block=32, codes="f6e2m3", dot=True)
row(6, "mxfp4", 4, "f8e8m0", "OCP MX: E2M1 elements.", block=32, codes="f4e2m1", dot=True)
row(7, "i4", 4, "f16", "Integers -8 .. 7 stored with 8 added.", block=32, codes="i4", offset=8, dot=True)
row(8, "i4_f32", 4, "f32", "As i4, with f32 scales.", block=32, codes="i4", offset=8, foreign=True)
row(10, "mxfp8_e5m2", 8, "f8e8m0", "OCP MX: E5M2 elements.", block=32, codes="f8e5m2")
row(11, "mxfp6_e3m2", 6, "f8e8m0", "OCP MX: E3M2 elements.", block=32, codes="f6e3m2")
row(12, "mxint8", 8, "f8e8m0", "OCP MX: signed bytes. OCP counts a code in units of 2^-6; here the scale has taken that in.",
    block=32, codes="i8")
row(13, "i4_zero", 4, "f16", "As i4, less a zero point of the block.", block=32, codes="i4", offset=8, zero="i8")
row(15, "i4_zero_f32", 4, "f32", "As i4_zero, with f32 scales.", block=32, codes="i4", offset=8, zero="i8", foreign=True)
row(16, "q4_1", 4, "f16", "Of ggml: integers 0 .. 15 times the scale, rounded to f32, plus a number of the block.",
    block=32, codes="i4", offset=8, shift="f16", foreign=True)
row(17, "q4_k", 4, "u8", "Of ggml: as q4_1, scale and shift being bytes times an f16 number each of 256.",
    block=32, codes="i4", offset=8, shift="u8", outer="f16", outer_block=256, foreign=True)
row(18, "q5_0", 6, "f16", "Of ggml, and all else that fits 6 bits: integers -32 .. 31 stored with 32 added.",
    block=32, codes="i6", offset=32, foreign=True)
row(19, "q5_k", 6, "u8", "Of ggml: as q4_k, integers 0 .. 63.",
    block=32, codes="i6", offset=32, shift="u8", outer="f16", outer_block=256, foreign=True)
row(20, "q6_k", 6, "i8", "Of ggml: integers -32 .. 31 stored with 32 added, the scale a signed byte times an f16 number of 256.",
    block=16, codes="i6", offset=32, outer="f16", outer_block=256, foreign=True)
row(21, "q8_0", 8, "f16", "Of ggml: signed bytes.", block=32, codes="i8")
row(22, "iq4_nl", 4, "f16", "Of ggml: IQ4_NL_VALUES[code] * scale.", block=32, levels=IQ4_NL_VALUES, foreign=True)
row(23, "nvfp4", 4, "f8e4m3", "E2M1 elements, the scale times an f32 scale of the row.", block=16, codes="f4e2m1", outer="f32")
row(24, "nf4_f32", 4, "f32", "NF4_VALUES[code] * scale.", block=64, levels=NF4_VALUES, foreign=True)
row(26, "nf4_e4m3", 4, "f8e4m3", "NF4_VALUES[code], the scale times an f32 scale of the row.",
    block=32, levels=NF4_VALUES, outer="f32")
row(27, "e5m2", 8, "f32", "FP8 E5M2.", codes="f8e5m2")
row(28, "i8_zero", 8, "f32", "Signed bytes, less a zero point of the block.", codes="i8", zero="i8", foreign=True)
row(29, "e2m1", 4, "f32", "E2M1 elements.", block=32, codes="f4e2m1", foreign=True)
row(30, "fp4", 4, "f32", "FP4_VALUES[code] * scale, of bitsandbytes.", block=64, levels=FP4_VALUES, foreign=True)
row(33, "e2m3", 6, "f32", "E2M3 elements.", block=32, codes="f6e2m3", foreign=True)
row(34, "e3m2", 6, "f32", "E3M2 elements.", block=32, codes="f6e3m2", foreign=True)
row(35, "q5_1", 6, "f16", "Of ggml: as q4_1, integers 0 .. 63.",
    block=32, codes="i6", offset=32, shift="f16", foreign=True)
row(36, "iq4_xs", 4, "i8", "Of ggml: as iq4_nl, the scale a signed byte times an f16 number of 256.",
    block=32, levels=IQ4_NL_VALUES, outer="f16", outer_block=256, foreign=True)
row(37, "q2_k", 2, "u8", "Of ggml: as q4_k, integers 0 .. 3.",
    block=16, codes="i2", offset=2, shift="u8", outer="f16", outer_block=256, foreign=True)
row(38, "i3", 3, "f16", "Integers -4 .. 3 stored with 4 added.", codes="i3", offset=4)
row(39, "i3_f32", 3, "f32", "As i3, with f32 scales.", codes="i3", offset=4, foreign=True)
row(40, "q3_k", 3, "i8", "Of ggml: integers -4 .. 3 stored with 4 added, the scale a signed byte times an f16 number of 256.",
    block=16, codes="i3", offset=4, outer="f16", outer_block=256, foreign=True)
row(43, "i3_zero", 3, "f16", "As i3, less a zero point of the block.", codes="i3", offset=4, zero="i8")
row(48, "i2", 2, "f16", "Integers -2 .. 1 stored with 2 added.", codes="i2", offset=2)
row(49, "i2_f32", 2, "f32", "As i2, with f32 scales.", codes="i2", offset=2, foreign=True)
row(53, "i2_zero", 2, "f16", "As i2, less a zero point of the block.", codes="i2", offset=2, zero="i8")
# fmt: on

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
    """A number of each block [n, ceil(k / block)] (0: of the row) for each of its codes [n, k]."""
    return np.repeat(part.astype(np.float32), block or max(shape[1], 1), axis=1)[:, : shape[1]]


def nested(scale: Array, outer: Array, blocks: int) -> Array:
    """Scales [n, c] times an outer one of `blocks` of them (0: of the row), rounded to f32."""
    inner = scale.astype(np.float32)
    return np.asarray(
        inner
        * np.repeat(outer.astype(np.float32), blocks or max(inner.shape[1], 1), 1)[
            :, : inner.shape[1]
        ]
    )
