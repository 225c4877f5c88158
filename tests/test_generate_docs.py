"""docs/generate.md, from top to bottom: its Python in one process, its commands as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from fuzz.decoders import gguf_of_text

from pteron.cli import main

DOC = Path(__file__).resolve().parent.parent / "docs" / "generate.md"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    Path("SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(gguf_of_text())  # a smaller one
    names: dict[str, Any] = {}
    ran = 0
    for kind, text in re.findall(r"```(python|console)\n(.*?)```", DOC.read_text(), re.S):
        ran += 1
        if kind == "python":
            exec(compile(text, str(DOC), "exec"), names)
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words[:2] == ["$", "pteron"], line
            assert main(words[2:]) == 0, line
    assert ran == 6 and Path("decoder.pte").exists()
