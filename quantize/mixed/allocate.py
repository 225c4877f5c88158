"""A plan that keeps to a budget of bits or to a loss: `sensitivity` says what each layer costs, `budget` who gets more."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

import onnx_ir as ir

from pteron.schema.errors import QuantError, RecipeError

from ..encode.table import FORMATS
from ..observe.samples import Runner, Sample
from ..recipe.plan import Choice, Plan
from ..recipe.rules import Recipe
from ..rounding.journal import Journal, digest, identity
from ..rounding.weight import SEARCH, Rounded
from .budget import Costs, moves, within
from .sensitivity import Weights, losses

Round = Callable[[Choice], Rounded]


@dataclasses.dataclass(frozen=True, slots=True)
class Evaluated:
    """What a metric says of the model as it was and of all layers rounded; the loss of layers alone, by name."""

    exact: float
    loss: float
    layers: dict[str, float]


AMONG = ("nf4", "mxfp6", "int8")
"""What layers may get, beside the recipe's format, where nothing else is said."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """Samples that a model is run on to learn what rounding costs; the journal keeps what they said."""

    given: Sequence[Sample]
    runner: Runner
    tables: bool
    journal: Journal
    model: ir.Model

    def losses(
        self,
        items: Sequence[Sequence[tuple[Sequence[int], Rounded]]],
        metric: str = "cosine",
    ) -> Iterator[float]:
        """Of each item: the weights of these layers replaced by what they were rounded to."""
        keep = self.journal.folder is not None
        about = identity(self.model, self.given) + metric if keep else ""
        keys = [digest(about, *_facts(item)) if keep else "" for item in items]
        known = [self.journal.loss(key) if keep else None for key in keys]
        new = [item for item, loss in zip(items, known, strict=True) if loss is None]

        def variants() -> Iterator[Weights]:
            for item in new:
                yield {i: (made.weight(), made.missed) for numbers, made in item for i in numbers}

        found = (
            losses(self.model, self.tables, variants(), self.given, self.runner, metric)
            if new
            else iter(())
        )
        for key, loss in zip(keys, known, strict=True):
            measured = next(found) if loss is None else loss
            if loss is None and keep:
                self.journal.keep_loss(key, measured)
            yield measured


def _facts(item: Sequence[tuple[Sequence[int], Rounded]]) -> Iterator[object]:
    for numbers, made in item:
        yield from (tuple(numbers), made.report.format, *made.encoded.parts, made.missed)


def evaluated(
    made: Plan, probe: Probe, do: Round, metric: str, each: bool, progress: Callable[[str], None] | None
) -> Evaluated:  # fmt: skip
    """What all layers cost together, by the metric, and with `each` the loss of each alone."""
    alike = _alike(made)
    work = made.work
    whole = [(alike[c.weight], do(c)) for c in work]
    if progress and each:
        progress("measure all layers")
    exact, loss = probe.losses([[], whole], metric)
    found: dict[str, float] = {}
    names = [c.layer.name for c in work] if each else []
    for name, alone in zip(names, probe.losses([[pair] for pair in whole if each]), strict=True):
        if progress:
            progress(f"measure {len(found) + 1}/{len(names)} {name}")
        found[name] = alone
    return Evaluated(exact, loss, found)


def _alike(made: Plan) -> dict[tuple[int, str], list[int]]:
    """Numbers of the layers that share a weight."""
    found: dict[tuple[int, str], list[int]] = {}
    for i, choice in enumerate(made.choices):
        found.setdefault(choice.weight, []).append(i)
    return found


def fitted(model: ir.Model, made: Plan, wanted: Recipe, probe: Probe, do: Round) -> Plan:
    """The plan with a format for each layer that no rule decided.

    Args:
        do: Rounds a choice, by statistics where they are there.

    Raises:
        RecipeError: the budget is less than the coarsest formats take.
        QuantError: `max_loss` cannot be kept.
    """
    free = [i for i, c in enumerate(made.choices) if c.free and c.first and c.format is not None]
    if not free:
        return made
    names = sorted({wanted.format, *(wanted.among or AMONG)})
    costs = _costs(made, free, names, probe, do)
    chosen = [c.better()[0] for c in costs]
    if wanted.target_bits is not None or wanted.target_bytes is not None:
        chosen = _within(model, made, wanted, free, costs)
    if wanted.max_loss is not None:
        chosen = _below(made, wanted, free, costs, chosen, probe, do)
    return _with(made, free, chosen)


