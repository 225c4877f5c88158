"""FP8 E5M2, one f32 scale a row."""

from typing import Final

from .elements import E5M2
from .format import BlockFormat

FORMAT: Final = BlockFormat("fp8-e5m2", "e5m2_channel", E5M2, 0, "f32", "absmax", "float8_e5m2", 19)
