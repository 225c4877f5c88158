"""The formats that tests of encoders go through: each encoder in C once, and two groups more."""

from __future__ import annotations

from typing import Final

import numpy as np

from pteron.quantize.encode import codec, nested
from pteron.quantize.encode.format import BlockFormat, Encoded
from pteron.quantize.encode.table import FORMATS

_by_codec = {fmt.codec or fmt.stored: fmt for fmt in reversed(FORMATS.values()) if fmt.block <= 64}
ENCODERS: Final = tuple(
    {
        fmt.name: fmt
        for fmt in (*_by_codec.values(), FORMATS["int4-g16"], FORMATS["int3-asym-g64"])
    }.values()
)


def quick(w: np.ndarray, fmt: BlockFormat) -> Encoded | None:
    """By the C encoder, or None where it refuses."""
    with np.errstate(all="ignore"):
        outer = nested.outer_of(np.where(np.isfinite(w), w, 0), fmt)
    return codec.encode(w, fmt, fmt.block or max(w.shape[1], 1), outer)


def alike(got: Encoded, want: Encoded) -> None:
    """To the byte."""
    for one, other in zip(got.parts, want.parts, strict=True):
        np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))
