"""OCP MX v1.0: E2M3 elements, E8M0 scale of 32."""

from typing import Final

from .elements import E2M3
from .format import BlockFormat

FORMAT: Final = BlockFormat("mxfp6", "mxfp6", E2M3, 32, "e8m0", "floor", "float6_e2m3fn", 28)
