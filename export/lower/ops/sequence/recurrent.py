"""LSTM, GRU and RNN: the inputs of all gates are one matmul, the recurrence is an instruction for each direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pteron.schema.meaning.sequence import ACTIVATIONS

from ....sizes import Extent
from ....sizes.extents import mul
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ..matrix.products import linear
from ..moving.movement import concat

USUAL = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
    "RNN": ("tanh",),
}
NAMES = {
    "leakyrelu": "leaky_relu",
    "thresholdedrelu": "thresholded_relu",
    "scaledtanh": "scaled_tanh",
    "hardsigmoid": "hard_sigmoid",
}
ALPHA = {
    "leaky_relu": 0.01, "thresholded_relu": 1.0, "hard_sigmoid": 0.2, "elu": 1.0, "affine": 1.0, "scaled_tanh": 1.0,
}  # fmt: skip
BETA = {"hard_sigmoid": 0.5, "affine": 0.0, "scaled_tanh": 1.0}
"""Of the functions that have one: what ONNX's operators of these names have where nothing is given; 1, 0 where there is none."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Inputs:
    """What all directions share; sequences first: x [t, b, i], states [directions, b, h]."""

    x: Ref
    w: Ref
    r: Ref
    bias: Ref | None
    count: Ref | None
    hidden: Ref | None
    cell: Ref | None
    peephole: Ref | None


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@lowers("LSTM", "GRU", "RNN")
def lower_recurrent(l: Lowering, n: Node) -> Sequence[Ref | None]:
    batch_first = bool(n.integer("layout"))
    given = _read(l, n, batch_first)
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[
        n.text("direction", "forward").lower()
    ]
    runs = [_direction(l, n, given, d, reverse) for d, reverse in enumerate(directions)]
    out: list[Ref | None] = []
    for i, place in enumerate((1, 0, 0)[: len(n.wanted)]):
        parts = [run[i] for run in runs]
        if not n.wanted[i]:
            out.append(None)
            continue
        whole = concat(l, [l.unsqueeze(p, [place]) for p in parts if p is not None], place)
        if batch_first:  # [t, d, b, h] -> [b, t, d, h]; [d, b, h] -> [b, d, h]
            whole = l.transpose(whole, (2, 0, 1, 3) if i == 0 else (1, 0, 2))
        out.append(convert(l, whole, n[0].dtype))
    return out


def _read(l: Lowering, n: Node, batch_first: bool) -> _Inputs:
    def wide(i: int) -> Ref | None:
        ref = n.get(i)
        return None if ref is None else convert(l, ref, "f32")

    def state(i: int) -> Ref | None:
        ref = wide(i) if n.op_type == "LSTM" or i < 6 else None
        return l.transpose(ref, (1, 0, 2)) if ref is not None and batch_first else ref

    x = convert(l, n[0], "f32")
    count = n.get(4)
    return _Inputs(
        l.transpose(x, (1, 0, 2)) if batch_first else x,
        convert(l, n[1], "f32"),
        convert(l, n[2], "f32"),
        wide(3),
        None if count is None else convert(l, count, "i64"),
        state(5),
        state(6),
        wide(7) if n.op_type == "LSTM" else None,
    )


