"""Lowerings by family of operator: the families of schema/ops_<family>.py. Importing this enters them."""

from . import (
    control,
    images,
    matrix,
    moving,
    pointwise,
    rows,
    sequence,
    stored,
)

__all__ = ["control", "images", "matrix", "moving", "pointwise", "rows", "sequence", "stored"]
