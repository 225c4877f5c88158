"""The bytes of a .pte file -> Program: the reverse of emit, for inspect, diff and tests.

Strict: whatever emit would not have written is refused. Constants are arrays inside the bytes given, without a copy.
"""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import from_stored, stored_bytes
from pteron.schema.errors import ProgramError
from pteron.schema.formats import FORMATS
from pteron.schema.layout import (
    SCHEMA_HASH,
    STRUCTS,
    CheckKind,
    DimKind,
    DType,
    ExprOp,
    Layout,
    Segment,
    StateRole,
    Storage,
)
from pteron.schema.ops import OPS
from pteron.schema.policies import POLICIES
from pteron.schema.signature import KINDS, Attr, signature
from pteron.schema.steps import STEPS, TYPES, Step

from ..program import (
    Block,
    Constant,
    DebugNode,
    Delegate,
    Instr,
    Memory,
    Method,
    Placement,
    Port,
    Program,
    State,
    Value,
)
from ..sizes import NONE, Check, Dim, Extent
from ..sizes.expressions import symbol, to_sympy
from .emit import (
    ENTRY,
    EXTERNAL,
    FORMAT_VERSION,
    HEADER,
    MAGIC,
    Entry,
)
from .flat import read_table
from .tables import literal_value

FORMAT_NAMES: Final = {(f.id, f.exponent): name for name, f in FORMATS.items()}
OP_NAMES: Final = {row.id: name for name, row in OPS.items()}
STEP_NAMES: Final = {row.id: name for name, row in STEPS.items()}
EXECUTORCH: Final = (b"ET12", b"ET13")


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file's parts: segments by position, the manifest as read."""

    entries: tuple[Entry, ...]
    manifest: dict[str, Any]


def read(data: bytes, externals: Mapping[str, bytes] | None = None) -> Program:
    """The program in `data`; `externals` holds constants kept in files of their own, by name.

    Raises:
        ProgramError: the bytes are not a program of this version; the text says where.
    """
    file = read_file(data)
    bodies = [_body(data, e, file.manifest, externals or {}) for e in file.entries]
    tables = read_table(bytes(bodies[1]), "Program")
    debug: dict[str, Any] = {"nodes": [], "value_names": [], "placements": []}
    if file.entries[-1].kind is Segment.DEBUG:
        debug = read_table(bytes(bodies[-1]), "Debug")
    try:
        program = _Reader(tables, bodies, debug).program(file.manifest)
    except (IndexError, KeyError, ValueError, struct.error) as error:
        raise ProgramError(
            f"program: expected tables that refer to each other, got {error!r}"
        ) from error
    kinds = [e.kind for e in file.entries]
    if Segment.TEXT not in kinds:
        return program
    return dataclasses.replace(program, text=bytes(bodies[kinds.index(Segment.TEXT)]))


def read_file(data: bytes) -> File:
    """Header, segment table and manifest, digests checked.

    Raises:
        ProgramError: as for `read`.
    """
    if data[4:8] in EXECUTORCH:
        raise ProgramError(
            "header: expected a Pteron program, got one of ExecuTorch; it needs ExecuTorch's runtime"
        )
    if len(data) < HEADER.bytes or data[:8] != MAGIC:
        raise ProgramError(
            f"header: expected the magic bytes {MAGIC!r}, got {data[:8]!r}; not a .pte of Pteron"
        )
    _, version, count, total, schema, digest = struct.unpack_from(HEADER.letters, data)
    if version != FORMAT_VERSION or schema != SCHEMA_HASH:
        raise ProgramError(
            f"header: expected format {FORMAT_VERSION} of schema {SCHEMA_HASH.hex()}, "
            f"got {version} of {schema.hex()}; export the model again"
        )
    end = HEADER.bytes + ENTRY.bytes * count
    if count > 4096 or total != len(data) or end > len(data):
        raise ProgramError(
            f"header: expected {total} bytes with {count} segments, got {len(data)} bytes"
        )
    if hashlib.blake2s(data[: HEADER.bytes - 32] + data[HEADER.bytes : end]).digest() != digest:
        raise ProgramError("header: digest differs; the file is damaged")
    entries = tuple(_entry(data, HEADER.bytes + ENTRY.bytes * i, len(data)) for i in range(count))
    kinds = [e.kind for e in entries]
    if kinds[:2] != [Segment.MANIFEST, Segment.PROGRAM] or kinds != sorted(kinds, key=_place):
        raise ProgramError(
            f"segments: expected manifest, program, blobs, text, constants, debug, got {kinds}"
        )
    manifest = entries[0]
    body = _inside(data, manifest)
    return File(entries, read_table(bytes(body), "Manifest"))


