"""Codes of quantized weights in the runtime's panels, and back.

    8 bit   [n/16][ceil(k/4)][16][4]
    4 bit   [n/16][ceil(k/8)][16][4]: byte j of a row holds code k+j in its low and k+4+j in its high nibble
    6 bit   a plane of the low 4 bits, then [n/16][ceil(k/16)][16][4] with the upper 2 bits of codes k+j, k+4+j, k+8+j, k+12+j
    scales  [n/16][ceil(k/block)][16] right behind the codes

`n` is padded to 16 in each group and k to the step, with zeros.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS, Format

from ..graph.weights import LARGE, Elements, Source, rows_of
from ..program import Blocks, Coded
from ..program.arrays import spread

Array = NDArray[Any]
ROWS: Final = 16
UNSIGNED: Final = tuple(DTYPES[name].numpy for name in ("u8", "u4", "u2"))
SIGNED: Final = tuple(DTYPES[name].numpy for name in ("i8", "i4", "i2"))


def stored(coded: Coded, groups: int = 1) -> tuple[str, Elements] | None:
    """The format that stores exactly these weights [n, k], and its bytes; None: no format does."""
    if coded.codes.ndim != 2 or coded.scale is None or coded.dtype != "f32":
        return None
    signed = _signed(coded)
    if signed is None:
        return None
    coded = signed
    assert coded.scale is not None
    names = (coded.format,) if coded.format else tuple(_of_codes(coded.codes.dtype))
    if coded.scale.dtype == ml_dtypes.float8_e8m0fnu:
        names = tuple(sorted(names, key=lambda name: FORMATS[name].scale != "f8e8m0"))
    for name in names:
        scale = _scale(FORMATS[name], coded.scale, coded.codes.shape)
        if scale is not None:
            return name, _packed(FORMATS[name], coded.codes, scale, groups)
    return None


def _signed(coded: Coded) -> Coded | None:
    """The same weights without zero point and of a signed type, which formats have; None where the differences are no bytes."""
    codes = coded.codes
    zero = None if coded.zero is None else spread(coded.zero, codes.shape)
    none = zero is None or not np.any(zero.astype(np.float32))
    if none and (coded.format or codes.dtype not in UNSIGNED):
        return dataclasses.replace(coded, zero=None)
    if codes.dtype not in (*UNSIGNED, *SIGNED):
        return None
    each = np.broadcast_to(np.zeros((), np.int16), codes.shape) if zero is None else zero
    moved, ends = np.empty(codes.shape, np.int8), [0, 0]
    for a, b in rows_of(len(codes), 4 * codes.shape[1]):
        difference = codes[a:b].astype(np.int16) - each[a:b].astype(np.int16)
        ends = [
            min(ends[0], int(difference.min(initial=0))),
            max(ends[1], int(difference.max(initial=0))),
        ]
        if ends[0] < -128 or ends[1] > 127:
            return None
        moved[a:b] = difference
    narrow = ends[0] >= -8 and ends[1] <= 7
    return dataclasses.replace(
        coded, codes=moved.astype(DTYPES["i4"].numpy) if narrow else moved, zero=None
    )


def _packed(fmt: Format, codes: Array, scale: Array, groups: int) -> Elements:
    """`pack`: of large weights when they are written, some rows at a time, where groups allow it."""
    n, k = codes.shape
    if groups > 1 or codes.nbytes < LARGE:
        return pack(fmt, _raw(fmt, codes), scale, groups)

    def bands() -> Iterator[Array]:
        for plane in PLANES[fmt.bits]:
            for begin, end in rows_of(n, 4 * k, ROWS):
                yield plane(_grouped(_raw(fmt, codes[begin:end]), 1))
        yield _scale_plane(scale, 1)

    tall, step = -(-n // ROWS) * ROWS, STEP[fmt.bits]
    size = tall * -(-k // step) * step * fmt.bits // 8 + tall * scale.shape[1] * scale.itemsize
    return Source((size,), np.dtype(np.uint8), bands)


def pack(fmt: Format, codes: Array, scale: Array, groups: int = 1) -> Array:
    """Codes [n, k], one a byte, and scales [n, blocks] as the bytes of a constant."""
    tall = _grouped(codes, groups)
    return np.concatenate(
        [*(plane(tall) for plane in PLANES[fmt.bits]), _scale_plane(scale, groups)]
    )


def _scale_plane(scale: Array, groups: int) -> Array:
    scales = _grouped(scale, groups)
    n, blocks = scales.shape
    by_panel = np.ascontiguousarray(scales.reshape(n // ROWS, ROWS, blocks).swapaxes(1, 2))
    return by_panel.reshape(-1).view(np.uint8)


def unpack(
    fmt: Format, data: Array, shape: tuple[int, int], groups: int = 1
) -> tuple[Array, Array]:
    """The reverse of `pack`: codes [n, k] and scales [n, blocks]."""
    n, k = shape
    tall = groups * -(-(n // groups) // ROWS) * ROWS
    step = STEP[fmt.bits]
    wide = -(-k // step) * step
    size = tall * wide
    if fmt.bits == 8:
        codes = _from_plane(data[:size].reshape(tall // ROWS, -1, ROWS, 4), 8)
        used = size
    else:
        codes = _from_plane(data[: size // 2].reshape(tall // ROWS, -1, ROWS, 4), 4)
        used = size // 2
        if fmt.bits == 6:
            high = data[used : used + size // 4].reshape(tall // ROWS, -1, ROWS, 4)
            codes = codes | _from_plane(high, 2) << 4
            used += size // 4
    kind = DTYPES["u8" if fmt.scale == "f8e8m0" else fmt.scale].numpy
    blocks = -(-k // fmt.block) if fmt.block else 1
    scale = (
        data[used:]
        .view(kind)
        .reshape(tall // ROWS, blocks, ROWS)
        .swapaxes(1, 2)
        .reshape(tall, blocks)
    )
    return _ungrouped(codes[:, :k], n, groups), _ungrouped(scale, n, groups)


def decode(name: str, data: Array, shape: tuple[int, int], groups: int = 1) -> Array:
    """The f32 weights [n, k] that a packed constant stands for."""
    fmt = FORMATS[name]
    codes, scale = unpack(fmt, data, shape, groups)
    return np.asarray(fmt.meaning(codes, scale))


def _of_codes(dtype: np.dtype[Any]) -> Iterator[str]:
    """The formats that store codes of a type; those with levels are named by their own decoder."""
    return (
        f.name for f in FORMATS.values() if f.codes and np.dtype(DTYPES[f.codes].numpy) == dtype
    )


def _raw(fmt: Format, codes: Array) -> Array:
    """One byte a code, the bits as the format stores them."""
    if fmt.offset:
        return (codes.astype(np.int8) + fmt.offset).astype(np.uint8)
    return np.ascontiguousarray(codes).view(np.uint8) if fmt.codes else codes.astype(np.uint8)


def _scale(fmt: Format, scale: Elements | Blocks, shape: tuple[int, ...]) -> Array | None:
    """One scale a block in the format's type, [n, blocks], where the weights [n, k] have that structure and lose nothing."""
    first = _by_block(scale, shape, fmt.block or max(shape[1], 1))
    if first is None:
        return None
    exact = first.astype(np.float64)
    if fmt.scale == "f8e8m0":
        mantissa, exponent = np.frexp(exact)
        fits = np.all((mantissa == 0.5) & (exponent - 1 >= -127) & (exponent - 1 <= 127))
        return (exponent - 1 + 127).astype(np.uint8) if fits else None
    with np.errstate(over="ignore"):
        narrow = exact.astype(DTYPES[fmt.scale].numpy)
    return narrow if np.array_equal(narrow.astype(np.float64), exact) else None


