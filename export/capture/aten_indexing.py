"""Translations of aten operators that write at places, choose by rank or compare, which torch.onnx lacks or has wrong.

Each has the meaning of PyTorch's own; as in `aten`, arguments are values of the graph being written, or Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
import torch

from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import ModelError

from .aten import (
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    counting,
    extent,
    floordiv,
    full_like,
    ints,
    op,
    rank,
    seen_from,
    widened,
)

INT16 = 5


def index(x: Any, indices: Sequence[Any]) -> Any:
    from onnxscript.function_libs.torch_lib.ops.core import aten_index

    return aten_index(x, [widened(i) for i in indices])


# --- writing -------------------------------------------------------------------------------------------------------------


def copy(x: Any, source: Any, non_blocking: bool = False) -> Any:
    """The source in the shape and dtype of `x`; torch.onnx gives it as it is."""
    if source.dtype != x.dtype:
        source = op.Cast(source, to=x.dtype.value)
    return op.Expand(source, op.Shape(x))


def diagonal_scatter(x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Element k of the source at (k, k + offset), or (k - offset, k), of two axes."""
    dim1, dim2 = dim1 % rank(x), dim2 % rank(x)
    perm = [*(a for a in range(rank(x)) if a not in (dim1, dim2)), dim1, dim2]
    rows, columns = counting(extent(x, dim1)), counting(extent(x, dim2))
    is_on = op.Equal(op.Sub(columns, op.Unsqueeze(rows, ints(1))), op.Constant(value_int=offset))
    behind = op.Pad(source, ints(*[0] * rank(source), *[0] * (rank(source) - 1), 1))
    place = op.Min(rows if offset >= 0 else columns, extent(source, -1))
    value = op.Unsqueeze(
        op.Gather(behind, place, axis=rank(source) - 1), ints(-1 if offset >= 0 else -2)
    )
    y = op.Where(is_on, op.CastLike(value, x), op.Transpose(x, perm=perm))
    return op.Transpose(y, perm=[perm.index(a) for a in range(rank(x))])


def as_strided_scatter(
    x: Any, source: Any, size: Sequence[Any], stride: Sequence[Any], offset: Any = None
) -> Any:
    if not all(isinstance(n, int) for n in (*size, *stride, offset or 0)):
        raise ModelError("as_strided that is written, of a dynamic size: give it a fixed one")
    places = np.full(tuple(size), offset or 0, np.int64)
    for axis, step in enumerate(stride):
        along = [-1 if a == axis else 1 for a in range(len(size))]
        places = places + np.arange(size[axis]).reshape(along) * step
    return put(x, op.Constant(value=ir.tensor(places.reshape(-1))), source)


def put(x: Any, places: Any, source: Any, accumulate: bool = False) -> Any:
    flat = (op.Reshape(t, ints(-1)) for t in (x, places, op.CastLike(source, x)))
    y = op.ScatterElements(*flat, axis=0, reduction="add" if accumulate else "none")
    return op.Reshape(y, op.Shape(x))


KINDS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}


def placed(
    x: Any, dim: int, index: Any, source: Any, write: Callable[[Any, Any, Any, int], Any]
) -> Any:
    """write(x, index, source, axis): of a number as a row of one, of a source that has more than the index without what it has more."""
    if rank(x) == 0:
        row, at, values = (op.Reshape(t, ints(-1)) for t in (x, index, source))
        return op.Squeeze(write(row, at, values, 0), ints(0))
    if index.shape is None or list(source.shape) != list(index.shape):
        source = op.Slice(source, ints(*[0] * rank(x)), op.Shape(index), ints(*range(rank(x))))
    return write(x, index, source, dim % rank(x))


def scatter_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    """torch.onnx takes a mean for no reduction, and the largest of infinities for a number."""

    def write(row: Any, at: Any, values: Any, axis: int) -> Any:
        return _scattered(row, at, values, axis, x.dtype, reduce, include_self)

    return placed(x, dim, index, source, write)


