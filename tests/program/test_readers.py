"""Some of the bent files that `make fuzz-readers` makes for every Python reader (tests/fuzz/readers.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fuzz"))
import readers  # type: ignore[import-not-found]

COUNTS = {"onnx": 6, "gguf": 60, "safetensors": 60}


@pytest.mark.parametrize("name", [name for name in readers.READERS if name != "pt2"])
def test_bent_files_end_in_one_line(name: str) -> None:
    done, found = readers.run(
        name,
        COUNTS.get(name, 40),
        seed=7,
        bombs_too=name in ("gguf", "safetensors", "recipe", "ranges", "profile", "tokenizer"),
    )
    assert done
    assert not found
