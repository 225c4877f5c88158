"""Calibration: the range that each activation takes over a few samples. Min-max, no outliers removed.

What runs the graph is a parameter, a `Runner`; the pipeline passes one that exports the graph and runs it on our runtime.
Ranges are a file that can be used again:

    {"format": "pteron.ranges", "version": 1, "samples": 64, "ranges": {"relu": [0.0, 5.25], ...}}
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.arrays import read_arrays
from pteron.schema.errors import RecipeError

Array = NDArray[Any]
Sample = Mapping[str, Array]
Runner = Callable[[ir.Model, Sequence[str], Iterable[Sample]], Iterable[Mapping[str, Array]]]
"""(model, names of values, samples) -> for each sample those values, computed in f32."""

FORMAT: Final = "pteron.ranges"
VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Ranges:
    """Smallest and largest element of each value by name, over `samples` samples."""

    samples: int
    by_name: Mapping[str, tuple[float, float]]

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Raises RecipeError where the value was not observed."""
        if name not in self.by_name:
            raise RecipeError(
                f"calibration: no range for {name!r}; these ranges are of another model: calibrate again"
            )
        return self.by_name[name]

    def as_json(self) -> str:
        found = {name: list(pair) for name, pair in sorted(self.by_name.items())}
        head = {"format": FORMAT, "version": VERSION, "samples": self.samples}
        return json.dumps(head | {"ranges": found}, indent=1) + "\n"


def ranges_of(text: str | bytes, where: str) -> Ranges:
    """Reads `as_json` again.

    Raises:
        RecipeError: not such a file, another version, or a range that is none.
    """
    try:
        data = json.loads(text)
        if (data.get("format"), data.get("version")) != (FORMAT, VERSION):
            raise RecipeError(
                f"{where}: expected {FORMAT} version {VERSION}, got {data.get('format')} {data.get('version')}; calibrate again"
            )
        found = {str(k): (float(low), float(high)) for k, (low, high) in data["ranges"].items()}
        samples = int(data["samples"])
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise RecipeError(
            f"{where}: expected a file of ranges, got another or half of one ({error}); calibrate again"
        ) from None
    for name, (low, high) in found.items():
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise RecipeError(f"{where}: {name!r}: expected finite low <= high, got {low}, {high}")
    return Ranges(samples, found)


def observe(
    model: ir.Model, wanted: Sequence[str], samples: Iterable[Sample], runner: Runner, count: int
) -> Ranges:
    """Runs the first `count` samples and keeps the ends of each wanted value.

    Raises:
        RecipeError: no samples; a sample does not fit the model's inputs or holds NaN or infinity; a value becomes so.
    """
    if count < 1:
        raise RecipeError(f"calibration: expected at least one sample, got {count}")
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    number = 0
    for values in runner(model, wanted, _checked(model, itertools.islice(samples, count))):
        for name, array in values.items():
            if array.size:
                ends = float(array.min()), float(array.max())
                if not np.isfinite(ends).all():
                    raise RecipeError(
                        f"calibration: sample {number}: {name!r} must be finite, got {ends}; leave this sample out"
                    )
                low[name] = min(low.get(name, ends[0]), ends[0])
                high[name] = max(high.get(name, ends[1]), ends[1])
        number += 1
    if number == 0:
        raise RecipeError("calibration: expected at least one sample, got none")
    return Ranges(number, {name: (low[name], high[name]) for name in low})


def _checked(model: ir.Model, samples: Iterable[Sample]) -> Iterator[Sample]:
    inputs = {v.name: v for v in model.graph.inputs}
    for number, sample in enumerate(samples):
        where = f"calibration: sample {number}"
        if not isinstance(sample, Mapping):
            raise RecipeError(
                f"{where}: expected a dict from input to array, got {type(sample).__name__}"
            )
        if set(sample) != set(inputs):
            wanted, got = ", ".join(map(str, inputs)), ", ".join(sample) or "nothing"
            raise RecipeError(f"{where}: expected inputs {wanted}, got {got}")
        for name, value in inputs.items():
            array = np.asarray(sample[str(name)])
            _check(f"{where}: input {name!r}", value, array)
        yield sample


