"""Lowerings of the family of schema/ops_rows.py; importing this enters them."""

from pteron.export.lower.ops.rows import norm, reduction

__all__ = ["norm", "reduction"]
