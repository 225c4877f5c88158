"""Samples: what a graph is run on to learn of its activations, as files, arrays or dicts, checked against the inputs.

What runs the graph is a parameter, a `Runner`; the pipeline passes one that exports the graph and runs it on our runtime.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.arrays import read_arrays
from pteron.schema.errors import DamagedError, RecipeError

Array = NDArray[Any]
Sample = Mapping[str, Array]
Runner = Callable[[ir.Model, Sequence[str], Iterable[Sample]], Iterable[Mapping[str, Array]]]
"""(model, names of values, samples) -> for each sample those values, computed in f32."""
Samples = str | Path | Mapping[str, Array] | Iterable[Sample]
"""An .npz with arrays named like the inputs, or a folder of such files, a sample or more each; such arrays by name; or dicts from
input to array, one a sample."""


def samples(
    model: ir.Model, source: Samples, count: int, what: str = "calibration"
) -> Iterable[Sample]:
    """The first `count` of a source, each checked when it is reached; again each time where the source can be.

    `what`: the name of a source that has none, of no file.

    Raises:
        RecipeError: see `samples_of`; a sample does not fit the model's inputs or holds NaN or infinity.
    """
    if count < 1:
        raise RecipeError(f"{what}: expected at least one sample, got {count}")
    if isinstance(source, (str, Path)):
        path, what = Path(source), Path(source).name
        files = sorted(path.glob("*.npz")) if path.is_dir() else [path]
        if not files:
            raise RecipeError(f"{what}: expected a folder with .npz files, got none in it")
        source = [s for file in files for s in samples_of(model, _arrays(file), file.name)]
    elif isinstance(source, Mapping):
        source = samples_of(model, {k: np.asarray(v) for k, v in source.items()}, what)
    if not isinstance(source, Iterable):
        raise RecipeError(
            f"{what}: expected a file, a dict of arrays or samples, got {type(source).__name__}"
        )
    return _Checked(model, source, count, what)


class _Checked:
    """The first samples of a source, checked on the way."""

    def __init__(self, model: ir.Model, source: Iterable[Sample], count: int, what: str) -> None:
        self.model, self.source, self.count, self.what = model, source, count, what

    def __iter__(self) -> Iterator[Sample]:
        first = itertools.islice(self.source, min(self.count, sys.maxsize))
        return _checked(self.model, first, self.what)


def _checked(model: ir.Model, samples: Iterable[Sample], what: str) -> Iterator[Sample]:
    inputs = {v.name: v for v in model.graph.inputs}
    for number, sample in enumerate(samples):
        where = f"{what}: sample {number}"
        if not isinstance(sample, Mapping):
            raise RecipeError(
                f"{where}: expected a dict from input to array, got {type(sample).__name__}"
            )
        if set(sample) != set(inputs):
            wanted, got = ", ".join(map(str, inputs)), ", ".join(map(str, sample)) or "nothing"
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
            f"{where}: expected arrays named {', '.join(inputs)}, got {', '.join(map(str, arrays)) or 'none'}"
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


def _arrays(path: Path) -> dict[str, Array]:
    loaded = read_arrays(path)
    if loaded is None:
        raise DamagedError(
            f"{path.name}: expected an .npz file of samples, got something else; write it with numpy.savez"
        )
    if isinstance(loaded, dict):
        return loaded
    raise RecipeError(f"{path.name}: expected an .npz file with an array for each input, got .npy")
