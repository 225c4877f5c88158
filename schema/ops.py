"""The runtime's operators: one decorated NumPy function each, which is the operator's meaning.

How to read a row: schema/row.py. What is not here is decomposed at export: transposes, slices, expands and squeezes
are strides on a value; concat and pad by a constant are copies into views; arithmetic is `pointwise`. An operator works
on its last axes, or on axis 0 where it gathers; lowering brings the wanted axis there by a view. Images are
channels-last ([b, *spatial, c]), which for ONNX's NCHW values is a view too.

f16 and bf16 values are widened by the pointwise cast in front and rounded once behind: kernels compute in f32.
Index inputs are i64. Float promises are against these functions evaluated in f64.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pteron.schema import boxes as boxes_kept
from pteron.schema import moving, narrow, sequence, windows
from pteron.schema.row import (
    I64,
    OPS,
    A,
    Array,
    Block,
    Bool,
    Dims,
    F,
    Floats,
    Ints,
    Op,
    Outs,
    Steps,
    T,
    Taps,
    W,
    op,
)
from pteron.schema.steps import epilogue, evaluate

__all__ = ["OPS", "Op"]

# --- element by element, and moving data ----------------------------------------------------------------------------


@op(id=1, since=1, shape="[*s]... -> [*s]...", strided="xs y", bound="its steps", inplace="xs")
def pointwise(*xs: A, steps: Steps, out: Outs = ()) -> tuple[A, ...]:
    """Runs one straight-line program over every element; operand j of the program is xs[j], expanded by strides."""
    return evaluate(steps, xs, out[0].shape if out else None)


@op(id=2, since=1, shape="[*s] -> [*s]", strided="x y")
def copy(x: T) -> T:
    """y = x, any strides to any strides; both may be views."""
    return x.copy()


@op(id=3, since=1, shape="-> [n]")
def dims(*, values: Dims) -> I64:
    """The given expressions as a tensor."""
    return np.asarray(values, np.int64)


@op(id=4, since=1, shape="[*s] -> [*o]")
def pad(x: T, *, begin: Dims, mode: Literal["reflect", "edge", "wrap"], out: Outs) -> T:
    """Extends x by itself; `begin` counts per axis may be negative (cropped first), the end follows from y's shape."""
    ends = [o - n - b for o, n, b in zip(out[0].shape, x.shape, begin)]
    crop = tuple(slice(max(0, -b), n + min(0, e)) for n, b, e in zip(x.shape, begin, ends))
    widths = [(max(0, b), max(0, e)) for b, e in zip(begin, ends)]
    return np.pad(x[crop], widths, mode) if x.ndim else x


@op(id=5, since=1, shape="[d, *r] [*i] -> [*i, *r]", strided="x")
def gather(x: T, index: I64) -> T:
    """y[i, r] = x[index[i], r]; negative indices count from the end; BAD_DATA where one is out of range."""
    return np.take(x, index, axis=0)


@op(id=6, since=1, shape="[n, k] [*i] -> [*i, k]")
def gather_rows(w: W, index: I64) -> F:
    """y[i] = decoded row index[i] of a packed weight: an embedding tied to a head is stored once."""
    return np.take(w, index, axis=0)


@op(id=7, since=1, shape="[*x] [*i] -> [*i]", strided="x index")
def gather_elements(x: T, index: I64) -> T:
    """y[i, r] = x[index[i, r], r]: along axis 0; the other extents of index are at most those of x."""
    return np.take_along_axis(
        x[tuple(slice(n) for n in (None, *index.shape[1:])[: x.ndim])], index, axis=0
    )


@op(
    id=8,
    since=1,
    shape="[*b#batch_dims, *x] [*b#batch_dims, *i, d] -> [*b#batch_dims, *i, *r]",
    strided="x",
)
def gather_nd(x: T, index: I64, *, batch_dims: int = 0) -> T:
    """y[b, i] = x[b, *index[b, i]]."""
    batches = np.indices(index.shape[:-1], sparse=True)[:batch_dims]
    y: Array = x[(*batches, *np.moveaxis(index, -1, 0))]
    return y


