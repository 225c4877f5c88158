"""Lowerings of the family of schema/ops_control.py; importing this enters them."""

from . import blocks, delegate, ranks, ways

__all__ = ["blocks", "delegate", "ranks", "ways"]
