"""The Pareto front of time and loss: mixes of which no other takes and loses less.

Each is the least of time and so much of the loss, for many weights of the loss.

Both are sums of terms that few units decide. A mix becomes the next one by moves: one unit, those around a value, or a run of units in the
order of the plan gets other bits, as long as the sum falls. A run is needed where bits that differ cost more than what one unit saves.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..observe.grids import FLOAT
from ..recipe.units import Unit
from .cost import Term, total

RUNS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Units in a row that change together."""
WEIGHTS: Final = 40
"""Of the loss that are tried,"""
REACH: Final = 1e3
"""from this part to this multiple of the one at which all units in f32 are as good as all in few bits."""

Bits = tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A mix, what it takes, and the sum of what its roundings lose alone: the square of the error, relative."""

    mix: Bits
    takes: float
    left: float


def front(
    plan: Sequence[Unit], least: int, takes: Sequence[Term], loses: Sequence[Term]
) -> list[Step]:
    """From all units in `least` bits to all in f32, each losing less than the one before and, but for the last, taking more."""
    all_least, floats = ((bits,) * len(plan) for bits in (least, FLOAT))
    first, last = _step(takes, loses, all_least), _step(takes, loses, floats)
    moves = [*_moves(plan, least, loses)]
    middle = max(last.takes - first.takes, 1.0) / max(first.left, 1e-300)
    weights = [middle * REACH ** (2 * i / (WEIGHTS - 1) - 1) for i in range(WEIGHTS)]
    found = [all_least, *(_with(floats, move) for move in moves if len(move) == 1)]
    for mix, order in ((all_least, weights), (floats, weights[::-1])):
        held = _Held(mix, takes, loses)
        for weight in order:
            held.settle(moves, weight)
            found.append(tuple(held.mix))
    hull = _best(takes, loses, found, floats)
    for one, other in itertools.pairwise(hull):
        found += _between(one, other, takes, loses)
    return [*_best(takes, loses, found, floats), last]


def _best(
    takes: Sequence[Term], loses: Sequence[Term], found: Iterable[Bits], floats: Bits
) -> list[Step]:
    """Those than which none that was found takes and loses less, `floats` left out."""
    best: list[Step] = []
    steps = [_step(takes, loses, mix) for mix in dict.fromkeys(found) if mix != floats]
    for step in sorted(steps, key=lambda s: (s.takes, s.left, s.mix)):
        if not best or step.left < best[-1].left:
            best.append(step)
    return best


def _between(
    one: Step, other: Step, takes: Sequence[Term], loses: Sequence[Term]
) -> Iterator[Bits]:
    """From the other on units, or all that are neighbours, become as in the one: those first that save most beside what is lost."""
    held = _Held(other.mix, takes, loses)
    weight = (other.takes - one.takes) / (one.left - other.left)
    while tuple(held.mix) != one.mix:
        apart = [i for i, bits in enumerate(one.mix) if held.mix[i] != bits]
        starts = [k for k, i in enumerate(apart) if k == 0 or apart[k - 1] != i - 1]
        runs = [apart[a:b] for a, b in itertools.pairwise([*starts, len(apart)])]
        moves = [{i: one.mix[i] for i in run} for run in [*runs, *([i] for i in apart)]]
        held.take(max(moves, key=lambda move: held.saved(move, (1.0, weight))))
        yield tuple(held.mix)


def _with(mix: Bits, more: Mapping[int, int]) -> Bits:
    return tuple(more.get(i, bits) for i, bits in enumerate(mix))


def _step(takes: Sequence[Term], loses: Sequence[Term], mix: Bits) -> Step:
    return Step(mix, total(takes, mix), total(loses, mix))


def _moves(plan: Sequence[Unit], least: int, loses: Sequence[Term]) -> Iterator[dict[int, int]]:
    """What units may become; those without an operator of int16 compute in f32 instead."""
    runs = [range(i, i + n) for n in RUNS for i in range(len(plan) - n + 1)]
    for units in dict.fromkeys([*map(tuple, runs), *(term.units for term in loses)]):
        for bits in sorted({least, 16, FLOAT}):
            wide = bits == 16 != least
            yield {i: FLOAT if wide and not plan[i].in_words else bits for i in units}


class _Held:
    """A mix, and what its terms are."""

    def __init__(self, mix: Bits, *sums: Sequence[Term]) -> None:
        self.mix = list(mix)
        self.terms = [(term, part) for part, terms in enumerate(sums) for term in terms]
        self.now = [self._of(term) for term, _ in self.terms]
        self.near: list[list[int]] = [[] for _ in mix]
        for place, (term, _) in enumerate(self.terms):
            for i in term.units:
                self.near[i].append(place)

    def _of(self, term: Term) -> float:
        return term.of([self.mix[i] for i in term.units])

    def settle(self, moves: Sequence[Mapping[int, int]], weight: float) -> None:
        """Does what lowers time plus weight times loss, until nothing does."""
        scale, idle = (1.0, weight), 0
        while idle < len(moves):
            for move in moves:
                idle += 1
                if self.saved(move, scale) > 0:
                    self.take(move)
                    idle = 0
                if idle >= len(moves):
                    return

    def saved(self, move: Mapping[int, int], scale: Sequence[float]) -> float:
        """Of the two sums, so scaled; 0 where that is their last bits."""
        before = {i: self.mix[i] for i, bits in move.items() if self.mix[i] != bits}
        touched = dict.fromkeys(place for i in before for place in self.near[i])
        self._become(move)
        after = [self._of(self.terms[place][0]) for place in touched]
        self._become(before)
        weights = [scale[self.terms[place][1]] for place in touched]
        now = [self.now[place] for place in touched]
        least = 1e-12 * sum(x * w for x, w in zip(now, weights, strict=True))
        found = sum((x - y) * w for x, y, w in zip(now, after, weights, strict=True))
        return found if abs(found) > least else 0.0

    def take(self, move: Mapping[int, int]) -> None:
        self._become(move)
        for place in {place for i in move for place in self.near[i]}:
            self.now[place] = self._of(self.terms[place][0])

    def _become(self, move: Mapping[int, int]) -> None:
        for i, bits in move.items():
            self.mix[i] = bits
