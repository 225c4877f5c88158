"""Patterns to DFAs over classes of characters that all of a tokenizer's patterns tell apart.

A state is a list of threads, the preferred first, as a backtracking engine would try them; where one of them matches, those
behind it are cut. Looking ahead at a character is decided when that character is read. Cox 2009, Regular Expression Matching:
the Virtual Machine Approach.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import ModelError

from .regex import Step
from .sets import MAX, Bits

ENDS: Final = 0x8000
STATES: Final = 4096
WORK: Final = 3_000_000
"""Threads that are followed: patterns of published tokenizers take 50,000."""
CLASSES: Final = 255


@dataclasses.dataclass(frozen=True, slots=True)
class Classes:
    """`of` has the class of each code point, `members` one code point of each."""

    of: NDArray[np.uint8]
    members: NDArray[np.int64]

    def of_set(self, bits: Bits) -> NDArray[np.bool_]:
        """Which classes lie in a set that was told apart."""
        return bits[self.members]


def classes_of(sets: Sequence[Bits]) -> Classes:
    """The fewest classes of which every set is a union.

    Raises:
        ModelError: more than a byte counts.
    """
    if not sets:
        return Classes(np.zeros(MAX, np.uint8), np.zeros(1, np.int64))
    edge = np.zeros(MAX, np.bool_)
    edge[0] = True
    for bits in sets:
        edge[1:] |= bits[1:] != bits[:-1]
    starts = np.flatnonzero(edge)
    rows = np.stack([bits[starts] for bits in sets], axis=1)
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) > CLASSES:
        raise ModelError(
            f"patterns: expected at most {CLASSES} classes of characters, got {len(first)}"
        )
    lengths = np.diff(np.append(starts, MAX))
    return Classes(np.repeat(kind.ravel().astype(np.uint8), lengths), starts[first])


def sets_of(program: Sequence[Step]) -> list[Bits]:
    """What a pattern tells apart."""
    return [step.bits for step in program if step.bits is not None]


def dfa(program: Sequence[Step], classes: Classes, name: str) -> NDArray[np.uint16]:
    """[states, classes + 1] -> next state, 0 = none, 1 is the first; ENDS: a word may end before this character. The last column
    is the end of the text.

    Raises:
        ModelError: a word may be empty, or there are too many states.
    """
    count, work = len(classes.members), 0
    has = [None if s.bits is None else classes.of_set(s.bits) for s in program]

    def follow(threads: tuple[int, ...], cls: int) -> tuple[tuple[int, ...], bool]:
        nonlocal work
        after: dict[int, None] = {}
        seen: set[int] = set()
        stack = list(reversed(threads))
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            work += 1
            step, own = program[at], has[at]
            if step.kind == "match":
                return tuple(after), True
            if step.kind == "go":
                stack += reversed(step.to)
            elif step.kind == "next" and (
                step.end if cls == count else own is not None and own[cls]
            ):
                stack.append(at + 1)
            elif step.kind == "take" and cls < count and own is not None and own[cls]:
                after.setdefault(at + 1)
        return tuple(after), False

    numbers: dict[tuple[int, ...], int] = {(): 0, (0,): 1}
    rows, todo = {0: [0] * (count + 1)}, [tuple[int, ...]((0,))]
    while todo:
        threads = todo.pop()
        row = []
        for cls in range(count + 1):
            to, ends = follow(threads, cls)
            if to not in numbers:
                numbers[to] = len(numbers)
                todo.append(to)
            row.append(numbers[to] | (ENDS if ends else 0))
        rows[numbers[threads]] = row
        if len(numbers) > STATES or work > WORK:
            raise ModelError(f"{name}: a pattern of so many states is not covered")
    if any(step & ENDS for step in rows[1]):
        raise ModelError(f"{name}: a pattern that takes nothing is not covered")
    return np.array([rows[i] for i in range(len(numbers))], np.uint16)
