"""If, Loop and Scan: blocks of their own, with the outer values they read seen from inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from pteron.schema.dtypes import DTYPES

from .... import graph as g
from ....program.views import Shape, as_elements
from ....sizes import Extent, extents
from ....sizes.extents import maximum, same
from ...context import Lowering
from ...graphs import outputs_of
from ...node import Node
from ...refs import Known, Ref, RefusedError, TwoRanksError
from ...table import lowers

ROUNDS = 9
"""Times a body is lowered until the shapes of what it carries have settled: one axis may turn out to grow at a time."""


# --- If -----------------------------------------------------------------------------------------------------------------


@lowers("If")
def lower_if(l: Lowering, n: Node) -> Sequence[Ref]:
    """A condition that is known picks its branch at export."""
    branches = [n.graph("then_branch"), n.graph("else_branch")]
    known = _flag(l, n[0])
    if known is not None:
        return outputs_of(l, branches[0 if known else 1], [])
    condition = l.reshape(n[0], ())
    at = l.index(condition)
    for scope in l.scopes:
        if at in scope.holds:  # an If inside, of the same condition
            return outputs_of(l, branches[0 if scope.holds[at] else 1], [])
    then, other = (lambda graph=graph: outputs_of(l, graph, []) for graph in branches)
    return either(l, condition, then, other)


def either(
    l: Lowering,
    condition: Ref,
    then: Callable[[], Sequence[Ref]],
    other: Callable[[], Sequence[Ref]],
) -> list[Ref]:
    """What the one or the other gives, each in a block of its own, by a scalar that a run computes."""
    made: list[list[Ref]] = []
    blocks: list[int] = []
    first, checks = len(l.blocks), len(l.sizes.checks)
    at = l.index(condition)
    for make in (then, other):
        with l.block() as scope:
            scope.is_choice, scope.holds[at] = True, make is then
            made.append([l.result(ref) for ref in make()])
        blocks.append(scope.index)
    if any(a.rank != b.rank for a, b in zip(*made, strict=True)):
        del l.blocks[first:], l.sizes.checks[checks:]
    results = [(a.dtype, _common(l, a, b)) for a, b in zip(*made, strict=True)]
    attrs = {"then_block": blocks[0], "else_block": blocks[1]}
    outputs = l.emit("if", [condition], attrs, results)
    return [y for y in outputs if y is not None]


def _flag(l: Lowering, ref: Ref) -> bool | None:
    """A known truth value, or None."""
    known = l.values.elements(ref)
    value: Any = None if known is None or known.size != 1 else known.flat[0]
    return bool(value) if isinstance(value, (bool, int)) else None


def _common(l: Lowering, a: Ref, b: Ref) -> Shape:
    """The shape of what is either `a` or `b`; an axis of unequal sizes is counted."""
    if a.dtype != b.dtype or a.rank != b.rank:
        kind = RefusedError if a.rank == b.rank else TwoRanksError
        raise kind(
            f"branches give {a.dtype} of rank {a.rank} and {b.dtype} of rank {b.rank}; "
            "expected one dtype and rank: reshape one of them"
        )
    pairs = zip(a.shape, b.shape, strict=True)
    return tuple(
        m if same(m, n) else l.sizes.counted("either", _largest(l, m, n)) for m, n in pairs
    )


def _largest(l: Lowering, *sizes: Extent) -> Extent | None:
    """The largest of `sizes`, or None where one is itself found while running without a bound."""
    top: Extent = 0
    for n in sizes:
        bound = l.sizes.most(n)
        if bound is None:
            return None
        top = maximum(top, bound)
    return top


# --- Loop ---------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class _Body:
    """A lowered body: its block, whether it goes on, what it carries, its rows; `shapes` of what is carried."""

    block: int
    go_on: Ref
    carried: Sequence[Ref]
    rows: Sequence[Ref]
    shapes: list[Shape]


class _OtherTypesError(RefusedError):
    """A body gives other dtypes or ranks than it takes; `made` is what it gives."""

    def __init__(self, text: str, made: Sequence[Ref]) -> None:
        super().__init__(text)
        self.made = made


@lowers("Loop")
def lower_loop(l: Lowering, n: Node) -> Sequence[Ref]:
    graph = n.graph("body")
    initial = [n[i] for i in range(2, len(n.inputs))]
    trips = None if n.get(0) is None else l.reshape(n[0], ())
    condition = None if n.get(1) is None else l.reshape(n[1], ())

    def fill(iteration: Ref, carried: Sequence[Ref]) -> Sequence[Ref]:
        given = [l.reshape(iteration, ()), l.values.scalar(True, "bool"), *carried]
        named = [
            l.reshape(ref, (1,)) if _is_vector(value) else ref
            for ref, value in zip(given[:2], graph.inputs, strict=False)
        ]
        return outputs_of(l, graph, [*named, *given[2:]])

    count = _trip_count(l, trips)
    runs = _is_true(l, condition) and (trips is None or (isinstance(count, int) and count > 0))
    blocks, checks = len(l.blocks), len(l.sizes.checks)
    try:
        body = _body(l, initial, fill)
    except _OtherTypesError as error:
        if not runs:
            raise
        del l.blocks[blocks:], l.sizes.checks[checks:]
        initial = _as_it_goes_on(l, graph, initial, error.made)
        body = _body(l, initial, fill)
    always = _is_true(l, condition) and _is_true(l, body.go_on)
    most = None if count is None else l.sizes.most(count)
    length = count if always and count is not None else l.sizes.counted("rows", most)
    _bounded(l, initial, body, most)
    return _run(l, None if always and trips is None else trips, condition, initial, body, length)


def _as_it_goes_on(
    l: Lowering, graph: ir.Graph, initial: Sequence[Ref], made: Sequence[Ref]
) -> list[Ref]:
    """Of a loop that runs at least once, whose body gives other types than it takes: what the second iteration takes.

    What the body neither reads nor hands on, which exporters begin as any number, begins as zeros; axes that a run counts with none. One element
    takes the rank that it is carried in.
    """
    started = []
    for x, ref, value in zip(initial, made, graph.inputs[2:], strict=False):
        is_one = x.dtype == ref.dtype and all(same(m, 1) for m in (*x.shape, *ref.shape))
        if x.rank != ref.rank and is_one:
            started.append(l.reshape(x, ref.shape))
        elif (x.dtype, x.rank) != (ref.dtype, ref.rank) and not g.is_read(value):
            shape = tuple(0 if l.sizes.is_counted(m) else m for m in ref.shape)
            zero = l.values.constant(np.zeros((), DTYPES[ref.dtype].numpy), ref.dtype)
            started.append(l.expand(zero, shape))
        else:
            started.append(x)
    return started


def _is_vector(value: ir.Value) -> bool:
    """Some exporters declare the iteration or the condition as [1]."""
    return value.shape is not None and len(value.shape) == 1


def _is_true(l: Lowering, ref: Ref | None) -> bool:
    return ref is None or _flag(l, ref) is True


def _trip_count(l: Lowering, trips: Ref | None) -> Extent | None:
    known = None if trips is None else l.values.sizes_in(trips)
    if known is None:
        return None
    count = extents.extent(known.flat[0])
    return maximum(count, 0)


def _body(l: Lowering, initial: Sequence[Ref], fill: Any) -> _Body:
    """Lowers the body, again while an axis of what it carries turns out to change: such an axis is counted."""
    shapes: list[Shape] = [ref.shape for ref in initial]
    blocks, checks = len(l.blocks), len(l.sizes.checks)
    body = _attempt(l, initial, shapes, fill)
    for _ in range(ROUNDS):
        settled = [_joined(l, a, b.shape) for a, b in zip(shapes, body.carried, strict=True)]
        if settled == shapes:
            return body
        del l.blocks[blocks:], l.sizes.checks[checks:]
        shapes = settled
        body = _attempt(l, initial, shapes, fill)
    raise RefusedError("shapes that the loop carries do not settle; give them sizes that stay")


def _attempt(l: Lowering, initial: Sequence[Ref], shapes: list[Shape], fill: Any) -> _Body:
    with l.block() as scope:
        iteration = l.param("i64", (), "iteration")
        params = [l.param(ref.dtype, shape) for ref, shape in zip(initial, shapes, strict=True)]
        go_on, *rest = fill(iteration, params)
        for ref, x in zip(rest, initial, strict=False):
            if ref.dtype != x.dtype or ref.rank != x.rank:
                text = f"carries {x.dtype} of rank {x.rank} in, {ref.dtype} of rank {ref.rank} out"
                raise _OtherTypesError(text, rest[: len(initial)])
        l.result(l.reshape(go_on, ()))
        made = [l.result(ref) for ref in rest]
    return _Body(scope.index, go_on, made[: len(initial)], made[len(initial) :], shapes)


def _joined(l: Lowering, a: Shape, b: Shape) -> Shape:
    """`a`, with axes counted where `b` differs."""
    out = []
    for m, n in zip(a, b, strict=True):
        counted = any(l.sizes.dims[s].kind == "counted" for s in extents.symbols_of(m))
        out.append(m if same(m, n) or counted else l.sizes.counted("carried", None))
    return tuple(out)


def _bounded(l: Lowering, initial: Sequence[Ref], body: _Body, most: Extent | None) -> None:
    """Gives counted axes of what is carried the bounds that the body proves: its result's, or growth by as much a round, of `most`."""
    for first, carried, made in zip(initial, body.shapes, body.carried, strict=True):
        for m, c, n in zip(first.shape, carried, made.shape, strict=True):
            if not same(m, c) and l.sizes.dims[c].capacity is None:
                growth = None if most is None else l.sizes.most(extents.sub(n, c))
                capacity = _largest(l, m, n)
                if capacity is None and growth is not None:
                    capacity = _largest(l, extents.add(m, extents.mul(most, growth)))
                if capacity is not None:
                    l.sizes.bound(c, capacity)


