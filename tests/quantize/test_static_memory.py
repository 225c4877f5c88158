"""Static int8 of a model four times as large as the memory that it may take: in a process of its own, with the bytes of any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from pteron.quantize.rounding.spill import Spill

MiB = 1 << 20
ONE = 2 * MiB
LAYERS = 40
CEILING = 20 * MiB
"""A fourth of the weights."""
LAYER = 30 * ONE // 4 + MiB
"""What a layer that is rounded takes beside the ceiling, 30 bytes a weight (`quantize.rounding.rounder`), and sums of few columns."""
PYTHON = 12 * MiB
"""What onnx and exports of a segment take more than those of a small model."""


def deep(path: Path, layers: int = LAYERS, wide: int = 32) -> None:
    """Convolutions of 128 channels to `wide` x 128, normalized, whose maxima and the first input are the next one's; weights lie beside the file, which is mapped."""
    rng = np.random.default_rng(0)
    nodes, held = [], [numpy_helper.from_array(np.array([1, 128, 4, wide // 4]), "shape")]
    n = 128 * wide
    for i in range(layers):
        w = rng.standard_normal((n, 128, 1, 1), np.float32) / 32
        rows = {"gain": 1 + rng.random(n), "shift": rng.random(n), "mean": rng.random(n), "var": 1 + rng.random(n)}  # fmt: skip
        held += [numpy_helper.from_array(w, f"w{i}")]
        held += [numpy_helper.from_array(v.astype(np.float32), f"{k}{i}") for k, v in rows.items()]
        node = helper.make_node
        norm = [f"{k}{i}" for k in rows]
        nodes += [
            node("Conv", [f"x{i}", f"w{i}"], [f"c{i}"]),
            node("BatchNormalization", [f"c{i}", *norm], [f"n{i}"]),
            node("Relu", [f"n{i}"], [f"r{i}"]),
            node("Reshape", [f"r{i}", "shape"], [f"s{i}"]),
            node("MaxPool", [f"s{i}"], [f"m{i}"], kernel_shape=[4, wide // 4]),
            node("Add", [f"m{i}", "x0"], [f"x{i + 1}"]),
        ]
    x, y = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 128, 1, 1])
        for n in ("x0", f"x{layers}")
    )
    graph = helper.make_graph(nodes, "deep", [x], [y], held)
    imports = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    onnx.save(model, path, save_as_external_data=True, location=f"{path.stem}.data")
    samples = rng.standard_normal((8, 128, 1, 1), np.float32)
    np.savez(path.with_suffix(".npz"), x0=samples)


MEASURE = r"""
import sys
from pteron.cli import main
from pteron.cli.memory import peak_bytes
def run(name, *more):
    words = [f"{name}.onnx", "-o", f"{name}.q.onnx", "--calibrate", f"{name}.npz", "--format", "int8", "-q", *more]
    assert main(["quantize", *words]) == 0
    return peak_bytes()
before = run("small")
print(run("m", *sys.argv[1:]) - before)
"""


def peak(folder: Path, *more: str) -> int:
    """Bytes that quantizing `m.onnx` takes more than a small model."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *more], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )  # fmt: skip
    return int(done.stdout.splitlines()[-1])


def test_a_model_four_times_the_ceiling_is_quantized_within_it(tmp_path: Path) -> None:
    deep(tmp_path / "small.onnx", 2, 4)
    deep(tmp_path / "m.onnx")
    assert (tmp_path / "m.data").stat().st_size >= 4 * CEILING
    whole = peak(tmp_path)
    want = (tmp_path / "m.q.onnx").read_bytes()
    least = peak(tmp_path, "--max-ram", str(CEILING))
    assert (tmp_path / "m.q.onnx").read_bytes() == want
    kept = peak(tmp_path, "--max-ram", str(CEILING), "--resume")
    assert (tmp_path / "m.q.onnx").read_bytes() == want
    told = f"{whole / MiB:.0f} without, {least / MiB:.0f}, {kept / MiB:.0f} with --resume"
    assert max(least, kept) < CEILING + LAYER + PYTHON < whole, told


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 0), (5,), (700, 129), (3, 40_000), (1, 1 << 17)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_shelf_gives_what_was_put_there(shape: tuple[int, ...], dtype: Any) -> None:
    spill, rng = Spill(), np.random.default_rng(2)
    arrays = [rng.integers(0, 200, shape).astype(dtype) for _ in range(3)]
    kept = [spill.put(x) for x in arrays]
    for source, want in reversed(list(zip(kept, arrays, strict=True))):
        for _ in range(2):
            got = source.array()
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(got, want)
