"""What rounding costs at the model's outputs: the graph is run with weights as inputs, so one program serves every variant.

The loss of two outputs is 1 - cosine of each vector along the last axis, times 10^4, and the mean of all; an output of
single numbers is one vector. Outputs that are no floats say nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.schema.errors import RecipeError

from .layers import layers
from .samples import Runner, Sample

Array = NDArray[Any]
Weights = Mapping[int, Array]
"""Number of a layer -> its matrix [n, k] instead of the model's own."""

SCALE: Final = 1e4


def losses(
    model: ir.Model,
    tables: bool,
    variants: Iterable[Weights],
    given: Sequence[Sample],
    runner: Runner,
) -> Iterator[float]:
    """The loss of each variant against the model as it is, over the samples.

    Args:
        tables: Layers are numbered as `layers(model, tables)` has them.

    Raises:
        RecipeError: no output is a float, or one is NaN or infinite.
    """
    outputs = [str(v.name) for v in model.graph.outputs]
    copy, names, own = _opened(model, tables)
    found = layers(model, tables)
    nothing: Weights = {}

    def feeds() -> Iterator[Sample]:
        for variant in itertools.chain([nothing], variants):
            changed = {names[i]: found[i].shaped(matrix) for i, matrix in variant.items()}
            for sample in given:
                yield {**sample, **own, **changed}

    made = iter(runner(copy, outputs, feeds()))
    wanted = [next(made) for _ in given]
    floats = [n for n in outputs if all(_is_float(w[n]) for w in wanted)]
    if not floats:
        raise RecipeError(
            "loss: expected an output of floats with elements, got none; drop what asks for it"
        )
    while True:
        each = []
        for want in wanted:
            got = next(made, None)
            if got is None:
                return
            each += [distances(want[name], got[name]) for name in floats]
        loss = float(np.concatenate(each).mean() * SCALE)
        if not np.isfinite(loss):
            raise RecipeError("loss: an output is NaN or infinite on these samples; leave them out")
        yield loss


def _opened(model: ir.Model, tables: bool) -> tuple[ir.Model, list[str], dict[str, Array]]:
    """A copy whose layers' weights are inputs; what each layer's is called, and what the model has there."""
    copy = model.clone()
    used = graphs.names(copy)
    inputs: dict[int, ir.Value] = {}
    names, own = [], {}
    for layer in layers(copy, tables):
        weight = layer.node.inputs[layer.slot]
        assert weight is not None
        tensor = graphs.constant_tensor(weight)
        assert tensor is not None
        key = id(weight)
        if key not in inputs:
            name = graphs.fresh(used, f"{weight.name}.weight")
            made = ir.Value(
                name=name, type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(layer.shape)
            )
            copy.graph.inputs.append(made)
            inputs[key], own[name] = made, np.ascontiguousarray(tensor.numpy(), np.float32)
        layer.node.replace_input_with(layer.slot, inputs[key])
        names.append(str(inputs[key].name))
    graphs.drop_unread(copy)
    return copy, names, own


def _is_float(x: Array) -> bool:
    return x.dtype.kind == "f" and x.size > 0


def distances(want: Array, got: Array) -> Array:
    """1 - cosine of each pair of vectors, from 0 to 2; 0 of two zeros, 1 where one is zero."""
    whole = want.ndim == 0 or want.shape[-1] == 1
    a, b = (
        x.astype(np.float64).reshape((1, -1) if whole else (-1, want.shape[-1]))
        for x in (want, got)
    )
    sizes = [np.sqrt(np.square(x).sum(1)) for x in (a, b)]
    both = sizes[0] * sizes[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.where(
            both > 0, (a * b).sum(1) / both, (sizes[0] == sizes[1]).astype(np.float64)
        )
    return np.asarray(np.maximum(1 - cosine, 0))
