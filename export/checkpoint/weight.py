"""One weight [n, k] of a checkpoint: codes, and what they are multiplied by."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.schema.formats import FORMATS

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """Numbers [n, c] that are codes times an f32 scale of `size` of them (0: of all)."""

    codes: Array
    outer: Array
    size: int

    def decoded(self) -> Array:
        return np.asarray(
            self.codes.astype(np.float32) * over(self.outer, self.codes.shape, self.size)
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Weight:
    """(codes - zero) * scale + shift, each operation rounded to f32; `block` codes of a row share the others (0: all).

    `codes` [n, k] in the type that ONNX has them in; with `levels`, a format of schema/formats.py, places in its table.
    `order`: which element of K each column is, where they lie otherwise.
    """

    codes: Array
    scale: Array | Nested
    block: int
    zero: Array | None = None
    shift: Array | Nested | None = None
    levels: str = ""
    order: Array | None = None

    def decoded(self) -> Array:
        """f32 [n, k], K in its own order."""
        values = self._decoded()
        return values if self.order is None else values[:, np.argsort(self.order)]

    def _decoded(self) -> Array:
        shape = self.codes.shape
        table = FORMATS[self.levels].levels if self.levels else None
        values = (
            self.codes.astype(np.float32) if table is None else table[self.codes.astype(np.uint8)]
        )
        if self.zero is not None:
            values = values - over(self.zero, shape, self.block)
        values = values * over(plain(self.scale), shape, self.block)
        return values if self.shift is None else values + over(plain(self.shift), shape, self.block)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """`kind`: what its tool calls it. `read` gives a Weight, or an array of a tensor that is not quantized. `transposed`: the
    parameter of the module is this one's transpose."""

    kind: str
    shape: tuple[int, ...]
    nbytes: int
    read: Callable[[], Weight | Array]
    transposed: bool = False


def floats(read: Weight | Array) -> Array:
    """f32, of rows [n, k] where it is quantized."""
    return read.decoded() if isinstance(read, Weight) else np.asarray(read, np.float32)


def plain(part: Array | Nested) -> Array:
    return part.decoded() if isinstance(part, Nested) else part.astype(np.float32)


def over(part: Array, shape: tuple[int, ...], size: int) -> Array:
    """A number of each block for each element of [n, k], f32."""
    wide = part.astype(np.float32)
    if wide.size == 1:
        return np.broadcast_to(wide.reshape(()), shape)
    return np.repeat(wide.reshape(shape[0], -1), size or max(shape[1], 1), axis=1)[:, : shape[1]]