def _run(
    l: Lowering,
    trips: Ref | None,
    condition: Ref | None,
    initial: Sequence[Ref],
    body: _Body,
    length: Extent,
) -> list[Ref]:
    """The loop instruction; the length of an axis 0 of rows is the number of iterations."""
    results = [(ref.dtype, shape) for ref, shape in zip(initial, body.shapes, strict=True)]
    for ref in body.rows:
        if DTYPES[ref.dtype].is_narrow:
            l.fail(f"collects {ref.dtype} elements, which share bytes; cast them to i8 in the body")
    results += [(ref.dtype, (length, *ref.shape)) for ref in body.rows]
    inputs = [trips, None if _is_true(l, condition) else condition, *initial]
    outputs = l.emit("loop", inputs, {"body": body.block}, results)
    return [y for y in outputs if y is not None]


def repeated(
    l: Lowering,
    trips: Ref,
    initial: Sequence[Ref],
    step: Callable[[Ref, Sequence[Ref]], Sequence[Ref]],
) -> list[Ref]:
    """What `step(i, carried)`, of the same shapes, makes of `initial` when it is done `trips` times."""

    def fill(iteration: Ref, carried: Sequence[Ref]) -> Sequence[Ref]:
        return [l.values.scalar(True, "bool"), *step(iteration, carried)]

    return _run(l, trips, None, initial, _body(l, initial, fill), 0)