@op(id=9, since=1, shape="[*x] [*i] [*i] -> [*x]", strided="updates", inplace="x")
def scatter_elements(
    x: T, index: I64, updates: T, *, reduction: Literal["none", "add", "mul", "max", "min"] = "none"
) -> T:
    """y = x; then in row-major order of index: y[index[i, r], r] op= updates[i, r] (axis 0)."""
    return moving.scatter(x, (index, *np.indices(index.shape, sparse=True)[1:]), updates, reduction)


@op(id=10, since=1, shape="[*x] [*i, d] [*u] -> [*x]", strided="updates", inplace="x")
def scatter_nd(
    x: T, index: I64, updates: T, *, reduction: Literal["none", "add", "mul", "max", "min"] = "none"
) -> T:
    """y = x; then in row-major order of index: y[*index[i]] op= updates[i]."""
    return moving.scatter(x, tuple(np.moveaxis(index, -1, 0)), updates, reduction)


@op(
    id=11,
    since=1,
    shape="[b, *h, t, d] [b, *h, u, d] [b] -> [b, *h, t, d]",
    strided="update",
    inplace="cache",
)
def tensor_scatter(cache: T, update: T, start: I64 | None = None, *, circular: bool = False) -> T:
    """y = cache with y[b, :, start[b] + j] = update[b, :, j]; modulo t if circular, else BAD_DATA beyond t. In place on a
    state: nothing else is touched. ONNX TensorScatter with its axis brought to the last but one place."""
    y = cache.copy()
    for b in range(cache.shape[0]):
        at = (0 if start is None else int(start[b])) + np.arange(update.shape[-2])
        y[b][..., at % cache.shape[-2] if circular else at, :] = update[b]
    return y


@op(id=12, since=1, shape="[*s] -> [r, n]", counts=True)
def nonzero(x: A) -> I64:
    """Coordinates of the elements that are not zero, row-major; n is a counted dimension. A scalar gives [0, n]."""
    return np.argwhere(x).T.astype(np.int64)


@op(id=13, since=1, shape="[*s, n] -> [*s, k] [*s, k]", dtypes="f32 i64", strided="x")
def topk(x: F, *, largest: bool = True, out: Outs) -> tuple[F, I64]:
    """The k first of each row and where they stood, sorted; ties by lower index, NaN counts as largest."""
    nan = x != x
    order = np.lexsort(
        (np.where(nan, 0, ~x if x.dtype.kind == "i" else -x), ~nan) if largest else (x, nan),
        axis=-1,
    )
    index = order[..., : out[0].shape[-1]].astype(np.int64)
    return np.take_along_axis(x, index, -1), index


@op(
    id=14,
    since=1,
    shape="[*s, n] -> [*s, n]",
    dtypes="f32 f64 i64",
    strided="x",
    bound="2 K eps",
    inplace="x",
)
def cumulate(
    x: F, *, kind: Literal["sum", "prod"] = "sum", exclusive: bool = False, reverse: bool = False
) -> F:
    """Running sum or product along the last axis, sequential."""
    y = x[..., ::-1] if reverse else x
    y = np.cumsum(y, -1) if kind == "sum" else np.cumprod(y, -1)
    if exclusive:
        y = np.concatenate([np.full_like(y[..., :1], kind == "prod"), y[..., :-1]], -1)
    return y[..., ::-1] if reverse else y


# --- reductions and norms -------------------------------------------------------------------------------------------


