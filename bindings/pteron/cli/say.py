"""What commands print: text for people, or one JSON object for machines, which names its schema; errors as either."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from pteron.schema.printable import of_lines, printable

SCHEMA: Final = 1
"""Version of all JSON that commands print: it rises when a field changes its meaning or goes, not when one is added."""


def result(
    command: str,
    as_json: bool,
    facts: Mapping[str, Any],
    text: Callable[[], str],
    outputs: Sequence[Path | None] = (),
) -> None:
    """Prints a command's result; on stderr where one of its output files is the standard output."""
    from pteron.export.write import is_stdout

    taken = any(path is not None and is_stdout(path) for path in outputs)
    print(
        as_text(command, facts) if as_json else of_lines(text()),
        file=sys.stderr if taken else sys.stdout,
    )


def as_text(command: str, facts: Mapping[str, Any]) -> str:
    """One JSON object; infinities and NaN, which JSON has not, are null."""
    whole = {"schema": SCHEMA, "command": command, **facts}
    return json.dumps(_plain(whole), indent=1, allow_nan=False)


def fail(
    command: str | None,
    text: str,
    code: int,
    error: BaseException | None = None,
    as_json: bool | None = None,
) -> int:
    """Says what went wrong: one line on stderr, and on stdout an object `error` where JSON is wanted; returns `code`.

    `as_json` None asks the command line, for options that could not be read.
    """
    where, text = " ".join(["pteron", *([command] if command else [])]), printable(text)
    aside(f"{paint(f'{where}:', 31, sys.stderr)} {text}")
    if "--json" in sys.argv[1:] if as_json is None else as_json:
        facts = {"kind": "UsageError", **(facts_of(error)["error"] if error else {})}
        facts |= {"code": code, "text": text}
        with contextlib.suppress(OSError):  # stdout itself may be what failed
            print(json.dumps({"schema": SCHEMA, "command": command, "error": facts}, indent=1))
            sys.stdout.flush()
    return code


def aside(text: str) -> None:
    """A line on stderr. Where that cannot take it nobody reads it: the work goes on."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def facts_of(error: BaseException) -> dict[str, dict[str, Any]]:
    """The object `error`: its kind, its text, and the nodes where it is about some."""
    kind = next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("_"))
    facts: dict[str, Any] = {"kind": kind, "text": str(error)}
    if nodes := getattr(error, "nodes", ()):
        facts["nodes"] = list(nodes)
    return {"error": facts}


def paint(text: str, colour: int, to: TextIO) -> str:
    """`text` in an ANSI colour where `to` is a terminal that wants it (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or not can_redraw(to):
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def can_redraw(to: TextIO) -> bool:
    """Whether it is a terminal that takes more than letters."""
    return to.isatty() and os.environ.get("TERM") != "dumb"


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
