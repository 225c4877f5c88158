"""Lowerings of the family of schema/ops_matrix.py; importing this enters them."""

from . import conv, int8, products

__all__ = ["conv", "int8", "products"]
