"""Values for the inputs of a module beside those of its example: what an operator may treat otherwise, in the domain that the example shows.

Integers keep to the set of values that the example has, as they may be places; more of them where the module takes them.
Rows that are in ascending order in the example stay so: searchsorted and bucketize mean nothing else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

SPECIAL: Final = [
    *(0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 1.0, -1.0, 2.0, -2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0),
    *(-7.0, 0.1, 0.25, 0.75, 4.0, 8.0, 50.0, 100.0, -100.0, 127.5, 128.0, 255.0, 256.0, 1e3, -1e3, 1e4),
]  # fmt: skip
"""Halves, whole numbers, limits."""
WIDE: Final = [
    *(0, 1, -1, 2, -2, 3, -3, 5, 7, 10, 14, 20, -7, 29, 58, 100, 127, 128, -128, 255, 256, 1000, 32767),
    *(65536, 2**24 + 1, 2**31 - 1, -(2**31), 2**31, 2**33 + 5, -(2**40) - 1),
]  # fmt: skip
"""Integers about the limits of narrower types, and of f32."""
SIGNED: Final = (None, (-(1 << 15), 1 << 15), (-100, 100), (-4, 4), (-2, 2))
COUNTED: Final = ((0, 1 << 15), (0, 1000), (0, 100), (0, 16), (0, 4), (0, 2))
"""Ranges of integers that are tried for an input, until the module takes them; None: WIDE."""


def _in_order(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Sorts what is drawn where the example is sorted along its last axis."""

    @functools.wraps(draw)
    def ordered(torch: Any, x: Any, *how: Any) -> Any:
        y = draw(torch, x, *how)
        return y.sort(-1).values if _is_sorted(torch, x) else y

    return ordered


def _is_sorted(torch: Any, x: Any) -> bool:
    """At least four elements a row, which are hardly so by chance."""
    if x.dtype is torch.bool or x.is_complex() or x.ndim == 0 or x.shape[-1] < 4:
        return False
    steps = x[..., 1:] >= x[..., :-1]
    return x.numel() > 0 and bool(steps.all()) and bool((x[..., -1:] > x[..., :1]).all())


@_in_order
def sized(torch: Any, x: Any, shape: Sequence[int]) -> Any:
    """The example's elements, again and again or cut off along each axis."""
    if tuple(x.shape) == tuple(shape):
        return x.clone()
    if x.numel() == 0:
        return torch.zeros(*shape, dtype=x.dtype)
    for axis, n in enumerate(shape):
        x = x.index_select(axis, torch.arange(n) % x.shape[axis])
    return x.contiguous()


@_in_order
def shuffled(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Elements of the example, infinities and NaN where it has them; of truth values both."""
    if x.dtype is torch.bool:
        return torch.rand(tuple(shape), generator=rng) < 0.5
    if x.numel() == 0:
        return sized(torch, x, shape)
    flat = x.reshape(-1)
    if not x.is_floating_point() or bool(torch.isfinite(flat).all()):
        return flat[torch.randint(0, len(flat), tuple(shape), generator=rng)]
    kept = sized(torch, x, shape)
    finite = flat[torch.isfinite(flat)]
    if len(finite) == 0:
        return kept
    drawn = finite[torch.randint(0, len(finite), tuple(shape), generator=rng)]
    return torch.where(torch.isfinite(kept), drawn, kept)


@_in_order
def drawn(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Floats of the example's mean and deviation; all else, and what looks like a mask, `shuffled`."""
    if not x.is_floating_point() or _is_mask(torch, x):
        return shuffled(torch, x, shape, rng)
    wide = x.double()
    mean, deviation = float(wide.mean()), float(wide.std(correction=0))
    deviation = deviation if deviation > 1e-6 * abs(mean) else max(abs(mean), 1.0)
    noise = torch.randn(tuple(shape), generator=rng, dtype=torch.float64)
    return (noise * deviation + mean).to(x.dtype)


@_in_order
def wide(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Floats of all magnitudes and signs, every other one of SPECIAL, in any order."""
    if not x.is_floating_point() or _is_mask(torch, x):
        return shuffled(torch, x, shape, rng)
    size = torch.rand(tuple(shape), generator=rng, dtype=torch.float64) * 6 - 2
    y = torch.randn(tuple(shape), generator=rng, dtype=torch.float64).sign() * 10**size
    flat = y.reshape(-1)
    chosen = torch.randperm(len(SPECIAL), generator=rng)[: (len(flat) + 1) // 2]
    places = torch.randperm(len(flat), generator=rng)[: len(chosen)]
    flat[places] = torch.tensor(SPECIAL, dtype=torch.float64)[chosen]
    if x.element_size() < 4:
        most = 8 * max(float(x.double().abs().max()) if x.numel() else 1.0, 1.0)
        y = y.clamp(-most, most)
    return y.to(x.dtype)


@_in_order
def whole(torch: Any, x: Any, rung: tuple[int, int] | None, shape: Sequence[int], rng: Any) -> Any:
    """Integers of a range; None: about all limits of the type."""
    limits = torch.iinfo(x.dtype)
    if rung is not None:
        least, end = max(rung[0], limits.min), min(rung[1], limits.max)
        return torch.randint(least, end, tuple(shape), generator=rng).to(x.dtype)
    values = torch.tensor([v for v in WIDE if limits.min <= v <= limits.max])
    count = math.prod(shape)
    order = torch.randperm(max(count, len(values)), generator=rng)[:count] % len(values)
    return values[order].to(x.dtype).reshape(tuple(shape))


def _is_mask(torch: Any, x: Any) -> bool:
    """Few values, or infinite ones: what stands for yes and no."""
    if x.numel() == 0 or not bool(torch.isfinite(x).all()):
        return True
    return x.numel() >= 8 and 1 < len(torch.unique(x)) <= 3


def nudged(torch: Any, x: Any, rng: Any) -> Any:
    """Each float moved by about a rounding of a long sum, relative to it."""
    if not x.is_floating_point() or x.element_size() < 2:
        return x
    step = {torch.float64: 2.0**-46, torch.float32: 2.0**-20, torch.float16: 2.0**-10}
    noise = torch.rand(tuple(x.shape), generator=rng, dtype=torch.float64) * 2 - 1
    return (x.double() * (1 + noise * step.get(x.dtype, 2.0**-7))).to(x.dtype)


def sizes(hints: dict[Any, int], limits: dict[Any, tuple[int, int]]) -> Iterator[dict[Any, int]]:
    """Other sizes for the symbols, each within its limits: all odd, twice and three times as large, the least."""
    if not hints:
        return
    ways = [
        {s: n + 1 + 2 * i for i, (s, n) in enumerate(hints.items())},
        {s: 2 * n for s, n in hints.items()},
        {s: 3 * n for s, n in hints.items()},
        {s: max(limits[s][0], 1) for s in hints},
        {s: max(n - 1, 1) for s, n in hints.items()},
    ]
    seen = [hints]
    for way in ways:
        kept = {s: min(max(n, limits[s][0]), limits[s][1]) for s, n in way.items()}
        if kept not in seen:
            seen.append(kept)
            yield kept
