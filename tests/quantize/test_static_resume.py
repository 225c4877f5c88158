"""Static int8 that is killed and goes on: the bytes of a run that is not."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from passes.static import reference

import pteron
from pteron.export.graph.text import onnx_text
from pteron.quantize.quantize import Calibration, Method, quantize_activations
from pteron.quantize.recipe.file import targeted
from pteron.quantize.recipe.rules import Recipe, recipe
from pteron.quantize.rounding.journal import Journal, journal
from pteron.recording import record

pytestmark = pytest.mark.slow


def network(depth: int = 4, channels: int = 12) -> tuple[ir.Model, dict[str, np.ndarray]]:
    """Convolutions, some of which are equalized, a branch and a classifier; later weights are larger. And samples."""
    rng = np.random.default_rng(0)
    held, lines = {}, []
    for i in range(depth):
        held[f"w{i}"] = (1 + i) * rng.standard_normal((channels, channels, 3, 3)) / 12
        held[f"b{i}"] = rng.standard_normal(channels)
        x = "x" if i == 0 else f"r{i - 1}"
        lines.append(f"c{i} = Conv({x}, w{i}, b{i}, pads=[1, 1, 1, 1]); r{i} = Relu(c{i})")
    held["v"] = rng.standard_normal((channels, 5))
    last = f"s = Add(r0, r{depth - 1}); f = Flatten(GlobalAveragePool(s)); y = MatMul(f, v)"
    constants = {k: np.asarray(v, np.float32) for k, v in held.items()}
    model = onnx_text("; ".join([*lines, last]), x=f"f32[1, {channels}, 10, 10]", **constants)
    x = rng.standard_normal((24, channels, 10, 10)).astype(np.float32)
    return model, {"x": x}


def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    """Ten kills, while it rounds, measures and chooses units for f32; with little memory, which changes no byte either."""
    model, given = network()
    onnx.save(ir.serde.serialize_model(model), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", **given)
    words = "quantize m.onnx --format int8 --calibrate x.npz -q --max-loss 1 --range mse"

    def start(out: str) -> subprocess.Popen[bytes]:
        more = [] if out == "whole.onnx" else ["--max-ram", "8KB"]
        command = [sys.executable, "-m", "pteron", *words.split(), *more, "-o", out, "--resume"]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)

    def entries() -> int:
        try:
            return sum(p.suffix == ".npz" for p in (tmp_path / "killed.onnx.journal").iterdir())
        except FileNotFoundError:  # not begun, or taken away at the end
            return 0

    assert start("whole.onnx").wait() == 0
    whole = (tmp_path / "whole.onnx").read_bytes()
    draw, killed = random.Random(1), 0
    for _ in range(10):
        run, enough = start("killed.onnx"), entries() + draw.randrange(8)
        while run.poll() is None and entries() < enough:
            time.sleep(0.001)
        run.send_signal(signal.SIGKILL)
        killed += run.wait() != 0
        there = tmp_path / "killed.onnx"
        assert not there.exists() or there.read_bytes() == whole
    assert killed > 3
    assert start("killed.onnx").wait() == 0
    assert (tmp_path / "killed.onnx").read_bytes() == whole
    names = ["killed.onnx", "m.onnx", "whole.onnx", "x.npz"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names


def made(kept: Journal | None, wanted: Recipe, told: list[str] | None = None) -> list[bytes]:
    model, given = network(3, 6)
    calibration = Calibration({"x": given["x"][:6]}, reference, 6)
    method = Method(runner=reference) if kept is None else Method(runner=reference, journal=kept)
    quantize_activations(model, wanted, calibration, method, None if told is None else told.append)
    return [ir.serde.serialize_model(model).SerializeToString(deterministic=True)]


WANTED = {
    "gptq": recipe("int8"),
    "search": recipe("int8", algorithm="search"),
    "nearest": recipe("int8", algorithm="nearest", range="percentile"),
    "a loss": targeted(recipe("int8", {"c1": "skip"}), None, None, 1.0, ()),
}


@pytest.mark.parametrize("name", WANTED)
def test_any_entries_that_are_there_change_nothing(name: str, tmp_path: Path) -> None:
    """All of them, all but one, and one that is damaged; of other rules and rounding none is taken."""
    want = made(None, WANTED[name])
    with journal(tmp_path / "j", True) as kept:
        for other in WANTED.values():
            made(kept, other)
        assert made(kept, WANTED[name]) == want
        for path in sorted((tmp_path / "j").glob("*.npz"))[::3]:
            path.unlink()
        assert made(kept, WANTED[name]) == want
        for path in sorted((tmp_path / "j").glob("*.npz"))[1::3]:
            path.write_bytes(path.read_bytes()[:100])
        assert made(kept, WANTED[name]) == want


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    with journal(tmp_path / "j", True) as kept:
        told: list[str] = []
        made(kept, WANTED["gptq"], told)
        files = {path: path.stat().st_mtime_ns for path in (tmp_path / "j").glob("*.npz")}
        assert len(files) == 5  # ranges, three convolutions, a product
        made(kept, WANTED["gptq"], again := [])
        assert sum("gptq" in line for line in told) == 4 and not any("gptq" in x for x in again)
        assert files == {p: p.stat().st_mtime_ns for p in (tmp_path / "j").glob("*.npz")}


@pytest.mark.parametrize("rule", ["", "mse"])
def test_samples_that_can_be_read_once_are_as_good(rule: str) -> None:
    """Ranges, their rules and rounding each read them."""
    made = []
    for once in (False, True):
        model, given = network(2, 4)
        rows = [{"x": x[None]} for x in given["x"][:6]]
        calibration = Calibration(iter(rows) if once else rows, reference, 5)
        quantize_activations(model, recipe("int8", range=rule), calibration, Method())
        made.append(ir.serde.serialize_model(model).SerializeToString(deterministic=True))
    assert made[0] == made[1]


@pytest.mark.parametrize("rule", ["", "mse"])
def test_samples_run_in_stretches_whose_weights_fit(rule: str) -> None:
    """A model of eight layers: no run has more weights than fit, or one layer's, and the bytes are those without a ceiling."""
    made, most = [], []
    one = 4 * 12 * 12 * 9
    for ram in (1 << 32, 2 * one + 500, 1):
        model, given = network(8, 12)
        runs: list[int] = []

        def counting(some: ir.Model, *rest: Any, runs: list[int] = runs) -> Any:
            held = [v.const_value.nbytes for v in some.graph.initializers.values()]  # type: ignore[union-attr]
            runs.append(sum(n for n in held if n >= one))
            return record(some, *rest)

        calibration = Calibration({"x": given["x"][:6]}, counting, 6)
        quantize_activations(model, recipe("int8", range=rule), calibration, Method(ram_bytes=ram))
        made.append(ir.serde.serialize_model(model).SerializeToString(deterministic=True))
        most.append(max(runs))
    assert most[0] >= 8 * one and most[1:] == [2 * one, one]
    assert made[0] == made[1] == made[2]


def test_a_program_takes_a_journal_too(tmp_path: Path) -> None:
    model, given = network(2, 4)
    onnx.save(ir.serde.serialize_model(model), tmp_path / "m.onnx")
    for out, resume in (("a.pte", False), ("b.pte", True)):
        pteron.export_model(
            tmp_path / "m.onnx", tmp_path / out, quantize="int8", calibrate=given, resume=resume
        )
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "b.pte").read_bytes()
    assert not (tmp_path / "b.pte.journal").exists()
