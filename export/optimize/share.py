"""Constants of equal content become one, before they are packed: methods and tied weights share their bytes."""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..graph.weights import bands
from ..program import Blocks, Constant, Program


def share(program: Program) -> Program:
    """Points values and states at the first of equal constants and drops the others; idempotent.

    What are codes in the same memory is the same. Of the others only constants that agree in dtype, shape and layout are read, and
    of those only the ones that agree in a checksum are hashed, too.
    """
    constants = program.constants
    first = list(range(len(constants)))
    coded = [i for i, c in enumerate(constants) if c.coded is not None]
    for same in _alike(coded, lambda i: (_kind(constants[i]), _memory(constants[i]) or i)):
        for i in same:
            first[i] = same[0]
    own = [i for i, j in enumerate(first) if i == j]
    kinds = _alike(own, lambda i: _kind(constants[i]))
    for group in [g for kind in kinds for g in _alike(kind, lambda i: _sum(constants[i]))]:
        for same in _alike(group, lambda i: _digest(constants[i])):
            for i in same:
                first[i] = same[0]
    first = [first[i] for i in first]  # what is one with something that another is equal to
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


def _alike(numbers: Iterable[int], key: Callable[[int], Any]) -> list[list[int]]:
    """Groups of two and more that agree in their key."""
    groups: dict[Any, list[int]] = {}
    for i in numbers:
        groups.setdefault(key(i), []).append(i)
    return [g for g in groups.values() if len(g) > 1]


def _kind(c: Constant) -> tuple[Any, ...]:
    form = "" if c.coded is None else f"{c.coded.format} {c.coded.codes.dtype} {c.coded.dtype}"
    return c.dtype, c.shape, c.layout, c.format, c.groups, form


def _memory(c: Constant) -> tuple[Any, ...]:
    """Where the codes and what belongs to them lie; (): not all of it is in memory."""
    assert c.coded is not None
    found: list[Any] = []
    for part in (c.coded.codes, c.coded.scale, c.coded.zero, c.coded.shift):
        array = part.parts if isinstance(part, Blocks) else part
        if isinstance(part, Blocks):
            found.append((part.axis, part.size))
        if isinstance(array, np.ndarray):
            found.append((array.ctypes.data, array.shape, array.strides, array.dtype))
        elif array is not None:
            return ()
    return tuple(found)


def _sum(c: Constant) -> int:
    """Equal where the elements are, in whatever bands they come; of codes without their scales, which are long to spread.

    Codes have a few bits each, so that what XOR leaves of them is often the same; of wider elements it is the fastest.
    """
    total = 0
    for band in bands(c.elements if c.coded is None else c.coded.codes):
        flat = np.ascontiguousarray(band).reshape(-1)
        if c.coded is None and flat.itemsize > 1:
            total ^= int(np.bitwise_xor.reduce(flat.view(f"u{flat.itemsize}"), initial=0))
        else:
            total = zlib.crc32(flat.view(np.uint8).data, total)
    return total


def _digest(c: Constant) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for band in bands(c.elements):
        digest.update(np.ascontiguousarray(band).reshape(-1).view(np.uint8).data)
    return digest.digest()
