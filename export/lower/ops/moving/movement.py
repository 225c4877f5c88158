"""Operators that only move elements: views where strides can say it, copies into views where not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from pteron.schema.dtypes import DTYPES, INTEGERS

from ....program.arrays import same_dtype
from ....program.terms import Term, cast, eq, index, le, lt, register, select, stored, term
from ....program.views import Shape, View
from ....sizes import HUGE, Extent, choices, extents
from ....sizes.extents import (
    add,
    at_most,
    ceildiv,
    has_any_sign,
    is_below_0,
    is_narrow,
    maximum,
    minimum,
    mul,
    product,
    same,
    sub,
    symbols_of,
)
from ...context import Lowering
from ...elementwise import cast_term, convert
from ...node import NAMES, Node
from ...refs import Known, Ref
from ...table import lowers
from .counted import is_open, places_below, sizes, slice_by_values, split_by_values, steady


def axes_of(l: Lowering, n: Node, position: int, what: str = "axes") -> tuple[int, ...] | None:
    """Axes given as an input, or as an attribute in the bodies of ONNX's own functions; None where absent."""
    if n.has(what):
        return n.integers(what)
    ref = n.get(position)
    return None if ref is None else tuple(l.values.numbers(ref, what))


# --- the same elements, other axes --------------------------------------------------------------------------------------


@lowers("Identity")
def lower_identity(l: Lowering, n: Node) -> Ref:
    return n[0]


@lowers("Constant")
def lower_constant(l: Lowering, n: Node) -> Ref:
    kinds = ("value", "value_float", "value_int", "value_floats", "value_ints")
    name = next((k for k in kinds if n.has(k)), "")
    if not name:
        l.fail(f"holds {sorted(n.attrs)}; strings and sparse tensors are not covered")
    value = n.value(name)
    if not isinstance(value, ir.TensorProtocol):
        return l.values.constant(np.array(value, np.float32 if "float" in name else np.int64))
    if value.dtype not in NAMES:
        l.fail(f"holds {value.dtype}; strings and complex numbers are not covered")
    return l.values.constant(value.numpy(), NAMES[value.dtype])


@lowers("Dropout")
def lower_dropout(l: Lowering, n: Node) -> list[Ref]:
    training = n.get(2)
    mode = [0] if training is None else l.values.numbers(training, "training_mode")
    ratio = l.values.array(n[1]) if n.get(1) is not None else np.array(0.5)
    if mode[0] and (ratio is None or float(ratio.reshape(-1)[0]) != 0.0):
        l.fail("drops elements at random (training_mode); export the model for inference")
    return [n[0], l.expand(l.values.scalar(True, "bool"), n[0].shape)]


@lowers("Reshape")
def lower_reshape(l: Lowering, n: Node) -> Ref:
    x, zero_is_zero = n[0], bool(n.integer("allowzero"))
    given = l.values.sizes_in(n[1], signed=True)
    if given is not None and any(map(has_any_sign, given.flat)):
        wanted = l.values.known(n[1], "the new shape", signed=True)
        return l.reshape(x, reshaped_by_inputs(l, x.shape, wanted, zero_is_zero=zero_is_zero))
    wanted = sizes(l, n[1], "the new shape", x.shape)
    return l.reshape(x, reshaped(l, x.shape, wanted, zero_is_zero=zero_is_zero))


def reshaped_by_inputs(
    l: Lowering, shape: Shape, wanted: Sequence[Extent], *, zero_is_zero: bool
) -> Shape:
    """As `reshaped`, where inputs give elements: prepare sees which are -1, which are 0."""
    old = [shape[i] if not zero_is_zero and i < len(shape) else 0 for i in range(len(wanted))]
    for w in wanted:
        l.sizes.require_at_most(-1, w, "a new extent is -1 or a size")
    others = (choices.NewExtent(w, m, 1) for w, m in zip(wanted, old, strict=True))
    left = choices.Share(product(shape), product(others))
    return tuple(
        extents.extent(choices.NewExtent(w, m, left)) for w, m in zip(wanted, old, strict=True)
    )