def _place(kind: Segment) -> int:
    return [
        Segment.MANIFEST,
        Segment.PROGRAM,
        Segment.BLOB,
        Segment.TEXT,
        Segment.CONSTANTS,
        Segment.DEBUG,
    ].index(kind)


def _entry(data: bytes, at: int, total: int) -> Entry:
    kind, flags, offset, size, digest, external, _ = struct.unpack_from(ENTRY.letters, data, at)
    if flags & EXTERNAL:
        return Entry(Segment(kind), offset, size, digest, external)
    if offset % 64 or offset + size > total:
        raise ProgramError(
            f"segment at {at}: expected a multiple of 64 inside {total}, got {offset} + {size}"
        )
    return Entry(Segment(kind), offset, size, digest)


def _inside(data: bytes, e: Entry) -> memoryview:
    body = memoryview(data)[e.offset : e.offset + e.size]
    if hashlib.blake2s(body).digest() != e.digest:
        raise ProgramError(f"segment {e.kind.name}: digest differs; the file is damaged")
    return body


def _body(
    data: bytes, e: Entry, manifest: Mapping[str, Any], externals: Mapping[str, bytes]
) -> memoryview:
    if e.external == NONE:
        return _inside(data, e)
    name = manifest["externals"][e.external]
    if name not in externals:
        raise ProgramError(
            f"segment {e.kind.name}: expected the file {name} beside the program; pass its bytes"
        )
    return _inside(externals[name], dataclasses.replace(e, external=NONE))


