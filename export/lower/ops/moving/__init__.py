"""Lowerings of the family of schema/ops_moving.py; importing this enters them."""

from . import indexing, movement, pads, random, shape, unique

__all__ = ["indexing", "movement", "pads", "random", "shape", "unique"]
