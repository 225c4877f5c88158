"""GGUF files, versions 2 and 3: names, shapes and types of tensors, and where their blocks lie."""

from __future__ import annotations

import functools
import math
import re
import struct
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from pteron.schema.errors import QuantError

from .converted import in_modules
from .families import FAMILIES
from .ggml import FLOATS, LAYOUTS
from .weight import Array, Tensor, Weight

SCALARS: Final = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
STRING, LIST = 8, 9
MOST: Final = 1 << 28
"""Elements and bytes of one key's value: what is larger is no key of a model."""


def read_gguf(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors by the names of transformers, as families.py has them, and the header's keys; a tied head reads the table. A tensor
    that another tool than llama.cpp's converters named keeps its name.

    Raises:
        QuantError: damaged, of another version, or of an architecture or with a tensor that families.py does not know.
    """
    with path.open("rb") as file:
        try:
            return _tensors(path, file)
        except (struct.error, UnicodeDecodeError, OverflowError, MemoryError):
            raise QuantError(f"{path}: ends within its header, or is damaged") from None


def read_keys(path: Path) -> dict[str, Any]:
    """The keys of a GGUF file and their values, lists as lists.

    Raises:
        QuantError: damaged, or of another version.
    """
    with path.open("rb") as file:
        try:
            return _header(path, file)[1]
        except (struct.error, UnicodeDecodeError, OverflowError, MemoryError, RecursionError):
            raise QuantError(f"{path}: ends within its header, or is damaged") from None


def _header(path: Path, file: BinaryIO) -> tuple[int, dict[str, Any]]:
    """How many tensors follow, and the keys."""
    magic, version, count, keys = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version not in (2, 3):
        raise QuantError(f"{path}: expected GGUF version 2 or 3, got {magic!r} {version}")
    return count, {_string(file): _value(file) for _ in range(keys)}


def _tensors(path: Path, file: BinaryIO) -> tuple[dict[str, Tensor], dict[str, Any]]:
    count, facts = _header(path, file)
    rows = []
    for _ in range(count):
        name = _string(file)
        (rank,) = struct.unpack("<I", file.read(4))
        if rank > 8:
            raise QuantError(f"{path}: tensor {name}: expected at most 8 dimensions, got {rank}")
        shape = struct.unpack(f"<{rank}Q", file.read(8 * rank))[::-1]
        rows.append((name, shape, *struct.unpack("<IQ", file.read(12))))
    step = int(facts.get("general.alignment", 32)) or 32
    start = -(-file.tell() // step) * step
    size = path.stat().st_size
    found = {}
    for name, shape, kind, offset in rows:
        tensor = _tensor(path, name, shape, kind, start + offset, facts)
        if start + offset + tensor.nbytes > size:
            raise QuantError(f"{path}: ends within tensor {name}; the file is cut off")
        found[name] = tensor
    return in_modules(path, str(facts.get("general.architecture")), found), facts


def _string(file: BinaryIO) -> str:
    (size,) = struct.unpack("<Q", file.read(8))
    if size > MOST:
        raise struct.error
    return file.read(size).decode()


def _value(file: BinaryIO, kind: int | None = None) -> Any:
    if kind is None:
        (kind,) = struct.unpack("<I", file.read(4))
    if kind == STRING:
        return _string(file)
    if kind == LIST:
        inner, count = struct.unpack("<IQ", file.read(12))
        if count > MOST:
            raise struct.error
        return _list(file, inner, count)
    if kind not in SCALARS:
        raise struct.error
    form = "<" + SCALARS[kind]
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _list(file: BinaryIO, kind: int, count: int) -> list[Any]:
    """A tokenizer has a hundred thousand strings: those and numbers are read without a call for each."""
    if kind == STRING:
        return [_string(file) for _ in range(count)]
    if kind not in SCALARS:
        return [_value(file, kind) for _ in range(count)]
    form = f"<{count}{SCALARS[kind]}"
    return list(struct.unpack(form, file.read(struct.calcsize(form))))


def _tensor(
    path: Path, name: str, shape: tuple[int, ...], kind: int, at: int, facts: dict[str, Any]
) -> Tensor:
    count, heads = math.prod(shape), _heads(path, name, shape, facts)
    if kind in FLOATS:
        called, dtype = FLOATS[kind]
        nbytes = count * dtype.itemsize

        def plain() -> Array:
            values = np.fromfile(path, dtype, count, offset=at).reshape(shape)
            return _straight(values, heads).astype(np.float32)

        return Tensor(called, shape, nbytes, plain)
    layout = LAYOUTS.get(kind)
    if layout is None:
        return Tensor(f"type {kind}", shape, 0, functools.partial(_refuse, path, name, kind))
    if not shape or shape[-1] % layout.block:
        raise QuantError(
            f"{path}: tensor {name}: expected rows of whole blocks of {layout.block}, got {shape}"
        )
    rows, blocks = count // shape[-1], shape[-1] // layout.block

    def blocked() -> Weight:
        raw = np.fromfile(path, np.uint8, rows * blocks * layout.nbytes, offset=at)
        return layout.read(_straight(raw.reshape(rows, blocks, layout.nbytes), heads))

    whole = shape if len(shape) > 2 else (rows, shape[-1])
    return Tensor(layout.name, whole, rows * blocks * layout.nbytes, blocked)


def _refuse(path: Path, name: str, kind: int) -> Weight:
    known = ", ".join(layout.name for layout in LAYOUTS.values())
    raise QuantError(
        f"{path}: tensor {name} has type {kind}, which is not covered; those are {known}"
    )


def _heads(path: Path, name: str, shape: tuple[int, ...], facts: dict[str, Any]) -> int:
    """Of a weight or bias whose rows were permuted: heads; 0 of others."""
    arch = str(facts.get("general.architecture"))
    found = re.match(r"blk\.(\d+)\.attn_([qk])\.(weight|bias)$", name)
    if arch not in FAMILIES or not FAMILIES[arch].interleaved or not found or not shape:
        return 0
    told = facts.get(f"{arch}.attention.head_count", 1)
    if found[2] == "k":
        told = facts.get(f"{arch}.attention.head_count_kv", told)
    if isinstance(told, list):  # a number a layer
        told = told[int(found[1])] if int(found[1]) < len(told) else 0
    if not isinstance(told, int) or told < 1 or shape[0] % (2 * told):
        raise QuantError(
            f"{path}: tensor {name}: expected rows of whole pairs in each of its heads, got {shape[0]} rows and {told} heads"
        )
    return told


def _straight(rows: Array, heads: int) -> Array:
    """Rows [heads, half, 2] back to [heads, 2, half]."""
    if not heads:
        return rows
    pairs = rows.reshape(heads, len(rows) // heads // 2, 2, *rows.shape[1:])
    return pairs.swapaxes(1, 2).reshape(rows.shape)