@op(
    id=20,
    since=1,
    shape="[*s, *r#count] -> [*s]",
    dtypes="f32 f64 i64 bool",
    strided="x",
    bound="2 K eps",
)
def reduce(x: F, *, kind: Literal["sum", "mean", "max", "min", "prod"], count: int) -> F:
    """Over the last `count` axes, in 16 lanes and one tree (DESIGN section 4). Empty: 0, NaN, -inf, +inf, 1; the lowest and
    highest i64. max and min of bool are or and and; it has no other kind, and i64 no mean."""
    axes = tuple(range(x.ndim - count, x.ndim))
    if kind in ("max", "min"):
        highest = {"f": np.inf, "i": np.iinfo(np.int64).max, "b": True}[x.dtype.kind]
        lowest = {"f": -np.inf, "i": np.iinfo(np.int64).min, "b": False}[x.dtype.kind]
        return np.asarray(
            getattr(np, kind)(x, axis=axes, initial=lowest if kind == "max" else highest)
        )
    return np.asarray(getattr(np, kind)(x, axis=axes))


@op(id=21, since=1, shape="[*s, n] -> [*s]", dtypes="f32 i64", strided="x")
def arg_reduce(x: F, *, kind: Literal["max", "min"], last: bool = False) -> I64:
    """Index of the extreme of the last axis; the first of equals, or the last; a NaN is the extreme."""
    pick = np.argmax if kind == "max" else np.argmin
    if last:
        return np.asarray(x.shape[-1] - 1 - pick(x[..., ::-1], axis=-1))
    return np.asarray(pick(x, axis=-1))


@op(id=22, since=1, shape="[*s, n] -> [*s, n]", strided="x", bound="8 K eps", inplace="x")
def softmax(x: F, *, log: bool = False) -> F:
    """exp(x - max) / sum over the last axis; or its logarithm."""
    e = x - x.max(-1, keepdims=True, initial=-np.inf)
    total = np.exp(e).sum(-1, keepdims=True)
    return np.asarray(e - np.log(total) if log else np.exp(e) / total)


@op(
    id=23,
    since=1,
    shape="[*s, *r#count] [*r] [*r] -> [*s, *r] [*s] [*s]",
    bound="4 K eps",
    inplace="x",
)
def layer_norm(
    x: F, gain: F | None = None, bias: F | None = None, *, count: int, epsilon: float = 1e-5
) -> tuple[F, F | None, F | None]:
    """(x - mean) / sqrt(variance + epsilon) * gain + bias over the last `count` axes; mean and 1 / sqrt(...) on request.
    Two passes: the mean, then the mean of squared differences. Ba, Kiros and Hinton 2016."""
    axes = tuple(range(x.ndim - count, x.ndim))
    mean = x.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    y = (x - mean) * inverse
    y = y if gain is None else y * gain
    return y if bias is None else y + bias, mean.squeeze(axes), inverse.squeeze(axes)


@op(id=24, since=1, shape="[*s, *r#count] [*r] -> [*s, *r]", bound="4 K eps", inplace="x")
def rms_norm(x: F, gain: F | None = None, *, count: int, epsilon: float = 1e-5) -> F:
    """x / sqrt(mean(x^2) + epsilon) * gain over the last `count` axes. Zhang and Sennrich 2019."""
    axes = tuple(range(x.ndim - count, x.ndim))
    y = np.asarray(x / np.sqrt((x * x).mean(axes, keepdims=True) + epsilon))
    return y if gain is None else y * gain


# --- matrix work ----------------------------------------------------------------------------------------------------


@op(
    id=30,
    since=1,
    shape="[*m, k] [n, k] [n] [*m, n]... -> [*m, n]",
    strided="xs y",
    bound="2 K eps",
)
def matmul(x: F, w: W, bias: F | None = None, *xs: A, steps: Steps = ()) -> F:
    """y = x w^T + bias, each output a sequential fused sum over k from +0; then `steps`, whose operand 0 is y and
    operand 1 + j is xs[j]."""
    return epilogue(x @ w.T, bias, xs, steps)


@op(id=31, since=1, shape="[*b, m, k] [*b, k, n] -> [*b, m, n]", strided="a b", bound="2 K eps")
def batch_matmul(a: F, b: F) -> F:
    """y = a b for two computed operands; the same sums as matmul."""
    return a @ b


