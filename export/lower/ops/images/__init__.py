"""Lowerings of the family of schema/ops_images.py; importing this enters them."""

from . import pool, regions, resize_i8, signal

__all__ = ["pool", "regions", "resize_i8", "signal"]
