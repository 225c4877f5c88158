"""Operators of PyTorch that write at places, choose by rank or compare: exported, run, compared with eager."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from models.test_operators import agree, randn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
F = torch.nn.functional
NAN, INF = math.nan, math.inf
KINDS = ("sum", "prod", "mean", "amax", "amin")


def filled(x, axis, value):  # type: ignore[no-untyped-def]
    y = x.clone()
    y.diagonal(axis).mul_(2).fill_(value)
    return y


def strided(x):  # type: ignore[no-untyped-def]
    y = x.clone()
    y.as_strided((3, 2), (4, 2), 1).mul_(3)
    return y


def copied(x):  # type: ignore[no-untyped-def]
    y = x.clone()
    y[:, 1].copy_(torch.tensor(2))
    y[2] = torch.arange(4.0).double()
    return y, torch.zeros(3, 4, dtype=torch.int64).copy_(x * 3)


def test_writing_through_views(tmp_path: Path) -> None:
    functions = [
        lambda x: filled(x, 0, 7.0),
        lambda x: filled(x, 1, 8.0),
        lambda x: filled(x, -1, 9.0),
        lambda x: torch.diagonal_scatter(x[None], x[None, :3, 0], 0, 2, 1),
        strided,
        lambda x: copied(x)[0],
        lambda x: copied(x)[1],
        lambda x: x.put(torch.tensor([-1, 3, 3, 0]), torch.ones(4), accumulate=True),
        lambda x: x.put(torch.tensor([1, 7]), torch.tensor([5.0, 6.0])),
    ]
    agree(tmp_path, functions, (randn(3, 4),))


def test_diagonals_of_any_size(tmp_path: Path) -> None:
    functions = [lambda x: filled(x, 0, 7.0), lambda x: filled(x, 1, 8.0)]
    agree(tmp_path, functions, *((randn(n, 5),) for n in (4, 7, 3)), dynamic=({0: "n"},))


@pytest.mark.parametrize("with_self", [True, False])
def test_reductions_at_places(with_self: bool, tmp_path: Path) -> None:
    functions = [
        lambda x, i, s, k=k: x.scatter_reduce(0, i, s, reduce=k, include_self=with_self)
        for k in KINDS
    ]
    functions += [
        lambda x, i, s, k=k: x.index_reduce(1, i[0], s[:, :4].T[:4, :3].T, k, include_self=with_self)
        for k in KINDS[1:]
    ]  # fmt: skip
    x, source = randn(3, 4), torch.tensor([[3.0, -INF, 5, 7, 1], [2, 2, -2, 0, 1], [1, 2, 3, 4, 5]])
    cases = [(x, torch.tensor([i, j]), source) for i, j in (([0, 1, 2, 0],) * 2, ([2] * 4, [0] * 4))]  # fmt: skip
    agree(tmp_path, functions[: len(KINDS)], *cases)
    agree(tmp_path, functions[len(KINDS) :], (x, torch.tensor([[0, 2, 0]] * 2), source[:, :3]))


@pytest.mark.parametrize("with_self", [True, False])
def test_reductions_of_integers_at_places(with_self: bool, tmp_path: Path) -> None:
    functions = [
        lambda x, i, s, k=k: x.scatter_reduce(1, i, s, reduce=k, include_self=with_self)
        for k in KINDS
    ]
    x, i, s = ([5, -7, 9], [0, 0, 2], [-4, 3, 2])
    agree(tmp_path, functions, tuple(torch.tensor([v]) for v in (x, i, s)))


def test_the_middle_and_the_chosen(tmp_path: Path) -> None:
    functions = [
        lambda x, m: x.median(),
        lambda x, m: x.nanmedian(),
        lambda x, m: x.median(1)[0],
        lambda x, m: x.median(1, keepdim=True)[1],
        lambda x, m: x.nanmedian(1)[0],
        lambda x, m: (x * 100).nan_to_num().long().median(1)[0],
        lambda x, m: torch.masked_select(x, m),
        lambda x, m: torch.masked_select(x[:, :1], m).sum(),
    ]
    x = randn(4, 5)
    holed = x.clone()
    holed[1, 2] = NAN
    cases = [(x, x > 0), (holed, x > 9), (holed, x < 9)]
    agree(tmp_path, functions, *cases)


def test_the_largest_and_running_products(tmp_path: Path) -> None:
    functions = [
        lambda x: x.amax(),
        lambda x: x.amin((0, 1), keepdim=True),
        lambda x: x.aminmax()[0],
        lambda x: x.aminmax(dim=1)[1],
        lambda x: (x * 9).to(torch.int16).amax(1),
        lambda x: (x > 0).amax(1),
        lambda x: x.cumprod(0),
        lambda x: (x * 3).long().cumprod(1),
        lambda x: x.cummax(0)[1],
    ]
    agree(tmp_path, functions, (randn(5, 4),), (randn(1, 4),), dynamic=({0: "n"},))


def test_numbers_with_signs_and_without(tmp_path: Path) -> None:
    functions = [
        torch.fmax,
        torch.fmin,
        torch.copysign,
        lambda a, b: torch.copysign(a, -1.5),
        lambda a, b: torch.signbit(b[1:]),
        lambda a, b: torch.hypot(a[2:], b[2:]),
        lambda a, b: torch.hypot(a[2:] * 1e30, b[2:] * 1e30)[:3],
        lambda a, b: torch.ceil(b[1:5].long()) + torch.floor(b[1:5].long()),
        lambda a, b: torch.ceil(b) + torch.floor(b * 0.3) + torch.round(b * 0.7),
        lambda a, b: torch.round(b[1:5].long()),
        lambda a, b: torch.fmax(a.nan_to_num(0, 9, -9).long(), torch.tensor(2)),
    ]
    a, b = (NAN, NAN, -0.0, 0.0, -2, INF), (NAN, 3.0, 0.0, -0.0, -5, -INF)
    agree(tmp_path, functions, (torch.tensor(a), torch.tensor(b)))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, INF])
def test_distances(p: float, tmp_path: Path) -> None:
    agree(tmp_path, [lambda a, b: torch.cdist(a, b, p)], (randn(2, 5, 4), randn(2, 3, 4)))


def test_stacks_and_second_names(tmp_path: Path) -> None:
    """A second name promotes as the first: torch.onnx gives a float and an integer to Div."""
    functions = [
        lambda a, b, c: torch.hstack([a, b]),
        lambda a, b, c: torch.hstack([c, a]),
        lambda a, b, c: torch.vstack([a, b]),
        lambda a, b, c: torch.dstack([a, b]),
        lambda a, b, c: torch.dstack([a[None], b[None]]),
        lambda a, b, c: torch.divide(a, torch.arange(1, 4)),
        lambda a, b, c: torch.multiply(torch.arange(3), a),
        lambda a, b, c: torch.subtract(a, torch.arange(3), alpha=2),
        lambda a, b, c: torch.greater(a, torch.arange(3)),
        lambda a, b, c: torch.arctan2(a, b),
        lambda a, b, c: torch.clip(a, -0.5, 0.5),
        lambda a, b, c: torch.swapaxes(a[None], 0, 1),
    ]
    agree(tmp_path, functions, (randn(3), randn(3) + 1, torch.tensor(1.0)))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_sampling_of_volumes(mode: str, padding: str, tmp_path: Path) -> None:
    grid = torch.rand(1, 2, 2, 2, 3, generator=torch.Generator().manual_seed(1)) * 2.4 - 1.2
    functions = [
        lambda x, g, a=a: F.grid_sample(x, g, mode=mode, padding_mode=padding, align_corners=a)
        for a in (True, False)
    ]
    agree(tmp_path, functions, (randn(1, 2, 3, 4, 5), grid))


def test_windows_are_those_of_torch(tmp_path: Path) -> None:
    functions = [
        lambda x: x * torch.hamming_window(8),
        lambda x: x * torch.hamming_window(8, False, 0.6, 0.4),
        lambda x: x * torch.hann_window(8, periodic=False),
        lambda x: x * torch.kaiser_window(8, True, 6.0),
        lambda x: x * torch.blackman_window(8),
    ]
    agree(tmp_path, functions, (randn(8),))


def test_bounds_by_half_a_size(tmp_path: Path) -> None:
    """Python's s // 2 of a size that may be 0 is Div of what divides, of which no sign need be known."""
    functions = [
        lambda x: x[:, -(x.shape[1] // 2 + 1) :],
        lambda x: x[:, : -(x.shape[1] // 2)],
        lambda x: x[:, x.shape[1] // 2 - x.shape[1] :],
    ]
    cases = [(randn(b, s, 4),) for b, s in ((2, 6), (3, 9), (1, 2))]
    agree(tmp_path, functions, *cases, dynamic=({0: "b", 1: "s"},))


@pytest.mark.parametrize("function", [torch.atleast_1d, torch.atleast_2d, torch.atleast_3d])
def test_axes_that_several_tensors_get(function, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    def each(x):  # type: ignore[no-untyped-def]
        return torch.cat(
            [y.flatten() * y.dim() for y in function([x[0, 0, 0, 0], x[0, 0, 0], x[0, 0], x])]
        )

    agree(tmp_path, [each, lambda x: function(x[0, 0, 0, 0], x[0, 0, 0])[1]], (randn(2, 3, 4, 5),))
