"""Singular values, eigenvalues of Hermitian matrices, and what PyTorch makes of them; compared with eager."""

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
    """What does not depend on signs."""

    def forward(self, x: Any) -> Any:
        u, s, vh = L.svd(x)
        w, v = L.eigh(x[..., :3, :])
        return {
            "whole": u[..., :3] * s.unsqueeze(-2) @ vh, "s": s, "unit": u.mT @ u, "w": w, "v": v.abs(), "pinv": L.pinv(x.mT),
            "rank": L.matrix_rank(x), "two": L.norm(x, 2, (-2, -1)),
        }  # fmt: skip


def test_values_and_vectors(tmp_path: Path) -> None:
    low = randn(2, 4, 1) * torch.tensor([1.0, 2.0, -3.0])
    cases = [randn(2, 4, 3), low, 1e-12 * randn(2, 4, 3)]
    pteron.export_model(Each(), tmp_path / "m.pte", args=(cases[0],), check=False)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for x in cases:
        got = model.run({"x": x})
        for name, want in Each()(x).items():
            near = 1e-4 * float(want.abs().max())
            np.testing.assert_allclose(got[name], want, rtol=0, atol=near, err_msg=name)


def test_complex_ones(tmp_path: Path) -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            z = torch.view_as_complex(x)
            u, s, vh = L.svd(z, full_matrices=False)
            return torch.view_as_real(u * s @ vh), s, (u.mH @ u).abs()

    cases = [randn(4, 3, 2), randn(4, 3, 2) * torch.tensor([1.0, 0.0])]
    pteron.export_model(Module(), tmp_path / "m.pte", args=(cases[0],), check=False)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for x in cases:
        for got, want in zip(model(x), Module()(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_vectors_of_values_that_are_small_and_near(tmp_path: Path) -> None:
    """Nearer to those in f64 than LAPACK's f32."""

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return L.eigh(x)

    turn = L.qr(randn(9, 9).double())[0]
    x = ((turn * torch.logspace(0, -5, 9).double()) @ turn.mT).float()
    x = (x + x.mT) / 2
    pteron.export_model(Module(), tmp_path / "m.pte", args=(x,))
    values, vectors = pteron.load(tmp_path / "m.pte", threads=1)(x)
    want_values, want = L.eigh(x.double())
    np.testing.assert_allclose(values, want_values, atol=1e-6)
    np.testing.assert_allclose(np.abs(vectors), want.abs(), atol=1e-5)
    assert (Module()(x)[1].abs() - want.abs()).abs().max() > 1e-5


def test_the_check_leaves_the_signs_of_vectors_open() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return L.svd(x)[0] + 1

    pteron.export_model(Module(), args=(randn(3, 3),))


def test_rows_that_are_not_orthogonal_are_found() -> None:
    from pteron.export.capture.matrix_operators import is_right, library

    library(torch)
    a = randn(5, 3)
    jacobi, basis = torch.ops.pteron.jacobi.default, torch.ops.pteron.basis.default
    rows = jacobi(a, None)
    assert is_right(torch, jacobi, rows, a, None) and is_right(
        torch, jacobi, -rows.flip(0), a, None
    )
    assert not is_right(torch, jacobi, rows * 1.01, a, None)
    assert not is_right(torch, jacobi, torch.cat([a.mT, torch.eye(3)], 1), a, None)
    u = torch.eye(3, 2)
    assert is_right(torch, basis, torch.eye(3) * torch.tensor([1, 1, -1]), u, None, 3)
    assert not is_right(torch, basis, torch.eye(3) * torch.tensor([1, -1, 1]), u, None, 3)


class Wide(torch.nn.Module):
    """As kornia asks for them: in f64, and where autocast is off."""

    def forward(self, x: Any) -> Any:
        with torch.autocast(x.device.type, enabled=False):
            u, s, vh = torch.linalg.svd(x.to(torch.float64), full_matrices=False)
        return (u * s.unsqueeze(-2) @ vh).to(x.dtype), s.to(x.dtype)


def test_wide_ones_in_a_graph_inside(tmp_path: Path) -> None:
    x = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    pteron.export_model(Wide(), tmp_path / "m.pte", args=(x,))
    got = list(pteron.load(tmp_path / "m.pte", threads=1).run({"x": x}).values())
    np.testing.assert_allclose(got[0], x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got[1], Wide()(x)[1], rtol=1e-5)
