"""Values for the inputs of a module beside those of its example: what an operator may treat otherwise, in the domain that the example shows.

Integers keep to the set of values that the example has, as they may be places; more of them where the module takes them.
"""

from __future__ import annotations

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
SCALES: Final = {"small values": 2.0**-10, "large values": 200.0}
"""What the floats of an example are multiplied by."""
SIGNED: Final = (None, (-(1 << 15), 1 << 15), (-100, 100), (-4, 4), (-2, 2))
COUNTED: Final = (1 << 15, 1000, 100, 16, 4, 2)
"""Ranges of integers, from their least to before their last, that are tried for an input until the module takes them; None: WIDE.
COUNTED begin at 0."""


def is_sorted(torch: Any, x: Any) -> bool:
    """At least four elements a row, which are hardly so by chance."""
    if x.dtype is torch.bool or x.is_complex() or x.ndim == 0 or x.shape[-1] < 4:
        return False
    steps = x[..., 1:] >= x[..., :-1]
    return x.numel() > 0 and bool(steps.all()) and bool((x[..., -1:] > x[..., :1]).all())


def sized(torch: Any, x: Any, shape: Sequence[int]) -> Any:
    """The example's elements, again and again or cut off along each axis."""
    if tuple(x.shape) == tuple(shape):
        return x.clone()
    if x.numel() == 0:
        return torch.zeros(*shape, dtype=x.dtype)
    for axis, n in enumerate(shape):
        x = x.index_select(axis, torch.arange(n) % x.shape[axis])
    return x.contiguous()


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


def rows(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Whole rows of the example."""
    flat = x.reshape(-1, x.shape[-1])
    at = torch.randint(0, len(flat), tuple(shape[:-1]), generator=rng)
    return flat[at]


def is_boxes(x: Any) -> bool:
    """Rows of two corners, perhaps behind the image that they are of."""
    if x.ndim < 2 or x.shape[-1] not in (4, 5) or not x.is_floating_point() or x.numel() == 0:
        return False
    return bool((x[..., -2:] >= x[..., -4:-2]).all())


def drawn(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Floats of the example's mean and deviation; all else, and what looks like a mask, `shuffled`."""
    if not x.is_floating_point() or _is_mask(torch, x):
        return shuffled(torch, x, shape, rng)
    wide = x.double()
    mean, deviation = float(wide.mean()), float(wide.std(correction=0))
    deviation = deviation if deviation > 1e-6 * abs(mean) else max(abs(mean), 1.0)
    noise = torch.randn(tuple(shape), generator=rng, dtype=torch.float64)
    return (noise * deviation + mean).to(x.dtype)


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


def scaled(torch: Any, x: Any, shape: Sequence[int], rng: Any, by: float) -> Any:
    """The example's floats times a number. All else as it is."""
    y = sized(torch, x, shape)
    if not x.is_floating_point() or _is_mask(torch, x):
        return y
    return y * (by if x.element_size() >= 4 else min(by, 8.0))


def with_zeros(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """The example with every other row 0. Not all of it: what normalizes equals shows but rounding."""
    y = sized(torch, x, shape)
    if x.is_floating_point() and not _is_mask(torch, x) and y.ndim:
        (y[..., ::2, :] if y.ndim > 1 else y[::2]).zero_()
    return y


def below(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """As `wide`, all floats below 0."""
    y = wide(torch, x, shape, rng)
    return -y.abs() if x.is_floating_point() and not _is_mask(torch, x) else y


def usual(torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
    """Floats of deviation 2, whatever the example's are; all else `shuffled`."""
    if not x.is_floating_point() or _is_mask(torch, x):
        return shuffled(torch, x, shape, rng)
    return (torch.randn(tuple(shape), generator=rng, dtype=torch.float64) * 2).to(x.dtype)


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


def most(takes: Callable[[int], bool]) -> int:
    """An end of integers from 0 on that is taken, near the last one that is; 0 where none is."""
    end = next((n for n in COUNTED if takes(n)), 0)
    beyond = min((n for n in COUNTED if n > end), default=end)
    while end and beyond > end + 1 and beyond > 1.1 * end:
        middle = (end + beyond) // 2
        end, beyond = (middle, beyond) if takes(middle) else (end, middle)
    return end


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
