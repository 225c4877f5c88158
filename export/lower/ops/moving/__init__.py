"""Lowerings of the family of schema/ops_moving.py; importing this enters them."""

from pteron.export.lower.ops.moving import indexing, movement, shape, unique

__all__ = ["indexing", "movement", "shape", "unique"]
