"""Translations of aten's quotients, remainders and truth values, which torch.onnx has wrong: integers by way of f32, floors of
rounded quotients, the any of nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import onnx_ir as ir
import torch

from pteron.schema.dtypes import DTYPES

from .aten import BOOL, INT32, INT64, full_like, ints, op, rank
from .aten_loops import anywhere, loop_while

UINT64 = 13


def div_mode(x: Any, other: Any, rounding_mode: str | None = None) -> Any:
    """Exact for integers; torch.onnx divides them as f32. Of floats as PyTorch: floor(1 / 0.1) is 9."""
    kind = common(x, other)
    if rounding_mode is None and not kind.is_floating_point:
        kind = torch.float32
    a, b = (of(value, kind) for value in (x, other))
    if rounding_mode is None:
        return op.Div(a, b)
    if kind.is_floating_point:
        return _floor_of_floats(a, b) if rounding_mode == "floor" else whole(op.Div(a, b))
    quotient = op.Div(a, b)
    if rounding_mode == "trunc" or not kind.is_signed:
        return quotient
    zero = full_like(a, 0)
    is_part = op.Not(op.Equal(op.Mod(a, b), zero))
    is_below = op.Xor(op.Less(a, zero), op.Less(b, zero))
    return op.Sub(quotient, op.CastLike(op.And(is_part, is_below), a))


def floor_divide(x: Any, other: Any) -> Any:
    return div_mode(x, other, "floor")


def whole(x: Any) -> Any:
    """Towards zero."""
    return op.Where(op.Less(x, full_like(x, 0)), op.Ceil(x), op.Floor(x))


def remainder(x: Any, other: Any) -> Any:
    """With the divisor's sign; of floats exact, where torch.onnx subtracts a rounded product."""
    kind = common(x, other)
    a, b = (of(value, kind) for value in (x, other))
    if not kind.is_floating_point:
        return op.Mod(a, b)
    part, is_other_side = _part(a, b)
    return op.Where(is_other_side, op.Add(part, b), part)


def _part(a: Any, b: Any) -> tuple[Any, Any]:
    """fmod, and where it lies on the other side of 0 than the divisor."""
    zero = full_like(a, 0)
    part = op.Mod(a, b, fmod=1)
    is_other_side = op.Xor(op.Less(b, zero), op.Less(part, zero))
    return part, op.And(op.Not(op.Equal(part, zero)), is_other_side)


def _floor_of_floats(a: Any, b: Any) -> Any:
    """c10::div_floor_floating."""
    one, half = full_like(a, 1), full_like(a, 0.5)
    part, is_other_side = _part(a, b)
    quotient = op.Div(op.Sub(a, part), b)
    quotient = op.Where(is_other_side, op.Sub(quotient, one), quotient)
    floor = op.Floor(quotient)
    floor = op.Where(op.Greater(op.Sub(quotient, floor), half), op.Add(floor, one), floor)
    return op.Where(op.Equal(b, full_like(a, 0)), op.Div(a, b), floor)


def common(*values: Any) -> Any:
    """The type that PyTorch promotes these to: tensors with axes, then those without, then numbers."""
    found = [
        torch.empty([1] * rank(v) if rank(v) else [], dtype=_kind(v)) if hasattr(v, "dtype") else v
        for v in values
    ]
    return torch.result_type(*found)


def _kind(x: Any) -> Any:
    row = next(d for d in DTYPES.values() if d.onnx == x.dtype.value)
    return getattr(torch, row.word.rstrip("_"))  # NumPy's bool_


def of(x: Any, kind: Any) -> Any:
    row = next(d for d in DTYPES.values() if d.word.rstrip("_") == str(kind).rpartition(".")[2])
    if not hasattr(x, "dtype"):
        x = op.Constant(value=ir.tensor(x))
    return op.Cast(x, to=row.onnx)


def promoted(function: Any) -> Any:
    """`function` over f32; its result in the float type that PyTorch promotes the values to."""

    def translated(*values: Any) -> Any:
        kind = common(*values)
        y = function(*(of(v, torch.float32) for v in values))
        return of(y, kind) if kind.is_floating_point and kind != torch.float32 else y

    return translated


def gcd(x: Any, other: Any) -> Any:
    """Euclid's, until all are done."""
    kind = common(x, other)
    b, a = (op.Abs(of(value, kind)) for value in (x, other))
    zero, one = full_like(a, 0), full_like(a, 1)
    nothing = op.Sub(op.Add(a, b), op.Add(a, b))  # of the shape of both
    a, b = op.Add(a, nothing), op.Add(b, nothing)

    def step(i: Any, a: Any, b: Any) -> Any:
        is_done = op.Equal(b, zero)
        rest = op.Where(is_done, zero, op.Mod(a, op.Where(is_done, one, b), fmod=1))
        goes_on = anywhere(op.Not(op.Equal(rest, zero)))
        return goes_on, op.Where(is_done, a, b), rest

    row = next(d for d in DTYPES.values() if d.word == str(kind).rpartition(".")[2])
    longest = op.Constant(value_int=100)  # of neighbours in Fibonacci's sequence
    return loop_while(longest, (a, b), step, (row.onnx, row.onnx))[0]


