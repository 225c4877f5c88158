"""What a few samples say of each layer's input: second moments and largest magnitudes, which any format can use again.

A layer w [n, k] that reads rows x [m, k] errs by (w - w') x: its mean square is the trace of (w - w') H (w - w')^T with
H = x^T x / m. Layers that read the same share a record. The file is a .npz:

    "statistics"   bytes of JSON: {"format": "pteron.statistics", "version": 2, "samples", "layers": {name: record}}, and "rotation"
    "<record>.second" f32 [groups, k, k], "<record>.mean", "<record>.absmax" f32 [groups, k], "<record>.rows" i64
"""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.arrays import entry_of
from pteron.schema.errors import RecipeError
from pteron.schema.reading import check_packed, decoding, parsed

from ..recipe.layers import Layer
from .blas import one_order
from .layer_inputs import Reading, reading, rows
from .samples import Runner, Sample
from .segmented import Order, in_segments

F32 = NDArray[np.float32]

FORMAT: Final = "pteron.statistics"
VERSION: Final = 2
CHUNK: Final = 1024
"""Rows that are summed at once, in f32; what they sum to is added up in f64."""
HEAD: Final = "statistics"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Of `rows` rows: `second` = x^T x / rows, [groups, k, k]; `mean`, `absmax` [groups, k]. No algorithm reads `absmax`: None where no
    file keeps it."""

    second: F32
    mean: F32
    absmax: F32 | None
    rows: int

    def centered(self) -> Moments:
        """Of x - mean: what counts where a bias takes the rest."""
        mean = self.mean.astype(np.float64)
        second = self.second - mean[:, :, None] * mean[:, None, :]
        at = np.arange(second.shape[1])
        second[:, at, at] = np.maximum(second[:, at, at], 0)
        return dataclasses.replace(self, second=second.astype(np.float32))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What `layers` read, over so many samples."""

    name: str
    layers: tuple[str, ...]
    moments: Moments
    samples: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """`records`: layer -> the record of its input; `read` gives one, from memory or a file. `rotation`: of the channels that were
    observed, in words; "": none."""

    samples: int
    records: Mapping[str, str]
    read: Callable[[str], Moments]
    rotation: str = ""

    def of(self, layer: Layer, n: int, k: int) -> Moments | None:
        """Moments of a layer with a matrix [n, k]; None where nothing was observed.

        Raises:
            RecipeError: they are of another model.
        """
        record = self.records.get(layer.name)
        if record is None:
            return None
        found = self.read(record)
        if found.second.shape[1] != k or n % len(found.second):
            raise RecipeError(
                f"statistics: layer {layer.name}: expected moments of {k} columns, got {list(found.second.shape)}; "
                "they are of another model: calibrate again"
            )
        return found


def collect(
    model: ir.Model,
    layers: Sequence[Layer],
    given: Iterable[Sample],
    runner: Runner,
    ram_bytes: int,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Record]:
    """A record of each reading of the layers.

    The samples are run once, in segments of the graph whose weights and sums take `ram_bytes` together, or have one record.

    Raises:
        RecipeError: no samples, or a value that is NaN or infinite.
    """
    found: dict[Reading, int] = {}
    readers: dict[Reading, list[str]] = {}
    for layer in layers:
        how = reading(layer, model.graph)
        if how is not None:
            found[how] = layer.extents[1]
            readers.setdefault(how, []).append(layer.name)
    passes = list(_passes(found, Order(model.graph), ram_bytes))
    parts = [list(dict.fromkeys(how.value for how in some)) for some in passes]
    number = 0
    for count, (some, runs) in enumerate(
        zip(passes, in_segments(model, parts, given, runner), strict=True)
    ):
        if progress:
            progress(f"calibrate {count + 1}/{len(passes)} {len(some)} inputs of layers")
        sums = {how: _Sum(how, k) for how, k in some.items()}
        seen = _observe(sums, runs)
        for how, total in sums.items():
            yield Record(f"{number:04}", tuple(readers[how]), total.moments(), seen)
            number += 1


def _passes(
    found: Mapping[Reading, int], order: Order, ram_bytes: int
) -> Iterator[dict[Reading, int]]:
    """Readings whose sums fit into the memory together with the weights that are read until then, as values are made."""
    by_value: dict[str, dict[Reading, int]] = {}
    for how, k in found.items():
        by_value.setdefault(how.value, {})[how] = k
    some: dict[Reading, int] = {}
    taken = begin = last = 0
    for value in sorted(by_value, key=lambda name: order.place(order.values[name])):
        size = sum(h.groups * k * k * 12 + 4 * CHUNK * k * h.groups for h, k in by_value[value].items())  # fmt: skip
        if some and taken + size + order.weights(begin, value) > ram_bytes:
            yield some
            some, taken, begin = {}, 0, last
        some |= by_value[value]
        taken, last = taken + size, order.place(order.values[value])
    if some:
        yield some


