"""Make two files of C for a microcontroller: what the program needs of the runtime, and the program.

They need a C11 compiler and memcpy, no other file. Sizes are those of the dimensions' hints, or of --dim. The program is
verified now and becomes tables of C; with --replaceable the image has the verifier and takes other programs, too.

Example:

    pteron amalgamate model.pte -o firmware/model
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pteron.schema.errors import ArgumentError, OutputError
from pteron.schema.printable import joined

from .. import __version__
from . import say
from .pairs import as_json, dims, file, integer, pairs, program


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where the files go (default: here)",
    )
    dims(parser)
    parser.add_argument(
        "--replaceable",
        action="store_true",
        help="the image opens and verifies programs itself: the one in it, and others that come later",
    )
    parser.add_argument(
        "--package",
        action="append",
        default=[],
        metavar="TOOL",
        help="what makes the folder a package of arduino, cmsis, platformio, zephyr; may be given again",
    )
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    from pteron.export.write import write_text

    from ..amalgamate import PACKAGES, amalgamate, opened, written
    from .describe import sizes_of

    path = program(args.program)
    unknown = [tool for tool in args.package if tool not in PACKAGES]
    if unknown:
        raise ArgumentError(f"--package: expected one of {', '.join(PACKAGES)}, got {unknown[0]}")
    there = next(p for p in (args.output, *args.output.absolute().parents) if p.exists())
    if not there.is_dir():
        raise ArgumentError(f"{args.output}: expected a folder, but {there} is a file")
    data, held = opened(path)
    sizes = sizes_of(held, pairs("--dim", args.dim, integer))
    made = amalgamate(data, held, path.name, sizes, replaceable=args.replaceable)
    texts = {"pteron_model.h": made.header, "pteron_model.c": made.source}
    texts |= written(args.package, path.name, __version__)
    files = [args.output / name for name in texts]
    for target, text in zip(files, texts.values()):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"{args.output}: cannot be made: {error.strerror}; name another folder"
            raise OutputError(text) from error
        write_text(target, text)
    say.result("amalgamate", args.json, made.facts, lambda: as_text(made.facts), files)
    return 0


def as_text(facts: dict[str, int]) -> str:
    rows = {
        "program": "bytes of flash: constants, and what says what is run on them",
        "memory": "bytes of static memory",
    }
    return joined(
        [
            *(f"{facts[name]:8d}  {text}" for name, text in rows.items()),
            "          the code's flash: what the compiler and linker leave of pteron_model.c (-Os, --gc-sections)",
        ]
    )
