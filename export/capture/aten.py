"""Translations of aten operators that torch.onnx lacks, or has wrong, each with the meaning of PyTorch's own decomposition.

Imported only while a program is converted. Arguments are values of the graph being written, or Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from onnxscript.values import Opset

from pteron.schema.errors import ModelError

op: Final[Any] = Opset("", 24)
FLOAT, INT32, INT64, BOOL, DOUBLE = 1, 6, 7, 9, 11
INFINITE: Final = 2**63 - 1


def ints(*numbers: int) -> Any:
    return op.Constant(value_ints=list(numbers))


def number(x: Any) -> Any:
    """A Python integer as a scalar, a value as it is."""
    return op.Constant(value_int=x) if isinstance(x, int) else x


def rank(x: Any) -> int:
    return len(x.shape)


def extent(x: Any, axis: int) -> Any:
    """A scalar: the size of an axis."""
    axis %= rank(x)
    return op.Squeeze(op.Shape(x, start=axis, end=axis + 1))


def counting(end: Any) -> Any:
    """0, 1 .. end - 1."""
    return op.Range(op.Constant(value_int=0), end, op.Constant(value_int=1))


def reached(count: Any, bounds: Any) -> Any:
    """Of 0, 1 .. count - 1, how many of the bounds, which ascend, each has come to."""
    is_past = op.GreaterOrEqual(op.Unsqueeze(counting(count), ints(1)), bounds)
    return op.ReduceSum(op.Cast(is_past, to=INT64), ints(1), keepdims=0)


def full_like(x: Any, value: float) -> Any:
    """A scalar of the dtype of `x`, where that is known to be f64 with all of its digits."""
    if x.dtype is not None and x.dtype.value == DOUBLE:
        return op.Constant(value=ir.tensor(np.array(value, np.float64)))
    return op.CastLike(op.Constant(value_float=float(value)), x)


def floordiv(a: Any, b: Any) -> Any:
    """Of sizes, towards minus infinity; torch.onnx writes Div, which rounds towards zero."""
    a, b = number(a), number(b)
    return op.Div(op.Sub(a, op.Mod(a, b)), b)


def rsub(x: Any, other: Any, alpha: Any = 1) -> Any:
    """other - alpha x. torch.onnx decomposes it into a difference with a number in front, for which it finds no types."""
    if isinstance(other, float) and not x.dtype.is_floating_point():
        x = op.Cast(x, to=FLOAT)
    if alpha != 1:
        x = op.Mul(x, op.CastLike(op.Constant(value=ir.tensor(alpha)), x))
    if isinstance(other, (int, float)):
        other = op.CastLike(op.Constant(value=ir.tensor(other)), x)
    return op.Sub(other, x)


def conv3d(x: Any, weight: Any, bias: Any = None, *how: Any, **named: Any) -> Any:
    """torch.onnx writes a bias [channels, 2] where there is none."""
    from onnxscript.function_libs.torch_lib.ops.core import aten_conv3d as known

    if bias is None:
        bias = op.Expand(full_like(x, 0), op.Shape(weight, start=0, end=1))
    return known(x, weight, bias, *how, **named)


# --- attention -----------------------------------------------------------------------------------------------------------


def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """One Attention where the operator means the same: four axes, no broadcast; else written out."""
    if dropout_p:
        raise ModelError(
            f"attention with dropout_p={dropout_p:g} gives random results; pass 0.0 outside of training"
        )
    if not _is_plain(q, k, v, mask, enable_gqa):
        return _written_out(q, k, v, mask, is_causal, scale, enable_gqa)
    y, *_ = op.Attention(q, k, v, attn_mask=mask, scale=scale, is_causal=is_causal)
    return y


def _is_plain(q: Any, k: Any, v: Any, mask: Any, grouped: bool) -> bool:
    if not rank(q) == rank(k) == rank(v) == 4:
        return False
    if not q.shape[0] == k.shape[0] == v.shape[0] or k.shape[1] != v.shape[1]:
        return False
    if not grouped and q.shape[1] != k.shape[1]:
        return False
    if mask is None:
        return True
    if rank(mask) > 4 or (mask.shape[-1] == 1 and k.shape[2] != 1):
        return False
    return rank(mask) < 4 or mask.shape[0] in (1, q.shape[0])


def _written_out(
    q: Any, k: Any, v: Any, mask: Any, is_causal: bool, scale: float | None, grouped: bool
) -> Any:
    if grouped:
        k, v = _repeated_heads(k, q), _repeated_heads(v, q)
    if scale is None:
        if not isinstance(q.shape[-1], int):
            raise ModelError("attention over a head size that is dynamic: pass scale=")
        scale = 1.0 / math.sqrt(q.shape[-1])
    perm = [*range(rank(k) - 2), rank(k) - 1, rank(k) - 2]
    scores = op.Mul(op.MatMul(q, op.Transpose(k, perm=perm)), full_like(q, scale))
    if is_causal:
        rows, columns = (counting(extent(x, -2)) for x in (q, k))
        mask = op.GreaterOrEqual(op.Unsqueeze(rows, ints(1)), op.Unsqueeze(columns, ints(0)))
    if mask is None:
        return op.MatMul(op.Softmax(scores, axis=-1), v)
    if is_causal or mask.dtype.value == BOOL:
        scores = op.Where(mask, scores, full_like(q, -math.inf))
    else:
        scores = op.Add(scores, mask)
    weights = op.Softmax(scores, axis=-1)
    return op.MatMul(op.Where(op.IsNaN(weights), full_like(q, 0), weights), v)


def _repeated_heads(x: Any, q: Any) -> Any:
    """[.., heads of x, tokens, size] as [.., heads of q, tokens, size], each head beside its copies."""
    have, want = x.shape[-3], q.shape[-3]
    if have == want or not (isinstance(have, int) and isinstance(want, int)):
        return x
    apart = op.Unsqueeze(x, ints(rank(x) - 2))
    wide = [*[1] * (rank(x) - 2), want // have, 1, 1]
    tail = op.Shape(x, start=rank(x) - 2)
    lead = [op.Shape(x, end=rank(x) - 3)] if rank(x) > 3 else []
    return op.Reshape(op.Expand(apart, ints(*wide)), op.Concat(*lead, ints(want), tail, axis=0))


# --- moving --------------------------------------------------------------------------------------------------------------


def roll(x: Any, shifts: Any, dims: Sequence[int] = ()) -> Any:
    """Element i comes from i - shift, around the end: slices where the size is known, else a gather."""
    if rank(x) == 0:
        return op.Identity(x)
    sizes = list(x.shape)
    if not dims:
        count = math.prod(sizes) if all(isinstance(n, int) for n in sizes) else None
        return op.Reshape(_rolled(op.Reshape(x, ints(-1)), shifts[0], 0, count), op.Shape(x))
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(x, shift, dim % len(sizes), sizes[dim])
    return x


def _rolled(x: Any, shift: Any, axis: int, size: Any) -> Any:
    if not (isinstance(size, int) and isinstance(shift, int)):
        whole = op.Squeeze(op.Shape(x, start=axis, end=axis + 1))
        places = op.Mod(op.Sub(counting(whole), number(shift)), whole)
        return op.Gather(x, places, axis=axis)
    if not size or not shift % size:
        return op.Identity(x)
    at = size - shift % size
    tail = op.Slice(x, ints(at), ints(INFINITE), ints(axis))
    return op.Concat(tail, op.Slice(x, ints(0), ints(at), ints(axis)), axis=axis)


def split_with_sizes(x: Any, sizes: Sequence[Any], dim: int = 0) -> Any:
    """A sequence where the sizes are numbers, which a pass makes a Split; slices where data decides them."""
    axis = dim % rank(x)
    if all(isinstance(n, int) for n in sizes):
        return op.SplitToSequence(x, ints(*sizes), axis=dim)
    parts, start = [], op.Constant(value_int=0)
    for size in sizes:
        end = op.Add(start, number(size))
        both = (op.Unsqueeze(at, ints(0)) for at in (start, end))
        parts.append(op.Slice(x, *both, ints(axis)))
        start = end
    return parts


def repeat_interleave(repeats: Any, output_size: Any = None) -> Any:
    """Index i as often as repeats[i] says: how many runs have ended at each place."""
    counts = op.Cast(repeats, to=INT64)
    if output_size is None:
        output_size = op.ReduceSum(counts, keepdims=0)
    ends = op.CumSum(counts, op.Constant(value_int=0))
    place = op.Unsqueeze(counting(number(output_size)), ints(1))
    past = op.Cast(op.GreaterOrEqual(place, op.Unsqueeze(ends, ints(0))), to=INT64)
    return op.Cast(op.ReduceSum(past, ints(1), keepdims=0), to=repeats.dtype.value)


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """Where the mask holds, the next element of the source: nothing that data decides has a size here."""
    mask = op.Expand(mask, op.Shape(x))
    return op.Where(mask, _in_order(mask, op.Reshape(source, ints(-1)), 1), x)


def _in_order(mask: Any, rows: Any, axes: int) -> Any:
    """rows[how many of `mask` hold before here], in the mask's shape; a row of zeros stands behind the last."""
    flat = op.Cast(op.Reshape(mask, ints(-1)), to=INT64)
    place = op.Sub(op.CumSum(flat, op.Constant(value_int=0)), op.Constant(value_int=1))
    place = op.Max(place, op.Constant(value_int=0))
    place = op.Min(place, op.Squeeze(op.Shape(rows, start=0, end=1)))
    behind = op.Pad(rows, ints(*[0] * axes, 1, *[0] * (axes - 1)))
    return op.Gather(behind, op.Reshape(place, op.Shape(mask)), axis=0)


