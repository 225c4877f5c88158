"""Random weights of every storage format, packed here by the layout's words and not by export/pack/__init__.py."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
from ops.harness import Array, Weight

from pteron.schema.formats import FORMATS, NF4_SEVEN, ROWS, Format
from pteron.schema.formats import spread as scaled

OF_ALL_BLOCKS = ("i4", "i3_zero", "q5_k", "nvfp4", "nf4")
NAMES = tuple(
    f.name for f in FORMATS.values() if f.bits and (f is ROWS[f.row] or f.row in OF_ALL_BLOCKS)
)
"""Every row with its usual block, some with each that there is."""
FP8 = tuple(name for name in NAMES if FORMATS[name].codes in ("f8e4m3", "f8e5m2"))


def stored(name: str, n: int, k: int, groups: int = 1, integers: bool = False) -> Weight:
    """A weight [n, k] with codes of all kinds (no NaN, no infinity) and scales of ordinary size; `integers`: as matmul_int8 means it."""
    rng = np.random.default_rng(0)
    fmt = FORMATS[name]
    codes = rng.integers(0, 1 << fmt.bits, (n, k)).astype(np.uint8)
    if fmt.codes == "f8e4m3":
        codes[codes & 0x7F == 0x7F] ^= 1
    if fmt.codes == "f8e5m2":
        codes[codes & 0x7C == 0x7C] ^= 4
    planes = planes_of(fmt, n, k, rng)
    w = weight_of(fmt, codes, *planes, groups=groups)
    if integers and fmt.row == "nf4":
        levels = (NF4_SEVEN.astype(np.float64) - 64) / 63
        return dataclasses.replace(
            w, array=scaled(levels[codes], planes[0].astype(np.float64), fmt.block)
        )
    return w


def every(name: str) -> Weight:
    """A weight [16, 64] with every code of its format: NaN and infinity, too."""
    fmt = FORMATS[name]
    codes = (np.arange(16 * 64) % (1 << fmt.bits)).astype(np.uint8).reshape(16, 64)
    return weight_of(fmt, codes, *planes_of(fmt, 16, 64, np.random.default_rng(0)))


def planes_of(fmt: Format, n: int, k: int, rng: np.random.Generator) -> list[Array]:
    """Numbers of ordinary size for what lies behind the codes: [n, ceil(k / elements)], or [n, 1]; E8M0 as bytes."""
    return [
        _numbers(fmt, dtype, (n, -(-k // size) if size else 1), rng) for dtype, size in fmt.planes
    ]


def _numbers(fmt: Format, dtype: str, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    match dtype:
        case "f8e8m0":
            top = 121 if fmt.codes == "f8e5m2" else 128  # its codes reach 2^7 times those of E4M3
            return rng.integers(top - 8, top, shape).astype(np.uint8)
        case "f8e4m3":
            return (rng.random(shape) + 0.1).astype(ml_dtypes.float8_e4m3fn)
        case "u8":
            return rng.integers(0, 64, shape).astype(np.uint8)
        case "i8":
            return rng.integers(-16, 16, shape).astype(np.int8)
    nested = any(kind in ("u8", "i8") for kind, _ in fmt.planes)  # numbers to 63 beside it
    far = 128 if fmt.codes == "f8e5m2" else 1  # its codes reach 2^7 times those of E4M3
    wide = (rng.random(shape) + 0.1) / (64 if nested else far)
    return wide.astype({"f16": np.float16, "f32": np.float32}[dtype])


def weight_of(fmt: Format, codes: Array, *behind: Array, groups: int = 1) -> Weight:
    """Codes [n, k] as unsigned bytes, and what they mean, with their bytes in panels."""
    meaning: Any = codes.view(np.int8) if fmt.codes == "i8" else codes
    array = fmt.meaning(meaning, *behind)
    rest = [spread(plane, groups).reshape(-1).view(np.uint8) for plane in behind]
    data = np.concatenate([*planes(fmt.bits, codes, groups), *rest])
    return Weight(array, data, fmt.id, groups=groups, block=fmt.exponent)


def spread(x: Array, groups: int) -> Array:
    """[n, c] as [panel][c][16], the rows of each group filled up with zeros."""
    n, c = x.shape
    rows = n // groups
    tall = np.zeros((groups, -(-rows // 16) * 16, c), x.dtype)
    tall[:, :rows] = x.reshape(groups, rows, c)
    return np.ascontiguousarray(tall.reshape(groups * tall.shape[1] // 16, 16, c).swapaxes(1, 2))


def planes(bits: int, codes: Array, groups: int) -> list[Array]:
    unit = {8: 4, 6: 16, 4: 8, 3: 32, 2: 16}[bits]
    wide = np.zeros((len(codes), -(-codes.shape[1] // unit) * unit), np.uint8)
    wide[:, : codes.shape[1]] = codes
    # [panel][step][4 of a byte's row][16] -> [panel][step][16][4]
    fours = spread(wide, groups)
    fours = fours.reshape(len(fours), wide.shape[1] // 4, 4, 16).swapaxes(2, 3)
    if bits == 8:
        return [fours.reshape(-1)]
    split = {6: (4, 2), 4: (4,), 3: (2, 1), 2: (2,)}[bits]
    found, below = [], 0
    for width in split:
        each = 8 // width  # fours of a row that share four bytes
        mask = np.uint8((1 << width) - 1)
        parts = [(fours[:, i::each] >> below & mask) << (width * i) for i in range(each)]
        found.append(np.asarray(sum(parts), np.uint8).reshape(-1))
        below += width
    return found
