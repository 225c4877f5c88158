"""Blocks of ggml as codes and scales, a row a type: bytes [rows, blocks, nbytes] to a Weight, to the bit what ggml computes.

Sources: ggml-common.h (structs), ggml-quants.c (dequantize_row_*).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from pteron.schema.errors import QuantError

from .weight import Array, Nested, Weight


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    name: str
    block: int
    nbytes: int
    read: Callable[[Array], Weight]


FLOATS: Final[dict[int, tuple[str, np.dtype[Any]]]] = {
    0: ("F32", np.dtype("<f4")),
    1: ("F16", np.dtype("<f2")),
    28: ("F64", np.dtype("<f8")),
    30: ("BF16", np.dtype(ml_dtypes.bfloat16)),
}


def _half(raw: Array, at: int) -> Array:
    """The f16 at byte `at` of each block, f32."""
    return np.ascontiguousarray(raw[..., at : at + 2]).view("<f2")[..., 0].astype(np.float32)


def _rows(codes: Array) -> Array:
    return np.ascontiguousarray(codes).reshape(len(codes), -1)


def _nibbles(raw: Array) -> Array:
    """[.., c] -> [.., 2 c]: all low halves, then all high ones."""
    return np.concatenate([raw & 15, raw >> 4], axis=-1)


def _fifth(raw: Array, at: int) -> Array:
    """32 bits from byte `at` on, one a code."""
    return np.unpackbits(raw[..., at : at + 4], axis=-1, bitorder="little")


def _u4(codes: Array) -> Array:
    return _rows(codes).astype(ml_dtypes.uint4)


def q4_0(raw: Array) -> Weight:
    codes = _rows(_nibbles(raw[..., 2:]).astype(np.int8) - 8)
    return Weight(codes.astype(ml_dtypes.int4), _half(raw, 0), 32)


def q4_1(raw: Array) -> Weight:
    return Weight(_u4(_nibbles(raw[..., 4:])), _half(raw, 0), 32, shift=_half(raw, 2))


def q5_0(raw: Array) -> Weight:
    codes = (_nibbles(raw[..., 6:]) | _fifth(raw, 2) << 4).astype(np.int8) - 16
    return Weight(_rows(codes), _half(raw, 0), 32)


def q5_1(raw: Array) -> Weight:
    codes = _nibbles(raw[..., 8:]) | _fifth(raw, 4) << 4
    return Weight(_rows(codes), _half(raw, 0), 32, shift=_half(raw, 2))


def q8_0(raw: Array) -> Weight:
    return Weight(_rows(raw[..., 2:].view(np.int8)), _half(raw, 0), 32)


def _parts(raw: Array) -> tuple[Nested, Nested]:
    """Scale and shift of each 32 of a K block: 6 bits each, times d and -dmin."""
    a, b, c = (raw[..., 4 + 4 * i : 8 + 4 * i] for i in range(3))
    scale = np.concatenate([a & 63, (c & 15) | (a >> 2 & 48)], axis=-1)
    least = np.concatenate([b & 63, (c >> 4) | (b >> 2 & 48)], axis=-1)
    return Nested(_rows(scale), _half(raw, 0), 8), Nested(_rows(least), -_half(raw, 2), 8)


def _pairs(raw: Array) -> Array:
    """[.., 128] -> [.., 256]: of each 32 bytes the low halves, then the high ones."""
    four = raw.reshape(*raw.shape[:-1], 4, 32)
    return _nibbles(four).reshape(*raw.shape[:-1], 256)


def q4_k(raw: Array) -> Weight:
    scale, shift = _parts(raw)
    return Weight(_u4(_pairs(raw[..., 16:])), scale, 32, shift=shift)


def q5_k(raw: Array) -> Weight:
    scale, shift = _parts(raw)
    high = raw[..., None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    codes = _pairs(raw[..., 48:]) | high.reshape(*raw.shape[:-1], 256) << 4
    return Weight(_rows(codes), scale, 32, shift=shift)


def _twos(raw: Array) -> Array:
    """[.., 64] -> [.., 256]: of each 32 bytes bits 0 and 1, then bits 2 and 3, and so on."""
    two = raw.reshape(*raw.shape[:-1], 2, 1, 32)
    codes = two >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3
    return codes.reshape(*raw.shape[:-1], 256)


def q2_k(raw: Array) -> Weight:
    both = raw[..., :16]
    scale, least = Nested(_rows(both & 15), _half(raw, 80), 16), _rows(both >> 4)
    shift = Nested(least, -_half(raw, 82), 16)
    codes = _rows(_twos(raw[..., 16:80])).astype(ml_dtypes.uint2)
    return Weight(codes, scale, 16, shift=shift)


def q3_k(raw: Array) -> Weight:
    low, high = (
        raw[..., 96:104],
        raw[..., None, 104:108] >> np.arange(0, 8, 2, dtype=np.uint8)[:, None],
    )
    upper = (high & 3).reshape(*raw.shape[:-1], 16)
    scale = (_nibbles(low) | upper << 4).astype(np.int8) - 32
    top = raw[..., None, :32] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    codes = _twos(raw[..., 32:96]).astype(np.int8) - 4 * (1 - top.reshape(*raw.shape[:-1], 256))
    return Weight(_rows(codes).astype(np.int8), Nested(_rows(scale), _half(raw, 108), 16), 16)


def q6_k(raw: Array) -> Weight:
    low = raw[..., :128].reshape(*raw.shape[:-1], 2, 64)
    high = raw[..., 128:192].reshape(*raw.shape[:-1], 2, 1, 32)
    top = (high >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3).reshape(*raw.shape[:-1], 2, 128)
    codes = (_nibbles(low) | top << 4).astype(np.int8) - 32
    return Weight(
        _rows(codes), Nested(_rows(raw[..., 192:208].view(np.int8)), _half(raw, 208), 16), 16
    )


def iq4_nl(raw: Array) -> Weight:
    return Weight(_rows(_nibbles(raw[..., 2:])), _half(raw, 0), 32, levels="iq4_nl")


def iq4_xs(raw: Array) -> Weight:
    high = np.ascontiguousarray(raw[..., 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16)
    pairs = np.stack([raw[..., 4:8] & 15, raw[..., 4:8] >> 4], axis=-1)
    low = pairs.reshape(*raw.shape[:-1], 8)
    scale = (low | (high & 3).astype(np.uint8) << 4).astype(np.int8) - 32
    codes = _nibbles(raw[..., 8:].reshape(*raw.shape[:-1], 8, 16))
    return Weight(_rows(codes), Nested(_rows(scale), _half(raw, 0), 8), 32, levels="iq4_nl")


def _e2m1(codes: Array) -> Array:
    """ggml has one zero."""
    return _rows(np.where(codes == 8, 0, codes).astype(np.uint8)).view(ml_dtypes.float4_e2m1fn)


def mxfp4(raw: Array) -> Weight:
    if np.any(raw[..., 0] == 255):
        raise QuantError("MXFP4: a block has the scale 255, which is NaN; the file is damaged")
    scale = np.ldexp(np.float32(1), raw[..., 0].astype(np.int32) - 127)
    return Weight(_e2m1(_nibbles(raw[..., 1:])), scale, 32)


def nvfp4(raw: Array) -> Weight:
    eights = raw[..., 4:].reshape(*raw.shape[:-1], 4, 8)
    scale = np.where(raw[..., :4] == 0x7F, 0, raw[..., :4]).astype(np.uint8)
    if np.any(scale > 0x7F):
        raise QuantError("NVFP4: a scale has a sign; the file is damaged")
    few = _rows(scale).view(ml_dtypes.float8_e4m3fn)
    return Weight(_e2m1(_nibbles(eights)), Nested(few, np.ones(1, np.float32), 0), 16)


LAYOUTS: Final = {
    2: Layout("Q4_0", 32, 18, q4_0),
    3: Layout("Q4_1", 32, 20, q4_1),
    6: Layout("Q5_0", 32, 22, q5_0),
    7: Layout("Q5_1", 32, 24, q5_1),
    8: Layout("Q8_0", 32, 34, q8_0),
    10: Layout("Q2_K", 256, 84, q2_k),
    11: Layout("Q3_K", 256, 110, q3_k),
    12: Layout("Q4_K", 256, 144, q4_k),
    13: Layout("Q5_K", 256, 176, q5_k),
    14: Layout("Q6_K", 256, 210, q6_k),
    20: Layout("IQ4_NL", 32, 18, iq4_nl),
    23: Layout("IQ4_XS", 256, 136, iq4_xs),
    39: Layout("MXFP4", 32, 17, mxfp4),
    40: Layout("NVFP4", 64, 36, nvfp4),
}
"""By the number that GGUF has for it."""
