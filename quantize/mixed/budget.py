"""Formats for layers under a budget: the layers whose rounding costs most at the output get more bits.

How much a layer costs is measured, not guessed: it alone is rounded to the coarsest format and the model run. What finer
formats would cost follows from the error at the layer's own output, which statistics give for any format.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Costs:
    """Of one layer, by format: bits, and the loss that it alone makes."""

    bits: Mapping[str, int]
    loss: Mapping[str, float]

    def better(self) -> list[str]:
        """From the coarsest on, the formats that are worth their bits: each loses less than all before it."""
        kept: list[str] = []
        for name in sorted(self.bits, key=lambda f: (self.bits[f], self.loss[f])):
            if not kept or self.loss[name] < self.loss[kept[-1]]:
                kept.append(name)
        return kept


def moves(layers: Sequence[Costs]) -> Iterator[tuple[int, str]]:
    """(layer, next format), the one that saves most loss a bit first; applied in order, any prefix is a plan."""
    ladders = [costs.better() for costs in layers]
    at = [0] * len(layers)
    while True:
        best: tuple[float, int, int] | None = None
        for i, (costs, ladder) in enumerate(zip(layers, ladders, strict=True)):
            now = ladder[at[i]]
            for j in range(at[i] + 1, len(ladder)):
                more = costs.bits[ladder[j]] - costs.bits[now]
                gain = (costs.loss[now] - costs.loss[ladder[j]]) / max(more, 1)
                if best is None or gain > best[0]:
                    best = gain, i, j
        if best is None:
            return
        at[best[1]] = best[2]
        yield best[1], ladders[best[1]][best[2]]


def within(layers: Sequence[Costs], most_bits: float) -> list[str]:
    """A format for each layer so that all take at most so many bits; the coarsest of each where even those take more."""
    chosen = [costs.better()[0] for costs in layers]
    taken = sum(costs.bits[name] for costs, name in zip(layers, chosen, strict=True))
    full: set[int] = set()
    for i, name in moves(layers):
        more = layers[i].bits[name] - layers[i].bits[chosen[i]]
        if i in full or taken + more > most_bits:
            full.add(i)  # what is behind it on this layer's ladder takes more still
            continue
        chosen[i], taken = name, taken + more
    return chosen
