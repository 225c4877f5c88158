"""Bent text segments under sanitizers: every prefix is refused, every change refused or clean. `make tokenizers` tries more."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pteron.export.text import from_file

pytest.importorskip("tokenizers")

from tokenizing.compare import save
from tokenizing.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("core/error.c", "core/arena.c", "core/sized.c", "program/header.c", "program/blake2s.c")
FLAGS = ("-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def hostile(folder: Path) -> Path:
    """tests/tokenizing/hostile.c, built."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    runtime, out = ROOT / "runtime_c", folder / "hostile"
    sources = [ROOT / "tests/tokenizing/hostile.c", *sorted(runtime.glob("tokenizer/*.c"))]
    sources += [runtime / name for name in SOURCES]
    command = [cc, *FLAGS, f"-I{runtime}", f"-I{runtime}/include", *sources, "-o", out]
    subprocess.run([*map(str, command)], check=True)
    return out


def tried(program: Path, kind: str, folder: Path, count: int, seed: int) -> str:
    found = from_file(save(KINDS[kind](), folder / "t.json"))
    assert found.segment is not None, found.reason
    (folder / "segment").write_bytes(found.segment)
    command = [program, folder / "segment", str(count), str(seed)]
    ran = subprocess.run(
        [*map(str, command)], env={"ASAN_OPTIONS": "detect_leaks=0"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_bent_segments_are_refused_or_clean(tmp_path: Path) -> None:
    program = hostile(tmp_path)
    for kind in ("qwen-2", "llama-2", "unigram-lower", "bert"):
        assert "300 mutations" in tried(program, kind, tmp_path, 300, 1)
