"""The texts that ONNX models have for dimensions: names, and arithmetic on names ("past + seq")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import onnx_ir as ir

from ..sizes import Extent

TOKEN: Final = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(.))")
LONGEST: Final = 500


def arithmetic(
    text: str, known: Mapping[str, Extent] | Callable[[str], Extent | None]
) -> Extent | None:
    """The sum of products, over names that are `known`, that `text` is; None where it is something else: a name."""
    find = known.get if isinstance(known, Mapping) else known
    tokens = [m.groups() for m in TOKEN.finditer(text.strip())]
    if len(text) > LONGEST or not any(name for _, name, _ in tokens):
        return None
    try:
        reader = _Reader(tokens, find)
        result = reader.sum()
        return result if not reader.left else None
    except (LookupError, RecursionError):
        return None


class _Reader:
    """Recursive descent over the tokens (number, name, other)."""

    def __init__(self, tokens: list[Any], find: Callable[[str], Extent | None]) -> None:
        self.left = list(reversed(tokens))
        self._find = find

    def _take(self, *wanted: str) -> str | None:
        if self.left and self.left[-1][2] in wanted:
            return str(self.left.pop()[2])
        return None

    def sum(self) -> Extent:
        total = self._product()
        while (sign := self._take("+", "-")) is not None:
            term = self._product()
            total = total + term if sign == "+" else total - term
        return total

    def _product(self) -> Extent:
        result = self._atom()
        while self._take("*") is not None:
            result = result * self._atom()
        return result

    def _atom(self) -> Extent:
        """Raises LookupError where something else stands there."""
        if self._take("-") is not None:
            return -self._atom()
        if self._take("(") is not None:
            inner = self.sum()
            if self._take(")") is None:
                raise LookupError
            return inner
        number, name, _ = self.left.pop()
        found = int(number) if number else self._find(name) if name else None
        if found is None:
            raise LookupError
        return found


def names(dim: ir.SymbolicDim) -> set[str]:
    """The names in the dimension; the whole text where it is no arithmetic, or powers, which may be of any size."""
    text = str(dim.value)
    if len(text) > LONGEST or "**" in text:
        return {text}
    try:
        return set(dim.free_symbols()) or {text}
    except (ValueError, RecursionError):
        return {text}
