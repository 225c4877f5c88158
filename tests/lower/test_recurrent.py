"""LSTM, GRU and RNN against onnxruntime: ONNX's reference knows neither lengths nor all activations."""

from __future__ import annotations

import numpy as np
import pytest
from lower.check import agrees_with_onnxruntime, listing
from lower.test_families import floats

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def weights(op: str, directions: int, size: int = 3, hidden: int = 4) -> dict[str, np.ndarray]:
    m = GATES[op] * hidden
    return {
        "w": floats((directions, m, size), 1),
        "r": floats((directions, m, hidden), 2),
        "b": floats((directions, 2 * m), 3),
    }


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_directions_and_lengths(op: str, direction: str) -> None:
    both = 2 if direction == "bidirectional" else 1
    outputs = "y, h, c" if op == "LSTM" else "y, h"
    text = f"{outputs} = {op}(x, w, r, b, n, direction='{direction}', hidden_size=4)"
    feeds = {"x": floats((6, 2, 3)), "n": np.array([6, 4], np.int32)}
    types = {"x": "f32[t, n0, 3]", "n": "i32[n0]"}
    agrees_with_onnxruntime(text, feeds, **types, **weights(op, both))


@pytest.mark.parametrize("op", GATES)
def test_initial_states(op: str) -> None:
    states = {"h": floats((1, 2, 4), 5)} | ({"c": floats((1, 2, 4), 6)} if op == "LSTM" else {})
    text = f"y = {op}(x, w, r, b, None, {', '.join(states)}, hidden_size=4)"
    feeds = {"x": floats((6, 2, 3)), **states}
    types = {"x": "f32[t, n, 3]"} | dict.fromkeys(states, "f32[1, n, 4]")
    agrees_with_onnxruntime(text, feeds, **types, **weights(op, 1))


def test_peepholes_and_other_activations() -> None:
    attrs = "hidden_size=4, activations=['Tanh', 'Relu', 'Sigmoid'], clip=0.8"
    given = weights("LSTM", 1) | {"p": floats((1, 12), 7)}
    text = f"y = LSTM(x, w, r, b, None, None, None, p, {attrs})"
    agrees_with_onnxruntime(text, {"x": floats((6, 2, 3))}, x="f32[t, n, 3]", **given)


@pytest.mark.parametrize("linear", [0, 1])
def test_gru_resets_before_or_after(linear: int) -> None:
    text = f"y = GRU(x, w, r, b, hidden_size=4, linear_before_reset={linear})"
    agrees_with_onnxruntime(text, {"x": floats((6, 2, 3))}, x="f32[t, n, 3]", **weights("GRU", 1))


@pytest.mark.parametrize("op", GATES)
def test_batch_first_is_the_same_numbers_in_other_axes(op: str) -> None:
    x, h = floats((6, 2, 3)), floats((1, 2, 4), 5)
    given = weights(op, 1)
    first = lower(onnx_text(f"y, h1 = {op}(x, w, r, b, None, h, hidden_size=4, layout=1)",
                            x="f32[n, t, 3]", h="f32[n, 1, 4]", **given))  # fmt: skip
    usual = lower(onnx_text(f"y, h1 = {op}(x, w, r, b, None, h, hidden_size=4)",
                            x="f32[t, n, 3]", h="f32[1, n, 4]", **given))  # fmt: skip
    a = run(first, {"x": x.swapaxes(0, 1), "h": h.swapaxes(0, 1)})
    b = run(usual, {"x": x, "h": h})
    assert (a["y"] == b["y"].transpose(2, 0, 1, 3)).all()
    assert (a["h1"] == b["h1"].swapaxes(0, 1)).all()


HAVE = {
    "Affine": (0.8, 0.1), "LeakyRelu": (0.3, None), "ThresholdedRelu": (0.2, None), "ScaledTanh": (0.7, 1.3),
    "HardSigmoid": (0.3, 0.4), "Elu": (0.5, None), "Softsign": (None, None), "Softplus": (None, None),
}  # fmt: skip
"""Functions with an alpha and a beta, or without."""


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("name", HAVE)
def test_alpha_and_beta(op: str, name: str) -> None:
    """Each in the last place, behind one that has both: lists are handed out by who has one."""
    (alpha, beta), first = HAVE[name], [] if op == "RNN" else ["HardSigmoid"]
    names = [*first, *(["Tanh"] if op == "LSTM" else []), name]
    alphas = [*(0.25 for _ in first), *([] if alpha is None else [alpha])]
    betas = [*(0.45 for _ in first), *([] if beta is None else [beta])]
    lists = (f", activation_alpha={alphas}" if alphas else "") + (
        f", activation_beta={betas}" if betas else ""
    )
    text = f"y = {op}(x, w, r, b, hidden_size=4, activations={names}{lists})"
    agrees_with_onnxruntime(text, {"x": floats((6, 2, 3))}, x="f32[t, n, 3]", **weights(op, 1))


def test_both_directions_take_from_one_list() -> None:
    names = ["HardSigmoid", "Elu", "LeakyRelu", "HardSigmoid", "ScaledTanh", "Elu"]
    alpha, beta = [0.3, 0.5, 0.1, 0.2, 0.7, 0.9], [0.4, 0.6, 1.3]
    text = (
        f"y, h, c = LSTM(x, w, r, b, hidden_size=4, direction='bidirectional', activations={names}, "
        f"activation_alpha={alpha}, activation_beta={beta})"
    )
    agrees_with_onnxruntime(text, {"x": floats((6, 2, 3))}, x="f32[t, n, 3]", **weights("LSTM", 2))


def test_too_few_functions_are_refused() -> None:
    text = "y = LSTM(x, w, r, b, hidden_size=4, activations=['Sigmoid', 'Tanh'])"
    with pytest.raises(LoweringError, match="expected 3 for each direction, got 2"):
        lower(onnx_text(text, x="f32[t, n, 3]", **weights("LSTM", 1)))


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("op", GATES)
def test_sequences_are_read_as_they_lie(op: str, layout: int) -> None:
    """Whatever is first, time or batch: rows of x are multiplied where they are, and nothing is copied in front."""
    shape = "f32[n, t, 3]" if layout else "f32[t, n, 3]"
    lines = listing(
        f"y = {op}(x, w, r, b, hidden_size=4, layout={layout})", x=shape, **weights(op, 1)
    )
    at = next(i for i, line in enumerate(lines) if f"= {op.lower()}(" in line)
    assert not any("= copy(" in line for line in lines[:at]), lines
