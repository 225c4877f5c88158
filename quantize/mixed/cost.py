"""Cost model: about what a mix of bits takes, a sum of terms, each of which few units decide, by rates of one thread.

Rates rank mixes, so that quantizing gives the same bytes everywhere; what a program takes says `pteron bench`. AMD Zen 4 with VNNI, int8,
int16 and f32 of MobileNetV2, EfficientNet-Lite0, ResNet-50 and ViT-S/14 (benchmarks/vision.py), by `pteron profile`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph.int8 import Form, form

from ..observe.grids import FLOAT
from ..recipe.units import Unit

Rates: TypeAlias = Mapping[int, tuple[float, float]]
"""By the bits of activations picoseconds of a product and of an element of the result."""
LONG: Final[Rates] = {8: (4.6, 100.0), 16: (10.5, 150.0), FLOAT: (18.0, 60.0)}
FEW: Final[Rates] = {8: (4.6, 200.0), 16: (10.5, 1000.0), FLOAT: (18.0, 200.0)}
"""Of a convolution that reads FEWEST channels at most,"""
DEPTHWISE: Final[Rates] = {8: (24.0, 0.0), 16: (45.0, 0.0), FLOAT: (38.0, 0.0)}
"""or one,"""
MOVED: Final[Rates] = {8: (0.0, 70.0), 16: (0.0, 280.0), FLOAT: (0.0, 30.0)}
"""and of a unit without products."""
FEWEST: Final = 4
CONVERTED: Final = {
    (8, 16): 500.0,
    (16, 8): 500.0,
    (8, FLOAT): 130.0,
    (FLOAT, 8): 65.0,
    (16, FLOAT): 150.0,
    (FLOAT, 16): 75.0,
}
"""Picoseconds of an element that is read in other bits than it is made in: Rescale (of a Xeon with AVX-512), DequantizeLinear,
QuantizeLinear."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Term:
    """What the bits of `units`, places in a plan, add to a sum."""

    units: tuple[int, ...]
    of: Callable[[Sequence[int]], float]


def total(terms: Sequence[Term], mix: Sequence[int]) -> float:
    return sum(term.of([mix[i] for i in term.units]) for term in terms)


def costs(plan: Sequence[Unit]) -> list[Term]:
    """Picoseconds: of each unit, and of each value that units make or read where they differ."""
    return [Term((i,), _unit(unit)) for i, unit in enumerate(plan)] + [*_crossings(plan)]


def relative_time(plan: Sequence[Unit], mix: Sequence[int]) -> float:
    """About how many times as long a run takes as in int8."""
    terms = costs(plan)
    return total(terms, mix) / total(terms, (8,) * len(plan))


def _unit(unit: Unit) -> Callable[[Sequence[int]], float]:
    elements, terms, rates = _elements(unit.head.outputs[0]), _products(unit), _rates(unit)
    each = {bits: elements * (terms * product + one) for bits, (product, one) in rates.items()}
    return lambda bits: each[bits[0]]


def _rates(unit: Unit) -> Rates:
    kind, tensor = form(unit.head), graphs.constant_tensor(unit.weight)
    if kind == Form.CONVOLUTION and tensor is not None:
        channels = int(str(tensor.shape[1]))
        return DEPTHWISE if channels == 1 else FEW if channels <= FEWEST else LONG
    return LONG if kind == Form.PRODUCT else MOVED


def _products(unit: Unit) -> int:
    """That an element of the result sums; extents that are not known count as 1."""
    tensor = graphs.constant_tensor(unit.weight)
    if tensor is not None and unit.axis is not None:
        return int(tensor.size) // int(str(tensor.shape[unit.axis]))
    if form(unit.head) != Form.PRODUCT:
        return 0
    last = (graphs.dims(unit.inputs[0]) or [1])[-1]
    return last if isinstance(last, int) else 1


def _elements(value: ir.Value) -> int:
    return max(math.prod(n for n in graphs.dims(value) or () if isinstance(n, int)), 1)


def _crossings(plan: Sequence[Unit]) -> Iterator[Term]:
    makers = {unit.output: i for i, unit in enumerate(plan)}
    places = {node: i for i, unit in enumerate(plan) for node in (unit.head, unit.tail)}
    for value in dict.fromkeys(v for unit in plan for v in (*unit.inputs, unit.output)):
        maker = makers.get(value)
        readers = dict.fromkeys(places.get(use.node) for use in value.uses())
        outside = maker is None or None in readers or value.is_graph_output()
        units = tuple(dict.fromkeys(i for i in (maker, *readers) if i is not None))
        yield Term(units, _crossing(_elements(value), maker is None, outside))


def _crossing(elements: int, given: bool, outside: bool) -> Callable[[Sequence[int]], float]:
    """Of a value whose first unit makes it, unless it is `given` in f32; read `outside` in f32, too."""

    def of(bits: Sequence[int]) -> float:
        made = FLOAT if given else bits[0]
        asked = {*bits, FLOAT} if outside else {*bits}
        return elements * sum(CONVERTED[made, other] for other in asked if other != made)

    return of
