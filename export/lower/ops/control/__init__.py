"""Lowerings of the family of schema/ops_control.py; importing this enters them."""

from . import blocks, delegate, ways

__all__ = ["blocks", "delegate", "ways"]
