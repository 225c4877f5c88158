"""What an encoder is told: a row for each weight format, in the module of its name beside this one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .elements import Codes, Element

SCALES: Final = {"f32": np.float32, "f16": np.float16, "e8m0": np.uint8, "e4m3": np.uint8}
"""What scales are held as: those of 8 bits as their codes."""


@dataclasses.dataclass(frozen=True, slots=True)
class BlockFormat:
    """`block` elements of K share a scale of dtype `scale` (f32, f16, e8m0; e4m3: times an f32 of the row); 0: the whole row.

    `name` is what --format takes, `stored` the storage format that keeps it. `rule` names the scale rule: of `blocks.RULES`
    for e8m0, else "absmax"; "signed": the extreme element has the lowest code; "zero": the code of 0 is a zero point of the block, i8;
    "qlora": codes by the reciprocal of the unrounded scale. `codec` is the C encoder, "": that of `stored`. In ONNX the codes have the type
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
    codec: str = ""

    @property
    def zero(self) -> bool:
        """Whether blocks have zero points."""
        return self.rule == "zero"

    @property
    def scale_type(self) -> np.dtype[Any]:
        """Of which scales are held."""
        return np.dtype(SCALES[self.scale])

    def bits_of(self, n: int, k: int) -> int:
        """Of a weight [n, k] with all that belongs to its codes."""
        blocks = -(-k // self.block) if self.block else 1
        behind = 8 * (self.scale_type.itemsize + self.zero)
        return n * (k * self.element.bits + blocks * behind + 32 * (self.scale == "e4m3"))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """codes [n, k], one a byte; scale [n, k // block] (or [n, 1]): f16, f32, or codes of E8M0 or E4M3.

    `zero` [n, k // block] i8 where the format has zero points; `outer` f32 [n, 1], by which scales of E4M3 are multiplied.
    """

    format: BlockFormat
    codes: Codes
    scale: NDArray[Any]
    zero: NDArray[np.int8] | None = None
    outer: NDArray[np.float32] | None = None

    @property
    def parts(self) -> tuple[NDArray[Any], ...]:
        """All that is stored."""
        return tuple(p for p in (self.codes, self.scale, self.zero, self.outer) if p is not None)

    def each(self, do: Callable[[NDArray[Any]], NDArray[Any]]) -> Encoded:
        """What `do` makes of each part."""
        zero, outer = (None if part is None else do(part) for part in (self.zero, self.outer))
        return Encoded(self.format, do(self.codes), do(self.scale), zero, outer)

    def rows(self, begin: int, end: int) -> Encoded:
        """Some of them."""
        return self.each(lambda part: part[begin:end])


def joined(some: Sequence[Encoded]) -> Encoded:
    """Rows one below another."""
    first = some[0]
    rows = [np.concatenate(parts) for parts in zip(*(one.parts for one in some), strict=True)]
    zero = rows[2] if first.zero is not None else None
    return Encoded(
        first.format, rows[0], rows[1], zero, rows[-1] if first.outer is not None else None
    )
