"""Grids of activations: the values that codes of 8 or 16 bits stand for, by the range that samples showed.

A grid of int8 has one scale and one zero point a tensor, one of int16 a scale alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from ..recipe.units import Unit
from .calibrate import Ranges

Array = NDArray[Any]

SMALLEST_ACTIVATION: Final = 2.0**-40
"""The least scale."""
FLOAT: Final = 32
"""Bits of what is not rounded."""
HEADROOM: Final = 2.0
"""Times the range that samples showed, of int16: what others than these reach beyond would be lost, and of 16 bits one is not missed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """The values (code - zero) * scale, code in -128 .. 127, or of 16 bits."""

    scale: np.float32
    zero: int
    bits: int = 8

    @property
    def zero_point(self) -> Array:
        """Of the codes' type."""
        return np.array(self.zero, np.int8 if self.bits == 8 else np.int16)


def grid_of(low: float, high: float, bits: int = 8) -> Grid:
    """The grid of 256 values over [low, high], widened to hold 0, which it holds exactly. A range of zeros has scale 1.

    Of 16 bits it is symmetric about 0, as TOSA and TFLite want it, and wider (HEADROOM).
    """
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return Grid(np.float32(1), 0, bits)
    if bits == 16:
        step = HEADROOM * max(-low / 32768, high / 32767)
        return Grid(np.float32(max(step, SMALLEST_ACTIVATION)), 0, bits)
    scale = np.float32(max((high - low) / 255, SMALLEST_ACTIVATION))
    return Grid(scale, int(np.clip(round(-128 - low / float(scale)), -128, 127)))


def observed(plan: list[Unit]) -> list[str]:
    """Names of the values whose ranges `quantize_static` needs, in order."""
    found: dict[str, None] = {}
    made: set[ir.Value] = set()
    for unit in plan:
        found |= {str(x.name): None for x in unit.inputs if x not in made}
        if not unit.same:
            found[str(unit.output.name)] = None
        made |= {*unit.inputs, unit.output}
    return list(found)


def grids_of(plan: Sequence[Unit], ranges: Ranges, bits: int) -> dict[ir.Value, Grid]:
    """The grid of each value that units read or make, by its range.

    Raises:
        RecipeError: a range is missing.
    """
    return {value: grid_of(*pair, bits) for value, pair in ends_of(plan, ranges).items()}


def ends_of(plan: Sequence[Unit], ranges: Ranges) -> dict[ir.Value, tuple[float, float]]:
    """The range of each value that units read or make, in order; moved elements keep theirs."""
    found: dict[ir.Value, tuple[float, float]] = {}
    for unit in plan:
        for value in unit.inputs:
            if value not in found:
                found[value] = ranges[str(value.name)]
        if unit.output not in found:
            moved = found[unit.inputs[0]] if unit.same else None
            found[unit.output] = moved or ranges[str(unit.output.name)]
    return found
