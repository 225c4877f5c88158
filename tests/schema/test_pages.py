"""The pages in docs/ against what they speak of: a real file, the folders, the rows."""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
from pathlib import Path

import pytest
from program import samples

from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.plan import plan
from pteron.schema import layout
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/format.md").read_text()
NUMBERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def drawn(what: str) -> dict[str, tuple[int, int]]:
    """Field -> the first two numbers of its row in the page's table: offset and size, or field and place in the vtable."""
    start = PAGE.index(f"<!-- schema/gen: {what} -->")
    text = PAGE[start : PAGE.index("<!-- end -->", start)]
    rows = re.findall(r"^\| (\d+) \| (\d+) \| `(\w+)` \|", text, flags=re.M)
    assert rows, what
    return {name: (int(a), int(b)) for a, b, name in rows}


def size(what: str) -> int:
    return max(offset + size for offset, size in drawn(f"struct {what}").values())


def field(data: bytes, at: int, place: tuple[int, int]) -> int | bytes:
    offset, size = place
    raw = data[at + offset : at + offset + size]
    return struct.unpack("<" + NUMBERS[size], raw)[0] if size in NUMBERS else raw


def vector(data: bytes, place: int) -> tuple[int, int]:
    """Position and count of a vector of the root table, by what the page says of FlatBuffers."""
    (root,) = struct.unpack_from("<I", data, 0)
    (back,) = struct.unpack_from("<i", data, root)
    (offset,) = struct.unpack_from("<H", data, root - back + place)
    at = root + offset + struct.unpack_from("<I", data, root + offset)[0]
    return at + 4, struct.unpack_from("<I", data, at)[0]


@pytest.mark.parametrize("name", list(samples.SAMPLES)[:4])
def test_a_file_is_what_the_page_draws(name: str) -> None:
    planned = plan(samples.SAMPLES[name]())
    data = emit_bytes(planned)
    header, entry = drawn("struct Header"), drawn("struct Entry")
    assert (
        data[:8].hex(" ").upper() == re.findall(r"magic`.*?((?:[0-9A-F]{2} ?){8})", PAGE)[0].strip()
    )
    assert field(data, 0, header["version"]) == 0
    assert field(data, 0, header["file_bytes"]) == len(data)
    count = field(data, 0, header["segment_count"])
    assert isinstance(count, int)
    front, end = size("Header"), size("Header") + count * size("Entry")
    assert field(data, 0, header["digest"]) == hashlib.blake2s(data[:32] + data[front:end]).digest()
    kinds, bodies, last = [], {}, end
    for at in range(front, end, size("Entry")):
        row = {name: field(data, at, place) for name, place in entry.items()}
        start, length = row["offset"], row["size"]
        assert isinstance(start, int) and isinstance(length, int)
        step = 16384 if row["kind"] == layout.Segment.CONSTANTS and length > 16384 else 64
        assert start == -(-last // step) * step and not any(data[last:start])
        body, last = data[start : start + length], start + length
        assert hashlib.blake2s(body).digest() == row["digest"] and row["zero"] == 0
        kinds.append(row["kind"])
        bodies[row["kind"]] = body
    assert last == len(data) and kinds == sorted(kinds, key=[1, 2, 4, 3, 5].index)
    values_are_what_the_page_draws(bodies[layout.Segment.PROGRAM], data)


def values_are_what_the_page_draws(body: bytes, data: bytes) -> None:
    program = read(data)
    value = drawn("struct Value")
    at, count = vector(body, drawn("table Program")["values"][1])
    assert count == len(program.values) and body[4:8] == b"PTE1"
    for i, expected in enumerate(program.values):
        got = {name: field(body, at + i * size("Value"), place) for name, place in value.items()}
        assert layout.DType(int(got["dtype"])).name.lower() == expected.dtype
        assert layout.Storage(int(got["storage"])).name.lower() == expected.storage
        assert got["rank"] == len(expected.shape)


def test_every_struct_enum_and_table_of_the_file_is_drawn() -> None:
    marks = set(re.findall(r"<!-- schema/gen: (?:struct|enum|table) (\w+) -->", PAGE))
    enums = {
        "Segment",
        "Storage",
        "Layout",
        "ExprOp",
        "DimKind",
        "StateRole",
        "CheckKind",
        "Policy",
    }
    fbs = (ROOT / "schema/text.fbs").read_text()
    of_text = set(re.findall(r"^(?:enum|struct|table) (\w+)", fbs, re.MULTILINE))
    assert marks == {*layout.STRUCTS, *layout.TABLES, *enums, *of_text}
    for name, row in layout.STRUCTS.items():
        assert size(name) == row.bytes


PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"})
"""The changelog speaks of what was."""
TOPS = {"schema", "export", "quantize", "runtime_c", "bindings", "tests", "docs", "examples", "benchmarks"}  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_path_that_a_page_names_is_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for name in re.findall(r"`([\w./*<>{},-]+)`", text) + re.findall(r"\]\(([\w./-]+)\)", text):
        if "<" in name or "{" in name or name.split("/")[0] not in TOPS or "/" not in name:
            continue
        found = list(ROOT.glob(name.rstrip("/"))) or list(page.parent.glob(name.rstrip("/")))
        assert found or name.startswith(("docs/adr/00", "examples/digits/")), f"{page.name}: {name}"


def test_pages_and_comments_stand_on_their_own() -> None:
    done = subprocess.run(
        ["git", "grep", "-nE", "DESIGN(\\.md)? +section|STYLE(\\.md)? +section", "--", ".", ":!tests/schema"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert not done.stdout


@pytest.mark.parametrize("name", [name for name in OPS if name not in CONTROL])
def test_the_family_of_a_row_is_the_folder_of_its_kernel(name: str) -> None:
    family = OPS[name].meaning.__module__.rsplit("ops_", 1)[-1]
    assert (ROOT / f"runtime_c/kernels/{family}/{name}.c").is_file(), family
