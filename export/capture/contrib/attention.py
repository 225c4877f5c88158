"""Attention in onnxruntime's forms, and rotary embeddings; all become ONNX's Attention and RotaryEmbedding."""

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
    y, *new = _attention(n, (q, k, v), mask, old, heads, scale, is_causal=causal or None)
    if not n.wants(1):
        return y, None
    return y, n("Concat", *(n("Unsqueeze", x, n.ints(0)) for x in new), axis=0)


def _attention(
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
        q = _apart(n, q, num_heads)
    beside = num_heads if axis == 1 else None
    causal = unidirectional or None
    y, *present = _attention(n, (q, k, v), mask, past, beside, scale, is_causal=causal)
    return (y if beside else _beside(n, y)), *present


def _operands(n: Foreign) -> tuple[ir.Value, ir.Value, ir.Value]:
    """q, k and v; packed ones [batch, keys, heads, 3 or 2, head] are taken apart to [batch, keys, hidden]."""
    first, second = n[0], n.get(1)
    if second is None:
        n.refuse("q, k and v in one input are not covered")
    if g.rank(first) == 4 or g.rank(second) == 5:
        n.refuse("packed keys and values are not covered")
    return first, second, n[2]


def _biased(n: Foreign, qkv: Sequence[ir.Value], bias: ir.Value) -> list[ir.Value]:
    if any(g.rank(x) == 4 for x in qkv):
        n.refuse("a bias on keys with heads apart is not covered")
    known = [(g.dims(x) or [None])[-1] for x in qkv]
    if all(isinstance(d, int) for d in known):
        parts = n.several("Split", 3, bias, n.ints(*(int(str(d)) for d in known)), axis=0)
    else:
        parts = n.several("Split", 3, bias, axis=0, num_outputs=3)
    return [n("Add", x, part) for x, part in zip(qkv, parts, strict=True)]


def _apart(n: Foreign, x: ir.Value, heads: int) -> ir.Value:
    """[batch, s, heads * head] => [batch, heads, s, head]."""
    return n("Transpose", n("Reshape", x, n.ints(0, 0, heads, -1)), perm=[0, 2, 1, 3])


def _beside(n: Foreign, x: ir.Value) -> ir.Value:
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
        places = _from(n, places, n.size(x, 0), n.size(x, rank - 2))
    wide = x
    if rank == 3 and num_heads:
        wide = _apart(n, x, num_heads)
    elif rank == 3:
        head = n("Mul", n.size(n[2], 1), n.ints(2))
        whole = n("Reshape", x, n("Concat", n.ints(0, 0, -1), head, axis=0))
        wide = n("Transpose", whole, perm=[0, 2, 1, 3])
    y = _rotated(n, wide, (n[2], n[3]), places, interleaved, rotary_embedding_dim)
    return _beside(n, y) if rank == 3 else y


def _rotated(
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


def _from(n: Foreign, first: ir.Value, batch: ir.Value, count: ir.Value) -> ir.Value:
    """[batch, count]: first [1] or [batch, 1], and the numbers that follow."""
    zero, one = n.constant(np.array(0, np.int64)), n.constant(np.array(1, np.int64))
    places = n("Range", zero, n("Squeeze", count, n.ints(0)), one)
    each = n("Add", n("Cast", first, to=INT64), places)
    return n("Expand", each, n("Concat", batch, count, axis=0))


@means("GroupQueryAttention")
def group_query_attention(
    n: Foreign,
    *,
    num_heads: int,
    kv_num_heads: int,
    scale: float = 0.0,
    softcap: float = 0.0,
    causal: int = 1,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    local_window_size: int = -1,
    smooth_softmax: int = -1,
    sliding_window_cache: int = 0,
    qk_output: int = 0,
    k_quant_type: str = "NONE",
    v_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    qk_norm_epsilon: float = 1e-6,
) -> Sequence[ir.Value | None]:
    """query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos, sin, position_ids, attention_bias.

    Keys before this run are those of past, all of them: rows of a batch are equally long, or filled up at the right in the first
    run. Where present has past's own length, both are one buffer: new keys are written at seqlens_k + 1 - s.
    """
    for name, value in (("sliding_window_cache", sliding_window_cache), ("qk_output", qk_output)):
        n.only(name, value, 0)
    n.only("smooth_softmax", smooth_softmax, -1, 0)
    for name, kind in (("k_quant_type", k_quant_type), ("v_quant_type", v_quant_type)):
        n.only(name, kind, "NONE")
    n.without(11, "head_sink", "k_scale", "v_scale", "q_norm_weight", "k_norm_weight")
    q, k, v = _heads_apart(n, num_heads, kv_num_heads)
    s = n.size(q, 2)
    ends = n("Unsqueeze", n("Add", n("Cast", n[5], to=INT64), n.ints(1)), n.ints(1))
    first = n("Max", n("Sub", ends, s), n.ints(0))  # [batch, 1]: keys before this run
    if do_rotary:
        places = n.get(9) or _from(n, first, n.size(q, 0), s)
        q, k = (_rotated(n, x, (n[7], n[8]), places, rotary_interleaved, _width(n)) for x in (q, k))
    looks = {
        "is_causal": causal or None,
        "left_window_size": local_window_size - 1 if local_window_size > 0 else None,
        "softcap": softcap or None,
    }
    past: Sequence[ir.Value | None] = (n.get(3), n.get(4))
    if not _one_buffer(n):
        y, *present = _attention(n, (q, k, v), n.get(10), past, None, scale, None, **looks)
        return _beside(n, y), *present
    at = n("Squeeze", first, n.ints(1))
    present = [n("TensorScatter", n[i], x, at, axis=2) for i, x in ((3, k), (4, v))]
    count = n("Add", at, s)
    (y,) = _attention(n, (q, *present), n.get(10), (None, None), None, scale, count, **looks)
    return _beside(n, y), *present


def _heads_apart(n: Foreign, heads: int, kv_heads: int) -> Sequence[ir.Value]:
    """q, k and v as [batch, heads, s, head]; without key and value all three lie side by side in the query."""
    if n.get(1) is not None:
        counts = (heads, kv_heads, kv_heads)
        return [_apart(n, n[i], count) for i, count in enumerate(counts)]
    whole = _apart(n, n[0], heads + 2 * kv_heads)
    return n.several("Split", 3, whole, n.ints(heads, kv_heads, kv_heads), axis=1)


def _width(n: Foreign) -> int:
    """Elements of a head that are rotated: two for each column of the tables."""
    columns = (g.dims(n[7]) or [None])[-1]
    if not isinstance(columns, int):
        n.refuse("the width of cos_cache is not known")
    return 2 * columns


def _one_buffer(n: Foreign) -> bool:
    """Whether present_key is declared as long as past_key."""
    if n.get(3) is None or len(n.node.outputs) < 2:
        return False
    before, after = g.dims(n[3]), g.dims(n.node.outputs[1])
    if before is None or after is None or len(before) != 4 or len(after) != 4:
        return False
    return before[2] is not None and before[2] == after[2]
