"""Files that appear whole or not at all.

A file is written under another name beside its place and renamed when it is complete, and on the disk: a power cut leaves the
old one or the new one. Its mode, and links on the way to it, stay. Pipes and devices (/dev/stdout) get the finished bytes. Whoever writes holds a lock on its part, so that the parts of
killed runs are known, and swept by the next run that writes into the folder.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import enum
import errno
import fcntl
import operator
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pteron.schema.errors import ArgumentError, OutputError

PREFIX: Final = ".pteron-"
SUFFIX: Final = ".part"


def write_whole(path: Path, write: Callable[[Path], None]) -> int:
    """Has `write` fill a part, and moves it to `path`; its size in bytes.

    Raises:
        FileNotFoundError, IsADirectoryError: no file can be at `path`.
        OutputError: the disk is full, or the folder cannot be written; what was at `path` is there still.
    """
    with parts(path) as (part,):
        write(part)
        return part.stat().st_size


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole. Raises as `write_whole` does."""
    write_whole(path, lambda part: _fill(part, text))


def _fill(part: Path, text: str) -> None:
    # a name of a file that is no UTF-8 is shown as error texts show it
    part.write_text(text, encoding="utf-8", errors="backslashreplace")


def apart(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Before any work.

    Raises:
        ArgumentError: one of the outputs is an input, or another output.
    """
    given = [(p, _identity(p)) for p in inputs if p is not None]
    taken: list[tuple[Path, object]] = []
    for out in outputs:
        if out is None:
            continue
        mine = _identity(out)
        for other, identity in given:
            if mine == identity:
                raise ArgumentError(f"{out}: expected another file than the input {other}")
        for other, identity in taken:
            if mine == identity and not _is_stream(out):
                raise ArgumentError(f"{out}: expected another file than the output {other}")
        taken.append((out, mine))


def is_stdout(path: Path) -> bool:
    """Whether what is written to `path` comes out at the standard output."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


class _Step(enum.IntEnum):
    """Of several files at once, in this order: what may still fail comes before what changes a file."""

    SYNC = 0
    STREAM = 1
    MOVE = 2
    AFTERWARDS = 3


@dataclasses.dataclass(slots=True)
class _Together:
    """`stack` has parts that are complete, `parts` their names; `last`: what puts them into their places, and what was to be
    done after that, by its step."""

    stack: contextlib.ExitStack
    parts: dict[Path, Path]
    last: list[tuple[_Step, Callable[[], None]]]


_TOGETHER: Final[contextvars.ContextVar[_Together | None]] = contextvars.ContextVar(
    "together", default=None
)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """All files that are written in the body take their places when it is done: none of them where one fails.

    What is written can be read before where `complete` says. Within another it is that one's. Raises as `write_whole` does.
    """
    if _TOGETHER.get() is not None:
        yield
        return
    with contextlib.ExitStack() as stack:
        made = _Together(stack, {}, [])
        token = _TOGETHER.set(made)
        try:
            yield
        finally:
            _TOGETHER.reset(token)
        _in_steps(made.last)


def _in_steps(what: Sequence[tuple[_Step, Callable[[], None]]]) -> None:
    for _, do in sorted(what, key=operator.itemgetter(0)):
        do()


def complete(path: Path) -> Path:
    """Where a file that this body of `together` wrote lies whole until it takes its place."""
    made = _TOGETHER.get()
    return path if made is None else made.parts.get(path, path)


def afterwards(do: Callable[[], None]) -> None:
    """Does it when what was written so far is in its place: now, or at the end of `together`, where that succeeds."""
    made = _TOGETHER.get()
    if made is None:
        do()
    else:
        made.last.append((_Step.AFTERWARDS, do))


@contextlib.contextmanager
def parts(*paths: Path) -> Iterator[list[Path]]:
    """Names to write in place of `paths`; the files take their places together, when the body is done."""
    with contextlib.ExitStack() as own:
        outer = _TOGETHER.get()
        stack = own if outer is None else outer.stack
        names: list[Path] = []
        steps: list[tuple[_Step, Callable[[], None]]] = []
        with _named(paths, names):
            for path in paths:
                part, todo = stack.enter_context(_part(path))
                names.append(part)
                steps += [(step, _within(paths, names, do)) for step, do in todo]
            yield names
        if outer is None:
            _in_steps(steps)
        else:
            outer.parts.update(zip(paths, names, strict=True))
            outer.last += steps


def _within(paths: Sequence[Path], names: list[Path], do: Callable[[], None]) -> Callable[[], None]:
    def done() -> None:
        with _named(paths, names):
            do()

    return done


@contextlib.contextmanager
def _named(paths: Sequence[Path], names: list[Path]) -> Iterator[None]:
    """Errors of the parts are those of the files."""
    try:
        yield
    except OSError as error:
        ours = {None, *map(str, names)}
        if isinstance(error, OutputError) or error.filename not in ours:
            raise
        raise _failed(paths[0], error) from error


@contextlib.contextmanager
def _part(path: Path) -> Iterator[tuple[Path, list[tuple[_Step, Callable[[], None]]]]]:
    """A locked empty file, and what moves it to `path`; it is gone afterwards."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.is_file() and not os.access(path, os.W_OK):
        raise _failed(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    streamed = _is_stream(path)
    place = Path(tempfile.gettempdir()) if streamed else Path(os.path.realpath(path)).parent
    if not place.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder; make it or name another", str(place))
    _sweep(place)
    part = place / f"{PREFIX}{secrets.token_hex(6)}{SUFFIX}"
    try:
        held = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    except OSError as error:
        raise _failed(path, error) from error
    try:
        with contextlib.suppress(OSError):  # a file system without locks: its parts are not swept
            fcntl.flock(held, fcntl.LOCK_EX)
        if streamed:
            yield part, [(_Step.STREAM, lambda: _stream(part, path))]
        else:
            move = (_Step.MOVE, lambda: _move(part, path))
            yield part, [(_Step.SYNC, lambda: os.fsync(held)), move]
    finally:
        part.unlink(missing_ok=True)
        os.close(held)


def _move(part: Path, path: Path) -> None:
    target = Path(os.path.realpath(path))  # a link goes on pointing at its file
    with contextlib.suppress(FileNotFoundError):
        before = target.stat()
        with contextlib.suppress(PermissionError):
            os.chown(part, before.st_uid, before.st_gid)
        part.chmod(stat.S_IMODE(before.st_mode))
    part.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that syncs no folders
            os.fsync(folder)
    finally:
        os.close(folder)


def _stream(part: Path, path: Path) -> None:
    """Copies into a pipe or device; into the standard output through its own descriptor, which knows the position."""
    if is_stdout(path):
        sys.stdout.flush()
        out = os.dup(1)
    else:
        out = os.open(path, os.O_WRONLY)
    with part.open("rb") as source, os.fdopen(out, "wb") as sink:
        shutil.copyfileobj(source, sink)


def _is_stream(path: Path) -> bool:
    """Whether bytes flow into it: a pipe, a device, or an open descriptor, whatever that is of."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or is_stdout(path):
            return True
        names = (path, path.parent / path.readlink()) if path.is_symlink() else (path,)
    except OSError:
        return False
    return any(re.fullmatch(r"/proc/\d+/fd", os.path.realpath(name.parent)) for name in names)


def _identity(path: Path) -> object:
    """Equal for two names of one file, whether it is there or not."""
    try:
        found = path.stat()
        return found.st_dev, found.st_ino
    except OSError:
        return os.path.realpath(path)


def _sweep(folder: Path) -> None:
    """Removes parts whose writers are gone."""
    with contextlib.suppress(OSError):
        for left in folder.glob(f"{PREFIX}*{SUFFIX}"):
            with contextlib.suppress(OSError):
                held = os.open(left, os.O_RDWR)
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink(missing_ok=True)
                finally:
                    os.close(held)


def _failed(path: Path, error: OSError) -> OutputError:
    why = error.strerror or str(error)
    return OutputError(f"{path}: cannot be written: {why}; nothing was changed")
