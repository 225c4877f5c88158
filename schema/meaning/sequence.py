"""What attention and the recurrences of schema/ops.py mean, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ..row import Array

ACTIVATIONS = ("sigmoid", "tanh", "relu", "affine", "leaky_relu", "thresholded_relu", "scaled_tanh", "hard_sigmoid",
               "elu", "softsign", "softplus")  # fmt: skip
"""What an index in the `activations` of lstm, gru and rnn means."""
Activations = tuple[Sequence[int], Sequence[float]]
"""Indices into ACTIVATIONS, and alpha and beta of each."""


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
    bias: Array | None = None,
    circular: bool = False,
) -> Array:
    """softmax(cap(scale q k^T) + mask) v as [b, h, s, e]; see the row. Values that no query sees may be anything."""
    k, v = (np.repeat(x.astype(q.dtype), q.shape[1] // max(1, x.shape[1]), axis=1) for x in (k, v))
    score = scale * (q @ k.swapaxes(2, 3))
    score = softcap * np.tanh(score / softcap) if softcap > 0 else score
    key = keys_at(k.shape[2], key_count if circular else None)
    seen = visible(q.shape[2], key, key_count, causal, left_window, right_window)
    slope, sink = (None, None) if bias is None else bias[:, :, None, None]
    if slope is not None:
        at = positions(q.shape[2], k.shape[2], key_count, causal)
        score = score + slope * (key - at).astype(q.dtype)
    if mask is not None and mask.dtype == np.bool_:
        seen = seen & mask
    elif mask is not None:
        score = score + mask
    score = np.where(seen, score, -np.inf)
    top = score.max(-1, keepdims=True, initial=-np.inf)
    top = top if sink is None else np.maximum(top, sink)
    top = np.where(np.isneginf(top), 0, top)
    weight = np.exp(score - top)
    total = weight.sum(-1, keepdims=True)
    total = total if sink is None else total + np.exp(sink - top)
    looked_at = np.any(np.broadcast_to(seen, score.shape), axis=2, keepdims=True).swapaxes(2, 3)
    y = (weight / np.where(total == 0, 1, total)) @ np.where(looked_at, v, 0)
    return y.astype(q.dtype)


def keys_in_rows(k: Array) -> Array:
    """[b, g, t, d] of keys, which may lie in panels [b, g, t / 16, d, 16]."""
    if k.ndim == 4:
        return k
    return k.swapaxes(3, 4).reshape(*k.shape[:2], k.shape[2] * k.shape[4], k.shape[3])


def keys_at(rows: int, circular_count: Array | None) -> Array:
    """Which key each row holds, [b or 1, 1, 1, rows]: i, or of a ring the last one before the count that is i modulo the rows
    (negative: none yet)."""
    row = np.arange(rows)[None, None, None]
    if circular_count is None:
        return row
    last = np.asarray(circular_count)[:, None, None, None] - 1
    held: Array = last - (last - row) % max(rows, 1)
    return held


def visible(
    queries: int,
    key: Array,
    key_count: Array | None,
    causal: str,
    left_window: int,
    right_window: int,
) -> Array:
    """Which of the keys `key` (keys_at) a query sees, apart from the mask: [b or 1, 1, queries, keys]."""
    keys = key.shape[-1]
    count = np.asarray([keys] if key_count is None else key_count)[:, None, None, None]
    at = positions(queries, keys, key_count, causal)
    seen: Array = (key >= 0) & (key < count) & (at == at)
    if causal != "none":
        seen = seen & (key <= at)
    if left_window >= 0:
        seen = seen & (key >= at - left_window)
    if right_window >= 0:
        seen = seen & (key <= at + right_window)
    return seen


def positions(queries: int, keys: int, key_count: Array | None, causal: str) -> Array:
    """Where queries stand among the keys: [b or 1, 1, queries, 1]."""
    count = np.asarray([keys] if key_count is None else key_count)[:, None, None, None]
    from_end = causal == "bottom_right" or (causal == "none" and key_count is not None)
    at: Array = np.arange(queries)[:, None] + (count - queries if from_end else 0 * count)
    return at


def activation(given: Activations, which: int, x: Array) -> Array:
    """Function number `which`."""
    indices, parameters = given
    alpha, beta = np.asarray(parameters[2 * which : 2 * which + 2], x.dtype)
    with np.errstate(over="ignore"):
        functions: list[Callable[[Array], Array]] = [
            lambda v: 1 / (1 + np.exp(-v)),
            np.tanh,
            lambda v: np.maximum(v, 0),
            lambda v: alpha * v + beta,
            lambda v: np.where(v < 0, alpha * v, v),
            lambda v: np.where(v < alpha, 0, v),
            lambda v: alpha * np.tanh(beta * v),
            lambda v: np.clip(alpha * v + beta, 0, 1),
            lambda v: np.where(v < 0, alpha * np.expm1(v), v),
            lambda v: v / (1 + np.abs(v)),
            lambda v: np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v))),
        ]
        return functions[indices[which]](x)


def clipped(x: Array, clip: float) -> Array:
    return np.clip(x, -clip, clip) if clip > 0 else x


def walk(
    step: Callable[[Array, tuple[Array, ...], int], tuple[Array, ...]],
    gates: Array,
    states: tuple[Array, ...],
    count: Array | None,
    reverse: bool,
) -> tuple[Array, ...]:
    """Runs `step(gates of one time, states of one batch, batch)` over time; the first state is the output.

    Returns:
        y [t, b, h], 0 behind the real steps, and the last states.
    """
    times, batches = gates.shape[:2]
    states = tuple(s.copy() for s in states)
    y = np.zeros((times, batches, states[0].shape[-1]), gates.dtype)
    for b in range(batches):
        real = times if count is None else int(count[b])
        for time in reversed(range(real)) if reverse else range(real):
            for state, new in zip(
                states, step(gates[time, b], tuple(s[b] for s in states), b), strict=True
            ):
                state[b] = new
            y[time, b] = states[0][b]
    return (y, *states)


def lstm(
    gates: Array,
    w: Array,
    hidden: Array | None,
    cell: Array | None,
    peephole: Array | None,
    count: Array | None,
    activations: Activations,
    clip: float,
    input_forget: bool,
    reverse: bool,
) -> tuple[Array, Array, Array]:
    """One direction of ONNX LSTM; see the row."""
    zero = np.zeros((gates.shape[1], w.shape[1]), gates.dtype)
    pi, po, pf = np.split(np.zeros(3 * w.shape[1]) if peephole is None else peephole, 3)
    f, g, h = (partial(activation, activations, which) for which in range(3))

    def step(x: Array, states: tuple[Array, ...], _: int) -> tuple[Array, ...]:
        before = states[1]
        zi, zo, zf, zc = np.split(x + w @ states[0], 4)
        i = f(clipped(zi + pi * before, clip))
        forget = 1 - i if input_forget else f(clipped(zf + pf * before, clip))
        c = forget * before + i * g(clipped(zc, clip))
        return f(clipped(zo + po * c, clip)) * h(c), c

    first = (zero if hidden is None else hidden, zero if cell is None else cell)
    y, last, last_cell = walk(step, gates, first, count, reverse)
    return y, last, last_cell


def gru(
    gates: Array,
    w: Array,
    bias: Array | None,
    hidden: Array | None,
    count: Array | None,
    activations: Activations,
    clip: float,
    linear_before_reset: bool,
    reverse: bool,
) -> tuple[Array, Array]:
    """One direction of ONNX GRU; see the row."""
    units = w.shape[1]
    bz, br, bh = np.split(np.zeros(3 * units) if bias is None else bias, 3)
    wz, wr, wh = np.split(w, 3)
    f, g = (partial(activation, activations, which) for which in range(2))

    def step(x: Array, states: tuple[Array, ...], _: int) -> tuple[Array, ...]:
        before = states[0]
        gz, gr, gh = np.split(x, 3)
        z = f(clipped(gz + wz @ before + bz, clip))
        r = f(clipped(gr + wr @ before + br, clip))
        inner = r * (wh @ before + bh) if linear_before_reset else wh @ (r * before) + bh
        return (z * before + (1 - z) * g(clipped(gh + inner, clip)),)

    first = np.zeros((gates.shape[1], units), gates.dtype) if hidden is None else hidden
    y, last = walk(step, gates, (first,), count, reverse)
    return y, last


def rnn(
    gates: Array,
    w: Array,
    hidden: Array | None,
    count: Array | None,
    activations: Activations,
    clip: float,
    reverse: bool,
) -> tuple[Array, Array]:
    """One direction of ONNX RNN; see the row."""

    def step(x: Array, states: tuple[Array, ...], _: int) -> tuple[Array, ...]:
        return (activation(activations, 0, clipped(x + w @ states[0], clip)),)

    first = np.zeros((gates.shape[1], w.shape[1]), gates.dtype) if hidden is None else hidden
    y, last = walk(step, gates, (first,), count, reverse)
    return y, last