def _scattered(
    x: Any, index: Any, source: Any, axis: int, dtype: Any, reduce: str, include_self: bool
) -> Any:
    def at(t: Any, value: Any, how: str = "none") -> Any:
        return op.ScatterElements(t, index, value, axis=axis, reduction=how)

    def filled(value: Any) -> Any:
        return op.Expand(op.CastLike(value, x), op.Shape(index))

    one, zero = op.Constant(value_int=1), op.Constant(value_int=0)
    start = x
    if not include_self:
        start = at(x, filled(_neutral(dtype, reduce)))
    y = at(start, source, KINDS[reduce])
    if reduce != "mean":
        return y
    counts = op.Expand(op.CastLike(one, x), op.Shape(x))
    counts = counts if include_self else at(counts, filled(zero))
    counts = at(counts, filled(one), "add")
    return op.Div(y, counts) if dtype.is_floating_point() else floordiv(y, counts)


def _neutral(dtype: Any, reduce: str) -> Any:
    """What changes nothing."""
    if reduce in ("sum", "mean", "prod"):
        return op.Constant(value_int=int(reduce == "prod"))
    if dtype.is_floating_point():
        return op.Constant(value_float=-math.inf if reduce == "amax" else math.inf)
    row = next(d for d in DTYPES.values() if d.onnx == dtype.value)
    return op.Constant(value_int=row.least if reduce == "amax" else row.most)


