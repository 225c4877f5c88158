"""Elements that lie elsewhere until they are asked for: a constant knows their shape and type, and how to make them.

Weights never enter the program: a `Source` reads them from the model's file, or packs or decodes what another one reads, and
what is written goes out a band of rows at a time. Nothing that was read stays in memory, and files are not mapped: what
a process maps counts as its own.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import ModelError

Array: TypeAlias = NDArray[Any]

BAND_BYTES: Final = 16 << 20
"""What is read, encoded, packed or written at a time."""
TRANSPOSED: Final = "pteron.transposed"
"""Key in a value's `meta`: the constant that it has the elements of, in another order of axes."""
LARGE: Final = 1 << 16
"""Bytes from which on a weight stays where it is until it is written."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Source:
    """`bands` makes the elements anew, row-major, each time it is asked: arrays of whole rows of the first axis."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bands: Callable[[], Iterator[Array]]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def array(self) -> Array:
        """All elements at once."""
        made = self.bands()
        first = next(made, None)
        if first is not None and first.size == self.size:
            return first.reshape(self.shape)
        out, at = np.empty(self.size, self.dtype), 0
        for band in [] if first is None else itertools.chain([first], made):
            out[at : at + band.size] = band.reshape(-1)
            at += band.size
        return out.reshape(self.shape)


Elements: TypeAlias = Array | Source


def whole(elements: Elements) -> Array:
    return elements.array() if isinstance(elements, Source) else elements


def bands(elements: Elements) -> Iterator[Array]:
    """The elements in order; one that is there is one band."""
    if isinstance(elements, Source):
        yield from elements.bands()
    else:
        yield elements


def later(shape: tuple[int, ...], dtype: Any, make: Callable[[], Array]) -> Source:
    """What `make` makes, whole."""
    return Source(shape, np.dtype(dtype), lambda: iter([make()]))


def rows_of(count: int, row_bytes: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    """The bands of `count` rows: (begin, end), `multiple` rows or some of that at a time."""
    step = max(BAND_BYTES // max(row_bytes, 1) // multiple, 1) * multiple
    for begin in range(0, count, step):
        yield begin, min(begin + step, count)


def of_tensor(tensor: ir.TensorProtocol) -> Source | None:
    """The elements of a tensor that lies in a file, None for others, which are in memory already."""
    if not isinstance(tensor, ir.ExternalTensor) or tensor.dtype.bitwidth < 8:
        return None
    shape = tuple(int(str(n)) for n in tensor.shape)
    dtype = np.dtype(tensor.dtype.numpy())
    path, offset = Path(tensor.path), tensor.offset or 0
    row_bytes = math.prod(shape[1:]) * dtype.itemsize

    def read() -> Iterator[Array]:
        count, row = (shape[0], shape[1:]) if shape else (1, ())
        with path.open("rb", buffering=0) as file:
            for begin, end in rows_of(count, row_bytes):
                file.seek(offset + begin * row_bytes)
                yield _read(file, (end - begin, *row), dtype, path)

    return Source(shape, dtype, read)


def _read(file: Any, shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> Array:
    little = dtype.newbyteorder("<") if dtype.isbuiltin == 1 else dtype
    out = np.empty(shape, little)
    room = memoryview(out.reshape(-1).view(np.uint8).data)
    done = 0
    while done < len(room):
        got = file.readinto(room[done:])
        if not got:
            raise ModelError(f"{os.fspath(path)}: ends within a weight; the file is cut off")
        done += got
    return out.astype(dtype, copy=False)


def elements_of(tensor: ir.TensorProtocol) -> Elements:
    """A tensor's elements: read when asked for where they lie in a file."""
    source = of_tensor(tensor)
    if source is not None:
        return source
    if isinstance(tensor, ir.LazyTensor):
        shape = tuple(int(str(n)) for n in tensor.shape)
        return later(shape, tensor.dtype.numpy(), tensor.numpy)
    return tensor.numpy()


def read(tensor: ir.TensorProtocol) -> Array:
    """A tensor's elements, without keeping its file mapped."""
    return whole(elements_of(tensor))


def note_transposed(value: ir.Value, source: ir.Value | None, perm: list[int]) -> None:
    """`value`, a constant, is `source` with its axes in the order `perm`."""
    if source is not None:
        tensors = source.const_value, value.const_value
        value.meta[TRANSPOSED] = (source.name, *tensors, tuple(perm))


def made_of(value: ir.Value) -> tuple[ir.TensorProtocol, tuple[int, ...]] | None:
    """The tensor that a constant was transposed of, and the order of its axes, while it is still that."""
    if TRANSPOSED not in value.meta:
        return None
    _, tensor, own, perm = value.meta[TRANSPOSED]
    return (tensor, perm) if own is value.const_value else None


def transposed(value: ir.Value) -> tuple[ir.Value, tuple[int, ...]] | None:
    """The constant that `value` was transposed of, while something else reads it too and both are what they were; and the order
    of its axes."""
    if TRANSPOSED not in value.meta or not isinstance(value.graph, ir.Graph):
        return None
    name, tensor, own, perm = value.meta[TRANSPOSED]
    source = value.graph.initializers.get(name)
    same = source is not None and source.const_value is tensor and value.const_value is own
    return (source, perm) if same and source is not None and source.uses() else None
