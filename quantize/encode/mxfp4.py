"""OCP MX v1.0: E2M1 elements, E8M0 scale of 32."""

from typing import Final

from .elements import E2M1
from .format import BlockFormat

FORMAT: Final = BlockFormat("mxfp4", "mxfp4", E2M1, 32, "e8m0", "floor", "float4_e2m1fn", 24)
