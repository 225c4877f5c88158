"""Parts that the data choose: their places are found while running and gathered; how many there are is a counted dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....program.terms import Term, eq, index, le, lt, select, term
from ....program.views import Shape, as_elements
from ....sizes import Extent
from ....sizes.extents import at_most, same
from ....sizes.ranges import direction
from ...context import Lowering
from ...elementwise import cast_term, convert
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
    """Parts one behind the other, as long as `sizes` says while running; together they are the axis."""
    l.sizes.require_equal(sizes.shape[0], count, "a split has a size for each part")
    start: Ref = l.values.scalar(0, "i64")
    whole = Known("i64", as_elements([x.shape[axis]], ()))
    parts = []
    for i in range(count):
        size = convert(l, l.reshape(l.slice(sizes, 0, i, 1), ()), "i64")
        size = asserted(l, size, _is_negative)
        end = l.pointwise(lambda a, b: a + b, [start, size], "i64")
        if i == count - 1:
            end = asserted(l, end, lambda a, b: term("not", eq(a, b)), whole)
        parts.append(slice_by_values(l, x, axis, start, end, 1))
        start = end
    return parts


def sizes(
    l: Lowering, ref: Ref, what: str, beside: Shape = (), *, makes: Sequence[bool] | None = None
) -> list[Extent]:
    """The elements of a flat tensor that decide extents, which memory is planned for.

    One that need not be largest where prepare measures is a counted dimension of its own, found in front of whatever has it; not
    one that is an extent of what it is for, `beside`. `makes`: one that data decides is, too, where this says so; it has the last
    elements, those in front may all be.

    Raises:
        RefusedError: they are not known at export, or the tensor is not flat.
    """
    if len(ref.shape) != 1:
        l.fail(f"{what} has {len(ref.shape)} axes; expected one")
    known = _as_known(l, ref, makes)
    if known is None:
        known = l.values.known(ref, what)
    ways = [direction(n, _counted(l)) for n in known]
    if None not in ways and not {1, -1} <= set(ways):
        return known
    return [
        n if way in (0, 1) or any(same(n, m) for m in beside) else counted_size(l, n)
        for n, way in zip(known, ways, strict=True)
    ]


def _as_known(l: Lowering, ref: Ref, makes: Sequence[bool] | None) -> list[Extent] | None:
    """The elements, counted where a run decides them; None where all are known, or one may not be counted."""
    (count,) = ref.shape
    if makes is None or not isinstance(count, int) or l.values.sizes_in(ref) is not None:
        return None
    found: list[Extent | None] = []
    for part in l.values.joined(ref):
        known = l.values.sizes_in(part)
        found += [None] * int(part.shape[0]) if known is None else l.values.known(part, "")
    may = [True] * (count - len(makes)) + list(makes)[max(len(makes) - count, 0) :]
    if not all(ok or n is not None for ok, n in zip(may, found, strict=True)):
        return None
    scalar = (l.reshape(l.slice(ref, 0, i, 1), ()) for i in range(count))
    return [
        places_below(l, at, None, is_size=True).shape[0] if n is None else n
        for at, n in zip(scalar, found, strict=True)
    ]


def steady(l: Lowering, n: Extent) -> Extent:
    """`n`, or a counted dimension where it is open."""
    return counted_size(l, n) if is_open(l, n) else n


def is_open(l: Lowering, n: Extent) -> bool:
    """Whether a run may make it larger than it is where prepare measures: with all counted dimensions at 0, and with all at their
    capacities; such as a - b."""
    return direction(n, _counted(l)) is None


def _counted(l: Lowering) -> set[Any]:
    return {s for s, d in l.sizes.dims.items() if d.kind == "counted"}


def counted_size(l: Lowering, n: Extent) -> Extent:
    """A counted dimension that is `n` in each run."""
    key = ("counted", n)
    for scope in l.scopes:
        if key in scope.done:
            return _length(scope.done[key])
    scalar = Known("i64", as_elements([n], ()))
    places = places_below(l, scalar, l.sizes.most(n), is_size=not at_most(0, n))
    l.scopes[-1].done[key] = [places]
    return places.shape[0]


def _length(made: list[Ref | None]) -> Extent:
    (places,) = made
    assert places is not None
    return places.shape[0]


def places_below(l: Lowering, count: Ref, most: Extent | None, *, is_size: bool = False) -> Ref:
    """0, 1 .. count - 1, for a scalar that a run decides; none where it is negative, which a size must not be.

    Beyond `most`, where that is known, there are none; without it a loop counts them, up to max_extent.
    """
    if is_size:
        count = asserted(l, count, _is_negative)
    if most is not None:
        mask = l.pointwise(lambda n: lt(index(0), n), [count], "bool", (most,))
        length = l.sizes.counted("counted", most)
        return l.reshape(l.one("nonzero", [mask], {}, "i64", (1, length)), (length,))
    with l.block() as scope:
        place = l.param("i64", (), "iteration")
        l.result(l.values.scalar(True, "bool"))
        l.result(place)
    length = l.sizes.counted("counted", None)
    return l.one("loop", [count, None], {"body": scope.index}, "i64", (length,))


def size_within(l: Lowering, count: Ref, most: Extent) -> Extent:
    """A counted dimension that is the scalar `count`; the run fails where that is no size, or more than `most`."""
    room = Known("i64", as_elements([most], ()))
    held = asserted(l, convert(l, count, "i64"), lambda n, m: lt(m, n), room)
    return places_below(l, held, most, is_size=True).shape[0]


def asserted(l: Lowering, x: Ref, wrong: Callable[..., Term], *others: Ref) -> Ref:
    """The scalar `x`; the run fails where it is wrong (beside others): then the only element of a table is looked for behind it."""
    table = l.values.constant(np.zeros(1, np.int64))
    behind = l.pointwise(lambda *xs: cast_term(wrong(*xs), "bool", "i64"), [x, *others], "i64")
    none = l.one("gather", [table, behind], {}, "i64", ())
    return l.pointwise(lambda n, z: n + z, [x, none], "i64")


def _is_negative(n: Term) -> Term:
    return lt(n, 0)
