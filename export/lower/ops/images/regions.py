"""Operators on regions of images: NonMaxSuppression, AffineGrid, RoiAlign, DeformConv; the last two sample by `grid_sample`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....program.terms import Term, cast, eq, index, le, literal, lt, select, term
from ....program.views import as_elements
from ....sizes import Extent, extents
from ....sizes.extents import floordiv, minimum, mul, product, same
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Known, Ref
from ...table import lowers
from ...windows import channels_last, counts, read_window, static
from ..control.blocks import repeated
from ..matrix.products import linear
from ..moving.movement import concat
from ..rows.reduction import reduce


@lowers("NonMaxSuppression")
def lower_non_max_suppression(l: Lowering, n: Node) -> Ref:
    """As many rows as boxes are kept: at most the limit for each batch and class, where that is known."""
    boxes, scores = n[0], n[1]
    limit = n.get(2)
    known = None if limit is None else l.values.sizes_in(limit)
    most: Extent = boxes.shape[1]
    if limit is None:
        most = 0
    elif known is not None:
        most = minimum(extents.maximum(extents.extent(known.flat[0]), 0), most)
    rows = l.sizes.counted("kept", mul(product(scores.shape[:2]), most))
    scalars = [None if n.get(i) is None else l.reshape(n[i], ()) for i in (2, 3, 4)]
    attrs = {"center": n.integer("center_point_box") == 1}
    return l.one("non_max_suppression", [boxes, scores, *scalars], attrs, "i64", (rows, 3))


def sample(l: Lowering, image: Ref, places: Ref, padding: str) -> Ref:
    """Bilinear values of `image` [b, h, w, c] at the pixels `places` [b, p, q, (x, y)]: [b, p, q, c]."""
    sizes = Known("i64", as_elements([image.shape[2], image.shape[1]], (2,)))

    def normalized(at: Term, size: Term) -> Term:
        return (2.0 * at + 1.0) / cast(size, "f32") - 1.0

    grid = l.pointwise(normalized, [places, sizes], "f32")
    shape = (*places.shape[:3], image.shape[3])
    return l.one("grid_sample", [image, grid], {"padding": padding}, "f32", shape)


# --- AffineGrid ---------------------------------------------------------------------------------------------------------


@lowers("AffineGrid")
def lower_affine_grid(l: Lowering, n: Node) -> Ref:
    """theta [b, r, r + 1] times the places (x, y[, z], 1) of the pixels of an image: [b, *image, r]. ONNX's own body of it
    squeezes a batch of one away."""
    size = l.values.known(n[1], "the image's size")
    rank = len(size) - 2
    if rank not in (2, 3):
        l.fail(f"the image has {rank} dimensions; expected 2 or 3")
    kind = "f64" if n[0].dtype == "f64" else "f32"
    theta = convert(l, n[0], kind)
    for axis, extent in enumerate((size[0], rank, rank + 1)):
        theta = l.agree(theta, axis, extent, "one matrix an image")
    columns = [
        l.reshape(l.slice(theta, 2, k, 1), (size[0], *[1] * rank, rank)) for k in range(rank + 1)
    ]
    counts = [l.real(Known("i64", as_elements([m], ()))) for m in reversed(size[2:])]
    corners = bool(n.integer("align_corners"))

    def build(*terms: Term) -> Term:
        y = terms[rank]
        for k in range(rank):
            at, m = cast(index(rank - k), kind), cast(terms[rank + 1 + k], kind)
            one = literal(1.0, kind)
            place = at * (2.0 / term("max", m - one, one)) if corners else (2.0 * at + 1.0) / m
            y = y + terms[k] * (place - 1.0)
        return y

    shape = (size[0], *size[2:], rank)
    return convert(l, l.pointwise(build, [*columns, *counts], kind, shape), n[0].dtype)


# --- RoiAlign -----------------------------------------------------------------------------------------------------------


@lowers("RoiAlign")
def lower_roi_align(l: Lowering, n: Node) -> Ref:
    """Mean of a grid of bilinear samples in each bin of each region; or the largest of their taps times their weights."""
    x, regions, owner = n[0], convert(l, n[1], "f32"), convert(l, n[2], "i64")
    points = n.integer("sampling_ratio")
    mode = n.text("mode", "avg")
    if points < 0 or mode not in ("avg", "max"):
        l.fail(f"sampling_ratio {points}, mode {mode}; expected a ratio from 0 on, avg or max")
    bins = n.integer("output_height", 1), n.integer("output_width", 1)
    count = regions.shape[0]
    l.sizes.require_equal(owner.shape[0], count, "RoiAlign has an image for each region")
    image = channels_last(l, convert(l, x, "f32"))
    if points == 0:
        y = l.transpose(_by_pixels(l, n, image, regions, owner, bins), (0, 3, 1, 2))
        return convert(l, y, x.dtype)
    grid = (bins[0] * points, bins[1] * points)
    places = _sample_places(l, n, regions, grid)
    values = _sampled(l, image, owner, places, mode)
    split = l.reshape(values, (count, bins[0], points, bins[1], points, x.shape[1]))
    split = l.transpose(split, (0, 5, 1, 3, 2, 4))
    attrs = {"kind": "max" if mode == "max" else "mean", "count": 2}
    return convert(l, l.one("reduce", [split], attrs, "f32", split.shape[:4]), x.dtype)


def _by_pixels(
    l: Lowering, n: Node, image: Ref, regions: Ref, owner: Ref, bins: tuple[int, int]
) -> Ref:
    """[regions, *bins, c] by as many samples along each side of a bin as it has pixels, rounded up: a round of a loop takes one of
    each bin, while its region has more. A region without samples gives zeros, as onnxruntime has it."""
    count, mode = regions.shape[0], n.text("mode", "avg")

    def pixels(low: Term, high: Term) -> Term:
        part = _length(n, low, high) / select(eq(index(3), 0), literal(bins[1], "f32"), bins[0])
        return term("min", term("max", cast(term("ceil", part), "i64"), 0), 2**31 - 1)

    sides = l.pointwise(pixels, _corners(l, regions), "i64", (count, 1, 1, 2))
    across, down = (l.slice(sides, 3, i, 1) for i in (0, 1))
    samples = l.pointwise(lambda a, b: a * b, [across, down], "i64")
    none = l.values.constant(np.zeros(1, np.int64), "i64")
    rounds = reduce(l, concat(l, [none, l.reshape(samples, (count,))], 0), (0,), "max", keep=False)

    def part(k: Term, size: Term, wide: Term) -> Term:
        row = k / term("max", wide, 1)
        at = select(eq(index(3), 0), k - row * wide, row)
        return (cast(at, "f32") + 0.5) / cast(size, "f32")

    def take(k: Ref, carried: Sequence[Ref]) -> Sequence[Ref]:
        parts = l.pointwise(part, [k, sides, across], "f32")
        values = _sampled(l, image, owner, _sample_places(l, n, regions, bins, parts), mode)

        def join(before: Term, value: Term, k: Term, most: Term) -> Term:
            if mode == "avg":
                joined = before + value
            else:
                joined = select(eq(k, 0), value, term("max", before, value))
            return select(lt(k, most), joined, before)

        return [l.pointwise(join, [carried[0], values, k, samples], "f32")]

    zero = l.values.constant(np.zeros((), np.float32), "f32")
    start = l.expand(zero, (count, *bins, image.shape[3]))
    (total,) = repeated(l, rounds, [start], take)
    if mode == "max":
        return total
    mean = lambda t, m: t / cast(term("max", m, 1), "f32")  # noqa: E731
    return l.pointwise(mean, [total, samples], "f32")


def _sampled(l: Lowering, image: Ref, owner: Ref, places: Ref, mode: str) -> Ref:
    """[regions, p, q, c] at the places [regions, p, q, (x, y)]."""
    inside = _clamped(l, places, image)
    of_mode = _largest_tap if mode == "max" else _of_regions
    values = l.reshape(of_mode(l, image, owner, inside), (*places.shape[:3], image.shape[3]))
    return _zero_outside(l, values, places, image)


def _of_regions(l: Lowering, image: Ref, owner: Ref, places: Ref) -> Ref:
    """Bilinear values [regions p q c in any order of the first] of each region's image at [regions, p, q, (x, y)]."""
    count, p, q = places.shape[:3]
    if same(image.shape[0], 1):
        return sample(l, image, l.reshape(places, (1, mul(count, p), q, 2)), "border")
    image = l.one("gather", [image, owner], {}, "f32", (count, *image.shape[1:]))
    return sample(l, image, places, "border")


