"""What a checkpoint says of its model, key by key: config.json's, or those of a GGUF file.

Each key is taken once, as the kind that is expected. What is left at the end is refused by its name: a key that nobody read may be
what makes the model another one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError, shown

MOST: Final = 1 << 31
"""Of any count: no model has more rows, columns or tokens."""
REQUIRED: Final = object()
NAMED: Final = 5


class Keys:
    """`prefix`: before every name in the file, as GGUF has its architecture's."""

    def __init__(self, where: str, found: Mapping[str, Any], prefix: str = "") -> None:
        self.where = where
        self._found = found
        self._prefix = prefix
        self._taken = set[str]()

    def __contains__(self, name: str) -> bool:
        """Whether the file has the key, be it null."""
        return f"{self._prefix}{name}" in self._found

    def raw(self, name: str, default: Any = REQUIRED) -> Any:
        """The value as it stands; null is none.

        Raises:
            ModelError: there is none, and no default.
        """
        key = f"{self._prefix}{name}"
        self._taken.add(key)
        value = self._found.get(key)
        if value is None and default is REQUIRED:
            raise ModelError(
                f"{self.where}: expected {key}, got none; complete it, or export the module from PyTorch"
            )
        return default if value is None else value

    def count(self, name: str, default: Any = REQUIRED, *, least: int = 1) -> Any:
        value = self.raw(name, default)
        if value is default:
            return value
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < MOST:
            raise self.refusal(name, f"an integer from {least} to {MOST - 1}", value)
        return value

    def number(self, name: str, default: Any = REQUIRED) -> Any:
        value = self.raw(name, default)
        if value is default:
            return value
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not abs(value) < 2.0**127 or math.isnan(value):
            raise self.refusal(name, "a finite number", value)
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self.raw(name, default)
        if not isinstance(value, bool):
            raise self.refusal(name, "true or false", value)
        return value

    def only(self, name: str, *allowed: Any, default: Any = None) -> None:
        """Of what else the value may be the graph knows nothing.

        Raises:
            ModelError: it is something else.
        """
        value = self.raw(name, default)
        if not any(
            value is one or (type(value) is type(one) and value == one)
            for one in (*allowed, default)
        ):
            raise self.refusal(name, " or ".join(map(repr, allowed)) or "none", value)

    def listed(self, name: str, count: int, default: Any = REQUIRED) -> Any:
        """A list of so many."""
        value = self.raw(name, default)
        if value is default:
            return value
        if not isinstance(value, list) or len(value) != count:
            raise self.refusal(name, f"a list of {count}", value)
        return value

    def inner(self, name: str) -> Keys | None:
        """Keys of an object in it; None: there is none. Its own are to be finished, too."""
        value = self.raw(name, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.refusal(name, "an object", value)
        return Keys(f"{self.where}: {name}", value)

    def refusal(self, name: str, expected: str, value: Any) -> ModelError:
        return ModelError(
            f"{self.where}: {self._prefix}{name}: expected {expected}, got {shown(value)}; "
            "export the module from PyTorch, if this is what it is"
        )

    def finish(self, harmless: Collection[str] = ()) -> None:
        """Nothing is left. `harmless`: keys that change nothing of what is computed.

        Raises:
            ModelError: something is; it is named.
        """
        left = [
            f"{key} = {shown(value)}"
            for key, value in self._found.items()
            if key.startswith(self._prefix) and value is not None
            and key not in self._taken and key.removeprefix(self._prefix) not in harmless
        ]  # fmt: skip
        if left:
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            raise ModelError(
                f"{self.where}: expected no other keys, got {', '.join(left[:NAMED])}{more}, of which no builder knows what "
                "they change; export the module from PyTorch"
            )
