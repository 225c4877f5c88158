"""Attention in onnxruntime's forms, and rotary embeddings; all become ONNX's Attention and RotaryEmbedding.

Grouped queries are in grouped.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import Foreign, means
from .integer import projected

INT32, INT64, BOOL = int(ir.DataType.INT32), int(ir.DataType.INT64), int(ir.DataType.BOOL)
FAR: Final = -10000.0
"""What is added to the score of a key that a mask hides, where the node does not say."""


@means("Attention")
def attention(
    n: Foreign,
    *,
    num_heads: int,
    scale: float = 0.0,
    mask_filter_value: float = FAR,
    unidirectional: int = 0,
    qkv_hidden_sizes: Sequence[int] = (),
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Sequence[ir.Value | None]:
    """input, weights [in, q + k + v], bias, mask, past, attention_bias => result, present."""
    n.only("do_rotary", do_rotary, 0)
    n.only("past_present_share_buffer", past_present_share_buffer, 0)
    n.without(6, "past_sequence_length")
    joined = n.plus(n("MatMul", n[0], n[1]), n.get(2))
    mask = _mask(n, n.get(3), _keys(n, n[0], n.get(4), 3), mask_filter_value, n[0])
    mask = n.get(5) if mask is None else n.plus(mask, n.get(5))
    return _joined(n, joined, qkv_hidden_sizes, mask, n.get(4), num_heads, scale, unidirectional)


@means("QAttention")
def qattention(
    n: Foreign,
    *,
    num_heads: int,
    scale: float = 0.0,
    mask_filter_value: float = FAR,
    unidirectional: int = 0,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Sequence[ir.Value | None]:
    """Attention, whose projection is a product of integers; mask at 5, past at 8."""
    n.only("do_rotary", do_rotary, 0)
    n.only("past_present_share_buffer", past_present_share_buffer, 0)
    joined = projected(n)
    mask = _mask(n, n.get(5), _keys(n, n[0], n.get(8), 3), mask_filter_value, joined)
    return _joined(n, joined, (), mask, n.get(8), num_heads, scale, unidirectional)


def _joined(
    n: Foreign,
    joined: ir.Value,
    sizes: Sequence[int],
    mask: ir.Value | None,
    past: ir.Value | None,
    heads: int,
    scale: float,
    causal: int,
) -> Sequence[ir.Value | None]:
    """Self-attention of q, k and v side by side on the last axis; past and present are [2, batch, heads, keys, head]."""
    if sizes:
        q, k, v = n.several("Split", 3, joined, n.ints(*sizes), axis=-1)
    else:
        q, k, v = n.several("Split", 3, joined, axis=-1, num_outputs=3)
    old: Sequence[ir.Value | None] = (None, None)
    if past is not None:
        halves = n.several("Split", 2, past, axis=0, num_outputs=2)
        old = [n("Squeeze", half, n.ints(0)) for half in halves]
    y, *new = attend(n, (q, k, v), mask, old, heads, scale, is_causal=causal or None)
    if not n.wants(1):
        return y, None
    return y, n("Concat", *(n("Unsqueeze", x, n.ints(0)) for x in new), axis=0)


def attend(
    n: Foreign,
    qkv: Sequence[ir.Value],
    mask: ir.Value | None,
    past: Sequence[ir.Value | None],
    heads: int | None,
    scale: float,
    count: ir.Value | None = None,
    **attributes: float | int | None,
) -> Sequence[ir.Value]:
    """`heads` of operands that have them side by side; with a `count` of keys there is no present."""
    return n.several(
        "Attention", 3 if count is None else 1, *qkv, mask, *past, count, q_num_heads=heads, kv_num_heads=heads,
        scale=scale or None, **attributes,
    )  # fmt: skip


@means("MultiHeadAttention")
def multi_head_attention(
    n: Foreign,
    *,
    num_heads: int,
    scale: float = 0.0,
    mask_filter_value: float = FAR,
    unidirectional: int = 0,
) -> Sequence[ir.Value | None]:
    """query, key, value, bias, padding mask, attention_bias, past_key, past_value => result, present_key, present_value."""
    n.without(8, "past_sequence_length", "cache_indirection")
    q, k, v = _operands(n)
    if n.get(3) is not None:
        q, k, v = _biased(n, (q, k, v), n[3])
    past = (n.get(6), n.get(7))
    axis = 2 if g.rank(k) == 4 else 1
    mask = _mask(n, n.get(4), _keys(n, k, past[0], 2, axis), mask_filter_value, q)
    mask = n.get(5) if mask is None else n.plus(mask, n.get(5))
    if axis == 2:  # keys with heads apart: the query, too
        q = to_heads(n, q, num_heads)
    beside = num_heads if axis == 1 else None
    causal = unidirectional or None
    y, *present = attend(n, (q, k, v), mask, past, beside, scale, is_causal=causal)
    return (y if beside else from_heads(n, y)), *present


def _operands(n: Foreign) -> tuple[ir.Value, ir.Value, ir.Value]:
    """q, k and v; packed ones [batch, keys, heads, 3 or 2, head] are taken apart to [batch, keys, hidden]."""
    first, second = n[0], n.get(1)
    if second is None:
        n.refuse("q, k and v in one input are not covered")
    if g.rank(first) == 4 or g.rank(second) == 5:
        n.refuse("packed keys and values are not covered")
    return first, second, n[2]


def _biased(n: Foreign, qkv: Sequence[ir.Value], bias: ir.Value) -> list[ir.Value]:
    """Keys and values with heads apart have their bias already."""
    if g.rank(qkv[1]) == 4:
        own = n("Slice", bias, n.ints(0), n.size(qkv[0], -1))
        return [n("Add", qkv[0], own), *qkv[1:]]
    known = [(g.dims(x) or [None])[-1] for x in qkv]
    if all(isinstance(d, int) for d in known):
        parts = n.several("Split", 3, bias, n.ints(*(int(str(d)) for d in known)), axis=0)
    else:
        parts = n.several("Split", 3, bias, axis=0, num_outputs=3)
    return [n("Add", x, part) for x, part in zip(qkv, parts, strict=True)]


def to_heads(n: Foreign, x: ir.Value, heads: int) -> ir.Value:
    """[batch, s, heads * head] => [batch, heads, s, head]."""
    return n("Transpose", n("Reshape", x, n.ints(0, 0, heads, -1)), perm=[0, 2, 1, 3])


def from_heads(n: Foreign, x: ir.Value) -> ir.Value:
    """[batch, heads, s, head] => [batch, s, heads * head]."""
    return n("Reshape", n("Transpose", x, perm=[0, 2, 1, 3]), n.ints(0, 0, -1))


# --- masks --------------------------------------------------------------------------------------------------------------


def _keys(
    n: Foreign, x: ir.Value, past: ir.Value | None, past_axis: int, axis: int = 1
) -> ir.Value:
    """How many keys there are, [1]."""
    now = n.size(x, axis)
    return now if past is None else n("Add", n.size(past, past_axis), now)


def _mask(
    n: Foreign, mask: ir.Value | None, keys: ir.Value, far: float, like: ir.Value
) -> ir.Value | None:
    """What is added to scores, to be broadcast over [batch, heads, queries, keys]: `far` for hidden keys, in the type of `like`.

    [batch]: so many keys count; [2 batch]: ends, then starts; [batch, keys] and [batch, queries, keys]: 0 hides.
    """
    if mask is None:
        return None
    rank = n.rank(mask, "the mask")
    if rank == 1:
        seen = _within(n, mask, keys)
    elif rank in (2, 3):
        seen = n("Greater", mask, n.constant(np.array(0, np.int32)))
    else:
        n.refuse(f"expected a mask of rank 1 to 3, got {rank}")
    seen = n("Unsqueeze", seen, n.ints(1, 2) if rank < 3 else n.ints(1))
    return n("Where", seen, n.like(0.0, like), n.like(far, like))


def _within(n: Foreign, mask: ir.Value, keys: ir.Value) -> ir.Value:
    """[batch, keys]: keys before the end, and not before the start where the mask has both."""
    extents, batches = g.dims(mask), g.dims(n[0])
    count = extents[0] if extents else None
    batch = batches[0] if batches else None
    zero, one = n.constant(np.array(0, np.int64)), n.constant(np.array(1, np.int64))
    places = n("Range", zero, n("Squeeze", keys, n.ints(0)), one)
    if isinstance(count, int) and isinstance(batch, int) and count != batch:
        if count != 2 * batch:
            n.refuse(f"expected a mask of {batch} or {2 * batch} numbers, got {count}")
        end, start = n.several("Split", 2, mask, axis=0, num_outputs=2)
        after = n("GreaterOrEqual", places, n("Cast", n("Unsqueeze", start, n.ints(1)), to=INT64))
        return n("And", after, _before(n, places, end))
    return _before(n, places, mask)


def _before(n: Foreign, places: ir.Value, end: ir.Value) -> ir.Value:
    return n("Less", places, n("Cast", n("Unsqueeze", end, n.ints(1)), to=INT64))


# --- rotary embeddings and grouped queries ------------------------------------------------------------------------------


@means("RotaryEmbedding")
def rotary_embedding(
    n: Foreign,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    is_packed_batching: int = 0,
    scale: float = 1.0,
) -> ir.Value:
    """x [batch, s, hidden] or [batch, heads, s, head], position_ids [1] (the first) or [batch, s], cos and sin tables."""
    n.only("is_packed_batching", is_packed_batching, 0)
    n.only("scale", scale, 1.0)
    x, places, rank = n[0], n[1], n.rank(n[0], "x")
    if rank not in (3, 4):
        n.refuse(f"expected x of rank 3 or 4, got {rank}")
    if n.rank(places, "position_ids") == 1:
        places = places_from(n, places, n.size(x, 0), n.size(x, rank - 2))
    wide = x
    if rank == 3 and num_heads:
        wide = to_heads(n, x, num_heads)
    elif rank == 3:
        head = n("Mul", n.size(n[2], 1), n.ints(2))
        whole = n("Reshape", x, n("Concat", n.ints(0, 0, -1), head, axis=0))
        wide = n("Transpose", whole, perm=[0, 2, 1, 3])
    y = rotated(n, wide, (n[2], n[3]), places, interleaved, rotary_embedding_dim)
    return from_heads(n, y) if rank == 3 else y


def rotated(
    n: Foreign,
    x: ir.Value,
    tables: Sequence[ir.Value],
    places: ir.Value,
    interleaved: int,
    width: int,
) -> ir.Value:
    return n(
        "RotaryEmbedding", x, *tables, n("Cast", places, to=INT64),
        interleaved=interleaved or None, rotary_embedding_dim=width or None,
    )  # fmt: skip


def places_from(n: Foreign, first: ir.Value, batch: ir.Value, count: ir.Value) -> ir.Value:
    """[batch, count]: first [1] or [batch, 1], and the numbers that follow."""
    zero, one = n.constant(np.array(0, np.int64)), n.constant(np.array(1, np.int64))
    places = n("Range", zero, n("Squeeze", count, n.ints(0)), one)
    each = n("Add", n("Cast", first, to=INT64), places)
    return n("Expand", each, n("Concat", batch, count, axis=0))
