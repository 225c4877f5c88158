"""Lowerings of the family of schema/ops_matrix.py; importing this enters them."""

from . import conv, determinant, int8, products

__all__ = ["conv", "determinant", "int8", "products"]
