"""Operators that work element by element or move data. How to read a row: schema/row.py."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .meaning import moving
from .row import I64, A, Array, Dims, F, Outs, T, W, op

BYTES = "bits(x) % 8 == 0"
"""Elements narrower than a byte are unpacked first."""

COMBINES = """
    bits(x) % 8 == 0;
    reduction == none or dtype(x) in (bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64)
"""
"""kernels/moving/combine.c has these."""


@op(id=2, since=1, shape="[*s] -> [*s]", strided="x y")
def copy(x: T) -> T:
    """y = x, any strides to any strides; both may be views."""
    return x.copy()


@op(
    id=72,
    since=1,
    shape="[*s] -> [*o]",
    where=f"{BYTES}; bits(y) == bits(x); dtype(y) != bool or dtype(x) == bool",
)
def reshape(x: A, *, out: Outs) -> A:
    """The elements of x in row-major order, in another shape; BAD_DATA where it has room for more or fewer. Sizes that the plan
    knows need none: a view does. Their bits may be those of another type (ONNX BitCast), but not of bool, which has two values."""
    return moving.with_bits(x, out[0].dtype).reshape(out[0].shape)


@op(id=3, since=1, shape="-> [n]", where="len(values) == n")
def dims(*, values: Dims) -> I64:
    """The given expressions as a tensor."""
    return np.asarray(values, np.int64)


@op(
    id=4,
    since=1,
    shape="[*s] -> [*o]",
    where=f"""
        {BYTES}; len(o) == len(s); len(begin) == len(s); -(2**62) <= begin <= 2**62;
        min(s, o - begin) - max(0, -begin) >= min(o, 1)
    """,
)
def pad(x: T, *, begin: Dims, mode: Literal["reflect", "edge", "wrap"], out: Outs) -> T:
    """Extends x by itself; `begin` counts per axis may be negative (cropped first), the end follows from y's shape."""
    ends = [o - n - b for o, n, b in zip(out[0].shape, x.shape, begin)]
    crop = tuple(slice(max(0, -b), n + min(0, e)) for n, b, e in zip(x.shape, begin, ends))
    widths = [(max(0, b), max(0, e)) for b, e in zip(begin, ends)]
    return np.pad(x[crop], widths, mode) if x.ndim else x


@op(id=5, since=1, shape="[d, *r] [*i] -> [*i, *r]", strided="x", where=BYTES)
def gather(x: T, index: I64) -> T:
    """y[i, r] = x[index[i], r]; negative indices count from the end; BAD_DATA where one is out of range."""
    return np.take(x, index, axis=0)


@op(id=6, since=1, shape="[n, k] [*i] -> [*i, k]", where="dtype(w) == f32; groups(w) == 1")
def gather_rows(w: W, index: I64) -> F:
    """y[i] = decoded row index[i] of a packed weight: an embedding tied to a head is stored once."""
    return np.take(w, index, axis=0)


@op(
    id=7,
    since=1,
    shape="[*x] [*i] -> [*i]",
    strided="x index",
    where=f"{BYTES}; len(x) >= 1; len(i) == len(x); i[1:] <= x[1:]",
)
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
    where=f"{BYTES}; r == x[d:]",
)
def gather_nd(x: T, index: I64, *, batch_dims: int = 0) -> T:
    """y[b, i] = x[b, *index[b, i]]."""
    batches = np.indices(index.shape[:-1], sparse=True)[:batch_dims]
    y: Array = x[(*batches, *np.moveaxis(index, -1, 0))]
    return y


@op(
    id=9,
    since=1,
    shape="[*x] [*i] [*i] -> [*x]",
    strided="updates",
    inplace="x",
    where=f"len(x) >= 1; len(i) == len(x); i[1:] <= x[1:]; {COMBINES}",
)
def scatter_elements(
    x: T, index: I64, updates: T, *, reduction: Literal["none", "add", "mul", "max", "min"] = "none"
) -> T:
    """y = x; then in row-major order of index: y[index[i, r], r] op= updates[i, r] (axis 0)."""
    return moving.scatter(x, (index, *np.indices(index.shape, sparse=True)[1:]), updates, reduction)


@op(
    id=10,
    since=1,
    shape="[*x] [*i, d] [*u] -> [*x]",
    strided="updates",
    inplace="x",
    where=f"u[:len(i)] == i; u[len(i):] == x[d:]; {COMBINES}",
)
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
    where="bits(cache) % 8 == 0",
)
def tensor_scatter(cache: T, update: T, start: I64 | None = None, *, circular: bool = False) -> T:
    """y = cache with y[b, :, start[b] + j] = update[b, :, j]; modulo t if circular, else BAD_DATA beyond t. In place on a
    state: nothing else is touched. ONNX TensorScatter with its axis brought to the last but one place."""
    y = cache.copy()
    for b in range(cache.shape[0]):
        at = (0 if start is None else int(start[b])) + np.arange(update.shape[-2])
        y[b][..., at % cache.shape[-2] if circular else at, :] = update[b]
    return y


@op(
    id=73,
    since=1,
    shape="[b, g, p, d, 16] [b, g, u, d] [b] -> [b, g, p, d, 16]",
    strided="update",
    inplace="cache",
    where="bits(cache) % 8 == 0",
)
def panel_scatter(cache: T, update: T, start: I64, *, circular: bool = False) -> T:
    """y = cache with y[b, :, at // 16, :, at % 16] = update[b, :, j], at = start[b] + j; modulo 16 p if circular, else
    BAD_DATA beyond. In place on a state: nothing else is touched. The keys of a context as attention reads them, 16 side by side."""
    y = cache.copy()
    for b in range(cache.shape[0]):
        at = int(start[b]) + np.arange(update.shape[2])
        at = at % (16 * cache.shape[2]) if circular else at
        y[b][:, at // 16, :, at % 16] = update[b].swapaxes(0, 1)
    return y


@op(
    id=12,
    since=1,
    shape="[*s] -> [r, n]",
    counts="n",
    where=f"r == len(s); {BYTES}; dtype(x) != f8e8m0",
)
def nonzero(x: A) -> I64:
    """Coordinates of the elements that are not zero, row-major; n is a counted dimension. A scalar gives [0, n]."""
    return np.argwhere(x).T.astype(np.int64)


@op(
    id=13,
    since=1,
    shape="[*s, n] -> [*s, k] [*s, k]",
    dtypes="f32 i64",
    strided="x",
    where="k <= n",
)
def topk(x: F, *, largest: bool = True, out: Outs) -> tuple[F, I64]:
    """The k first of each row and where they stood, sorted; ties by lower index, NaN counts as largest."""
    nan = x != x
    order = np.lexsort(
        (np.where(nan, 0, ~x if x.dtype.kind == "i" else -x), ~nan) if largest else (x, nan),
        axis=-1,
    )
    index = order[..., : out[0].shape[-1]].astype(np.int64)
    return np.take_along_axis(x, index, -1), index
