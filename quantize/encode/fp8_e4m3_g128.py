"""FP8 E4M3, an f32 scale of 128."""

from typing import Final

from .elements import E4M3
from .format import BlockFormat

FORMAT: Final = BlockFormat(
    "fp8-e4m3-g128", "e4m3_128", E4M3, 128, "f32", "absmax", "float8_e4m3fn", 21, "e4m3_channel"
)
