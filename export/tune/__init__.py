"""Which operator computes each convolution and product that two can compute: as a profile says, or as measured here.

Both are measured where they stand: the whole program with the one everywhere and the whole program with the other run in turn,
so that caches hold what they hold in use. `pack.choices` has the pairs, and the rule for what was not measured.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence

from pteron.schema.errors import PteronError

from ..graph.naming import title
from ..pack.choices import INSTEAD_OF, Decide, Site
from ..plan import plan
from ..plan.measure import Sized
from ..program import Program
from .profile import Key, Profile, Times

__all__ = ["Chosen", "Timer", "Tuning", "decided", "key_of"]

Timer = Callable[[Sequence[Program]], Sequence[Mapping[int, float]]]
"""Runs planned programs in turn: of each the least microseconds of every instruction that ran, by its number in the file."""
Make = Callable[[Decide], Program]


@dataclasses.dataclass(slots=True)
class Tuning:
    """`profile`: what is known; with a `timer`, what is not is measured and added."""

    profile: Profile
    timer: Timer | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Chosen:
    """What a site got: `operator`, or `instead_of`. `ratio`: time of the first to that of the second; None: not measured."""

    node: str
    site: str
    operator: str
    instead_of: str
    taken: bool
    ratio: float | None

    @property
    def took(self) -> str:
        return self.operator if self.taken else self.instead_of


def key_of(site: Site, at: Sized) -> Key:
    """Symbolic sizes are those of `at`."""
    x, y = (tuple(map(at.extent, v.shape)) for v in (site.x, site.y))
    return Key(site.operator, site.format, x, y)


def decided(
    source: Program, make: Make, tuning: Tuning, chosen: list[Chosen], notes: list[str]
) -> Decide:
    """Answers by the profile, where it has none by the rule; each answer is added to `chosen`.

    Args:
        source: The program before weights are packed, at whose hints sizes are taken.
        make: Packs it.
        notes: Told where nothing can be measured.
    """
    at = Sized(source)
    if tuning.timer is not None:
        notes += _measure(make, at, tuning, tuning.timer)
    known = tuning.profile.measured

    def decide(site: Site) -> bool:
        key = key_of(site, at)
        times = known.get(key)
        taken = site.rule if times is None else times.decide(site.rule)
        node = source.nodes[site.node] if site.node < len(source.nodes) else None
        name = "" if node is None else title(node.op_type, node.name)
        ratio = None if times is None else times.own / times.plain
        chosen.append(Chosen(name, str(key), site.operator, site.plain, taken, ratio))
        return taken

    return decide


def _measure(make: Make, at: Sized, tuning: Tuning, timer: Timer) -> list[str]:
    """Adds what the profile lacks; a note where the model does not run."""
    asked: list[Key] = []

    def all_other(site: Site) -> bool:
        asked.append(key_of(site, at))
        return True

    other = make(all_other)
    missing = {*asked} - tuning.profile.measured.keys()
    if not missing:
        return []
    instrs = [i for block in other.blocks for i in block.instrs]
    numbers = [number for number, i in enumerate(instrs) if i.op in INSTEAD_OF]
    try:
        before, after = timer([plan(make(lambda site: False)), plan(other)])
    except PteronError as error:
        return [
            f"tune: nothing was measured, for the model does not run on made-up inputs: {error}"
        ]
    found: dict[Key, list[tuple[float, float]]] = collections.defaultdict(list)
    for number, key in zip(numbers, asked, strict=True):
        if key in missing and number in before and number in after:
            found[key].append((after[number], before[number]))
    new = {key: Times(*map(statistics.fmean, zip(*rows))) for key, rows in found.items()}
    tuning.profile = dataclasses.replace(
        tuning.profile, measured={**tuning.profile.measured, **new}
    )
    return []
