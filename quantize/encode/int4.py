"""Integers -8 .. 7, f16 scale of 32: the element of the largest magnitude has code -8."""

from typing import Final

from .elements import I4
from .format import BlockFormat

FORMAT: Final = BlockFormat("int4", "i4", I4, 32, "f16", "signed", "int4", 21)
