"""Bits of the activations of each unit of static int8, so that the model keeps to a loss: more for those around what loses most.

What is lost is lost by rounding activations and weights. One program in f32 has every rounding behind a Where; each alone is switched on
and the loss measured, on few samples: what is wanted is an order. Squares of errors add up, so a mix loses about the sum of its roundings.
`steps` frees the ones that save most for the time they cost: of an activation by 16 bits, of a weight by f32 around it. How far it has to
go follows from the model that would be written, its weights and biases made for that mix, measured at few steps: about a line through the
two nearest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph import int8
from pteron.schema.errors import QuantError

from .activations import FLOAT, HEADROOM, Grid, Solved, opened, reads_bias
from .journal import NO_JOURNAL, Journal, digest
from .measure import judged, losses_of_rounds, sure
from .samples import Runner, Sample
from .units import Unit

MEASURED: Final = 4
"""Mixes that are measured, besides all units in int8 and in int16: each takes as long as rounding its weights. More only
where none of them is a result."""
PROBES: Final = 8
"""Samples on which each rounding alone is measured."""
FINER: Final = (HEADROOM / 256) ** 2
"""Of the loss of int8 that of int16."""
PACE: Final = {8: 1.0, 16: 2.3, FLOAT: 4.0}
"""Time of a product by the bits of activations: ResNet-50 on one thread of Zen 5 with VNNI takes 8.3, 20 and 34 ms."""

LEAST_COSINE: Final = 1e-3
EXPECTED: Final[Mapping[str, Callable[[float], float]]] = {
    "cosine": lambda square: 1e4 * (1 - 1 / math.sqrt(1 + square)),
    "top1": math.sqrt,
    "perplexity": lambda square: square,
}
"""What a metric follows, by the square of the relative error: largest elements move as often as the error is large."""

Progress = Callable[[str], None]
Mix: TypeAlias = tuple[int, ...]
"""Bits of the activations of each unit, by its place in the plan: 8, 16 or FLOAT, which leaves its weight in f32, too."""
Build = Callable[[Mix], ir.Model]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """A value is rounded for one of its readers, `uses` of it or the graph's `output`, if a unit of `owners` has few bits.

    These are the unit that makes the value, which rounds it for all, and the reader; of a weight, `stored`, and its bias the unit.
    """

    value: ir.Value
    owners: frozenset[int]
    uses: tuple[tuple[ir.Node, int], ...] = ()
    output: bool = False
    stored: bool = False

    def share(self, mix: Mix) -> float:
        """What it loses in a mix, of what it loses in 8 bits: the square of its step."""
        fewest = min(mix[i] for i in self.owners)
        return 0.0 if fewest == FLOAT else 1.0 if self.stored or fewest == 8 else FINER


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A model in f32 whose inputs `switches` say which of the `roundings` are done."""

    model: ir.Model
    roundings: tuple[Rounding, ...]
    switches: tuple[str, ...]

    def done(self, sample: Sample, some: Sequence[bool]) -> Sample:
        return {**sample, **{n: np.array(on) for n, on in zip(self.switches, some, strict=True)}}


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A mix, and the sum of what its roundings lose alone: the square of the error, relative."""

    mix: Mix
    left: float


def mixed(
    model: ir.Model,
    plan: Sequence[Unit],
    bits: int,
    simulate: Callable[[Mix], Simulated],
    most: float,
    metric: str,
    given: Sequence[Sample],
    runner: Runner,
    build: Build,
    progress: Progress | None = None,
    journal: Journal = NO_JOURNAL,
    of: str = "",
) -> Mix:
    """The first of `steps` found under which the metric is at most `most`.

    Args:
        bits: Of activations that are not freed.
        simulate: The model, every rounding of `bits` of an activation, and of weights as such a mix has them, behind a switch.
        journal: Has losses that were measured `of` this model on these samples.

    Raises:
        QuantError: all units would compute in f32.
    """
    outputs = [str(v.name) for v in model.graph.outputs]
    wanted = list(runner(model, outputs, given))

    def loss(mix: Mix) -> float:
        key = digest("loss", of, metric, mix)
        known = journal.loss(key)
        if known is None:
            known = measured(mix)
            journal.keep_loss(key, known)
        return known

    def measured(mix: Mix) -> float:
        if progress:
            progress(
                f"measure with {mix.count(16)} of {len(plan)} units in int16, {mix.count(FLOAT)} in f32"
            )
        made = list(runner(build(mix), outputs, given))
        return max(next(judged(wanted, iter(made), given, metric)), sure(wanted, made, metric))

    narrow = (bits,) * len(plan)
    reached = loss(narrow)
    if reached <= most:
        return narrow
    program = simulate((16,) * len(plan))
    alone = _alone(program, outputs, given[:PROBES], runner, progress, journal, of)
    found = [*steps(program.roundings, alone, plan, narrow)]
    left = [EXPECTED[metric](step.left) for step in found]
    mix = found[_first(left, reached, 0.0, most, lambda i: loss(found[i].mix), ends=False)].mix
    if set(mix) == {FLOAT}:
        raise QuantError(
            f"max-loss: expected at most {most:g}, which leaves no unit in int8; raise it, or do not quantize"
        )
    return mix


def _first(
    left: Sequence[float], whole: float, least: float, most: float, loss: Callable[[int], float], ends: bool = True
) -> int:  # fmt: skip
    """The first step found whose loss is at most `most`.

    Args:
        left: What the roundings of each step lose by themselves, falling to 0.
        whole: The loss of step 0, more than `most`; least: that of the last, at most `most`.
        ends: Whether the last one is a result; if not, it is what is found where no other is.
    """
    low, high = 0, len(left) - 1
    below, last = {low: whole, high: least}, high
    while high - low > 1 and (len(below) < MEASURED + 2 or (high == last and not ends)):
        fall = (below[low] - most) / max(below[low] - below[high], 1e-300)
        target = left[low] + fall * (left[high] - left[low])
        step = next(i for i in range(low + 1, high) if left[i] <= target or i == high - 1)
        step = max(step, (low + high) // 2) if low else step  # a line that said too little once
        below[step] = loss(step)
        low, high = (low, step) if below[step] <= most else (step, high)
    return high


def products(unit: Unit) -> int:
    """Multiplications a sample, or elements where there is no weight; extents that are not known count as 1."""
    result = math.prod(n for n in graphs.dims(unit.head.outputs[0]) or () if isinstance(n, int))
    tensor = graphs.constant_tensor(unit.weight)
    if tensor is None or unit.axis is None:
        return max(result, 1)
    return max(result * tensor.size // int(str(tensor.shape[unit.axis])), 1)


def pace(plan: Sequence[Unit], mix: Mix) -> float:
    """About how many times as long the products take as in int8."""
    costs = [products(unit) for unit in plan]
    return sum(c * PACE[bits] for c, bits in zip(costs, mix, strict=True)) / sum(costs)


def steps(
    roundings: Sequence[Rounding], alone: Sequence[float], plan: Sequence[Unit], mix: Mix
) -> Iterator[Step]:
    """Mixes from `mix` to all in f32, each with more bits of some units: of those that save most for the time they cost first.

    Args:
        alone: What each rounding loses.
    """
    costs = [products(unit) for unit in plan]
    wider = [16 if unit.in_words else FLOAT for unit in plan]
    by_owner: dict[int, list[int]] = {}
    for i, rounding in enumerate(roundings):
        for owner in rounding.owners:
            by_owner.setdefault(owner, []).append(i)

    def raised(owners: Iterable[int], floats: bool) -> dict[int, int]:
        """The units that get more bits, and how many."""
        asked = {i: FLOAT if floats else wider[i] for i in owners}
        return {i: bits for i, bits in asked.items() if bits > mix[i]}

    def gain(more: Mapping[int, int]) -> float:
        after = _with(mix, more)
        near = sorted({i for owner in more for i in by_owner.get(owner, ())})
        freed = sum(alone[i] * (roundings[i].share(mix) - roundings[i].share(after)) for i in near)
        return freed / sum(costs[i] * (PACE[bits] - PACE[mix[i]]) for i, bits in more.items())

    def step() -> Step:
        return Step(mix, sum(x * r.share(mix) for x, r in zip(alone, roundings, strict=True)))

    yield step()
    while set(mix) != {FLOAT}:
        tried: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
        for owners in dict.fromkeys(
            [r.owners for r in roundings] + [frozenset({i}) for i in range(len(mix))]
        ):
            for floats in (False, True):
                more = raised(owners, floats)
                if more:
                    tried[tuple(sorted(more.items()))] = more
        mix = _with(mix, max(tried.values(), key=gain))
        yield step()


def _with(mix: Mix, more: Mapping[int, int]) -> Mix:
    return tuple(more.get(i, bits) for i, bits in enumerate(mix))


def _alone(
    simulated: Simulated, outputs: Sequence[str], given: Sequence[Sample], runner: Runner, progress: Progress | None,
    journal: Journal, of: str,
) -> list[float]:  # fmt: skip
    """The square of the relative error that each rounding makes alone."""
    count = len(simulated.roundings)
    keys = [digest("alone", of, i) for i in range(count)]
    known = [journal.loss(key) for key in keys]
    left = [i for i in range(count) if known[i] is None]

    def feeds() -> Iterator[list[Sample]]:
        for on in [-1, *left]:
            if progress and on >= 0:
                progress(f"measure {on + 1}/{count} {simulated.roundings[on].value.name}")
            some = [on == i for i in range(count)]
            yield [simulated.done(sample, some) for sample in given]

    found = {i: x for i, x in enumerate(known) if x is not None}
    if left:
        losses = losses_of_rounds(simulated.model, outputs, feeds(), runner)
        for i, loss in zip(left, losses, strict=True):
            found[i] = loss
            journal.keep_loss(keys[i], loss)
    return [max(1 - found[i] / 1e4, LEAST_COSINE) ** -2 - 1 for i in range(count)]


def simulated(
    model: ir.Model,
    plan: Sequence[Unit],
    grids: Mapping[ir.Value, Grid],
    found: Mapping[int, Solved] | None = None,
) -> Simulated:
    """Puts every rounding that the plan may do behind a switch, in place; weights are rounded as they were `found`, or to nearest."""
    used = graphs.names(model)
    roundings = [*_roundings(plan, grids)]
    switches = []
    for value in dict.fromkeys(rounding.value for rounding in roundings):
        some = [rounding for rounding in roundings if rounding.value is value]
        switches += _insert_switches(model.graph, value, grids[value], some, used)
    for i, unit in enumerate(plan):
        if unit.weight is not None:
            roundings.append(Rounding(unit.weight, frozenset({i}), stored=True))
            switches.append(_insert_weights(model.graph, unit, (found or {}).get(i), used))
    return Simulated(model, tuple(roundings), tuple(switches))


def _roundings(plan: Sequence[Unit], grids: Mapping[ir.Value, Grid]) -> Iterator[Rounding]:
    """Value by value; what a unit moves lies on the grid of what it reads."""
    makers = {unit.output: i for i, unit in enumerate(plan) if not unit.same}
    places = {node: i for i, unit in enumerate(plan) for node in (unit.head, unit.tail)}
    for value in grids:
        readers: dict[int | None, list[tuple[ir.Node, int]]] = {}
        for use in value.uses():
            readers.setdefault(places.get(use.node), []).append((use.node, use.idx))
        if value.is_graph_output():
            readers.setdefault(None, [])
        for reader, uses in readers.items():
            owners = frozenset(i for i in (makers.get(value), reader) if i is not None)
            if owners:
                output = reader is None and value.is_graph_output()
                yield Rounding(value, owners, tuple(uses), output)


def _insert_switches(
    graph: ir.Graph, value: ir.Value, grid: Grid, some: Sequence[Rounding], used: set[str]
) -> list[str]:
    """Names of the inputs that decide."""
    name = str(value.name)
    constants = [
        graphs.initializer(graph, array, graphs.fresh(used, f"{name}.{part}"))
        for part, array in (("scale", np.array(grid.scale)), ("zero", grid.zero_point))
    ]
    quantize = _node("QuantizeLinear", [value, *constants], int8.TYPES[grid.bits], value, used)
    codes = quantize.outputs[0]
    restore = _node("DequantizeLinear", [codes, *constants], ir.DataType.FLOAT, value, used)
    nodes, switches = [quantize, restore], []
    for rounding in some:
        switch = _switch(graph, name, used)
        switches.append(str(switch.name))
        choice = [switch, restore.outputs[0], value]
        choose = _node("Where", choice, ir.DataType.FLOAT, value, used)
        nodes.append(choose)
        for node, slot in rounding.uses:
            node.replace_input_with(slot, choose.outputs[0])
        if rounding.output:
            value.name = graphs.fresh(used, f"{name}.exact")
            choose.outputs[0].name = name
            graph.outputs[:] = [choose.outputs[0] if v is value else v for v in graph.outputs]
    producer = value.producer()
    if producer is None:
        graph.insert_before(graph[0], nodes)
    else:
        graph.insert_after(producer, nodes)
    return switches


def _insert_weights(graph: ir.Graph, unit: Unit, found: Solved | None, used: set[str]) -> str:
    """The name of the input that decides whether weight and bias are those of int8."""
    switch = _switch(graph, unit.name, used)
    before = unit.weight, unit.bias
    constants = opened(graph, unit, unit, None, used)
    if found is not None:
        constants.become(found)
    places = [(unit.head, 1), *([] if unit.bias is None else [reads_bias(unit, constants.bias)])]
    after = constants.weight, constants.bias
    for old, new, (node, slot) in zip(before, after, places, strict=False):
        assert old is not None and new is not None
        choose = _node("Where", [switch, new, old], ir.DataType.FLOAT, old, used)
        graph.insert_before(node, [choose])
        node.replace_input_with(slot, choose.outputs[0])
    return str(switch.name)


def _switch(graph: ir.Graph, name: str, used: set[str]) -> ir.Value:
    switch = ir.Value(name=graphs.fresh(used, f"{name}.is_rounded"))
    switch.type, switch.shape = ir.TensorType(ir.DataType.BOOL), ir.Shape([])
    graph.inputs.append(switch)
    return switch


def _node(
    op: str, inputs: Sequence[ir.Value], dtype: ir.DataType, like: ir.Value, used: set[str]
) -> ir.Node:
    name = graphs.fresh(used, f"{like.name}.{op}")
    out = ir.Value(name=name, type=ir.TensorType(dtype), shape=like.shape)
    return ir.Node("", op, inputs, outputs=[out], name=name)
