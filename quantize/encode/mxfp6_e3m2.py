"""OCP MX v1.0: E3M2 elements, E8M0 scale of 32."""

from typing import Final

from .elements import E3M2
from .format import BlockFormat

FORMAT: Final = BlockFormat(
    "mxfp6-e3m2", "mxfp6_e3m2", E3M2, 32, "e8m0", "floor", "float6_e3m2fn", 28
)
