"""What people have at hand as samples: arrays, tensors, lists, tuples, dicts, DataLoaders, generators, files -> dicts by input.

One input:       an array [samples, ...]; a list or a generator of samples or of batches
Several inputs:  a dict or a tuple of such arrays; a list or a generator of dicts or of tuples, whose first parts are the inputs in order
DataLoader:      whatever it collates; what follows the inputs in a tuple (labels) is left out

A sample has the input's rank, or one axis less where the first is the batch; a batch that is longer than the input's first extent is divided.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import RecipeError, shown

Array = NDArray[Any]
Sample = Mapping[str, Array]
Files: TypeAlias = "Callable[[str | os.PathLike[str]], Iterable[Sample]]"
"""The samples of a file."""


def is_array(value: Any) -> bool:
    """An array or a tensor of any library; not a list of numbers, which has no type."""
    return isinstance(value, np.ndarray) or (
        hasattr(value, "__array__") and hasattr(value, "shape") and hasattr(value, "dtype")
    )


def array_of(value: Any) -> Array:
    """A tensor's numbers as an array; of a type that NumPy lacks, in f32."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        try:
            return np.asarray(value)
        except TypeError:  # bfloat16
            return np.asarray(value.float())
    return np.asarray(value)


def named(model: ir.Model, source: Any, what: str) -> Mapping[str, Array] | None:
    """Arrays that hold all samples, by the inputs that they are of; None: the source is one of samples.

    Raises:
        RecipeError: one array for several inputs.
    """
    names = [str(v.name) for v in model.graph.inputs]
    if isinstance(source, Mapping):
        return {str(name): array_of(x) for name, x in source.items()}
    if is_array(source):
        if len(names) != 1:
            raise RecipeError(
                f"{what}: expected arrays for the inputs {', '.join(names)}, got one array {_told(source)}; "
                "give a dict by name, or a tuple in this order"
            )
        return {names[0]: array_of(source)}
    if isinstance(source, tuple) and len(source) == len(names) and all(map(is_array, source)):
        return {name: array_of(x) for name, x in zip(names, source, strict=True)}
    return None


def each(model: ir.Model, source: Any, files: Files, what: str) -> Iterator[Sample]:
    """The samples of an iterable one by one, as dicts by input.

    Raises:
        RecipeError: an element is no sample; the text says which and what it is.
    """
    inputs = list(model.graph.inputs)
    for number, item in enumerate(source):
        where = f"{what}: sample {number}"
        if isinstance(item, (str, os.PathLike)):
            yield from files(item)
            continue
        yield from _divided(inputs, _by_name(inputs, item, where))


def _by_name(inputs: Sequence[ir.Value], item: Any, where: str) -> dict[str, Array]:
    """An element of a source by the names of the inputs."""
    names = [str(v.name) for v in inputs]
    if isinstance(item, (list, tuple)) and item and not is_array(item[0]):
        nested = isinstance(item[0], Mapping) or (
            isinstance(item[0], (list, tuple)) and len(item[0]) == len(names)
        )
        item = item[0] if nested else item  # ((inputs), label), ({inputs}, label)
    if isinstance(item, Mapping):
        given = {str(name): x for name, x in item.items()}
        if set(given) > set(names):  # labels and what else a data set has
            given = {name: given[name] for name in names}
        return {name: array_of(x) for name, x in given.items()}
    if is_array(item):
        if len(names) != 1:
            raise RecipeError(
                f"{where}: expected the inputs {', '.join(names)}, got one array {_told(item)}; "
                "give a dict by name, or a tuple in this order"
            )
        return {names[0]: array_of(item)}
    if isinstance(item, (list, tuple)):
        first = item[: len(names)]
        if len(first) == len(names) and all(map(is_array, first)):
            return {name: array_of(x) for name, x in zip(names, first, strict=True)}
    raise RecipeError(
        f"{where}: expected {_wanted(names)}, got {_told(item)}; arrays are NumPy's or tensors"
    )


def _wanted(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"an array of input {names[0]}, a tuple that begins with one, or a dict"
    return f"a tuple that begins with arrays of the inputs {', '.join(names)}, or a dict of them"


def _told(value: Any) -> str:
    """What was given, in a few words."""
    if is_array(value):
        return f"{value.dtype} {list(value.shape)}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_told(x) for x in value[:3])
        return (
            f"a {type(value).__name__} of {len(value)}: {inside}{', ...' if len(value) > 3 else ''}"
        )
    if isinstance(value, Mapping):
        return f"a dict of {', '.join(map(str, value)) or 'nothing'}"
    return shown(value)


def _divided(inputs: Sequence[ir.Value], sample: dict[str, Array]) -> Iterator[dict[str, Array]]:
    """A batch that is longer than the model's as several samples; a sample without the axis of the batch gets one."""
    whole = {str(v.name): v for v in inputs}
    for name, x in sample.items():
        shape = whole[name].shape if name in whole else None
        if shape is not None and x.ndim == len(shape) - 1 and _is_batch(shape, x.shape):
            sample = sample | {name: x[None]}
    counts = {_times(whole[name], x) for name, x in sample.items() if name in whole}
    if counts <= {1} or len(counts - {1}) != 1 or 1 in counts:
        yield sample
        return
    (count,) = counts
    parts = {name: np.split(x, count) for name, x in sample.items()}
    for i in range(count):
        yield {name: part[i] for name, part in parts.items()}


def _is_batch(shape: ir.Shape, rest: Sequence[int]) -> bool:
    """Whether an array fits but for a first axis, which may be 1 long."""
    fits = all(not isinstance(n, int) or n == m for n, m in zip(shape[1:], rest, strict=True))
    return fits and (not isinstance(shape[0], int) or shape[0] == 1)


def _times(value: ir.Value, x: Array) -> int:
    """How many of the model's batches an array has; 1 where its first extent is symbolic, or does not divide it."""
    shape = value.shape
    if shape is None or x.ndim != len(shape) or x.ndim == 0 or not isinstance(shape[0], int):
        return 1
    rows = shape[0]
    return len(x) // rows if rows > 0 and len(x) > rows and len(x) % rows == 0 else 1
