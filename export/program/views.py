"""Where the elements of a tensor lie, and the algebra of views: no instruction is made here.

Views of views are composed at once, so a base is never a view.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sizes import Extent, extents
from ..sizes.extents import (
    add,
    floordiv,
    is_narrow,
    magnitude,
    mul,
    row_major,
    same,
    same_shape,
    sub,
)

Shape = tuple[Extent, ...]
Elements = NDArray[np.object_]
"""Known elements: int, sympy.Expr, bool, float or extents.Scaled."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class View:
    """Elements of the value `base`. `strides` None: row-major and dense from `offset` on."""

    dtype: str
    shape: Shape
    base: int
    strides: Shape | None = None
    offset: Extent = 0

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def steps(self) -> Shape:
        """The strides, also of a dense tensor."""
        return row_major(self.shape) if self.strides is None else self.strides


def place(ref: View, shape: Shape, strides: Shape, offset: Extent) -> View:
    """Another view of the same memory; strides that are row-major are forgotten."""
    dense = is_row_major(shape, strides)
    return View(ref.dtype, shape, ref.base, None if dense else strides, offset)


def is_row_major(shape: Sequence[Extent], strides: Sequence[Extent]) -> bool:
    """Axes of extent 1 may have any stride."""
    return all(
        same(n, 1) or same(a, b) for n, a, b in zip(shape, strides, row_major(shape), strict=True)
    )


def transpose(ref: View, axes: Sequence[int]) -> View:
    """Axis i of the result is axis axes[i]."""
    steps = ref.steps
    return place(ref, tuple(ref.shape[a] for a in axes), tuple(steps[a] for a in axes), ref.offset)


def slice_axis(ref: View, axis: int, start: Extent, count: Extent, step: int = 1) -> View:
    """`count` elements from `start` on; `step` may be negative."""
    steps = list(ref.steps)
    shape = list(ref.shape)
    offset = add(ref.offset, mul(start, steps[axis]))
    steps[axis] = mul(steps[axis], step)
    shape[axis] = count
    return place(ref, tuple(shape), tuple(steps), offset)


def stretch(ref: View, axes: Mapping[int, tuple[Extent, Extent]]) -> View:
    """Axes that get another extent, and a stride by a factor: 0 where they are stretched, else 1 (extent, factor)."""
    shape, steps = list(ref.shape), list(ref.steps)
    for axis, (extent, factor) in axes.items():
        shape[axis], steps[axis] = extent, mul(steps[axis], factor)
    return place(ref, tuple(shape), tuple(steps), ref.offset)


def expand(ref: View, shape: Shape) -> View:
    """Broadcasts to `shape`, whose extents are those of `ref` (perhaps written otherwise) where `ref` has not 1."""
    lead = len(shape) - ref.rank
    if (
        ref.strides is None
        and not lead
        and not any(
            is_narrow(have) and not same(want, have)
            for have, want in zip(ref.shape, shape, strict=True)
        )
    ):
        return View(ref.dtype, shape, ref.base, None, ref.offset)
    steps: list[Extent] = [0] * lead
    for have, want, step in zip(ref.shape, shape[lead:], ref.steps, strict=True):
        steps.append(0 if is_narrow(have) and not same(want, have) else step)
    return place(ref, shape, tuple(steps), ref.offset)


def reshape(ref: View, shape: Shape) -> View | None:
    """The same elements in row-major order as `shape`; None where that is no view."""
    if ref.strides is None:
        return View(ref.dtype, shape, ref.base, None, ref.offset)
    strides = regroup(ref.shape, ref.strides, shape)
    return None if strides is None else place(ref, shape, strides, ref.offset)


def regroup(shape: Shape, strides: Shape, wanted: Shape) -> Shape | None:
    """Strides of `wanted` over the memory of `shape`: axes are paired into groups of equal product, and within a group
    the old axes must lie row-major."""
    if any(n == 0 for n in shape):
        return row_major(wanted)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if not same(n, 1)]
    result: list[Extent] = [1] * len(wanted)
    todo = [i for i, n in enumerate(wanted) if not same(n, 1)]
    while old or todo:
        group, axes = [old.pop(0)] if old else [], [todo.pop(0)] if todo else []
        have: Extent = group[0][0] if group else 1
        want: Extent = wanted[axes[0]] if axes else 1
        while not same(have, want):
            if magnitude(have) < magnitude(want) and old:
                group.append(old.pop(0))
                have = mul(have, group[-1][0])
            elif todo:
                axes.append(todo.pop(0))
                want = mul(want, wanted[axes[-1]])
            else:
                return None
        if not group:
            return None
        for (_, outer), (n, inner) in itertools.pairwise(group):
            if not same(outer, mul(n, inner)):
                return None
        step = group[-1][1]
        for i in reversed(axes):
            result[i] = step
            step = mul(step, wanted[i])
    return tuple(result)


def memory_order(ref: View) -> tuple[int, ...]:
    """The axes from the widest stride to the narrowest: transposed so, the tensor is as dense as it gets."""
    if ref.strides is None:
        return tuple(range(ref.rank))
    wide = [-abs(magnitude(s)) for s in ref.strides]
    return tuple(sorted(range(ref.rank), key=lambda a: (wide[a], a)))


def is_expanded(ref: View) -> bool:
    return any(
        s == 0 and not same(n, 1) for n, s in zip(ref.shape, ref.strides or (), strict=False)
    )


def covers(ref: View, shape: Sequence[Extent]) -> bool:
    """It is its whole base of shape `shape`, in order."""
    return ref.strides is None and ref.offset == 0 and same_shape(ref.shape, shape)


def conv_extent(n: Extent, window: Extent, stride: int, *, ceil: bool = False) -> Extent:
    """Windows of length `window` in `n` elements."""
    span = sub(n, window)
    count = extents.ceildiv(span, stride) if ceil else floordiv(span, stride)
    return add(count, 1)


def as_elements(values: Any, shape: Sequence[int]) -> Elements:
    """Known elements as an object array of `shape`, numbers as Python's own."""
    flat = list(values)
    out = np.empty(len(flat), object)
    for i, v in enumerate(flat):
        out[i] = (
            v.item()
            if isinstance(v, np.generic)
            else v
            if isinstance(v, (bool, int, float, extents.Scaled))
            else extents.extent(v)
        )
    return out.reshape(tuple(shape))