@op(id=32, since=1, shape="[n, k] -> [n, k]", strided="w")
def pack(w: F) -> W:
    """A weight computed at run time, brought into panels."""
    return w


@op(
    id=33,
    since=1,
    shape="[b, *i, c] [n, k] [n] [b, *o, n]... -> [b, *o, n]",
    strided="xs y",
    bound="2 K eps",
)
def conv(
    x: F,
    w: W,
    bias: F | None = None,
    *xs: A,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    spread: Ints,
    groups: int = 1,
    steps: Steps = (),
) -> F:
    """Cross-correlation over 1 to 3 spatial axes; w is [n, (*kernel, c / groups)], k = taps x c / groups. x is first
    spread by inserting spread - 1 zeros between elements (a transposed convolution is a conv with spread > 1), then
    padded by begin and end zeros. Zeros take part in the sum. The panels of each group are padded to 16 rows apart:
    row j of group g is packed row g * round_up(n / groups, 16) + j. Epilogue as in matmul."""
    y = windows.conv(x, w, kernel, stride, dilation, begin, end, spread, groups)
    return epilogue(y, bias, xs, steps)


@op(
    id=34,
    since=1,
    shape="[b, *i, c] [c, t] [c] [b, *o, c]... -> [b, *o, c]",
    strided="xs y",
    bound="2 K eps",
)
def conv_depthwise(
    x: F,
    w: Taps,
    bias: F | None = None,
    *xs: A,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    steps: Steps = (),
) -> F:
    """conv with groups = c and one output a group: the sum runs over the taps, row-major."""
    y = windows.conv(x, w, kernel, stride, dilation, begin, end, (1,) * len(kernel), x.shape[-1])
    return epilogue(y, bias, xs, steps)


@op(
    id=35,
    since=1,
    shape="[b, h, s, d] [b, g, t, d] [b, g, t, e] [b, h, s, t] [b] -> [b, s, h, e]",
    strided="q k v mask",
    bound="8 K eps",
)
def attention(
    q: F,
    k: F,
    v: F,
    mask: A | None = None,
    key_count: I64 | None = None,
    *,
    scale: float,
    causal: Literal["none", "top_left", "bottom_right"] = "none",
    softcap: float = 0.0,
    left_window: int = -1,
    right_window: int = -1,
) -> F:
    """softmax(cap(scale q k^T) + mask) v, query head i with key head i // (h / g). A bool mask is where to look, an f32
    mask is added. key_count[b] keys of batch b count, from the first. Query j stands at j (top_left) or j + keys - s
    (bottom_right, and for windows with key_count). A query that sees nothing gives 0. Key tiles of 64 at absolute positions,
    merged in order (DESIGN section 4): T x T is never stored. The heads of a query come out side by side, as the next product
    reads them. Milakov and Gimelshein 2018; Dao et al. 2022."""
    return sequence.attention(
        q, k, v, mask, key_count, scale, causal, softcap, left_window, right_window
    ).swapaxes(1, 2)


@op(
    id=36,
    since=1,
    shape="[t, b, m] [m, h] [b, h] [b, h] [p] [b] -> [t, b, h] [b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
)
def lstm(
    gates: F,
    w: W,
    hidden: F | None = None,
    cell: F | None = None,
    peephole: F | None = None,
    count: I64 | None = None,
    *,
    activations: Ints,
    clip: float = 0.0,
    input_forget: bool = False,
    reverse: bool = False,
) -> tuple[F, F | None, F | None]:
    """Recurrence over t of ONNX LSTM, one direction; gates = x W^T + biases (iofc, m = 4 h), w = R. count[b] steps of
    batch b are real, the rest of y is 0. activations: indices into ACTIVATIONS for f, g, h. Hochreiter 1997; Gers 2000."""
    return sequence.lstm(
        gates, w, hidden, cell, peephole, count, activations, clip, input_forget, reverse
    )


