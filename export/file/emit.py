"""Program -> the bytes of a .pte file, exactly as docs/format.md draws it. Same program, same bytes.

Constants are written a band of rows at a time, equal contents once, and hashed on the way. The tables in front of them say
where each lies, which is known only then: their place is kept, and they are written last, like the header.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import flatbuffers
import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES, to_stored
from pteron.schema.layout import FILE_IDENTIFIER, SCHEMA_HASH, STRUCTS, TABLES, DType, Segment
from pteron.schema.ops import OPS

from ..graph.weights import bands
from ..plan import measure
from ..program import Constant, Memory, Program
from ..sizes import NONE
from .tables import Tables

MAGIC: Final = b"\x89PTERON\n"
FORMAT_VERSION: Final = 0
HEADER: Final = STRUCTS["Header"]
ENTRY: Final = STRUCTS["Entry"]
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


Places = tuple[tuple[int, int], ...]
"""Of each constant offset and size in its segment."""


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
    kinds = [Segment.MANIFEST, Segment.PROGRAM, *[Segment.BLOB] * len(program.delegates)]
    if program.text:
        kinds.append(Segment.TEXT)
    if program.constants:
        kinds.append(Segment.CONSTANTS)
    at = len(kinds) - 1
    count = len(kinds) + (1 if debug else 0)
    memory = program.memory or [measure(program, i) for i in range(len(program.methods))]
    externals = [data[0]] if data and program.constants else []

    def bodies(places: Places, end: int) -> list[bytes]:
        """All segments in front of the constants; their sizes do not depend on what places are."""
        blobs = range(2, 2 + len(program.delegates))
        where = [(at, *place) for place in places]
        tables = Tables(program, where, blobs)
        tabled = program_bytes(tables)
        if not tables.are_walked(len(tabled)):
            tabled = program_bytes(Tables(program, where, blobs, shared=False))
        manifest = manifest_bytes(program, memory, end, externals, producer)
        text = [program.text] if program.text else []
        return [manifest, tabled, *[d.blob for d in program.delegates], *text]

    largest = sum(_align(c.elements.nbytes, ALIGN) for c in program.constants)
    room = bodies(((0, 0),) * len(program.constants), largest)
    out.write(bytes(HEADER.bytes + ENTRY.bytes * count))
    start = out.tell()
    for body in room:
        _segment(out, Segment.BLOB, body)
    places: Places = ()
    last: list[Entry] = []
    if program.constants:
        entry, places = _constants(program.constants, out, data[1] if data else None, largest)
        last.append(entry)
    if debug:
        last.append(_segment(out, Segment.DEBUG, debug_bytes(program)))
    total = out.tell()
    out.seek(start)
    made = bodies(places, last[0].size if program.constants else 0)
    entries = [_segment(out, kind, body) for kind, body in zip(kinds, made, strict=False)]
    _header(out, [*entries, *last], total)


def _constants(
    constants: Sequence[Constant], out: BinaryIO, beside: BinaryIO | None, largest: int
) -> tuple[Entry, Places]:
    """Writes constants one after the other, 64-byte aligned, equal contents at the same place.

    Where the segment starts depends on how large it is: it is written anew at most once, if `largest` was too much.
    """
    if beside is not None:
        size, digest, places = _stream(constants, beside)
        return Entry(Segment.CONSTANTS, 0, size, digest, external=0), places
    here = out.tell()
    for expected in (largest, 0):
        start = _align(here, PAGE if expected > PAGE else ALIGN)
        out.seek(here)
        out.truncate()
        out.write(bytes(start - here))
        size, digest, places = _stream(constants, out)
        if (size > PAGE) == (expected > PAGE):
            break
    return Entry(Segment.CONSTANTS, start, size, digest), places


def _stream(constants: Sequence[Constant], out: BinaryIO) -> tuple[int, bytes, Places]:
    """Size and digest of what was written, and the places in it."""
    start, end, digest = out.tell(), 0, hashlib.blake2s()
    known: dict[tuple[int, bytes], int] = {}
    places: list[tuple[int, int]] = []
    for c in constants:
        at, before = _align(end, ALIGN), digest.copy()
        gap = bytes(at - end)
        out.write(gap)
        digest.update(gap)
        own, size = hashlib.blake2b(digest_size=32), 0
        for part in _stored(c):
            own.update(part.data)
            digest.update(part.data)
            out.write(part.data)
            size += part.nbytes
        place = known.setdefault((size, own.digest()), at)
        places.append((place, size))
        if place == at:
            end = at + size
        else:
            digest = before
            out.seek(start + end)
            out.truncate()
    return end, digest.digest(), tuple(places)


def _stored(c: Constant) -> Iterator[NDArray[np.uint8]]:
    """The bytes of a constant, in bands."""
    plain = c.layout == "strided" and c.format == "plain"
    if plain and DTYPES[c.dtype].is_narrow:
        yield to_stored(c.array, c.dtype)  # a band may end within a byte
        return
    for band in bands(c.elements):
        if plain:
            yield to_stored(band, c.dtype)
        else:
            yield np.ascontiguousarray(band).reshape(-1).view(np.uint8)


def _segment(out: BinaryIO, kind: Segment, body: bytes) -> Entry:
    """Pads `out` to the segment's alignment and writes it."""
    here = out.tell()
    start = _align(here, ALIGN)
    out.write(bytes(start - here))
    out.write(body)
    return Entry(kind, start, len(body), hashlib.blake2s(body).digest())


def _header(out: BinaryIO, entries: Sequence[Entry], total: int) -> None:
    table = b"".join(
        struct.pack(
            ENTRY.letters,
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
    said = (MAGIC, FORMAT_VERSION, len(entries), total, SCHEMA_HASH)
    front = struct.pack(HEADER.letters, *said, bytes(32))[:-32]
    out.seek(0)
    out.write(front + hashlib.blake2s(front + table).digest() + table)
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
        "activations": builder.CreateString(program.activations),
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
