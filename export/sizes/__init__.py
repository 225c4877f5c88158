"""Sizes, which Graph and Program share: integers, or expressions over dimensions; dimensions, and relations between sizes."""

from __future__ import annotations

import dataclasses
from typing import Final, TypeAlias

import sympy

Extent: TypeAlias = int | sympy.Expr
"""A size: a number, or an integer expression over the symbols named in `Program.dims`."""

HUGE: Final = 2**31 - 1
"""The largest size; ONNX models write such numbers for "to the end"."""
LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
"""Of an integer input's element."""
NONE: Final = 0xFFFFFFFF
MAX_ELEMENTS: Final = 1 << 40
"""Of a value: the product of its extents, those that are 0 left out."""


@dataclasses.dataclass(frozen=True, slots=True)
class Dim:
    """A dimension that the exporter does not know. kind: symbolic, shape (a shape input's element) or counted."""

    name: str
    kind: str = "symbolic"
    min: int = 1
    max: int = HUGE
    hint: int = 1  # the size that the stored plan is made for
    port: int = NONE  # shape: method input
    element: int = 0  # shape: which of its elements
    capacity: Extent | None = None  # counted: bound, or None for max_extent


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """A relation checked at prepare: eq (a == b), le (a <= b), divides (b % a == 0)."""

    kind: str
    a: Extent
    b: Extent
    text: str
