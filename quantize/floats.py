"""Which units of static int8 compute in f32, so that the model keeps to a loss: those around the roundings that lose most.

What an int8 model loses it loses by rounding activations. One program in f32 has every place where one may be rounded, each behind
a Where; each rounding alone is switched on and the loss measured, on few samples: what is wanted is an order. Squares of errors add
up, so a mix of units in int8 and f32 loses about the sum of its roundings. `steps` frees the rounding that saves most a product, with
the units that ask for it, then the next; how far it has to go follows from the model that would be written, its weights and biases
made for that mix, measured at few steps: about a line through the two nearest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph import int8
from pteron.schema.errors import QuantError

from .activations import Grid
from .journal import NO_JOURNAL, Journal, digest
from .measure import judged, losses_of_rounds
from .samples import Runner, Sample
from .units import Unit

MEASURED: Final = 4
"""Mixes that are measured, besides all units in int8 and rounded weights alone: each takes as long as rounding its weights. More only
where none of them is a result."""
Progress = Callable[[str], None]
SHARE: Final = 0.5
"""Of the largest loss that rounded weights alone may take: beyond it few units in int8 fit beside them."""
PROBES: Final = 8
"""Samples on which each rounding alone is measured."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mix:
    """Which units, by their places in the plan, compute in f32, and which of these have weights of f32, too."""

    floats: frozenset[int] = frozenset()
    exact: frozenset[int] = frozenset()


Build = Callable[[Mix], ir.Model]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """A value is rounded for one of its readers, `uses` of it or the graph's `output`, if a unit of `owners` is in int8.

    These are the unit that makes the value, which rounds it for all, and the reader.
    """

    value: ir.Value
    owners: frozenset[int]
    uses: tuple[tuple[ir.Node, int], ...]
    output: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A model in f32 whose inputs `switches` say which of the `roundings` are done."""

    model: ir.Model
    roundings: tuple[Rounding, ...]
    switches: tuple[str, ...]

    def done(self, sample: Sample, some: Sequence[bool]) -> Sample:
        return {**sample, **{n: np.array(on) for n, on in zip(self.switches, some, strict=True)}}


def floats(
    model: ir.Model,
    plan: Sequence[Unit],
    simulate: Callable[[], Simulated],
    most: float,
    metric: str,
    given: Sequence[Sample],
    runner: Runner,
    build: Build,
    progress: Progress | None = None,
    journal: Journal = NO_JOURNAL,
    of: str = "",
) -> Mix:
    """The first of `steps` found under which the metric is at most `most`; where rounded weights alone lose more than `SHARE` of that, units
    in f32 have f32 weights.

    Args:
        simulate: The model, every rounding of an activation behind a switch.
        journal: Has losses that were measured `of` this model on these samples.

    Raises:
        QuantError: no unit can be in int8.
    """
    outputs = [str(v.name) for v in model.graph.outputs]
    wanted = list(runner(model, outputs, given))

    def loss(mix: Mix) -> float:
        key = digest("loss", of, metric, sorted(mix.floats), sorted(mix.exact))
        known = journal.loss(key)
        if known is None:
            known = measured(mix)
            journal.keep_loss(key, known)
        return known

    def measured(mix: Mix) -> float:
        if progress:
            weights = ", weights too" if mix.exact else ""
            progress(f"measure with {len(mix.floats)} of {len(plan)} units in f32{weights}")
        made = iter(runner(build(mix), outputs, given))
        return next(judged(wanted, made, given, metric))

    reached = loss(Mix())
    if reached <= most:
        return Mix()
    program = simulate()
    alone = _alone(program, outputs, given[:PROBES], runner, progress, journal, of)
    owners = [rounding.owners for rounding in program.roundings]
    sets = [frozenset[int](), *steps(owners, alone, [products(unit) for unit in plan])]
    left = [sum(x for x, by in zip(alone, owners, strict=True) if not by <= kept) for kept in sets]
    mixes, least = [Mix(kept) for kept in sets], loss(Mix(sets[-1]))
    if least > SHARE * most:
        mixes, least = [Mix(kept, kept) for kept in sets], 0.0
    ends = len(mixes[-1].exact) < len(plan)
    found = mixes[_first(left, reached, least, most, lambda i: loss(mixes[i]), ends)]
    if len(found.exact) == len(plan):
        raise QuantError(
            f"max-loss: expected at most {most:g}, which leaves no unit in int8; raise it, or do not quantize"
        )
    return found


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


def steps(
    owners: Sequence[frozenset[int]], alone: Sequence[float], costs: Sequence[int]
) -> Iterator[frozenset[int]]:
    """Growing sets of units, by places, that free one rounding more at each step: the one that saves most a product first.

    Args:
        owners: Of each rounding the units that ask for it.
        alone: What it loses.
        costs: Products of each unit.
    """
    kept: frozenset[int] = frozenset()
    left = list(range(len(owners)))
    while left:
        best: tuple[float, frozenset[int]] | None = None
        for more in dict.fromkeys(owners[i] - kept for i in left):
            freed = sum(alone[i] for i in left if owners[i] <= kept | more)
            gain = freed / sum(costs[i] for i in more)
            if best is None or gain > best[0]:
                best = gain, more
        assert best is not None
        kept |= best[1]
        left = [i for i in left if not owners[i] <= kept]
        yield kept


def _alone(
    simulated: Simulated, outputs: Sequence[str], given: Sequence[Sample], runner: Runner, progress: Progress | None,
    journal: Journal, of: str,
) -> list[float]:  # fmt: skip
    """The loss of each rounding alone."""
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
    return [found[i] for i in range(count)]


def simulated(model: ir.Model, plan: Sequence[Unit], grids: Mapping[ir.Value, Grid]) -> Simulated:
    """Puts every rounding that the plan may do behind a switch, in place."""
    used = graphs.names(model)
    found = tuple(_roundings(plan, grids))
    switches = []
    for value in dict.fromkeys(rounding.value for rounding in found):
        some = [rounding for rounding in found if rounding.value is value]
        switches += _insert_switches(model.graph, value, grids[value], some, used)
    return Simulated(model, found, tuple(switches))


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
        switch = ir.Value(name=graphs.fresh(used, f"{name}.is_rounded"))
        switch.type, switch.shape = ir.TensorType(ir.DataType.BOOL), ir.Shape([])
        graph.inputs.append(switch)
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


def _node(
    op: str, inputs: Sequence[ir.Value], dtype: ir.DataType, like: ir.Value, used: set[str]
) -> ir.Node:
    name = graphs.fresh(used, f"{like.name}.{op}")
    out = ir.Value(name=name, type=ir.TensorType(dtype), shape=like.shape)
    return ir.Node("", op, inputs, outputs=[out], name=name)
