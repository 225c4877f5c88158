"""docs/onnx.md is what lowering does today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_page_is_as_it_would_be_written() -> None:
    """In a process of its own: the cases that come with ONNX are counted as they are imported."""
    script = Path(__file__).with_name("onnx_map.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