def _direction(l: Lowering, n: Node, given: _Inputs, d: int, reverse: bool) -> list[Ref | None]:
    """(y [t, b, h], last hidden [b, h], last cell [b, h] of LSTM)."""

    def own(ref: Ref | None) -> Ref | None:
        return None if ref is None else l.squeeze(l.slice(ref, 0, d, 1), [0])

    w, r = own(given.w), own(given.r)
    assert w is not None and r is not None
    (t, b), h = given.x.shape[:2], r.shape[1]
    rows = mul(GATES[n.op_type], h)
    l.sizes.require_equal(w.shape[0], rows, "W has a row for each gate and hidden element")
    l.sizes.require_equal(r.shape[0], rows, "R has a row for each gate and hidden element")
    l.sizes.require_equal(w.shape[1], given.x.shape[2], "W has a column for each element of X")
    bias, inner = _biases(l, n, own(given.bias), rows)
    gates = _gates(l, given.x, w, bias)
    attrs: dict[str, Any] = {
        **_activations(l, n, d),
        "clip": n.number("clip"),
        "reverse": reverse,
    }
    hidden, cell = own(given.hidden), own(given.cell)
    results: list[tuple[str, tuple[Any, ...]] | None] = [("f32", (t, b, h))]
    results += [("f32", (b, h)) if _wanted(n, i) else None for i in (1, 2)]
    if n.op_type == "LSTM":
        attrs["input_forget"] = bool(n.integer("input_forget"))
        inputs = [gates, r, hidden, cell, own(given.peephole), given.count]
        return l.emit("lstm", inputs, attrs, results)
    if n.op_type == "GRU":
        attrs["linear_before_reset"] = bool(n.integer("linear_before_reset"))
        return l.emit("gru", [gates, r, inner, hidden, given.count], attrs, results[:2])
    return l.emit("rnn", [gates, r, hidden, given.count], attrs, results[:2])


def _gates(l: Lowering, x: Ref, w: Ref, bias: Ref | None) -> Ref:
    """x w^T + bias, [t, b, gates h]; rows are multiplied in the order in which they lie."""
    lies = l.memory_order(l.real(x))
    if lies[:2] == (1, 0):
        rows = l.transpose(x, (1, 0, 2))
        return l.transpose(linear(l, rows, w, bias), (1, 0, 2))
    return linear(l, x, w, bias)


def _wanted(n: Node, i: int) -> bool:
    return i < len(n.wanted) and n.wanted[i]


def _biases(l: Lowering, n: Node, both: Ref | None, rows: Extent) -> tuple[Ref | None, Ref | None]:
    """(bias of the input's gates, bias inside the recurrence): GRU keeps the second apart, the others add it to the first."""
    if both is None:
        return None, None
    both = l.agree(both, 0, mul(2, rows), "two biases for each row of the weight")
    first, second = l.slice(both, 0, 0, rows), l.slice(both, 0, rows, rows)
    if n.op_type == "GRU":
        return first, second
    arrays = l.values.array(first), l.values.array(second)
    if arrays[0] is not None and arrays[1] is not None:
        return l.values.constant(arrays[0] + arrays[1]), None
    return l.pointwise(lambda p, q: p + q, [first, second], "f32"), None


def _activations(l: Lowering, n: Node, d: int) -> dict[str, tuple[Any, ...]]:
    """Numbers of ACTIVATIONS, and alpha and beta of each. ONNX lists the functions one direction after the other, alphas and betas
    in the order of those that have one."""
    count = len(USUAL[n.op_type])
    names = n.texts("activations") or USUAL[n.op_type] * (d + 1)
    plain = [NAMES.get(name.lower(), name.lower()) for name in names]
    for name in plain:
        if name not in ACTIVATIONS:
            l.fail(f"activation {name}; expected one of {', '.join(ACTIVATIONS)}")
    alpha = _handed(n.numbers("activation_alpha") or (), plain, ALPHA)
    beta = _handed(n.numbers("activation_beta") or (), plain, BETA)
    own = slice(d * count, (d + 1) * count)
    if len(plain[own]) != count:
        l.fail(f"activations: expected {count} for each direction, got {len(plain)} for all")
    return {
        "activations": tuple(ACTIVATIONS.index(name) for name in plain[own]),
        "parameters": tuple(x for pair in zip(alpha[own], beta[own], strict=True) for x in pair),
    }


def _handed(given: Sequence[float], names: Sequence[str], usual: dict[str, float]) -> list[float]:
    """For each name the next number of those given, else the usual one; 0 for a name that has none."""
    left = iter(given)
    return [next(left, usual[name]) if name in usual else 0.0 for name in names]
