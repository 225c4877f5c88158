"""What activations are computed in beside quantized weights: one axis of a quantization, the weights' format is the other.

auto          of a model that Pteron rounds: what its format does best; of one that came quantized: float, what it says in ONNX
float         f32: weights alone are quantized
int8-block    dynamic: int8 while running, a scale for each block of 32
int8-token    dynamic: int8 while running, a scale for each token (row), behind a Hadamard rotation; float weights become int8, too
int8-static   int8 by scales that samples told
int16-static  int16 likewise, weights in int8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

AUTO: Final = "auto"
FLOAT: Final = "float"
INT8_BLOCK: Final = "int8-block"
INT8_TOKEN: Final = "int8-token"
INT8_STATIC: Final = "int8-static"
INT16_STATIC: Final = "int16-static"

STATIC: Final = (INT8_STATIC, INT16_STATIC)
"""Samples tell their scales, and the graph has them: Q/DQ in ONNX."""
DYNAMIC: Final = (INT8_BLOCK, INT8_TOKEN)
"""Found while running: of programs; ONNX has no operator for them."""
CHOICES: Final = (AUTO, FLOAT, *DYNAMIC, *STATIC)

RENAMED: Final[Mapping[str, str]] = {
    "exact": FLOAT,
    "int8": f"{INT8_STATIC} (with samples) or {INT8_BLOCK} (without)",
    "turned": INT8_TOKEN,
    "int16": INT16_STATIC,
}
"""What was said before there was one axis."""
