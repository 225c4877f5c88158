"""The regular expressions that pre-tokenizers have, as programs of threads: what dfa.py takes.

Covered: characters and their escapes, classes, categories (\\p{Lu}), groups, alternatives, counts, greedy and lazy, either case
of ASCII letters ((?i:...)), and looking ahead at one character ((?!\\S)). All else is refused by name: what an engine makes of
it would have to be guessed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from pteron.schema.errors import ModelError

from . import sets
from .sets import Bits

ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
CLASSES: Final[dict[str, Callable[[], Bits]]] = {
    "s": lambda: sets.of("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))),
    "w": lambda: sets.named("word"),
    "d": lambda: _category("Nd"),
}  # fmt: skip
FOLDS: Final = ("ss", "ff", "fi", "fl", "st")
"""Letters that are one character in another case: ß, ﬀ ..."""
MOST: Final = 4096
"""Instructions of a program."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a thread: `take` a character of `bits`, look at the `next` one (`end`: or at the end of the text), go on
    at `to`, the first of them before the others, or `match`."""

    kind: str
    bits: Bits | None = None
    end: bool = False
    to: tuple[int, ...] = ()


Node = Callable[[list[Step]], None]
"""Appends its instructions to a program."""


def program(pattern: str) -> list[Step]:
    """The instructions of `pattern`; the first is where it begins.

    Raises:
        ModelError: it has what is not covered, or is no expression.
    """
    parser = _Parser(pattern)
    node = parser.alternatives(folds=False)
    if parser.at < len(pattern):
        raise parser.refused("an unmatched )")
    steps: list[Step] = []
    node(steps)
    return [*steps, Step("match")]


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def refused(self, what: str) -> ModelError:
        return ModelError(
            f"the pattern {self.pattern!r}: {what} at character {self.at} is not covered"
        )

    def looks(self, text: str) -> bool:
        """Whether `text` comes next, which is then behind."""
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def take(self) -> str:
        if self.at >= len(self.pattern):
            raise self.refused("an end too early")
        self.at += 1
        return self.pattern[self.at - 1]

    # --- structure --------------------------------------------------------------------------------

    def alternatives(self, folds: bool) -> Node:
        ways = [self.sequence(folds)]
        while self.looks("|"):
            ways.append(self.sequence(folds))
        return ways[0] if len(ways) == 1 else _either(ways)

    def sequence(self, folds: bool) -> Node:
        parts: list[Node] = []
        last = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self.looks("(?i)"):
                folds = True
                continue
            here = self.pattern[self.at].lower()
            if folds and last + here in FOLDS:
                raise self.refused(f"{last + here} in either case")
            last = here
            parts.append(self.counted(self.atom(folds)))
        return _in_turn(parts)

    def counted(self, node: Node) -> Node:
        least, most = self.counts()
        if least is None:
            return node
        lazy = self.looks("?")
        if self.at < len(self.pattern) and self.pattern[self.at] in "+*?":
            raise self.refused("a possessive count")
        return _repeated(node, least, most, lazy)

    def counts(self) -> tuple[int | None, int | None]:
        """Least and most of a count; None, None: there is none. Most of None: any number."""
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.looks(sign):
                return counts
        if not self.looks("{"):
            return None, None
        end = self.pattern.find("}", self.at)
        least, comma, most = self.pattern[self.at : max(end, self.at)].partition(",")
        if not least.isdecimal() or not (most.isdecimal() or most == ""):
            raise self.refused("a count that is no {n}, {n,} or {n,m}")
        self.at = end + 1
        if self.at < len(self.pattern) and self.pattern[self.at] in "+?":
            raise self.refused("a count of a count")
        return int(least), int(most) if most else None if comma else int(least)

    def atom(self, folds: bool) -> Node:
        if self.looks("(?!"):
            return self.ahead(negative=True)
        if self.looks("(?="):
            return self.ahead(negative=False)
        if self.looks("("):
            return self.group(folds)
        if self.looks("["):
            return _taking(self.characters(folds))
        if self.pattern[self.at] in "^$*+?{":
            raise self.refused(self.pattern[self.at])
        if self.looks("."):
            return _taking(~sets.of("\n"))
        if self.looks("\\"):
            return _taking(self.escape(folds))
        return _taking(self.one(self.take(), folds))

    def group(self, folds: bool) -> Node:
        if self.looks("?i:"):
            folds = True
        elif self.looks("?:"):
            pass
        elif self.at < len(self.pattern) and self.pattern[self.at] == "?":
            raise self.refused("a group of this kind")
        node = self.alternatives(folds)
        if not self.looks(")"):
            raise self.refused("a group without end")
        return node

    def ahead(self, negative: bool) -> Node:
        start = self.at
        bits = self.characters(False) if self.looks("[") else None
        if bits is None:
            bits = self.escape(False) if self.looks("\\") else self.one(self.take(), False)
        if not self.looks(")"):
            self.at = start
            raise self.refused("looking ahead at more than one character")
        return _looking(~bits if negative else bits, end=negative)

    # --- characters -------------------------------------------------------------------------------

    def one(self, character: str, folds: bool) -> Bits:
        if not folds:
            return sets.of(character)
        found = sets.folded(character)
        if found is None:
            raise self.refused(f"{character!r} in either case")
        return found

    def escape(self, folds: bool) -> Bits:
        """What an escape stands for; behind its \\."""
        letter = self.take()
        if letter in ESCAPES:
            return sets.of(ESCAPES[letter])
        if letter.lower() in CLASSES:
            bits = CLASSES[letter.lower()]()
            return bits if letter.islower() else ~bits
        if letter in "pP":
            return self.property(letter == "P", folds)
        if letter in "xu":
            return self.one(self.number(letter), folds)
        if letter.isalnum():
            raise self.refused(f"\\{letter}")
        return sets.of(letter)

    def number(self, letter: str) -> str:
        if self.looks("{"):
            end = self.pattern.find("}", self.at)
            digits = self.pattern[self.at : max(end, self.at)]
            self.at = end + 1
        else:
            count = 2 if letter == "x" else 4
            digits = self.pattern[self.at : self.at + count]
            self.at += count
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise self.refused(f"\\{letter}{digits}") from None

    def property(self, negative: bool, folds: bool) -> Bits:
        if not self.looks("{"):
            raise self.refused("a property without braces")
        negative ^= self.looks("^")
        end = self.pattern.find("}", self.at)
        name = self.pattern[self.at : max(end, self.at)]
        bits = sets.category(name)
        if bits is None or folds:
            raise self.refused(f"\\p{{{name}}}" + (" in either case" if folds else ""))
        self.at = end + 1
        return ~bits if negative else bits

    def characters(self, folds: bool) -> Bits:
        """A class, behind its [."""
        negative, first = self.looks("^"), True
        bits = np.zeros(sets.MAX, np.bool_)
        while first or not self.looks("]"):
            if self.pattern.startswith(("[", "&&"), self.at) or (first and self.looks("]")):
                raise self.refused("a class of this kind")
            first = False
            bits |= self.member(folds)
        return ~bits if negative else bits

    def member(self, folds: bool) -> Bits:
        low = self.escape(folds) if self.looks("\\") else self.one(self.take(), folds)
        if not self.pattern.startswith("-", self.at) or self.pattern.startswith("-]", self.at):
            return low
        self.at += 1
        high = self.escape(False) if self.looks("\\") else sets.of(self.take())
        if folds or low.sum() != 1 or high.sum() != 1 or low.argmax() > high.argmax():
            raise self.refused("a range of this kind")
        bits = np.zeros(sets.MAX, np.bool_)
        bits[low.argmax() : high.argmax() + 1] = True
        return bits


def _category(name: str) -> Bits:
    bits = sets.category(name)
    assert bits is not None
    return bits


def _add(steps: list[Step], step: Step) -> None:
    if len(steps) >= MOST:
        raise ModelError(f"a pattern: expected at most {MOST} steps; it is not covered")
    steps.append(step)


def _taking(bits: Bits) -> Node:
    return lambda steps: _add(steps, Step("take", bits))


def _looking(bits: Bits, end: bool) -> Node:
    return lambda steps: _add(steps, Step("next", bits, end))


def _in_turn(parts: Sequence[Node]) -> Node:
    def append(steps: list[Step]) -> None:
        for part in parts:
            part(steps)

    return append


def _either(ways: Sequence[Node]) -> Node:
    def append(steps: list[Step]) -> None:
        ends = []
        for way in ways[:-1]:
            here = len(steps)
            _add(steps, Step("go"))
            way(steps)
            ends.append(len(steps))
            _add(steps, Step("go"))
            steps[here] = Step("go", to=(here + 1, len(steps)))
        ways[-1](steps)
        for end in ends:
            steps[end] = Step("go", to=(len(steps),))

    return append


def _repeated(node: Node, least: int, most: int | None, lazy: bool) -> Node:
    def ways(inside: int, after: int) -> tuple[int, ...]:
        return (after, inside) if lazy else (inside, after)

    def append(steps: list[Step]) -> None:
        for _ in range(least):
            node(steps)
        here = len(steps)
        if most is None:
            _add(steps, Step("go"))
            node(steps)
            _add(steps, Step("go", to=(here,)))
            steps[here] = Step("go", to=ways(here + 1, len(steps)))
            return
        starts = []
        for _ in range(most - least):
            starts.append(len(steps))
            _add(steps, Step("go"))
            node(steps)
        for start in starts:
            steps[start] = Step("go", to=ways(start + 1, len(steps)))

    return append
