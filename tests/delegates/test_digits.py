"""The digit classifier in static int8 on every delegate: the bytes of the CPU, image by image, from one call of export_model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from delegates import candidates
from delegates.candidates import NAMES

import pteron

IMAGES = 24


@pytest.fixture(scope="module")
def images(root: Path) -> np.ndarray:
    return (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)


@pytest.fixture(scope="module")
def want(root: Path, images: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    out = tmp_path_factory.mktemp("cpu") / "digits.pte"
    source = root / "examples/digits/digits.onnx"
    pteron.export_model(source, out, quantize="int8", calibrate={"image": images})
    return np.asarray(pteron.load(out, threads=1)(images[:IMAGES]))


@pytest.mark.parametrize("name", NAMES)
def test_the_digits_give_the_bytes_of_the_cpu(
    name: str, root: Path, images: np.ndarray, want: np.ndarray, tmp_path: Path
) -> None:
    candidate = candidates.find(name)
    reason = candidate.unavailable()
    if reason is not None:
        pytest.skip(reason)
    assert candidate.here is not None
    report = pteron.export_model(
        root / "examples/digits/digits.onnx",
        tmp_path / "digits.pte",
        quantize="int8",
        calibrate={"image": images},
        fix={"batch": 1},
        delegates=[candidate.row, "cpu"],
    )
    on_cpu = [p for p in report.placements if p.delegate == "cpu"]
    assert [p.op_type for p in on_cpu if "border" in p.reason] == [
        "QuantizeLinear",
        "DequantizeLinear",
    ]
    model = pteron.load(tmp_path / "digits.pte", delegates=[candidate.here], threads=1)
    assert model.placements and all(p.placed for p in model.placements)
    got = np.concatenate([model(images[i : i + 1]) for i in range(IMAGES)])
    assert got.tobytes() == want.tobytes()