def index_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    if rank(x):
        shape = [1] * rank(x)
        shape[dim] = -1
        index = op.Expand(op.Reshape(index, ints(*shape)), op.Shape(source))
    return scatter_reduce(x, dim, index, source, reduce, include_self)


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Element k of the new last axis from (k, k + offset), or (k - offset, k); torch.onnx sums products with 0 and 1."""
    dim1, dim2 = dim1 % rank(x), dim2 % rank(x)
    outer = [a for a in range(rank(x)) if a not in (dim1, dim2)]
    rows, columns = extent(x, dim1), extent(x, dim2)
    down, right = max(-offset, 0), max(offset, 0)
    length = op.Min(
        *(op.Sub(n, op.Constant(value_int=k)) for n, k in ((rows, down), (columns, right)))
    )
    length = op.Max(length, op.Constant(value_int=0))
    step = op.Add(columns, op.Constant(value_int=1))
    first = op.Add(op.Mul(op.Constant(value_int=down), columns), op.Constant(value_int=right))
    places = op.Add(op.Mul(counting(length), step), first)
    lead = [op.Shape(op.Transpose(x, perm=[*outer, dim1, dim2]), end=len(outer))] if outer else []
    flat = op.Concat(*lead, op.Reshape(op.Mul(rows, columns), ints(1)), axis=0)
    flat = op.Reshape(op.Transpose(x, perm=[*outer, dim1, dim2]), flat, allowzero=1)
    return op.Gather(flat, places, axis=len(outer))


def histc(x: Any, bins: int = 100, low: float = 0, high: float = 0) -> Any:
    """How many elements lie in each of `bins` equal parts of low .. high, of the least to the greatest where these are equal."""
    flat = op.Reshape(x, ints(-1))
    least, most = full_like(x, low), full_like(x, high)
    if low == high:
        if not all(isinstance(n, int) for n in x.shape) or 0 in x.shape:
            raise ModelError("histc without a range, of a size that may be 0: give min and max")
        one = full_like(x, 1)
        least, most = (reduce(flat, keepdims=0) for reduce in (op.ReduceMin, op.ReduceMax))
        same = op.Equal(least, most)
        both = (
            op.Where(same, wide(end, one), end) for wide, end in ((op.Sub, least), (op.Add, most))
        )
        least, most = both
    place = op.Div(op.Mul(op.Sub(flat, least), full_like(x, bins)), op.Sub(most, least))
    place = op.Min(op.Floor(place), full_like(x, bins - 1))
    is_inside = op.And(op.GreaterOrEqual(flat, least), op.LessOrEqual(flat, most))
    number = op.CastLike(counting(op.Constant(value_int=bins)), x)
    is_there = op.And(
        op.Equal(op.Unsqueeze(place, ints(0)), op.Unsqueeze(number, ints(1))), is_inside
    )
    return op.ReduceSum(op.CastLike(is_there, x), ints(1), keepdims=0)


# --- choosing ------------------------------------------------------------------------------------------------------------


def nonzero(x: Any) -> Any:
    """[found, axes]: of a number 0 axes, where ONNX counts one."""
    found = op.Transpose(op.NonZero(x), perm=[1, 0])
    return found if rank(x) else op.Slice(found, ints(0), ints(0), ints(1))


def masked_select(x: Any, mask: Any) -> Any:
    wide, where = op.Expand(x, op.Shape(mask)), op.Expand(mask, op.Shape(x))
    return op.Compress(op.Reshape(wide, ints(-1)), op.Reshape(where, ints(-1)), axis=0)


def median(x: Any) -> Any:
    return _middle(op.Reshape(x, ints(-1)), 0, x.dtype.is_floating_point(), False)[0]


def nanmedian(x: Any) -> Any:
    return _middle(op.Reshape(x, ints(-1)), 0, x.dtype.is_floating_point(), True)[0]


def median_dim(x: Any, dim: int, keepdim: bool = False) -> Any:
    return _median_dim(x, dim, keepdim, False)


def nanmedian_dim(x: Any, dim: int, keepdim: bool = False) -> Any:
    return _median_dim(x, dim, keepdim, True)


def _median_dim(x: Any, dim: int, keepdim: bool, skips_nan: bool) -> Any:
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)
    axis = dim % rank(x)
    both = _middle(x, axis, x.dtype.is_floating_point(), skips_nan)
    return tuple(op.Unsqueeze(t, ints(axis)) for t in both) if keepdim else both


def _middle(x: Any, axis: int, floats: bool, skips_nan: bool) -> tuple[Any, Any]:
    """The lower of the two in the middle and its place; a NaN, which sorts last, where there is one and it counts."""
    size = op.Shape(x, start=axis, end=axis + 1)
    values, places = op.TopK(x, size, axis=axis, largest=False, sorted=True)
    one, two = op.Constant(value_int=1), op.Constant(value_int=2)
    count = op.Squeeze(size)
    if floats and skips_nan:
        kept = op.Cast(op.Not(op.IsNaN(x)), to=INT64)
        count = op.ReduceSum(kept, ints(axis), keepdims=1)
        at = op.Max(op.Div(op.Sub(count, one), two), op.Constant(value_int=0))
        found = (op.GatherElements(t, at, axis=axis) for t in (values, places))
        value, place = (op.Squeeze(t, ints(axis)) for t in found)
        return value, place
    at = op.Div(op.Sub(count, one), two)
    value, place = (op.Gather(t, at, axis=axis) for t in (values, places))
    if not floats:
        return value, place
    last, last_place = (op.Gather(t, op.Sub(count, one), axis=axis) for t in (values, places))
    is_nan = op.IsNaN(last)
    return op.Where(is_nan, last, value), op.Where(is_nan, last_place, place)


# --- reducing and comparing ----------------------------------------------------------------------------------------------


def amax(x: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    return _extreme(op.ReduceMax, x, dim, keepdim)


def amin(x: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    return _extreme(op.ReduceMin, x, dim, keepdim)


def aminmax(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    axes = () if dim is None else (dim,)
    return amin(x, axes, keepdim), amax(x, axes, keepdim)


def _extreme(reduce: Any, x: Any, dim: Sequence[int], keepdim: bool) -> Any:
    """Of all axes where none is named; torch.onnx wants one."""
    if rank(x) == 0:
        return op.Identity(x)
    axes = [dim] if isinstance(dim, int) else list(dim)
    wide = op.Cast(x, to=INT32) if x.dtype.value == INT16 else x
    y = reduce(wide, *([ints(*axes)] if axes else []), keepdims=int(keepdim))
    return op.CastLike(y, x)


def cumprod(x: Any, dim: int, dtype: Any = None) -> Any:
    """Every element beside every place, as in `aten.cummax`: ONNX has the operator from opset 26 on."""
    given = x.dtype.value if x.dtype.is_floating_point() else INT64
    to = int(dtype) if dtype is not None and int(dtype) > 0 else given

    # PyTorch multiplies floats in f64: in f32 the order would show where a part of the product is beyond its range.
    inner = INT64 if to == INT64 else DOUBLE

    def product(row: Any, seen: Any) -> Any:
        wide = op.Cast(row, to=inner)
        y = op.ReduceProd(op.Where(seen, wide, full_like(wide, 1)), ints(-1), keepdims=0)
        return op.Cast(y, to=to)

    return seen_from(x, dim, product) if rank(x) else op.Cast(x, to=to)


def to_whole(operator: str) -> Any:
    """Integers are whole; ONNX rounds floats alone."""
    return lambda x: (getattr(op, operator) if x.dtype.is_floating_point() else op.Identity)(x)


def fmax(a: Any, b: Any) -> Any:
    return _ignoring_nan(op.Max, a, b)


def fmin(a: Any, b: Any) -> Any:
    return _ignoring_nan(op.Min, a, b)


def _ignoring_nan(choose: Any, a: Any, b: Any) -> Any:
    if not a.dtype.is_floating_point():
        return choose(a, b)
    return op.Where(op.IsNaN(a), b, op.Where(op.IsNaN(b), a, choose(a, b)))


def signbit(x: Any) -> Any:
    """Of -0 too; of NaN as if it had none."""
    zero = full_like(x, 0)
    if not x.dtype.is_floating_point():
        return op.Less(x, zero)
    under = op.Less(op.Div(full_like(x, 1), x), zero)
    return op.Or(op.Less(x, zero), op.And(op.Equal(x, zero), under))


def copysign(x: Any, sign: Any) -> Any:
    size = op.Abs(x if x.dtype.is_floating_point() else op.Cast(x, to=FLOAT))
    if isinstance(sign, (int, float)):
        return op.Neg(size) if math.copysign(1.0, sign) < 0 else op.Identity(size)
    return op.Where(signbit(sign), op.Neg(size), size)


def hypot(a: Any, b: Any) -> Any:
    """By the larger of the two, so that no square overflows; of an infinity and NaN an infinity, as C has it."""
    a, b = op.Abs(a), op.Abs(b)
    most, least = op.Max(a, b), op.Min(a, b)
    share = op.Div(least, most)
    whole = op.Mul(most, op.Sqrt(op.Add(full_like(most, 1), op.Mul(share, share))))
    endless = full_like(most, math.inf)
    is_endless = op.Or(op.Equal(a, endless), op.Equal(b, endless))
    finite = op.Where(op.Equal(most, full_like(most, 0)), most, whole)
    return op.Where(is_endless, endless, finite)


def cdist(a: Any, b: Any, p: float, mode: Any = None) -> Any:
    """Distances of all rows of `a` from all of `b`."""
    return distance(op.Sub(op.Unsqueeze(a, ints(-2)), op.Unsqueeze(b, ints(-3))), p)


def distance(difference: Any, p: float) -> Any:
    """The p-norm along the last axis."""
    apart, last = op.Abs(difference), ints(-1)
    if p == 0:
        there = op.CastLike(op.Not(op.Equal(apart, full_like(apart, 0))), apart)
        return op.ReduceSum(op.Where(op.IsNaN(apart), apart, there), last, keepdims=0)
    if p == 1:
        return op.ReduceSum(apart, last, keepdims=0)
    if p == 2:
        return op.ReduceL2(apart, last, keepdims=0)
    if p == math.inf:
        return op.ReduceMax(apart, last, keepdims=0)
    total = op.ReduceSum(op.Pow(apart, full_like(apart, p)), last, keepdims=0)
    return op.Pow(total, full_like(apart, 1 / p))


def window(make: Any) -> Any:
    """torch's own numbers: ONNX's windows have other coefficients."""

    def constant(length: Any, *shape: Any, dtype: Any = None, **options: Any) -> Any:
        if not isinstance(length, int):
            raise ModelError(f"{make.__name__} of a dynamic length: give it a fixed one")
        y = make(length, *shape).to(torch.float32)
        return op.Cast(
            op.Constant(value=ir.tensor(y.numpy())), to=FLOAT if dtype is None else int(dtype)
        )

    return constant


# --- joining and sampling ------------------------------------------------------------------------------------------------


def hstack(parts: Sequence[Any]) -> Any:
    axis = 1 if rank(parts[0]) > 1 else 0
    return op.Concat(*(op.Reshape(x, ints(-1)) if rank(x) == 0 else x for x in parts), axis=axis)


def vstack(parts: Sequence[Any]) -> Any:
    return op.Concat(*(op.Reshape(x, ints(1, -1)) if rank(x) < 2 else x for x in parts), axis=0)


def dstack(parts: Sequence[Any]) -> Any:
    thick = [
        op.Reshape(x, ints(1, -1, 1)) if rank(x) < 2 else op.Unsqueeze(x, ints(-1)) if rank(x) == 2 else x
        for x in parts
    ]  # fmt: skip
    return op.Concat(*thick, axis=2)


def grid_sampler_3d(x: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    return op.GridSample(
        x,
        grid,
        mode=("linear", "nearest", "cubic")[mode],
        padding_mode=("zeros", "border", "reflection")[padding],
        align_corners=int(align_corners),
    )
