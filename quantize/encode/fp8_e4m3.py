"""FP8 E4M3, one f32 scale a row."""

from typing import Final

from .elements import E4M3
from .format import BlockFormat

FORMAT: Final = BlockFormat(
    "fp8-e4m3", "e4m3_channel", E4M3, 0, "f32", "absmax", "float8_e4m3fn", 19
)
