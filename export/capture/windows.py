"""Windows that ONNX has not, on the traced graph: convolutions and pools of integers, and pools whose windows are drawn. The elements of
every window are gathered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .traced import calls

Places = tuple[Any, Any]
"""Of an axis [results, taps]: which element each tap reads, and whether it is one."""


def needed(torch: Any, program: Any) -> bool:
    """Whether the program has one of the operators: of integers with sizes that are fixed, or of drawn windows."""
    known, always = table(torch), drawn(torch)
    found = [node for node in calls(torch, program) if node.target in known]
    return any(node.target in always or _is_whole(node) for node in found)


def _is_whole(node: Any) -> bool:
    x = node.args[0].meta.get("val") if node.args and hasattr(node.args[0], "meta") else None
    return x is not None and _takes(x)


def _takes(x: Any) -> bool:
    is_whole = not x.dtype.is_floating_point and not x.dtype.is_complex
    return is_whole and all(isinstance(n, int) and n for n in x.shape)


def table(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Decompositions; NotImplemented of floats."""
    aten = torch.ops.aten
    made: dict[Any, Callable[..., Any]] = {}
    for i in (1, 2, 3):
        made[getattr(aten, f"conv{i}d").default] = _convolution(torch, i)
        made[getattr(aten, f"conv{i}d").padding] = _convolution(torch, i)
        transposed = getattr(aten, f"conv_transpose{i}d")
        made[transposed.default if i == 1 else transposed.input] = _transposed(torch, i)
        made[getattr(aten, f"avg_pool{i}d").default] = _average(torch, i)
        made[getattr(aten, f"max_pool{i}d").default] = _largest(torch, i, False)
        made[getattr(aten, f"max_pool{i}d_with_indices").default] = _largest(torch, i, True)
    return {op: _for_whole(function) for op, function in made.items()} | drawn(torch)


def _for_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: function(x, *args, **kwargs) if _takes(x) else NotImplemented


def _each(x: Any, axes: int) -> list[int]:
    return [x] * axes if isinstance(x, int) else list(x) * (axes if len(x) == 1 else 1)


def _places(torch: Any, n: int, k: int, s: int, p: int, d: int, count: int) -> Places:
    at = torch.arange(count).unsqueeze(1) * s - p + torch.arange(k) * d
    return at.clamp(0, n - 1), (at >= 0) & (at < n)


