"""Every weight format by the name that --format takes: FORMAT of each module beside this one that has one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final

import pteron.quantize.encode as here
from pteron.schema.formats import FORMATS as STORED

from .format import BlockFormat


def _rows() -> Iterator[BlockFormat]:
    for module in pkgutil.iter_modules(here.__path__):
        if module.name != "table":
            loaded = importlib.import_module(f"{here.__name__}.{module.name}")
            row = getattr(loaded, "FORMAT", None)
            if isinstance(row, BlockFormat):
                yield row


FORMATS: Final = {f.name: f for f in sorted(_rows(), key=lambda f: STORED[f.stored].id)}
