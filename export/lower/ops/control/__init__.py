"""Lowerings of the family of schema/ops_control.py; importing this enters them."""

from pteron.export.lower.ops.control import blocks, delegate

__all__ = ["blocks", "delegate"]
