"""Bessel's functions, derivatives of digamma and floats taken apart, against eager PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from models.test_operators import agree

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
INF, NAN = float("inf"), float("nan")
LINE = torch.linspace(-30.03, 30, 301)
EDGES = torch.tensor([0.0, -0.0, INF, -INF, NAN, 1e-30, 7.999, 8.0, 8.001, -8.0, 87.0, -88.0, 3e4])


def test_bessel_functions_of_imaginary_arguments(tmp_path: Path) -> None:
    special = torch.special
    whole = [torch.i0, special.i1, lambda x: special.i0(x.round().long())]
    agree(tmp_path, whole, (LINE,), (torch.cat([LINE[:9], EDGES[5:12]]),), dynamic=({0: "n"},))
    agree(tmp_path, [special.i0e, special.i1e], (torch.cat([LINE, EDGES]),))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_derivatives_of_digamma(n: int, tmp_path: Path) -> None:
    """Far below 0 too, where the sum has many terms of both signs."""
    near = torch.tensor(
        [0.5, 1e-3, 1e-8, 1.0, 2.0, 9.999, 10.0, 300.0, INF, NAN, -0.5, -1.25, -41.75]
    )
    poles = torch.tensor([0.0, -2.0, -60.0])
    cases = [LINE[LINE > -20], near] if n else [LINE[LINE > -9], near[3:9]]
    given = [(case,) for case in cases] + [(poles,)] * (n > 1)
    agree(tmp_path, [lambda x: torch.polygamma(n, x)], *given, dynamic=({0: "n"},))


def test_derivatives_of_digamma_of_integers(tmp_path: Path) -> None:
    agree(tmp_path, [lambda x: torch.polygamma(1, x)], (torch.arange(1, 12),))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_mantissas_and_powers(dtype: str, tmp_path: Path) -> None:
    """The smallest and the largest of each type."""
    kind = getattr(torch, dtype)
    info = torch.finfo(kind)
    ends = [info.max, info.tiny, info.smallest_normal / 2, info.smallest_normal * info.eps]
    x = torch.tensor(
        [0.0, -0.0, 1, 2, 3, 0.5, -0.7, 1e-4, *ends, -info.max, INF, -INF, NAN], dtype=torch.float64
    )
    agree(
        tmp_path, [lambda x: torch.frexp(x)[0].float(), lambda x: torch.frexp(x)[1]], (x.to(kind),)
    )
