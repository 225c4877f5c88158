"""The C reader of FlatBuffers against the `flatbuffers` package: what Python builds, C reads as Python reads it."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import flatbuffers
import pytest
from flatbuffers import number_types
from flatbuffers.table import Table
from program import samples

from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.schema.layout import STRUCTS, TABLES, Segment

ROOT = Path(__file__).resolve().parent.parent.parent
SCALARS = {"uint": 4, "ulong": 8, "ubyte": 1, "ushort": 2, "long": 8}
FLAGS = ["-std=c11", "-g", "-D_POSIX_C_SOURCE=200809L", "-fsanitize=address,undefined"]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program that prints all it reads."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("dump") / "dump"
    sources = ["tests/program/dump.c", "runtime_c/program/flatbuf.c", "runtime_c/gen/layout.c"]
    sources += ["runtime_c/core/error.c"]
    paths = [str(ROOT / s) for s in sources]
    subprocess.run(
        [cc, *FLAGS, f"-I{ROOT}/runtime_c", f"-I{ROOT}/runtime_c/include", *paths, "-o", str(out)],
        check=True,
    )
    return out


def run(dump: Path, folder: Path, data: bytes, table: str) -> tuple[int, str]:
    path = folder / "buffer"
    path.write_bytes(data)
    done = subprocess.run([str(dump), str(path), table], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, done.stdout


def segments(data: bytes) -> list[tuple[int, bytes]]:
    """(kind, bytes) of each segment."""
    out = []
    for i in range(struct.unpack_from("<I", data, 12)[0]):
        kind, _, offset, size = struct.unpack_from("<IIQQ", data, 64 + 64 * i)
        out.append((kind, data[offset : offset + size]))
    return out


def read(table: Table, name: str) -> str:
    """All fields of `table`, by the package's own reader, in dump's words."""
    out = ""
    for number, (field, kind) in enumerate(TABLES[name].items()):
        offset = table.Offset(4 + 2 * number)
        out += f"{field}={_field(table, kind, offset)};"
    return out


def _field(table: Table, kind: str, offset: int) -> str:
    if kind in SCALARS:
        raw = bytes(table.Bytes[table.Pos + offset :][: SCALARS[kind]]) if offset else b""
        return str(int.from_bytes(raw, "little"))
    if kind == "string":
        return table.String(table.Pos + offset).hex() if offset else ""
    count = table.VectorLen(offset) if offset else 0
    first = table.Vector(offset) if offset else 0
    element = kind[1:-1]
    if element == "string":
        return f"{count}:" + "".join(table.String(first + 4 * i).hex() + "," for i in range(count))
    if element in TABLES:
        inner = [Table(table.Bytes, table.Indirect(first + 4 * i)) for i in range(count)]
        return f"{count}:" + "".join(read(t, element) + "," for t in inner)
    size = STRUCTS[element].bytes if element in STRUCTS else SCALARS[element]
    return f"{count}:" + bytes(table.Bytes[first : first + size * count]).hex()


def root_of(data: bytes) -> Table:
    start = flatbuffers.encode.Get(number_types.UOffsetTFlags.packer_type, data, 0)
    return Table(bytearray(data), start)


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_c_reads_what_python_reads(name: str, dump: Path, tmp_path: Path) -> None:
    names = {Segment.MANIFEST: "Manifest", Segment.PROGRAM: "Program", Segment.DEBUG: "Debug"}
    data = emit_bytes(plan(samples.SAMPLES[name]()))
    seen = set()
    for kind, body in segments(data):
        if kind in names:
            seen.add(kind)
            assert run(dump, tmp_path, body, names[kind]) == (0, read(root_of(body), names[kind]))
    assert seen == set(names)


def test_absent_fields_read_as_nothing(dump: Path, tmp_path: Path) -> None:
    builder = flatbuffers.Builder(64)
    name = builder.CreateString("only a name")
    builder.StartObject(3)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    node = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(node)
    nodes = builder.EndVector()
    builder.StartVector(4, 0, 4)
    names = builder.EndVector()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, nodes, 0)
    builder.PrependUOffsetTRelativeSlot(1, names, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"PTE1")
    text = f"nodes=1:name={b'only a name'.hex()};op_type=;source=;,;value_names=0:;placements=0:;"
    assert run(dump, tmp_path, bytes(builder.Output()), "Debug") == (0, text)


def test_an_absent_required_field_is_named(dump: Path, tmp_path: Path) -> None:
    builder = flatbuffers.Builder(64)
    builder.StartObject(2)
    builder.Finish(builder.EndObject(), file_identifier=b"PTE1")
    code, text = run(dump, tmp_path, bytes(builder.Output()), "Debug")
    assert code == 1
    assert text.startswith("file: Debug.nodes: required, but absent")


def test_every_prefix_of_a_buffer_is_refused(dump: Path, tmp_path: Path) -> None:
    data = emit_bytes(plan(samples.pointwise()))
    manifest = next(body for kind, body in segments(data) if kind == Segment.MANIFEST)
    for size in range(0, len(manifest) - 8, 5):
        code, text = run(dump, tmp_path, manifest[:size], "Manifest")
        assert code == 1, size
        assert text.startswith("file: ")
