"""What calibration and checks run a graph with: in f32 on our runtime, with the values that they want as its outputs.

A convolution reads and makes channels last. What it reads or makes is handed out as the runtime has it, an array whose axes are
in the graph's order and whose memory is not, and an array that lies so is taken in as it lies: no element is moved.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.export import export
from pteron.export.file.emit import emit
from pteron.export.options import Options
from pteron.quantize.observe.samples import memory_order

Order = tuple[int, ...] | None
"""The axes of a value as they lie in memory, the slowest first; None: in the graph's order."""


def record(
    model: ir.Model, wanted: Sequence[str], samples: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The Runner of calibration and of checks. For each sample the wanted values, by name."""
    from .runtime import load

    samples = iter(samples)
    first = next(samples, None)
    if first is None:
        return
    copy = model.clone()
    copy.metadata_props.pop(g.STATE, None)  # states are inputs here
    copy.graph.outputs.clear()
    inputs = {str(v.name) for v in copy.graph.inputs}
    given = _take_in(copy, {name: _order(np.asarray(x)) for name, x in first.items()})
    handed = _hand_out(copy, [name for name in wanted if name not in inputs])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calibrate.pte"
        emit(export(copy, Options(activations="float")), path, debug=False)
        runs = load(path)
        for sample in itertools.chain([first], samples):
            made = runs.run({given[n][0]: _lying(x, given[n][1]) for n, x in sample.items()})
            found = {n: _in_order(made[at], order) for n, (at, order) in handed.items()}
            yield {name: found[name] if name in found else sample[name] for name in wanted}


def _order(x: np.ndarray[Any, Any]) -> Order:
    """Of an array with gaps, or whose axes share elements: that of the graph, for which it is copied."""
    lies = memory_order(x)
    return lies if not x.flags.c_contiguous and x.transpose(lies).flags.c_contiguous else None


def _lying(x: Any, order: Order) -> Any:
    return x if order is None else np.asarray(x).transpose(order)


def _in_order(x: Any, order: Order) -> Any:
    return x if order is None else x.transpose(np.argsort(order))


def _take_in(model: ir.Model, orders: Mapping[str, Order]) -> dict[str, tuple[str, Order]]:
    """For each input the one in its place, and in what order it has the axes."""
    used, graph = g.names(model), model.graph
    found: dict[str, tuple[str, Order]] = {}
    for i, value in enumerate(graph.inputs):
        name = str(value.name)
        order = orders[name]
        found[name] = name, order
        if order is not None:
            shape = None if value.shape is None else ir.Shape([value.shape[a] for a in order])
            new = ir.Value(name=g.fresh(used, name), type=value.type, shape=shape)
            node = _transposed(new, [int(a) for a in np.argsort(order)], g.fresh(used, name))
            g.take_over(graph, value, node.outputs[0])
            graph.inputs[i] = new
            graph.insert_before(graph[0], node)
            found[name] = str(new.name), order
    return found


def _hand_out(model: ir.Model, wanted: Sequence[str]) -> dict[str, tuple[str, Order]]:
    """The wanted values become the graph's outputs, channels last where a convolution is beside them."""
    used, graph = g.names(model), model.graph
    made = {str(v.name): v for node in graph for v in node.outputs}
    found: dict[str, tuple[str, Order]] = {}
    outputs = []
    for name in wanted:
        value = made[name]
        order = _beside_convolution(value)
        if order is not None:
            node = _transposed(value, order, g.fresh(used, name))
            graph.append(node)
            value = node.outputs[0]
        outputs.append(value)
        found[name] = str(value.name), order
    graph.outputs[:] = outputs
    return found


def _beside_convolution(value: ir.Value) -> Order | None:
    """Channels last, where a convolution makes the value or reads it as its picture."""
    rank = g.rank(value)
    reads = any(g.is_op(use.node, "Conv") and use.idx == 0 for use in value.uses())
    if rank is None or rank < 3 or not (reads or g.is_op(value.producer(), "Conv")):
        return None
    return (0, *range(2, rank), 1)


def _transposed(value: ir.Value, order: Sequence[int], name: str) -> ir.Node:
    node = ir.node("Transpose", [value], {"perm": list(order)}, name=name)
    out = node.outputs[0]
    out.name, out.type = name, value.type
    out.shape = None if value.shape is None else ir.Shape([value.shape[a] for a in order])
    return node
