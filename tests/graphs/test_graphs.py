"""Random small ONNX graphs: the reference's numbers, or an error of Pteron's that names a node; never a traceback, never a
file that does not load, prepare and run. `python -m graphs.many SEED COUNT` (in tests/) tries more of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
CHUNK = 50


@pytest.mark.parametrize("first", range(0, 6 * CHUNK, CHUNK))
def test_random_graphs_agree_or_are_refused_by_name(first: int) -> None:
    """In a process of its own: a crash of the runtime is a failure that names the graph."""
    command = [sys.executable, "-m", "graphs.many", "--chunk", str(first), str(CHUNK)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, f"{lines[-1:]} ended the process: {done.stderr[-2000:]}"
    results = [r for r in lines if "kind" in r]
    assert len(results) == CHUNK
    bad = [r for r in results if r.get("defect") or r["kind"] == "generator"]
    assert not bad, "\n".join(f"--show {r['seed']}: {r['kind']}: {r['text']}" for r in bad)
    assert sum(r["kind"] == "same" for r in results) > CHUNK // 2
