"""Cases of the window and image operators: max_pool, average_pool, resize, grid_sample."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.dtypes import name_of
from pteron.schema.row import Out

RNG = np.random.default_rng(12)
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def image(size: tuple[int, ...], channels: int = 3, dtype: Any = np.float32) -> Array:
    return RNG.integers(-99, 99, (2, *size, channels)).astype(dtype)


def window(
    size: tuple[int, ...],
    kernel: int,
    stride: int = 1,
    dilation: int = 1,
    pad: int = 0,
    more: int = 0,
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Attributes and spatial extents; `more` outputs than fit, as ceil_mode gives."""
    axes = len(size)
    room = [n + 2 * pad - dilation * (kernel - 1) - 1 for n in size]
    attrs = {"kernel": kernel, "stride": stride, "dilation": dilation, "begin": pad}
    spatial = tuple(max(0, r // stride + 1) + more for r in room)
    return {name: (value,) * axes for name, value in attrs.items()}, spatial


def max_pool(x: Array, *how: int, **flags: bool) -> Case:
    attrs, spatial = window(x.shape[1:-1], *how)
    shape = (x.shape[0], *spatial, x.shape[-1])
    outs = [Out(shape, name_of(x.dtype)), Out(shape, "i64")]
    return Case("max_pool", [x], {**attrs, **flags}, out=outs)


def average_pool(size: tuple[int, ...], *how: int, count: bool = False) -> Case:
    attrs, spatial = window(size, *how)
    attrs |= {"end": attrs["begin"], "count_padding": count}
    x = image(size)
    terms = attrs["kernel"][0] ** len(size)
    out = [Out((2, *spatial, 3), "f32")]
    return Case("average_pool", [x], attrs, out=out, terms=terms, scale=100.0)


def resize(
    size: tuple[int, ...],
    scale: float | None,
    to: tuple[int, ...] = (),
    channels: int = 3,
    **how: Any,
) -> Case:
    x = image(size, channels)
    if scale is not None:
        to = tuple(int(n * scale) for n in size)
        how["scales"] = (scale,) * len(size)
    if how.get("coordinates") == "tf_crop_and_resize":
        how |= {"region": (0.25,) * len(size) + (1.25,) * len(size), "extrapolation": 7.0}
    return Case("resize", [x], how, out=[Out((2, *to, channels), "f32")], scale=200.0)


def grid_sample(size: tuple[int, ...], to: tuple[int, ...], **how: Any) -> Case:
    """On a grid of sixteenths: coordinates without rounding, so that nearest has one answer."""
    grid = (RNG.integers(-24, 25, (2, *to, len(size))) / 16).astype(np.float32)
    grid.reshape(-1)[:4] = (5, -7.25, 1, -1)
    return Case("grid_sample", [image(size), grid], how, scale=2000.0)


def far(mode: str, padding: str) -> Case:
    grid = np.array([np.nan, 1e9, -np.inf, 1e30, -1e30, np.inf], np.float32).reshape(1, 3, 2)
    x = np.ones((1, 4, 5, 1), np.float32)
    value = 0.0 if padding == "zeros" else 1.0
    want = [np.full((1, 3, 1), value)]
    return Case("grid_sample", [x, grid], {"mode": mode, "padding": padding}, want=want, scale=4.0)


SIZES = ((9,), (7, 8), (5, 6, 4), (1, 1))
WINDOWS = ((1,), (2,), (3, 2), (3, 2, 1, 1), (2, 1, 2), (3, 2, 1, 1, 1), (3, 1, 2, 1))
NAN = np.array([1, np.nan, 3, 2, np.nan, 5], np.float32).reshape(1, 6, 1)
CASES = [
    *(max_pool(image(s), *w) for s in SIZES for w in WINDOWS),
    *(
        max_pool(image((5, 6), 17, d), 3, 2, 1, 1)
        for d in (np.float32, np.float64, np.int64, np.int8)
    ),
    *(max_pool(image((5, 6), c, np.int8), 3, 2, 1, 1) for c in (16, 33, 64, 150)),
    *(
        max_pool(image(s, c, np.int8), *w)
        for s in ((7, 23), (26,), (3, 2, 13))
        for w in (
            (3, 2, 1, 1),
            (3, 1, 1, 1),
            (5, 1, 1, 2),
            (3, 3, 1, 1),
            (3, 1, 2, 2),
            (2, 1, 1, 1),
        )
        for c in (16, 70)
    ),
    *(
        max_pool(image((5, 6)), 3, 1, channel_major=a, column_major=b)
        for a, b in itertools.product((True, False), repeat=2)
    ),
    max_pool(NAN, 2),
    max_pool(image((4, 4), 0), 2),
    *(average_pool(s, *w, count=c) for s in SIZES for w in WINDOWS for c in (False, True)),
    *(
        resize((5, 6), scale, to, mode=mode, coordinates=c)
        for mode in ("nearest", "linear", "cubic")
        for c in COORDINATES
        for scale, to in ((0.6, ()), (2.0, ()), (None, (7, 3)), (None, (1, 1)))
    ),
    *(resize((7,), s, mode="nearest", nearest=r) for r in ROUNDINGS for s in (0.3, 1.5, 2.6)),
    *(
        resize((5, 6), s, mode=m, exclude_outside=e, antialias=a)
        for m in ("linear", "cubic")
        for e, a in ((True, False), (False, True), (True, True))
        for s in (0.4, 1.0, 1.5)
    ),
    resize((4, 5), 2.0, mode="cubic", cubic=-0.5),
    *(resize((3, 4, 5), s, mode=m) for m in ("nearest", "linear") for s in (0.7, 1.6)),
    *(resize((5, 6), None, (5, 9), c, mode="linear") for c in (0, 1, 16, 37)),
    resize((5, 6), None, (0, 4), mode="linear"),
    Case(
        "resize",
        [image((5, 6))],
        {"scales": (2.0, 2.0)},
        out=[Out((2, 10, 13, 3), "f32")],
        status=Status.BAD_PROGRAM,
    ),
    Case(
        "resize",
        [image((0, 6))],
        {"mode": "linear"},
        out=[Out((2, 10, 12, 3), "f32")],
        status=Status.BAD_PROGRAM,
    ),
    *(
        grid_sample(s, to, mode=m, padding=p, align_corners=a)
        for s, to in (((9,), (7,)), ((4, 5), (3, 6)), ((3, 4, 2), (2, 3, 2)), ((1, 1), (2, 2)))
        for m in ("linear", "nearest", "cubic")
        for p in ("zeros", "border", "reflection")
        for a in (False, True)
    ),
    *(far(m, p) for m in ("linear", "nearest", "cubic") for p in ("zeros", "border", "reflection")),
]
