"""If with branches of two ranks, as exporters write `squeeze(dim)` of a size that they do not know: what stands behind it is lowered for each.

The nodes behind that need the result go into both branches, up to the outputs of the graph, which must be of one rank again.
Where one of the ranks leads to a node that the standard does not allow (an LSTM over four axes), no run can have it: the other
branch alone is lowered, and a run that would take the first is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import onnx_ir as ir

from .... import graph as g
from ....program import GUARD, DebugNode
from ....program.terms import eq
from ...context import Lowering, Origin
from ...graphs import lower_node, lower_rest, noted, outputs_of, read
from ...refs import ImpossibleError, Ref, RefusedError, TwoRanksError
from ...table import BEHIND
from ..moving.counted import asserted
from .blocks import either

NAMES: Final = {True: "then_branch", False: "else_branch"}
MOST: Final = 3
"""Such Ifs behind each other: each lowers what is behind it twice."""


class _DeadEndError(Exception):
    """The branch of `name` leads to a node that is not allowed."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


def each_way(
    l: Lowering, node: ir.Node, rest: Sequence[ir.Node], outputs: Sequence[ir.Value]
) -> list[Ref | None]:
    """The outputs of a graph of which `node` is the If and `rest` are the nodes behind it."""
    later, reached = _needing(l, node, rest)
    tied = [v for v in outputs if v in reached]
    outer = l.env

    def way(name: str) -> Sequence[Ref]:
        l.env = dataclasses.replace(outer, values=outer.values.new_child(), ways=outer.ways + 1)
        try:
            body = node.attributes[name].value
            assert isinstance(body, ir.Graph)
            l.env.values.update(zip(node.outputs, outputs_of(l, body, []), strict=True))
            refs = lower_rest(l, later, tied)
        except ImpossibleError as error:
            raise _DeadEndError(name, str(error)) from error
        finally:
            l.env = outer
        if None in refs:
            raise RefusedError("a node behind it has no lowering")
        return [ref for ref in refs if ref is not None]

    before = dataclasses.replace(l.origin)
    l.at(Origin(DebugNode(node.name or "", node.op_type, g.source(node))))
    try:
        if outer.ways >= MOST:
            raise RefusedError(f"more than {MOST} Ifs of two ranks stand behind each other")
        made = _made(l, node, way)
    except RefusedError as error:
        noted(l, node, error)
        made = [None] * len(tied)  # type: ignore[list-item]
    finally:
        l.at(before)
    found = dict(zip(tied, made, strict=True))
    return [found[v] if v in found else read(l, v) for v in outputs]


def _made(l: Lowering, node: ir.Node, way: Callable[[str], Sequence[Ref]]) -> list[Ref]:
    """What either way gives, or the one that is possible."""
    assert node.inputs[0] is not None
    condition = read(l, node.inputs[0])
    assert condition is not None
    condition = l.reshape(condition, ())
    blocks, checks, failures = len(l.blocks), len(l.sizes.checks), len(l.env.failures)
    try:
        return either(l, condition, lambda: way(NAMES[True]), lambda: way(NAMES[False]))
    except _DeadEndError as end:
        del l.blocks[blocks:], l.sizes.checks[checks:], l.env.failures[failures:]
        taken = end.name == NAMES[False]
        _require(l, node, condition, taken, str(end))
    l.scopes[-1].holds[l.index(condition)] = taken
    try:
        return list(way(NAMES[taken]))
    except _DeadEndError as end:
        raise RefusedError(f"neither branch leads to nodes that are allowed: {end}") from end


def _require(l: Lowering, node: ir.Node, condition: Ref, taken: bool, why: str) -> None:
    """The run takes the branch where `condition` is `taken`; two sizes are compared by prepare, but in a block, which a run may
    not come to."""
    text = f"{node.name}: only its {NAMES[taken]} leads to what ONNX allows (the other: {why})"
    asked = node.inputs[0].producer() if node.inputs[0] is not None else None
    if taken and asked is not None and len(l.scopes) == 1 and g.is_op(asked, "Equal"):
        sides = [l.values.sizes_in(x) for v in asked.inputs if v is not None and (x := read(l, v))]
        if len(sides) == 2 and all(s is not None and len(s) == 1 for s in sides):
            (a,), (b,) = (s for s in sides if s is not None)
            l.sizes.check("eq", a, b, text)
            return
    before = dataclasses.replace(l.origin)
    l.at(Origin(DebugNode(text, GUARD, "")))
    asserted(l, l.cast(condition, "i64"), lambda n: eq(n, 0 if taken else 1))
    l.at(before)


def _needing(
    l: Lowering, node: ir.Node, rest: Sequence[ir.Node]
) -> tuple[list[ir.Node], set[ir.Value]]:
    """The nodes that need the If's outputs, and what they make; the others are lowered here."""
    later: list[ir.Node] = []
    reached = set(node.outputs)
    for other in rest:
        if any(v in reached for v in _read_by(other)):
            later.append(other)
            reached |= set(other.outputs)
            continue
        try:
            lower_node(l, other)
        except TwoRanksError:
            later.append(other)
            reached |= set(other.outputs)
    return later, reached


def _read_by(node: ir.Node) -> Iterator[ir.Value]:
    """What a node reads, inside its bodies too."""
    yield from (v for v in node.inputs if v is not None)
    for body in g.bodies(node):
        yield from body.outputs
        for inner in body:
            yield from _read_by(inner)


BEHIND["If"] = each_way
