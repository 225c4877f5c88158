"""Channels of what layers read are divided by factors, and weights multiplied by them, before weights are rounded.

    y = w x  =>  y = (w s) (x / s),   s = rms(x) ** alpha

Columns that meet large inputs get finer steps that way, within the block that shares their scale. Lin et al. 2023, AWQ,
https://arxiv.org/abs/2306.00978, with the root of the mean square, which statistics have, in place of the mean magnitude. 1 / s goes into what
makes x (`foldable`): in f32 the network computes the same but for rounding. Which alpha, 0 among them, says the error at the layers'
own outputs, by statistics, as the format and the algorithm at hand round them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import read
from pteron.schema.errors import QuantError

from ..observe.layer_inputs import reading
from ..observe.statistics import Moments, Statistics
from ..recipe.layers import Layer
from ..recipe.plan import Choice, Plan
from ..recipe.rules import SCALINGS
from ..rounding.weight import Rounded
from .foldable import Fold, Shapes, fold

Array = NDArray[Any]
F32 = NDArray[np.float32]
NONE, FOLD, MULTIPLY = SCALINGS
Round = Callable[[Choice, Moments], Rounded]

ALPHAS: Final = (0.125, 0.25, 0.375, 0.5)
MOST: Final = 8
"""Factors are between 2 ** -8 and 2 ** 8."""
FAINT: Final = 2.0**-24
"""Of the loudest channel: as much as one counts that was silent in the samples."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scaled:
    """Layers read the values of `record` divided by `factors` [k]."""

    record: str
    alpha: float
    factors: F32


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    """Layers that read one value, and how that is divided; without a fold by a Mul."""

    record: str
    value: ir.Value
    choices: tuple[Choice, ...]
    fold: Fold | None

    def tied(self, count: int) -> Array:
        return np.arange(count) if self.fold is None else self.fold.tied


def scaled(
    model: ir.Model,
    plan: Plan,
    known: Statistics,
    how: str,
    round_: Round,
    progress: Callable[[str], None] | None = None,
) -> tuple[Statistics, dict[str, float]]:
    """Scales channels, in place, where that lowers the error.

    Args:
        known: Of the layers' inputs as they are.
        how: "fold", or "multiply": where nothing can take the factors a Mul in front of the layers does.
        round_: What becomes of a layer with these moments of its input.

    Returns:
        Statistics of the layers' inputs as they are then; alpha of each layer whose input was scaled.
    """
    used, found = graphs.names(model), list[Scaled]()
    alphas: dict[str, float] = {}
    groups = list(_groups(model, plan, known, how))[::-1]  # what takes factors is judged with them
    for number, group in enumerate(groups, 1):
        if progress:
            progress(f"scale {number}/{len(groups)} {group.choices[0].layer.name}")
        best = _best(group, known, round_)
        if best is not None:
            _divide(model.graph, group, best.factors, used)
            found.append(best)
            alphas |= {choice.layer.name: best.alpha for choice in group.choices}
    return _statistics(known, {each.record: each.factors for each in found}), alphas


def _groups(model: ir.Model, plan: Plan, known: Statistics, how: str) -> Iterator[_Group]:
    """In the order of the graph. A weight that several nodes have stays as it is."""
    by_record: dict[str, list[Choice]] = {}
    for choice in plan.choices:
        if choice.layer.name in known.records and choice.layer.kind in ("matmul", "gemm"):
            by_record.setdefault(known.records[choice.layer.name], []).append(choice)
    shapes = Shapes(model) if by_record else None
    for record, choices in by_record.items():
        value = choices[0].layer.node.inputs[0]
        plain = [_is_plain(choice, value, model.graph) for choice in choices]
        if value is None or shapes is None or all(c.format is None for c in choices):
            continue
        nodes = [choice.layer.node for choice in choices]
        made = fold(value, nodes, shapes) if all(plain) else None
        if made is not None:
            yield _Group(record, value, tuple(choices), made)
        elif how == MULTIPLY and all(plain):
            yield _Group(record, value, tuple(choices), None)


def _is_plain(choice: Choice, value: ir.Value | None, main: ir.Graph) -> bool:
    """Its own weight, over the last axis of the value that all of the record read."""
    how = reading(choice.layer, main)
    mine = choice.layer.node.inputs[0] is value and choice.alone
    return mine and how is not None and not how.turned and how.window is None


# --- the factors ----------------------------------------------------------------------------------------------------------


def _best(group: _Group, known: Statistics, round_: Round) -> Scaled | None:
    """The factors of the least error; None: those of 1."""
    moments = known.of(group.choices[0].layer, *group.choices[0].layer.extents)
    if moments is None or not np.isfinite(moments.second).all():
        return None
    ones = np.ones(moments.second.shape[1], np.float32)
    least, best = _cost(group, moments, ones, round_), None
    seen = [ones]
    for alpha in ALPHAS:
        factors = _factors(moments, group.tied(len(ones)), alpha)
        if any((factors == one).all() for one in seen):
            continue
        seen.append(factors)
        cost = _cost(group, moments, factors, round_)
        if cost < least:
            least, best = cost, Scaled(group.record, alpha, factors)
    return best


