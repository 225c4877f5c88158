"""Ranges of a graph's inputs whose codes lie on their elements.

Pixels have 256 values, and (value / 255 - 0.5) / 0.5 is 0 for none of them: on the grid of [-1, 1], which holds 0, each lies half between
two codes, the worst place of all. A range that is a little wider has them apart, at a third of the squared error.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from .calibrate import Ranges
from .grids import grid_of
from .samples import Sample

Array = NDArray[Any]

SAMPLES: Final = 16
WIDER: Final = tuple(1 + i / 512 for i in range(9))
"""Times a range: over 255 codes the elements shift by up to two steps from one end to the other."""
LESS: Final = 0.75
"""Of the squared error, and a wider range is taken: elements of any value miss codes alike."""


def settled(model: ir.Model, ranges: Ranges, given: Iterable[Sample]) -> Ranges:
    """`ranges`, some of the inputs' a little wider, by the first samples."""
    some = list(itertools.islice(given, SAMPLES))
    found = dict(ranges.by_name)
    for name in (str(v.name) for v in model.graph.inputs if v.name in ranges.by_name):
        low, high = ranges[name]
        x = np.concatenate([np.asarray(sample[name], np.float64).reshape(-1) for sample in some])
        missed = [_missed(x, low * wider, high * wider) for wider in WIDER]
        best = int(np.argmin(missed))
        if missed[best] < LESS * missed[0]:
            found[name] = low * WIDER[best], high * WIDER[best]
    return dataclasses.replace(ranges, by_name=found)


def _missed(x: Array, low: float, high: float) -> float:
    """The mean square of what codes of this range miss."""
    grid = grid_of(low, high)
    codes = np.clip(np.rint(x / float(grid.scale)) + grid.zero, -128, 127)
    return float(np.square((codes - grid.zero) * float(grid.scale) - x).mean()) if x.size else 0.0
