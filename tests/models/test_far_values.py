"""Functions at the ends of their ranges: tiny, huge, infinite and NaN. Exported, run, compared with eager PyTorch, relative to
each element."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_operators import Each, randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
F, special = torch.nn.functional, torch.special
INF, NAN = float("inf"), float("nan")
TINY = torch.logspace(-30, 1, 94)
LINE = torch.cat([TINY, -TINY, torch.linspace(-12, 12, 193), torch.linspace(-90, 90, 37)])
ENDS = torch.tensor([0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 3e38, -3e38, 1e-42])
ALL = torch.cat([LINE, ENDS])


def hold(
    folder: Path,
    functions: list[Any],
    *cases: tuple[Any, ...],
    within: float = 1e-5,
    floor: float = 1e-37,
    wide: bool = False,
) -> None:
    """Every element to `within` of itself; `wide`: of what PyTorch finds in f64."""
    pteron.export_model(Each(functions), folder / "m.pte", args=cases[0], check=False)
    model = pteron.load(folder / "m.pte", threads=1)
    for inputs in cases:
        got = model(*inputs)
        judged = [x.double() for x in inputs] if wide else inputs
        for i, (g, w) in enumerate(
            zip(got if isinstance(got, tuple) else (got,), Each(functions)(*judged))
        ):
            assert wide or g.dtype.name == str(w.dtype).removeprefix("torch."), f"result {i}"
            want = w.double().numpy() if w.is_floating_point() else w.numpy()
            np.testing.assert_allclose(g, want, rtol=within, atol=floor, err_msg=f"result {i}")


def test_what_a_difference_from_1_loses(tmp_path: Path) -> None:
    functions = [
        torch.log1p,
        torch.expm1,
        F.logsigmoid,
        lambda x: F.soft_margin_loss(x, x.sign(), reduction="none"),
    ]
    hold(tmp_path, functions, (ALL,))
    half = [lambda x: torch.log1p(x.half()), lambda x: torch.expm1(x.half())]
    hold(tmp_path, half, (TINY,), within=2e-3)
    hold(tmp_path, functions[:2], (ALL.double() * 1.1,), within=1e-12)


def test_logarithms_of_sums(tmp_path: Path) -> None:
    x, y = torch.cat([ALL, ENDS.repeat(10)]), torch.cat([ALL.roll(7), ENDS.repeat_interleave(10)])
    hold(tmp_path, [torch.logaddexp, torch.logaddexp2], (x, y), within=3e-5, floor=3e-8)


def test_tails_of_the_normal_distribution(tmp_path: Path) -> None:
    tails = ALL[(ALL.abs() < 9) | ~ALL.isfinite()]
    hold(tmp_path, [torch.erfc, special.log_ndtr], (tails,), within=3e-5, wide=True)
    hold(tmp_path, [special.ndtr], (tails,), within=3e-5, floor=1e-16, wide=True)
    hold(tmp_path, [special.erfcx], (tails,), wide=True)


def test_nan_and_infinity_where_functions_choose(tmp_path: Path) -> None:
    edges = torch.tensor([-1.0, 0, 1, 5])
    unary = [
        torch.logit,
        lambda x: torch.logit(x, 1e-3),
        lambda x: torch.heaviside(x, x.flip(0)),
        lambda x: torch.bucketize(x, edges),
        lambda x: torch.bucketize(x, edges, right=True),
        lambda x: torch.searchsorted(edges, x),
    ]
    hold(tmp_path, unary, (ALL,), within=3e-5)


@pytest.mark.parametrize("shape", [(5, 5), (3, 6), (6, 3), (2, 4, 3), (0, 3), (2, 3, 0)])
def test_a_diagonal_has_nothing_of_what_lies_beside_it(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    functions = [lambda x, k=k: x.diagonal(k, -1, -2) for k in (-7, -2, 0, 1, 9)]
    functions += [lambda x: x.diagonal(1, 0, 1), lambda x: torch.diagonal_copy(x, -1)]
    x = randn(*shape)
    far = torch.where(x.abs() < 0.5, NAN, torch.where(x > 1, INF, x))
    hold(tmp_path, functions, (x,), (far,))


def test_a_diagonal_of_dynamic_axes(tmp_path: Path) -> None:
    functions = [lambda x: x.diagonal(), lambda x: x.diagonal(2), lambda x: x.diagonal(-1, 1, 0)]
    module = Each(functions)
    pteron.export_model(
        module, tmp_path / "m.pte", args=(randn(5, 4),), dynamic_shapes=(({0: "a", 1: "b"},),)
    )
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for shape in ((5, 4), (2, 9), (7, 3), (1, 1)):
        x = randn(*shape)
        x[0, -1] = NAN
        for g, w in zip(model(x), module(x), strict=True):
            np.testing.assert_array_equal(g, w.numpy())


def test_running_extremes_and_products(tmp_path: Path) -> None:
    functions = [lambda x, d=d, f=f: f(x, d) for d in (0, 1) for f in (torch.cumprod,)]
    functions += [
        lambda x, d=d, f=f, k=k: f(x, d)[k]
        for d in (0, 1)
        for f in (torch.cummax, torch.cummin)
        for k in (0, 1)
    ]
    x = randn(5, 7)
    far = x.clone()
    far[1, 2] = far[3, 2] = far[2, 5] = NAN
    ends = torch.where(x > 0.7, INF, torch.where(x < -0.7, -INF, x))
    hold(tmp_path, functions, (x,), (far,), (ends,))
    hold(tmp_path, functions[:2], (x * 1e30,), (torch.where(x > 0, 1e30, 1e-30),))


def test_histograms(tmp_path: Path) -> None:
    x = randn(300) * 2
    x[7], x[9], x[11] = -3, 3, 2.9999998
    functions = [
        lambda x: x.histc(10, -3, 3),
        lambda x: x.histc(7, -0.5, 1.25),
        lambda x: x.histc(1, 0, 2),
    ]
    far = x.clone()
    far[3], far[4], far[5] = NAN, INF, -INF
    hold(tmp_path, functions, (x,), (far,))
    hold(
        tmp_path,
        [lambda x: x.histc(), lambda x: (x[:1] * 0 + 2).histc(4), lambda x: x.histc(6, 2, 2)],
        (x,),
        (x[:300] * 3,),
    )
    with pytest.raises(pteron.ModelError, match="give min and max"):
        pteron.export_model(Each([lambda x: x.histc(5)]), args=(x,), dynamic_shapes=(({0: "n"},),))


def test_pools_keep_nan_to_its_windows(tmp_path: Path) -> None:
    x = randn(2, 3, 5, 7, 6)
    x[0, 1, 2, 3, 4], x[1, 2, 0, 0, 0] = NAN, INF
    functions = [
        lambda x, n=n: F.adaptive_avg_pool3d(x, n)
        for n in ((2, 3, 4), (1, 1, 1), (5, 7, 6), (4, 9, 8))
    ]
    hold(tmp_path, functions, (x,), (x.nan_to_num(0, 1, 1),), within=1e-4, floor=1e-6)


def test_distances_that_count(tmp_path: Path) -> None:
    x, y = randn(4, 3).round(), randn(5, 3).round()
    far = x.clone()
    far[0, 0], far[1, 1] = NAN, INF
    hold(tmp_path, [lambda x, y: torch.cdist(x, y, p=0.0)], (x, y), (far, y))


def test_logarithms_of_the_gamma_function_at_its_ends(tmp_path: Path) -> None:
    x = torch.cat(
        [ENDS, -ENDS, TINY, -TINY[TINY < 0.1], torch.tensor([-1e10, -(2.0**24), 1e38, -2, -7])]
    )
    hold(tmp_path, [torch.lgamma], (x[(x - 1).abs() > 1e-3],))


def test_the_most_frequent_beside_nan(tmp_path: Path) -> None:
    """Where PyTorch's is no matter of how it sorts NaN."""
    x = torch.tensor([[1, NAN, 1, 2], [NAN] * 4, [INF, -INF, INF, NAN], [INF, INF, 0, 0]])
    hold(tmp_path, [lambda x: x.mode(1)[0]], (x,), (x.flip(0),))


def test_f64_keeps_its_digits(tmp_path: Path) -> None:
    x = torch.cat([ALL.double() * 1.1, torch.logspace(-300, 300, 61, dtype=torch.float64)])
    y = x.roll(5)
    unary = [lambda x, y, f=f: f(x) for f in (torch.log, torch.log2, torch.log10, F.logsigmoid)]
    hold(tmp_path, [*unary, torch.atan2, torch.logaddexp], (x, y), within=1e-11, floor=1e-14)
