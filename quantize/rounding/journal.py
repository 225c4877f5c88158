"""What a long quantization has found out, kept in a folder beside its output until that is written: killed runs go on from it.

Entries are named by what they were made from, weights, statistics, samples, format and algorithm, so one that is found is
what would be computed again, to the bit; half an entry has no name yet.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.export.graph.weights import Elements, Source, bands, elements_of
from pteron.schema.arrays import read_arrays, write_arrays
from pteron.schema.errors import OutputError, PteronError, QuantError

from ..encode.format import BlockFormat, Encoded
from ..observe.samples import Sample
from ..report import LayerReport
from .weight import Rounded

VERSION: Final = 4
"""Rises when the same inputs are rounded otherwise: entries of older versions are not found."""
SEAL: Final = "seal"
MARK: Final = "pteron.journal"
"""A file that such a folder has; others are left alone."""


@dataclasses.dataclass(frozen=True, slots=True)
class Journal:
    """`folder` None: nothing is kept."""

    folder: Path | None = None

    def rounded(self, key: str, fmt: BlockFormat) -> Rounded | None:
        arrays = self._read(key)
        if arrays is None:
            return None
        row = json.loads(arrays["report"].tobytes())
        report = LayerReport(**row | {"shape": tuple(row["shape"])})
        zero, outer = arrays.get("zero"), arrays.get("outer")
        encoded = Encoded(fmt, arrays["codes"], arrays["scale"], zero, outer)
        return Rounded(encoded, report, arrays.get("missed"))

    def keep(self, key: str, made: Rounded, **more: NDArray[Any]) -> None:
        text = json.dumps(dataclasses.asdict(made.report)).encode()
        one = made.encoded
        arrays = {"codes": one.codes, "scale": one.scale}
        arrays |= {"zero": one.zero} if one.zero is not None else {}
        arrays |= {"outer": one.outer} if one.outer is not None else {}
        arrays |= {"missed": made.missed} if made.missed is not None else {}
        self._write(key, arrays | more | {"report": np.frombuffer(text, np.uint8)})

    def array(self, key: str, name: str) -> NDArray[Any] | None:
        """Of those that were kept with what was rounded."""
        return (self._read(key) or {}).get(name)

    def text(self, key: str) -> str | None:
        arrays = self._read(key)
        return None if arrays is None else arrays["text"].tobytes().decode()

    def keep_text(self, key: str, text: str) -> None:
        self._write(key, {"text": np.frombuffer(text.encode(), np.uint8)})

    def loss(self, key: str) -> float | None:
        arrays = self._read(key)
        return None if arrays is None else float(arrays["loss"])

    def keep_loss(self, key: str, loss: float) -> None:
        self._write(key, {"loss": np.array(loss)})

    def path(self, name: str) -> Path | None:
        """Of a file in the folder."""
        return None if self.folder is None else self.folder / name

    def _read(self, key: str) -> Mapping[str, NDArray[Any]] | None:
        """None, too, of an entry that is not as it was written: it is made again."""
        path = self.path(f"{key}.npz")
        found = read_arrays(path) if path is not None and path.is_file() else None
        if not isinstance(found, dict) or SEAL not in found:
            return None
        return found if np.array_equal(found.pop(SEAL), _seal(key, found)) else None

    def _write(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        path = self.path(f"{key}.npz")
        if path is not None:
            sealed = {**arrays, SEAL: _seal(key, arrays)}
            whole(path, lambda part: write_arrays(part, sealed))


def _seal(key: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Of an entry, its name and types in it."""
    parts = (part for name, array in sorted(arrays.items()) for part in (name, np.asarray(array)))
    return np.frombuffer(digest(key, *parts).encode(), np.uint8)


NO_JOURNAL: Final = Journal()


def whole(path: Path, write: Callable[[Path], None]) -> None:
    """A file that has its name only when it is complete.

    Raises:
        OutputError: the disk is full, or the folder cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        write(part)
        part.replace(path)
    except OSError as error:  # of a write it names no file
        if isinstance(error, PteronError):  # of what is read to be written
            raise
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def journal(
    folder: Path | None,
    resume: bool,
    afterwards: Callable[[Callable[[], None]], None] = lambda do: do(),
) -> Iterator[Journal]:
    """A journal until the work is done, its output in its place, or fails; what ends the process, or an interrupt, leaves it, as
    does an output that another file beside it keeps from its place: `afterwards` does what it is given when the output is there.

    Raises:
        QuantError: something else is there.
    """
    if folder is None:
        yield Journal()
        return
    if folder.exists() and not (folder / MARK).exists() and any(folder.iterdir()):
        raise QuantError(f"{folder}: expected a journal or nothing, got another folder; move it")
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    (folder / MARK).touch()
    try:
        yield Journal(folder)
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    afterwards(lambda: shutil.rmtree(folder, ignore_errors=True))


def digest(*parts: object) -> str:
    """Of texts, numbers and arrays."""
    made = hashlib.sha256(f"{VERSION}".encode())
    for part in parts:
        if isinstance(part, (np.ndarray, Source)):
            made.update(f"{part.dtype}{part.shape}".encode())
            for band in bands(part):
                made.update(np.ascontiguousarray(band).reshape(-1).view(np.uint8).data)
        else:
            made.update(f"{part!r};".encode())
    return made.hexdigest()[:32]


def identity(model: ir.Model, given: Iterable[Sample]) -> str:
    """Of a graph with its constants, and of samples."""
    parts: list[object] = []
    for node in model.graph:
        parts.append(
            (node.op_type, [v.name if v else "" for v in node.inputs], str(node.attributes))
        )
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if tensor is not None and tensor.dtype != ir.DataType.STRING:
            parts += [name, digest(_held(tensor))]
    parts += [digest(*(x for pair in sorted(sample.items()) for x in pair)) for sample in given]
    return digest(*parts)


def _held(tensor: ir.TensorProtocol) -> Elements:
    """The elements; of less than a byte each the bytes."""
    if tensor.dtype.bitwidth < 8:
        return np.frombuffer(tensor.tobytes(), np.uint8)
    return elements_of(tensor)
