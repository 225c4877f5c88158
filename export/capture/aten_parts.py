"""Matrices in a Loop: [batches, m, n], a complex one as a list of its real and its imaginary part, a real one as a list of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .aten import full_like, ints, op, rank

Parts = list[Any]


def flat(re: Any, im: Any = None) -> Parts:
    """[.., m, n] as [batches, m, n]."""
    parts = [re] if im is None else [re, im]
    if rank(re) == 2:
        return [op.Unsqueeze(x, ints(0)) for x in parts]
    if rank(re) == 3:
        return parts
    whole = op.Concat(ints(-1), op.Shape(re, start=rank(re) - 2), axis=0)
    return [op.Reshape(x, whole) for x in parts]


def as_given(parts: Sequence[Any], re: Any, *shape: Any) -> Any:
    """With the batches' axes of `re` in front of the others, whose sizes are numbers or i64 values of one element; the imaginary part
    behind the real one, along an axis in front."""
    lead = [op.Shape(re, end=rank(re) - 2)] if rank(re) > 2 else []
    sizes = [ints(n) if isinstance(n, int) else n for n in shape]
    made = [op.Reshape(x, op.Concat(*lead, *sizes, axis=0)) for x in parts]
    if len(made) == 1:
        return made[0]
    return op.Concat(*(op.Unsqueeze(x, ints(0)) for x in made), axis=0)


def size(x: Any, axis: int) -> Any:
    """Of an axis, counted from the end: a number where it is known, else an i64 value of one element."""
    n = x.shape[axis]
    at = rank(x) + axis
    return n if isinstance(n, int) else op.Shape(x, start=at, end=at + 1)


def chosen(mask: Any, a: Parts, b: Parts) -> Parts:
    return [op.Where(mask, x, y) for x, y in zip(a, b, strict=True)]


def conjugated(a: Parts) -> Parts:
    return [a[0], *(op.Neg(x) for x in a[1:])]


def adjoint(a: Parts) -> Parts:
    return conjugated([op.Transpose(x, perm=[0, 2, 1]) for x in a])


def squares(a: Sequence[Any], axis: int) -> Any:
    """Of absolute values, added along an axis, which stays."""
    each = [op.Mul(x, x) for x in a]
    return op.ReduceSum(each[0] if len(each) == 1 else op.Add(*each), ints(axis), keepdims=1)


def without(a: Parts, b: Parts) -> Parts:
    return [op.Sub(x, y) for x, y in zip(a, b, strict=True)]


def times(a: Parts, b: Parts, product: Any = op.Mul) -> Parts:
    """By element; with `product=op.MatMul` of matrices."""
    if len(a) == 1:
        return [product(a[0], b[0])]
    (re, im), (p, q) = a, b
    return [
        op.Sub(product(re, p), product(im, q)),
        op.Add(product(re, q), product(im, p)),
    ]


def over(a: Parts, b: Parts) -> Parts:
    """By element; of complex ones both by the larger part of `b` first, so that no square overflows."""
    if len(a) == 1:
        return [op.Div(a[0], b[0])]
    largest = op.Max(*(op.Abs(x) for x in b))
    scale = op.Where(op.Equal(largest, full_like(largest, 0)), full_like(largest, 1), largest)
    b = [op.Div(x, scale) for x in b]
    a = [op.Div(x, scale) for x in a]
    by = op.Add(*(op.Mul(x, x) for x in b))
    return [op.Div(x, by) for x in times(a, conjugated(b))]
