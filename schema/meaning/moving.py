"""What the operators that move elements mean, in NumPy."""

from __future__ import annotations

import numpy as np

from ..dtypes import DTYPES
from ..row import Array


def scatter(x: Array, at: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """x with updates met at the places `at`, one after the other."""
    y = x.copy()
    if reduction == "none":
        y[at] = updates
    else:
        {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction].at(
            y, at, updates
        )
    return y


def with_bits(x: Array, dtype: str) -> Array:
    """The same bits as elements of another type; an array of wider elements stands for itself."""
    kind = DTYPES[dtype].numpy
    return np.ascontiguousarray(x).view(kind) if kind.itemsize == x.dtype.itemsize else x
