"""Recurrent layers as LSTM, GRU and RNN of ONNX, one for each layer; over any number of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pteron.schema.errors import ModelError

from .aten import full_like, ints, op
from .aten_training import random_dropout

GATES: Final = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
"""ONNX's order of gates, by their places in PyTorch's weights."""
LAST: Final = 2**63 - 1


def lstm(
    x: Any,
    h: Any,
    c: Any,
    weights: Sequence[Any],
    has_biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    return _stacked("lstm", x, (h, c), weights, has_biases, layers, bidirectional, batch_first)


def recurrent(
    kind: str,
    x: Any,
    h: Any,
    weights: Sequence[Any],
    has_biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    return _stacked(kind, x, (h,), weights, has_biases, layers, bidirectional, batch_first)


def aten_lstm(
    x: Any,
    states: Sequence[Any],
    weights: Sequence[Any],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """torch.onnx knows no projections."""
    _check_dropout(dropout, train)
    h, c = states
    return lstm(x, h, c, weights, has_biases, layers, bidirectional, batch_first)


def aten_recurrent(kind: str) -> Any:
    def translated(
        x: Any,
        state: Any,
        weights: Sequence[Any],
        has_biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        _check_dropout(dropout, train)
        return recurrent(kind, x, state, weights, has_biases, layers, bidirectional, batch_first)

    return translated


def _check_dropout(p: float, train: bool) -> None:
    if train and p > 0:
        raise ModelError(random_dropout(p))


def _stacked(
    kind: str,
    x: Any,
    states: Sequence[Any],
    weights: Sequence[Any],
    has_biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """The last layer's results and the last states of all, [layers * directions, batch, size]."""
    count = 2 if bidirectional else 1
    each = len(weights) // (layers * count)
    x = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    ends: list[list[Any]] = [[] for _ in states]
    for layer in range(layers):
        at = layer * count
        own = [weights[i * each : (i + 1) * each] for i in range(at, at + count)]
        first = [op.Slice(s, ints(at), ints(at + count), ints(0)) for s in states]
        x, last = _layer(kind, x, first, own, has_biases)
        for end, state in zip(ends, last, strict=True):
            end.append(state)
    y = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    return (y, *(op.Concat(*end, axis=0) if len(end) > 1 else end[0] for end in ends))


def _layer(
    kind: str, x: Any, states: list[Any], own: list[Any], has_biases: bool
) -> tuple[Any, list[Any]]:
    """`own`: a direction's weights of the input, of the state, two biases, and the projection, where it has these."""
    projections = [w[-1] for w in own] if len(own[0]) % 2 else []
    of_input = [_gates(kind, w[0]) for w in own]
    of_state = [_gates(kind, w[1]) for w in own]
    if projections:
        size = own[0][1].shape[1]
        x, of_input, states = _with_first_state(x, of_input, of_state, states, size)
        of_state = [op.MatMul(r, p) for r, p in zip(of_state, projections, strict=True)]
    biases = None
    if has_biases:
        both = [op.Concat(*(_gates(kind, b) for b in w[2:4]), axis=0) for w in own]
        biases = _beside(both)
    hidden = own[0][1].shape[0] // len(GATES[kind])
    how: dict[str, Any] = {"hidden_size": hidden}
    how["direction"] = "bidirectional" if len(own) == 2 else "forward"
    first = (_beside(of_input), _beside(of_state), biases, None)
    if kind == "lstm":
        y, h, c = op.LSTM(x, *first, *states, **how)
    elif kind == "gru":
        y, h = op.GRU(x, *first, *states, linear_before_reset=1, **how)
    else:
        activation = "Relu" if kind == "rnn_relu" else "Tanh"
        y, h = op.RNN(x, *first, *states, activations=[activation] * len(own), **how)
    if projections:  # [directions, hidden, size]
        p = _beside([op.Transpose(w, perm=[1, 0]) for w in projections])
        y, h = op.MatMul(y, p), op.MatMul(h, p)
    y = op.Transpose(y, perm=[0, 2, 1, 3])  # [steps, batch, directions, size]
    y = op.Reshape(y, ints(0, 0, -1))
    return y, [h, c] if kind == "lstm" else [h]


def _gates(kind: str, w: Any) -> Any:
    """Rows of a weight, or elements of a bias, in ONNX's order of gates."""
    order = GATES[kind]
    if len(order) == 1:
        return w
    size = w.shape[0] // len(order)
    parts = [op.Slice(w, ints(i * size), ints((i + 1) * size), ints(0)) for i in order]
    return op.Concat(*parts, axis=0)


def _beside(parts: list[Any]) -> Any:
    """With an axis of directions in front."""
    wide = [op.Unsqueeze(p, ints(0)) for p in parts]
    return op.Concat(*wide, axis=0) if len(wide) > 1 else wide[0]


def _with_first_state(
    x: Any, of_input: list[Any], of_state: list[Any], states: list[Any], size: int
) -> tuple[Any, list[Any], list[Any]]:
    """A projection p is folded into the weights of the state, r (p s) = (r p) s, and the state becomes what is projected, from 0 on: so
    the first projected state is input, beside x, of each direction's first step."""
    h, c = states
    count = len(of_input)
    later = op.Shape(op.Slice(x, ints(1), ints(LAST), ints(0)), end=2)
    zeros = op.Expand(full_like(x, 0), op.Concat(later, ints(size), axis=0))
    parts, wide = [x], []
    for i, (w, r) in enumerate(zip(of_input, of_state, strict=True)):
        own = op.Slice(h, ints(i), ints(i + 1), ints(0))
        parts.append(op.Concat(*((own, zeros) if i == 0 else (zeros, own)), axis=0))
        columns = [r if k == i else op.Sub(r, r) for k in range(count)]
        wide.append(op.Concat(w, *columns, axis=1))
    begin = op.Expand(full_like(x, 0), op.Shape(c))
    return op.Concat(*parts, axis=2), wide, [begin, c]
