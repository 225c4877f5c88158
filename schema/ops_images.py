"""Windows and images, channels last. How to read a row: schema/row.py."""

from __future__ import annotations

from typing import Literal

from .meaning import boxes as boxes_kept
from .meaning import windows
from .row import I64, F, Floats, Ints, Outs, op

WINDOW = """
    len(o) == len(i);
    len(kernel) == len(i); 1 <= kernel <= 2**31 - 1; len(stride) == len(i); 1 <= stride <= 2**31 - 1;
    len(dilation) == len(i); 1 <= dilation <= 2**31 - 1; len(begin) == len(i); 0 <= begin <= 2**31 - 1;
    i <= 2**31 - 1; o <= 2**31 - 1
"""
"""The windows of a pool; products of two such numbers and sums of a few fit in 64 bits."""


@op(
    id=40,
    since=1,
    shape="[b, *i, c] -> [b, *o, c] [b, *o, c]",
    dtypes="f32 f64 i64 i8",
    where=WINDOW,
)
def max_pool(
    x: F,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    channel_major: bool = True,
    column_major: bool = False,
    out: Outs,
) -> tuple[F, I64 | None]:
    """Maximum of each window (padding never wins), and its flat index in ONNX's [b, c, *i] numbering; column_major: the
    spatial axes in reverse; not channel_major: in [b, *i, c]. The end padding follows from y's shape. The first of equals;
    a NaN wins. A window without elements gives the lowest value and index -1."""
    spatial = out[0].shape[1:-1]
    return windows.max_pool(
        x, spatial, kernel, stride, dilation, begin, channel_major, column_major
    )


@op(
    id=41,
    since=1,
    shape="[b, *i, c] -> [b, *o, c]",
    bound="2 K eps",
    where=f"{WINDOW}; len(end) == len(i); 0 <= end <= 2**31 - 1",
)
def average_pool(
    x: F,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    count_padding: bool = False,
    out: Outs,
) -> F:
    """Mean of each window, summed sequentially in row-major order. Divisor: elements inside x, or, counting padding, inside
    x padded by begin and end."""
    spatial = out[0].shape[1:-1]
    return windows.average_pool(x, spatial, kernel, stride, dilation, begin, end, count_padding)


@op(
    id=42,
    since=1,
    shape="[b, *i, c] -> [b, *o, c]",
    bound="16 eps",
    where="""
        len(i) >= 1; len(o) == len(i); i >= 1 or o == 0; len(scales) == 0 or len(scales) == len(i);
        len(region) == 0 or len(region) == 2 * len(i); coordinates != tf_crop_and_resize or len(region) >= 1;
        mode != nearest or antialias == 0
    """,
)
def resize(
    x: F,
    *,
    scales: Floats = (),
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_crop_and_resize",
    ] = "half_pixel",
    nearest: Literal[
        "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"
    ] = "round_prefer_floor",
    cubic: float = -0.75,
    exclude_outside: bool = False,
    antialias: bool = False,
    extrapolation: float = 0.0,
    region: Floats = (),
    out: Outs,
) -> F:
    """ONNX Resize over the spatial axes, separable, one axis after the other from the last. scales: one a spatial axis, or
    empty: o / i. region: starts then ends, for tf_crop_and_resize. Keys 1981."""
    return windows.resize(
        x,
        out[0].shape[1:-1],
        region,
        scales,
        mode=mode,
        coordinates=coordinates,
        nearest=nearest,
        cubic=cubic,
        exclude_outside=exclude_outside,
        antialias=antialias,
        extrapolation=extrapolation,
    )


@op(
    id=43,
    since=1,
    shape="[b, *i, c] [b, *o, r] -> [b, *o, c]",
    bound="16 eps",
    where="1 <= len(i) <= 3; r == len(i); i >= 1 or empty(y); i <= 2**24",
)
def grid_sample(
    x: F,
    grid: F,
    *,
    mode: Literal["linear", "nearest", "cubic"] = "linear",
    padding: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool = False,
) -> F:
    """ONNX GridSample; grid[..., 0] runs along the last spatial axis. Cubic with border clamps each tap, as PyTorch and onnxruntime
    do, not the point before them, as ONNX's reference. Jaderberg et al. 2015."""
    return windows.grid_sample(x, grid, mode, padding, align_corners)


@op(
    id=44,
    since=1,
    shape="[b, n, 4] [b, c, n] [] [] [] -> [m, r]",
    counts="m",
    where="r == 3",
)
def non_max_suppression(
    boxes: F,
    scores: F,
    limit: I64 | None = None,
    overlap: F | None = None,
    threshold: F | None = None,
    *,
    center: bool = False,
) -> I64:
    """Rows (batch, class, box): of each batch and class the best by score above `threshold`, then the next best whose
    intersection over union with each kept one is at most `overlap`, until `limit` are kept; ties by lower index. m is a
    counted dimension, r = 3. Boxes are two corners (y, x, y, x), or with `center` (x, y, width, height). Absent: limit 0,
    overlap 0, threshold -inf. Arithmetic in f32. Neubeck and Van Gool 2006."""
    return boxes_kept.non_max_suppression(boxes, scores, limit, overlap, threshold, center)
