"""Normalizations: `layer_norm` and `rms_norm` over the last axes, the rest is pointwise work around them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....program.terms import Term, eq, lt, select, term
from ....program.views import Shape
from ....sizes.extents import product, same_shape
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ..moving.movement import exact_quotient


def _last_axes(n: Node, default: int = -1) -> int:
    """How many axes `axis` covers up to the end."""
    axis = n.integer("axis", default)
    return -axis if axis < 0 else n[0].rank - axis


def _over(l: Lowering, v: Ref | None, shape: Shape) -> Ref | None:
    """A gain or bias at its full shape."""
    if v is None:
        return None
    v = convert(l, v, "f32")
    return v if same_shape(v.shape, shape) else l.expand(v, shape)


@lowers("LayerNormalization")
def lower_layer_norm(l: Lowering, n: Node) -> Sequence[Ref | None]:
    x, count = n[0], _last_axes(n)
    outer, inner = x.shape[: x.rank - count], x.shape[x.rank - count :]
    gain, bias = _over(l, n[1], inner), _over(l, n.get(2), inner)
    wanted = [i < len(n.wanted) and n.wanted[i] for i in range(3)]
    y, *rest = l.emit(
        "layer_norm",
        [convert(l, x, "f32"), gain, bias],
        {"count": count, "epsilon": n.number("epsilon", 1e-5)},
        [("f32", x.shape), *(("f32", outer) if w else None for w in wanted[1:])],
    )
    assert y is not None
    kept = [None if r is None else l.unsqueeze(r, range(x.rank - count, x.rank)) for r in rest]
    return [convert(l, y, x.dtype), *kept]


@lowers("RMSNormalization")
def lower_rms_norm(l: Lowering, n: Node) -> Ref:
    x, count = n[0], _last_axes(n)
    gain = _over(l, n[1], x.shape[x.rank - count :])
    attrs = {"count": count, "epsilon": n.number("epsilon", 1e-5)}
    return convert(
        l, l.one("rms_norm", [convert(l, x, "f32"), gain], attrs, "f32", x.shape), x.dtype
    )


def standardized(l: Lowering, x: Ref, count: int, epsilon: float) -> Ref:
    """(x - mean) / sqrt(variance + epsilon) over the last `count` axes, f32."""
    attrs = {"count": count, "epsilon": epsilon}
    y, *_ = l.emit("layer_norm", [x, None, None], attrs, [("f32", x.shape), None, None])
    assert y is not None
    return y


def _by_channel(l: Lowering, v: Ref, rank: int) -> Ref:
    """[c] beside [b, c, *i]."""
    return l.reshape(convert(l, v, "f32"), (v.shape[0], *[1] * (rank - 2)))


def _affine(l: Lowering, y: Ref, gain: Ref, bias: Ref, dtype: str) -> Ref:
    y = l.pointwise(lambda t, g, b: t * g + b, [y, gain, bias], "f32")
    return convert(l, y, dtype)


@lowers("InstanceNormalization")
def lower_instance_norm(l: Lowering, n: Node) -> Ref:
    x = n[0]
    y = standardized(l, convert(l, x, "f32"), x.rank - 2, n.number("epsilon", 1e-5))
    gain, bias = (_by_channel(l, v, x.rank) for v in (n[1], n[2]))
    return _affine(l, y, gain, bias, x.dtype)


@lowers("GroupNormalization")
def lower_group_norm(l: Lowering, n: Node) -> Ref:
    x, groups = n[0], n.integer("num_groups")
    size = exact_quotient(l, x.shape[1], groups, "channels in groups")
    inner = product((size, *x.shape[2:]))
    flat = l.reshape(convert(l, x, "f32"), (x.shape[0], groups, inner))
    y = standardized(l, flat, 1, n.number("epsilon", 1e-5))
    gain, bias = (_by_channel(l, v, x.rank) for v in (n[1], n[2]))
    return _affine(l, l.reshape(y, x.shape), gain, bias, x.dtype)


@lowers("BatchNormalization")
def lower_batch_norm(l: Lowering, n: Node) -> Sequence[Ref | None]:
    """x * s + t by channel, with s and t computed at export where the parameters are constants and these are finite; else
    as it is written: s and t of an infinite parameter make NaN of each other."""
    x = n[0]
    if n.integer("training_mode"):
        return _batch_norm_training(l, n)
    gain, bias, mean, variance = (n[i] for i in range(1, 5))
    epsilon = n.number("epsilon", 1e-5)
    arrays = [l.values.array(v) for v in (gain, bias, mean, variance)]
    known = [a.astype(np.float32) for a in arrays if a is not None]
    wide = convert(l, x, "f32")
    if len(known) == 4:
        g, b, m, v = known
        with np.errstate(all="ignore"):
            s = g / np.sqrt(v + np.float32(epsilon))
            t = b - m * s
        if np.isfinite(s).all() and np.isfinite(t).all():
            scale, shift = (_by_channel(l, l.values.constant(v), x.rank) for v in (s, t))
            return [_affine(l, wide, scale, shift, x.dtype)]
    deviation = l.pointwise(
        lambda v: term("sqrt", v + epsilon), [convert(l, variance, "f32")], "f32"
    )
    operands = [_by_channel(l, v, x.rank) for v in (gain, bias, mean, deviation)]
    y = l.pointwise(lambda t, g, b, m, d: (t - m) / d * g + b, [wide, *operands], "f32")
    return [convert(l, y, x.dtype)]


def _batch_norm_training(l: Lowering, n: Node) -> Sequence[Ref | None]:
    """Statistics of this batch, and the running ones moved towards them."""
    x, momentum = n[0], n.number("momentum", 0.9)
    wide = convert(l, x, "f32")
    rows = l.transpose(wide, (1, 0, *range(2, x.rank)))  # [c, b, *i]
    count = x.rank - 1
    attrs = {"kind": "mean", "count": count}
    mean = l.one("reduce", [rows], attrs, "f32", x.shape[1:2])
    centered = l.pointwise(
        lambda t, m: (t - m) * (t - m), [wide, _by_channel(l, mean, x.rank)], "f32"
    )
    squares = l.transpose(centered, (1, 0, *range(2, x.rank)))
    variance = l.one("reduce", [squares], attrs, "f32", x.shape[1:2])
    epsilon = n.number("epsilon", 1e-5)

    def build(t: Term, g: Term, b: Term, m: Term, v: Term) -> Term:
        return (t - m) / term("sqrt", v + epsilon) * g + b

    operands = [_by_channel(l, v, x.rank) for v in (n[1], n[2], mean, variance)]
    y = convert(l, l.pointwise(build, [wide, *operands], "f32"), x.dtype)
    moved = [
        l.pointwise(
            lambda old, new: old * momentum + new * (1.0 - momentum),
            [convert(l, old, "f32"), new],
            "f32",
        )
        for old, new in ((n[3], mean), (n[4], variance))
    ]
    kept = [convert(l, m, old.dtype) for m, old in zip(moved, (n[3], n[4]), strict=True)]
    return [y, *kept, None, None][: len(n.wanted)]


@lowers("LpNormalization")
def lower_lp_norm(l: Lowering, n: Node) -> Ref:
    """x over its norm along an axis; 0 where that is 0. The largest magnitude is divided out first, where it is a number: its
    square may be none."""
    x, p = n[0], n.integer("p", 2)
    axis = n.integer("axis", -1) % x.rank
    kind = "f64" if x.dtype == "f64" else "f32"
    wide = convert(l, x, kind)

    def along(kind_of: str, terms: Ref) -> Ref:
        moved = l.move_axis(terms, axis, -1)
        attrs = {"kind": kind_of, "count": 1}
        return l.unsqueeze(l.one("reduce", [moved], attrs, kind, moved.shape[:-1]), [axis])

    def scaled(t: Term, m: Term) -> Term:
        return t / select(lt(0.0, m) & lt(m, math.inf), m, 1.0)

    largest = along("max", l.pointwise(lambda t: term("abs", t), [wide], kind))
    small = l.pointwise(scaled, [wide, largest], kind)
    total = along("sum", l.pointwise(lambda t: t * t if p == 2 else term("abs", t), [small], kind))

    def build(t: Term, s: Term) -> Term:
        norm = term("sqrt", s) if p == 2 else s
        return select(eq(norm, 0.0), norm * 0.0, t / norm)

    return convert(l, l.pointwise(build, [small, total], kind), x.dtype)


@lowers("LRN")
def lower_lrn(l: Lowering, n: Node) -> Ref:
    """x / (bias + alpha * mean of squares in a window of channels)^beta; the channels are the spatial axis of a pool."""
    x, size = n[0], n.integer("size")
    wide = convert(l, x, "f32")
    squares = l.pointwise(lambda t: t * t, [wide], "f32")
    flat = l.reshape(squares, (x.shape[0], x.shape[1], product(x.shape[2:])))
    attrs = {
        "kernel": (size,),
        "stride": (1,),
        "dilation": (1,),
        "begin": ((size - 1) // 2,),
        "end": (size // 2,),
        "count_padding": True,
    }
    means = l.reshape(l.one("average_pool", [flat], attrs, "f32", flat.shape), x.shape)
    alpha, beta, bias = n.number("alpha", 1e-4), n.number("beta", 0.75), n.number("bias", 1.0)

    def build(t: Term, m: Term) -> Term:
        base = bias + alpha * m
        if beta == 0.75:  # two square roots are exact to a rounding each, pow is not
            root = term("sqrt", base)
            return t / (root * term("sqrt", root))
        return t / term("pow", base, beta)

    return convert(l, l.pointwise(build, [wide, means], "f32"), x.dtype)
