"""Lowerings of the family of schema/ops_rows.py; importing this enters them."""

from . import norm, reduction, trees

__all__ = ["norm", "reduction", "trees"]