def _factors(moments: Moments, tied: Array, alpha: float) -> F32:
    """[k], the largest and the smallest as far from 1; `tied` channels count as one."""
    power = np.diagonal(moments.second[0]).astype(np.float64)
    total, count = np.zeros(len(tied)), np.zeros(len(tied))
    np.add.at(total, tied, power)
    np.add.at(count, tied, 1)
    mean = (total / np.maximum(count, 1))[tied]
    loudest = float(mean.max(initial=0))
    if loudest <= 0:
        return np.ones(len(tied), np.float32)
    exponent = 0.5 * alpha * np.log2(np.maximum(mean / loudest, FAINT**2))
    exponent -= (exponent.max() + exponent.min()) / 2
    return np.asarray(2.0 ** np.clip(exponent, -MOST, MOST), np.float32)


def _cost(group: _Group, moments: Moments, factors: F32, round_: Round) -> float:
    """Shares of the layers' outputs that are error, summed; infinite where the format has no form of a weight."""
    divided, total = _divided(moments, factors), 0.0
    for choice in group.choices:
        if choice.format is None:
            continue
        trial = dataclasses.replace(choice, layer=_with_columns(choice.layer, factors))
        try:
            total += round_(trial, divided).report.cost
        except QuantError:
            return np.inf
    return total


def _with_columns(layer: Layer, factors: F32) -> Layer:
    """The layer as a node of its own, its columns multiplied."""
    node, tensor = layer.node, graphs.constant_tensor(layer.node.inputs[layer.slot])
    assert tensor is not None
    constants = [graphs.constant_tensor(value) for value in node.inputs]
    constants[layer.slot] = _by(tensor, _along(layer, factors))
    inputs = [ir.Value(name=f"{i}", const_value=c) for i, c in enumerate(constants)]
    alike = ir.Node(node.domain, node.op_type, inputs, node.attributes.values(), name=node.name)
    return dataclasses.replace(layer, node=alike)


def _divided(moments: Moments, factors: F32) -> Moments:
    """Of x / factors."""
    second = moments.second / (factors[:, None] * factors)
    absmax = None if moments.absmax is None else moments.absmax / factors
    return dataclasses.replace(moments, second=second, mean=moments.mean / factors, absmax=absmax)


def _statistics(known: Statistics, factors: Mapping[str, F32]) -> Statistics:
    def divided(record: str) -> Moments:
        moments = known.read(record)
        return _divided(moments, factors[record]) if record in factors else moments

    return dataclasses.replace(known, read=divided)


# --- the graph ------------------------------------------------------------------------------------------------------------


def _divide(graph: ir.Graph, group: _Group, factors: F32, used: set[str]) -> None:
    for choice in group.choices:
        _put(graph, choice.layer.node, choice.layer.slot, _along(choice.layer, factors), used)
    if group.fold is None:
        _multiply(graph, group, factors, used)
        return
    for place in group.fold.places:
        inverse = np.asarray(1 / factors[place.channels], np.float32)
        _put(graph, place.node, place.slot, inverse, used)


def _along(layer: Layer, factors: F32) -> F32:
    """Factors of the columns of the layer's matrix, as the weight lies."""
    return factors[:, None] if layer.kind == "matmul" else factors


def _put(graph: ir.Graph, node: ir.Node, slot: int, factors: F32, used: set[str]) -> None:
    """A constant of this node alone, multiplied when it is read; others keep the old one."""
    old = node.inputs[slot]
    tensor = graphs.constant_tensor(old)
    assert old is not None and tensor is not None
    new = graphs.initializer(graph, _by(tensor, factors), f"{old.name}.scaled", used)
    node.replace_input_with(slot, new)


def _by(tensor: ir.TensorProtocol, factors: F32) -> ir.TensorProtocol:
    shape = np.broadcast_shapes(tuple(int(str(n)) for n in tensor.shape), factors.shape)

    def made() -> ir.TensorProtocol:
        return ir.tensor(np.asarray(read(tensor) * factors, np.float32))

    return ir.LazyTensor(made, dtype=ir.DataType.FLOAT, shape=ir.Shape(shape))


def _multiply(graph: ir.Graph, group: _Group, factors: F32, used: set[str]) -> None:
    """The layers read the value through a Mul."""
    nodes, value = [choice.layer.node for choice in group.choices], group.value
    inverse = graphs.initializer(graph, 1 / factors, f"{value.name}.scale", used)
    name = graphs.fresh(used, f"{value.name}.scaled")
    shape = None if value.shape is None else value.shape.copy()
    out = ir.Value(name=name, type=value.type, shape=shape)
    mul = ir.Node("", "Mul", [value, inverse], outputs=[out], name=name)
    graphs.carry([mul], nodes)
    graph.insert_before(nodes[0], mul)
    for node in nodes:
        node.replace_input_with(0, out)
