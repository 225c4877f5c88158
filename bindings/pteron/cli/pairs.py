"""Arguments that commands share: files to read and to write, numbers with a least value, options of the form KEY=VALUE."""

from __future__ import annotations

import argparse
import errno
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from pteron.export.options import rows
from pteron.schema.arrays import read_arrays
from pteron.schema.errors import ArgumentError, DamagedError, existing

from ..request import Request
from ..source import file_of

V = TypeVar("V")

FORMS: Final = {"--rule": "REGEX=FORMAT", "--state": "INPUT=OUTPUT"}
"""How an option is written, where it is not SYMBOL=N."""

MODELS: Final = (".onnx", ".pt2")
KINDS: Final = {
    *MODELS, ".pte", ".npz", ".npy", ".json", ".html", ".yaml", ".yml", ".gguf", ".safetensors"
}  # fmt: skip


Options = argparse.ArgumentParser | argparse._ArgumentGroup
"""What takes an option: a command, or a group of its help."""


def option(parser: Options, flag: str, name: str, of: type[Any] = Request, **form: Any) -> None:
    """An option of an export, at `args.<name>`: its default, choices and help are those of its row (request.py). The flag of
    what is True makes it False. `of`: whose row."""
    field = rows(of)[name]
    form |= {"dest": name, "help": field.metadata["text"]}
    if isinstance(field.default, bool):
        action = "store_false" if field.default else "store_true"
        parser.add_argument(flag, action=action, **form)
        return
    default = [] if form.get("action") == "append" else field.default
    parser.add_argument(flag, default=default, choices=field.metadata["choices"] or None, **form)


def as_json(parser: Options) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def dims(parser: Options, otherwise: str = "its hint", of: str = "") -> None:
    """`otherwise`: the size of a dimension that is not named. `of`: what the sizes are of."""
    text = f"size of a symbolic dimension{of} (default: {otherwise})"
    parser.add_argument("--dim", action="append", default=[], metavar="SYMBOL=N", help=text)


def asked(args: argparse.Namespace, of: type[Any] = Request) -> dict[str, Any]:
    """What `option` added, by name."""
    return {name: getattr(args, name) for name in rows(of) if name in args}


def integer(text: str) -> int:
    """A sign and digits; Python takes `1_0`, blanks and the digits of every script besides.

    Raises:
        ValueError: it is something else.
    """
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError(text)
    return int(text)


def pairs(option: str, items: Iterable[str], kind: Callable[[str], V]) -> dict[str, V]:
    """A dict of them. The last `=` divides: expressions may hold others.

    Raises:
        ArgumentError: no `=`, an empty side, or a value that `kind` refuses.
    """
    found: dict[str, V] = {}
    for item in items:
        key, sign, value = item.rpartition("=")
        try:
            if not (key and sign and value):
                raise ValueError
            if key in found:
                raise ArgumentError(f"{option} {item}: expected {key} once, got it twice")
            found[key] = kind(value)
        except ArgumentError:
            raise
        except ValueError:
            form = FORMS.get(option, "SYMBOL=N")
            raise ArgumentError(f"{option} {item}: expected {form}") from None
    return found


def at_least(least: int, most: int = 2**31 - 1) -> Callable[[str], int]:
    """For argparse: an integer that is no smaller, and no larger than any use of it."""

    def number(text: str) -> int:
        try:
            value = integer(text)
        except ValueError:
            value = least - 1
        if value > most:
            raise argparse.ArgumentTypeError(f"expected an integer of at most {most}, got {text!r}")
        if value < least:
            raise argparse.ArgumentTypeError(
                f"expected an integer of at least {least}, got {text!r}"
            )
        return value

    return number


def seconds(text: str) -> float:
    """For argparse: a time."""
    return _real(text, "seconds of at least 0")


def tolerance(text: str) -> float:
    """For argparse: what may differ."""
    return _real(text, "a number of at least 0")


def _real(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected {what}, got {text!r}")
    return value


def names(text: str) -> list[str]:
    """Delegates in order: "hexagon, cpu" is two."""
    return [name.strip() for name in text.split(",")]


def file(text: str) -> Path:
    """The path of a file. Path("") would be the folder that one stands in."""
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a file, got none")
    return Path(text)


def model(given: Path) -> Path:
    """The path itself, of something that may be a model, of the Python file that makes one (model.py:make), or of a checkpoint.

    Raises:
        ArgumentError: a program already, or a pipe; as `existing` besides.
    """
    path = file_of(given)
    if path.is_dir():
        from pteron.export.builders import is_checkpoint

        if is_checkpoint(path):
            return given
        from pteron.export.capture.foreign import refuse_folder

        refuse_folder(path)
    if existing(path).suffix == ".pte":
        raise ArgumentError(
            f"{path}: expected a model, got a .pte program, which is compiled already"
        )
    if not path.is_file():
        raise ArgumentError(f"{path}: expected a file, got a pipe; save it first")
    return given


def program(path: Path) -> Path:
    """The path itself, of something that may be a program.

    Raises:
        ArgumentError: a model that is still to be compiled; as `existing` besides.
    """
    if existing(path).suffix in MODELS:
        raise ArgumentError(
            f"{path}: expected a .pte program, got a model; compile it first: pteron export {path}"
        )
    return path


def kind(option: str, path: Path | None, *own: str) -> None:
    """Before any work.

    Raises:
        ArgumentError: a file's name is that of another kind of file, which it would not be.
    """
    if path is not None and path.suffix in KINDS and path.suffix not in own:
        raise ArgumentError(
            f"{option} {path}: expected {' or '.join(own)}, got the name of another kind of file"
        )


def ready(outputs: Sequence[Path | None], inputs: Sequence[Path | None] = ()) -> None:
    """Before any work.

    Raises:
        ArgumentError: a file could not be written: no folder for it, an input, another output; IsADirectoryError: a folder.
    """
    from pteron.export.write import apart

    for path in outputs:
        if path is None:
            continue
        if str(path) == "-":
            raise ArgumentError("-: expected a file's name; the standard output is /dev/stdout")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not path.parent.is_dir():
            raise ArgumentError(
                f"{path}: expected a folder {path.parent}, got none; make it or name another"
            )
    apart(outputs, inputs)


def arrays(path: Path) -> Any:
    """What an .npz holds by name, or the array of an .npy.

    Raises:
        ArgumentError: neither; objects are not read, for they can run code.
    """
    loaded = read_arrays(existing(path))
    if loaded is None:
        raise DamagedError(
            f"{path}: expected numbers in an .npz or .npy file, got something else; write it with numpy.savez"
        )
    return loaded
