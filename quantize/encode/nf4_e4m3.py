"""NF4 in blocks of 32 whose scales are E4M3, times an f32 scale of the row."""

from typing import Final

from .elements import NF4
from .format import BlockFormat

FORMAT: Final = BlockFormat("nf4-e4m3", "nf4_e4m3", NF4, 32, "e4m3", "absmax", "uint4", 21)
