"""Lowerings of the family of schema/ops_sequence.py; importing this enters them."""

from pteron.export.lower.ops.sequence import attention, recurrent

__all__ = ["attention", "recurrent"]
