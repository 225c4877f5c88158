"""What unpack and repack of schema/ops.py mean: NumPy casts through the types of ml_dtypes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..dtypes import DTYPES
from ..row import Array


def repack(x: Array, name: str, saturate: bool) -> Array:
    """`x` as the narrow type: integers keep their low bits; floats round to nearest, ties to even (f8e8m0: ties up). Beyond
    the largest number: that number when saturating or where there is nothing else, else infinity or NaN. Every NaN is the
    same one."""
    import ml_dtypes

    dtype = DTYPES[name].numpy
    with np.errstate(all="ignore"):
        if name[0] == "f":
            x = np.where(np.isnan(x), np.float32(np.nan), x)
        if not saturate or name[0] != "f":
            return x.astype(dtype)
        if name == "f8e8m0":
            top = np.float32(2.0**127)
            return np.where(x == 0, np.float32(2.0**-127), np.where(x > top, top, x)).astype(dtype)
        info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        return np.clip(x, np.float32(info.min), np.float32(info.max)).astype(dtype)


def eights(x: Array) -> Array:
    """x as matmul_int8 reads it: f32 in blocks of 32 along the last axis, each code times its scale."""
    codes, scale = eight_codes(x)
    back = codes.astype(np.float64) * scale[..., None].astype(np.float64)
    return np.asarray(back.reshape(*x.shape[:-1], back.shape[-2] * 32)[..., : x.shape[-1]])


def eight_codes(x: Array) -> tuple[Array, Array]:
    """Codes [*m, blocks, 32] as i8, zeros behind the end, and scales [*m, blocks], f32: absmax / 127, 1 where that is 0, NaN
    where a number of the block is not finite; codes x / scale to nearest, ties to even, within 127."""
    rest = -x.shape[-1] % 32
    wide = np.pad(x.astype(np.float32), [(0, 0)] * (x.ndim - 1) + [(0, rest)])
    blocks = wide.reshape(*x.shape[:-1], wide.shape[-1] // 32, 32)
    with np.errstate(all="ignore"):
        scale = np.abs(blocks).max(-1, initial=0.0) / np.float32(127)
        scale = np.where(scale == 0, np.float32(1), scale)
        scale = np.where(np.isfinite(scale), scale, np.float32(np.nan))
        codes = np.clip(np.rint(blocks / scale[..., None]), -127, 127)
    codes = np.where(np.isfinite(scale)[..., None], codes, 0)
    return codes.astype(np.int8), scale.astype(np.float32)


TURN: Final = 64
"""Elements that are turned together."""


def turn(x: Array) -> Array:
    """Each 64 along the last axis, zeros behind the end, as X of 8 x 8 becomes (H X H)^T, H being the Hadamard matrix of 8;
    in the type of x, by additions in steps of distance 1, 2, 4 between rows. Its products: turn(a) turn(b) = 64 a b."""
    rest = -x.shape[-1] % TURN
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, rest)])
    square = wide.reshape(*x.shape[:-1], wide.shape[-1] // TURN, 8, 8)
    return _added(_added(square).swapaxes(-1, -2)).reshape(wide.shape)


def _added(square: Array) -> Array:
    for distance in (1, 2, 4):
        pairs = square.reshape(*square.shape[:-2], 4 // distance, 2, distance, 8)
        a, b = pairs[..., 0, :, :], pairs[..., 1, :, :]
        with np.errstate(all="ignore"):
            square = np.stack((a + b, a - b), -3).reshape(square.shape)
    return square


def turned_codes(x: Array) -> tuple[Array, Array]:
    """`row_codes` of `turn` of x in f32."""
    return row_codes(turn(x.astype(np.float32)))


def row_codes(x: Array) -> tuple[Array, Array]:
    """Codes [*m, k] of rows in f32, as i8, and scales [*m], f32: absmax / 127; NaN with codes of 0 where a number is not finite, 1
    where absmax is below 2^-120. Codes x * (127 / absmax) to nearest, ties to even."""
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        top = np.abs(wide).max(-1, initial=0.0)
        codes = np.rint(wide * (np.float32(127) / top)[..., None])
        plain = np.isfinite(top) & (top >= np.float32(2.0**-120))
        scale = np.where(plain, top / np.float32(127), np.where(np.isfinite(top), 1, np.nan))
    return np.where(plain[..., None], codes, 0).astype(np.int8), scale.astype(np.float32)


def turned(x: Array) -> Array:
    """x as matmul_turned reads it: each code times its scale."""
    codes, scale = turned_codes(x)
    return np.asarray(codes.astype(np.float64) * scale[..., None].astype(np.float64))
