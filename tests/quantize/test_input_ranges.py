"""Ranges of inputs: pixels that lie half between codes get a wider one, elements of any value keep theirs."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from passes.static import quantized

from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.calibrate import Ranges
from pteron.quantize.observe.input_ranges import settled

RNG = np.random.default_rng(4)
SHAPE = (1, 3, 16, 16)


def network() -> ir.Model:
    w = RNG.standard_normal((4, 3, 1, 1)).astype(np.float32)
    return onnx_text("y = Conv(x, w)", x=f"f32{list(SHAPE)}", w=w)


def pixels() -> np.ndarray:
    return ((RNG.integers(0, 256, SHAPE) / 255 - 0.5) / 0.5).astype(np.float32)


def error(x: np.ndarray, scale: float, zero: int) -> float:
    codes = np.clip(np.round(x / scale) + zero, -128, 127)
    return float(np.sqrt(np.square((codes - zero) * scale - x).mean()))


def test_pixels_that_lie_half_between_codes_get_a_wider_range() -> None:
    given = [{"x": pixels()} for _ in range(4)]
    report = quantized(network(), given)
    (row,) = (a for a in report.activations if a.name == "x")
    assert 1 < row.high / 1 < 1.02 and report.ranges["x"] == (row.low, row.high)
    x = pixels()
    step = 2 / 255
    assert error(x, step, -1) > 0.49 * step
    assert error(x, row.scale, row.zero) < 0.35 * step


def test_elements_of_any_value_and_other_values_keep_their_ranges() -> None:
    given = [{"x": RNG.uniform(-1, 1, SHAPE).astype(np.float32)}]
    ranges = Ranges(1, {"x": (-1.0, 1.0), "y": (-3.0, 2.0)})
    assert settled(network(), ranges, given) == ranges
    wide = settled(network(), ranges, [{"x": pixels()}])
    assert wide["x"] != ranges["x"] and wide["y"] == ranges["y"]
    nothing = Ranges(1, {"x": (0.0, 0.0), "y": (0.0, 0.0)})
    assert settled(network(), nothing, [{"x": np.zeros(SHAPE, np.float32)}]) == nothing