def _largest_tap(l: Lowering, image: Ref, owner: Ref, places: Ref) -> Ref:
    """The largest of the four taps of each place, each times its weight, as ONNX's reference and onnxruntime have mode max."""
    b, h, w, c = image.shape
    pixels = l.reshape(image, (mul(mul(b, h), w), c))
    x, y = (l.slice(places, 3, i, 1) for i in (0, 1))
    width, height = (l.slice(_sizes(l, image), 0, i, 1) for i in (0, 1))
    own = l.reshape(owner, (owner.shape[0], 1, 1, 1))

    def far(at: Term, size: Term, is_far: bool) -> Term:
        low = cast(term("floor", at), "i64")
        return term("min", low + 1, size - 1) if is_far else low

    def tap(right: bool, under: bool) -> Ref:
        def at(px: Term, py: Term, m: Term, n: Term, k: Term) -> Term:
            return (k * n + far(py, n, under)) * m + far(px, m, right)

        def weight(v: Term, px: Term, py: Term) -> Term:
            for p, is_far in ((px, right), (py, under)):
                part = p - term("floor", p)
                v = v * (part if is_far else 1.0 - part)
            return v

        rows = l.pointwise(at, [x, y, width, height, own], "i64")
        flat = l.reshape(rows, (product(rows.shape),))
        taken = l.one("gather", [pixels, flat], {}, "f32", (*flat.shape, c))
        return l.pointwise(weight, [l.reshape(taken, (*places.shape[:3], c)), x, y], "f32")

    taps = [tap(right, under) for right in (False, True) for under in (False, True)]
    y01, y23 = (l.pointwise(lambda a, d: term("max", a, d), taps[i : i + 2], "f32") for i in (0, 2))
    return l.pointwise(lambda a, d: term("max", a, d), [y01, y23], "f32")


