"""What an encoder is told: a row for each weight format, in the module of its name beside this one."""

from __future__ import annotations

import dataclasses
from typing import Any

from numpy.typing import NDArray

from .elements import Codes, Element


@dataclasses.dataclass(frozen=True, slots=True)
class BlockFormat:
    """`block` elements of K share a scale of dtype `scale` (f32, f16, e8m0); 0: the whole row.

    `name` is what --format takes, `stored` the storage format that keeps it. `rule` names the scale rule: of `blocks.RULES`
    for e8m0, else "absmax"; "signed": the extreme element has the lowest code; "qlora": codes by the reciprocal of the unrounded scale. In ONNX the codes have the type
    `codes` (of ml_dtypes or NumPy), which opset `opset` was the first to have.
    """

    name: str
    stored: str
    element: Element
    block: int
    scale: str
    rule: str
    codes: str
    opset: int

    @property
    def bits_per_weight(self) -> float:
        """Without scales of whole rows, which depend on K."""
        return self.element.bits + (
            {"f16": 16, "e8m0": 8}[self.scale] / self.block if self.block else 0
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """codes [n, k], one a byte; scale [n, k // block] (or [n, 1]): f16, f32, or E8M0 bytes as uint8."""

    format: BlockFormat
    codes: Codes
    scale: NDArray[Any]
