"""Views of tensors while they are lowered: no instruction is made where strides can say it; known elements and codes move along."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.schema.dtypes import DTYPES

from ..graph.weights import Elements as Stored
from ..graph.weights import later
from ..program import Blocks, Coded, views
from ..program.arrays import each_part, spread, strided_view
from ..program.views import Shape, View
from ..sizes import Extent, extents
from ..sizes.extents import is_narrow, same, same_shape
from .refs import Codes, Known, Ref
from .sizes import is_long
from .values import KNOWN_LIMIT

if TYPE_CHECKING:
    from .context import Lowering


def _view(
    l: Lowering,
    ref: Ref,
    geometry: Callable[[View], View],
    elements: Callable[[Any], Any],
    axes: Sequence[int] = (),
) -> Ref:
    """Applies a view to memory, known elements or codes. `axes`: it is no more than this order of the axes."""
    match ref:
        case Codes():
            coded = _each(ref.coded, elements, axes)
            return Codes(ref.dtype, coded, lambda: geometry(l.real(ref)))
        case Known():
            return Known(
                ref.dtype, elements(ref.elements), lambda: geometry(l.real(ref)), ref.assumes
            )
        case View():
            narrow = DTYPES[ref.dtype].is_narrow
            return _rearranged(l, ref, geometry) if narrow else geometry(ref)


def _rearranged(l: Lowering, ref: View, geometry: Callable[[View], View]) -> View:
    """Elements that share bytes have no views: constants are rearranged now, others while running."""
    array = l.values.array(ref)
    fixed = array is not None and all(isinstance(n, int) for n in geometry(ref).shape)
    if array is None or not fixed:
        wide = geometry(l.real(l.unpacked(ref)))
        return l.real(l.one("repack", [wide], {}, ref.dtype, wide.shape))
    dense = dataclasses.replace(ref, strides=None, offset=0)
    return l.values.constant(np.array(strided_view(array, geometry(dense)), order="C"), ref.dtype)


def transpose(l: Lowering, ref: Ref, axes: Sequence[int]) -> Ref:
    """Axis i of the result is axis axes[i]."""
    if tuple(axes) == tuple(range(ref.rank)):
        return ref
    return _view(
        l, ref, lambda r: views.transpose(r, axes), lambda d: np.transpose(d, tuple(axes)), axes
    )


def move_axis(l: Lowering, ref: Ref, source: int, target: int) -> Ref:
    axes = [a for a in range(ref.rank) if a != source % ref.rank]
    axes.insert(target % ref.rank, source % ref.rank)
    return transpose(l, ref, axes)


def sliced(
    l: Lowering,
    ref: Ref,
    axis: int,
    start: Extent,
    count: Extent,
    step: int = 1,
    *,
    inside: bool = False,
) -> Ref:
    """`count` elements of `axis` from `start` on, every `step`-th; that they lie inside is proved or checked, or the caller's
    affair (`inside`)."""
    axis %= ref.rank
    if not inside:
        _require_inside(l, ref.shape[axis], start, count, step)
    picked: slice | None = None
    if not isinstance(ref, View) and isinstance(start, int) and isinstance(count, int):
        stop = start + count * step
        picked = slice(start, stop if stop >= 0 else None, step)
    at = tuple(picked if a == axis else slice(None) for a in range(ref.rank))
    source = ref if picked is not None else l.real(ref)
    return _view(
        l, source, lambda r: views.slice_axis(r, axis, start, count, step), lambda d: d[at]
    )


def _require_inside(l: Lowering, size: Extent, start: Extent, count: Extent, step: int) -> None:
    """So many elements exist, counted from whichever end; as many as were computed from the axis are inside by how they were.
    A view reads what lies there, so that a size that only a run decides would let it read what an earlier run left."""
    if not isinstance(count, int) or count == 0:
        return
    last = extents.add(start, (count - 1) * step)
    low, high = (start, last) if step > 0 else (last, start)
    if count < 0 or (isinstance(low, int) and low < 0):
        l.fail(f"takes {count} elements from {start} on by steps of {step}; expected none below 0")
    for a, b in ((0, low), (extents.add(high, 1), size)):
        if not extents.at_most(a, b) and (l.sizes.is_counted(a) or l.sizes.is_counted(b)):
            l.fail(
                f"takes {count} elements from {start} on of {size}, which only a run decides; give it a size that stays"
            )
        l.sizes.require_at_most(a, b, "elements lie inside their axis")


def flip(l: Lowering, ref: Ref, axis: int) -> Ref:
    n = ref.shape[axis]
    return sliced(l, ref, axis, extents.sub(n, 1), n, -1)


def expand(l: Lowering, ref: Ref, shape: Shape) -> Ref:
    """Broadcasts to `shape`, which must fit."""
    if same_shape(ref.shape, shape):
        return ref
    if ref.rank > len(shape):
        l.fail(f"a tensor of rank {ref.rank} is broadcast to rank {len(shape)}; expected no more")
    full = list(shape)
    lead = len(shape) - ref.rank
    stretched: dict[int, tuple[Extent, Extent]] = {}
    for axis, have in enumerate(ref.shape, lead):
        want = full[axis]
        if same(have, 1) or same(have, want):
            continue
        if (have, want) in l.sizes.open:
            stretched[axis - lead] = (want, is_long(have))
            continue
        text = "expanded axes agree or have extent 1"
        if is_narrow(have):
            l.sizes.require_stretches(have, want, text)
            continue
        l.sizes.require_equal(have, want, text)
        if l.sizes.is_counted(have) or l.sizes.is_counted(want):
            full[axis] = have  # a run compares them: a view of another size would hide it
    shape = tuple(full)
    if same_shape(ref.shape, shape):
        return ref
    if stretched:
        ref = _view(l, l.real(ref), lambda r: views.stretch(r, stretched), lambda d: d)
    small = all(isinstance(n, int) for n in shape) and extents.product(shape) <= KNOWN_LIMIT
    source = ref if small else l.real(ref)
    return _view(
        l,
        source,
        lambda r: views.expand(r, tuple(shape)),
        lambda d: np.broadcast_to(d, tuple(int(n) for n in shape)),
    )


def agree(l: Lowering, ref: Ref, axis: int, size: Extent, text: str) -> Ref:
    """`ref` with `size` as the extent of `axis`, which is proved or checked at prepare."""
    if same(ref.shape[axis], size):
        return ref
    l.sizes.require_equal(ref.shape[axis], size, text)
    ref = l.real(ref)
    shape = list(ref.shape)
    shape[axis] = size
    return expand(l, ref, tuple(shape))


def reshape(l: Lowering, ref: Ref, shape: Sequence[Extent]) -> Ref:
    """The same elements in row-major order; a view where strides allow, else a copy."""
    shape = tuple(shape)
    if same_shape(ref.shape, shape):
        return ref
    ref = _as_many(l, ref, shape)
    fixed = all(isinstance(n, int) for n in shape)
    source = l.real(ref) if isinstance(ref, (Known, Codes)) and not fixed else ref
    return _view(
        l,
        source,
        lambda r: views.reshape(r, shape) or _reshape_copy(l, r, shape),
        lambda d: d.reshape(tuple(int(n) for n in shape)),
    )


def _as_many(l: Lowering, ref: Ref, shape: Shape) -> Ref:
    """`ref`, with as many elements as `shape` says, also where a lowering takes that for granted and the model does not
    say it. Counted sizes are compared by the run: a view would show what lies behind the elements."""
    have, want = extents.product(ref.shape), extents.product(shape)
    if same(have, want):
        return ref
    if not l.sizes.is_counted(have) and not l.sizes.is_counted(want):
        l.sizes.require_equal(have, want, "a reshaped tensor keeps its number of elements")
        return ref
    whole = l.unpacked(ref)
    return l.cast(l.one("reshape", [whole], {}, whole.dtype, shape), ref.dtype)


def _reshape_copy(l: Lowering, ref: View, shape: Shape) -> View:
    result = views.reshape(dense(l, ref), shape)
    assert result is not None
    return result


def memory_order(l: Lowering, ref: Ref) -> tuple[int, ...]:
    """The axes from the widest stride to the narrowest."""
    return views.memory_order(l.real(ref))


def squeeze(l: Lowering, ref: Ref, axes: Sequence[int]) -> Ref:
    gone = {a % ref.rank for a in axes}
    if any(s.is_choice for s in l.scopes) and not all(same(ref.shape[a], 1) for a in gone):
        whole = l.unpacked(
            ref
        )  # the run compares: where it takes another branch, nothing need be 1
        shape = tuple(n for a, n in enumerate(ref.shape) if a not in gone)
        return l.cast(l.one("reshape", [whole], {}, whole.dtype, shape), ref.dtype)
    if any(l.sizes.is_counted(ref.shape[a]) for a in gone):
        ref = reshape(l, ref, tuple(1 if a in gone else n for a, n in enumerate(ref.shape)))
    for a in gone:
        l.sizes.require_equal(ref.shape[a], 1, "squeezed axes have extent 1")
    keep = [a for a in range(ref.rank) if a not in gone]
    return _view(
        l,
        ref,
        lambda r: views.place(
            r, tuple(r.shape[a] for a in keep), tuple(r.steps[a] for a in keep), r.offset
        ),
        lambda d: d.reshape([d.shape[a] for a in keep]),
    )


def unsqueeze(l: Lowering, ref: Ref, axes: Sequence[int]) -> Ref:
    rank = ref.rank + len(axes)
    new = {a % rank for a in axes}
    rest = iter(ref.shape)
    shape = tuple(1 if a in new else next(rest) for a in range(rank))
    return reshape(l, ref, shape)


def dense(l: Lowering, ref: Ref) -> View:
    """`ref`, copied if its elements do not lie row-major."""
    ref = l.real(ref)
    return ref if ref.strides is None else copy(l, ref)


def copy(l: Lowering, ref: Ref) -> View:
    array = l.values.array(ref)
    if array is not None:
        return l.values.constant(np.array(array, order="C"), ref.dtype)
    return l.real(l.one("copy", [ref], {}, ref.dtype, ref.shape))


def _each(coded: Coded, view: Callable[[Any], Any], axes: Sequence[int]) -> Coded:
    """The same view of codes and what belongs to them; blocks stay blocks where only the order of the axes changes."""
    old, codes = coded.codes.shape, view(coded.codes)

    def seen(part: Stored | Blocks) -> Stored | Blocks:
        if isinstance(part, Blocks) and axes:
            nested = None if part.nested is None else _each(part.nested, view, axes)
            return Blocks(view(part.parts), list(axes).index(part.axis), part.size, nested)
        return later(codes.shape, part.dtype, lambda: view(spread(part, old)))

    made = each_part(coded, codes, seen)
    return made if axes or coded.origin is not None else dataclasses.replace(made, origin=coded)
