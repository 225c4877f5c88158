"""Attention and recurrences. How to read a row: schema/row.py."""

from __future__ import annotations

from typing import Literal

from .meaning import narrow, sequence
from .meaning.sequence import ACTIVATIONS
from .row import I64, A, F, Floats, Ints, W, op

RECURRENT = f"""
    dtype(w) == f32; format(w) == plain; groups(w) == 1;
    0 <= activations <= {len(ACTIVATIONS) - 1}; clip >= 0
"""


@op(
    id=35,
    since=1,
    shape="[b, h, s, d] [b, g, p, d, *l] [b, g, t, e] [b, h, s, t] [b] [b, g, t, 1] [b, g, t, 1] [2, h] -> [b, s, h, e]",
    strided="q k v mask",
    bound="8 K eps",
    where="""
        h % g == 0; d <= 2**16; e <= 2**16; dtype(mask) in (bool, f32);
        dtype(k) in (f32, f16, f8e4m3, i8); dtype(v) in (f32, f16, f8e4m3, i8);
        turned * d % 64 == 0;
        len(l) <= 1; l == 16; p * product(l) == t;
        0 <= ring <= 2**61; ring == 0 or t % 64 == 0; ring == 0 or bits(mask) == 0; ring == 0 or left_window >= 0;
        left_window <= 2**61; right_window <= 2**61
    """,
)
def attention(
    q: F,
    k: A,
    v: A,
    mask: A | None = None,
    key_count: I64 | None = None,
    k_scale: F | None = None,
    v_scale: F | None = None,
    bias: F | None = None,
    *,
    scale: float,
    causal: Literal["none", "top_left", "bottom_right"] = "none",
    softcap: float = 0.0,
    left_window: int = -1,
    right_window: int = -1,
    turned: bool = False,
    ring: int = 0,
) -> F:
    """softmax(cap(scale q k^T) + mask) v, query head i with key head i // (h / g). A bool mask is where to look, an f32
    mask is added. key_count[b] keys of batch b count, from the first. Query j stands at j (top_left) or j + keys - s
    (bottom_right, and for windows with key_count). A query that sees nothing gives 0. Key tiles of 64 at absolute positions,
    merged in order: T x T is never stored. Keys and values of fewer bytes count as the f32 that they are, times their scales
    (codes); for keys that are turned q is, too. bias[0] of the head times key - query is added to capped scores (ALiBi, Press et al.
    2022), bias[1] is the score of a key more, with a value of 0 (a sink; -inf: none). The heads of a query come out side by side, as the next product
    reads them. Keys may lie in panels of 16, [b, g, t / 16, d, 16] (panel_scatter). In a ring key j lies at j modulo t:
    the last t of key_count[b] are there, of at most `ring`. Milakov and Gimelshein 2018; Dao et al. 2022."""
    k = sequence.keys_in_rows(k)
    q = narrow.turn(q) if turned else q
    k, v = (x if by is None else x.astype(q.dtype) * by for x, by in ((k, k_scale), (v, v_scale)))
    return sequence.attention(
        q, k, v, mask, key_count, scale, causal, softcap, left_window, right_window, bias, ring > 0
    ).swapaxes(1, 2)


@op(
    id=75,
    since=1,
    shape="[*s, d] -> [*s, d] [*s, 1]",
    strided="x",
    where="dtype(y0) == i8; turned * d % 64 == 0; d <= 2**16",
)
def codes(x: F, *, turned: bool = False) -> tuple[A, F]:
    """Rows as codes of 8 bits and a scale each, absmax / 127: what a context keeps. Turned, which spreads a large element over 64
    (narrow.turn), or as they are. A row with an infinity or a NaN has scale NaN and codes of 0."""
    rows, scale = narrow.turned_codes(x) if turned else narrow.row_codes(x)
    return rows, scale[..., None]


@op(
    id=36,
    since=1,
    shape="[t, b, m] [m, h] [b, h] [b, h] [p] [b] -> [t, b, h] [b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
    where=f"m == 4 * h; p == 3 * h; len(activations) == 3; len(parameters) == 6; {RECURRENT}",
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
    parameters: Floats,
    clip: float = 0.0,
    input_forget: bool = False,
    reverse: bool = False,
) -> tuple[F, F | None, F | None]:
    """Recurrence over t of ONNX LSTM, one direction; gates = x W^T + biases (iofc, m = 4 h), w = R. count[b] steps of
    batch b are real, the rest of y is 0. activations: indices into ACTIVATIONS for f, g, h; parameters: alpha and beta of each. Hochreiter 1997; Gers 2000."""
    return sequence.lstm(
        gates,
        w,
        hidden,
        cell,
        peephole,
        count,
        (activations, parameters),
        clip,
        input_forget,
        reverse,
    )


@op(
    id=37,
    since=1,
    shape="[t, b, m] [m, h] [m] [b, h] [b] -> [t, b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
    where=f"m == 3 * h; len(activations) == 2; len(parameters) == 4; {RECURRENT}",
)
def gru(
    gates: F,
    w: W,
    bias: F | None = None,
    hidden: F | None = None,
    count: I64 | None = None,
    *,
    activations: Ints,
    parameters: Floats,
    clip: float = 0.0,
    linear_before_reset: bool = False,
    reverse: bool = False,
) -> tuple[F, F | None]:
    """Recurrence over t of ONNX GRU, one direction; gates = x W^T + Wb (zrh, m = 3 h), w = R, bias = Rb. Cho et al. 2014."""
    return sequence.gru(
        gates, w, bias, hidden, count, (activations, parameters), clip, linear_before_reset, reverse
    )


@op(
    id=38,
    since=1,
    shape="[t, b, h] [h, h] [b, h] [b] -> [t, b, h] [b, h]",
    strided="gates",
    bound="t 64 K eps",
    where=f"len(activations) == 1; len(parameters) == 2; {RECURRENT}",
)
def rnn(
    gates: F,
    w: W,
    hidden: F | None = None,
    count: I64 | None = None,
    *,
    activations: Ints,
    parameters: Floats,
    clip: float = 0.0,
    reverse: bool = False,
) -> tuple[F, F | None]:
    """h = f(gates[t] + h R^T): ONNX RNN, one direction. Elman 1990."""
    return sequence.rnn(gates, w, hidden, count, (activations, parameters), clip, reverse)
