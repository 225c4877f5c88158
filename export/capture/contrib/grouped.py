"""Attention of grouped queries, with its caches: onnxruntime's GroupQueryAttention as ONNX's Attention."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .attention import INT64, attend, from_heads, places_from, rotated, to_heads
from .foreign import Foreign, means

FLOAT, INT8, UINT8 = int(ir.DataType.FLOAT), int(ir.DataType.INT8), int(ir.DataType.UINT8)
KINDS: Final = ("NONE", "PER_TENSOR", "PER_CHANNEL")
"""Of scales: one, or one a head and column, [1, heads, 1, head]."""
Looks = dict[str, float | int | None]
"""Attributes of ONNX's Attention that say which keys a query sees."""


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
    n.only("smooth_softmax", smooth_softmax, -1, 0, 1)
    n.without(14, "q_norm_weight", "k_norm_weight")
    caches = _caches(n, (k_quant_type, v_quant_type), kv_cache_bit_width)
    q, k, v = _heads_apart(n, num_heads, kv_num_heads)
    s = n.size(q, 2)
    ends = n("Unsqueeze", n("Add", n("Cast", n[5], to=INT64), n.ints(1)), n.ints(1))
    first = n("Max", n("Sub", ends, s), n.ints(0))  # [batch, 1]: keys before this run
    if do_rotary:
        places = n.get(9) or places_from(n, first, n.size(q, 0), s)
        q, k = (rotated(n, x, (n[7], n[8]), places, rotary_interleaved, _width(n)) for x in (q, k))
    looks: Looks = {
        "is_causal": causal or None,
        "left_window_size": local_window_size - 1 if local_window_size > 0 else None,
        "softcap": softcap or None,
    }
    sink = n.get(11)
    if sink is None and smooth_softmax == 1:
        sink = n.constant(np.zeros(num_heads, np.float32))
    if sink is None and caches is None and not _one_buffer(n):
        past: Sequence[ir.Value | None] = (n.get(3), n.get(4))
        y, *present = attend(n, (q, k, v), n.get(10), past, None, scale, None, **looks)
        return from_heads(n, y), *present
    at = n("Squeeze", first, n.ints(1))
    stored, seen = [], []
    for i, x in ((3, k), (4, v)):
        cache = None if caches is None else caches[i - 3]
        new = x if cache is None else cache.stored(n, x)
        if _one_buffer(n):
            new = n("TensorScatter", n[i], new, at, axis=2)
        elif n.get(i) is not None:
            new = n("Concat", n[i], new, axis=2)
        stored.append(new)
        seen.append(new if cache is None else cache.numbers(n, new, x))
    if sink is not None:
        y = _sunk(n, (q, *seen), sink, first, scale, looks)
    else:
        (y,) = attend(n, (q, *seen), n.get(10), (None, None), None, scale, n("Add", at, s), **looks)
    return from_heads(n, y), *stored


def _heads_apart(n: Foreign, heads: int, kv_heads: int) -> Sequence[ir.Value]:
    """q, k and v as [batch, heads, s, head]; without key and value all three lie side by side in the query."""
    if n.get(1) is not None:
        counts = (heads, kv_heads, kv_heads)
        return [to_heads(n, n[i], count) for i, count in enumerate(counts)]
    whole = to_heads(n, n[0], heads + 2 * kv_heads)
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


# --- a key that takes its share of each softmax ---------------------------------------------------------------------------


