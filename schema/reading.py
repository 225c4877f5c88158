"""Files from elsewhere, whose bytes may be anything: what their decoders raise becomes one line, and what they claim has bounds.

Only what turns bytes into checked facts goes into `decoding`; behind it a KeyError is a defect of Pteron again.
"""

from __future__ import annotations

import contextlib
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Final

from .errors import ArgumentError, DamagedError, PteronError

DEPTH: Final = 64
"""Lists and objects inside each other, of JSON; nothing that Pteron reads has more than six."""
JSON_BYTES: Final = 256 << 20
RATIO: Final = 64
LEAST: Final = 256 << 20
"""A packed file may claim so many bytes, or so many times its own."""

_RAISED: Final = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, RuntimeError, AssertionError, MemoryError,
    OSError, struct.error, zipfile.BadZipFile, zlib.error, SyntaxError, tokenize.TokenError,
)  # fmt: skip
"""What decoders raise over bytes: UnicodeError and JSONDecodeError are ValueErrors, RecursionError is a RuntimeError."""


@contextlib.contextmanager
def decoding(where: str, expected: str, then: str = "") -> Iterator[None]:
    """Within it any error over bytes says what was `expected`; `then`: what to do.

    Raises:
        DamagedError: in place of what a decoder raised, and of an ArgumentError, for here the file is the argument.
    """
    try:
        yield
    except DamagedError:
        raise
    except ArgumentError as error:
        if isinstance(error, OSError):  # no such file, or none that can be opened
            raise
        raise DamagedError(str(error)) from error
    except PteronError:
        raise
    except _RAISED as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise DamagedError(
            f"{where}: expected {expected}, got another file, or a damaged one ({_line(error)})"
            + (f"; {then}" if then else "")
        ) from error


def _line(error: BaseException) -> str:
    """Of what a decoder says, which may quote the file: a line."""
    text = " ".join(str(error).split())[:160]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def parsed(data: bytes | str) -> Any:
    """JSON of at most JSON_BYTES and DEPTH.

    Raises:
        ValueError: it is none, or larger or deeper.
    """
    if len(data) > JSON_BYTES:
        raise ValueError(f"{len(data)} bytes of JSON")
    whole = json.loads(data)
    layer: list[Any] = [whole]
    for _ in range(DEPTH):
        holds = (x for x in layer if isinstance(x, dict | list))
        layer = [y for x in holds for y in (x.values() if isinstance(x, dict) else x)]
        if not layer:
            return whole
    raise ValueError(f"JSON of more than {DEPTH} levels")


def check_packed(file: zipfile.ZipFile, size: int) -> None:
    """That a zip of `size` bytes does not claim to hold what no memory has.

    Raises:
        ValueError: it does, or an entry stands twice.
    """
    claimed = sum(entry.file_size for entry in file.infolist())
    if claimed > max(LEAST, RATIO * size):
        raise ValueError(f"{size} bytes that claim to hold {claimed}")
    names = file.namelist()
    if len(set(names)) != len(names):
        raise ValueError("an entry stands twice")
