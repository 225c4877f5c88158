"""Translations of aten operators with numbers: torch.onnx writes every one as f32, which rounds those of f64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from .aten import BOOL, DOUBLE, FLOAT, INT64, ints, number, op


def constant(value: Any, dtype: int) -> Any:
    """A scalar of an ONNX dtype: of a Python number with all digits that this has."""
    if isinstance(value, (bool, int, float)):
        wide = np.float64 if isinstance(value, float) else np.int64
        value = op.Constant(value=ir.tensor(np.array(value, wide)))
        if dtype == (DOUBLE if wide is np.float64 else INT64):
            return value
    return op.Cast(value, to=dtype)


def _kind(value: Any) -> int:
    """What PyTorch makes of a number that no dtype is told for."""
    if isinstance(value, bool):
        return BOOL
    return INT64 if isinstance(value, int) else FLOAT


def _shape(size: Any) -> Any:
    """A list of sizes, known or not, as a tensor."""
    if not isinstance(size, (list, tuple)):
        return op.Cast(size, to=INT64)
    if all(isinstance(n, int) for n in size):
        return ints(*size) if size else op.Constant(value=ir.tensor(np.array([], np.int64)))
    return op.Concat(*(op.Reshape(op.Cast(number(n), to=INT64), ints(1)) for n in size), axis=0)


def scalar_tensor(s: Any, dtype: int = -1, **options: Any) -> Any:
    return constant(s, FLOAT if dtype in (-1, None) else dtype)


def full(size: Sequence[Any], fill_value: Any, dtype: int = -1, **options: Any) -> Any:
    kind = _kind(fill_value) if dtype in (-1, None) else dtype
    return op.Expand(constant(fill_value, kind), _shape(size))


def full_like(x: Any, fill_value: Any, dtype: int = -1, **options: Any) -> Any:
    kind = x.dtype.value if dtype in (-1, None) else dtype
    return op.Expand(constant(fill_value, kind), op.Shape(x))


def new_full(x: Any, size: Sequence[Any], fill_value: Any, dtype: int = -1, **options: Any) -> Any:
    kind = x.dtype.value if dtype in (-1, None) else dtype
    return op.Expand(constant(fill_value, kind), _shape(size))


def fill(x: Any, value: Any) -> Any:
    return op.Expand(constant(value, x.dtype.value), op.Shape(x))
