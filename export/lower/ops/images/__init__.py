"""Lowerings of the family of schema/ops_images.py; importing this enters them."""

from pteron.export.lower.ops.images import pool, regions, signal

__all__ = ["pool", "regions", "signal"]