def _observe(sums: Mapping[Reading, _Sum], runs: Iterable[Mapping[str, NDArray[Any]]]) -> int:
    count = 0
    for values in runs:
        for name, array in values.items():
            if not np.isfinite(array).all():
                raise RecipeError(
                    f"calibration: sample {count}: {name!r} must be finite, got NaN or infinity; leave this sample out"
                )
        for how, total in sums.items():
            total.add(rows(how, np.asarray(values[how.value], np.float32)))
        count += 1
    if count == 0:
        raise RecipeError("calibration: expected at least one sample, got none")
    return count


def together(parts: Sequence[F32]) -> F32:
    """Rows one behind the other, as they lie in memory; one part is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


class _Sum:
    """x^T x of rows that come in parts."""

    def __init__(self, how: Reading, k: int) -> None:
        self.total = np.zeros((how.groups, k, k), np.float64)
        self.first = np.zeros((how.groups, k), np.float64)
        self.absmax = np.zeros((how.groups, k), np.float32)
        self.parts: list[F32] = []
        self.held = self.rows = 0

    def add(self, x: F32) -> None:
        for begin in range(0, x.shape[1], CHUNK):
            part = x[:, begin : begin + CHUNK]
            self.held += part.shape[1]
            self.parts.append(part if self.held >= CHUNK else part.copy("K"))
            if self.held >= CHUNK:
                self._sum()

    @one_order
    def _sum(self) -> None:
        if not self.parts:
            return
        x = together(self.parts)
        self.total += x.swapaxes(1, 2) @ x
        self.first += x.sum(1, dtype=np.float64)
        self.absmax = np.maximum(self.absmax, np.abs(x).max(1, initial=0))
        self.rows += x.shape[1]
        self.parts, self.held = [], 0

    def moments(self) -> Moments:
        self._sum()
        count = max(self.rows, 1)
        second, mean = (x.astype(np.float32) for x in (self.total / count, self.first / count))
        return Moments(second, mean, self.absmax, self.rows)


# --- files ----------------------------------------------------------------------------------------------------------------


def spilled(made: Iterable[Record]) -> Statistics:
    """In a file without a name, which ends with the process or with what is returned."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    write(file, made)
    return load(file)


def write(path: Path | IO[bytes], made: Iterable[Record], rotation: str = "") -> None:
    """Records one after another, as they are made: one is in memory at a time."""
    records: dict[str, str] = {}
    samples = 0
    with zipfile.ZipFile(path, "w", allowZip64=True) as file:
        for each in made:
            samples = each.samples
            records |= dict.fromkeys(each.layers, each.name)
            _put(file, f"{each.name}.second", each.moments.second)
            _put(file, f"{each.name}.mean", each.moments.mean)
            assert each.moments.absmax is not None
            _put(file, f"{each.name}.absmax", each.moments.absmax)
            _put(file, f"{each.name}.rows", np.array(each.moments.rows, np.int64))
        head = {"format": FORMAT, "version": VERSION, "samples": samples, "layers": records}
        head |= {"rotation": rotation} if rotation else {}
        text = json.dumps(head, sort_keys=True).encode()
        _put(file, HEAD, np.frombuffer(text, np.uint8))


def _put(file: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    entry = zipfile.ZipInfo(f"{name}.npy")  # a fixed date: the same records, the same bytes
    with file.open(entry, "w", force_zip64=True) as out:
        np.lib.format.write_array(out, np.asarray(array, order="C"), allow_pickle=False)


def load(path: Path | IO[bytes]) -> Statistics:
    """Statistics whose records stay in the file until they are read.

    Raises:
        RecipeError: not such a file, another version, or half of one.
    """
    with _reading(path):
        head = parsed(_get(path, HEAD).tobytes())
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise ValueError(f"{head['format']} version {head['version']}")
        records = {str(k): str(v) for k, v in head["layers"].items()}
        rotation = str(head.get("rotation", ""))
        return Statistics(
            int(head["samples"]), records, lambda record: _moments(path, record), rotation
        )


def _reading(path: Path | IO[bytes]) -> AbstractContextManager[None]:
    where = path.name if isinstance(path, Path) else "statistics"
    return decoding(where, f"{FORMAT} version {VERSION}", "calibrate again")


def _get(path: Path | IO[bytes], name: str) -> NDArray[Any]:
    with zipfile.ZipFile(path) as file:
        check_packed(file, _size(path))
        return entry_of(file, f"{name}.npy")


def _size(path: Path | IO[bytes]) -> int:
    return path.stat().st_size if isinstance(path, Path) else path.seek(0, io.SEEK_END)


def _moments(path: Path | IO[bytes], record: str) -> Moments:
    with _reading(path):
        second, mean, absmax, count = (
            _get(path, f"{record}.{part}") for part in ("second", "mean", "absmax", "rows")
        )
        shapes = second.ndim == 3 and second.shape[1:] == (second.shape[2],) * 2
        shapes = shapes and mean.shape == absmax.shape == second.shape[:2]
        if not shapes or second.dtype != np.float32:
            raise ValueError(f"record {record} has shapes {second.shape}, {absmax.shape}")
        if not all(np.isfinite(x).all() for x in (second, mean, absmax)):
            raise ValueError(f"record {record} holds NaN or infinity")
        return Moments(second, mean.astype(np.float32), absmax.astype(np.float32), int(count))