def _check(where: str, value: ir.Value, array: Array) -> None:
    if value.dtype is not None and array.dtype != value.dtype.numpy():
        raise RecipeError(f"{where}: expected {value.dtype.numpy()}, got {array.dtype}; convert it")
    if value.shape is not None:
        fits = len(value.shape) == array.ndim and all(
            not isinstance(n, int) or n == got
            for n, got in zip(value.shape, array.shape, strict=True)
        )
        if not fits:
            raise RecipeError(f"{where}: expected shape {value.shape}, got {list(array.shape)}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise RecipeError(f"{where}: expected finite numbers, got NaN or infinity")


def samples_of(model: ir.Model, arrays: Mapping[str, Array], where: str) -> list[Sample]:
    """Splits arrays that hold all samples along their first axis.

    An array of the input's rank holds batches: as many rows a sample as the input's first extent says, one where it is
    symbolic. An array of one axis more holds one sample in each element of that axis.

    Raises:
        RecipeError: names, ranks or numbers of samples that do not fit.
    """
    inputs = {str(v.name): v for v in model.graph.inputs}
    if set(arrays) != set(inputs):
        raise RecipeError(
            f"{where}: expected arrays named {', '.join(inputs)}, got {', '.join(arrays) or 'none'}"
        )
    parts = {name: _split(f"{where}: {name!r}", inputs[name], arrays[name]) for name in inputs}
    counts = {name: len(part) for name, part in parts.items()}
    if len(set(counts.values())) > 1:
        raise RecipeError(f"{where}: expected as many samples of each input, got {counts}")
    number = min(counts.values(), default=0)
    return [{name: part[i] for name, part in parts.items()} for i in range(number)]


def _split(where: str, value: ir.Value, array: Array) -> Sequence[Array]:
    rank = array.ndim if value.shape is None else len(value.shape)
    if array.ndim == rank + 1:
        return list(array)
    if array.ndim != rank or rank == 0:
        raise RecipeError(
            f"{where}: expected {rank} axes, the first with the samples, or one more before them; got shape {list(array.shape)}"
        )
    first = 1 if value.shape is None else value.shape[0]
    rows = first if isinstance(first, int) and first > 0 else 1
    if len(array) % rows:
        raise RecipeError(f"{where}: expected a multiple of {rows} rows, got {len(array)}")
    return [array[i : i + rows] for i in range(0, len(array), rows)]


Source = Ranges | str | Path | Mapping[str, Array] | Iterable[Sample]


def calibrated(
    model: ir.Model, wanted: Sequence[str], source: Source, runner: Runner, count: int
) -> Ranges:
    """Ranges of the wanted values.

    Args:
        source: Ranges; a path to a file of ranges (.json) or to samples (.npz, arrays named like the inputs, see
            `samples_of`); such arrays by name; or an iterable of samples, each a dict from input to array.
        count: The number of samples that are run, from the first one on.

    Raises:
        RecipeError: see `observe`, `samples_of`, `ranges_of`.
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        if path.suffix == ".json":
            source = ranges_of(path.read_bytes(), path.name)
        else:
            source = samples_of(model, _arrays(path), path.name)
    elif isinstance(source, Mapping):
        source = samples_of(model, {k: np.asarray(v) for k, v in source.items()}, "calibration")
    if isinstance(source, Ranges):
        return source
    if not isinstance(source, Iterable):
        raise RecipeError(
            f"calibration: expected a file, a dict of arrays or samples, got {type(source).__name__}"
        )
    return observe(model, wanted, source, runner, count)


def _arrays(path: Path) -> dict[str, Array]:
    loaded = read_arrays(path)
    if loaded is None:
        raise RecipeError(
            f"{path.name}: expected an .npz file of samples, got something else; write it with numpy.savez"
        )
    if isinstance(loaded, dict):
        return loaded
    raise RecipeError(f"{path.name}: expected an .npz file with an array for each input, got .npy")
