"""Factorizations, systems, inverses of small matrices, written out at capture; compared with eager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_operators import randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
L = torch.linalg


class Each(torch.nn.Module):
    def forward(self, x: Any, b: Any) -> Any:
        spd = x @ x.mT + torch.eye(x.shape[-1])
        low = L.cholesky(spd)
        return {
            "solve": L.solve(x, b), "det": L.det(x), "log": torch.logdet(spd), "low": low,
            "cholesky_solve": torch.cholesky_solve(b, low), "unit": L.solve_triangular(x, b, upper=True, unitriangular=True),
            "u": L.lu(b)[2], "adjoint": L.lu_solve(*L.lu_factor(x), b, adjoint=True), "q": L.qr(b)[0], "wide": L.qr(b.mT)[1],
        }  # fmt: skip


def test_small_matrices(tmp_path: Path) -> None:
    cases = [(randn(2, 3, 3) + k * torch.eye(3).flip(0), randn(2, 3, 2) * k) for k in (2, 5)]
    pteron.export_model(Each(), tmp_path / "m.pte", args=cases[0], check=False)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for x, b in cases:
        got = model.run({"x": x, "b": b})
        for name, want in Each()(x, b).items():
            np.testing.assert_allclose(got[name], want, rtol=1e-3, atol=1e-4, err_msg=name)


def test_a_system_passes_the_check() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any, b: Any) -> Any:
            return L.solve(x, b)

    pteron.export_model(Module(), args=(randn(3, 3), randn(3, 1)))


def test_large_matrices_are_refused() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return L.inv(x)

    with pytest.raises(pteron.ModelError, match="the smaller one up to 32"):
        pteron.export_model(Module(), args=(torch.eye(40),))
