"""What attention and the recurrences of schema/ops.py mean, in NumPy."""

from __future__ import annotations

import numpy as np

from pteron.schema.row import Array


def attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    key_count: Array | None,
    scale: float,
    causal: str,
    softcap: float,
    left_window: int,
    right_window: int,
) -> Array:
    """softmax(cap(scale q k^T) + mask) v; see the row. Values that no query sees may be anything."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    score = scale * (q @ k.swapaxes(2, 3))
    score = softcap * np.tanh(score / softcap) if softcap > 0 else score
    seen = visible(q.shape[2], k.shape[2], key_count, causal, left_window, right_window)
    if mask is not None and mask.dtype == np.bool_:
        seen = seen & mask
    elif mask is not None:
        score = score + mask
    score = np.where(seen, score, -np.inf)
    top = score.max(-1, keepdims=True, initial=-np.inf)
    weight = np.exp(score - np.where(np.isneginf(top), 0, top))
    total = weight.sum(-1, keepdims=True)
    looked_at = np.any(np.broadcast_to(seen, score.shape), axis=2, keepdims=True).swapaxes(2, 3)
    y = (weight / np.where(total == 0, 1, total)) @ np.where(looked_at, v, 0)
    return y.astype(q.dtype)


def visible(
    queries: int,
    keys: int,
    key_count: Array | None,
    causal: str,
    left_window: int,
    right_window: int,
) -> Array:
    """Which keys a query sees, apart from the mask: [b or 1, 1, queries, keys]."""
    count = np.asarray([keys] if key_count is None else key_count)[:, None, None, None]
    from_end = causal == "bottom_right" or (causal == "none" and key_count is not None)
    at = np.arange(queries)[:, None] + (count - queries if from_end else 0)
    key = np.arange(keys)
    seen: Array = (key < count) & (at == at)
    if causal != "none":
        seen = seen & (key <= at)
    if left_window >= 0:
        seen = seen & (key >= at - left_window)
    if right_window >= 0:
        seen = seen & (key <= at + right_window)
    return seen