def _spread(torch: Any, n: int, k: int, s: int, p: int, d: int, count: int) -> Places:
    """Of a transposed convolution: which element a tap of the kernel spreads to each result."""
    at = torch.arange(count).unsqueeze(1) + p - torch.arange(k) * d
    is_one = (at % s == 0) & (at >= 0) & (at < n * s)
    return (at // s).clamp(0, n - 1), is_one


def _taps(torch: Any, x: Any, places: Sequence[Places], fill: Any) -> Any:
    """[.., sizes] as [.., results, taps], both over all axes; `fill` where there is no element."""
    axes = len(places)
    lead = x.dim() - axes
    for i, (at, is_one) in enumerate(places):
        axis = lead + 2 * i
        x = x.index_select(axis, at.flatten()).unflatten(axis, at.shape)
        wide = is_one.reshape(*is_one.shape, *[1] * (x.dim() - axis - 2))
        x = torch.where(wide, x, torch.full_like(x, fill))
    order = [*range(lead), *range(lead, x.dim(), 2), *range(lead + 1, x.dim(), 2)]
    return x.permute(order).flatten(lead + axes)


def _batched(x: Any, axes: int) -> tuple[Any, bool]:
    return (x.unsqueeze(0), True) if x.dim() == axes + 1 else (x, False)


def _product(torch: Any, x: Any, weight: Any, bias: Any, places: Any, groups: int) -> Any:
    """x [n, g c, ..] of windows times weight [g, out, c taps]."""
    taps = _taps(torch, x, places, 0)
    rows = taps.unflatten(1, (groups, -1)).flatten(3, -2)  # [n, g, c, results, taps]
    rows = rows.permute(0, 1, 3, 2, 4).flatten(3)
    channels = weight.shape[0] * weight.shape[1]
    y = (rows @ weight.mT).mT.reshape(taps.shape[0], channels, *taps.shape[2:-1])
    return y if bias is None else y + bias.reshape(-1, *[1] * (taps.dim() - 3))


def _convolution(torch: Any, axes: int) -> Callable[..., Any]:
    def convolution(
        x: Any,
        w: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        x, is_alone = _batched(x, axes)
        stride, dilation = _each(stride, axes), _each(dilation, axes)
        kernel = w.shape[2:]
        spans = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        is_same, is_valid = padding == "same", padding == "valid"
        ends = (
            spans if is_same else [0] * axes if is_valid else [2 * p for p in _each(padding, axes)]
        )
        places = [
            _places(torch, n, k, s, e // 2, d, (n + e - span - 1) // s + 1)
            for n, k, s, e, d, span in zip(
                x.shape[2:], kernel, stride, ends, dilation, spans, strict=True
            )
        ]
        weight = w.reshape(groups, w.shape[0] // groups, -1)
        y = _product(torch, x, weight, bias, places, groups)
        return y.squeeze(0) if is_alone else y

    return convolution


def _transposed(torch: Any, axes: int) -> Callable[..., Any]:
    def transposed(
        x: Any,
        w: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        more: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        x, is_alone = _batched(x, axes)
        stride, padding, more, dilation = (
            _each(v, axes) for v in (stride, padding, more, dilation)
        )
        places = [
            _spread(torch, n, k, s, p, d, (n - 1) * s - 2 * p + d * (k - 1) + m + 1)
            for n, k, s, p, m, d in zip(
                x.shape[2:], w.shape[2:], stride, padding, more, dilation, strict=True
            )
        ]
        weight = w.unflatten(0, (groups, -1)).transpose(1, 2).flatten(2)
        y = _product(torch, x, weight, bias, places, groups)
        return y.squeeze(0) if is_alone else y

    return transposed


def _count(n: int, k: int, s: int, p: int, d: int, is_ceil: bool) -> int:
    """Results of a pool; one that would begin behind the padding in front of the end is none."""
    span = n + 2 * p - d * (k - 1) - 1
    count = (-(-span // s) if is_ceil else span // s) + 1
    return count - 1 if is_ceil and (count - 1) * s >= n + p else count


def _average(torch: Any, axes: int) -> Callable[..., Any]:
    def average(
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        is_ceil: bool = False,
        has_pads: bool = True,
        divisor: Any = None,
    ) -> Any:
        kernel = _each(kernel, axes)
        stride = _each(stride, axes) if stride else kernel
        padding, sizes = _each(padding, axes), x.shape[-axes:]
        places, counts = [], torch.ones([], dtype=torch.int64)
        for n, k, s, p in zip(sizes, kernel, stride, padding, strict=True):
            results = _count(n, k, s, p, 1, is_ceil)
            at, is_one = _places(torch, n, k, s, p, 1, results)
            places.append((at, is_one))
            begin = torch.arange(results) * s - p
            held = torch.clamp(begin + k, max=n + p) - begin if has_pads else is_one.sum(1)
            counts = counts.unsqueeze(-1) * held
        total = _taps(torch, x, places, 0).sum(-1)
        by = counts.to(x.dtype) if divisor is None else torch.full_like(total, divisor)
        return torch.div(total.to(x.dtype), by, rounding_mode="trunc")

    return average


def _largest(torch: Any, axes: int, has_places: bool) -> Callable[..., Any]:
    def largest(
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        is_ceil: bool = False,
    ) -> Any:
        kernel = _each(kernel, axes)
        stride = _each(stride, axes) if stride else kernel
        padding, dilation = _each(padding, axes), _each(dilation, axes)
        sizes = x.shape[-axes:]
        places = [
            _places(torch, n, k, s, p, d, _count(n, k, s, p, d, is_ceil))
            for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
        ]
        taps = _taps(torch, x, places, torch.iinfo(x.dtype).min)
        if not has_places:
            return taps.amax(-1)
        flat = torch.arange(math.prod(sizes)).reshape(sizes)
        where = _taps(torch, flat, places, 0)
        best = taps.argmax(-1, keepdim=True)
        found = torch.gather(where.expand(taps.shape), -1, best).squeeze(-1)
        return taps.amax(-1), found

    return largest


def drawn(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Decompositions of fractional pools, of floats: windows begin where numbers that are drawn before say."""
    aten = torch.ops.aten
    return {
        aten.fractional_max_pool2d.default: _fractional(torch, 2),
        aten.fractional_max_pool3d.default: _fractional(torch, 3),
    }


def _fractional(torch: Any, axes: int) -> Callable[..., Any]:
    def starts(sample: Any, n: int, k: int, count: int) -> Any:
        """[batch, channels, count]; the last window ends where the axis does."""
        last = torch.full_like(sample, n - k, dtype=torch.int64).unsqueeze(-1)
        if count == 1:
            return last
        share = (n - k) / (count - 1)
        sample = sample.unsqueeze(-1)
        at = ((torch.arange(count - 1) + sample) * share).to(torch.int64)
        return torch.cat([at - (sample * share).to(torch.int64), last], -1)

    def pool(x: Any, kernel: Any, output_size: Any, samples: Any) -> Any:
        x, is_alone = _batched(x, axes)
        kernel, counts = _each(kernel, axes), _each(output_size, axes)
        sizes, places = x.shape[2:], torch.zeros([1] * (2 + 2 * axes), dtype=torch.int64)
        order = range(axes) if axes == 3 else (1, 0)
        for i, n, k, count in zip(range(axes), sizes, kernel, counts, strict=True):
            begin = starts(samples[..., order[i]], n, k, count)
            at = begin.unsqueeze(-1) + torch.arange(k)
            shape = [1] * (2 * axes)
            shape[i], shape[axes + i] = count, k
            places = places * n + at.reshape(*at.shape[:2], *shape)
        flat = places.expand(*x.shape[:2], *places.shape[2:]).flatten(2)
        each = math.prod(kernel)
        taps = torch.gather(x.flatten(2), 2, flat).reshape(*x.shape[:2], *counts, each)
        where = flat.reshape(taps.shape)
        best = taps.argmax(-1, keepdim=True)
        both = taps.amax(-1), torch.gather(where, -1, best).squeeze(-1)
        return tuple(t.squeeze(0) for t in both) if is_alone else both

    return pool
