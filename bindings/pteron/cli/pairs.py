"""Options of the form KEY=VALUE, repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from pteron.schema.errors import ArgumentError

V = TypeVar("V")


def pairs(option: str, items: Iterable[str], kind: Callable[[str], V]) -> dict[str, V]:
    """A dict of them.

    Raises:
        ArgumentError: no `=`, an empty side, or a value that `kind` refuses.
    """
    found: dict[str, V] = {}
    for item in items:
        key, sign, value = item.partition("=")
        try:
            if not (key and sign and value):
                raise ValueError
            found[key] = kind(value)
        except ValueError:
            raise ArgumentError(f"{option} {item}: expected KEY=VALUE ({kind.__name__})") from None
    return found