@op(
    id=37,
    since=1,
    shape="[t, b, m] [m, h] [m] [b, h] [b] -> [t, b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
)
def gru(
    gates: F,
    w: W,
    bias: F | None = None,
    hidden: F | None = None,
    count: I64 | None = None,
    *,
    activations: Ints,
    clip: float = 0.0,
    linear_before_reset: bool = False,
    reverse: bool = False,
) -> tuple[F, F | None]:
    """Recurrence over t of ONNX GRU, one direction; gates = x W^T + Wb (zrh, m = 3 h), w = R, bias = Rb. Cho et al. 2014."""
    return sequence.gru(
        gates, w, bias, hidden, count, activations, clip, linear_before_reset, reverse
    )


@op(
    id=38,
    since=1,
    shape="[t, b, h] [h, h] [b, h] [b] -> [t, b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
)
def rnn(
    gates: F,
    w: W,
    hidden: F | None = None,
    count: I64 | None = None,
    *,
    activations: Ints,
    clip: float = 0.0,
    reverse: bool = False,
) -> tuple[F, F | None]:
    """h = f(gates[t] + h R^T): ONNX RNN, one direction. Elman 1990."""
    return sequence.rnn(gates, w, hidden, count, activations, clip, reverse)


@op(id=39, since=1, shape="[*b, m, k] [*b, k, n] -> [*b, m, n]", dtypes="i64", strided="a b")
def matmul_integer(a: F, b: F) -> F:
    """y = a b in i64 with wrap-around; narrower integers are widened and wrapped by the pointwise casts around it."""
    return a @ b


@op(id=45, since=1, shape="[*m, k] [n, k] [n] [*m, n]... -> [*m, n]", strided="xs", bound="2 K eps")
def matmul_int8(x: F, w: W, bias: F | None = None, *xs: A, steps: Steps = ()) -> F:
    """y = q(x) w^T + bias for w in i8_channel, i4, nf4, mxfp4, mxfp6; steps as in matmul; q: narrow.eight_codes, blocks of 32.
    w = t * factor * w_scale: t is code, code - 8, 2 value (factor 1/2), 8 value (1/8); of nf4 2 round(63.5 (level + 1)) - 127
    (f32(1/127)). Block by block acc = fma(f32(exact sum of x_code * t), (x_scale * factor) * w_scale, acc) from +0."""
    return epilogue(narrow.eights(x) @ w.T, bias, xs, steps)


# --- windows and images, channels last ------------------------------------------------------------------------------


@op(id=40, since=1, shape="[b, *i, c] -> [b, *o, c] [b, *o, c]", dtypes="f32 f64 i64")
def max_pool(
    x: F,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    channel_major: bool = True,
    column_major: bool = False,
    out: Outs,
) -> tuple[F, I64 | None]:
    """Maximum of each window (padding never wins), and its flat index in ONNX's [b, c, *i] numbering; column_major: the
    spatial axes in reverse; not channel_major: in [b, *i, c]. The end padding follows from y's shape. The first of equals;
    a NaN wins. A window without elements gives the lowest value and index -1."""
    spatial = out[0].shape[1:-1]
    return windows.max_pool(
        x, spatial, kernel, stride, dilation, begin, channel_major, column_major
    )


@op(id=41, since=1, shape="[b, *i, c] -> [b, *o, c]", bound="2 K eps")
def average_pool(
    x: F,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    count_padding: bool = False,
    out: Outs,
) -> F:
    """Mean of each window, summed sequentially in row-major order. Divisor: elements inside x, or, counting padding, inside
    x padded by begin and end."""
    spatial = out[0].shape[1:-1]
    return windows.average_pool(x, spatial, kernel, stride, dilation, begin, end, count_padding)