class _Reader:
    """The tables, and what they refer to."""

    def __init__(
        self, tables: Mapping[str, Any], bodies: Sequence[memoryview], debug: Mapping[str, Any]
    ) -> None:
        self.t = tables
        self.bodies = bodies
        self.debug = debug
        self.attr_bytes = struct.pack(f"<{len(tables['attrs'])}Q", *tables["attrs"])
        exprs = [(value, a, b, ExprOp(op)) for value, a, b, op in tables["exprs"]]
        dims = [Dim(tables["strings"][r["name"]], min=r["min"]) for r in self.rows("dims", "Dim")]
        self.exprs = to_sympy(exprs, [symbol(d) for d in dims])

    def rows(self, field: str, struct_name: str) -> list[dict[str, Any]]:
        names = STRUCTS[struct_name].fields
        return [dict(zip(names, row, strict=True)) for row in self.t[field]]

    def program(self, manifest: Mapping[str, Any]) -> Program:
        s = self.t["strings"]
        return Program(
            model=manifest["model"],
            dims=tuple(self.dim(r) for r in self.rows("dims", "Dim")),
            checks=tuple(
                Check(
                    CheckKind(r["kind"]).name.lower(),
                    self.exprs[r["a"]],
                    self.exprs[r["b"]],
                    s[r["text"]],
                )
                for r in self.rows("checks", "Check")
            ),
            constants=tuple(self.constant(r) for r in self.rows("constants", "Constant")),
            states=tuple(self.state(r) for r in self.rows("states", "State")),
            values=tuple(self.value(i, r) for i, r in enumerate(self.rows("values", "Value"))),
            blocks=tuple(self.block(r) for r in self.rows("blocks", "Block")),
            methods=tuple(self.method(r) for r in self.rows("methods", "Method")),
            delegates=tuple(self.delegate(r) for r in self.rows("delegates", "Delegate")),
            nodes=tuple(DebugNode(**n) for n in self.debug["nodes"]),
            activations=manifest["activations"],
            placements=tuple(_placements(self.debug["placements"])),
            memory=tuple(Memory(*row[2:]) for row in manifest["memory"]),
        )

    def refs(self, start: int, count: int) -> list[int]:
        if start + count > len(self.t["refs"]):
            raise ProgramError(f"refs {start} + {count}: expected at most {len(self.t['refs'])}")
        return list(self.t["refs"][start : start + count])

    def values_of(self, start: int, count: int) -> tuple[int | None, ...]:
        return tuple(None if i == NONE else self.index(i) for i in self.refs(start, count))

    def index(self, value: int) -> int:
        if value >= len(self.t["values"]):
            raise ProgramError(f"value {value}: expected one below {len(self.t['values'])}")
        return value

    def extents(self, start: int, count: int) -> tuple[Extent, ...]:
        return tuple(self.exprs[i] for i in self.refs(start, count))

    def dim(self, r: Mapping[str, Any]) -> Dim:
        capacity = None if r["capacity"] == NONE else self.exprs[r["capacity"]]
        kind = DimKind(r["kind"]).name.lower()
        name = self.t["strings"][r["name"]]
        return Dim(name, kind, r["min"], r["max"], r["hint"], r["port"], r["element"], capacity)

    def constant(self, r: Mapping[str, Any]) -> Constant:
        shape = tuple(self.t["ints"][r["shape_start"] : r["shape_start"] + r["shape_count"]])
        dtype, layout = DType(r["dtype"]).name.lower(), Layout(r["layout"]).name.lower()
        segment = np.frombuffer(self.bodies[r["segment"]], np.uint8)
        stored: NDArray[Any] = segment[r["offset"] : r["offset"] + r["size"]]
        format_ = FORMAT_NAMES[r["format"], r["block"]]
        name = self.t["strings"][r["name"]]
        if stored.nbytes != r["size"]:
            raise ProgramError(f"constant {name}: expected {r['size']} bytes, got {stored.nbytes}")
        if layout == "strided" and format_ == "plain":
            if stored.nbytes != stored_bytes(dtype, int(np.prod(shape, dtype=np.int64))):
                raise ProgramError(
                    f"constant {name}: {stored.nbytes} bytes do not hold {dtype} {list(shape)}"
                )
            stored = from_stored(stored, dtype, shape)
        return Constant(name, dtype, shape, stored, layout, format_, r["groups"])

    def state(self, r: Mapping[str, Any]) -> State:
        shape = self.extents(r["shape_start"], r["shape_count"])
        initial = None if r["initial"] == NONE else r["initial"]
        dtype, layout = DType(r["dtype"]).name.lower(), Layout(r["layout"]).name.lower()
        role = StateRole(r["role"]).name.lower()
        return State(
            self.t["strings"][r["name"]], dtype, shape, initial, layout, role, r["axis"], r["reach"]
        )

    def value(self, index: int, r: Mapping[str, Any]) -> Value:
        names = self.debug["value_names"]
        rank = r["rank"]
        return Value(
            name=names[index] if index < len(names) else "",
            dtype=DType(r["dtype"]).name.lower(),
            shape=self.extents(r["shape"], rank),
            storage=Storage(r["storage"]).name.lower(),
            base=0 if r["storage"] == Storage.PARAM else r["base"],
            strides=None if r["strides"] == NONE else self.extents(r["strides"], rank),
            offset=0 if r["offset"] == NONE else self.exprs[r["offset"]],
            above=tuple(self.index(v) for v in self.refs(r["above_start"], r["above_count"])),
            layout=Layout(r["layout"]).name.lower(),
            format=FORMAT_NAMES[r["format"], r["block"]],
            groups=r["groups"],
        )

    def block(self, r: Mapping[str, Any]) -> Block:
        names = STRUCTS["Instr"].fields
        rows = self.t["instrs"][r["instrs_start"] : r["instrs_start"] + r["instrs_count"]]
        instrs = tuple(self.instr(dict(zip(names, row, strict=True))) for row in rows)
        params = tuple(map(self.index, self.refs(r["params_start"], r["params_count"])))
        results = tuple(map(self.index, self.refs(r["results_start"], r["results_count"])))
        return Block(instrs, params, results)

    def method(self, r: Mapping[str, Any]) -> Method:
        def ports(side: str) -> tuple[Port, ...]:
            start, count = r[f"{side}_start"], r[f"{side}_count"]
            return tuple(
                Port(self.t["strings"][n], self.index(v))
                for n, v in self.t["ports"][start : start + count]
            )

        values = (r["values_start"], r["values_start"] + r["values_count"])
        name = self.t["strings"][r["name"]]
        return Method(name, ports("inputs"), ports("outputs"), values, r["block"])

    def delegate(self, r: Mapping[str, Any]) -> Delegate:
        s = self.t["strings"]
        fallback = None if r["fallback"] == NONE else r["fallback"]
        blob = bytes(self.bodies[r["segment"]])
        return Delegate(s[r["name"]], s[r["target"]], blob, fallback, POLICIES[r["policy"]])

    # --- attributes -----------------------------------------------------------------------------------------

    def instr(self, r: Mapping[str, Any]) -> Instr:
        name = OP_NAMES[r["op"]]
        attrs = {} if r["attrs"] == NONE else self.attrs(name, r["attrs"])
        inputs = self.values_of(r["inputs_start"], r["inputs_count"])
        outputs = self.values_of(r["outputs_start"], r["outputs_count"])
        return Instr(name, inputs, outputs, attrs, r["node"])

    def attrs(self, op: str, at: int) -> dict[str, Any]:
        sig = signature(OPS[op])
        data = self.attr_bytes
        (size,) = struct.unpack_from("<I", data, at)
        if at % 8 or size != sig.attrs_bytes or at + size > len(data):
            raise ProgramError(
                f"attributes of {op} at {at}: expected {sig.attrs_bytes} bytes, got {size}"
            )
        out = {}
        for a in sig.attrs:
            words = struct.unpack_from("<" + KINDS[a.kind][0], data, at + a.offset)
            value = self.attr(a, words)
            if value != a.default:
                out[a.name] = value
        return out

    def attr(self, a: Attr, words: Sequence[Any]) -> Any:
        match a.kind:
            case "enum":
                return a.values[words[0]]
            case "ints":
                return tuple(self.t["ints"][words[0] : words[0] + words[1]])
            case "floats":
                ints = self.t["ints"][words[0] : words[0] + words[1]]
                return tuple(struct.unpack("<d", struct.pack("<q", w))[0] for w in ints)
            case "dims":
                return self.extents(words[0], words[1])
            case "steps":
                return self.steps(*words)
            case "bool":
                return bool(words[0])
            case _:
                return words[0]

    def steps(self, start: int, count: int, literals: int, literal_count: int) -> tuple[Step, ...]:
        pool = self.t["literals"][literals : literals + literal_count]
        return tuple(_step(row, pool) for row in self.t["steps"][start : start + count])


def _placements(texts: Sequence[str]) -> Iterator[Placement]:
    for at in range(0, len(texts), 6):
        method, name, op_type, delegate, reason, macs = texts[at : at + 6]
        yield Placement(method, name, op_type, delegate, reason, int(macs))


def _step(row: Sequence[int], literals: Sequence[int]) -> Step:
    op, type_, dst, a, b, c, arg = row
    name, type_name = STEP_NAMES[op], TYPES[type_]
    args = (a, b, c)[: STEPS[name].arity]
    source = TYPES[b] if name == "cast" else ""
    value: int | float | bool | str = arg
    if name == "literal":
        value = literal_value(type_name, literals[arg])
    elif name in ("round", "wrap"):
        value = DType(arg).name.lower()
    return Step(name, type_name, dst, args, source, value)
