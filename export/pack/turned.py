"""Weights of matmul_turned: rows turned as activations are, divided by 64, rounded to 8 bits a row.

    y = x w^T = turn(x) (turn(w) / 64)^T

Turning spreads a large element over 64, so that one scale does for a row, of weights and of activations. What is turned
are float weights: codes that another rounding left would be rounded twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.formats import FORMATS
from pteron.schema.meaning.narrow import TURN, turn

from ..graph.weights import BAND_BYTES, Elements, later
from . import codes

FORMAT: Final = "i8_channel"
MOST_DEPTH: Final = 1 << 17
"""K of matmul_turned, at most."""


def fits(shape: tuple[int, ...]) -> bool:
    """Whether a weight [n, k] is large enough: zeros fill k up to a multiple of 64."""
    return TURN <= shape[1] <= MOST_DEPTH


def weight(
    view: Callable[[], NDArray[Any]], shape: tuple[int, int]
) -> tuple[tuple[int, int], Elements]:
    """Shape and bytes of the turned weight of `view`, [n, k]."""
    n, k = shape
    wide, tall = -(-k // TURN) * TURN, -(-n // codes.ROWS) * codes.ROWS
    return (n, wide), later((tall * (wide + 4),), np.uint8, lambda: rounded(view()))


def rounded(w: NDArray[Any]) -> NDArray[Any]:
    """The weight [n, k] turned, as the bytes of a constant."""
    n, wide = len(w), -(-w.shape[1] // TURN) * TURN
    made, scales = np.empty((n, wide), np.int8), np.empty((n, 1), np.float32)
    step = max(BAND_BYTES // (8 * wide), 1)
    for begin in range(0, n, step):
        rows = turn(w[begin : begin + step].astype(np.float64)) / TURN
        scale = (np.abs(rows).max(1, keepdims=True, initial=0.0) / 127).astype(np.float32)
        scale[scale == 0] = 1
        made[begin : begin + step] = np.clip(np.rint(rows / scale), -127, 127).astype(np.int8)
        scales[begin : begin + step] = scale
    return codes.pack(FORMATS[FORMAT], made.view(np.uint8), scales)
