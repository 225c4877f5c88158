"""Reports as JSON, which names its schema, and sizes as a person reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

SCHEMA: Final = 1
"""Version of all JSON that commands print: it rises when a field changes its meaning or goes, not when one is added."""


def as_text(command: str, facts: Mapping[str, Any]) -> str:
    """One JSON object; infinities and NaN, which JSON has not, are null."""
    whole = {"schema": SCHEMA, "command": command, **facts}
    return json.dumps(_plain(whole), indent=1, allow_nan=False)


def facts_of(error: BaseException) -> dict[str, dict[str, Any]]:
    """The object `error`: its kind, its text, and the nodes where it is about some."""
    kind = next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("_"))
    facts: dict[str, Any] = {"kind": kind, "text": str(error)}
    if nodes := getattr(error, "nodes", ()):
        facts["nodes"] = list(nodes)
    return {"error": facts}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def size(count: int) -> str:
    """Bytes as a person reads them."""
    number: float = count
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.2f} GiB"
