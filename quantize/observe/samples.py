"""Samples: what a graph is run on to learn of its activations, from files or whatever `sources` takes, checked against the inputs.

What runs the graph is a parameter, a `Runner`; the pipeline passes one that exports the graph and runs it on our runtime.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.arrays import read_arrays
from pteron.schema.errors import DamagedError, RecipeError, shown

from . import sources

Array = NDArray[Any]
Sample = Mapping[str, Array]
Runner = Callable[[ir.Model, Sequence[str], Iterable[Sample]], Iterable[Mapping[str, Array]]]
"""(model, names of values, samples) -> for each sample those values, computed in f32."""
Samples = str | os.PathLike[str] | Array | Mapping[str, Array] | Sequence[Any] | Iterable[Any]
"""A file (.npz with arrays named like the inputs, .npy of the only one) or a folder of such, a sample or more each; or arrays, tensors, lists,
tuples, dicts, a DataLoader or a generator of these, as `sources` says."""
SUFFIXES = (".npz", ".npy")


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
    if isinstance(source, (str, os.PathLike)):
        path, what = Path(source), Path(source).name
        return _Checked(model, lambda: _of_files(model, path), count, what)
    arrays = sources.named(model, source, what)
    if arrays is not None:
        some = samples_of(model, arrays, what)
        return _Checked(model, lambda: some, count, what)
    if isinstance(source, bytes) or not _is_iterable(source):
        raise RecipeError(
            f"{what}: expected a file, arrays, tensors or an iterable of samples, got {shown(source)}"
        )
    each, files = sources.each, lambda path: _of_files(model, Path(path))
    return _Checked(model, lambda: each(model, source, files, what), count, what)


def _is_iterable(source: Any) -> bool:
    """A data set has numbers in place of an iterator."""
    return isinstance(source, Iterable) or hasattr(source, "__getitem__")


def held(source: Any, count: int) -> Any:
    """The source itself where it gives the same again; else the first of its elements: a generator is read once, and a DataLoader shuffles."""
    same = (str, os.PathLike, Mapping, list, tuple, bytes)
    if isinstance(source, same) or sources.is_array(source) or not _is_iterable(source):
        return source
    return list(itertools.islice(iter(source), min(count, sys.maxsize)))


def _of_files(model: ir.Model, path: Path) -> Iterator[Sample]:
    """The samples of a file, or of those in a folder by name."""
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES)
    if not files:
        raise RecipeError(f"{path.name}: expected a folder with .npz or .npy files, got none in it")
    for file in files:
        yield from samples_of(model, _arrays(model, file), file.name)


def memory_order(x: Array) -> tuple[int, ...]:
    """The axes of an array as they lie in memory, the slowest first."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))


class _Checked:
    """The first samples of a source, checked on the way."""

    def __init__(
        self, model: ir.Model, source: Callable[[], Iterable[Sample]], count: int, what: str
    ) -> None:
        self.model, self.source, self.count, self.what = model, source, count, what

    def __iter__(self) -> Iterator[Sample]:
        first = itertools.islice(self.source(), min(self.count, sys.maxsize))
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


def _arrays(model: ir.Model, path: Path) -> Mapping[str, Array]:
    loaded = read_arrays(path)
    if loaded is None:
        raise DamagedError(
            f"{path.name}: expected an .npz or .npy file of samples, got something else; write it with numpy.savez"
        )
    if isinstance(loaded, dict):
        return loaded
    names = [str(v.name) for v in model.graph.inputs]
    if len(names) != 1:
        raise RecipeError(
            f"{path.name}: expected an .npz file with arrays named {', '.join(names)}, got .npy, which has one"
        )
    return {names[0]: loaded}
