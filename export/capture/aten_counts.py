"""Translations of aten operators that count, join or cut by data, which torch.onnx lacks or has in part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from pteron.schema.errors import ModelError

from .aten import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    counting,
    extent,
    full_like,
    ints,
    number,
    op,
    rank,
)
from .aten_indexing import placed
from .aten_integers import whole

KINDS: Final = {"add": "add", "multiply": "mul"}


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on stands in `x`, or the sum of its weights."""
    places = op.Cast(x, to=INT64)
    one = op.Constant(value_ints=[1])
    most = op.ReduceMax(
        op.Concat(places, op.Constant(value_ints=[-1]), axis=0), ints(0), keepdims=1
    )
    size = op.Max(op.Add(most, one), op.Constant(value_ints=[minlength]))
    kind = INT64 if weights is None else FLOAT if weights.dtype.value == FLOAT else DOUBLE
    zero = op.Cast(op.Constant(value_int=0), to=kind)
    values = op.Expand(op.Cast(op.Constant(value_int=1), to=kind), op.Shape(places))
    if weights is not None:
        values = op.Cast(weights, to=kind)
    return op.ScatterElements(op.Expand(zero, size), places, values, axis=0, reduction="add")


def nonzero_static(x: Any, *, size: Any, fill_value: int = -1) -> Any:
    """The first `size` places of what is not 0, filled up."""
    found = op.Transpose(op.NonZero(x), perm=[1, 0])
    count = op.Reshape(number(size), ints(1))
    behind = op.Concat(count, op.Shape(found, start=1, end=2), axis=0)
    filled = op.Concat(found, op.Expand(op.Constant(value_int=fill_value), behind), axis=0)
    return op.Slice(filled, ints(0), count, ints(0))


def resize(x: Any, size: Any, memory_format: Any = None) -> Any:
    """The first elements in another shape; memory behind the last holds what it held."""
    sizes = [*size, *x.shape]
    if not all(isinstance(n, int) for n in sizes) or math.prod(size) > math.prod(x.shape):
        raise ModelError(
            f"resize of {list(x.shape)} to {list(size)}: expected no more elements than there are: the others would be memory that "
            "nothing wrote; make a new tensor"
        )
    flat = op.Slice(op.Reshape(x, ints(-1)), ints(0), ints(math.prod(size)), ints(0))
    return op.Reshape(flat, ints(*size), allowzero=1)


def scatter(x: Any, dim: int, index: Any, source: Any, *, reduce: str | None = None) -> Any:
    """`source` in the places of `index`; with `reduce` sums or products where one stands several times."""
    if not hasattr(source, "dtype"):
        source = op.Expand(full_like(x, source), op.Shape(index))
        source.shape = index.shape

    def write(row: Any, at: Any, values: Any, axis: int) -> Any:
        if reduce is None:
            return op.ScatterElements(row, at, values, axis=axis)
        wide = op.Cast(row, to=INT32) if x.dtype.value == BOOL else row
        y = op.ScatterElements(
            wide, at, op.CastLike(values, wide), axis=axis, reduction=KINDS[reduce]
        )
        return op.Cast(y, to=x.dtype.value)

    return placed(x, dim, index, source, write)


def scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    return scatter(x, dim, index, source, reduce="add")


def trunc(x: Any) -> Any:
    """Towards zero; integers are whole."""
    if not x.dtype.is_floating_point():
        return op.Identity(x)
    return whole(x)


def unique_consecutive(
    x: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Each run of equal elements, or of equal slices along an axis, once; where each went; how long the runs are."""
    if dim is not None and rank(x) != 1:
        return _runs_along(x, dim)
    flat = op.Reshape(x, ints(-1))
    begins, inverse, counts = _runs(_unlike_last(flat, x.dtype.value), op.Size(flat))
    return op.Compress(flat, begins, axis=0), op.Reshape(inverse, op.Shape(x)), counts


def _runs_along(x: Any, dim: int) -> tuple[Any, Any, Any]:
    axis = dim % rank(x)
    size = extent(x, axis)
    perm = [axis, *(a for a in range(rank(x)) if a != axis)]
    rows = op.Reshape(
        op.Transpose(x, perm=perm), op.Concat(op.Reshape(size, ints(1)), ints(-1), axis=0)
    )
    unlike = op.Cast(_unlike_last(rows, x.dtype.value), to=INT64)
    differs = op.Cast(op.ReduceMax(unlike, ints(1), keepdims=0), to=BOOL)
    begins, inverse, counts = _runs(differs, size)
    return op.Compress(x, begins, axis=axis), inverse, counts


def _unlike_last(x: Any, dtype: int) -> Any:
    """Which elements differ from those before them along the first axis."""
    by = op.Cast(x, to=INT64) if dtype == BOOL else x
    none = ints(0)
    return op.Not(
        op.Equal(op.Slice(by, ints(1), ints(2**63 - 1), none), op.Slice(by, none, ints(-1), none))
    )


def _runs(differs: Any, size: Any) -> tuple[Any, Any, Any]:
    """Where runs begin, which one each of `size` places is in, and their lengths, by which places differ from those before them."""
    none = ints(0)
    first = op.Equal(op.Slice(counting(size), none, ints(1), none), none)
    begins = op.Concat(first, differs, axis=0)
    place = op.Compress(counting(size), begins, axis=0)
    ends = op.Concat(
        op.Slice(place, ints(1), ints(2**63 - 1), none), op.Reshape(size, ints(1)), axis=0
    )
    count = op.CumSum(op.Cast(begins, to=INT64), op.Constant(value_int=0))
    return begins, op.Sub(count, op.Constant(value_int=1)), op.Sub(ends, place)


TRANSLATED: Final[dict[str, Callable[..., Any]]] = {
    "bincount.default": bincount, "nonzero_static.default": nonzero_static, "resize.default": resize,
    "scatter.src": scatter, "scatter.value": scatter, "scatter_add.default": scatter_add,
    "scatter.reduce": scatter, "scatter.value_reduce": scatter, "trunc.default": trunc,
}  # fmt: skip


UNIT_AXES: Final = {
    1: ((0,),),
    2: ((0, 1), (0,)),
    3: ((0, 1, 2), (0, 2), (2,)),
}
"""Axes of one element that a tensor of rank 0, 1, 2 gets to have so many."""


def at_least(wanted: int) -> Callable[..., Any]:
    """torch.atleast_1d, 2d and 3d of several tensors, for which torch.onnx maps over a sequence."""

    def each(tensors: Sequence[Any]) -> list[Any]:
        axes = UNIT_AXES[wanted]
        return [
            op.Unsqueeze(x, ints(*axes[rank(x)])) if rank(x) < wanted else op.Identity(x)
            for x in tensors
        ]

    return each
