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


def encode(
    name: str, w: F32, block: int, scale: type[np.generic]
) -> tuple[NDArray[np.uint8], NDArray[Any]] | None:
    """Codes [n, k] and scales [n, k // block] of a weight [n, k] in the storage format `name`, other threads running on.

    None: there is no C encoder, or it refuses the weight; then NumPy encodes it, or says what is wrong.
    """
    row = getattr(lib, f"pte_codec_{name}", None)
    if row is None:
        return None
    n, k = w.shape
    dense = np.ascontiguousarray(w, np.float32)
    codes, scales = np.empty((n, k), np.uint8), np.empty((n, k // block), scale)
    if row.scale_bytes != scales.itemsize or row.block not in (0, block):
        raise TypeError(f"codec {name}: blocks of {row.block} and {row.scale_bytes} bytes a scale")
    done = row.encode(
        ffi.from_buffer("float[]", dense.reshape(-1)),
        scales.size,
        block,
        ffi.from_buffer("uint8_t[]", codes.reshape(-1)),
        ffi.from_buffer("char[]", scales.reshape(-1).view(np.uint8)),
    )
    return (codes, scales) if done == 0 else None
