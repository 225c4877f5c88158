"""OCP MX v1.0: E4M3 elements, E8M0 scale of 32 that never clips."""

from typing import Final

from .elements import E4M3
from .format import BlockFormat

FORMAT: Final = BlockFormat("mxfp8", "mxfp8", E4M3, 32, "e8m0", "rceil", "float8_e4m3fn", 24)
