"""Parts that the data choose: their places are found while running and gathered; how many there are is a counted dimension."""

from __future__ import annotations

from ....program.terms import Term, eq, index, le, lt, select
from ....program.views import as_elements
from ...context import Lowering
from ...elementwise import convert
from ...refs import Codes, Known, Ref


def taken(l: Lowering, x: Ref, axis: int, condition: Ref, name: str) -> Ref:
    """The slices of `x` along an axis where `condition`, a row of bools no longer than the axis, holds."""
    count = l.sizes.counted(name, condition.shape[0])
    places = l.one("nonzero", [condition], {}, "i64", (1, count))
    source = l.move_axis(l.unpacked(l.weight(x) if isinstance(x, Codes) else x), axis, 0)
    shape = (count, *source.shape[1:])
    y = l.one("gather", [source, l.reshape(places, (count,))], {}, source.dtype, shape)
    return convert(l, l.move_axis(y, 0, axis), x.dtype)


def slice_by_values(l: Lowering, x: Ref, axis: int, start: Ref, end: Ref, step: int) -> Ref:
    """start:end:step by NumPy's rule, both scalars computed while running.

    Raises:
        RefusedError: the step is negative.
    """
    if step < 1:
        l.fail(
            f"where it starts or ends is computed while running and its step is {step}; expected at least 1"
        )
    size = Known("i64", as_elements([x.shape[axis]], ()))

    def inside(first: Term, last: Term, n: Term) -> Term:
        first, last = (select(lt(t, 0), t + n, t) for t in (first, last))
        first = select(lt(first, 0), 0, first)
        here = index(0)
        between = le(first, here) & lt(here, last)
        away = here - first
        return between if step == 1 else between & eq(away / step * step, away)

    bounds = [convert(l, b, "i64") for b in (start, end)]
    mask = l.pointwise(inside, [*bounds, size], "bool", (x.shape[axis],))
    return taken(l, x, axis, mask, "sliced")


def split_by_values(l: Lowering, x: Ref, axis: int, sizes: Ref, count: int) -> list[Ref]:
    """Parts one behind the other, as long as `sizes` says while running."""
    l.sizes.require_equal(sizes.shape[0], count, "a split has a size for each part")
    start: Ref = l.values.scalar(0, "i64")
    parts = []
    for i in range(count):
        size = convert(l, l.reshape(l.slice(sizes, 0, i, 1), ()), "i64")
        end = l.pointwise(lambda a, b: a + b, [start, size], "i64")
        parts.append(slice_by_values(l, x, axis, start, end, 1))
        start = end
    return parts
