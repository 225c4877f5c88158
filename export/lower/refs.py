"""A tensor while it is being lowered, which may have no memory yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import sympy

from ..program import Coded
from ..program.views import Elements, Shape, View


class RefusedError(Exception):
    """This node cannot be lowered; the text says what was expected, what it got, what to do."""


class ImpossibleError(RefusedError):
    """The standard does not allow the node its operands: a run that comes here ends in an error, in any runtime."""


class TwoRanksError(RefusedError):
    """The branches of an If give tensors of two ranks: whoever walks the graph may lower what is behind it for each."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Elements that are known at export, as numbers or expressions of sizes: they cost nothing until an instruction reads them.

    `make`: where that is asked for, it computes them while running, or says where they lie.
    `assumes`: elements of shape inputs that are taken for sizes, not negative and too small to wrap. Such elements may decide
    extents, where prepare checks that; whoever wants the values asks `make`.
    """

    dtype: str
    elements: Elements
    make: Callable[[], Ref] | None = None
    assumes: frozenset[sympy.Symbol] = frozenset()

    @property
    def shape(self) -> Shape:
        return tuple(self.elements.shape)

    @property
    def rank(self) -> int:
        return self.elements.ndim


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """A constant that stays codes until it is known what reads it; `make` decodes it while running."""

    dtype: str
    coded: Coded
    make: Callable[[], Ref]

    @property
    def shape(self) -> Shape:
        return tuple(self.coded.codes.shape)

    @property
    def rank(self) -> int:
        return self.coded.codes.ndim


Ref: TypeAlias = View | Known | Codes
"""In memory, known, or coded."""
