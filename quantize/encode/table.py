"""Every weight format by the name that --format takes: FORMAT or FORMATS of each module beside this one that has them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Final

import pteron.quantize.encode as here
from pteron.schema.formats import BLOCKS
from pteron.schema.formats import FORMATS as STORED

from .format import BlockFormat


def _rows() -> Iterator[BlockFormat]:
    for module in pkgutil.iter_modules(here.__path__):
        if module.name != "table":
            loaded = importlib.import_module(f"{here.__name__}.{module.name}")
            row = getattr(loaded, "FORMAT", None)
            yield from (row,) if isinstance(row, BlockFormat) else getattr(loaded, "FORMATS", ())


FORMATS: Final = {f.name: f for f in sorted(_rows(), key=lambda f: STORED[f.stored].id)}


def said() -> str:
    """All names, those of groups as a pattern."""
    single = [name for name in FORMATS if not re.match(r"int[234]", name)]
    groups = ", ".join(str(size) for size in BLOCKS)
    return f"{', '.join(single)}, int4, int3, int2 (-sym or -asym, then -gN, a scale for N of {groups})"
