"""A program as two files of C, for a machine without an operating system.

- fixed (fixed.py): the program is verified and prepared here; what that gives is tables of constants, and a call for each
  instruction. The image has kernels, and neither the verifier nor a session: it runs this program alone.
- replaceable (replaceable.py): the image has all of the runtime but kernels that the program does not use. It verifies the
  program, as any other that is handed to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from pteron.export.file.read import read
from pteron.export.program import Program
from pteron.export.program.kernels import header as kernel_list
from pteron.export.program.kernels import kernels_of
from pteron.schema.errors import ProgramError

from . import fixed, libc, sources
from . import replaceable as whole
from .packages import PACKAGES, written
from .prepared import prepared
from .texts import header

__all__ = ["PACKAGES", "Amalgam", "amalgamate", "opened", "written"]


@dataclasses.dataclass(frozen=True, slots=True)
class Amalgam:
    """pteron_model.c, pteron_model.h, and what is known of flash and memory before a compiler has seen them."""

    source: str
    header: str
    facts: dict[str, int]


def opened(path: Path) -> tuple[bytes, Program]:
    """Raises:
    ProgramError: the bytes are not a program.
    """
    data = path.read_bytes()
    try:
        return data, read(data)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None


def amalgamate(
    data: bytes,
    program: Program,
    name: str,
    sizes: Mapping[str, int] | None = None,
    *,
    replaceable: bool = False,
) -> Amalgam:
    """`program`: what `data` holds; at its dimensions' hints or at `sizes`. `name` stands in comments.

    Raises:
        ArgumentError: more than one method, states, shape inputs: what a board's two calls have no place for; or, unless it
            is to be replaceable, control flow, delegates, sizes that data decides.
    """
    ready = prepared(data, name, program, sizes)
    kernels = kernels_of(program)
    kind = whole if replaceable else fixed
    root = sources.home()
    paths = sources.needed(root, kernels.ops, kind.FOLDERS)
    headers = [root / each for each in kind.HEADERS]
    body = sources.joined(
        root, [*paths, root / "kernels/variants.c", *headers], sources.families(paths)
    )
    model = kind.model(data, program, ready)
    source = "".join(
        [
            f"/* {name} and the runtime for it: pteron amalgamate. Do not edit. */\n",
            '#include "pteron_model.h"\n\n',
            kernel_list(kernels, name),
            sources.targets(),
            libc.TEXT,
            body,
            f"\n/* --- {name} --- */\n\n{model.text}",
        ]
    )
    facts = {"program": model.flash, "memory": model.memory, "lines": source.count("\n")}
    return Amalgam(source, header(name, model, ready), facts)
