"""Limits, biases and bounds of clusters of Q/DQ, at the places where a tolerance ends."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from pteron.export.graph.text import onnx_text
from pteron.export.passes.int8 import clusters
from pteron.export.passes.int8.clusters import BIAS_GIVES, BIAS_TOLERANCE, Side, narrowed

X = ir.Value(name="x")


def node(text: str, **constants: float) -> ir.Node:
    model = onnx_text(text, x="f32[4]", **{k: np.float32(v) for k, v in constants.items()})
    return model.graph[-1]


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [(-1.0, 2.0, (-5, 25)), (3.0, 1.0, (15, 15)), (-1e9, 1e9, (-128, 127)), (0.04, 0.06, (5, 6))],
)
def test_limits_of_a_clip(low: float, high: float, want: tuple[int, int]) -> None:
    """Where min is above max, all is max, as ONNX says."""
    clip = node("y = Clip(x, low, high)", low=low, high=high)
    assert narrowed(clip, 0.1, 5, 8) == want


def test_the_farthest_code() -> None:
    assert Side(X, 1.0, 3).most == Side(X, 1.0, -128).most == 255
    assert Side(X, 1.0, 0, 16).most == 32768
    assert Side(X, 1.0, 100, 16).most == Side(X, 1.0, -100, 16).most == 32868


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_scales_of_a_bias_differ_relatively(scale: float) -> None:
    """Codes stay where their scale is the sums' own but for rounding, of whatever size it is."""

    def bias(off: float) -> np.ndarray:
        graph = onnx_text(
            "b = DequantizeLinear(codes, steps); y = Add(x, b)", x="f32[1, 2]",
            codes=np.array([1 << 28, -(1 << 28)], np.int32), steps=np.full(2, scale * off, np.float32),
        )  # fmt: skip
        value = graph.graph[-1].inputs[1]
        return clusters._bias(value, np.full(2, np.float64(np.float32(scale))), 2)

    assert bias(1.0).tolist() == [1 << 28, -(1 << 28)]
    near, far = bias(1 + BIAS_TOLERANCE / 2), bias(1 + 8 * BIAS_TOLERANCE)
    assert near.tolist() == [1 << 28, -(1 << 28)]
    assert np.allclose(np.abs(far) / (1 << 28), 1 + 8 * BIAS_TOLERANCE, rtol=2.0**-23)
    assert (np.abs(far) > 1 << 28).all()


@pytest.mark.parametrize("part", [0.5, 2.0, 8.0])
def test_a_bias_gives_way_by_parts_of_a_step(part: float) -> None:
    """Where int32 does not hold sums with it, and only so far."""
    bias = np.array([(1 << 31) - 1], np.int32)
    w, x = np.full((1, 4), 127, np.int8), Side(X, 1.0, 0)
    room = (1 << 31) - 1 - 4 * 127 * 128
    missing = float(bias[0]) - room
    held = clusters._held(w, bias, x, np.array([BIAS_GIVES * part / missing]))
    assert (held[0] < bias[0]) == (part <= 1)