def reshaped(l: Lowering, shape: Shape, wanted: list[Extent], *, zero_is_zero: bool) -> Shape:
    """The extents of ONNX Reshape: 0 takes the old one, -1 what is left."""
    if not zero_is_zero:
        wanted = [shape[i] if w == 0 and i < len(shape) else w for i, w in enumerate(wanted)]
    total = product(shape)
    if -1 not in wanted:
        new = product(wanted)
        if not (l.sizes.is_counted(total) or l.sizes.is_counted(new)):  # else the run compares
            l.sizes.require_equal(total, new, "reshape keeps the number of elements")
        return tuple(wanted)
    at = wanted.index(-1)
    rest = product([*wanted[:at], *wanted[at + 1 :]])
    left = exact_quotient(l, total, rest, "reshape")
    return (*wanted[:at], left, *wanted[at + 1 :])


def exact_quotient(l: Lowering, total: Extent, part: Extent, text: str) -> Extent:
    """total / part, proved or checked at prepare to be whole."""
    whole = extents.exact_div(total, part)
    if whole is not None:
        return whole
    if isinstance(total, int) and isinstance(part, int):
        l.fail(f"{text}: {total} elements do not divide by {part}")
    if not (
        l.sizes.is_counted(total) or l.sizes.is_counted(part)
    ):  # else a reshape behind it compares
        l.sizes.check("divides", part, total, f"{text}: the elements divide")
    return extents.floordiv(total, part)


@lowers("Flatten")
def lower_flatten(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axis = n.integer("axis", 1)
    axis += x.rank if axis < 0 else 0
    return l.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))


@lowers("Transpose")
def lower_transpose(l: Lowering, n: Node) -> Ref:
    return l.transpose(n[0], n.integers("perm") or tuple(reversed(range(n[0].rank))))


