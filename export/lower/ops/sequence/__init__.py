"""Lowerings of the family of schema/ops_sequence.py; importing this enters them."""

from . import attention, recurrent

__all__ = ["attention", "recurrent"]
