"""Constants of equal content become one, before they are packed: methods and tied weights share their bytes."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
from typing import Any

import numpy as np

from pteron.export.graph.weights import bands
from pteron.export.program import Constant, Program


def share(program: Program) -> Program:
    """Points values and states at the first of equal constants and drops the others; idempotent.

    Only constants that agree in dtype, shape and layout are read and hashed.
    """
    alike: collections.defaultdict[tuple[Any, ...], list[int]] = collections.defaultdict(list)
    for i, c in enumerate(program.constants):
        alike[(c.dtype, c.shape, c.layout, c.format, c.groups)].append(i)
    first = list(range(len(program.constants)))
    for group in alike.values():
        seen: dict[bytes, int] = {}
        for i in group if len(group) > 1 else ():
            first[i] = seen.setdefault(_digest(program.constants[i]), i)
    kept = [i for i, j in enumerate(first) if i == j]
    if len(kept) == len(first):
        return program
    place = {old: new for new, old in enumerate(kept)}
    at = [place[j] for j in first]
    return dataclasses.replace(
        program,
        constants=tuple(program.constants[i] for i in kept),
        values=tuple(
            dataclasses.replace(v, base=at[v.base]) if v.storage == "constant" else v
            for v in program.values
        ),
        states=tuple(
            s if s.initial is None else dataclasses.replace(s, initial=at[s.initial])
            for s in program.states
        ),
    )


def _digest(c: Constant) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for band in bands(c.elements):
        digest.update(np.ascontiguousarray(band).reshape(-1).view(np.uint8).data)
    return digest.digest()
