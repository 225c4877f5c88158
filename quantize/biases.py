"""Biases that make up for rounding, layer after layer: each layer's result keeps the mean that it had in f32.

    y = w x + b   =>   y = w' x' + b', b' = b + w mean(x) - w' mean(x')

x' is what the layer reads in the rounded network, whose earlier biases have made up for their part. Nagel et al. 2019, section 4.2,
https://arxiv.org/abs/1906.04721, by samples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from .activations import Bias, Solved, simulate_static
from .calibrate import Ranges
from .layers import Layer, layers
from .readings import Reading, reading, summed
from .rounding import matrix_of, mean_of
from .samples import Runner, Sample
from .stretches import Order, in_stretches
from .units import Unit

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Biased:
    """A layer whose result had a mean, the reading of its input and its bias in the rounded network."""

    place: int
    layer: Layer
    how: Reading
    bias: Bias


def made_up(
    model: ir.Model,
    plan: list[Unit],
    ranges: Ranges,
    found: Mapping[int, Solved],
    floats: Collection[int],
    exact: Collection[int],
    given: Iterable[Sample],
    runner: Runner,
    progress: Callable[[str], None] | None = None,
) -> dict[int, Solved]:
    """`found` with the shifts of biases, for the network in which the units at these places compute in f32, `exact` with f32 weights.

    Args:
        model: Is rounded, in place: a copy, with the plan of the copy.
        found: Weights by places in the plan; those with a mean get a shift.
        given: Samples; each is run once, in stretches from layer to layer.
    """
    biases = simulate_static(model, plan, ranges, found, floats, exact)
    wanted = _wanted(model, plan, found, biases)
    done = dict(found)
    parts = [[value] for value in wanted]
    stretches = in_stretches(model, parts, given, runner)
    for number, (some, runs) in enumerate(zip(wanted.values(), stretches, strict=True), 1):
        if progress:
            progress(f"make up {number}/{len(wanted)} for {some[0].layer.name}")
        means = _means({each.how for each in some}, runs)
        for each in some:
            solved = found[each.place]
            assert solved.mean is not None
            mean = mean_of(matrix_of(each.layer), means[each.how])
            shift = np.asarray(solved.mean - mean, np.float32)
            done[each.place] = dataclasses.replace(solved, shift=shift)
            each.bias.shifted(shift)
    return done


def _wanted(
    model: ir.Model,
    plan: Sequence[Unit],
    found: Mapping[int, Solved],
    biases: Mapping[int, Bias],
) -> dict[str, list[_Biased]]:
    """Layers by the names of what they read, in the order in which that is made."""
    by_node = {layer.node: layer for layer in layers(model)}
    some: dict[str, list[_Biased]] = {}
    for place, bias in biases.items():
        layer = by_node.get(plan[place].head)
        how = None if layer is None else reading(layer, model.graph)
        solved = found.get(place)
        if layer is not None and how is not None and solved is not None and solved.mean is not None:
            some.setdefault(how.value, []).append(_Biased(place, layer, how, bias))
    order = Order(model.graph)
    return {name: some[name] for name in sorted(some, key=lambda n: order.place(order.values[n]))}


def _means(
    wanted: Collection[Reading], runs: Iterable[Mapping[str, Array]]
) -> dict[Reading, Array]:
    """The mean of what is read, [groups, k]."""
    sums: dict[Reading, Array] = {}
    count = dict.fromkeys(wanted, 0)
    for values in runs:
        for how in wanted:
            more, number = summed(how, np.asarray(values[how.value], np.float32))
            sums[how] = sums.get(how, 0) + more
            count[how] += number
    return {how: total / max(count[how], 1) for how, total in sums.items()}
