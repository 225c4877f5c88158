"""Bits of the activations of each unit of static int8, so that the model keeps to a loss: more for those around what loses most.

What is lost is lost by rounding activations and weights. One program in f32 has every rounding behind a Where; each alone is switched on
and the loss measured, on few samples: what is wanted is an order. Squares of errors add up, so a mix loses about the sum of its roundings,
and `pareto` has the mixes that lose least for what they take. Which of them is enough follows from the model that would be written, its
weights and biases made for that mix: how many times as large its errors could be says how far from the bar it is.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph import int8
from pteron.schema.errors import QuantError

from ..observe.grids import FLOAT, HEADROOM, Grid
from ..observe.samples import Runner, Sample
from ..recipe.units import Unit
from ..rounding.journal import NO_JOURNAL, Journal, digest
from ..static.qdq import Solved, opened, reads_bias
from .cost import Term, costs
from .pareto import front
from .sensitivity import is_float, judged, losses_of_rounds, sure

MEASURED: Final = 4
"""Mixes that are measured, besides all units in int8: each takes as long as rounding its weights. More only where none of them is a
result."""
SLOPES: Final = (0.25, 0.5, 1.5)
"""How fast what is to spare grows as less is lost, in logarithms: at least, of an error whose square is lost, at most."""
SPARE: Final = 4.0
"""Times as large errors that are tried, in"""
HALVINGS: Final = 10
"""steps of half the distance."""
PROBES: Final = 8
"""Samples on which each rounding alone is measured."""
FINER: Final = (HEADROOM / 256) ** 2
"""Of the loss of int8 that of int16."""

LEAST_COSINE: Final = 1e-3

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

    def share(self, bits: Sequence[int]) -> float:
        """What it loses, of what it loses in 8 bits, where its owners have these: the square of its step."""
        fewest = min(bits)
        return 0.0 if fewest == FLOAT else 1.0 if self.stored or fewest == 8 else FINER


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A model in f32 whose inputs `switches` say which of the `roundings` are done."""

    model: ir.Model
    roundings: tuple[Rounding, ...]
    switches: tuple[str, ...]

    def done(self, sample: Sample, some: Sequence[bool]) -> Sample:
        return {**sample, **{n: np.array(on) for n, on in zip(self.switches, some, strict=True)}}


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
    """The first of the `front` found under which the metric is at most `most`.

    Args:
        bits: Of activations that are not freed.
        simulate: The model, every rounding of `bits` of an activation, and of weights as such a mix has them, behind a switch.
        journal: Has losses that were measured `of` this model on these samples.

    Raises:
        QuantError: all units would compute in f32.
    """
    outputs = [str(v.name) for v in model.graph.outputs]
    wanted = list(runner(model, outputs, given))

    def spare(mix: Mix) -> float:
        key = digest("spare", of, metric, most, mix)
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
        return _spare(lambda times: _loss(wanted, made, given, metric, times), most)

    narrow = (bits,) * len(plan)
    reached = spare(narrow)
    if reached >= 1:
        return narrow
    program = simulate((16,) * len(plan))
    alone = _alone(program, outputs, given[:PROBES], runner, progress, journal, of)
    found = front(plan, bits, costs(plan), lost(program.roundings, alone))
    left = [step.left for step in found]
    mix = found[_first(left, reached, lambda i: spare(found[i].mix))].mix
    if set(mix) == {FLOAT}:
        raise QuantError(
            f"max-loss: expected at most {most:g}, which leaves no unit in int8; raise it, or do not quantize"
        )
    return mix


def _loss(
    wanted: Sequence[Sample], made: Sequence[Sample], given: Sequence[Sample], metric: str, times: float
) -> float:  # fmt: skip
    """What the metric says of errors so many times as large."""
    scaled = made if times == 1 else map(functools.partial(_scaled, times), wanted, made)
    return max(next(judged(wanted, iter(scaled), given, metric)), sure(wanted, made, metric, times))


def _scaled(times: float, want: Sample, got: Sample) -> Sample:
    return {n: x + np.float32(times) * (got[n] - x) for n, x in want.items() if is_float(x)}


def _spare(loss: Callable[[float], float], most: float) -> float:
    """Times as large the errors could be; 1 and more where the loss of the errors as they are is at most `most`."""
    low, high = (1.0, SPARE) if loss(1.0) <= most else (0.0, 1.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) <= most else (low, middle)
    return low


def lost(roundings: Sequence[Rounding], alone: Sequence[float]) -> list[Term]:
    """What a mix loses, of what each rounding loses `alone` in 8 bits."""

    def term(rounding: Rounding, square: float) -> Term:
        return Term(tuple(sorted(rounding.owners)), lambda bits: square * rounding.share(bits))

    return [term(*pair) for pair in zip(roundings, alone, strict=True)]


def _first(left: Sequence[float], spare: float, measured: Callable[[int], float]) -> int:
    """The first step found whose errors are small enough; the last where no other is.

    Args:
        left: What the roundings of each step lose by themselves, the square of the error, falling to 0.
        spare: Times as large the errors of step 0 could be, less than 1; `measured`: those of others.
    """
    low, high = 0, len(left) - 1
    last, step, count, slope = high, low, 0, SLOPES[1]
    while high - low > 1 and (count < MEASURED or high == last):
        target, before = left[step] * spare ** (1 / slope), (left[step], spare)
        step = next(i for i, x in enumerate(left) if x <= target or i == last)
        if step == high < last:  # what holds has nothing to spare
            break
        if not low < step < high:
            step = high - 1 if high == last else (low + high) // 2
        spare, count = measured(step), count + 1
        slope = _slope(before, (left[step], spare))
        low, high = (low, step) if spare >= 1 else (step, high)
    return high


def _slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    """How fast what is to spare grows as less is lost, both in logarithms, of two measured steps."""
    grown, fell = (other[1] / one[1] if one[1] > 0 else 0), one[0] / max(other[0], 1e-300)
    if grown <= 0 or abs(math.log(fell)) < 1e-9:
        return SLOPES[1]
    return min(max(math.log(grown) / math.log(fell), SLOPES[0]), SLOPES[2])


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
