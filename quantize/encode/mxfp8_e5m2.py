"""OCP MX v1.0: E5M2 elements, E8M0 scale of 32 that never clips."""

from typing import Final

from .elements import E5M2
from .format import BlockFormat

FORMAT: Final = BlockFormat(
    "mxfp8-e5m2", "mxfp8_e5m2", E5M2, 32, "e8m0", "rceil", "float8_e5m2", 24
)
