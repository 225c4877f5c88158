"""Orthogonal polynomials, Bessel's and Airy's functions, incomplete gamma functions, and floats beside others, against eager PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_operators import agree

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
INF, NAN = float("inf"), float("nan")
special = torch.special
POLYNOMIALS = [
    *(special.chebyshev_polynomial_t, special.shifted_chebyshev_polynomial_w),
    *(special.hermite_polynomial_h, special.laguerre_polynomial_l, special.legendre_polynomial_p),
]


def test_polynomials_of_a_degree_for_each_element(tmp_path: Path) -> None:
    x = torch.tensor([-2.5, -1.0, -0.3, 0.0, 0.5, 1.0, 3.0]).reshape(7, 1)
    n = torch.tensor([-3.0, 0, 1, 2, 3, 7.5])
    functions = [lambda x, n, f=f: f(x, n.clamp(-3, 14)) for f in POLYNOMIALS]
    agree(tmp_path, functions, (x, n), (x * 0.4, n * 2))


def test_polynomials_of_numbers_integers_and_f64(tmp_path: Path) -> None:
    f = special.hermite_polynomial_he
    functions = [
        lambda x: f(x.long(), 4),
        lambda x: f(2.5, x.long()),
        lambda x: f(x.double(), 129),
        lambda x: f(x, 129),  # NaN
    ]
    agree(tmp_path, functions, (torch.tensor([0.5, -1.5, 3.0, 5.0]),))


def test_bessel_functions_of_both_kinds(tmp_path: Path) -> None:
    functions = [special.bessel_j1, special.bessel_y0, special.airy_ai]
    functions += [special.scaled_modified_bessel_k1]
    line = torch.linspace(-25, 25, 251)
    edges = torch.tensor([0.0, 1.0, 2.0, 2.001, 8.0, 7.999, -4.0, 1e-6, INF, NAN])
    agree(tmp_path, functions, (line,), (edges,), dynamic=({0: "n"},))


def test_parts_of_the_gamma_function(tmp_path: Path) -> None:
    a = torch.tensor([0.1, 1.0, 2.5, 7.9, 8.0, 30.0, 900.0, 900.0, 0.0, 1.0, INF, 2.0, -1.0, NAN])
    x = torch.tensor([0.2, 0.0, 9.0, 3.0, 8.9, 31.0, 870.0, 930.0, 1.0, INF, 1.0, 2.0, 1.0, 1.0])
    both = torch.meshgrid(a, x, indexing="ij")
    agree(tmp_path, [torch.igamma, torch.igammac], both)


def test_zeta_of_two_variables(tmp_path: Path) -> None:
    s = torch.tensor([0.5, 1.0, 2.0, 3.0, 2.5, 30.0, NAN]).reshape(7, 1)
    x = torch.tensor([0.25, 1.0, 12.0, -0.5, -3.75, 0.0, -2.0, NAN])
    functions = [special.zeta, lambda s, x: special.zeta(2.0, x), lambda s, x: special.zeta(s, 3)]
    agree(tmp_path, functions, (s, x))


def test_where_the_normal_distribution_has_a_value(tmp_path: Path) -> None:
    p = torch.cat([torch.linspace(-0.01, 1.01, 104), torch.tensor([0, 1, 1e-30, 1e-7, NAN])])
    agree(tmp_path, [special.ndtri], (p,), (p.flip(0),), dynamic=({0: "n"},))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_float_beside(dtype: Any, tmp_path: Path) -> None:
    most, least = torch.finfo(dtype).max, torch.finfo(dtype).smallest_normal
    x = torch.tensor([0, 1, 1.5, 2, -2, most, -most, least, -INF, INF, NAN, -0.0], dtype=dtype)
    x = torch.cat([x, torch.nextafter(x[:1], x[1:2])])
    pairs = (x.repeat_interleave(len(x)), x.repeat(len(x)))

    def moved(x: Any, y: Any) -> Any:
        z = torch.nextafter(x, y)
        return z == x, z > x, ((z - x) * 2.0**100).float()

    agree(tmp_path, [lambda x, y, k=k: moved(x, y)[k] for k in range(3)], pairs)


def test_divisors_of_both(tmp_path: Path) -> None:
    x = torch.tensor([0, 0, 6, -12, 17, 2**40, 102334155])
    y = torch.tensor([0, 5, -4, 18, 5, 2**33 * 3, 63245986])
    functions = [torch.gcd, torch.lcm, lambda x, y: torch.gcd(x.int()[:5, None], y.int()[:5])]
    agree(tmp_path, functions, (x, y), (y, x))