def _by_block(scale: Elements | Blocks, shape: tuple[int, ...], block: int) -> Array | None:
    """The scale of each `block` weights of a row; None where they have several."""
    n, k = shape
    if isinstance(scale, Blocks) and scale.axis == 1 and scale.size % block == 0:
        return np.repeat(scale.parts, scale.size // block, axis=1)[:, : -(-k // block)]
    each = spread(scale, shape)
    first = np.ascontiguousarray(each[:, ::block])
    for a, b in rows_of(n, 4 * k):
        if not np.array_equal(np.repeat(first[a:b], block, axis=1)[:, :k], each[a:b]):
            return None
    return first


def _grouped(rows: Array, groups: int) -> Array:
    """Rows of each group filled up with zeros to a multiple of 16."""
    n, k = rows.shape
    each = n // groups
    out = np.zeros((groups, -(-each // ROWS) * ROWS, k), rows.dtype)
    out[:, :each] = rows.reshape(groups, each, k)
    return out.reshape(-1, k)


def _ungrouped(rows: Array, n: int, groups: int) -> Array:
    each = rows.reshape(groups, -1, rows.shape[-1])
    return np.ascontiguousarray(each[:, : n // groups].reshape(n, -1))


def _widen(codes: Array, step: int) -> Array:
    k = codes.shape[1]
    return np.pad(codes, ((0, 0), (0, -k % step)))


def _plane8(codes: Array) -> Array:
    n = len(codes)
    steps = _widen(codes, 4).reshape(n // ROWS, ROWS, -1, 4).swapaxes(1, 2)
    return np.ascontiguousarray(steps).reshape(-1).view(np.uint8)


def _plane4(codes: Array) -> Array:
    n = len(codes)
    steps = codes.reshape(n // ROWS, ROWS, -1, 2, 4).swapaxes(1, 2)  # [n/16][k/8][16][2][4]
    return np.ascontiguousarray(steps[..., 0, :] | steps[..., 1, :] << 4).reshape(-1)


def _plane2(codes: Array) -> Array:
    n = len(codes)
    steps = codes.reshape(n // ROWS, ROWS, -1, 4, 4).swapaxes(1, 2)  # [n/16][k/16][16][4][4]
    shifts = np.array([0, 2, 4, 6], np.uint8)[:, None]
    return np.ascontiguousarray(np.bitwise_or.reduce(steps << shifts, axis=-2)).reshape(-1)


STEP: Final = {8: 4, 4: 8, 6: 16}
"""Codes along k that lie side by side in a panel, by their bits."""
PLANES: Final[dict[int, tuple[Callable[[Array], Array], ...]]] = {
    8: (_plane8,),
    4: (lambda tall: _plane4(_widen(tall, 8) & 15),),
    6: (lambda tall: _plane4(_widen(tall, 16) & 15), lambda tall: _plane2(_widen(tall, 16) >> 4)),
}
"""The planes of rows in multiples of 16, one code a byte."""


def _from_plane(steps: Array, bits: int) -> Array:
    """[n/16][steps][16][4] bytes -> codes [n, k], 8 / bits of them in each byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    mask = np.uint8((1 << bits) - 1)
    codes = (steps[..., None, :] >> shifts) & mask  # [n/16][steps][16][8/bits][4]
    return np.ascontiguousarray(codes.swapaxes(1, 2)).reshape(len(steps) * ROWS, -1)
