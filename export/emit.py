"""Program -> the bytes of a .pte file, exactly as schema/program.fbs says. Same program, same bytes.

Constants are written one by one as they are met, equal contents once, and hashed on the way; the header and the segment
table, which hold the digests, are written last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import flatbuffers
import numpy as np
from numpy.typing import NDArray

from pteron.export.elements import to_stored
from pteron.export.layout import FILE_IDENTIFIER, SCHEMA_HASH, STRUCTS, TABLES, DType, Segment
from pteron.export.plan import Memory, measure
from pteron.export.program import NONE, Constant, Program
from pteron.export.tables import Tables
from pteron.schema.ops import OPS

MAGIC: Final = b"\x89PTERON\n"
FORMAT_VERSION: Final = 0
HEADER_BYTES: Final = 64
ENTRY_BYTES: Final = 64
ALIGN: Final = 64
PAGE: Final = 16384  # constants larger than this start on a page of the largest kind phones have
EXTERNAL: Final = 1  # segment flag


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One row of the segment table; `external` is an index into the manifest's externals."""

    kind: Segment
    offset: int
    size: int
    digest: bytes
    external: int = NONE


@dataclasses.dataclass(frozen=True, slots=True)
class Packing:
    """Where constants lie in their segment: each one's (offset, size), and the arrays that are written, in order."""

    places: tuple[tuple[int, int], ...]
    arrays: tuple[tuple[int, NDArray[Any]], ...]
    size: int


def emit(
    program: Program,
    path: Path,
    *,
    data: str | None = None,
    debug: bool = True,
    producer: str = "pteron",
) -> None:
    """Writes `program` to `path`.

    Args:
        data: Name of a file beside `path` that gets the constants; None keeps them in `path`.
        debug: Whether names of nodes and values go in.
        producer: Who made it, for the manifest.

    Raises:
        ProgramError: the program is not one that the file can hold; the text names the place.
    """
    with path.open("wb") as out:
        if data is None:
            write(program, out, debug=debug, producer=producer)
            return
        with (path.parent / data).open("wb") as beside:
            write(program, out, data=(data, beside), debug=debug, producer=producer)


def emit_bytes(program: Program, *, debug: bool = True, producer: str = "pteron") -> bytes:
    """The file as bytes, for tests and small programs."""
    out = io.BytesIO()
    write(program, out, debug=debug, producer=producer)
    return out.getvalue()


def write(
    program: Program,
    out: BinaryIO,
    *,
    data: tuple[str, BinaryIO] | None = None,
    debug: bool = True,
    producer: str = "pteron",
) -> None:
    """Writes to `out`, which can seek. `data`: name and file that get the constants instead."""
    packing = pack_constants(program.constants)
    kinds = [Segment.MANIFEST, Segment.PROGRAM, *[Segment.BLOB] * len(program.delegates)]
    if program.constants:
        kinds.append(Segment.CONSTANTS)
    at = len(kinds) - 1
    blobs = range(2, 2 + len(program.delegates))
    tables = Tables(program, [(at, *place) for place in packing.places], blobs)
    memory = [measure(program, i) for i in range(len(program.methods))]
    externals = [data[0]] if data and program.constants else []
    manifest = manifest_bytes(program, memory, packing.size, externals, producer)
    bodies = [manifest, program_bytes(tables), *[d.blob for d in program.delegates]]
    count = len(kinds) + (1 if debug else 0)
    out.write(bytes(HEADER_BYTES + ENTRY_BYTES * count))
    entries = [_segment(out, kind, _body(body)) for kind, body in zip(kinds, bodies, strict=False)]
    if program.constants and data:
        size, digest = _stream(data[1], _constants(packing))
        entries.append(Entry(Segment.CONSTANTS, 0, size, digest, external=0))
    elif program.constants:
        entries.append(_segment(out, Segment.CONSTANTS, _constants(packing), packing.size))
    if debug:
        entries.append(_segment(out, Segment.DEBUG, _body(debug_bytes(program))))
    _header(out, entries)


def pack_constants(constants: Sequence[Constant]) -> Packing:
    """Places constants one after the other, 64-byte aligned, equal contents at the same place."""
    known: dict[tuple[int, bytes], int] = {}
    places, arrays = [], []
    end = 0
    for c in constants:
        stored = c.array.reshape(-1) if c.layout != "strided" or c.format != "plain" else None
        stored = (
            to_stored(c.array, c.dtype)
            if stored is None
            else np.ascontiguousarray(stored).view(np.uint8)
        )
        key = (stored.nbytes, hashlib.blake2b(stored.data, digest_size=32).digest())
        if key not in known:
            known[key] = _align(end, ALIGN)
            end = known[key] + stored.nbytes
            arrays.append((known[key], stored))
        places.append((known[key], stored.nbytes))
    return Packing(tuple(places), tuple(arrays), end)


Put = Callable[[Any], object]


def _body(data: bytes) -> Callable[[Put], object]:
    return lambda put: put(data)


def _constants(packing: Packing) -> Callable[[Put], object]:
    def fill(put: Put) -> None:
        at = 0
        for offset, array in packing.arrays:
            put(bytes(offset - at))
            put(array)
            at = offset + array.nbytes

    return fill


