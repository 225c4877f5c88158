"""Which units of static int8 compute in f32, so that the model keeps to a loss: those that touch the values that lose most.

What an int8 model loses it loses by rounding activations: each value alone is rounded, by Where in one program that has all of
their grids, and the loss measured. Squares of errors add up, so freeing a value saves its loss; but all units that touch it have
to compute in f32. The values that save most for the products that this takes come first, until the loss of the whole model,
which is measured, is small enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.schema.errors import QuantError

from .activations import Grid
from .measure import losses_of, losses_of_rounds
from .samples import Runner, Sample
from .units import Unit

Build = Callable[[frozenset[int]], ir.Model]
"""The model with all units in int8 but those at these places of the plan."""
PROBES: Final = 16
"""Samples on which each value alone is rounded: what is wanted is an order."""


def floats(
    model: ir.Model,
    plan: Sequence[Unit],
    grids: Mapping[ir.Value, Grid],
    most: float,
    metric: str,
    given: Sequence[Sample],
    runner: Runner,
    build: Build,
    progress: Callable[[str], None] | None = None,
) -> frozenset[int]:
    """Places of the units that compute in f32: the first of `steps` under which the metric is at most `most`.

    Raises:
        QuantError: rounded weights alone lose more.
    """
    values = _rounded(plan, grids)
    if progress:
        progress(f"measure {len(values)} activations")
    alone = dict(zip(values, _alone(model, values, given[:PROBES], runner), strict=True))
    sets = [frozenset[int](), *steps(plan, alone)]

    def loss(count: int) -> float:
        if progress:
            progress(f"measure with {len(sets[count])} of {len(plan)} units in f32")
        return next(losses_of(model, [build(sets[count])], given, runner, metric))

    low, high = 0, len(sets) - 1
    if loss(low) <= most:
        return sets[low]
    reached = loss(high)
    if reached > most:
        raise QuantError(
            f"max-loss: expected at most {most:g}, got {reached:.4g} with weights alone in int8; raise it, or skip layers by rules"
        )
    low += 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if loss(middle) <= most else (middle + 1, high)
    return sets[low]


def _rounded(plan: Sequence[Unit], grids: Mapping[ir.Value, Grid]) -> dict[ir.Value, Grid]:
    """Values with grids of their own."""
    moved = {unit.output for unit in plan if unit.same}
    return {value: grid for value, grid in grids.items() if value not in moved}


def products(unit: Unit) -> int:
    """Multiplications a sample, or elements where there is no weight; extents that are not known count as 1."""
    result = math.prod(n for n in graphs.dims(unit.head.outputs[0]) or () if isinstance(n, int))
    tensor = graphs.constant_tensor(unit.weight)
    if tensor is None or unit.axis is None:
        return result
    return result * tensor.size // int(str(tensor.shape[unit.axis]))


def steps(plan: Sequence[Unit], alone: Mapping[ir.Value, float]) -> Iterator[frozenset[int]]:
    """Growing sets of units, by places, that free one value more at each step: the one that saves most a product first."""
    touching = {value: _touching(plan, value) for value in alone}
    cost = [max(products(unit), 1) for unit in plan]
    kept: frozenset[int] = frozenset()
    left = dict(alone)
    while left:
        best: tuple[float, frozenset[int]] | None = None
        for value in left:
            more = touching[value] - kept
            freed = sum(loss for v, loss in left.items() if touching[v] <= kept | more)
            gain = freed / max(sum(cost[i] for i in more), 1)
            if best is None or gain > best[0]:
                best = gain, more
        assert best is not None
        kept |= best[1]
        left = {v: loss for v, loss in left.items() if not touching[v] <= kept}
        yield kept


def _touching(plan: Sequence[Unit], value: ir.Value) -> frozenset[int]:
    """Places of the units that read or make a value, or what moving its elements makes of it."""
    alike, found = {value}, set[int]()
    for i, unit in enumerate(plan):  # in graph order
        if alike & {*unit.inputs, unit.output}:
            found.add(i)
            alike |= {unit.output} if unit.same else set()
    return frozenset(found)


def _alone(
    model: ir.Model, values: Mapping[ir.Value, Grid], given: Sequence[Sample], runner: Runner
) -> Iterator[float]:
    """The loss of each value alone, rounded."""
    copy, outputs, switches = _switched(model, {str(v.name): g for v, g in values.items()})
    off = dict.fromkeys(switches, np.array(False))

    def feeds() -> Iterator[list[Sample]]:
        yield [{**sample, **off} for sample in given]
        for name in switches:
            yield [{**sample, **off, name: np.array(True)} for sample in given]

    yield from losses_of_rounds(copy, outputs, feeds(), runner)


def _switched(model: ir.Model, grids: Mapping[str, Grid]) -> tuple[ir.Model, list[str], list[str]]:
    """A copy in which an input decides of each value whether it is rounded; its outputs and these inputs, by name."""
    copy = model.clone()
    used = graphs.names(copy)
    made = {str(v.name): v for node in copy.graph for v in node.outputs}
    made |= {str(v.name): v for v in copy.graph.inputs}
    switches = []
    for name, grid in grids.items():
        value = made[name]
        switch = ir.Value(name=graphs.fresh(used, f"{name}.is_rounded"))
        switch.type, switch.shape = ir.TensorType(ir.DataType.BOOL), ir.Shape([])
        copy.graph.inputs.append(switch)
        switches.append(str(switch.name))
        _insert_switch(copy.graph, value, grid, switch, used)
    return copy, [str(v.name) for v in copy.graph.outputs], switches


def _insert_switch(
    graph: ir.Graph, value: ir.Value, grid: Grid, switch: ir.Value, used: set[str]
) -> None:
    readers = list(value.uses())
    constants = [
        graphs.initializer(graph, array, graphs.fresh(used, f"{value.name}.{part}"))
        for part, array in (("scale", np.array(grid.scale)), ("zero", np.array(grid.zero, np.int8)))
    ]
    quantize = _node("QuantizeLinear", [value, *constants], ir.DataType.INT8, value, used)
    codes = quantize.outputs[0]
    restore = _node("DequantizeLinear", [codes, *constants], ir.DataType.FLOAT, value, used)
    choice = [switch, restore.outputs[0], value]
    choose = _node("Where", choice, ir.DataType.FLOAT, value, used)
    nodes, producer = [quantize, restore, choose], value.producer()
    if producer is None:
        graph.insert_before(graph[0], nodes)
    else:
        graph.insert_after(producer, nodes)
    for use in readers:
        use.node.replace_input_with(use.idx, choose.outputs[0])
    graph.outputs[:] = [choose.outputs[0] if v is value else v for v in graph.outputs]


def _node(
    op: str, inputs: Sequence[ir.Value], dtype: ir.DataType, like: ir.Value, used: set[str]
) -> ir.Node:
    name = graphs.fresh(used, f"{like.name}.{op}")
    out = ir.Value(name=name, type=ir.TensorType(dtype), shape=like.shape)
    return ir.Node("", op, inputs, outputs=[out], name=name)
