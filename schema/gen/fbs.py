"""Reads schema/frame.fbs and schema/program.fbs: the part of the FlatBuffers language that they use, and no more.

Enums with given values; structs of scalars, structs and byte arrays without implicit padding; tables of scalars, strings
and vectors. Comments are dropped. A construct outside this raises ValueError with the line.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final

SCALARS: Final = {
    "ubyte": (1, "B"),
    "ushort": (2, "H"),
    "uint": (4, "I"),
    "ulong": (8, "Q"),
    "long": (8, "q"),
}
"""Scalar type -> bytes, letter of Python's struct module."""


@dataclasses.dataclass(frozen=True, slots=True)
class Enum:
    name: str
    type: str
    values: tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """`offset` in a struct, or the field's number in a table. `count`: elements of an array (structs only), else 0."""

    name: str
    type: str
    offset: int
    count: int = 0
    required: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Struct:
    name: str
    fields: tuple[Field, ...]
    bytes: int
    align: int


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """Fields by number; the type of a vector is written [element]."""

    name: str
    fields: tuple[Field, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Schema:
    enums: dict[str, Enum]
    structs: dict[str, Struct]
    tables: dict[str, Table]
    identifier: str  # of the root table; empty where there is none
    text: str  # without comments, one space between words: what the schema hash covers


def parse(source: str) -> Schema:
    """The schema in `source`.

    Raises:
        ValueError: something is not understood, or a struct would be padded.
    """
    text = " ".join(re.sub(r"//[^\n]*", "", source).split())
    schema = Schema({}, {}, {}, _identifier(text), text)
    for kind, name, base, body in re.findall(
        r"(enum|struct|table) (\w+)(?: : (\w+))? \{([^}]*)\}", text
    ):
        if kind == "enum":
            pairs = [pair.split("=") for pair in body.split(",") if pair.strip()]
            schema.enums[name] = Enum(name, base, tuple((a.strip(), int(b)) for a, b in pairs))
        elif kind == "struct":
            schema.structs[name] = _struct(schema, name, body)
        else:
            schema.tables[name] = Table(name, _fields(body))
    left = re.sub(
        r"(enum|struct|table) \w+(?: : \w+)? \{[^}]*\}|(namespace|root_type|file_identifier) [^;]*;",
        "",
        text,
    )
    if left.strip():
        raise ValueError(f"program.fbs: not understood: {left.strip()[:80]}")
    return schema


def size_of(schema: Schema, type: str) -> tuple[int, int]:
    """Bytes and alignment of a scalar or struct."""
    if type in SCALARS:
        return SCALARS[type][0], SCALARS[type][0]
    if type in schema.structs:
        return schema.structs[type].bytes, schema.structs[type].align
    raise ValueError(f"program.fbs: expected a scalar or a struct defined above, got {type}")


def _identifier(text: str) -> str:
    found = re.search(r'file_identifier "(\w{4})"', text)
    if not found and "root_type" in text:
        raise ValueError("program.fbs: expected a file_identifier of four letters")
    return found.group(1) if found else ""


def _fields(body: str) -> tuple[Field, ...]:
    fields: list[Field] = []
    for line in filter(None, (part.strip() for part in body.split(";"))):
        found = re.fullmatch(r"(\w+) ?: ?(\[?\w+\]?)( \(required\))?", line)
        if not found:
            raise ValueError(f"program.fbs: expected name:type, got {line}")
        fields.append(
            Field(found.group(1), found.group(2), len(fields), required=found.group(3) is not None)
        )
    return tuple(fields)


def _struct(schema: Schema, name: str, body: str) -> Struct:
    fields, offset, widest = [], 0, 1
    for line in filter(None, (part.strip() for part in body.split(";"))):
        found = re.fullmatch(r"(\w+) ?: ?(?:(\w+)|\[(\w+):(\d+)\])", line)
        if not found:
            raise ValueError(f"program.fbs: struct {name}: expected name:type, got {line}")
        type, count = found.group(2) or found.group(3), int(found.group(4) or 0)
        size, align = size_of(schema, type)
        if offset % align:
            raise ValueError(
                f"program.fbs: struct {name}.{found.group(1)}: offset {offset} would be padded"
            )
        fields.append(Field(found.group(1), type, offset, count))
        offset += size * (count or 1)
        widest = max(widest, align)
    if offset % widest:
        raise ValueError(
            f"program.fbs: struct {name}: {offset} bytes would be padded to a multiple of {widest}"
        )
    return Struct(name, tuple(fields), offset, widest)
