"""Which `--fix` makes a model export that does not: what the error says has been tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import onnx_ir as ir

from pteron.schema.errors import LoweringError, PteronError

from .graph import bounds
from .graph.fix import fix, symbols
from .lower import lower
from .passes import run_passes

TRIED: Final = (16, 64, 224, 1)
"""Sizes that are tried where nobody gives any."""
LARGEST: Final = 3000
"""Nodes up to which it is tried."""
MOST: Final = 4
"""Sizes that are named one by one."""


def with_fix(
    error: LoweringError,
    models: Mapping[str, ir.Model],
    hints: Mapping[str, int],
    states: Mapping[str, str],
) -> LoweringError:
    """`error`, or one whose text ends in the sizes that help: one alone, else all."""
    names = sorted({n for m in models.values() for n in symbols(m)})
    if not names or sum(len(m.graph) for m in models.values()) > LARGEST:
        return error
    sizes = next((s for s in _sizes(names, hints, models) if _exports(models, s, states)), None)
    if sizes is None:
        return error
    alone = [n for n in names[:MOST] if _exports(models, {n: sizes[n]}, states)]
    ways = [[n] for n in alone] or [names]
    said = " or ".join(" ".join(f"--fix {n}={sizes[n]}" for n in way) for way in ways)
    text = f"{error}\nwith numbers for sizes it exports: {said} (or another size; `fix={{...}}` in Python)"
    return LoweringError(text, error.nodes)


def _sizes(
    names: list[str], hints: Mapping[str, int], models: Mapping[str, ir.Model]
) -> Iterator[dict[str, int]]:
    told: dict[str, tuple[int, int]] = {}
    for m in models.values():
        told |= bounds.read(m).sizes
    for size in TRIED:
        within = {n: told.get(n, (1, bounds.MOST)) for n in names}
        yield {n: hints.get(n, max(min(size, b), a, 1)) for n, (a, b) in within.items()}


def _exports(
    models: Mapping[str, ir.Model], sizes: Mapping[str, int], states: Mapping[str, str]
) -> bool:
    copies = {name: m.clone() for name, m in models.items()}
    try:
        fix(list(copies.values()), sizes)
        for m in copies.values():
            run_passes(m)
        lower(copies, states=states)
    except PteronError:
        return False
    return True
