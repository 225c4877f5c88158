"""Equalization: channels of a value that only convolutions and sums touch are brought to like ranges, before they are rounded.

    y = Conv(x, w, b), z = Conv(y, v)   =>   y_c / s_c = Conv(x, w_c / s_c, b_c / s_c), z = Conv(y / s, v_c * s_c)

One scale rounds all channels of a value, so the small ones lose most. Nagel et al. 2019, https://arxiv.org/abs/1906.04721,
with ranges of activations in place of those of weights, and along a chain of sums one factor for all its values. In f32 the network
computes the same numbers, but that each weight is rounded once more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.int8 import Form, form
from pteron.export.graph.weights import read

from ..observe.calibrate import Ends, Ranges
from ..recipe.units import Unit

Array = NDArray[Any]
Chain = tuple[ir.Value, ...]

SHARE: Final = 0.75
"""How much of a range, as a power, goes to what reads the value: all of it would move the loss to the weights there."""
MOST: Final = 6
"""Factors are 2 ** -6 at least: a channel that hardly spoke in the samples may in other runs."""


def chains(plan: Sequence[Unit]) -> list[Chain]:
    """Values that have to have one factor a channel and can: those that sums join.

    Every value is made by a convolution or by a sum, with Relu at most behind it, and read by such units only.
    """
    made = {unit.output: unit for unit in plan if _is_linear(unit)}
    heads = {unit.head for unit in plan if form(unit.head) in (Form.CONVOLUTION, Form.SUM)}
    chain_of: dict[ir.Value, set[ir.Value]] = {v: {v} for v in made}
    spoiled: set[ir.Value] = set()
    for unit in plan:
        if form(unit.head) != Form.SUM:
            continue
        inside = [v for v in (*unit.inputs, unit.output) if v in made]
        if len(inside) < 3:
            spoiled.update(inside)
        joined = set().union(*(chain_of[v] for v in inside)) if inside else set()
        for value in joined:
            chain_of[value] = joined
    for value in made:
        readers = {use.node for use in value.uses()}
        if value.is_graph_output() or not readers <= heads or not readers:
            spoiled.add(value)
    found = {id(c): c for c in chain_of.values() if not c & spoiled}
    return [tuple(v for v in made if v in chain) for chain in found.values()]


def _is_linear(unit: Unit) -> bool:
    """Whether a factor a channel of what it reads or is made of is one of its result."""
    return form(unit.head) in (Form.CONVOLUTION, Form.SUM) and (
        unit.tail is unit.head or graphs.is_op(unit.tail, "Relu")
    )


def equalized(
    model: ir.Model, plan: Sequence[Unit], found: Sequence[Chain], ranges: Ranges
) -> tuple[list[Unit], Ranges]:
    """Weights and biases take the factors, in place; the plan and the ranges as they are then."""
    factors: dict[ir.Value, Array] = {}
    for chain in found:
        weight = next(u for u in plan if u.output is chain[0]).head.inputs[1]
        count = int(str(graphs.constant_tensor(weight).shape[0]))  # type: ignore[union-attr]
        seen = [ranges.channels_of(str(v.name), count) for v in chain]
        factors |= dict.fromkeys(chain, _factors(seen))
    factors = {value: s for value, s in factors.items() if (s != 1).any()}
    used = graphs.names(model)
    units = [_scaled(model.graph, unit, factors, used) for unit in plan]
    names = {str(value.name): s for value, s in factors.items()}
    return units, dataclasses.replace(ranges, by_name=dict(_ends(ranges, names)))


def _factors(seen: Sequence[Ends]) -> Array:
    """[c] of 1 and less. Values of a chain count alike, each by its largest channel."""
    largest = [np.maximum(-low, high) for low, high in seen]
    share = np.max([x / max(float(x.max(initial=0)), 2.0**-100) for x in largest], axis=0)
    return np.asarray(np.clip(share.astype(np.float64) ** SHARE, 2.0**-MOST, 1), np.float32)


def _ends(
    ranges: Ranges, factors: Mapping[str, Array]
) -> Iterator[tuple[str, tuple[float, float]]]:
    for name, ends in ranges.by_name.items():
        if name in factors:
            low, high = ranges.channels[name]
            ends = float((low / factors[name]).min()), float((high / factors[name]).max())
        yield name, ends


def _scaled(graph: ir.Graph, unit: Unit, factors: Mapping[ir.Value, Array], used: set[str]) -> Unit:
    if form(unit.head) != Form.CONVOLUTION:
        return unit
    behind, ahead = factors.get(unit.inputs[0]), factors.get(unit.output)
    if behind is None and ahead is None:
        return unit
    tensor = graphs.constant_tensor(unit.head.inputs[1])
    assert tensor is not None
    groups = int(graphs.attr(unit.head, "group", 1))
    bias = unit.bias
    if ahead is not None and bias is not None:
        bias = _put(graph, unit.head, 2, ir.tensor(_constant(bias) / ahead), used)
    later = ir.LazyTensor(
        lambda: ir.tensor(_by(read(tensor), groups, behind, ahead)),
        dtype=ir.DataType.FLOAT,
        shape=graphs.sizes(tensor),
    )
    _put(graph, unit.head, 1, later, used)
    return dataclasses.replace(unit, bias=bias)


def _by(w: Array, groups: int, behind: Array | None, ahead: Array | None) -> Array:
    if behind is not None:
        parts = behind.reshape(groups, 1, w.shape[1], *[1] * (w.ndim - 2))
        w = (w.reshape(groups, -1, *w.shape[1:]) * parts).reshape(w.shape)
    if ahead is not None:
        w = w / ahead.reshape(-1, *[1] * (w.ndim - 1))
    return np.asarray(w, np.float32)


def _constant(value: ir.Value | None) -> Array:
    tensor = graphs.constant_tensor(value)
    assert tensor is not None
    return np.asarray(read(tensor), np.float32)


def _put(
    graph: ir.Graph, node: ir.Node, slot: int, tensor: ir.TensorProtocol, used: set[str]
) -> ir.Value:
    """A constant of this node alone; others may read the old one."""
    old = node.inputs[slot]
    assert old is not None
    new = graphs.initializer(graph, tensor, f"{old.name}.equalized", used)
    node.replace_input_with(slot, new)
    return new