def _sample_places(
    l: Lowering, n: Node, regions: Ref, grid: tuple[int, int], parts: Ref | None = None
) -> Ref:
    """[regions, *grid, (x, y)] in pixels of the image: the middle of each cell, or the `parts` [regions, 1, 1, (x, y)] of it."""

    def place(low: Term, high: Term, part: Term | float = 0.5) -> Term:
        is_x = eq(index(3), 0)
        at = cast(select(is_x, index(2), index(1)), "f32") + part
        cells = select(is_x, literal(grid[1], "f32"), float(grid[0]))
        return _first(n, low) + at * (_length(n, low, high) / cells)

    given = [*_corners(l, regions), *([] if parts is None else [parts])]
    return l.pointwise(place, given, "f32", (regions.shape[0], *grid, 2))


def _corners(l: Lowering, regions: Ref) -> list[Ref]:
    """The first and the last corner of each region: [regions, 1, 1, (x, y)]."""
    count = regions.shape[0]
    return [l.reshape(l.slice(regions, 1, start, 2), (count, 1, 1, 2)) for start in (0, 2)]


def _is_half_pixel(n: Node) -> bool:
    return n.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"


def _first(n: Node, low: Term) -> Term:
    return low * n.number("spatial_scale", 1.0) - (0.5 if _is_half_pixel(n) else 0.0)


def _length(n: Node, low: Term, high: Term) -> Term:
    length = _first(n, high) - _first(n, low)
    return length if _is_half_pixel(n) else term("max", length, 1.0)


def _sizes(l: Lowering, image: Ref) -> Ref:
    return Known("i64", as_elements([image.shape[2], image.shape[1]], (2,)))


def _clamped(l: Lowering, places: Ref, image: Ref) -> Ref:
    def clamp(at: Term, size: Term) -> Term:
        return term("max", term("min", at, cast(size, "f32") - 1.0), 0.0)

    return l.pointwise(clamp, [places, _sizes(l, image)], "f32")


