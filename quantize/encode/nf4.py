"""NF4: sixteen quantiles of a normal distribution, f16 scale of 64; the scale of the codes is not rounded. Dettmers et al. 2023."""

from typing import Final

from .elements import NF4
from .format import BlockFormat

FORMAT: Final = BlockFormat("nf4", "nf4", NF4, 64, "f16", "qlora", "uint4", 21)
