"""Attention and RotaryEmbedding. Scores are never stored, unless the model asks for them as an output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ....program.terms import Term, eq, index, le, lt, select, term
from ....program.views import Shape, as_elements
from ....sizes import Extent
from ....sizes.extents import floordiv, mul, same, sub
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Known, Ref
from ...table import lowers
from ..moving.movement import concat
from ..moving.pads import pad_constant

NARROW: Final = ("f16", "f8e4m3")
"""What the instruction reads keys and values in, apart from f32."""


@lowers("Attention")
def lower_attention(l: Lowering, n: Node) -> Sequence[Ref | None]:
    q, k, v = _heads(l, n)
    q, k, v = _one_batch(l, [q, k, v], n.get(3))
    past_key, past_value = n.get(4), n.get(5)
    if past_key is not None and past_value is not None:
        k, v = concat(l, [past_key, k], 2), concat(l, [past_value, v], 2)
    count = n.get(6)
    look = _Look(n, past_key is not None, count is not None)
    mask = _mask(l, n.get(3), q, k)
    dtype = q.dtype
    wide = [convert(l, q, "f32"), *(_stored(l, x) for x in (k, v))]
    counted = None if count is None else convert(l, count, "i64")
    scale = n.number("scale") if n.has("scale") else _default_scale(l, q)
    attrs: dict[str, Any] = {"scale": scale, "softcap": n.number("softcap")}
    seen = mask
    if past_key is not None and (look.causal or look.bounded) and not look.fits(n):
        seen = _visible(l, mask, past_key.shape[2], (*q.shape[:3], k.shape[2]), look)
    else:
        attrs["causal"] = look.row_causal
        attrs["left_window"], attrs["right_window"] = look.left, look.right
    shape = (q.shape[0], q.shape[2], q.shape[1], v.shape[3])
    y = l.one("attention", [*wide, seen, counted], attrs, "f32", shape)
    scores = None
    if len(n.wanted) > 3 and n.wanted[3]:
        plain = [convert(l, x, "f32") for x in wide]
        scores = convert(l, _scores(l, n, plain, mask, counted, look, scale, past_key), dtype)
    y = convert(l, y, dtype)
    if n[0].rank == 3:
        y = l.reshape(y, (y.shape[0], y.shape[1], mul(y.shape[2], y.shape[3])))
    else:
        y = l.transpose(y, (0, 2, 1, 3))
    return [y, k, v, scores]


@lowers("CodeRows", domain="pteron")
def lower_code_rows(l: Lowering, n: Node) -> Sequence[Ref | None]:
    x = n[0]
    shapes = (x.shape, (*x.shape[:-1], 1))
    return l.emit(
        "codes", [x], {"turned": bool(n.integer("turned"))}, list(zip(("i8", "f32"), shapes))
    )


@lowers("Attention", domain="pteron")
def lower_kept_attention(l: Lowering, n: Node) -> Ref:
    """Keys and values of a context, as codes with scales or not, in a ring or not, slopes and sinks by head. Where keys are turned q is, too: the
    products of both are 64 times as large."""
    q, k, v, count = n[0], *(_uncast(l, n, i) for i in (1, 2)), n[6]
    turned = bool(n.integer("turned"))
    scale = n.number("scale") if n.has("scale") else _default_scale(l, q)
    look = _Look(n, False, True)
    attrs: dict[str, Any] = {
        "scale": scale / 64 if turned else scale,
        "softcap": n.number("softcap"),
        "causal": look.row_causal,
        "left_window": look.left,
        "right_window": look.right,
        "turned": turned,
        "ring": n.integer("ring"),
    }
    k, v = (x if x.dtype == "i8" else _stored(l, x) for x in (k, v))
    more = [None if x is None else convert(l, x, "f32") for x in map(n.get, range(7, 10))]
    operands = [convert(l, q, "f32"), k, v, None, convert(l, count, "i64"), *more]
    shape = (q.shape[0], q.shape[2], q.shape[1], v.shape[3])
    y = convert(l, l.one("attention", operands, attrs, "f32", shape), q.dtype)
    return l.transpose(y, (0, 2, 1, 3))


class _Look:
    """Which keys a query may see, and where queries stand among the keys."""

    def __init__(self, n: Node, has_past: bool, has_count: bool) -> None:
        self.causal = bool(n.integer("is_causal"))
        self.left = n.integer("left_window_size", -1)
        self.right = n.integer("right_window_size", -1)
        self.bounded = max(self.left, self.right) >= 0
        from_end = has_past or has_count
        self.row_causal = ("bottom_right" if from_end else "top_left") if self.causal else "none"

    def fits(self, n: Node) -> bool:
        """The row says it: after a cache, queries stand at the end of the keys."""
        return self.causal and same(n[0].shape[-2], n[1].shape[-2])

    def conditions(self, at: Term, key: Term) -> list[Term]:
        """What must hold for the query at `at` to see `key`."""
        found = [le(key, at)] if self.causal else []
        found += [le(at - self.left, key)] if self.left >= 0 else []
        return found + ([le(key, at + self.right)] if self.right >= 0 else [])


def _visible(l: Lowering, mask: Ref | None, past: Extent, shape: Shape, look: _Look) -> Ref:
    """The mask with causal and window bounds written into it, for queries that stand at `past`."""
    first = Known("i64", as_elements([past], ()))

    def build(offset: Term, *given: Term) -> Term:
        hold = look.conditions(index(2) + offset, index(3))
        seen = hold[0]
        for condition in hold[1:]:
            seen = seen & condition
        if not given:
            return seen
        return given[0] & seen if given[0].result == "bool" else select(seen, given[0], -math.inf)

    operands = [first] if mask is None else [first, mask]
    lead = (1, 1) if mask is None else shape[:2]
    y = l.pointwise(build, operands, "bool" if mask is None else mask.dtype, (*lead, *shape[2:]))
    return l.expand(y, shape)


def _stored(l: Lowering, x: Ref) -> Ref:
    """Keys or values as the instruction reads them: narrow ones as they are."""
    return x if x.dtype in NARROW else convert(l, x, "f32")


def _uncast(l: Lowering, n: Node, i: int) -> Ref:
    """Input i, or the narrow type that it was widened from: a cache of few bytes."""
    kept = n.get(4) is not None or any(n.wanted[1:3])  # past and present are what the node says
    value = n.origin.inputs[i] if n.origin is not None and not kept else None
    cast = value.producer() if value is not None else None
    if cast is None or cast.domain != "" or cast.op_type != "Cast" or n[i].dtype != "f32":
        return n[i]
    of = cast.inputs[0]
    source = l.env.values.get(of) if of is not None else None
    return source if source is not None and source.dtype in NARROW else n[i]


def _heads(l: Lowering, n: Node) -> list[Ref]:
    """Q, K, V as [b, heads, s, d]."""
    q_heads, kv_heads = n.integer("q_num_heads"), n.integer("kv_num_heads")
    out: list[Ref] = []
    for i, heads in enumerate((q_heads, kv_heads, kv_heads)):
        x = n[i] if i == 0 else _uncast(l, n, i)
        if x.rank == 3:
            size = floordiv(x.shape[2], heads)
            x = l.reshape(x, (x.shape[0], x.shape[1], heads, size))
            x = l.transpose(x, (0, 2, 1, 3))
        out.append(x)
    out[1] = l.agree(out[1], 3, out[0].shape[3], "head sizes of Q and K")
    return [*out[:2], l.agree(out[2], 2, out[1].shape[2], "keys and values")]


def _one_batch(l: Lowering, operands: Sequence[Ref], mask: Ref | None) -> list[Ref]:
    """Q, K and V with the batch that they and the mask broadcast to: a pass cannot see every size that it should."""
    batches = [x.shape[:1] for x in operands]
    if mask is not None and mask.rank == 4:
        batches.append(mask.shape[:1])
    (batch,) = l.sizes.broadcast(batches)
    return [x if same(x.shape[0], batch) else l.expand(x, (batch, *x.shape[1:])) for x in operands]


def _default_scale(l: Lowering, q: Ref) -> float:
    size = q.shape[3]
    if not isinstance(size, int):
        l.fail(f"head size {size} depends on sizes; expected a number, or the attribute scale")
    return 1.0 / math.sqrt(size)


def _mask(l: Lowering, mask: Ref | None, q: Ref, k: Ref) -> Ref | None:
    """The mask at its full shape; keys beyond its last axis are not seen."""
    if mask is None:
        return None
    keys = k.shape[2]
    if mask.dtype != "bool":
        mask = convert(l, mask, "f32")
    if not same(mask.shape[-1], keys):
        hidden = (
            l.values.scalar(False, "bool")
            if mask.dtype == "bool"
            else l.values.scalar(-math.inf, "f32")
        )
        end: list[Extent] = [0] * mask.rank
        end[-1] = sub(keys, mask.shape[-1])
        mask = pad_constant(l, mask, [0] * mask.rank, end, hidden)
    shape = (*q.shape[:3], keys)
    for size, whole in zip(reversed(mask.shape), reversed(shape), strict=False):
        if not same(size, 1):
            l.sizes.require_equal(size, whole, "the mask's sizes are those of the scores")
    return l.expand(mask, shape)


def _scores(
    l: Lowering,
    n: Node,
    wide: Sequence[Ref],
    mask: Ref | None,
    count: Ref | None,
    look: _Look,
    scale: float,
    past: Ref | None,
) -> Ref:
    """What the fourth output shows: scores (0), capped (1), with the bias (2), their softmax (3); [b, h, s, t]."""
    mode = n.integer("qk_matmul_output_mode")
    cap = n.number("softcap") if mode >= 1 else 0.0

    def capped(x: Term) -> Term:
        x = x * scale
        return term("tanh", x / cap) * cap if cap > 0 else x

    raw = _products(l, wide[0], wide[1])
    if mode < 2:
        return l.pointwise(capped, [raw], "f32")
    operands = [raw, _offset(l, count, raw.shape, past)]
    operands += [] if mask is None else [mask]
    operands += [] if count is None else [l.reshape(count, (raw.shape[0], 1, 1, 1))]

    def biased(x: Term, offset: Term, *rest: Term) -> Term:
        x = capped(x)
        at, key = index(2) + offset, index(3)
        seen = []
        if mask is not None and mask.dtype == "bool":
            seen.append(rest[0])
        elif mask is not None:
            x = x + rest[0]
        if count is not None:
            seen.append(lt(key, rest[-1]))
        seen += look.conditions(at, key)
        for condition in seen:
            x = select(condition, x, -math.inf)
        return x

    y = l.pointwise(biased, operands, "f32")
    if mode == 2:
        return y
    weights = l.one("softmax", [y], {}, "f32", y.shape)
    top = l.one("reduce", [y], {"kind": "max", "count": 1}, "f32", y.shape[:-1])
    top = l.unsqueeze(top, [-1])
    return l.pointwise(lambda w, m: select(eq(m, -math.inf), 0.0, w), [weights, top], "f32")


def _products(l: Lowering, q: Ref, k: Ref) -> Ref:
    """q k^T, each key head beside the query heads that share it."""
    (b, h, s, d), (g, t) = q.shape, k.shape[1:3]
    share = floordiv(h, g)
    keys = l.transpose(l.unsqueeze(k, [2]), (0, 1, 2, 4, 3))
    operands = [l.reshape(q, (b, g, share, s, d)), l.expand(keys, (b, g, share, d, t))]
    y = l.one("batch_matmul", operands, {}, "f32", (b, g, share, s, t))
    return l.reshape(y, (b, h, s, t))


def _offset(l: Lowering, count: Ref | None, shape: Shape, past: Ref | None) -> Ref:
    """Where query 0 stands among the keys, i64, beside [b, h, s, t]."""
    if count is not None:
        queries = Known("i64", as_elements([shape[2]], ()))
        placed = l.pointwise(lambda c, q: c - q, [count, queries], "i64")
        return l.reshape(placed, (shape[0], 1, 1, 1))
    return Known("i64", as_elements([0 if past is None else past.shape[2]], ()))


# --- rotary embedding ---------------------------------------------------------------------------------------------------


@lowers("RotaryEmbedding")
def lower_rotary(l: Lowering, n: Node) -> Ref:
    """Pairs (a, b) of the last axis become (a cos - b sin, b cos + a sin): x times cos, plus x with its pairs swapped
    times sin, which is one pointwise program on two views of x."""
    x = n[0]
    heads = x
    if x.rank == 3:
        size = floordiv(x.shape[2], n.integer("num_heads"))
        heads = l.reshape(x, (x.shape[0], x.shape[1], n.integer("num_heads"), size))
        heads = l.transpose(heads, (0, 2, 1, 3))
    turned = n.integer("rotary_embedding_dim") or heads.shape[3]
    part = l.slice(heads, 3, 0, turned)
    half = floordiv(turned, 2)
    wanted = 3 if n.get(3) is None else 2
    for i, name in ((1, "cos_cache"), (2, "sin_cache")):
        if n[i].rank != wanted:
            l.fail(
                f"{name} has rank {n[i].rank}; expected {wanted} {'with' if wanted == 2 else 'without'} position_ids"
            )
    angles = [_angles(l, n, i, half) for i in (1, 2)]  # cos and sin, [b, 1, s, half]
    y = _turn(l, part, angles, half, interleaved=bool(n.integer("interleaved")))
    if not same(turned, heads.shape[3]):
        rest = l.slice(heads, 3, turned, sub(heads.shape[3], turned))
        y = concat(l, [y, rest], 3)
    if x.rank == 3:
        y = l.reshape(l.transpose(y, (0, 2, 1, 3)), x.shape)
    return y


def _angles(l: Lowering, n: Node, which: int, half: Extent) -> Ref:
    table, positions = n[which], n.get(3)
    if positions is not None:
        shape = (*positions.shape, table.shape[1])
        table = l.one("gather", [table, convert(l, positions, "i64")], {}, table.dtype, shape)
    l.sizes.require_at_most(half, table.shape[2], "a cache has an angle for each pair that turns")
    return l.unsqueeze(l.slice(table, 2, 0, half), [1])


def _turn(l: Lowering, x: Ref, angles: Sequence[Ref], half: Extent, *, interleaved: bool) -> Ref:
    pair = 4 if interleaved else 3  # the axis of the pairs in [b, h, s, ..]
    split = (*x.shape[:3], half, 2) if interleaved else (*x.shape[:3], 2, half)
    pairs = l.reshape(x, split)
    cos, sin = (l.unsqueeze(a, [pair]) for a in angles)

    def build(a: Term, swapped: Term, c: Term, s: Term) -> Term:
        return a * c + swapped * select(eq(index(pair), 0), -s, s)

    y = l.pointwise(build, [pairs, l.flip(pairs, pair), cos, sin], x.dtype)
    return l.reshape(y, x.shape)