def _zero_outside(l: Lowering, values: Ref, places: Ref, image: Ref) -> Ref:
    """A sample more than a pixel outside counts as 0."""
    x, y = (l.slice(places, 3, i, 1) for i in (0, 1))
    width, height = (l.slice(_sizes(l, image), 0, i, 1) for i in (0, 1))

    def keep(v: Term, px: Term, py: Term, w: Term, h: Term) -> Term:
        for at, size in ((px, w), (py, h)):
            seen = le(-1.0, at) & le(at, cast(size, "f32"))
            v = select(seen, v, 0.0)
        return v

    return l.pointwise(keep, [values, x, y, width, height], "f32")


# --- DeformConv ---------------------------------------------------------------------------------------------------------


@lowers("DeformConv")
def lower_deform_conv(l: Lowering, n: Node) -> Ref:
    """Every tap samples where its offset points; then the samples are multiplied like the rows of a convolution."""
    x, w = convert(l, n[0], "f32"), convert(l, n[1], "f32")
    if x.rank != 4:
        l.fail(f"{x.rank - 2} spatial axes; expected 2")
    window = read_window(l, n, x.shape[2:], n.integers("kernel_shape") or w.shape[2:])
    out, begin = counts(x.shape[2:], window), static(l, window.begin, "padding")
    parts, groups = n.integer("offset_group", 1), n.integer("group", 1)
    (b, c), (kh, kw) = x.shape[:2], window.kernel
    own = floordiv(c, parts)
    offsets = l.reshape(convert(l, n[2], "f32"), (b, parts, kh, kw, 2, *out))
    offsets = l.transpose(l.flip(offsets, 4), (0, 1, 2, 3, 5, 6, 4))  # [.., oh, ow, (x, y)]

    def place(offset: Term) -> Term:
        taps = (index(3), index(2))
        at = (index(5), index(4))
        x_y = [
            at[i] * window.stride[1 - i] + taps[i] * window.dilation[1 - i] - begin[1 - i]
            for i in (0, 1)
        ]
        return offset + cast(select(eq(index(6), 0), x_y[0], x_y[1]), "f32")

    places = l.pointwise(place, [offsets], "f32")
    pixels = product(out)
    places = l.reshape(places, (mul(b, parts), kh * kw, pixels, 2))
    images = l.transpose(l.reshape(x, (b, parts, own, *x.shape[2:])), (0, 1, 3, 4, 2))
    images = l.reshape(images, (mul(b, parts), *x.shape[2:], own))
    values = sample(l, images, places, "zeros")  # [b parts, taps, pixels, own]
    if n.get(4) is not None:
        mask = l.reshape(convert(l, n[4], "f32"), (mul(b, parts), kh * kw, pixels, 1))
        values = l.pointwise(lambda v, m: v * m, [values, mask], "f32")
    values = l.reshape(values, (b, parts, kh * kw, pixels, own))
    rows = l.transpose(values, (0, 3, 2, 1, 4))  # [b, pixels, taps, parts, own]
    rows = l.reshape(rows, (b, pixels, kh * kw, c))
    bias = None if n.get(3) is None else convert(l, n[3], "f32")
    y = _by_groups(l, rows, w, bias, groups)
    y = l.transpose(y, (0, 2, 1))
    return convert(l, l.reshape(y, (b, w.shape[0], *out)), n[0].dtype)


def _by_groups(l: Lowering, rows: Ref, w: Ref, bias: Ref | None, groups: int) -> Ref:
    """[b, pixels, taps, c] times [n, c / groups, *k]: [b, pixels, n]."""
    inner, count = w.shape[1], floordiv(w.shape[0], groups)
    weights = l.transpose(w, (0, *range(2, w.rank), 1))
    flat = l.reshape(weights, (w.shape[0], product(weights.shape[1:])))
    made: list[Ref] = []
    for g in range(groups):
        own = l.slice(rows, 3, mul(inner, g), inner)
        own = l.reshape(own, (*rows.shape[:2], mul(rows.shape[2], inner)))
        part = None if bias is None else l.slice(bias, 0, mul(count, g), count)
        made.append(linear(l, own, l.slice(flat, 0, mul(count, g), count), part))
    return made[0] if groups == 1 else concat(l, made, 2)
