"""The errors a user can meet, and what each asks of them.

    PteronError
    ├── ModelError         the source model cannot be used: fix the model
    │   └── LoweringError  nodes have no lowering: every such node is listed, with what to do
    ├── QuantError         a weight or a graph cannot be quantized
    │   └── RecipeError    formats, rules or samples that do not fit: fix them (an ArgumentError, too)
    │       └── DamagedError  a file is not what it should be: cut off, changed, or of another kind
    ├── ProgramError       the runtime refused the bytes: export again, or use a newer runtime
    ├── ArgumentError      a call's names, shapes or dtypes are wrong: fix the call
    │   └── FileError      no file can be read, or written, where a name says: fix the name (Python's own error, too)
    ├── DataError          the data decided it: an index out of range, a division by zero
    ├── LimitError         a cap was reached: memory, instructions, iterations, time, a counted dimension
    ├── DelegateError      a delegate failed or is absent
    ├── OutputError        a file could not be written: disk full, read-only; nothing was changed
    └── InternalError      a pass made a program that the runtime would refuse: report it as a defect of Pteron

Every text reads `where: expected, got; what to do`. ArgumentError is a ValueError, LimitError a RuntimeError and OutputError an
OSError too, so that code which knows nothing of Pteron catches what it expects; a FileError is Python's own of its kind. PlacementWarning, a warning, tells of a fallback, QuantWarning of weights that stay floats.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final


def shown(value: Any) -> str:
    """What a caller gave, for an error: its text where that is one short line, else what it is."""
    try:
        text = repr(value)
    except Exception:  # whatever a stranger's class does
        text = ""
    kind = "a class" if isinstance(value, type) else type(value).__name__
    return text if text and len(text) <= 80 and text.isprintable() else kind


def several(count: int, thing: str, things: str = "") -> str:
    """`1 node`, `2 nodes`."""
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"


class PteronError(Exception):
    """Any failure that Pteron reports."""


class ModelError(PteronError):
    """The source model cannot be used as it is; `nodes` names those that are to blame, where some are."""

    def __init__(self, text: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.nodes = nodes


class LoweringError(ModelError):
    """Nodes that no lowering covers: `nodes` names them all."""


class QuantError(PteronError):
    """A weight or graph that cannot be quantized."""


class ProgramError(PteronError):
    """The bytes are not a program that this runtime accepts."""


class ArgumentError(PteronError, ValueError):
    """A call with wrong names, shapes or dtypes."""


class FileError(ArgumentError, OSError):
    """A name that no file can be read from, or written to; it is Python's error of its kind, too."""

    def __init__(self, number: int | None, text: str, name: str) -> None:
        OSError.__init__(self, number, text, name)  # a ValueError's would not take them apart

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class _NoFileError(FileError, FileNotFoundError):
    pass


class _FolderError(FileError, IsADirectoryError):
    pass


class _NoFolderError(FileError, NotADirectoryError):
    pass


class _ForbiddenError(FileError, PermissionError):
    pass


_FILES: Final[dict[type[OSError], tuple[type[FileError], str]]] = {
    FileNotFoundError: (_NoFileError, "no such file"),
    IsADirectoryError: (_FolderError, "expected a file, got a folder"),
    NotADirectoryError: (_NoFolderError, "no such file: a part of the path is no folder"),
    PermissionError: (_ForbiddenError, "permission denied"),
}


@contextlib.contextmanager
def naming_files() -> Iterator[None]:
    """Within it, and in a function that it decorates, Python's error about the name of a file is a FileError, too.

    Raises:
        FileError: in place of Python's own, which says what to do where Pteron raised it.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, PteronError) or error.filename is None or type(error) not in _FILES:
            raise
        kind, words = _FILES[type(error)]
        plain = error.strerror in (None, os.strerror(error.errno or 0))
        text = words if plain else str(error.strerror)
        raise kind(error.errno, text, os.fsdecode(error.filename)) from None


def existing(path: Path) -> Path:
    """The path itself, of a file or a pipe.

    Raises:
        FileError: nothing is there, or a folder.
        ArgumentError: a device, which may never end.
    """
    with naming_files():
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISCHR(mode):
        raise ArgumentError(f"{path}: expected a file or a pipe, got a device")
    return path


class AbsentError(ArgumentError, AttributeError):
    """A property of what is closed, or has no such thing: `hasattr` says no, and who lists attributes goes on."""


class RecipeError(QuantError, ArgumentError):
    """A format, a rule or samples that do not fit the model."""


class DamagedError(RecipeError):
    """The bytes of a file are not what they should be."""


class DataError(PteronError, ValueError):
    """Values met while running that an operator cannot work with."""


class LimitError(PteronError, RuntimeError):
    """A cap, a deadline or a cancellation ended the work."""


class DelegateError(PteronError):
    """A delegate failed, or is not there."""


class OutputError(PteronError, OSError):
    """A file could not be written; what was there before is there still."""


class InternalError(PteronError):
    """Export made what no runtime would accept: a defect of Pteron, whatever the model."""


class QuantWarning(UserWarning):
    """More than a tenth of the weights that were to be quantized stay as they are; the text says why."""


class PlacementWarning(UserWarning):
    """A part that was compiled for a delegate runs on the CPU; the text says why."""
