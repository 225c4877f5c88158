"""Resize between elements of int8 codes (export/graph/int8_resize.py), channels last: schema/meaning/int8.py `interpolate`, to the bit.

By powers of two, weights are few bits and f32 has every sum: the operator `resize` computes it. By other fractions weights are whole
numbers, and the two or four codes that each element lies between are gathered and summed in one go.

RESCALE by about 1 / n, in f32: a quotient v / n that is no half of a whole number is 1 / (2 n) from the next one, or more, and its f32 is at
most 2^-18 away, since it is below 128. So nearest((v + q) / n), q = 1/4 or less, is RESCALE's result while n < 2^15, with the sign of q that
RESCALE's factor asks for where halves are met: half up where it is 1 / n, else away from 0 or towards it as it is more or less.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from pteron.schema.meaning.int8 import HIGHEST, LOWEST, neighbours

from ....graph import int8 as integer
from ....program.terms import Term, cast, term
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ...windows import channels_first, channels_last
from ..matrix.int8 import row_of

EXACT: Final = 1 << 15
"""What numerators multiply to is below: see above."""
FAR: Final = 512.0


@lowers("Interpolate", domain=integer.DOMAIN)
def lower_interpolate(l: Lowering, n: Node) -> Ref:
    row, x = row_of(l, n, integer.Interpolate), n[0]
    sizes = [extent for extent in x.shape[2:] if isinstance(extent, int)]
    if len(sizes) != len(row.extents) or x.rank != len(sizes) + 2:
        l.fail(f"extents {x.shape[2:]}; expected {len(row.extents)} numbers")
    image = channels_last(l, x)
    by_twos = all(_is_power(k) for k in (*row.numerators, *row.denominators)) and all(
        abs(size * k - out * d) < d and 2 * size * k >= d  # as `resize` asks
        for size, out, (_, d, k) in zip(sizes, row.extents, _lines(row), strict=True)
    )
    whole = math.prod(row.numerators)
    halves = all(2 * o == d - k for o, d, k in _lines(row))
    begins = not any(row.offsets)
    if by_twos and whole < EXACT and (halves or begins):
        y = _in_floats(l, image, row, "half_pixel" if halves else "asymmetric")
        return channels_first(l, l.pointwise(lambda t: _code(t + 0.25 / whole), [y], "i8"))
    return channels_first(l, _gathered(l, image, row, sizes, whole))


def _lines(row: integer.Interpolate) -> list[tuple[int, int, int]]:
    return list(zip(row.offsets, row.denominators, row.numerators, strict=True))


def _is_power(n: int) -> bool:
    return n & (n - 1) == 0


def _in_floats(l: Lowering, image: Ref, row: integer.Interpolate, coordinates: str) -> Ref:
    scales = tuple(k / d for _, d, k in _lines(row))
    attrs = {"mode": "linear", "coordinates": coordinates, "scales": scales}
    shape = (image.shape[0], *row.extents, image.shape[-1])
    return l.one("resize", [convert(l, image, "f32")], attrs, "f32", shape)


def _code(t: Term) -> Term:
    """The nearest code, as QuantizeLinear has its steps."""
    near = term("max", term("min", term("nearest", t / 1.0), FAR), -FAR)
    return term("max", term("min", cast(near, "i64"), HIGHEST), LOWEST)


def _quotient(v: Term, whole: int, row: integer.Interpolate) -> Term:
    """RESCALE's result before it is rounded."""
    apart = row.multiplier * whole - (1 << row.shift)
    if whole % 2:
        return v / float(whole)
    more = term("sign", v) * (0.25 if apart > 0 else -0.25) if apart else 0.25
    return (v + more) / float(whole)


def _gathered(
    l: Lowering, image: Ref, row: integer.Interpolate, sizes: Sequence[int], whole: int
) -> Ref:
    """The last axis first, so that what is gathered last lies as the result does."""
    corners, parts, kind = [image], [], "f32" if whole < EXACT else "i64"
    for i in reversed(range(len(sizes))):
        begin, end, part = neighbours(sizes[i], row.extents[i], row.numerators[i], row.denominators[i], row.offsets[i])  # fmt: skip
        corners = [_taken(l, x, 1 + i, at) for x, at in itertools.product(corners, (begin, end))]
        across = [1] * (image.rank - 2 - i)
        numbers = part.astype(np.float32 if kind == "f32" else np.int64)
        parts.append((l.values.constant(numbers.reshape(-1, *across)), row.numerators[i]))

    def blend(*terms: Term) -> Term:
        values = [cast(t, kind) for t in terms[: len(corners)]]
        for (_, n), at in reversed(list(zip(parts, terms[len(corners) :], strict=True))):
            values = [a * (n - at) + b * at for a, b in zip(values[::2], values[1::2], strict=True)]
        (v,) = values
        if kind == "f32":
            return _code(_quotient(v, whole, row))
        up = v * row.multiplier + ((1 << (row.shift - 1)) - (1 << 63))
        return term("shr", up, row.shift) + -(1 << (63 - row.shift))

    return l.pointwise(blend, [*corners, *(w for w, _ in parts)], "i8")


def _taken(l: Lowering, x: Ref, axis: int, at: np.ndarray) -> Ref:
    """The elements `at` along the axis."""
    order = [axis, *(a for a in range(x.rank) if a != axis)]
    rows = l.transpose(x, order)
    shape = (len(at), *rows.shape[1:])
    y = l.one("gather", [rows, l.values.constant(at.astype(np.int64))], {}, x.dtype, shape)
    return l.transpose(y, [order.index(a) for a in range(x.rank)])