@lowers("Squeeze")
def lower_squeeze(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axes = axes_of(l, n, 1)
    if axes is None:
        axes = tuple(i for i, size in enumerate(x.shape) if same(size, 1))
        for i in set(range(x.rank)) - set(axes):
            _keep_axis(l, i, x.shape[i])
    return l.squeeze(x, axes)


def _keep_axis(l: Lowering, axis: int, size: Extent) -> None:
    """Without axes, every extent of 1 goes: whether this one is 1 decides the rank of the result."""
    if isinstance(size, int) or at_most(2, size):
        return
    if any(l.sizes.dims[s].kind == "counted" for s in symbols_of(size)):
        l.fail(
            f"has no axes, and only a run decides whether axis {axis} ({size}) is 1; give it axes"
        )
    l.sizes.check(
        "le",
        2,
        size,
        f"a Squeeze without axes keeps axis {axis}, which must not be 1; give it axes",
    )


@lowers("Unsqueeze")
def lower_unsqueeze(l: Lowering, n: Node) -> Ref:
    axes = axes_of(l, n, 1)
    assert axes is not None
    return l.unsqueeze(n[0], axes)


@lowers("Expand")
def lower_expand(l: Lowering, n: Node) -> Ref:
    x = n[0]
    wanted = sizes(l, n[1], "the shape to expand to", x.shape, makes=[same(m, 1) for m in x.shape])
    for axis in range(max(-x.rank, -len(wanted)), 0):
        have, want = x.shape[axis], wanted[axis]
        if l.sizes.is_counted(have) and not (same(have, want) or same(want, 1) or is_narrow(have)):
            shape = list(x.shape)
            shape[axis] = want
            x = l.reshape(x, tuple(shape))  # the run compares them
        else:
            wanted[axis] = _met(l, have, want)
    return l.expand(x, l.sizes.broadcast([x.shape, wanted]))


def _met(l: Lowering, have: Extent, want: Extent) -> Extent:
    """What an axis of several elements is expanded to by an input's element, which may be 1."""
    given = any(l.sizes.dims[s].kind == "shape" for s in symbols_of(want))
    if not given or not isinstance(have, int) or have < 2:
        return want
    other = mul(sub(want, 1), sub(want, have))
    l.sizes.require_equal(other, 0, f"an axis of {have} is expanded by 1 or {have}")
    return have


@lowers("DepthToSpace")
def lower_depth_to_space(l: Lowering, n: Node) -> Ref:
    b, c, *space = n[0].shape
    s = n.integer("blocksize")
    rank = len(space)
    deep = exact_quotient(l, c, s**rank, "channels")
    crd = n.text("mode", "DCR") == "CRD"
    x = l.reshape(n[0], (b, deep, *[s] * rank, *space) if crd else (b, *[s] * rank, deep, *space))
    channel, block = (1, 2) if crd else (1 + rank, 1)
    order = [0, channel, *(a for i in range(rank) for a in (2 + rank + i, block + i))]
    return l.reshape(l.transpose(x, order), (b, deep, *(mul(e, s) for e in space)))


@lowers("SpaceToDepth")
def lower_space_to_depth(l: Lowering, n: Node) -> Ref:
    b, c, *space = n[0].shape
    s = n.integer("blocksize")
    small = [exact_quotient(l, e, s, "the image") for e in space]
    x = l.reshape(n[0], (b, c, *(e for m in small for e in (m, s))))
    rank = len(space)
    blocks = [3 + 2 * i for i in range(rank)]
    inner = [1, *blocks] if n.text("mode", "DCR") == "CRD" else [*blocks, 1]
    order = [0, *inner, *(2 + 2 * i for i in range(rank))]
    return l.reshape(l.transpose(x, order), (b, mul(c, s**rank), *small))


# --- parts --------------------------------------------------------------------------------------------------------------


@lowers("Slice")
def lower_slice(l: Lowering, n: Node) -> Ref:
    x = n[0]
    given, step = n.get(3), n.get(4)
    (parts,) = n[1].shape
    if not isinstance(parts, int):
        l.fail(f"the number of its starts is {parts}; expected a number")
    axes = tuple(range(parts) if given is None else l.values.numbers(given, "axes"))
    steps = [1] * parts if step is None else l.values.numbers(step, "steps")
    lengths = [x.shape[axis] for axis in axes]
    if _by_a_run(l, n[1], lengths) or _by_a_run(l, n[2]):
        for i, (axis, stride) in enumerate(zip(axes, steps, strict=True)):
            low, high = (l.reshape(l.slice(b, 0, i, 1), ()) for b in (n[1], n[2]))
            x = slice_by_values(l, x, axis % x.rank, low, high, stride)
        return x
    starts = l.values.known(n[1], "where the slice starts", signed=True)
    ends = l.values.known(n[2], "where the slice ends", signed=True)
    for start, end, axis, stride in zip(starts, ends, axes, steps, strict=True):
        stride = _within(stride, x.shape[axis])
        first, count = slice_range(l, x.shape[axis], start, end, stride)
        if same(count, x.shape[axis]) and stride == 1:
            continue
        x = l.slice(x, axis, first, count, stride)
    return x


def _by_a_run(l: Lowering, bounds: Ref, sizes: Sequence[Extent] = ()) -> bool:
    """Whether only a run knows the numbers, from which end they count, or for which counts most is left: memory is for those at
    0 and for those at their capacities. `sizes`: of the axes that start there."""
    known = l.values.sizes_in(bounds, signed=True)
    if known is None:
        return True
    counted = [l.sizes.is_counted(n) for n in known.flat]
    if any(c and not at_most(0, n) for c, n in zip(counted, known.flat, strict=True)):
        return True
    return any(c and l.sizes.is_counted(size) for c, size in zip(counted, sizes, strict=False))


def _within(step: int, size: Extent) -> int:
    """A step that takes the same elements and whose strides stay numbers of the file: none beyond the axis takes a second."""
    most = max(size, 1) if isinstance(size, int) else HUGE
    return max(-most, min(step, most))


def slice_range(
    l: Lowering, size: Extent, start: Extent, end: Extent, step: int
) -> tuple[Extent, Extent]:
    """First index and count of start:end:step by NumPy's rule."""
    low: Extent = 0 if step > 0 else -1
    high = size if step > 0 else sub(size, 1)
    first = clamp(l, start, size, 0 if step > 0 else minimum(0, high), high)
    last = clamp(l, end, size, low, high)
    span = sub(last, first) if step > 0 else sub(first, last)
    return first, maximum(ceildiv(span, abs(step)), 0)


def clamp(l: Lowering, at: Extent, size: Extent, low: Extent, high: Extent) -> Extent:
    """An index that may count from the end, brought into low .. high."""
    if isinstance(at, int):
        if at <= -HUGE:
            return low
        return minimum(at, high) if at >= 0 else maximum(add(size, at), low)
    if has_any_sign(at):
        return extents.extent(choices.Bound(at, size, low, high))
    if at_most(at, 0):
        back = maximum(add(size, at), low)
        is_back = minimum(mul(-1, at), 1)  # 0 is the start: -n of a size n that may be 0
        return add(mul(is_back, back), mul(sub(1, is_back), minimum(0, high)))
    if not at_most(0, at):
        l.sizes.check("le", 0, at, "a computed slice bound counts from the start")
    return minimum(at, high)


@lowers("Split")
def lower_split(l: Lowering, n: Node) -> list[Ref]:
    x = n[0]
    axis = n.integer("axis")
    if n.get(1) is not None:
        found = l.values.sizes_in(n[1])
        if found is None or any(is_open(l, size) for size in found.flat):
            return split_by_values(l, x, axis % x.rank, n[1], len(n.wanted))
        lengths = l.values.known(n[1], "the sizes of the parts")
    else:
        lengths = equal_parts(x.shape[axis], n.integer("num_outputs", len(n.wanted)))
    start: Extent = 0
    parts = []
    for size in lengths:
        parts.append(l.slice(x, axis, start, size))
        start = add(start, size)
    l.sizes.require_equal(start, x.shape[axis], "the parts of a split make up the axis")
    return parts


def equal_parts(size: Extent, count: int) -> list[Extent]:
    """ceil(size / count) as long as there are so many: the last parts are smaller, or empty."""
    each = ceildiv(size, count)
    ends = [minimum(mul(each, i), size) for i in range(1, count)]
    return [sub(b, a) for a, b in zip([0, *ends], [*ends, size], strict=True)]


# --- joining ------------------------------------------------------------------------------------------------------------


@lowers("Concat")
def lower_concat(l: Lowering, n: Node) -> Ref:
    parts = [x for x in n.inputs if x is not None]
    y = concat(l, parts, n.integer("axis"))
    if y.rank == 1 and y.dtype == "i64" and isinstance(y, View):
        l.values.parts.setdefault(y.base, parts)
    return y


def concat(l: Lowering, parts: Sequence[Ref], axis: int) -> Ref:
    """One dense base in the axis order of the largest part, each part copied into its place."""
    dtype = parts[0].dtype
    axis %= parts[0].rank
    parts = [x for x in parts if x.shape[axis] != 0] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    if DTYPES[dtype].is_narrow:
        return convert(l, concat(l, [l.unpacked(x) for x in parts], axis), dtype)
    shape = list(parts[0].shape)
    for x in parts[1:]:
        for i in range(len(shape)):
            if i != axis:
                l.sizes.require_equal(shape[i], x.shape[i], "concat joins equal axes")
                shape[i] = extents.simpler(shape[i], x.shape[i])
    size: Extent = 0
    for x in parts:
        size = add(size, x.shape[axis])
    shape[axis] = size
    base = like_memory(
        l, max(parts, key=lambda x: extents.magnitude(product(x.shape))), dtype, shape
    )
    start: Extent = 0
    for x in parts:
        place = l.slice(base, axis, start, x.shape[axis], inside=True)
        l.copy_into(l.expand(l.real(x), place.shape), place)
        start = add(start, x.shape[axis])
    return base


def like_memory(l: Lowering, model: Ref, dtype: str, shape: Sequence[Extent]) -> Ref:
    """Planned memory for `shape`, its axes in the order of `model`."""
    order = l.memory_order(model)
    base = l.values.new(dtype, tuple(shape[a] for a in order))
    return l.transpose(base, [order.index(a) for a in range(len(shape))])


@lowers("Tile")
def lower_tile(l: Lowering, n: Node) -> Ref:
    x = n[0]
    repeats = sizes(l, n[1], "how often to repeat", makes=[True] * x.rank)
    split: list[Extent] = []
    for count, size in zip(repeats, x.shape, strict=True):
        split += [count, size]
    y = l.unsqueeze(x, [2 * i for i in range(x.rank)])
    return l.reshape(
        l.expand(y, tuple(split)), [mul(a, b) for a, b in zip(repeats, x.shape, strict=True)]
    )


# --- made from coordinates ----------------------------------------------------------------------------------------------


@lowers("Trilu")
def lower_trilu(l: Lowering, n: Node) -> Ref:
    x = n[0]
    k = n.get(1)
    upper = n.integer("upper", 1)

    def build(t: Term, *shift: Term) -> Term:
        row = index(x.rank - 2) + (shift[0] if shift else 0)
        column = index(x.rank - 1)
        return select(le(row, column) if upper else le(column, row), t, 0)

    return l.pointwise(build, [x] if k is None else [x, l.reshape(k, ())], x.dtype)


@lowers("Range")
def lower_range(l: Lowering, n: Node) -> Ref:
    start, limit, delta = (l.reshape(n[i], ()) for i in range(3))
    bounds = [l.values.sizes_in(x, signed=True) for x in (start, limit, delta)]
    known = [x.item() for x in bounds if x is not None]
    kind = register(start.dtype)

    def build(place: Term, first: Term, by: Term) -> Term:
        return first + cast_term(place, "i64", kind) * by

    if len(known) < 3 or (symbols_of(known[2]) and any(l.sizes.is_counted(v) for v in known)):
        places = places_below(l, _steps(l, start, limit, delta), None)
        return l.pointwise(build, [places, start, delta], start.dtype)
    a, b, step = known
    if step == 0:
        l.fail("its step is 0; expected another number")
    if not any(symbols_of(v) for v in (a, b, step)):
        count: Extent = _range_count(l, a, b, step, start.dtype)
    elif isinstance(step, int):
        span = sub(b, a) if step > 0 else sub(a, b)
        count = maximum(ceildiv(span, abs(step)), 0)
        _keep_signs(l, (a, b), count)
        count = steady(l, count)
    elif start.dtype in INTEGERS:
        count = steady(l, _steps_of_any_sign(l, a, b, step))
    else:
        l.fail(f"its step is {step}; expected a number where start or limit depend on sizes")
    return l.pointwise(lambda a, by: build(index(0), a, by), [start, delta], start.dtype, (count,))


def _steps_of_any_sign(l: Lowering, a: Extent, b: Extent, step: Extent) -> Extent:
    """ceil((b - a) / step), 0 where that is below 0."""
    is_down = is_below_0(step)
    is_up = minimum(maximum(step, 0), 1)
    l.sizes.require_at_most(1, add(is_up, is_down), "the step of a range is not 0")
    up = ceildiv(maximum(sub(b, a), 0), maximum(step, 1))
    down = ceildiv(maximum(sub(a, b), 0), maximum(mul(-1, step), 1))
    return add(mul(is_up, up), mul(is_down, down))


def _steps(l: Lowering, start: Ref, limit: Ref, delta: Ref) -> Ref:
    """ceil((limit - start) / delta) as i64, which is below 1 where there are none; of integers a step of 0 ends the run."""
    kind = register(start.dtype)

    def build(a: Term, b: Term, by: Term) -> Term:
        span = stored(b - a, start.dtype)
        if kind != "i64":
            return cast(term("ceil", cast(span, "f64") / cast(by, "f64")), "i64")
        whole = span / by
        rest = span - whole * by
        return whole + cast(select(lt(0, by), lt(0, rest), lt(rest, 0)), "i64")

    return l.pointwise(build, [start, limit, delta], "i64")


def _keep_signs(l: Lowering, bounds: Sequence[Any], count: Extent) -> None:
    """An input that decides the length is checked at prepare not to be negative, where the length still depends on it."""
    inputs = {s for b in bounds for s in symbols_of(b) if l.sizes.dims[s].kind == "shape"}
    lost = inputs - symbols_of(count)
    if lost:
        names = ", ".join(sorted(str(s) for s in lost))
        l.fail(
            f"its length depends on the sign of {names}; expected constants, or inputs that are not negative"
        )


def _range_count(l: Lowering, start: Any, limit: Any, step: Any, dtype: str) -> int:
    """ceil((limit - start) / step); the difference is rounded as the dtype does."""
    if dtype in INTEGERS:
        return len(range(int(start), int(limit), int(step)))
    kind = same_dtype(dtype).type
    with np.errstate(all="ignore"):
        count = np.ceil(np.float64(kind(limit) - kind(start)) / np.float64(step))
    if not np.isfinite(count):
        l.fail(f"runs from {start} to {limit} by {step}; expected finite numbers")
    return max(0, int(count))


@lowers("ConstantOfShape")
def lower_constant_of_shape(l: Lowering, n: Node) -> Ref:
    shape = tuple(sizes(l, n[0], "the shape", makes=[]))
    if not n.has("value"):
        return l.expand(l.values.scalar(0.0, "f32"), shape)
    value = n.value("value")
    return l.expand(l.values.constant(value.numpy().reshape(()), NAMES[value.dtype]), shape)


@lowers("EyeLike")
def lower_eye_like(l: Lowering, n: Node) -> Ref:
    dtype = NAMES[ir.DataType(n.integer("dtype"))] if n.has("dtype") else n[0].dtype
    k = n.integer("k")

    def build() -> Term:
        return cast_term(eq(index(0) + k, index(1)), "bool", dtype)

    return l.pointwise(build, [], dtype, n[0].shape)


@lowers("OneHot")
def lower_one_hot(l: Lowering, n: Node) -> Ref:
    indices = n[0]
    (depth,) = sizes(l, l.reshape(n[1], (1,)), "the depth")
    axis = n.integer("axis", -1) % (indices.rank + 1)
    off, on = (l.squeeze(l.slice(n[2], 0, i, 1), [0]) for i in (0, 1))
    spread = l.unsqueeze(indices, [axis])
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    top = l.real(Known("i64", np.array(depth, object)))

    def build(at: Term, no: Term, yes: Term, size: Term) -> Term:
        at = cast_term(at, indices.dtype, "i64")
        return select(eq(select(lt(at, 0), at + size, at), index(axis)), yes, no)

    return l.pointwise(build, [spread, off, on, top], n[2].dtype, shape)


@lowers("ReverseSequence")
def lower_reverse_sequence(l: Lowering, n: Node) -> Ref:
    """y[t] = x[length - 1 - t] inside the sequence, x[t] behind it."""
    x = n[0]
    time, batch = n.integer("time_axis", 0), n.integer("batch_axis", 1)
    spread = l.unsqueeze(n[1], [i for i in range(x.rank) if i != batch])

    def build(length: Term) -> Term:
        t = index(time)
        return select(lt(t, length), length - 1 - t, t)

    at = l.pointwise(build, [spread], "i64", x.shape)
    y = l.one(
        "gather_elements",
        [l.move_axis(x, time, 0), l.move_axis(at, time, 0)],
        {},
        x.dtype,
        l.move_axis(x, time, 0).shape,
    )
    return l.move_axis(y, 0, time)