@op(id=42, since=1, shape="[b, *i, c] -> [b, *o, c]", bound="16 eps")
def resize(
    x: F,
    *,
    scales: Floats = (),
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_crop_and_resize",
    ] = "half_pixel",
    nearest: Literal[
        "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"
    ] = "round_prefer_floor",
    cubic: float = -0.75,
    exclude_outside: bool = False,
    antialias: bool = False,
    extrapolation: float = 0.0,
    region: Floats = (),
    out: Outs,
) -> F:
    """ONNX Resize over the spatial axes, separable, one axis after the other from the last. scales: one a spatial axis, or
    empty: o / i. region: starts then ends, for tf_crop_and_resize. Keys 1981."""
    return windows.resize(
        x,
        out[0].shape[1:-1],
        region,
        scales,
        mode=mode,
        coordinates=coordinates,
        nearest=nearest,
        cubic=cubic,
        exclude_outside=exclude_outside,
        antialias=antialias,
        extrapolation=extrapolation,
    )


@op(id=43, since=1, shape="[b, *i, c] [b, *o, r] -> [b, *o, c]", bound="16 eps")
def grid_sample(
    x: F,
    grid: F,
    *,
    mode: Literal["linear", "nearest", "cubic"] = "linear",
    padding: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool = False,
) -> F:
    """ONNX GridSample; grid[..., 0] runs along the last spatial axis. Jaderberg et al. 2015."""
    return windows.grid_sample(x, grid, mode, padding, align_corners)


@op(id=44, since=1, shape="[b, n, 4] [b, c, n] [] [] [] -> [m, r]", counts=True)
def non_max_suppression(
    boxes: F,
    scores: F,
    limit: I64 | None = None,
    overlap: F | None = None,
    threshold: F | None = None,
    *,
    center: bool = False,
) -> I64:
    """Rows (batch, class, box): of each batch and class the best by score above `threshold`, then the next best whose
    intersection over union with each kept one is at most `overlap`, until `limit` are kept; ties by lower index. m is a
    counted dimension, r = 3. Boxes are two corners (y, x, y, x), or with `center` (x, y, width, height). Absent: limit 0,
    overlap 0, threshold -inf. Arithmetic in f32. Neubeck and Van Gool 2006."""
    return boxes_kept.non_max_suppression(boxes, scores, limit, overlap, threshold, center)


# --- control and delegates: run by the session, not by a kernel -----------------------------------------------------


@op(id=60, since=1, shape="[] -> [*]...")
def if_(condition: Bool, *, then_block: Block, else_block: Block) -> tuple[A, ...]:
    """Runs one block; its results become the outputs. A counted axis of an output takes the result's extent."""
    raise NotImplementedError


@op(id=61, since=1, shape="[] [] [*]... -> [*]...")
def loop(
    trips: I64 | None = None, condition: Bool | None = None, *carried: A, body: Block
) -> tuple[A, ...]:
    """ONNX Loop. The body's params are (iteration i64, carried ...), its results (go on, carried ..., rows ...); a row is
    written to row `iteration` of its output, whose axis 0 is a counted dimension or exactly the trips. The body's results
    are values of their own, never params. LIMIT beyond the caps on iterations or the capacity."""
    raise NotImplementedError


@op(id=62, since=1, shape="[*]... -> [*]...")
def call(*xs: A, body: Block) -> tuple[A, ...]:
    """Runs a block with params bound to xs, results bound to the outputs, without copies: a repeated layer is one block."""
    raise NotImplementedError


@op(id=63, since=1, shape="[*]... -> [*]...")
def delegate(*xs: A, index: int) -> tuple[A, ...]:
    """Hands xs to entry `index` of the program's delegates."""
    raise NotImplementedError


# --- stored formats -------------------------------------------------------------------------------------------------


@op(id=70, since=1, shape="[*s] -> [*s]")
def unpack(x: A, *, out: Outs) -> A:
    """Elements narrower than a byte, or of an 8-bit float type, as i64 or f32: what the code means, no scales."""
    return x.astype({"i64": np.int64, "f32": np.float32}[out[0].dtype])


@op(id=71, since=1, shape="[*s] -> [*s]")
def repack(x: A, *, saturate: bool = True, out: Outs) -> A:
    """i64 or f32 to elements narrower than a byte, or of an 8-bit float type; to nearest, ties to even."""
    return narrow.repack(x, out[0].dtype, saturate)
