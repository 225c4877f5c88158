"""What is printed of names and texts that a model, a file or a caller brought: no character that breaks a line, or commands or
reorders what a terminal shows. Pages have `escape` for the same (cli/pages/template.py); JSON escapes by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_COMMANDS: Final = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
)
"""C0 but for the line feed, DEL and C1; marks and overrides of direction; separators of lines; halves of characters."""
_ANY: Final = re.compile(f"\\n(?!  )|[{_COMMANDS}]")
_BUT_LINES: Final = re.compile(f"[{_COMMANDS}]")


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


def printable(text: str) -> str:
    """One line, and those of it that go on, which are indented; others become a written `\\n`."""
    return _ANY.sub(_escaped, text)


def joined(lines: Iterable[str]) -> str:
    """Lines one below the other, each `printable`."""
    return "\n".join(map(printable, lines))


def of_lines(text: str) -> str:
    """A text that is lines already."""
    return _BUT_LINES.sub(_escaped, text)
