"""Programs that torch.export made in training mode, and constants of f64."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron
from pteron.schema.errors import ModelError

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

X = torch.linspace(-2, 3, 48).reshape(2, 4, 6).sin()


def test_batch_norm_uses_the_statistics_of_the_batch_and_keeps_them(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Conv1d(4, 4, 3), torch.nn.BatchNorm1d(4)).train()
    again = copy.deepcopy(module)
    pteron.export_model(torch.export.export(module, (X,)), tmp_path / "m.pte")
    program = pteron.load(tmp_path / "m.pte", threads=1)
    for x in (X, X * 2 + 1):
        want = again(x).detach().numpy()
        (got,) = program.run({"input": x.numpy()}).values()
        np.testing.assert_allclose(got, want, atol=1e-5)


def test_dropout_in_training_mode_is_refused() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Dropout(0.5)).train()
    with pytest.raises(ModelError, match=r"dropout of 0\.5 in training mode gives random results"):
        pteron.export_model(torch.export.export(module, (X,)))


class Constants(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        wide = x.double()
        chosen = torch.where(x > 2, 0.3, wide)
        return (wide * 0.7).long(), wide.clamp(min=0.1) + chosen + torch.full_like(wide, 0.9)


def test_constants_of_f64_keep_their_digits(tmp_path: Path) -> None:
    x = torch.arange(100)
    pteron.export_model(Constants(), tmp_path / "m.pte", args=(x,))
    got = pteron.load(tmp_path / "m.pte", threads=1)(x.numpy())
    for a, b in zip(got, Constants()(x), strict=True):
        np.testing.assert_array_equal(a, b.numpy())


class Writes(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        y[0].mul_(2)
        return x + x.add_(y)


def test_an_input_that_is_written_is_an_output_and_said_to_be(tmp_path: Path) -> None:
    x, y = X[0], X[1]
    report = pteron.export_model(Writes(), tmp_path / "m.pte", args=(x.clone(), y.clone()))
    assert any("input 'y' is written by the module: output 'y_out'" in n for n in report.notes)
    got = pteron.load(tmp_path / "m.pte", threads=1).run({"x": x.numpy(), "y": y.numpy()})
    after = [x.clone(), y.clone()]
    want = [Writes()(*after), *after]
    assert sorted(got) == ["output_0", "x_out", "y_out"]
    for name, each in zip(("output_0", "x_out", "y_out"), want, strict=True):
        np.testing.assert_allclose(got[name], each.numpy(), atol=1e-6)