# --- Scan ---------------------------------------------------------------------------------------------------------------


@lowers("Scan")
def lower_scan(l: Lowering, n: Node) -> Sequence[Ref]:
    """A loop over the elements of an axis: each iteration gathers its own, and the rows go back to their axes."""
    graph = n.graph("body")
    count = n.integer("num_scan_inputs")
    states = [n[i] for i in range(len(n.inputs) - count)]
    axes = n.integers("scan_input_axes") or (0,) * count
    backwards = n.integers("scan_input_directions") or (0,) * count
    sequences = [
        _forward(l, l.move_axis(n[len(states) + i], axes[i], 0), bool(backwards[i]))
        for i in range(count)
    ]
    length = sequences[0].shape[0]
    for x in sequences[1:]:
        l.sizes.require_equal(length, x.shape[0], "sequences scanned together")

    def fill(iteration: Ref, carried: Sequence[Ref]) -> Sequence[Ref]:
        elements = [_element(l, x, iteration) for x in sequences]
        return [l.values.scalar(True, "bool"), *outputs_of(l, graph, [*carried, *elements])]

    body = _body(l, states, fill)
    trips = Known("i64", as_elements([length], ()))
    _bounded(l, states, body, l.sizes.most(length))
    outputs = _run(l, trips, None, states, body, length)
    rows = list(_placed(l, n, outputs[len(states) :]))
    return [*outputs[: len(states)], *rows]


def _forward(l: Lowering, x: Ref, backwards: bool) -> Ref:
    return l.flip(x, 0) if backwards else x


def _element(l: Lowering, x: Ref, iteration: Ref) -> Ref:
    return l.one("gather", [x, iteration], {}, x.dtype, x.shape[1:])


def _placed(l: Lowering, n: Node, rows: Sequence[Ref]) -> Iterator[Ref]:
    axes = n.integers("scan_output_axes") or (0,) * len(rows)
    backwards = n.integers("scan_output_directions") or (0,) * len(rows)
    for row, axis, back in zip(rows, axes, backwards, strict=True):
        yield l.move_axis(_forward(l, row, bool(back)), 0, axis)
