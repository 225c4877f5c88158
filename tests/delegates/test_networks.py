"""Blocks of networks in static int8, cut into segments: the CPU's bytes, with the multiply-accumulates on the delegate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
from delegates import candidates
from delegates.candidates import NAMES
from passes.test_integer import BLOCKS

import pteron
from pteron.export.graph.text import onnx_text
from pteron.export.report import Report

SHARES = {"a mobile block": 1.0, "a transformer's layer": 0.9}
"""Of the multiply-accumulates; products of two activations stay f32, and on the CPU."""


def exported(model: ir.Model, out: Path, **options: object) -> Report:
    rng = np.random.default_rng(2)
    (x,) = model.graph.inputs
    shape = [int(str(n)) for n in x.shape or ()]
    samples = [{"x": rng.standard_normal(shape).astype(np.float32)} for _ in range(3)]
    return pteron.export_model(model, out, quantize="int8", calibrate=samples, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", NAMES)
def test_blocks_give_the_bytes_of_the_cpu(name: str, block: str, tmp_path: Path) -> None:
    candidate = candidates.find(name)
    reason = candidate.unavailable()
    if reason is not None:
        pytest.skip(reason)
    text, _, given = BLOCKS[block]
    exported(onnx_text(text, **given), tmp_path / "cpu.pte")  # type: ignore[arg-type]
    report = exported(
        onnx_text(text, **given),  # type: ignore[arg-type]
        tmp_path / "parts.pte",
        delegates=[candidate.row, "cpu"],
    )
    there = sum(p.macs for p in report.placements if p.delegate == name)
    assert there >= SHARES[block] * sum(p.macs for p in report.placements), report.as_text()
    whole = pteron.load(tmp_path / "cpu.pte", threads=1)
    parts = pteron.load(tmp_path / "parts.pte", delegates=[candidate.here], threads=1)  # type: ignore[list-item]
    assert parts.placements and all(p.placed for p in parts.placements)
    rng = np.random.default_rng(5)
    shape = [int(str(n)) for n in whole.info.inputs[0].shape]
    for _ in range(3):
        x = rng.standard_normal(shape).astype(np.float32)
        want, got = whole.run({"x": x}), parts.run({"x": x})
        assert {k: v.tobytes() for k, v in got.items()} == {k: v.tobytes() for k, v in want.items()}
