"""LSTM, GRU and RNN from the equations of the standard: the reference knows no lengths, activations, clips and coupled gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from onnx.reference.op_run import OpRun

Array = np.ndarray[Any, Any]

FUNCTIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "hardsigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "leakyrelu": lambda x: np.where(x < 0, 0.01 * x, x),
    "elu": lambda x: np.where(x < 0, np.expm1(x), x),
}


class _Recurrent(OpRun):
    op_domain = ""
    gates = 1
    usual: tuple[str, ...] = ("Tanh",)

    def _run(
        self, x: Array, w: Array, r: Array, bias: Array | None = None, lengths: Array | None = None,
        hidden: Array | None = None, cell: Array | None = None, peephole: Array | None = None, **given: Any,
    ) -> tuple[Array, ...]:  # fmt: skip
        if given.get("layout"):
            x = x.swapaxes(0, 1)
            hidden, cell = (None if s is None else s.swapaxes(0, 1) for s in (hidden, cell))
        dtype, (t, b, _), (k, h) = x.dtype, x.shape, (w.shape[0], r.shape[2])
        x, w, r = (a.astype(np.float64) for a in (x, w, r))
        names = given.get("activations") or list(self.usual) * k
        ys = np.zeros((t, k, b, h))
        ends = np.zeros((2, k, b, h))
        for d in range(k):
            backwards = given.get("direction") == "reverse" or d == 1
            act = [FUNCTIONS[n.lower()] for n in names[d * len(self.usual) :][: len(self.usual)]]
            both = np.zeros(2 * self.gates * h) if bias is None else bias[d].astype(np.float64)
            peep = None if peephole is None else peephole[d].astype(np.float64)
            for i in range(b):
                n = t if lengths is None else int(lengths[i])
                state = [
                    np.zeros(h) if s is None else s[d, i].astype(np.float64) for s in (hidden, cell)
                ]
                for at in reversed(range(n)) if backwards else range(n):
                    state = self._step(x[at, i], state, w[d], r[d], both, peep, act, given)
                    ys[at, d, i] = state[0]
                ends[:, d, i] = state
        first, second = ends
        if given.get("layout"):
            ys, first, second = (
                ys.transpose(2, 0, 1, 3),
                first.swapaxes(0, 1),
                second.swapaxes(0, 1),
            )
        return tuple(a.astype(dtype) for a in (ys, first, second)[: len(self.output)])

    def _step(
        self, x: Array, state: Sequence[Array], w: Array, r: Array, bias: Array, peep: Array | None, act: Any, given: Any
    ) -> list[Array]:  # fmt: skip
        raise NotImplementedError


def _clipped(x: Array, given: Any) -> Array:
    limit = given.get("clip")
    return np.clip(x, -limit, limit) if limit else x


class LSTM(_Recurrent):
    gates, usual = 4, ("Sigmoid", "Tanh", "Tanh")

    def _step(self, x, state, w, r, bias, peep, act, given):  # type: ignore[no-untyped-def]
        hidden, cell = state
        f, g, last = act
        i, o, forget, c = np.split(w @ x + r @ hidden + sum(np.split(bias, 2)), 4)
        if peep is not None:
            pi, po, pf = np.split(peep, 3)
            i, forget = i + pi * cell, forget + pf * cell
        i = f(_clipped(i, given))
        forget = 1 - i if given.get("input_forget") else f(_clipped(forget, given))
        cell = forget * cell + i * g(_clipped(c, given))
        o = o if peep is None else o + po * cell
        return [f(_clipped(o, given)) * last(cell), cell]


class GRU(_Recurrent):
    gates, usual = 3, ("Sigmoid", "Tanh")

    def _step(self, x, state, w, r, bias, peep, act, given):  # type: ignore[no-untyped-def]
        hidden, f, g = state[0], *act
        (wz, wr, wh), (rz, rr, rh) = np.split(w @ x, 3), np.split(r, 3)
        bz, br, bh, cz, cr, ch = np.split(bias, 6)
        z = f(_clipped(wz + rz @ hidden + bz + cz, given))
        reset = f(_clipped(wr + rr @ hidden + br + cr, given))
        if given.get("linear_before_reset"):
            new = g(_clipped(wh + reset * (rh @ hidden + ch) + bh, given))
        else:
            new = g(_clipped(wh + rh @ (reset * hidden) + ch + bh, given))
        return [(1 - z) * new + z * hidden, state[1]]


class RNN(_Recurrent):
    def _step(self, x, state, w, r, bias, peep, act, given):  # type: ignore[no-untyped-def]
        y = w @ x + r @ state[0] + sum(np.split(bias, 2))
        return [act[0](_clipped(y, given)), state[1]]