def every(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Also where there is none."""
    return _every(op.Cast(x, to=BOOL), rank(x), dim, keepdim)


def some(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Not where there is none: of no integers ONNX's greatest is the least of the type, which is true."""
    return op.Not(_every(op.Not(op.Cast(x, to=BOOL)), rank(x), dim, keepdim))


def _every(is_set: Any, count: int, dim: int | Sequence[int] | None, keepdim: bool) -> Any:
    axes = [dim] if isinstance(dim, int) else list(dim or ())
    if count == 0:
        return is_set
    least = op.ReduceMin(op.Cast(is_set, to=INT32), ints(*axes) if axes else None, keepdims=keepdim)
    return op.Cast(least, to=BOOL)


def sign(x: Any) -> Any:
    """0 of NaN."""
    y = op.Sign(x)
    if not x.dtype.is_floating_point():
        return y
    return op.Where(op.IsNaN(x), full_like(x, 0), y)


def neg(x: Any) -> Any:
    """Unsigned integers wrap, for which ONNX has no Neg."""
    if x.dtype.name.startswith("UINT"):
        return op.Sub(full_like(x, 0), x)
    return op.Neg(x)


def shift_right(x: Any, by: Any) -> Any:
    """Signed ones keep their sign. torch.onnx gives i8 for u8."""
    kind = common(x, by)
    x, by = of(x, kind), op.Cast(of(by, kind), to=INT64)
    by = op.Cast(op.Min(by, op.Constant(value_int=63)), to=UINT64)
    wide = op.Cast(x, to=INT64)
    is_below = op.Less(wide, op.Constant(value_int=0))
    bits = op.Cast(op.Where(is_below, op.BitwiseNot(wide), wide), to=UINT64)
    y = op.Cast(op.BitShift(bits, by, direction="RIGHT"), to=INT64)
    return op.CastLike(op.Where(is_below, op.BitwiseNot(y), y), x)


def shift_left(x: Any, by: Any) -> Any:
    kind = common(x, by)
    x, by = of(x, kind), of(by, kind)
    bits = torch.iinfo(kind).bits
    low = op.Cast(op.Min(by, full_like(by, bits - 1)), to=UINT64)
    y = op.BitShift(op.Cast(op.Cast(x, to=INT64), to=UINT64), low, direction="LEFT")
    y = op.CastLike(op.Cast(y, to=INT64), x)
    return op.Where(op.Less(by, full_like(by, bits)), y, op.Sub(y, y))


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest, and a place of it."""
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)
    results = op.TopK(x, ints(k), axis=dim, largest=0, sorted=1)
    taken = [op.Slice(r, ints(k - 1), ints(k), ints(dim)) for r in results]
    return tuple(taken if keepdim else (op.Squeeze(r, ints(dim)) for r in taken))


def softmax(operator: str) -> Any:
    """In the dtype that is asked for: torch.onnx casts what was computed in that of `x`."""

    def translated(x: Any, dim: int, dtype: Any = None) -> Any:
        flat = rank(x) == 0
        is_same = dtype is None or int(dtype) < 1 or int(dtype) == x.dtype.value
        wide = x if is_same else op.Cast(x, to=int(dtype))
        if flat:
            wide = op.Unsqueeze(wide, ints(0))
        y = getattr(op, operator)(wide, axis=dim)
        return op.Squeeze(y, ints(0)) if flat else y

    return translated


def of_floats(operator: str) -> Any:
    """Of integers, for which ONNX has it not: no number is NaN or infinite."""

    def translated(x: Any) -> Any:
        return getattr(op, operator)(x) if x.dtype.is_floating_point() else op.Not(op.Equal(x, x))

    return translated


def isfinite(x: Any) -> Any:
    if not x.dtype.is_floating_point():
        return op.Equal(x, x)
    return op.Not(op.Or(op.IsInf(x), op.IsNaN(x)))


def angle(x: Any) -> Any:
    """pi of what is below 0."""
    wide = x if x.dtype.is_floating_point() else op.Cast(x, to=1)
    zero = full_like(wide, 0)
    y = op.Where(op.Less(wide, zero), full_like(wide, math.pi), zero)
    return op.Where(op.IsNaN(wide), wide, y)
