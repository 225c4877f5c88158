"""The header that all delegates share: what Python writes, C reads."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from pteron.export.delegates.payload import ALIGN, Kind, Payload, read, write
from pteron.schema.errors import DelegateError

SECTIONS = {7: b"first", 2: bytes(300), 3: b""}


class _Payload(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("section_count", ctypes.c_uint32),
    ]


class _Section(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint64)]


@pytest.fixture(scope="module")
def reader(root: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    library = tmp_path_factory.mktemp("payload") / "payload.so"
    subprocess.run(
        [
            *("cc", "-std=c11", "-shared", "-fPIC", f"-I{root}/runtime_c"),
            *(f"-I{root}/runtime_c/include", f"{root}/runtime_c/delegates/payload.c"),
            *("-o", library),
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


def test_sections_come_back() -> None:
    blob = write(Payload(Kind.VGF, "some-target", SECTIONS))
    assert read(blob) == Payload(Kind.VGF, "some-target", SECTIONS)
    assert write(read(blob)) == blob


def test_c_reads_the_same_sections(reader: ctypes.CDLL) -> None:
    blob = write(Payload(Kind.HEXAGON, "some-target", SECTIONS))
    payload, section = _Payload(), _Section()
    held = ctypes.create_string_buffer(blob, len(blob))
    start = ctypes.addressof(held)
    error = ctypes.create_string_buffer(512)
    arguments = (held, ctypes.c_size_t(len(blob)), int(Kind.HEXAGON), b"some-target")
    assert reader.pte_payload_read(*arguments, ctypes.byref(payload), error) == 0
    assert payload.section_count == len(SECTIONS)
    for kind, data in SECTIONS.items():
        assert (
            reader.pte_payload_find(ctypes.byref(payload), kind, ctypes.byref(section), error) == 0
        )
        assert (section.data - start) % ALIGN == 0
        assert ctypes.string_at(section.data, section.size) == data


@pytest.mark.parametrize("cut", [0, 63, 100, 400])
def test_cut_blobs_are_refused(cut: int) -> None:
    with pytest.raises(DelegateError, match="payload"):
        read(write(Payload(Kind.VGF, "some-target", SECTIONS))[:cut])


def test_a_long_target_is_refused() -> None:
    with pytest.raises(ValueError, match="31 bytes"):
        write(Payload(Kind.VGF, "x" * 32, {}))
