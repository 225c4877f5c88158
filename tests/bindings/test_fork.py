"""What a forked child may do with models that its parent opened: run them, alone and with the same bits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pteron.export.delegates import hexagon
from pteron.pipeline import export_model
from pteron.runtime import delegates

HEAD = """
import os, sys, warnings
import numpy as np, pteron

warnings.simplefilter("error")
x = np.random.default_rng(0).random((1, 1, 8, 8), np.float32)

def begin(work):
    "Does work() in a forked child, whose exit is that of an interpreter."
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            text = work()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        sys.exit(0)
    os.close(write)
    return pid, read

def end(pid, read):
    "Its words."
    with open(read) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return text
"""


def said(script: str, *args: object) -> list[str]:
    """What a script says behind HEAD; a process of its own, as threads and forks are of the whole process."""
    words = [sys.executable, "-c", HEAD + script, *map(str, args)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_child_runs_the_parents_model(digits: Path) -> None:
    """Pool, plan and states are there; new sessions and other shapes, too."""
    script = """
model = pteron.load(sys.argv[1], threads=3)
want = model(x)
many = np.repeat(x, 5, axis=0)
def work():
    same = model(x).tobytes() == want.tobytes() == model.session().run({"image": x})["logits"].tobytes()
    return f"{same} {model(many).shape}"
print(end(*begin(work)))
print(model(x).tobytes() == want.tobytes())
"""
    assert said(script, digits) == ["True (5, 10)", "True"]


def test_a_session_that_was_running_is_refused_not_waited_for(digits: Path) -> None:
    script = """
model = pteron.load(sys.argv[1])
model._session._lock.__enter__()  # as a thread has it that runs
work = lambda: f"{model.session().run({'image': x})['logits'].shape} {model(x)}"
print(end(*begin(work)))
"""
    (line,) = said(script, digits)
    assert line.startswith("ArgumentError: session: it was running in process ")


@pytest.mark.skipif(
    {d.name: d for d in delegates.known()}["hexagon"].refusal(hexagon.DELEGATE.target) is not None,
    reason="needs qemu-hexagon and the DSP's image",
)
def test_a_child_leaves_the_parents_dsp_alone(tmp_path: Path) -> None:
    """It starts one of its own: shared memory and messages of one would mix what both run at once."""
    root = Path(__file__).resolve().parents[2] / "examples/digits"
    export_model(
        root / "digits.onnx",
        tmp_path / "dsp.pte",
        quantize="int8",
        calibrate=root / "calibration.npz",
        delegates="hexagon,cpu",
        fix={"batch": 1},
    )
    script = """
model = pteron.load(sys.argv[1])
want, other = model(x).tobytes(), model(1 - x).tobytes()
def runs(x, want):
    right = sum(model(x).tobytes() == want for _ in range(100))
    return f"{right} {all(p.placed for p in model.placements)}"
def work():
    text = runs(1 - x, other)
    model.close()
    return text
started = begin(work)
print(runs(x, want))
print(end(*started), model(x).tobytes() == want)
"""
    assert said(script, tmp_path / "dsp.pte") == ["100 True", "100 True True"]
