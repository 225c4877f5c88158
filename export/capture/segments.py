"""Histograms and reductions of segments, on the traced graph: every element beside every bin or segment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .traced import calls, overload


def table(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Decompositions of aten's operators, with their parameters."""
    known = {**_histograms(torch), "segment_reduce.default": _segments(torch)}
    return {overload(torch.ops.aten, name): function for name, function in known.items()}


def needed(torch: Any, program: Any) -> bool:
    known = table(torch)
    return any(node.target in known for node in calls(torch, program))


def _edges(torch: Any, bins: int, low: Any, high: Any) -> Any:
    """As torch.linspace has them, from both ends."""
    same = low == high
    low, high = torch.where(same, low - 0.5, low), torch.where(same, high + 0.5, high)
    step, at = (high - low) / bins, torch.arange(bins + 1)
    return torch.where(at < (bins + 1) // 2, low + step * at, high - step * (bins - at))


def _all_edges(torch: Any, x: Any, bins: Sequence[int], ends: Any) -> list[Any]:
    """Of each column of x [n, axes]."""
    if ends is not None:
        pairs = [
            (x.new_full((), a), x.new_full((), b))
            for a, b in zip(ends[::2], ends[1::2], strict=True)
        ]
    elif x.shape[0]:
        pairs = [(c.amin(), c.amax()) for c in x.unbind(1)]
    else:
        pairs = [(x.new_zeros(()), x.new_ones(()))] * len(bins)
    return [_edges(torch, n, low, high) for n, (low, high) in zip(bins, pairs, strict=True)]


def _counted(torch: Any, x: Any, edges: Sequence[Any], weight: Any, is_density: bool) -> Any:
    """Which bin each row of x [n, axes] is in, the last edge with its bin; what lies outside is in none."""
    place, inside = (
        torch.zeros_like(x[:, 0], dtype=torch.int64),
        torch.ones_like(x[:, 0], dtype=torch.bool),
    )
    for column, edge in zip(x.unbind(1), edges, strict=True):
        n = edge.shape[0] - 1
        at = (edge <= column.unsqueeze(1)).sum(1) - 1
        inside = inside & (column >= edge[0]) & (column <= edge[-1])
        place = place * n + at.clamp(0, n - 1)
    sizes = [edge.shape[0] - 1 for edge in edges]
    total = math.prod(sizes)
    share = torch.ones_like(x[:, 0]) if weight is None else weight.reshape(-1).to(x.dtype)
    is_here = (place == torch.arange(total).unsqueeze(1)) & inside
    hist = torch.where(is_here, share, torch.zeros_like(share)).sum(1).reshape(sizes)
    if not is_density:
        return hist
    y = hist / hist.sum()
    for i, edge in enumerate(edges):
        y = y / edge.diff().reshape([-1 if k == i else 1 for k in range(len(sizes))])
    return y


def _histograms(torch: Any) -> dict[str, Callable[..., Any]]:
    def bin_ct(
        x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
    ) -> Any:
        flat = x.reshape(-1, 1)
        (edge,) = _all_edges(torch, flat, [bins], range)
        return _counted(torch, flat, [edge], weight, density), edge

    def bins_tensor(x: Any, bins: Any, *, weight: Any = None, density: bool = False) -> Any:
        return _counted(torch, x.reshape(-1, 1), [bins], weight, density), bins.clone()

    def rows(x: Any) -> Any:
        return x.reshape(-1, x.shape[-1])

    def bin_edges(
        x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
    ) -> Any:
        return _all_edges(torch, rows(x), bins, range)

    def from_cts(
        x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
    ) -> Any:
        return _counted(torch, rows(x), _all_edges(torch, rows(x), bins, range), weight, density)

    def from_tensors(x: Any, bins: Any, *, weight: Any = None, density: bool = False) -> Any:
        return _counted(torch, rows(x), bins, weight, density)

    def dd(x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
        bins = [bins] * x.shape[-1] if isinstance(bins, int) else bins
        made = _all_edges(torch, rows(x), bins, range)
        return _counted(torch, rows(x), made, weight, density), made

    def dd_tensors(
        x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
    ) -> Any:
        return _counted(torch, rows(x), bins, weight, density), [edge.clone() for edge in bins]

    return {
        "histogram.bin_ct": bin_ct, "histogram.bins_tensor": bins_tensor, "_histogramdd_bin_edges.default": bin_edges,
        "_histogramdd_from_bin_cts.default": from_cts, "_histogramdd_from_bin_tensors.default": from_tensors,
        "histogramdd.default": dd, "histogramdd.int_bins": dd, "histogramdd.TensorList_bins": dd_tensors,
    }  # fmt: skip


def _segments(torch: Any) -> Callable[..., Any]:
    def reduced(
        x: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
        unsafe: bool = False, initial: Any = None,
    ) -> Any:  # fmt: skip
        """[.., n, ..] as [.., segments, ..]; of no elements `initial`, or what the reduction begins with (NaN of a mean)."""
        if lengths is not None:
            end = lengths.cumsum(-1)
            start = end - lengths
        else:
            start, end = offsets[..., :-1], offsets[..., 1:]
        at = torch.arange(x.shape[axis])
        held = (at >= start.unsqueeze(-1)) & (at < end.unsqueeze(-1))
        mask = held.reshape(*held.shape, *[1] * (x.dim() - axis - 1))
        first = {"prod": 1.0, "max": -math.inf, "min": math.inf}.get(reduce, 0.0)
        wide = torch.where(mask, x.unsqueeze(axis), torch.full_like(x.unsqueeze(axis), first))
        begin = first if initial is None else float(initial)
        if reduce in ("max", "min"):
            y = (wide.amax if reduce == "max" else wide.amin)(axis + 1)
            return (torch.maximum if reduce == "max" else torch.minimum)(
                y, torch.full_like(y, begin)
            )
        if reduce == "prod":
            return wide.prod(axis + 1) * begin
        y = wide.sum(axis + 1) + begin
        if reduce == "sum":
            return y
        count = mask.sum(axis + 1).expand(y.shape)
        none = torch.full_like(y, math.nan if initial is None else begin)
        return torch.where(count > 0, y / count.clamp(min=1).to(y.dtype), none)

    return reduced
