"""Integers -7 .. 7, f16 scale of 32."""

from typing import Final

from .elements import I4
from .format import BlockFormat

FORMAT: Final = BlockFormat("int4", "i4", I4, 32, "f16", "absmax", "int4", 21)
