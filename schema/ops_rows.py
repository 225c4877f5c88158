"""Reductions and norms. How to read a row: schema/row.py."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .meaning import trees
from .row import I64, A, F, op


@op(
    id=20,
    since=1,
    shape="[*s, *r#count] -> [*s]",
    dtypes="f32 f64 i64 bool",
    strided="x",
    bound="2 K eps",
    where="dtype(x) != bool or kind in (max, min); dtype(x) != i64 or kind != mean",
)
def reduce(x: F, *, kind: Literal["sum", "mean", "max", "min", "prod"], count: int) -> F:
    """Over the last `count` axes, in 16 lanes and one tree. Empty: 0, NaN, -inf, +inf, 1; the lowest and
    highest i64. max and min of bool are or and and; it has no other kind, and i64 no mean."""
    axes = tuple(range(x.ndim - count, x.ndim))
    if kind in ("max", "min"):
        highest = {"f": np.inf, "i": np.iinfo(np.int64).max, "b": True}[x.dtype.kind]
        lowest = {"f": -np.inf, "i": np.iinfo(np.int64).min, "b": False}[x.dtype.kind]
        return np.asarray(
            getattr(np, kind)(x, axis=axes, initial=lowest if kind == "max" else highest)
        )
    return np.asarray(getattr(np, kind)(x, axis=axes))


@op(
    id=21,
    since=1,
    shape="[*s, n] -> [*s]",
    dtypes="f32 i64",
    strided="x",
    where="n >= 1 or empty(y)",
)
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


@op(
    id=80,
    since=1,
    shape="[n, f] [m, 3] [m] [g, t] [l, c] -> [n, g, c]",
    dtypes="f32 f64",
    strided="x",
    bound="2 K eps",
    where="dtype(nodes) == i32; dtype(roots) == i32; t >= 1",
)
def tree_ensemble(
    x: F,
    nodes: A,
    thresholds: F,
    roots: A,
    weights: F,
    *,
    reduction: Literal["sum", "min", "max"] = "sum",
) -> F:
    """y[n, g] = the sum, least or largest of the weights of the leaves that row x[n] reaches in the t trees of group g, one after the
    other. Node i: (2 feature + missing, next if x[feature] <= thresholds[i], next if not); a NaN goes the first way where missing is
    1. What comes next is a node with a larger number, or the leaf -1 - next; so is a root. BAD_DATA where one is neither, or no
    feature. Every comparison of ONNX TreeEnsemble becomes nodes of this kind."""
    return trees.ensemble(x, nodes, thresholds, roots, weights, reduction)
