"""Codes that wait in a file without a name until they are written: a model that is larger than the memory has too many to be held."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.export.graph.weights import LARGE, Source, later, rows_of

from .weight import Rounded

Array = NDArray[Any]


class Spill:
    """The file ends with the last of what lies there. Few bytes stay in memory."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._one = threading.Lock()

    def put(self, array: Array) -> Source:
        if array.nbytes < LARGE:
            return later(array.shape, array.dtype, lambda: array)
        with self._one:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
            file, offset = self._file, self._file.seek(0, 2)
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        shape, dtype = array.shape, array.dtype
        row = array.nbytes // shape[0]

        def bands() -> Iterator[Array]:
            for begin, end in rows_of(shape[0], row):
                with self._one:
                    file.seek(offset + begin * row)
                    held = file.read((end - begin) * row)
                yield np.frombuffer(held, dtype).reshape(end - begin, *shape[1:])

        return Source(shape, dtype, bands)

    def rounded(self, made: Rounded) -> Callable[[], Rounded]:
        """The same again, but for its codes from memory."""
        codes, encoded = self.put(made.encoded.codes), made.encoded
        rest = dataclasses.replace(encoded, codes=encoded.codes[:, :0].copy())
        made = dataclasses.replace(made, encoded=rest)
        return lambda: dataclasses.replace(
            made, encoded=dataclasses.replace(rest, codes=codes.array())
        )


def tensor_of(source: Source) -> ir.TensorProtocol:
    """Read whenever somebody asks for it."""
    kind = ir.DataType.from_numpy(source.dtype)
    return ir.LazyTensor(
        lambda: ir.tensor(source.array()), dtype=kind, shape=ir.Shape(source.shape)
    )