def widened(index: Any) -> Any:
    """Places of int32 in int64: torch.onnx takes all for such, and joins the two in one Concat."""
    if index is None or index.dtype.value != INT32:
        return index
    wide = op.Cast(index, to=INT64)
    wide.dtype, wide.shape = ir.DataType(INT64), index.shape
    return wide


def index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """By one mask over the first axes: a choice. By numbers: as torch.onnx has it."""
    mask = indices[0]
    by_mask = mask is not None and mask.dtype.value == BOOL
    if (
        not by_mask
        or any(i is not None for i in indices[1:])
        or rank(values) > rank(x) - rank(mask) + 1
    ):
        from onnxscript.function_libs.torch_lib.ops.core import aten_index_put

        return aten_index_put(x, [widened(i) for i in indices], values, accumulate)
    rest = rank(x) - rank(mask)
    if rank(values) == rest + 1 and values.shape[0] != 1:
        values = _in_order(mask, values, rest + 1)
    mask = op.Unsqueeze(mask, ints(*range(rank(mask), rank(x)))) if rest else mask
    values = op.CastLike(values, x)
    return op.Where(mask, op.Add(x, values) if accumulate else values, x)


def topk(x: Any, k: Any, dim: int = -1, largest: bool = True, is_sorted: bool = True) -> Any:
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)
    count = op.Reshape(number(k), ints(-1))
    return op.TopK(x, count, axis=dim, largest=largest, sorted=is_sorted)


def sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    """All of the axis in order; of equals, TopK has the first in front, as a stable sort does."""
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)
    dim %= rank(x)
    by = op.Cast(x, to=INT32) if x.dtype.value == BOOL else x
    values, places = op.TopK(by, op.Shape(x, start=dim, end=dim + 1), axis=dim, largest=descending)
    return op.CastLike(values, x), places


def stable_sort(x: Any, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(x, dim, descending)


def squeeze(x: Any, dims: Any = None) -> Any:
    """Only axes that have one element in the trace: a dynamic one is longer there, and checked to be."""
    axes = range(rank(x)) if dims is None else [dims] if isinstance(dims, int) else dims
    ones = [axis for axis in axes if rank(x) and x.shape[axis] == 1]
    return op.Squeeze(x, ints(*ones)) if ones else op.Identity(x)


def rms_norm(x: Any, shape: Sequence[Any], weight: Any = None, eps: float | None = None) -> Any:
    """torch.onnx makes a gain of the whole shape of `x` where there is none."""
    if weight is None:
        sizes = [op.Reshape(number(n), ints(1)) for n in shape]
        weight = op.Expand(full_like(x, 1), op.Concat(*sizes, axis=0))
    if eps is None:
        eps = EPSILON.get(x.dtype.name, 2.220446049250313e-16)
    return op.RMSNormalization(x, weight, axis=-len(shape), epsilon=eps)


EPSILON: Final = {"FLOAT": 1.1920928955078125e-07, "FLOAT16": 0.0009765625, "BFLOAT16": 0.0078125}


# --- pools and losses ----------------------------------------------------------------------------------------------------


def avg_pool2d(
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Any:
    """torch.onnx drops the divisor. With one, the zeros around are written first, so that every window has its full size."""
    return _avg_pool(x, 2, kernel, stride, padding, ceil_mode, count_include_pad, divisor)


def avg_pool3d(
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Any:
    return _avg_pool(x, 3, kernel, stride, padding, ceil_mode, count_include_pad, divisor)


def _avg_pool(
    x: Any,
    axes: int,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Any:
    from onnxscript.function_libs.torch_lib.ops import nn

    if divisor is None:
        known = {2: nn.aten_avg_pool2d, 3: nn.aten_avg_pool3d}[axes]
        return known(x, kernel, stride, padding, ceil_mode, count_include_pad)
    kernel, padding = _each(kernel, axes), _each(padding, axes)
    stride = _each(stride, axes) if stride else kernel
    ends = list(padding)
    if ceil_mode:
        ends = [
            p + _overhang(n, k, s, p)
            for n, k, s, p in zip(x.shape[-axes:], kernel, stride, padding)
        ]
    outer = rank(x) - axes
    x = op.Pad(x, ints(*[0] * outer, *padding, *[0] * outer, *ends))
    if outer == 1:
        x = op.Unsqueeze(x, ints(0))
    y = op.AveragePool(x, kernel_shape=kernel, strides=stride, count_include_pad=1)
    y = op.Mul(y, full_like(x, math.prod(kernel) / divisor))
    return op.Squeeze(y, ints(0)) if outer == 1 else y


def _each(x: Any, axes: int) -> list[int]:
    return [x] * axes if isinstance(x, int) else list(x) * (axes if len(x) == 1 else 1)


def _overhang(n: Any, k: int, s: int, p: int) -> int:
    """Zeros behind the padding that the last window of ceil_mode needs; a window that starts in them is none."""
    if not isinstance(n, int):
        raise ModelError(
            "avg_pool with ceil_mode and divisor_override over a dynamic size: give it a fixed one"
        )
    count = -(-(n + 2 * p - k) // s) + 1
    if (count - 1) * s >= n + p:
        count -= 1
    return max(0, (count - 1) * s + k - n - 2 * p)


def adaptive_avg_pool3d(x: Any, output_size: Sequence[int]) -> Any:
    """The mean along each axis in turn: what lies in a window is gathered, zeros in place of what a longer one has more."""
    sizes, y = list(x.shape), x
    for axis, count in zip(range(len(sizes) - 3, len(sizes)), output_size, strict=True):
        windows = list(_windows(_fixed(sizes[axis]), count))
        longest = max(map(len, windows), default=1)
        each = [[w[min(k, len(w) - 1)] for k in range(longest)] for w in windows]
        places = np.array(each, np.int64).reshape(count, longest)
        y = op.Gather(y, op.Constant(value=ir.tensor(places)), axis=axis)
        lengths = np.array([len(w) for w in windows])
        along = (count, longest, *[1] * (len(sizes) - 1 - axis))
        is_more = np.broadcast_to(np.arange(longest) >= lengths[:, None], (count, longest))
        if is_more.any():
            mask = op.Constant(value=ir.tensor(np.ascontiguousarray(is_more).reshape(along)))
            y = op.Where(mask, full_like(x, 0), y)
        share = (1 / lengths).astype(np.float32).reshape(count, *along[2:])
        share = op.CastLike(op.Constant(value=ir.tensor(share)), x)
        y = op.Mul(op.ReduceSum(y, ints(axis + 1), keepdims=0), share)
    return y


def searchsorted(
    row: Any,
    x: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """How many elements of the row lie before each x."""
    if sorter is not None:
        row = op.GatherElements(row, sorter, axis=-1)
    if not hasattr(x, "dtype"):
        wide = full_like(row, x)
    else:
        wide = op.Unsqueeze(x, ints(-1))
        row = row if rank(row) == 1 else op.Unsqueeze(row, ints(-2))
    # So that all lies before a NaN.
    behind = op.Greater(row, wide) if right or side == "right" else op.GreaterOrEqual(row, wide)
    before = op.Not(behind)
    to = INT32 if out_int32 else INT64
    return op.ReduceSum(op.Cast(before, to=to), ints(-1), keepdims=0)


def bucketize(x: Any, row: Any, out_int32: bool = False, right: bool = False) -> Any:
    return searchsorted(row, x, out_int32, right)


def adaptive_max_pool(x: Any, output_size: Sequence[int]) -> Any:
    """Values and places: the elements of every window are gathered, its last repeated up to the length of the longest."""
    axes = len(output_size)
    sizes = [_fixed(n) for n in list(x.shape)[-axes:]]
    steps = [math.prod(sizes[i + 1 :]) for i in range(axes)]
    each = [list(_windows(n, count)) for n, count in zip(sizes, output_size, strict=True)]
    longest = [max(map(len, windows), default=1) for windows in each]
    shape = [*output_size, *longest]
    table = np.zeros(shape, np.int64)
    for i, windows in enumerate(each):
        places = np.array([[w[min(j, len(w) - 1)] for j in range(longest[i])] for w in windows])
        along = [1] * (2 * axes)
        along[i], along[axes + i] = places.shape
        table += places.reshape(along) * steps[i]
    length = math.prod(longest)
    lead = [op.Shape(x, end=rank(x) - axes)] if rank(x) > axes else []
    flat = op.Reshape(x, op.Concat(*lead, ints(-1), axis=0))
    every = op.Constant(value=ir.tensor(table.reshape(-1)))
    found = op.Gather(flat, every, axis=rank(x) - axes)
    found = op.Reshape(found, op.Concat(*lead, ints(-1, length), axis=0))
    best = op.ArgMax(found, axis=-1, keepdims=0)
    first = op.Constant(value=ir.tensor(np.arange(0, table.size, length, dtype=np.int64)))
    result = op.Concat(*lead, ints(*output_size), axis=0)
    place = op.Gather(every, op.Add(best, first))
    return op.Reshape(op.ReduceMax(found, ints(-1), keepdims=0), result), op.Reshape(place, result)


def cummax(x: Any, dim: int) -> Any:
    return _extreme(x, dim, op.ReduceMax)


def cummin(x: Any, dim: int) -> Any:
    return _extreme(x, dim, op.ReduceMin)


def _extreme(x: Any, dim: int, best: Any) -> Any:
    """Of equals the last; a NaN is further out than all."""
    if rank(x) == 0:
        return op.Identity(x), op.Constant(value_int=0)

    def values(row: Any, seen: Any) -> Any:
        first = op.Slice(row, ints(0), ints(1), ints(-1))  # which every place sees
        return best(op.Where(seen, row, first), ints(-1), keepdims=0)

    def places(row: Any, seen: Any) -> Any:
        found = op.Unsqueeze(values(row, seen), ints(-1))
        equal = op.Equal(row, found)
        if x.dtype.is_floating_point():
            equal = op.Or(equal, op.And(op.IsNaN(row), op.IsNaN(found)))
        equal = op.And(equal, seen)
        here = op.Where(equal, counting(extent(x, dim)), op.Constant(value_int=-1))
        return op.ReduceMax(here, ints(-1), keepdims=0)

    return seen_from(x, dim, values), seen_from(x, dim, places)


def seen_from(x: Any, dim: int, reduced: Any) -> Any:
    """What `reduced` makes of all elements up to each place: it gets every element beside every place, and which are seen."""
    dim %= rank(x)
    perm = [*range(rank(x))]
    perm[dim], perm[-1] = perm[-1], perm[dim]
    row = op.Unsqueeze(op.Transpose(x, perm=perm), ints(-2))
    here = counting(extent(x, dim))
    seen = op.LessOrEqual(here, op.Unsqueeze(here, ints(1)))
    return op.Transpose(reduced(row, seen), perm=perm)


def _windows(n: int, count: int) -> list[range]:
    """What each result of an adaptive pool reads: they overlap where `count` does not divide `n`."""
    return [range(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]


def _fixed(n: Any) -> int:
    if not isinstance(n, int):
        raise ModelError("an adaptive pool over a dynamic size: give it a fixed one")
    return n


def cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """torch.onnx takes classes alone, and no label_smoothing."""
    axis = 0 if rank(x) == 1 else 1
    logs = op.LogSoftmax(x, axis=axis)
    by_class = None
    if weight is not None:
        by_class = op.Unsqueeze(weight, ints(*range(1, rank(x) - axis))) if rank(x) > 2 else weight
    if target.dtype.is_floating_point():
        return _probable(x, logs, target, by_class, axis, reduction, label_smoothing)
    none = op.Constant(value_int=ignore_index)
    kept = op.Not(op.Equal(op.Cast(target, to=INT64), none))
    place = op.Unsqueeze(
        op.Where(kept, op.Cast(target, to=INT64), op.Constant(value_int=0)), ints(axis)
    )
    ones = op.Where(kept, full_like(x, 1), full_like(x, 0))
    # The weight of each target, 0 where it is ignored.
    share = (
        ones if weight is None else op.Mul(ones, op.Gather(weight, op.Squeeze(place, ints(axis))))
    )
    taken = op.Squeeze(op.GatherElements(logs, place, axis=axis), ints(axis))
    loss = op.Mul(op.Neg(taken), share)
    total = op.ReduceSum(share, keepdims=0)
    result = _reduced(loss, reduction, total)
    if not label_smoothing:
        return result
    spread = logs if by_class is None else op.Mul(logs, by_class)
    smooth = op.Mul(op.Neg(op.ReduceSum(spread, ints(axis), keepdims=0)), ones)
    smooth = _reduced(smooth, reduction, total)
    even = label_smoothing / x.shape[axis]
    return op.Add(
        op.Mul(result, full_like(x, 1 - label_smoothing)), op.Mul(smooth, full_like(x, even))
    )


def _probable(
    x: Any, logs: Any, target: Any, by_class: Any, axis: int, reduction: int, smoothing: float
) -> Any:
    if smoothing:
        target = op.Add(
            op.Mul(target, full_like(x, 1 - smoothing)), full_like(x, smoothing / x.shape[axis])
        )
    product = op.Mul(logs, target)
    if by_class is not None:
        product = op.Mul(product, by_class)
    loss = op.Neg(op.ReduceSum(product, ints(axis), keepdims=0))
    return _reduced(loss, reduction, op.CastLike(op.Size(loss), x))


def _reduced(loss: Any, reduction: int, total: Any) -> Any:
    if reduction == 0:
        return loss
    whole = op.ReduceSum(loss, keepdims=0)
    return op.Div(whole, total) if reduction == 1 else whole


def antialiased(mode: str) -> Any:
    """aten._upsample_*2d_aa; torch.onnx leaves out the scales, by which PyTorch places the filter."""

    def resize(
        x: Any, output_size: Any, align_corners: bool, scales_h: Any = None, scales_w: Any = None
    ) -> Any:
        if align_corners:
            raise ValueError(
                "interpolate(antialias=True, align_corners=True) has no form in ONNX; drop align_corners"
            )
        how = {
            "mode": mode,
            "antialias": 1,
            "exclude_outside": 1,
            "coordinate_transformation_mode": "half_pixel",  # for one element too: it is the mean
            "cubic_coeff_a": -0.5 if mode == "cubic" else -0.75,
        }
        if scales_h and scales_w:
            scales = op.Constant(value_floats=[1.0, 1.0, scales_h, scales_w])
            y = op.Resize(x, None, scales, **how)
            of_axes = zip(x.shape[2:], (scales_h, scales_w), output_size, strict=True)
            made = [(int(n * scale), size) for n, scale, size in of_axes if isinstance(n, int)]
            if any(count < size for count, size in made):
                raise ValueError(
                    f"antialiased resizing of {list(x.shape[2:])} by {scales_h}, {scales_w} to {list(output_size)}: "
                    "ONNX makes no more elements than the scales say; leave the scales out"
                )
            if all(count == size for count, size in made):
                return y
            return op.Slice(y, ints(0, 0), op.Cast(output_size, to=INT64), ints(2, 3))
        front = op.Shape(x, start=0, end=2)
        sizes = op.Concat(front, op.Cast(output_size, to=INT64), axis=0)
        return op.Resize(x, None, None, sizes, **how)

    return resize
