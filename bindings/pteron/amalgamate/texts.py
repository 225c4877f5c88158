"""C as text: arrays, the header, what both forms give."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Final

from .prepared import Prepared


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """C behind the runtime's sources. `calls`: what the header declares. `flash`: bytes of constants; `memory`: static ones."""

    text: str
    calls: str
    flash: int
    memory: int


NO_NAME: Final = re.compile(r"[^\w.\[\], -]")
"""What a comment of C might not survive."""


def array(declaration: str, items: Iterable[object]) -> str:
    """`declaration` = all of the items, or one zero: C has no empty arrays."""
    words = [str(item) for item in items] or ["0"]
    rows = (", ".join(words[i : i + 24]) for i in range(0, len(words), 24))
    return f"{declaration} = {{\n" + "".join(f"  {row},\n" for row in rows) + "};\n"


def header(name: str, model: Model, ready: Prepared) -> str:
    """pteron_model.h."""
    sides = {"input": ready.inputs, "output": ready.outputs}
    lines = [
        f" * {kind} {i}: {NO_NAME.sub('?', p.name)} {list(p.shape)}, {p.bytes} bytes"
        for kind, side in sides.items()
        for i, p in enumerate(side)
    ]
    listed = "\n".join(lines)
    return f"""/* {name} on a microcontroller: pteron amalgamate. Do not edit.
 *
{listed}
 *
 * Buffers are dense, row-major and aligned to their elements; outputs overlap nothing. Functions return 0, or
 * a number that pteron_model_error says more of. One thread. */
#ifndef PTERON_MODEL_H
#define PTERON_MODEL_H

#include <stddef.h>

{model.calls}
#endif
"""
