"""Lowerings of the family of schema/ops_sequence.py; importing this enters them."""

from . import attention, ngrams, recurrent

__all__ = ["attention", "ngrams", "recurrent"]
