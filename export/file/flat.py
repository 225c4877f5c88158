"""Reads the FlatBuffers that emit writes: every offset, length and string is checked before it is used."""

from __future__ import annotations

import struct
from typing import Any, Final

from pteron.schema.errors import ProgramError
from pteron.schema.layout import FILE_IDENTIFIER, STRUCTS, TABLES

NUMBERS: Final = {"uint": "I", "ulong": "Q", "long": "q"}


def read_table(data: bytes, name: str) -> dict[str, Any]:
    """The root table: numbers, strings, and lists of numbers, strings, tables (dicts) and structs (tuples).

    Raises:
        ProgramError: the bytes are not a table of that kind.
    """
    if len(data) < 8 or data[4:8] != FILE_IDENTIFIER:
        raise ProgramError(
            f"{name}: expected the identifier {FILE_IDENTIFIER!r}, got {data[4:8]!r}"
        )
    return _table(data, _number(data, 0, "I"), name)


def _number(data: bytes, at: int, letter: str) -> int:
    size = struct.calcsize("<" + letter)
    if not 0 <= at <= len(data) - size:
        raise ProgramError(
            f"offset {at}: expected {size} bytes inside {len(data)}; the file is damaged"
        )
    return int(struct.unpack_from("<" + letter, data, at)[0])


def _table(data: bytes, at: int, name: str) -> dict[str, Any]:
    vtable = at - _number(data, at, "i")
    entries = _number(data, vtable, "H") // 2 - 2
    out: dict[str, Any] = {}
    for slot, (field, kind) in enumerate(TABLES[name].items()):
        place = _number(data, vtable + 4 + 2 * slot, "H") if slot < entries else 0
        if place:
            out[field] = _field(data, at + place, kind)
        elif kind in NUMBERS:
            out[field] = 0
        else:
            out[field] = "" if kind == "string" else []
    return out


def _field(data: bytes, at: int, kind: str) -> Any:
    if kind in NUMBERS:
        return _number(data, at, NUMBERS[kind])
    start = at + _number(data, at, "I")
    if kind == "string":
        return _string(data, start)
    return _vector(data, start, kind.strip("[]"))


def _string(data: bytes, at: int) -> str:
    length = _number(data, at, "I")
    raw = data[at + 4 : at + 4 + length]
    if len(raw) != length or data[at + 4 + length : at + 5 + length] != b"\0":
        raise ProgramError(f"offset {at}: expected a string of {length} bytes and a zero")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ProgramError(f"offset {at}: expected UTF-8, got {raw[:20]!r}") from error


def _vector(data: bytes, at: int, kind: str) -> list[Any]:
    count = _number(data, at, "I")
    letters = STRUCTS[kind].letters if kind in STRUCTS else "<" + NUMBERS.get(kind, "I")
    size = struct.calcsize(letters)
    if at + 4 + count * size > len(data):
        raise ProgramError(
            f"offset {at}: expected {count} elements of {size} bytes inside {len(data)}"
        )
    rows = list(struct.iter_unpack(letters, data[at + 4 : at + 4 + count * size]))
    if kind in STRUCTS:
        return rows
    if kind in NUMBERS:
        return [row[0] for row in rows]
    places = [at + 4 + 4 * i + row[0] for i, row in enumerate(rows)]
    return [_string(data, p) if kind == "string" else _table(data, p, kind) for p in places]