def _sunk(
    n: Foreign,
    qkv: Sequence[ir.Value],
    sink: ir.Value,
    first: ir.Value,
    scale: float,
    looks: Looks,
) -> ir.Value:
    """Attention where exp(sink) is added to the denominator, a number a head: that is one more key of that score, whose value
    is 0. Its column stands in no order, so the mask says what a query sees. `first` [batch, 1]: keys before this run."""
    q, k, v = qkv
    heads, s, keys = n.size(q, 1), n.size(q, 2), n.size(k, 2)
    at = n("Unsqueeze", n("Add", first, _counting(n, s)), n.ints(1, 3))  # [batch, 1, s, 1]
    places = _counting(n, keys)
    last = (
        at
        if looks["is_causal"]
        else n("Unsqueeze", n("Add", first, n("Sub", s, n.ints(1))), n.ints(1, 3))
    )
    hold = n("LessOrEqual", places, last)
    left = looks["left_window_size"]
    if left is not None:
        hold = n("And", hold, n("GreaterOrEqual", places, n("Sub", at, n.ints(int(left)))))
    given = n.get(10)
    zeros, far = n.like(0.0, q), n.like(-math.inf, q)
    scores = n("Where", hold, zeros if given is None else given, far)
    lead = n("Concat", n.size(q, 0), heads, s, axis=0)
    scores = n("Expand", scores, n("Concat", lead, keys, axis=0))
    beside = n("Unsqueeze", n("CastLike", sink, q), n.ints(1, 2))
    column = n("Expand", beside, n("Concat", lead, n.ints(1), axis=0))
    mask = n("Concat", scores, column, axis=-1)
    more = []
    for x in (k, v):
        shape = n("Concat", n.size(x, 0), n.size(x, 1), n.ints(1), n.size(x, 3), axis=0)
        more.append(n("Concat", x, n("Expand", zeros, shape), axis=2))
    cap = {"softcap": looks["softcap"]}
    return attend(n, (q, *more), mask, (None, None), None, scale, None, **cap)[0]


def _counting(n: Foreign, size: ir.Value) -> ir.Value:
    """0, 1, 2 ... as many as `size` [1] says."""
    zero, one = n.constant(np.array(0, np.int64)), n.constant(np.array(1, np.int64))
    return n("Range", zero, n("Squeeze", size, n.ints(0)), one)


# --- caches of codes ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Cache:
    """Codes of `bits` with a `scale` that broadcasts over [batch, heads, keys, head]. Of 4 bits two share a byte, even elements in
    the low half, 8 added."""

    bits: int
    scale: ir.Value

    def stored(self, n: Foreign, x: ir.Value) -> ir.Value:
        """x [batch, heads, s, head] as codes."""
        most = (1 << (self.bits - 1)) - 1
        whole = n("Round", n("Div", n("Cast", x, to=FLOAT), self.scale))
        codes = n("Clip", whole, n.like(-most - 1.0, whole), n.like(float(most), whole))
        if self.bits == 8:
            return n("Cast", codes, to=INT8)
        bytes_ = n("Cast", n("Add", codes, n.like(8.0, codes)), to=UINT8)
        pairs = n("Reshape", bytes_, n.ints(0, 0, 0, -1, 2))
        low, high = n.several("Split", 2, pairs, axis=-1, num_outputs=2)
        both = n("BitwiseOr", low, n("BitShift", high, _byte(n, 4), direction="LEFT"))
        return n("Squeeze", both, n.ints(-1))

    def numbers(self, n: Foreign, codes: ir.Value, like: ir.Value) -> ir.Value:
        """What codes stand for, in the type of `like`."""
        if self.bits == 4:
            low = n("BitwiseAnd", codes, _byte(n, 15))
            high = n("BitShift", codes, _byte(n, 4), direction="RIGHT")
            pairs = n("Concat", *(n("Unsqueeze", x, n.ints(-1)) for x in (low, high)), axis=-1)
            codes = n(
                "Sub",
                n("Cast", n("Reshape", pairs, n.ints(0, 0, 0, -1)), to=FLOAT),
                n.constant(np.array(8, np.float32)),
            )
        return n("CastLike", n("Mul", n("Cast", codes, to=FLOAT), self.scale), like)


def _byte(n: Foreign, number: int) -> ir.Value:
    return n.constant(np.array(number, np.uint8))


def _caches(n: Foreign, kinds: tuple[str, str], bits: int) -> tuple[Cache, Cache] | None:
    """How keys and values are kept; None: as they are."""
    for name, kind in zip(("k_quant_type", "v_quant_type"), kinds, strict=True):
        n.only(name, kind, *KINDS)
    if kinds == ("NONE", "NONE"):
        n.without(12, "k_scale", "v_scale")
        return None
    if "NONE" in kinds:
        n.refuse(f"expected keys and values of codes or neither, got {kinds[0]} and {kinds[1]}")
    n.only("kv_cache_bit_width", bits, 4, 8)
    return Cache(bits, n[12]), Cache(bits, n[13])
