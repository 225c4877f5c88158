"""Pointwise programs while they are joined: terms whose loads name values, so that joining two renumbers neither.

Compiling tells whether a program fits the registers, but costs as much as the program is long. A `Body` carries a bound
instead, which joining adds to; only where the bound is not enough are the registers counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pteron.schema.steps import MAX_STEPS, REGISTERS, Step

from ..program import terms
from ..program.terms import Term, compile_terms, registers, substitute

RESULT: Final = -1
"""What the product in front of an epilogue made, in the place of a value."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Body:
    """`operands`: the values that are loaded, in the order of the instruction's inputs; RESULT is none of them.

    `terms`: all that the outputs need, each after its arguments. `bound`: registers that are enough.
    """

    outputs: tuple[Term, ...]
    operands: tuple[int, ...]
    terms: dict[Term, None]
    bound: int

    @property
    def steps(self) -> int:
        return len(self.terms) + len(self.outputs)


def load(value: int, dtype: str) -> Term:
    return terms.load(value, dtype)


def body(outputs: Sequence[Term], operands: Sequence[int]) -> Body:
    """Of terms whose loads name values; `operands` gives their order, those that nothing loads are dropped."""
    order = terms.walk(outputs)
    loaded = {int(t.arg) for t in order if t.op == "load"} - {RESULT}
    used = (v for v in dict.fromkeys(operands) if v in loaded)
    return Body(tuple(outputs), tuple(used), dict.fromkeys(order), registers(outputs))


def read(outputs: Sequence[Term], given: Sequence[int]) -> Body:
    """Of terms whose loads name places among the values `given`."""
    what = {t: load_as(t, given[int(t.arg)]) for t in terms.loads(outputs)}
    return body(substitute(outputs, what), [int(t.arg) for t in what.values()])


def moved(old: Body, to: Mapping[int, int]) -> Body:
    """The same with other values in the place of its own."""
    what = {t: load_as(t, to[int(t.arg)]) for t in old.terms if t.op == "load"}
    return body(substitute(old.outputs, what), [to[v] for v in old.operands])


def load_as(t: Term, value: int) -> Term:
    return terms.make("load", t.type, arg=value)


def join(inner: Body, keep: Sequence[Term], outer: Body, known: Mapping[Term, Term]) -> Body | None:
    """`outer` behind `inner`: its loads in `known` are terms of `inner`. None where that fits no program.

    Args:
        keep: Outputs of `inner` that stay outputs, in front of those of `outer`.
    """
    if _surely_too_long(inner, len(keep), outer, known):
        return None
    done = dict(known)
    new = dict.fromkeys(t for t in known.values() if t not in inner.terms)  # rounded as stored
    for t in outer.terms:
        if t not in done:
            args = tuple(done[a] for a in t.args)
            done[t] = t if args == t.args else terms.make(t.op, t.type, args, t.source, t.arg)
            if done[t] not in inner.terms:
                new[done[t]] = None
    outputs = (*keep, *(done[t] for t in outer.outputs))
    gone = {int(t.arg) for t in known}
    operands = (*inner.operands, *(v for v in outer.operands if v not in gone))
    taken = {a for t in new for a in t.args if a in inner.terms}
    taken |= {t for t in outputs if t in inner.terms}
    if not all(t in taken for t in inner.outputs):
        return _fitting(body(outputs, operands))
    bound = inner.bound + len(new) + len(taken)
    if bound > REGISTERS or not _stays_in_order(inner, keep, taken):
        bound = REGISTERS + 1
    merged = Body(outputs, tuple(dict.fromkeys(operands)), inner.terms | new, bound)
    return _fitting(merged)


def _surely_too_long(inner: Body, kept: int, outer: Body, known: Mapping[Term, Term]) -> bool:
    """Told without joining: with no operand in common every term of `outer` that loads something is a new one."""
    new = sum(t.loads for t in outer.terms) - 1
    steps = len(inner.terms) + kept + new + len(outer.outputs)
    if steps <= MAX_STEPS or len(inner.outputs) != 1 or len(known) != 1 or not inner.operands:
        return False
    return set(inner.operands).isdisjoint(outer.operands)


def _stays_in_order(inner: Body, keep: Sequence[Term], taken: Collection[Term]) -> bool:
    """Joined, the terms of `inner` are computed in the order they have alone, but loads, which may come earlier.

    Then what is alive at any time is at most what was, the new terms, and what they take of the old ones.
    """
    rest = [t for t in inner.outputs if t not in keep]
    inside = all(not t.args or t in inner.outputs for t in taken)
    return inside and len(rest) <= 1 and list(inner.outputs) == [*keep, *rest]


def _fitting(made: Body) -> Body | None:
    if made.steps > MAX_STEPS:
        return None
    if made.bound <= REGISTERS:
        return made
    made = dataclasses.replace(made, bound=registers(made.outputs))
    return made if made.bound <= REGISTERS else None


def compiled(made: Body, first: int = 0) -> tuple[Step, ...]:
    """The steps, operands numbered from `first`; RESULT is operand 0."""
    place = {RESULT: 0} | {v: i for i, v in enumerate(made.operands, first)}
    what = {t: load_as(t, place[int(t.arg)]) for t in made.terms if t.op == "load"}
    return compile_terms(substitute(made.outputs, what))
