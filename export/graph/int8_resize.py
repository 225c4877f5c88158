"""Resize between elements in integers: from ONNX's coordinates to those of TOSA's RESIZE, which are fractions of small numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.meaning import int8 as integer

from .. import graph as g
from .int8 import Interpolate

LARGEST: Final = 2048
"""Of a numerator: TOSA has no larger ones, and sums of two axes fit int32."""
FARTHEST: Final = 16
"""TOSA has no steps of so many elements, nor offsets."""
AXES: Final = 2
NEAR: Final = 4096
"""A scale that is the float next to a fraction of so small a denominator is that fraction, as where Resize is lowered in f32."""


def between(node: ir.Node) -> Interpolate | None:
    """What a Resize between elements is in integers; None where it is something else, or asks for numbers that TOSA has not.

    Extents have to be known; x is [b, c, *s] of one or two spatial axes, which alone are resized, linearly, without antialiasing.
    """
    linear = str(g.attr(node, "mode", "nearest")) == "linear"
    plain = not any(g.attr(node, name, 0) for name in ("antialias", "exclude_outside"))
    plain &= str(g.attr(node, "keep_aspect_ratio_policy", "stretch")) == "stretch"
    before, after = g.dims(node.inputs[0]), g.dims(node.outputs[0])
    if not (linear and plain) or before is None or after is None or len(before) != len(after):
        return None
    if not 1 <= len(before) - 2 <= AXES or before[:2] != after[:2]:
        return None
    sizes = [(n, m) for n, m in zip(before[2:], after[2:], strict=True) if isinstance(n, int) and isinstance(m, int)]  # fmt: skip
    scales = _scales(node, len(before))
    if len(sizes) != len(before) - 2 or scales is None or scales[:2] not in ([], [1, 1]):
        return None
    return _row(node, sizes, scales[2:])


def _row(
    node: ir.Node, sizes: Sequence[tuple[int, int]], scales: Sequence[Fraction]
) -> Interpolate | None:
    mode = str(g.attr(node, "coordinate_transformation_mode", "half_pixel"))
    rows = []
    for i, (extent, out) in enumerate(sizes):
        if extent < 1 or out < 1:
            return None
        line = _line(mode, extent, out, scales[i] if scales else Fraction(out, extent))
        if line is None:
            return None
        n = math.lcm(*(f.denominator for f in line))
        d, offset = (int(f * n) for f in line)
        if not (n <= LARGEST and 0 < d < FARTHEST * n and -n <= offset < FARTHEST * n):
            return None
        rows.append((out, n, d, offset))
    extents, numerators, denominators, offsets = zip(*rows, strict=True)
    factor = integer.multiplier_shift(1 / math.prod(numerators))
    return Interpolate(extents, numerators, denominators, offsets, *factor)


def _line(mode: str, extent: int, out: int, scale: Fraction) -> tuple[Fraction, Fraction] | None:
    """(step, begin): element j of the result lies at j * step + begin of x. None: no such line."""
    length, step = scale * extent, 1 / scale
    middle = step / 2 - Fraction(1, 2)
    if mode == "asymmetric":
        return step, Fraction(0)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and length > 1):
        return step, middle
    if mode == "half_pixel_symmetric":
        return step, middle + Fraction(extent, 2) * (1 - out / length)
    if mode == "align_corners" and length > 1 and extent > 1:
        return (extent - 1) / (length - 1), Fraction(0)
    return None


def _scales(node: ir.Node, rank: int) -> list[Fraction] | None:
    """Of all axes; []: the extents say them. None: they are not known, or no fractions of small numbers."""
    if len(node.inputs) > 3 and node.inputs[3] is not None:
        return [] if g.constant_tensor(node.inputs[3]) is not None else None
    found = g.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    if found is None:
        return None
    axes = [int(a) % rank for a in g.attr(node, "axes") or range(rank)]
    scales = [Fraction(1)] * rank
    for axis, value in zip(axes, found.reshape(-1), strict=True):
        scales[axis] = Fraction(float(value)).limit_denominator(NEAR)
        if scales[axis] <= 0 or np.float32(float(scales[axis])) != np.float32(value):
            return None
    return scales
