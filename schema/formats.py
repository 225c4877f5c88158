"""Storage formats of constants: one decorated decoder each, which is the format's meaning.

A format says what one block of `block` elements along K looks like and what number each code stands for. PLAIN means
that the bytes are elements of the constant's dtype. Block scales, where a format has them, follow the codes of the
constant in planes (DESIGN section 5). Formats are added here; nothing else lists them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Format:
    """`bits` a code, `block` elements a scale (0: no scale), `scale` the dtype of the scales (empty: none)."""

    id: int
    name: str
    bits: int
    block: int
    scale: str
    meaning: Callable[..., Any]


FORMATS: Final[dict[str, Format]] = {}


def format_(
    id: int, bits: int, block: int = 0, scale: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the decorated decoder to FORMATS."""

    def add(meaning: Callable[..., Any]) -> Callable[..., Any]:
        name = meaning.__name__
        if name in FORMATS or any(row.id == id for row in FORMATS.values()):
            raise ValueError(f"format {name}: id {id} or the name is taken")
        FORMATS[name] = Format(id, name, bits, block, scale, meaning)
        return meaning

    return add


@format_(id=0, bits=0)
def plain(codes: Array) -> Array:
    """Elements of the constant's dtype, as they are."""
    return codes


@format_(id=1, bits=8, scale="f32")
def i8_channel(codes: Array, scale: Array) -> Array:
    """Signed bytes [n, k] times one f32 scale a row [n], zero point 0: exact mode, w = f32(code) * scale."""
    return codes.astype(np.float32) * scale[:, None].astype(np.float32)
