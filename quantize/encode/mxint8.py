"""OCP MX v1.0: signed bytes, E8M0 scale of 32; -128 is not used."""

from typing import Final

from .elements import I8
from .format import BlockFormat

FORMAT: Final = BlockFormat("mxint8", "mxint8", I8, 32, "e8m0", "floor", "int8", 24)
