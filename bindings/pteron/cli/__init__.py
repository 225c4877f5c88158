"""The command `pteron`. Exit codes:

0    done
1    a defect of Pteron: please report it with the text
2    wrong use: unknown option or value, file not found, inputs that do not fit
3    the model cannot be exported or quantized as it is; a file that is read with it is damaged
4    the program was refused: damaged, too new, an operator this build lacks
5    the run failed: data, a cap, the deadline, a delegate; a file could not be written
6    verify: digests or outputs differ
130  interrupted (Ctrl-C)
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TextIO

from pteron.schema.errors import (
    ArgumentError,
    DamagedError,
    DataError,
    DelegateError,
    InternalError,
    LimitError,
    ModelError,
    OutputError,
    PlacementWarning,
    ProgramError,
    PteronError,
    QuantError,
    QuantWarning,
    naming_files,
)
from pteron.schema.extras import missing
from pteron.schema.printable import printable
from pteron.schema.renamed import renamed_flag, renamed_value

from .. import __version__
from . import say

COMMANDS = (
    "export",
    "quantize",
    "run",
    "generate",
    "inspect",
    "verify",
    "profile",
    "bench",
    "amalgamate",
    "doctor",
    "completion",
)

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (ModelError, 3),
    (DamagedError, 3),
    (ArgumentError, 2),
    (QuantError, 3),
    (ProgramError, 4),
    (DataError, 5),
    (LimitError, 5),
    (DelegateError, 5),
    (OutputError, 5),
    (InternalError, 1),
    (MemoryError, 5),
    (OSError, 5),
    (ImportError, 2),
)
"""The first that fits counts."""


class Once(argparse.Action):
    """Stores an option's value, which may be given once: the second would silently undo the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if option_string and self.dest in given:
            raise argparse.ArgumentError(self, "expected once, got it twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as every other error is said; options with a value are given once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help, which argparse would lose in silence where it cannot be printed."""
        print(message, end="", file=file or sys.stderr)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """argparse takes "--" out of what an option is given, and leaves it nothing."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument, got --")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Of a command, which one was meant; of a value that has another name now, that name."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            hint = renamed_value(action.dest, value)
            if hint:
                raise argparse.ArgumentError(action, f"{error.message}{hint}") from None
            near = difflib.get_close_matches(str(value), COMMANDS, 1)
            if not isinstance(action, argparse._SubParsersAction) or not near:
                raise
            raise argparse.ArgumentError(
                action, f"no command {value!r}; did you mean {near[0]}?"
            ) from None

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2] or None
        say.fail(command, f"{message}; {self.prog} --help lists the options", 2)
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    """The whole command line; each command is a module of this package with `add` and `run`."""
    top = Parser(
        prog="pteron",
        allow_abbrev=False,
        description="Compile a trained model once, run one file on phones and boards.",
        epilog="Exit codes: " + (__doc__ or "").split("Exit codes:")[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"pteron {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"pteron.cli.{name}")
        about = (module.__doc__ or "").strip()
        sub = commands.add_parser(
            name,
            help=about.splitlines()[0],
            description=about,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add(sub)
        sub.set_defaults(run=module.run, parser=sub)
    return top


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The command line as its command reads it.

    Raises:
        SystemExit: it is wrong, which is said, or asked for help, which is printed.
    """
    try:
        args, more = parser().parse_known_args(argv)
    except SystemExit:
        sys.stdout.flush()
        raise
    command = vars(args).pop("parser")
    if more:
        known = [flag for action in command._actions for flag in action.option_strings]
        hint = renamed_flag(args.command, more[0], known)
        command.error(f"unrecognized arguments: {' '.join(more)}{hint}")
    return args


def main(argv: list[str] | None = None, loaded: Callable[[], None] = lambda: None) -> int:
    """Runs one command; errors of Pteron go to stderr as one text, without a traceback. `loaded`: called before it begins."""
    _open_streams()
    args = argparse.Namespace(command=None)
    try:
        args = parsed(argv)
        loaded()
        with warnings.catch_warnings():
            warnings.showwarning = _say
            with naming_files():
                code = int(args.run(args))
            sys.stdout.flush()
            return code
    except BrokenPipeError:  # the reader has what it wanted
        return 0
    except KeyboardInterrupt as error:
        return say.fail(args.command, "interrupted", 130, error, _is_json(args))
    except tuple(kind for kind, _ in _CODES) as error:
        code = next(code for kind, code in _CODES if isinstance(error, kind))
        return say.fail(args.command, _text(error), code, error, _is_json(args))
    finally:
        _drop_unwritten()


def _drop_unwritten() -> None:
    """What a stream could not write stays in its buffer, and the interpreter, which tries again as it ends, would end with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())
            stream.flush()


def _open_streams() -> None:
    """Standard streams that are closed become the null device, or else a file of ours would take their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r+"))
        elif name != "stdin" and hasattr(stream, "reconfigure"):  # file names need not be text
            stream.reconfigure(errors="backslashreplace")


def _is_json(args: argparse.Namespace) -> bool:
    return bool(getattr(args, "json", False))


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; ours without the place in the code, which is ours too."""
    kind = "" if issubclass(category, PlacementWarning | QuantWarning) else f"{category.__name__}: "
    say.aside(f"{say.paint('pteron: warning:', 33, sys.stderr)} {kind}{printable(str(message))}")


def _text(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return str(error) if "pip install" in str(error) else missing(error.name or "a module")
    if isinstance(error, OSError) and error.filename and not isinstance(error, PteronError):
        return f"{os.fspath(error.filename)}: {error.strerror or type(error).__name__}"
    if isinstance(error, OSError) and error.strerror and not isinstance(error, PteronError):
        return f"what is printed cannot be written: {error.strerror}"
    return str(error) or type(error).__name__
