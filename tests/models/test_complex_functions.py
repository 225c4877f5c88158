"""Functions of complex numbers inside of a module, on both sides of their branch cuts, against eager PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_complex import pairs, reals
from models.test_operators import Each, randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
F = torch.nn.functional
GRID = torch.cartesian_prod(
    *[torch.tensor([-30.0, -1.0, -0.4, 0.3, 2.0]), torch.tensor([-20.0, -0.9, 0.2, 1.1])]
)


def of_pairs(function: Any) -> Any:
    def real(*xs: Any) -> Any:
        y = function(*(pairs(x) for x in xs))
        return reals(y) if y.is_complex() else y

    return real


def check(folder: Path, functions: list[Any], *cases: Any) -> None:
    """As `agree`, at these values alone: at others PyTorch's own functions overflow elsewhere."""
    module = Each(functions)
    pteron.export_model(module, folder / "m.pte", args=cases[:1], check=False)
    model = pteron.load(folder / "m.pte", threads=1)
    for case in cases:
        results = model(case)
        results = results if isinstance(results, tuple) else (results,)
        for got, want in zip(results, module(case), strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-5)


def test_elementary_functions(tmp_path: Path) -> None:
    names = ["tanh", "log", "acosh", "atan"]
    functions = [lambda z, n=n: getattr(z, n)() for n in names]
    check(tmp_path, [of_pairs(f) for f in functions], GRID, GRID * 0.02)


def test_sums_products_and_choices(tmp_path: Path) -> None:
    def filled(z: Any) -> Any:
        return z.masked_fill(z.real > 0, 2 - 1j) + torch.where(z == z[0], z, 3.0)

    functions = [
        lambda z: z.prod(0),
        lambda z: z.cumprod(1),
        lambda z: z.std(1) + z.norm(dim=1),
        lambda z: torch.einsum("ij,kj->ik", z, F.pad(z[:, 1:], (0, 1)).conj()) * 1j,
        filled,
    ]
    check(tmp_path, [of_pairs(f) for f in functions], randn(4, 6))


def test_a_factor_of_a_complex_matrix(tmp_path: Path) -> None:
    def cholesky(z: Any) -> Any:
        return torch.linalg.cholesky(z @ z.mH)

    check(tmp_path, [of_pairs(cholesky)], randn(2, 4), randn(2, 4) * 2 + 1)
