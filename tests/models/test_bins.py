"""Histograms, segments, drawn windows, norms and distances; beside PyTorch's own, and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_operators import agree, randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
A, F = torch.ops.aten, torch.nn.functional


def same(got: Any, want: Any) -> bool:
    if not isinstance(want, (tuple, list)):
        got, want = [got], [want]
    leaves = torch.utils._pytree.tree_leaves
    pairs = zip(leaves(got), leaves(want), strict=True)
    return all(torch.allclose(g.double(), w.double(), atol=1e-5, equal_nan=True) for g, w in pairs)


def test_bins_segments_and_drawn_windows_are_as_pytorch_has_them() -> None:
    from pteron.export.capture import segments, windows

    known = {**segments.table(torch), **windows.drawn(torch)}
    v, m, d, w = randn(50), randn(20, 3), randn(6, 4), randn(20).abs()
    lengths, ends = torch.tensor([2, 0, 4]), [-1.0, 1.0] * 3
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (A.histogram.bin_ct, (v, 7), {}), (A.histogram.bin_ct, (torch.ones(3), 4), {}),
        (A.histogram.bin_ct, (v, 7), {"range": [-1.0, 1.0], "weight": v.abs(), "density": True}),
        (A.histogram.bins_tensor, (v, torch.tensor([-1.0, 0.0, 0.5, 2.0])), {"density": True}),
        (A.histogramdd.default, (m, [3, 4, 5]), {}), (A.histogramdd.int_bins, (m, 3, ends, w, True), {}),
        (A.fractional_max_pool2d.default, (randn(2, 3, 9, 8), [2, 3], [4, 1], torch.rand(2, 3, 2)), {}),
        (A.fractional_max_pool3d.default, (randn(2, 9, 8, 7), 2, [4, 3, 5], torch.rand(1, 2, 3)), {}),
        (A.segment_reduce.default, (d.reshape(2, 6, 2), "sum"), {"lengths": torch.tensor([[2, 4], [5, 1]]), "axis": 1}),
        *((A.segment_reduce.default, (d, how), {"lengths": lengths, "initial": first, "unsafe": True})
          for how in ("sum", "mean", "max", "min", "prod") for first in (None, 2)),
    ]  # fmt: skip
    for op, args, kwargs in calls:
        assert same(known[op](*args, **kwargs), op(*args, **kwargs)), (op, kwargs)


def test_bins_norms_and_distances_exported(tmp_path: Path) -> None:
    functions = [
        lambda x: torch.histogram(x, 5, weight=x.abs())[0], lambda x: F.pdist(x[:, :3], 1.0), lambda x: x[0, 0].norm(),
        lambda x: torch.segment_reduce(x, "max", lengths=torch.tensor([1, 3]), unsafe=True), lambda x: torch.rrelu(x),
        lambda x: torch.linalg.vector_norm(x, keepdim=True), lambda x: F.pad(x[None], (-4, 3), mode="replicate"),
        lambda x: torch.matrix_exp(torch.stack([x, 9 * (x - x.T)])),
        lambda x: F.embedding_bag(torch.tensor([3, 0, 3, 1]), x, torch.tensor([0, 2]), mode="sum", padding_idx=-1),
        lambda x: x[0, 0].scatter(0, torch.tensor(0), 2.0), lambda x: x[0, 0].scatter_add(0, torch.tensor([0]), x[1, :1]),
        lambda x: x.scatter(1, torch.tensor([[1, 3], [0, 2]]), -x),
        lambda x: F.fractional_max_pool2d(x[:0, None, None].expand(0, 1, 4, 4), 2, 2, _random_samples=x[:0, None, :2]),
    ]  # fmt: skip
    agree(tmp_path, functions, (randn(4, 4),))


def test_what_is_drawn_is_refused_for_that() -> None:
    class Drawn(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.rrelu(x, training=True), A.uniform(x)

    with pytest.raises(pteron.PteronError, match="gives random numbers"):
        pteron.export_model(Drawn(), args=(randn(3),))
