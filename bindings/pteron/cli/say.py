"""What commands print: text for people, or one JSON object for machines, which names its schema; errors as either."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from pteron.schema.printable import of_lines, printable

from ..reports.told import SCHEMA, as_text, facts_of, size

__all__ = [
    "SCHEMA",
    "as_text",
    "aside",
    "can_redraw",
    "facts_of",
    "fail",
    "paint",
    "result",
    "size",
]


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


def paint(text: str, colour: int, to: TextIO) -> str:
    """`text` in an ANSI colour where `to` is a terminal that wants it (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or not can_redraw(to):
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def can_redraw(to: TextIO) -> bool:
    """Whether it is a terminal that takes more than letters."""
    return to.isatty() and os.environ.get("TERM") != "dumb"
