"""NVFP4: E2M1 elements, E4M3 scale of 16 times an f32 scale of the row, which makes the largest of them 448."""

from typing import Final

from .elements import E2M1
from .format import BlockFormat

FORMAT: Final = BlockFormat("nvfp4", "nvfp4", E2M1, 16, "e4m3", "absmax", "float4_e2m1fn", 23)
