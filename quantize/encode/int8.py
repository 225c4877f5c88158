"""Signed bytes, one f32 scale a row."""

from typing import Final

from .elements import I8
from .format import BlockFormat

FORMAT: Final = BlockFormat("int8", "i8_channel", I8, 0, "f32", "absmax", "int8", 13)
