"""The generator: program.fbs as flatc understands it, generated files up to date, one fact once."""

from __future__ import annotations

import dataclasses
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest
from program import op_samples, samples

from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.schema import layout
from pteron.schema.dtypes import DTYPES
from pteron.schema.gen import fbs
from pteron.schema.ops import OPS
from pteron.schema.signature import pack_attrs, signature

ROOT = Path(__file__).resolve().parent.parent.parent


def program_segment(data: bytes) -> bytes:
    for i in range(struct.unpack_from("<I", data, 12)[0]):
        kind, _, offset, size = struct.unpack_from("<IIQQ", data, 64 + 64 * i)
        if kind == layout.Segment.PROGRAM:
            return data[offset : offset + size]
    raise AssertionError("no PROGRAM")


def flat(name: str, row: dict[str, Any], prefix: str = "") -> list[int]:
    """A struct as flatc writes it in JSON, as the numbers that `Struct.letters` unpack."""
    out: list[int] = []
    for field, value in row.items():
        if isinstance(value, dict):
            out += flat(name, value, f"{prefix}{field}_")
        elif not isinstance(value, list):
            out.append(number(name, field, value))
    return out


ENUMS = {
    ("Value", "dtype"): layout.DType, ("Value", "storage"): layout.Storage, ("Value", "layout"): layout.Layout,
    ("Constant", "dtype"): layout.DType, ("Constant", "layout"): layout.Layout,
    ("Expr", "op"): layout.ExprOp, ("Dim", "kind"): layout.DimKind, ("State", "role"): layout.StateRole, ("Check", "kind"): layout.CheckKind,
}  # fmt: skip


def number(struct_name: str, field: str, value: Any) -> int:
    return int(ENUMS[struct_name, field][value] if isinstance(value, str) else value)


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_flatc_reads_what_emit_writes(name: str, tmp_path: Path) -> None:
    flatc = shutil.which("flatc")
    if flatc is None:
        pytest.skip("no flatc (Debian: flatbuffers-compiler)")
    data = program_segment(emit_bytes(plan(samples.SAMPLES[name]())))
    (tmp_path / "program.bin").write_bytes(data)
    command = [flatc, "--json", "--strict-json", "--defaults-json", "--raw-binary"]
    schema = str(ROOT / "schema/program.fbs")
    subprocess.run(
        [*command, "-o", str(tmp_path), schema, "--", str(tmp_path / "program.bin")], check=True
    )
    read = json.loads((tmp_path / "program.json").read_text())
    assert list(read) == list(layout.TABLES["Program"])
    for field, kind in layout.TABLES["Program"].items():
        packing = layout.STRUCTS.get(kind[1:-1])
        if packing is None:
            continue
        rows = [struct.pack(packing.letters, *flat(kind[1:-1], row)) for row in read[field]]
        assert b"".join(rows) in data, field


def test_generated_files_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "schema/gen"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_padded_struct_is_refused() -> None:
    text = 'struct S { a:ubyte; b:uint; } file_identifier "PTE1";'
    with pytest.raises(ValueError, match=r"struct S\.b: offset 1 would be padded"):
        fbs.parse(text)


def test_what_is_not_understood_is_refused() -> None:
    with pytest.raises(ValueError, match="not understood: union U"):
        fbs.parse('union U { A, B } file_identifier "PTE1";')


def test_what_steps_store_is_never_absent() -> None:
    def stepped(x: A, *, steps: Steps = ()) -> A | None:  # type: ignore[name-defined]  # noqa: F821
        return x

    row = dataclasses.replace(OPS["pointwise"], name="stepped", meaning=stepped)
    with pytest.raises(ValueError, match="op stepped: steps store every output"):
        signature(row)


def test_every_operator_has_a_sample_program() -> None:
    assert op_samples.missing() == set()


def test_attributes_are_packed_by_name_with_defaults() -> None:
    data = pack_attrs(signature(OPS["topk"]), {})
    assert struct.unpack("<II", data) == (8, 1)
    data = pack_attrs(signature(OPS["reduce"]), {"kind": "max", "count": 3})
    assert struct.unpack("<IIq", data) == (16, 2, 3)


def test_attributes_that_are_missing_or_unknown_are_named() -> None:
    with pytest.raises(ValueError, match="attribute count: expected a value"):
        pack_attrs(signature(OPS["reduce"]), {"kind": "max"})
    with pytest.raises(ValueError, match=r"attributes \['axis'\]: expected one of"):
        pack_attrs(signature(OPS["reduce"]), {"axis": 1})
    with pytest.raises(ValueError, match="attribute kind: expected one of"):
        pack_attrs(signature(OPS["reduce"]), {"kind": "median", "count": 1})


def test_element_types_have_the_numbers_of_the_file_and_the_bits_of_onnx() -> None:
    words = fbs.parse((ROOT / "schema/program.fbs").read_text()).enums["DType"].values
    assert [(row.name, row.id) for row in DTYPES.values()] == [(w.lower(), n) for w, n in words]
    for row in DTYPES.values():
        kind = ir.DataType(row.onnx)
        assert kind.numpy() == row.numpy and row.bits == (
            8 if row.name == "bool" else kind.bitwidth
        )
