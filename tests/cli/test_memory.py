"""The peak that `pteron bench` tells is this program's own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pteron.cli import memory

HELD = 256 << 20


def test_a_parent_does_not_count() -> None:
    code = "from pteron.cli.memory import peak_bytes; print(peak_bytes())"
    held = bytearray(HELD)
    held[::4096] = b"\1" * len(held[::4096])
    child = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    mine = memory.peak_bytes()
    assert mine is not None and mine > HELD > int(child.stdout) > 1 << 20


def test_without_a_way_to_know_bench_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(memory, "STATUS", tmp_path / "none")
    own = memory.peak_bytes()
    assert own is not None and own > 1 << 20
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.peak_bytes() is None
