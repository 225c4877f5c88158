"""What every delegate's blob begins with: a header, a table of sections, the sections. Little-endian.

    offset  size  header
         0     8  magic "PTEDLG\\0\\0"
         8     4  version of this layout: 1
        12     4  kind: whose payload it is (`Kind`)
        16    32  target, zero padded, at most 31 bytes
        48     8  bytes of the whole payload
        56     4  number of sections, at most 64
        60     4  zero
        64    24  for each section: u32 kind, u32 zero, u64 offset, u64 size

Kinds of sections belong to the delegate and ascend, so each is there once; offsets ascend, are multiples of 128 from the
start of the payload, and sections do not overlap. `runtime_c/delegates/payload.h` reads the same and trusts nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from pteron.schema.errors import DelegateError

MAGIC = b"PTEDLG\0\0"
VERSION = 1
ALIGN = 128
MAX_SECTIONS = 64
MAX_TARGET_BYTES = 31
_HEADER = struct.Struct("<8sII32sQII")
_SECTION = struct.Struct("<IIQQ")


class Kind(IntEnum):
    """Whose payload it is; never reused."""

    HEXAGON = 1
    VGF = 2


@dataclass(frozen=True, slots=True)
class Payload:
    kind: int
    target: str
    sections: Mapping[int, bytes]


def aligned(offset: int) -> int:
    return -(-offset // ALIGN) * ALIGN


def write(payload: Payload) -> bytes:
    """The bytes of a payload; sections in the order of their kinds."""
    target = payload.target.encode()
    if len(target) > MAX_TARGET_BYTES or b"\0" in target or len(payload.sections) > MAX_SECTIONS:
        raise ValueError(f"payload {payload.target!r}: at most 31 bytes of target and 64 sections")
    table, body = b"", b""
    start = aligned(_HEADER.size + _SECTION.size * len(payload.sections))
    for kind, data in sorted(payload.sections.items()):
        body += bytes(aligned(len(body)) - len(body))
        table += _SECTION.pack(kind, 0, start + len(body), len(data))
        body += data
    size = start + len(body)
    head = _HEADER.pack(
        MAGIC, VERSION, payload.kind, target, size, len(payload.sections), 0
    )  # struct pads the target with zeros
    return (head + table).ljust(start, b"\0") + body


def read(blob: bytes) -> Payload:
    """What `write` was given.

    Raises:
        DelegateError: the bytes are not a payload of this version.
    """
    if len(blob) < _HEADER.size or blob[:8] != MAGIC:
        raise DelegateError("payload: expected a delegate's blob, got other bytes; export again")
    _, version, kind, target, size, count, _ = _HEADER.unpack_from(blob)
    if version != VERSION or size != len(blob) or count > MAX_SECTIONS:
        raise DelegateError(
            f"payload: expected version {VERSION}, {len(blob)} bytes and at most {MAX_SECTIONS} sections, "
            f"got version {version}, {size} bytes, {count} sections; export again"
        )
    sections = {}
    for i in range(count):
        try:
            row = _SECTION.unpack_from(blob, _HEADER.size + i * _SECTION.size)
        except struct.error:
            raise DelegateError("payload: the section table ends early; export again") from None
        if row[2] + row[3] > size:
            raise DelegateError(f"payload: section {row[0]} lies outside; export again")
        sections[row[0]] = blob[row[2] : row[2] + row[3]]
    return Payload(kind, target.rstrip(b"\0").decode(errors="replace"), sections)
