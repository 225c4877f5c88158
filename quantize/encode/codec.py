"""The C encoders (runtime_c/codec, module pteron._codec), where they are built."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from pteron._codec import ffi, lib
except ImportError:
    ffi = lib = None

F32 = NDArray[np.float32]
Codes = NDArray[np.uint8]
Scales = NDArray[Any]


def encode(name: str, w: F32, block: int, scale: type[np.generic]) -> tuple[Codes, Scales] | None:
    """Codes [n, k] and scales [n, k // block] of a weight [n, k] in the storage format `name`, other threads running on.

    None: there is no C encoder, or it refuses the weight; then NumPy encodes it, or says what is wrong.
    """
    n, k = w.shape
    codes, scales = np.empty((n, k), np.uint8), np.empty((n, k // block), scale)
    row = _row(name, block, scales.itemsize)
    if row is None:
        return None
    done = row.encode(
        _bytes("float", w), scales.size, block, _bytes("uint8_t", codes), _bytes("char", scales)
    )
    return (codes, scales) if done == 0 else None


def search(
    name: str,
    w: F32,
    codes: Codes,
    scales: Scales,
    values: F32,
    offers: Scales,
    refits: int,
    weight: F32 | None,
) -> bool:
    """Betters codes [n, k] and scales [n, blocks] of a weight that is not empty, in place, other threads running on, by scales [c, n, blocks] that are offered.

    False: there is no C encoder, nothing is done. See `..search`, which this is to the bit.
    """
    n, k = w.shape
    block = k // scales.shape[1]
    row = _row(name, block, scales.itemsize)
    if row is None:
        return False
    assert codes.flags.c_contiguous and scales.flags.c_contiguous and codes.shape == w.shape
    assert offers.shape == (len(offers), *scales.shape) and offers.dtype == scales.dtype
    assert weight is None or weight.shape in ((1, k), (n, k))
    keep = [_bytes("float", values), _bytes("char", offers), _bytes("float", weight)]
    weights = 0 if weight is None else weight.size // block
    task = ffi.new("pte_search *", [keep[0], keep[1], len(offers), refits, keep[2], weights])
    lib.pte_codec_search(
        row,
        task,
        _bytes("float", w),
        scales.size,
        block,
        _bytes("uint8_t", codes),
        _bytes("char", scales),
    )
    return True


def _row(name: str, block: int, scale_bytes: int) -> Any:
    row = getattr(lib, f"pte_codec_{name}", None)
    if row is None:
        return None
    if row.scale_bytes != scale_bytes or row.block not in (0, block):
        raise TypeError(f"codec {name}: blocks of {row.block} and {row.scale_bytes} bytes a scale")
    return ffi.addressof(row)


def _bytes(kind: str, array: NDArray[Any] | None) -> Any:
    """The memory of an array, which lives as long as this does; of a copy where it is not dense."""
    if array is None:
        return ffi.NULL
    dense = np.ascontiguousarray(array, np.float32 if kind == "float" else None)
    return ffi.from_buffer(f"{kind}[]", dense.reshape(-1).view(np.uint8))
