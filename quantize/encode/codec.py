"""The C encoders (runtime_c/codec, module pteron._codec), where they are built."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import nested
from .format import BlockFormat, Encoded

try:
    from pteron._codec import ffi, lib
except ImportError:
    ffi = lib = None

F32 = NDArray[np.float32]
Codes = NDArray[np.uint8]
Scales = NDArray[Any]


def encode(w: F32, fmt: BlockFormat, block: int, outer: F32 | None) -> Encoded | None:
    """Codes and scales of a weight [n, k], other threads running on; `outer` of its rows, where the format has that.

    None: there is no C encoder, or it refuses the weight; then NumPy encodes it, or says what is wrong.
    """
    n, k = w.shape
    row = _row(fmt, block)
    if row is None:
        return None
    codes, zeros = np.empty((n, k), np.uint8), None
    scales: Scales = np.empty((n, k // block), fmt.scale_type if outer is None else np.float32)
    if outer is not None:
        scales[...] = outer
    given = [
        _bytes("float", w),
        scales.size,
        block,
        _bytes("uint8_t", codes),
        _bytes("char", scales),
    ]
    if fmt.zero:
        zeros = np.empty(scales.shape, np.int8)
        done = row.encode_zero(*given, _bytes("int8_t", zeros))
    else:
        done = row.encode(*given)
    if done != 0:
        return None
    if outer is not None:
        scales = nested.inner_of(scales, outer)
    return Encoded(fmt, codes, scales, zeros, outer)


def search(
    made: Encoded,
    w: F32,
    scales: Scales,
    values: F32,
    offers: Scales,
    zeros: NDArray[np.int8] | None,
    refits: int,
    weight: F32 | None,
) -> bool:
    """Betters codes and zero points of a weight that is not empty, and `scales` [n, blocks], in place, other threads running on, by
    scales [c, n, blocks] that are offered, with `zeros` where the format has them.

    False: there is no C encoder, nothing is done. See `..search`, which this is to the bit.
    """
    n, k = w.shape
    block, codes = k // scales.shape[1], made.codes
    row = _row(made.format, block)
    if row is None:
        return False
    assert codes.flags.c_contiguous and scales.flags.c_contiguous and codes.shape == w.shape
    assert offers.shape == (len(offers), *scales.shape) and offers.dtype == scales.dtype
    assert (zeros is None) == (made.zero is None) and (zeros is None or zeros.shape == offers.shape)
    assert weight is None or weight.shape in ((1, k), (n, k))
    keep = [_bytes("float", values), _bytes("char", offers), _bytes("int8_t", zeros), _bytes("float", weight)]  # fmt: skip
    weights = 0 if weight is None else weight.size // block
    task = ffi.new("pte_search *", [*keep[:3], len(offers), refits, keep[3], weights])
    lib.pte_codec_search(
        row,
        task,
        _bytes("float", w),
        scales.size,
        block,
        _bytes("uint8_t", codes),
        _bytes("char", scales),
        _bytes("int8_t", made.zero),
    )
    return True


def _row(fmt: BlockFormat, block: int) -> Any:
    row = getattr(lib, f"pte_codec_{fmt.codec or fmt.stored}", None)
    if row is None:
        return None
    if row.block not in (0, block):
        raise TypeError(
            f"codec {fmt.codec or fmt.stored}: expected blocks of {row.block}, got {block}"
        )
    return ffi.addressof(row)


def _bytes(kind: str, array: NDArray[Any] | None) -> Any:
    """The memory of an array, which lives as long as this does; of a copy where it is not dense."""
    if array is None:
        return ffi.NULL
    dense = np.ascontiguousarray(array, np.float32 if kind == "float" else None)
    return ffi.from_buffer(f"{kind}[]", dense.reshape(-1).view(np.uint8))
