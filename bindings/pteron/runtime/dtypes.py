"""Element types by the runtime's numbers, which are the ids of schema/dtypes.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.schema.dtypes import BY_ID
from pteron.schema.extras import missing


def name_of(dtype: int) -> str:
    """The name a user reads: float32, bfloat16, int4 ..."""
    row = BY_ID.get(dtype)
    return row.word.rstrip("_") if row else f"dtype {dtype}"


def numpy_of(dtype: int) -> np.dtype[Any]:
    """The type of arrays that hold it; an element narrower than a byte lies in one.

    Raises:
        ModuleNotFoundError: it is one of ml_dtypes, which is not installed.
    """
    try:
        return BY_ID[dtype].numpy
    except ModuleNotFoundError:
        text = f"arrays of {name_of(dtype)}: {missing('ml_dtypes')}"
        raise ModuleNotFoundError(text, name="ml_dtypes") from None
