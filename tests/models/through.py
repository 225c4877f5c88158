"""The whole way: a model is exported, run by the C runtime, and compared with onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import pteron
from pteron.export.report import Report

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

Arrays = dict[str, np.ndarray]
KNOWN_OPSET = 26  # of onnxruntime 1.31


def weights(seed: int = 0, **shapes: Sequence[int]) -> Arrays:
    """Normal weights, scaled so that activations keep their size."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, shape in shapes.items():
        fan = float(np.prod(shape[1:])) if len(shape) > 1 else 1.0
        made[name] = (rng.standard_normal(shape) / np.sqrt(max(fan, 1.0))).astype(np.float32)
    return made


def proto_of(model: onnx.ModelProto | ir.Model) -> onnx.ModelProto:
    proto = (
        ir.to_proto(model)
        if isinstance(model, ir.Model)
        else onnx.ModelProto.FromString(model.SerializeToString())
    )
    for entry in proto.opset_import:
        if entry.domain == "":
            entry.version = min(entry.version, KNOWN_OPSET)
    proto.ir_version = min(proto.ir_version, 12)
    return proto


def reference(model: onnx.ModelProto | ir.Model, feeds: Arrays) -> Arrays:
    """onnxruntime without optimizations: with them its int8 kernels saturate on machines without VNNI."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(proto_of(model).SerializeToString(), options)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds), strict=True))


def close(got: Arrays, want: Arrays, tolerance: float) -> None:
    assert list(got) == list(want)
    for name, expected in want.items():
        assert got[name].shape == expected.shape, (
            f"{name}: {got[name].shape} is not {expected.shape}"
        )
        assert got[name].dtype == expected.dtype, name
        if expected.dtype.kind in "biu":
            np.testing.assert_array_equal(got[name], expected, err_msg=name)
        elif expected.size:
            limit = tolerance * max(float(np.abs(expected).max()), 1e-6)
            np.testing.assert_allclose(
                got[name], expected, rtol=tolerance, atol=limit, err_msg=name
            )


def same(
    model: onnx.ModelProto | ir.Model,
    cases: Sequence[Arrays],
    folder: Path,
    tolerance: float = 1e-5,
    **options: Any,
) -> Report:
    """Exports, runs every case on one and two threads, fused and not: equal bits among ours, close to onnxruntime."""
    report = pteron.export_model(model, folder / "fused.pte", **options)
    pteron.export_model(model, folder / "plain.pte", fuse=False, **options)
    runs = [
        pteron.load(folder / "fused.pte", threads=1),
        pteron.load(folder / "fused.pte", threads=2),
        pteron.load(folder / "plain.pte", threads=1),
    ]
    for feeds in cases:
        want = reference(model, feeds)
        first, *others = [run.run(feeds) for run in runs]
        close(first, want, tolerance)
        for other in others:
            for name, array in first.items():
                assert array.tobytes() == other[name].tobytes(), f"{name}: other bits"
    json.dumps(report.as_dict())
    assert report.as_text()
    return report


def operators(report: Report) -> Mapping[str, int]:
    """Instructions of the main method by operator."""
    return report.methods[0].instructions
