"""Static quantization with int16 activations: from the command line to a program, and models of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from passes.static import operators, run

import pteron
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.export.delegates import hexagon, tosa
from pteron.export.graph import int8 as integer
from pteron.export.passes import run_passes
from pteron.export.passes.int8 import integer_nodes
from pteron.quantize.observe.grids import HEADROOM, grid_of
from pteron.quantize.quantize import is_static
from pteron.quantize.recipe.rules import recipe
from pteron.schema.errors import RecipeError

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

DIGITS = ["Conv", "Conv", "Add", "MaxPool", "Conv", "AveragePool", "Reshape", "Linear"]


@pytest.fixture(scope="module")
def images(root: Path) -> np.ndarray:
    return (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)


@pytest.fixture(scope="module")
def written(root: Path, images: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    np.savez(folder / "images.npz", image=images)
    options = ["--format", "int8", "--activations", "int16-static", "-q", "--algorithm", "nearest"]
    options += ["--calibrate", str(folder / "images.npz"), "--report", str(folder / "report.json")]
    source = str(root / "examples/digits/digits.onnx")
    assert main(["quantize", source, "-o", str(folder / "q.onnx"), *options]) == 0
    return folder


def plain(path: Path) -> Any:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options)


def test_digits_are_int16_from_end_to_end_and_onnxruntime_agrees(
    written: Path, root: Path, images: np.ndarray
) -> None:
    """It computes in f32 between Q and DQ; the error of f32 is that of rounding weights."""
    model = onnx.load(written / "q.onnx")
    assert [v.version for v in model.opset_import if v.domain == ""] == [21]
    report = json.loads((written / "report.json").read_text())
    assert {a["bits"] for a in report["activations"]} == {16}
    made = pteron.export_model(written / "q.onnx", written / "q.pte", activations="int8-block")
    assert made.methods[0].instructions["conv_i16"] == 4
    assert made.methods[0].instructions["add_i16"] == 1
    got = pteron.load(written / "q.pte", threads=2)(images)
    want = plain(written / "q.onnx").run(None, {"image": images})[0]
    step = report["activations"][-1]["scale"]
    assert np.abs(got - want).max() <= 4 * step
    graph = run_passes(capture_onnx(written / "q.onnx"))
    assert integer_nodes(graph)
    kinds = [kind.removeprefix("pteron.") for kind in operators(graph)]
    assert kinds == ["QuantizeLinear", *DIGITS, "DequantizeLinear"]
    assert run(graph, {"image": images})[0].tobytes() == got.tobytes()


@pytest.mark.parametrize("symmetric", [False, True])
def test_models_of_onnxruntime_with_int16_become_integer_nodes(
    symmetric: bool, root: Path, tmp_path: Path, images: np.ndarray
) -> None:
    from onnxruntime import quantization as q

    class Reader(q.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter([{"image": images[i : i + 1]} for i in range(64)])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.left, None)

    out = tmp_path / "ort.onnx"
    q.quantize_static(
        str(root / "examples/digits/digits.onnx"), str(out), Reader(), per_channel=True,
        activation_type=q.QuantType.QInt16 if symmetric else q.QuantType.QUInt16, weight_type=q.QuantType.QInt8,
        extra_options={"ActivationSymmetric": symmetric},
    )  # fmt: skip
    graph = run_passes(capture_onnx(out))
    assert integer_nodes(graph)
    kinds = [kind.removeprefix("pteron.") for kind in operators(graph)]
    assert {"Conv", "Linear"} <= set(kinds) and not {"MatMul", "Gemm"} & set(kinds)
    want = plain(out).run(None, {"image": images[:100]})[0]
    got = run(graph, {"image": images[:100]})[0]
    assert np.abs(got - want).max() <= 0.001 * np.abs(want).max()


def test_delegates_leave_int16_to_the_cpu(written: Path) -> None:
    graph = run_passes(capture_onnx(written / "q.onnx"))
    integer_nodes(graph)
    ours = [node for node in graph.graph if integer.is_integer(node)]
    assert len(ours) == len(DIGITS)
    for node in ours:
        for refusal in (hexagon.supports, tosa.refusal):
            assert "INT8" in str(refusal(node)) or "static" in str(refusal(node))


def test_the_grid_of_words_ends_where_its_range_does() -> None:
    """Below 0 there is one code more."""
    assert (
        grid_of(-32768.0, 1.0, 16).scale == grid_of(-1.0, 32767.0, 16).scale == np.float32(HEADROOM)
    )
    assert grid_of(-32767.0, 1.0, 16).scale < np.float32(HEADROOM)


def test_grids_are_symmetric_and_twice_as_wide_as_what_samples_showed() -> None:
    for low, high in ((-1.0, 3.0), (-3.0, 1.0), (0.0, 0.0), (2.0, 5.0)):
        grid = grid_of(low, high, 16)
        assert grid.zero == 0 and grid.zero_point.dtype == np.int16
        assert min(low, 0) >= -16384.5 * float(grid.scale)
        assert max(high, 0) <= 16384 * float(grid.scale)


@pytest.mark.parametrize(
    ("wanted", "calibrated", "text"),
    [
        ({"format": "int8"}, False, "expected format int8 and a calibration"),
        ({"format": "nf4"}, True, "expected format int8 and a calibration"),
        ({"format": "int8", "range": "mse"}, True, "range mse: expected 256 codes"),
    ],
)
def test_what_cannot_be_asked_for(wanted: dict[str, str], calibrated: bool, text: str) -> None:
    with pytest.raises(RecipeError, match=text):
        is_static(recipe(**wanted, activations="int16-static"), calibrated, ())  # type: ignore[arg-type]
