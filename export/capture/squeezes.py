"""Squeeze without axes, as TorchScript writes `x.squeeze()`: the ranks that a model states of its outputs say which axes of
unknown extent it drops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import onnx_ir as ir

from .. import graph as g

MOST_AXES = 3
"""Of unknown extent, of which every choice is tried."""


def settle_squeezes(model: ir.Model, ranks: Sequence[int | None]) -> list[str]:
    """A Squeeze without axes => with axes, where no other choice gives the model's outputs the `ranks` that they state.

    An axis of unknown extent is kept otherwise. Returns a note for each: such an axis must have one element.
    """
    notes = []
    for i, node in enumerate(g.nodes(model)):
        chosen = _chosen(model, i, node, ranks)
        if chosen is None:
            continue
        axes, gone = chosen
        _give_axes(node, axes)
        told = ", ".join(f"{axis} ({size or '?'})" for axis, size in gone)
        notes.append(
            f"{node.name}: a Squeeze without axes drops axis {told}, as the ranks of the model's outputs say: one element each"
        )
    if notes:
        g.infer(model)
    return notes


def _chosen(
    model: ir.Model, i: int, node: ir.Node, ranks: Sequence[int | None]
) -> tuple[list[int], list[tuple[int, int | str | None]]] | None:
    """All axes that go, and those of unknown extent among them with their names."""
    if not g.is_op(node, "Squeeze") or (len(node.inputs) > 1 and node.inputs[1] is not None):
        return None
    sizes = g.dims(node.inputs[0])
    unknown = [axis for axis, n in enumerate(sizes or ()) if not isinstance(n, int)]
    if sizes is None or not 0 < len(unknown) <= MOST_AXES:
        return None
    ones = [axis for axis, n in enumerate(sizes) if n == 1]
    fits = []
    for gone in _choices(unknown):
        trial = model.clone()
        _give_axes(next(itertools.islice(g.nodes(trial), i, None)), sorted([*ones, *gone]))
        g.infer(trial)
        if _fit(trial, ranks):
            fits.append(gone)
    if len(fits) != 1 or not fits[0]:
        return None
    return sorted([*ones, *fits[0]]), [(axis, sizes[axis]) for axis in fits[0]]


def _choices(axes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for count in range(len(axes) + 1):
        yield from itertools.combinations(axes, count)


def _fit(model: ir.Model, ranks: Sequence[int | None]) -> bool:
    """Whether no output is found to have another rank than it should."""
    found = map(g.rank, model.graph.outputs)
    return all(a is None or b is None or a == b for a, b in zip(found, ranks, strict=True))


def _give_axes(node: ir.Node, axes: Sequence[int]) -> None:
    graph = node.graph
    assert isinstance(graph, ir.Graph)
    value = g.initializer(graph, np.array(axes, np.int64), f"{node.name}.axes")
    node.resize_inputs(2)
    node.replace_input_with(1, value)