def _segment(out: BinaryIO, kind: Segment, fill: Callable[[Put], object], size: int = 0) -> Entry:
    """Pads `out` to the segment's alignment and writes it."""
    here = out.tell()
    start = _align(here, PAGE if kind is Segment.CONSTANTS and size > PAGE else ALIGN)
    out.write(bytes(start - here))
    size, digest = _stream(out, fill)
    return Entry(kind, start, size, digest)


def _stream(out: BinaryIO, fill: Callable[[Put], object]) -> tuple[int, bytes]:
    """Lets `fill` write to `out`; the size and digest of what it wrote."""
    start = out.tell()
    digest = hashlib.blake2s()

    def put(part: Any) -> None:
        digest.update(part)
        out.write(part)

    fill(put)
    return out.tell() - start, digest.digest()


def _header(out: BinaryIO, entries: Sequence[Entry]) -> None:
    total = out.tell()
    table = b"".join(
        struct.pack(
            "<IIQQ32sII",
            e.kind,
            EXTERNAL if e.external != NONE else 0,
            e.offset,
            e.size,
            e.digest,
            e.external,
            0,
        )
        for e in entries
    )
    head = MAGIC + struct.pack("<IIQ", FORMAT_VERSION, len(entries), total) + SCHEMA_HASH
    out.seek(0)
    out.write(head + hashlib.blake2s(head + table).digest() + table)
    out.seek(total)


def _align(offset: int, to: int) -> int:
    return -(-offset // to) * to


# --- FlatBuffers ------------------------------------------------------------------------------------------------


def program_bytes(tables: Tables) -> bytes:
    builder = flatbuffers.Builder(1 << 16)
    fields = {"strings": _strings(builder, tables.strings)}
    for name, (data, count, size) in tables.vectors().items():
        fields[name] = _vector(builder, data, count, size, 8 if size % 8 == 0 else 4)
    return _finish(builder, _table(builder, "Program", fields))


def manifest_bytes(
    program: Program,
    memory: Sequence[Memory],
    constant_bytes: int,
    externals: Sequence[str],
    producer: str,
) -> bytes:
    builder = flatbuffers.Builder(1 << 12)
    needed = [
        struct.pack(STRUCTS["NeededOp"].letters, mask, op, 0) for op, mask in _needed(program)
    ]
    rows = [
        struct.pack(
            STRUCTS["MethodMemory"].letters, i, 0, m.planned_bytes, m.live_bytes, m.state_bytes
        )
        for i, m in enumerate(memory)
    ]
    ops = {instr.op for block in program.blocks for instr in block.instrs}
    fields = {
        "producer": builder.CreateString(producer),
        "model": builder.CreateString(program.model),
        "minimum_runtime": max([1, *(OPS[op].since for op in ops)]),
        "operators": _vector(builder, b"".join(needed), len(needed), 8, 4),
        "delegates": _strings(builder, sorted({d.name for d in program.delegates})),
        "externals": _strings(builder, externals),
        "memory": _vector(builder, b"".join(rows), len(rows), 32, 8),
        "constant_bytes": constant_bytes,
        "exec_mode": builder.CreateString(program.exec_mode),
    }
    return _finish(builder, _table(builder, "Manifest", fields))


def debug_bytes(program: Program) -> bytes:
    builder = flatbuffers.Builder(1 << 14)
    nodes = []
    for n in program.nodes:
        texts = {
            field: builder.CreateSharedString(getattr(n, field)) for field in TABLES["DebugNode"]
        }
        nodes.append(_table(builder, "DebugNode", texts))
    fields = {
        "nodes": _offsets(builder, nodes),
        "value_names": _strings(builder, [v.name for v in program.values]),
        "placements": _strings(
            builder, [str(field) for p in program.placements for field in dataclasses.astuple(p)]
        ),
    }
    return _finish(builder, _table(builder, "Debug", fields))


def _needed(program: Program) -> Iterator[tuple[int, int]]:
    """(operator id, mask of element types), by id."""
    masks: dict[int, int] = {}
    for block in program.blocks:
        for instr in block.instrs:
            op = OPS[instr.op].id
            for i in (*instr.inputs, *instr.outputs):
                dtype = 0 if i is None else 1 << DType[program.values[i].dtype.upper()]
                masks[op] = masks.get(op, 0) | dtype
    yield from sorted(masks.items())


def _strings(builder: Any, texts: Sequence[str]) -> int:
    return _offsets(builder, [builder.CreateSharedString(text) for text in texts])


def _offsets(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _vector(builder: Any, data: bytes, count: int, size: int, align: int) -> int:
    """A vector of `count` structs or numbers, their bytes as given."""
    builder.StartVector(size, count, align)
    builder.head = builder.head - len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return int(builder.EndVector())


def _table(builder: Any, name: str, values: dict[str, int]) -> int:
    """A table with all its fields in the order of the schema."""
    builder.StartObject(len(TABLES[name]))
    for slot, (field, kind) in enumerate(TABLES[name].items()):
        if kind == "uint":
            builder.PrependUint32Slot(slot, values[field], 0)
        elif kind == "ulong":
            builder.PrependUint64Slot(slot, values[field], 0)
        else:
            builder.PrependUOffsetTRelativeSlot(slot, values[field], 0)
    return int(builder.EndObject())


def _finish(builder: Any, root: int) -> bytes:
    """All three kinds of tables carry the file identifier; the segment's kind says which it is."""
    builder.Finish(root, file_identifier=FILE_IDENTIFIER)
    return bytes(builder.Output())
