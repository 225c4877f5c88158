"""Lowerings of the family of schema/ops_images.py; importing this enters them."""

from . import pool, regions, signal

__all__ = ["pool", "regions", "signal"]