def _costs(
    made: Plan, free: Sequence[int], names: Sequence[str], probe: Probe, do: Round
) -> list[Costs]:
    bits, errors, coarsest = [], [], []
    for i in free:
        choice = made.choices[i]
        bits.append({name: FORMATS[name].bits_of(*choice.layer.extents) for name in names})
        tried = {
            name: do(dataclasses.replace(choice, format=FORMATS[name], algorithm=SEARCH))
            for name in names
        }
        errors.append({name: each.report.cost for name, each in tried.items()})
        coarsest.append(min(names, key=lambda name: (bits[-1][name], errors[-1][name])))

    alike = _alike(made)
    measured = probe.losses(
        [
            [
                (
                    alike[choice.weight],
                    do(dataclasses.replace(choice, format=FORMATS[n], algorithm=SEARCH)),
                )
            ]
            for choice, n in zip((made.choices[i] for i in free), coarsest, strict=True)
        ]
    )
    return [
        Costs(b, {n: loss * e[n] / e[base] if e[base] > 0 else 0.0 for n in names})
        for b, e, base, loss in zip(bits, errors, coarsest, measured, strict=True)
    ]


def _within(
    model: ir.Model, made: Plan, wanted: Recipe, free: Sequence[int], costs: Sequence[Costs]
) -> list[str]:
    fixed = [c for i, c in enumerate(made.choices) if i not in free and c.first and c.format]
    taken = sum(c.bits for c in fixed)
    limits = []
    if wanted.target_bits is not None:
        weights = sum(made.choices[i].weights for i in free) + sum(c.weights for c in fixed)
        limits.append(wanted.target_bits * weights - taken)
    if wanted.target_bytes is not None:
        all_bytes = sum(
            v.const_value.nbytes for v in model.graph.initializers.values() if v.const_value
        )
        rounded = [*fixed, *(made.choices[i] for i in free)]
        rest = all_bytes - sum(4 * c.weights for c in rounded)
        limits.append((wanted.target_bytes - rest) * 8 - taken)
    least = sum(min(c.bits.values()) for c in costs)
    if least > min(limits):
        raise RecipeError(
            f"target: expected at least {math.ceil(least / 8):,} bytes for these layers, which is what their coarsest formats take, "
            f"got room for {int(max(min(limits), 0) / 8):,}; raise it, or allow a coarser format (among)"
        )
    return within(costs, min(limits))


def _below(
    made: Plan, wanted: Recipe, free: Sequence[int], costs: Sequence[Costs],
    chosen: list[str], probe: Probe, do: Round,
) -> list[str]:  # fmt: skip
    """The fewest moves from `chosen` on that keep the measured loss of the whole model below the limit."""
    limit = wanted.max_loss
    assert limit is not None
    steps = list(moves([_from(c, name) for c, name in zip(costs, chosen, strict=True)]))

    def after(count: int) -> list[str]:
        now = list(chosen)
        for i, name in steps[:count]:
            now[i] = name
        return now

    def loss(count: int) -> float:
        plan = _with(made, free, after(count))
        alike = _alike(plan)
        items = [[(alike[c.weight], do(c)) for c in plan.work]]
        return next(probe.losses(items, wanted.metric))

    low, high = 0, len(steps)
    reached = loss(high)
    if reached > limit:
        raise QuantError(
            f"max-loss: expected at most {limit:g}, got {reached:.4g} with the finest formats of {', '.join(sorted(costs[0].bits))}; "
            "raise it, skip layers by rules, or give more samples"
        )
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if loss(middle) <= limit else (middle + 1, high)
    return after(low)


def _from(costs: Costs, name: str) -> Costs:
    """Costs with `name` as the coarsest."""
    kept = [
        f
        for f in costs.bits
        if costs.bits[f] >= costs.bits[name] and costs.loss[f] <= costs.loss[name]
    ]
    return Costs({f: costs.bits[f] for f in kept}, {f: costs.loss[f] for f in kept})


def _with(made: Plan, free: Sequence[int], chosen: Sequence[str]) -> Plan:
    by_weight = {made.choices[i].weight: name for i, name in zip(free, chosen, strict=True)}
    rows = [
        dataclasses.replace(c, format=FORMATS[by_weight[c.weight]]) if c.weight in by_weight else c
        for c in made.choices
    ]
    return dataclasses.replace(made, choices=tuple(rows))
