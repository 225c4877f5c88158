"""The command `pteron`. Exit codes:

0  done
1  a defect of Pteron: please report it with the text
2  wrong use: unknown option, file not found, inputs that do not fit
3  the model cannot be exported or quantized as it is
4  the program was refused: damaged, too new, an operator this build lacks
5  the run failed: data, a cap, the deadline, a delegate
6  verify: digests or outputs differ
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from typing import TextIO

from pteron import __version__
from pteron.schema.errors import (
    ArgumentError,
    DataError,
    DelegateError,
    InternalError,
    LimitError,
    ModelError,
    PlacementWarning,
    ProgramError,
    QuantError,
)

COMMANDS = ("export", "quantize", "run", "inspect", "verify", "profile", "bench", "doctor")

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (ModelError, 3),
    (QuantError, 3),
    (ProgramError, 4),
    (ArgumentError, 2),
    (DataError, 5),
    (LimitError, 5),
    (DelegateError, 5),
    (InternalError, 1),
    (MemoryError, 5),
    (FileNotFoundError, 2),
    (IsADirectoryError, 2),
    (PermissionError, 2),
    (ImportError, 2),
)


def parser() -> argparse.ArgumentParser:
    """The whole command line; each command is a module of this package with `add` and `run`."""
    top = argparse.ArgumentParser(
        prog="pteron",
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
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add(sub)
        sub.set_defaults(run=module.run)
    return top


def main(argv: list[str] | None = None) -> int:
    """Runs one command; errors of Pteron go to stderr as one text, without a traceback."""
    args = parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            return int(args.run(args))
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("pteron: interrupted", file=sys.stderr)
        return 130
    except tuple(kind for kind, _ in _CODES) as error:
        print(f"pteron {args.command}: {_text(error)}", file=sys.stderr)
        return next(code for kind, code in _CODES if isinstance(error, kind))


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; ours without the place in the code, which is ours too."""
    kind = "" if issubclass(category, PlacementWarning) else f"{category.__name__}: "
    print(f"pteron: warning: {kind}{message}", file=sys.stderr)


def _text(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        extra = "torch" if error.name in ("torch", "onnxscript") else "export"
        return f"{error.name} is not installed; pip install 'pteron[{extra}]'"
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename}: no such file"
    if isinstance(error, IsADirectoryError) and error.filename:
        return f"{error.filename}: expected a file, got a folder"
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename}: permission denied"
    return str(error) or type(error).__name__
