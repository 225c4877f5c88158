"""The int8 digit classifier on the DSP: one segment, the bytes of the CPU; and what doctor says where a tool is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.export.delegates import hexagon
from pteron.runtime import delegates as runtime

BATCH = 8


@pytest.fixture(scope="module")
def images(root: Path) -> np.ndarray:
    return np.load(root / "examples/digits/test.npz")["image"].astype(np.float32) / 16


@pytest.fixture(scope="module")
def program(root: Path, images: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = {d.name: d for d in runtime.known()}["hexagon"]
    reason = here.refusal(hexagon.DELEGATE.target)
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("digits")
    samples, out = folder / "samples.npz", folder / "digits.pte"
    np.savez(samples, image=images[:64])
    report = pteron.export_model(
        root / "examples/digits/digits.onnx",
        out,
        quantize="int8",
        calibrate=samples,
        fix={"batch": BATCH},
        delegates=["hexagon", "cpu"],
    )
    on_dsp = [p for p in report.placements if p.delegate == "hexagon"]
    assert {p.reason for p in on_dsp} == {"segment 0"}
    kinds = {"Conv", "Add", "MaxPool", "AveragePool", "Reshape", "Linear"}
    assert {p.op_type for p in on_dsp} == kinds
    left = {p.op_type for p in report.placements if p.delegate == "cpu"}
    assert left == {"QuantizeLinear", "DequantizeLinear"}
    return out


def logits(program: Path, images: np.ndarray, **settings: object) -> np.ndarray:
    model = pteron.load(program, **settings)  # type: ignore[arg-type]
    assert all(p.placed for p in model.placements) == (settings.get("delegates") != ())
    parts = [np.array(model(images[i : i + BATCH])) for i in range(0, len(images), BATCH)]
    return np.concatenate(parts)


@pytest.mark.filterwarnings("ignore::pteron.PlacementWarning")
def test_all_images_give_the_bytes_of_every_cpu_variant(program: Path, images: np.ndarray) -> None:
    y = logits(program, images)
    for threads, cpu in ((1, None), (2, None), (1, 0)):
        on_cpu = logits(program, images, delegates=(), threads=threads, cpu=cpu)
        assert y.tobytes() == on_cpu.tobytes()


def test_int8_on_the_dsp_knows_the_digits(root: Path, program: Path, images: np.ndarray) -> None:
    labels = np.load(root / "examples/digits/test.npz")["label"]
    right = (logits(program, images).argmax(1) == labels).mean()
    print(f"accuracy {right:.4f}")
    assert right > 0.95


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_fifty_models_leave_no_file_open(program: Path, images: np.ndarray) -> None:
    logits(program, images[:BATCH])
    before = open_files()
    for _ in range(50):
        logits(program, images[:BATCH])
    assert open_files() == before


def dsp() -> int:
    """The one process that this one has started."""
    tasks = Path("/proc/self/task").iterdir()
    (child,) = [c for task in tasks for c in (task / "children").read_text().split()]
    return int(child)


def test_a_dsp_killed_in_the_middle_of_a_call_leaves_the_work_to_the_cpu(
    program: Path, images: np.ndarray
) -> None:
    model = pteron.load(program)
    want = np.array(model(images[:BATCH]))
    process = dsp()
    os.kill(process, signal.SIGSTOP)  # the call that follows is under way until the kill
    timer = threading.Timer(0.2, os.kill, (process, signal.SIGKILL))
    timer.start()
    with pytest.warns(pteron.PlacementWarning, match=r"died in the middle of a call \(signal 9\)"):
        y = np.array(model(images[:BATCH]))
    timer.join()
    assert y.tobytes() == want.tobytes()
    assert not any(p.placed for p in model.placements)
    assert not Path(f"/proc/{process}").exists()


ABSENT_IMAGE = {
    "PTERON_HEXAGON_EMULATOR": sys.executable,
    "PTERON_HEXAGON_IMAGE": "/nowhere/image.elf",
}


@pytest.mark.parametrize(
    "environment, said",
    [
        ({"PATH": "/nowhere"}, "apt-get install qemu-user"),
        (ABSENT_IMAGE, "expected an executable, got /nowhere/image.elf"),
    ],
)
def test_doctor_says_what_is_missing(environment: dict[str, str], said: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "pteron"), "doctor", "--json"],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=True,
    )
    rows = {row["what"].strip(): row for row in json.loads(done.stdout)["checks"]}
    assert not rows["hexagon: run"]["ok"] and said in rows["hexagon: run"]["detail"]
