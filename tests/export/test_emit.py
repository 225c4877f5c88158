"""Program -> bytes -> Program, the file's layout, and that the same program gives the same bytes."""

from __future__ import annotations

import dataclasses
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sample_programs import everything

from pteron.export.file.emit import emit, emit_bytes
from pteron.export.file.read import read, read_file
from pteron.export.plan import measure
from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.schema.dtypes import DTYPES, from_stored, stored_bytes, to_stored
from pteron.schema.errors import ProgramError


def without_arrays(program: Program) -> Program:
    return dataclasses.replace(program, constants=())


def assert_same(a: Program, b: Program) -> None:
    """`a` has been in a file, which says what `b` takes."""
    memory = tuple(measure(b, i) for i in range(len(b.methods)))
    assert without_arrays(a) == dataclasses.replace(without_arrays(b), memory=memory)
    for x, y in zip(a.constants, b.constants, strict=True):
        assert dataclasses.astuple(x)[:3] == dataclasses.astuple(y)[:3]
        assert (x.layout, x.format) == (y.layout, y.format)
        assert x.array.tobytes() == y.array.tobytes()


def test_read_gives_back_what_was_emitted():
    assert_same(read(emit_bytes(everything())), everything())


def test_emitting_what_was_read_gives_the_same_bytes():
    data = emit_bytes(everything())
    assert emit_bytes(read(data)) == data


def test_two_processes_write_the_same_bytes():
    code = (
        "import hashlib; from sample_programs import everything; from pteron.export.file.emit import emit_bytes; "
        "print(hashlib.sha256(emit_bytes(everything())).hexdigest())"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**env, "PYTHONHASHSEED": seed},
            text=True,
            check=True,
            stdout=-1,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_equal_constants_are_stored_once():
    small = everything()
    twice = dataclasses.replace(small, constants=(*small.constants, small.constants[4]))
    assert len(emit_bytes(twice)) - len(emit_bytes(small)) <= 64


def test_lists_are_shared_as_far_as_a_runtime_walks_them():
    """One weight, one list of attributes and two values for ever so many convolutions: small, and slow to verify."""
    runtime = pytest.importorskip("pteron.runtime", reason="needs the built module pteron._pteron")
    attrs = {"kernel": (3, 3, 3), "stride": (1,) * 3, "dilation": (1,) * 3, "begin": (1,) * 3}
    attrs |= {"end": (1,) * 3, "spread": ()}
    kinds = [("x", "input", ()), ("a", "planned", ()), ("b", "planned", (1,)), ("y", "output", ())]
    values = [Value(n, "f32", (1, 2, 2, 2, 16), k, 0, above=a) for n, k, a in kinds]
    taps = np.zeros((16, 432), np.float32)
    values.append(Value("w", "f32", (16, 432), "constant", 0, layout="panels"))

    def chain(count: int) -> bytes:
        pairs = [(0, 1), *([(1, 2), (2, 1)] * count), (1, 3)]
        made = tuple(Instr("conv", (v, 4, None), (o,), attrs) for v, o in pairs)
        ports = (Port("x", 0),), (Port("y", 3),)
        return emit_bytes(
            Program(
                "chain",
                values=tuple(values),
                blocks=(Block(made),),
                methods=(Method("main", *ports, (0, 5), 0),),
                constants=(
                    Constant("w", "f32", taps.shape, taps.view(np.uint8).reshape(-1), "panels"),
                ),
            )
        )

    for data in (chain(100), chain(1000)):
        assert runtime.load(data, threads=1).run({"x": np.zeros((1, 2, 2, 2, 16), np.float32)})
        assert emit_bytes(read(data)) == data


def test_segments_lie_on_64_bytes_and_large_constants_on_a_page():
    big = Constant("big", "f32", (5000,), np.ones(5000, np.float32))
    data = emit_bytes(dataclasses.replace(everything(), constants=(*everything().constants, big)))
    entries = read_file(data).entries
    assert [e.kind.name for e in entries] == ["MANIFEST", "PROGRAM", "BLOB", "CONSTANTS", "DEBUG"]
    assert all(e.offset % 64 == 0 for e in entries)
    assert entries[3].offset % 16384 == 0
    assert entries[-1].offset + entries[-1].size == len(data)


def test_constants_may_lie_in_a_file_of_their_own(tmp_path: Path):
    emit(everything(), tmp_path / "m.pte", data="m.data")
    data = (tmp_path / "m.pte").read_bytes()
    assert_same(read(data, {"m.data": (tmp_path / "m.data").read_bytes()}), everything())
    with pytest.raises(ProgramError, match=r"m\.data"):
        read(data)


def test_stripped_programs_have_no_names():
    program = read(emit_bytes(everything(), debug=False))
    assert program.nodes == () and {v.name for v in program.values} == {""}


def test_every_prefix_is_refused():
    data = emit_bytes(everything())
    for length in range(0, len(data), 97):
        with pytest.raises(ProgramError):
            read(data[:length])


def test_every_changed_byte_is_refused_or_harmless():
    data = emit_bytes(everything())
    for at in range(0, len(data), 41):
        changed = bytearray(data)
        changed[at] ^= 0x40
        try:
            read(bytes(changed))
        except ProgramError:
            continue
        assert data[at] == 0  # a gap between segments


def test_another_schema_is_refused():
    data = bytearray(emit_bytes(everything()))
    data[24] ^= 1
    with pytest.raises(ProgramError, match="export the model again"):
        read(bytes(data))


def test_a_program_of_executorch_is_named():
    with pytest.raises(ProgramError, match="ExecuTorch"):
        read(struct.pack("<I", 16) + b"ET12" + bytes(100))


def test_an_unknown_dimension_is_refused():
    with pytest.raises(ProgramError, match="one of the dimensions"):
        emit_bytes(dataclasses.replace(everything(), dims=everything().dims[:1]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_come_back_from_their_stored_bytes(dtype: str):
    values = np.array([0, 1, 1, 0, 1], DTYPES[dtype].numpy)
    stored = to_stored(values, dtype)
    assert stored.nbytes == stored_bytes(dtype, 5)
    back = from_stored(stored, dtype, (5,))
    assert back.dtype == values.dtype and back.tobytes() == values.tobytes()


def test_a_narrow_type_has_element_0_in_the_low_bits():
    assert to_stored(np.array([-3, 7], DTYPES["i4"].numpy), "i4").tolist() == [0x7D]
