"""Special functions, bags of embeddings and how often values come: translations that torch.onnx lacks, against eager PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from models.test_operators import agree, randn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
INF, NAN = float("inf"), float("nan")
EDGES = torch.tensor([0.0, -0.0, INF, NAN, 1e-30, -1e-30, 3e38, 1e-4, -1e-4])
NEAR = torch.tensor([1.0, 2.0, 0.999, 1.001, 1.999, 2.001, 1.4616321, 2.9999, 3.0, 7.999, 8.0, 10])
LINE = torch.cat([torch.linspace(-9.93, 12.07, 500), torch.linspace(20, 3000, 20)])


def test_logarithms_of_the_gamma_function(tmp_path: Path) -> None:
    functions = [torch.lgamma, torch.special.gammaln, lambda x: torch.lgamma(x.long())]
    poles = torch.tensor([-1.0, -2, -3, -50, -INF])
    every = torch.cat([LINE, NEAR, EDGES, poles])
    agree(tmp_path, functions[:2], (every,), (NEAR,), dynamic=({0: "n"},))
    agree(tmp_path, functions[2:], (LINE[LINE > 1],))
    agree(tmp_path, [lambda x: torch.special.multigammaln(x, 3)], (LINE[LINE > 1.1],))


def test_their_derivative(tmp_path: Path) -> None:
    poles = torch.tensor([-1.0, -2, -3, -50])
    every = torch.cat([LINE, NEAR[NEAR != 1.4616321], EDGES[EDGES.abs() != 1e-30], poles])
    agree(tmp_path, [torch.digamma, torch.special.psi], (every,), (NEAR,), dynamic=({0: "n"},))


def test_where_the_error_function_has_a_value(tmp_path: Path) -> None:
    every = torch.cat(
        [torch.linspace(-1, 1, 401), torch.tensor([0.0, -0.0, 1.5, -2, NAN, 1e-20, 0.99999, -0.7])]
    )
    functions = [torch.erfinv, lambda x: torch.special.erfinv(x * 0.5).half()]
    agree(tmp_path, functions, (every,), (every[::2],), dynamic=({0: "n"},))


def test_logarithms_of_what_f32_has_not_and_angles_of_zeros(tmp_path: Path) -> None:
    x = torch.tensor([0.0, 1, 90, -90, 1e4, -1e4, 3, -0.0, -2, INF])
    y = torch.tensor([3.0, 1, 3, -91, 1e4, 5, -0.0, 0.0, -1e-3, INF])
    functions = [
        lambda x, y: torch.nn.functional.logsigmoid(x),
        torch.logaddexp,
        lambda x, y: torch.nn.functional.binary_cross_entropy_with_logits(x[:8], y[:8].sigmoid()),
    ]
    agree(tmp_path, functions, (x.abs()[:9] * 0.01, y[:9]), (x[:9], y[:9]), (y[:9], x[:9]))
    points = [(x, y), (y, x), (x, -y), (-y, -x), (x * 0, -(y.abs())), (x, y * NAN)]
    agree(tmp_path, [torch.atan2], *points)


def test_logarithms_of_sums_that_grow(tmp_path: Path) -> None:
    x = randn(3, 4, 5)
    far = x * torch.tensor([1.0, -9e3, 40, 1e-3, 2e4])
    edges = torch.tensor([-INF, -INF, 2, -1e30, INF]).expand(3, 4, 5)
    functions = [
        lambda x: x.logcumsumexp(0),
        lambda x: x.logcumsumexp(-1),
    ]
    agree(tmp_path, functions, (x,), (far,), (edges,), (x[:0],), dynamic=({0: "n"},))
    functions = [lambda x: x.double().logcumsumexp(1), lambda x: x[0, 0, 0].logcumsumexp(0)]
    agree(tmp_path, functions, (far,))


def test_targets_end_at_the_first_that_is_none(tmp_path: Path) -> None:
    loss = torch.nn.functional.multilabel_margin_loss
    functions = [
        lambda x, t: loss(x, t),
        lambda x, t: loss(x, t, reduction="none"),
        lambda x, t: loss(x, t, reduction="sum"),
        lambda x, t: loss(x[0], t[0], reduction="none"),
    ]
    every, some = [[1, 2, 3, 0]] * 2, [[3, 0, -1, 1], [-1, 2, 1, 0]]
    x = randn(2, 4)
    odd = torch.where(x > x.mean(), x, NAN)
    full, ended = torch.tensor(every), torch.tensor(some)
    agree(tmp_path, functions, (x, full), (x, ended), (x * 3, ended.flip(0)), (odd, ended))


def test_the_most_frequent(tmp_path: Path) -> None:
    x = (randn(3, 5, 4) * 1.2).round()
    functions = [
        lambda x: x.mode(1)[0],
        lambda x: x.mode(-1, keepdim=True)[0],
        lambda x: x.mode(-1)[1],
        lambda x: x.long().mode(0, keepdim=True)[1],
        lambda x: (x > 0).mode(1)[0],
        lambda x: x[0, 0, 0].mode()[0],
    ]
    agree(tmp_path, functions, (x,), (x[:, :2],), (x[:1],), dynamic=({0: "b", 1: "n"},))


def test_runs_of_equals(tmp_path: Path) -> None:
    x = (randn(12) * 0.8).round()
    functions = [
        lambda x: x.unique_consecutive(),
        lambda x: x.unique_consecutive(return_inverse=True)[1],
        lambda x: x.unique_consecutive(return_counts=True)[1],
        lambda x: (x > 0).unique_consecutive(return_counts=True)[1],
        lambda x: x[:4].reshape(2, 2).long().unique_consecutive(return_inverse=True)[1],
    ]
    agree(tmp_path, functions, (x,), (x[:4],), (x * 0,), dynamic=({0: "n"},))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
def test_bags_of_embeddings(mode: str, padding: int | None, tmp_path: Path) -> None:
    table = randn(7, 3)
    table[5, 1] = INF
    bag = torch.nn.EmbeddingBag.from_pretrained(table, mode=mode, padding_idx=padding)
    last = torch.nn.EmbeddingBag.from_pretrained(table, mode=mode, include_last_offset=True)
    ids, starts = torch.tensor([1, 2, 2, 5, 0, 6]), torch.tensor([0, 2, 2, 3])
    agree(
        tmp_path,
        [bag, lambda i, o: last(i, torch.cat([o, o.new_full((1,), 6)]))],
        (ids, starts),
        (ids.flip(0), starts[:1]),
        (ids, torch.tensor([0, 0, 0, 6, 6])),
        dynamic=({}, {0: "bags"}),  # of none PyTorch ends the process
    )
    rows = torch.tensor([[1, 2, 2], [2, 2, 2], [4, 3, 0], [6, 5, 1]])
    agree(tmp_path, [bag], (rows,), (rows[:2],), dynamic=({0: "bags"},))


def test_bags_by_weights(tmp_path: Path) -> None:
    bag = torch.nn.EmbeddingBag.from_pretrained(randn(7, 3), mode="sum")
    rows, weights = torch.tensor([[1, 2, 2], [4, 3, 0]]), randn(2, 3)
    agree(tmp_path, [lambda i, w: bag(i, per_sample_weights=w)], (rows, weights))
