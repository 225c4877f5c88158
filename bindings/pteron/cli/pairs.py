"""Arguments that commands share: files that must exist, and options of the form KEY=VALUE."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
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


def existing(path: Path) -> Path:
    """The path itself.

    Raises:
        FileNotFoundError: nothing is there.
    """
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    return path
