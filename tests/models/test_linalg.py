"""Factorizations, systems, inverses; compared with eager."""

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
            "tensors": L.tensorsolve(x[0], b[0, :, 0], dims=(0,)), "u": L.lu(b)[2], "adjoint": L.lu_solve(*L.lu_factor(x), b, adjoint=True), "q": L.qr(b)[0], "wide": L.qr(b.mT)[1],
        }  # fmt: skip


def test_small_matrices(tmp_path: Path) -> None:
    cases = [(randn(2, 3, 3) + k * torch.eye(3).flip(0), randn(2, 3, 2) * k) for k in (2, 5)]
    pteron.export_model(Each(), tmp_path / "m.pte", args=cases[0], check=False)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for x, b in cases:
        got = model.run({"x": x, "b": b})
        for name, want in Each()(x, b).items():
            np.testing.assert_allclose(got[name], want, rtol=1e-3, atol=1e-4, err_msg=name)


class Whole(torch.nn.Module):
    """Of matrices that are not small, and complex ones."""

    def forward(self, x: Any, z: Any) -> Any:
        z = torch.view_as_complex(z)
        q, r = L.qr(x)
        order, low, up = L.lu(x)
        p = L.inv(z[:, :40])
        return (
            q @ r,
            q.mT @ q,
            order @ low @ up,
            torch.view_as_real(p @ z),
            torch.view_as_real(L.qr(z)[0]).abs(),
        )


def test_larger_and_complex_ones(tmp_path: Path) -> None:
    args = (randn(2, 90, 70), randn(40, 50, 2))
    pteron.export_model(Whole(), tmp_path / "m.pte", args=args)
    for got, want in zip(
        pteron.load(tmp_path / "m.pte", threads=1)(*args), Whole()(*args), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=2e-4)


def test_a_system_of_any_size(tmp_path: Path) -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any, b: Any) -> Any:
            return torch.cholesky_solve(b, L.cholesky(x @ x.mT)), L.solve(x, b)

    n = torch.export.Dim("n", min=2, max=99)
    shapes = {"x": {0: n, 1: n}, "b": {0: n}}
    args = (randn(5, 5) + 5 * torch.eye(5), randn(5, 2))
    pteron.export_model(Module(), tmp_path / "m.pte", args=args, dynamic_shapes=shapes)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    x, b = randn(80, 80) + 20 * torch.eye(80), randn(80, 3)[:, :2]
    for got, want in zip(model(x, b), Module()(x, b), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5)


def test_factors_that_are_none_are_found() -> None:
    from pteron.export.capture.matrix_operators import is_right, library

    library(torch)
    a = randn(2, 5, 3)
    lu, qr = torch.ops.pteron.lu.default, torch.ops.pteron.qr.default
    for function in (lu, qr):
        made = function(a, None)
        assert is_right(torch, function, made, a, None)
        assert not is_right(torch, function, made * 1.01, a, None)
        assert not is_right(torch, function, made, a.flip(-1), None)
    straight = torch.cat([torch.diag_embed(torch.tensor([1e-3, 1.0])), torch.tensor([[1.0, 2.0]])])
    straight[1, 0] = 1e3  # no row changed places, and a factor is longer than 1
    assert not is_right(torch, lu, straight, torch.tensor([[1e-3, 0.0], [1.0, 1.0]]), None)


def test_a_system_passes_the_check() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any, b: Any) -> Any:
            return L.solve(x, b)

    pteron.export_model(Module(), args=(randn(3, 3), randn(3, 1)))


def test_large_matrices_are_refused() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return L.inv(x)

    with pytest.raises(pteron.ModelError, match="the smaller size up to 1024"):
        pteron.export_model(Module(), args=(torch.eye(1100),))
