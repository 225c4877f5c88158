"""Which mixes take least for what they lose, and what a mix takes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pteron.export.graph as graphs
from pteron.export.graph.text import onnx_text
from pteron.quantize.mixed.activation_bits import Rounding, lost
from pteron.quantize.mixed.cost import (
    CONVERTED,
    DEPTHWISE,
    FEW,
    LONG,
    MOVED,
    Term,
    costs,
    relative_time,
    total,
)
from pteron.quantize.mixed.pareto import front
from pteron.quantize.observe.grids import FLOAT
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.recipe.units import Unit, units


def planned(text: str, x: str, **constants: tuple[int, ...]) -> list[Unit]:
    arrays = {name: np.ones(shape, np.float32) for name, shape in constants.items()}
    model = onnx_text(text, x=x, **arrays)
    graphs.infer(model)
    return units(model, recipe("int8"))[0]


def chain() -> list[Unit]:
    return planned(
        "a = Conv(x, w); b = Conv(a, d, group=8); c = Conv(b, v); s = Add(c, b); e = Conv(s, v); y = Conv(e, v)",
        "f32[1, 4, 6, 6]", w=(8, 4, 1, 1), d=(8, 1, 1, 1), v=(8, 8, 1, 1),
    )  # fmt: skip


def losing(plan: list[Unit], seed: int) -> list[Term]:
    """Roundings of the values between units, of random size, and of the weights."""
    rng = np.random.default_rng(seed)
    makers = {unit.output: i for i, unit in enumerate(plan)}
    owners = [{i, makers.get(v, i)} for i, unit in enumerate(plan) for v in unit.inputs]
    owners += [{len(plan) - 1}]
    roundings = [Rounding(plan[0].output, frozenset(each)) for each in owners]
    weighed = [i for i, unit in enumerate(plan) if unit.weight is not None]
    roundings += [Rounding(plan[i].output, frozenset({i}), stored=True) for i in weighed]
    return lost(roundings, [float(x) for x in rng.exponential(size=len(roundings)) ** 2])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("least", [8, 16])
def test_no_mix_takes_and_loses_less(seed: int, least: int) -> None:
    plan = chain()
    takes, loses = costs(plan), losing(plan, seed)
    found = front(plan, least, takes, loses)
    assert found[0].mix == (least,) * 6 or found[0].takes < total(takes, (least,) * 6)
    assert found[-1].mix == (FLOAT,) * 6 and found[-1].left == 0
    every = [
        (total(takes, mix), total(loses, mix))
        for mix in itertools.product(sorted({least, 16, FLOAT}), repeat=6)
        if mix != found[-1].mix
    ]
    for one, other in itertools.pairwise(found[:-1]):
        assert one.takes < other.takes and one.left > other.left > 0
    for step in found[:-1]:
        assert step.left == pytest.approx(total(loses, step.mix))
        best = min(time for time, left in every if left <= step.left)
        assert step.takes <= 1.05 * best, step


def test_units_without_an_operator_of_int16_compute_in_f32() -> None:
    plan = planned("a = Gelu(MatMul(x, w)); y = MatMul(a, v)", "f32[2, 4]", w=(4, 8), v=(8, 8))
    assert [unit.in_words for unit in plan] == [True, False, True]
    roundings = [Rounding(unit.output, frozenset({i})) for i, unit in enumerate(plan)]
    found = front(plan, 8, costs(plan), lost(roundings, [1.0, 1.0, 1.0]))
    assert all(step.mix[1] != 16 for step in found)


def test_what_units_and_values_between_them_take() -> None:
    plan = chain()
    elements = 8 * 36

    def takes(mix: tuple[int, ...]) -> float:
        kinds, terms = [FEW, DEPTHWISE, LONG, MOVED, LONG, LONG], [4, 1, 8, 0, 8, 8]
        made = [kind[bits] for kind, bits in zip(kinds, mix, strict=True)]
        return elements * sum(n * each + one for n, (each, one) in zip(terms, made, strict=True))

    ends = 4 * 36 * CONVERTED[FLOAT, 8] + elements * CONVERTED[8, FLOAT]
    assert total(costs(plan), (8,) * 6) == pytest.approx(takes((8,) * 6) + ends)
    assert total(costs(plan), (FLOAT,) * 6) == pytest.approx(takes((FLOAT,) * 6))
    mix = (8, 16, 16, 16, 8, 8)  # b has two readers of its own bits
    between = elements * (CONVERTED[8, 16] + CONVERTED[16, 8])
    assert total(costs(plan), mix) == pytest.approx(takes(mix) + ends + between)
    assert relative_time(plan, (8,) * 6) == 1 < relative_time(plan, mix)
