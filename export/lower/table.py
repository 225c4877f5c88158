"""The tables of lowering functions, filled by importing the families (export/lower/__init__.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import sympy

from ..program.views import Elements
from .context import Lowering
from .node import Node
from .refs import Ref

Function: TypeAlias = Callable[[Lowering, Node], Ref | Sequence[Ref | None]]

LOWERINGS: Final[dict[tuple[str, str], Function]] = {}
"""(domain, operator) -> its lowering."""


Folded: TypeAlias = tuple[Elements, str, frozenset[sympy.Symbol]]
"""Elements, their dtype, and what they assume (Known.assumes)."""

FOLDS: Final[dict[str, Callable[[Lowering, Node], Folded | None]]] = {}
"""Operator -> how it folds where its operands' elements are known (export/lower/ops/moving/shape.py)."""


WAYS: Final[dict[str, Callable[[Lowering, Node], list[Ref | None] | None]]] = {}
"""Operator -> its lowering where only a run knows its axes (export/lower/ops/control/ways.py)."""


def lowers(*op_types: str, domain: str = "") -> Callable[[Function], Function]:
    """Enters the decorated function for these operators.

    Raises:
        ValueError: an operator has a lowering already.
    """

    def enter(function: Function) -> Function:
        for op_type in op_types:
            if (domain, op_type) in LOWERINGS:
                raise ValueError(f"{op_type}: has a lowering already")
            LOWERINGS[domain, op_type] = function
        return function

    return enter
