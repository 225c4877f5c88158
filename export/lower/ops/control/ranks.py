"""If with branches of two ranks, as exporters write `squeeze(dim)` of a size that they do not know: what stands behind it is lowered for each.

The nodes behind that need the result go into both branches, up to the outputs of the graph, which must be of one rank again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import onnx_ir as ir

from .... import graph as g
from ....program import DebugNode
from ...context import Lowering, Origin
from ...graphs import lower_node, lower_rest, noted, outputs_of, read
from ...refs import Ref, RefusedError, TwoRanksError
from ...table import BEHIND
from .blocks import either

MOST: Final = 3
"""Such Ifs behind each other: each lowers what is behind it twice."""


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
        assert node.inputs[0] is not None
        condition = read(l, node.inputs[0])
        assert condition is not None
        made = either(
            l, l.reshape(condition, ()), lambda: way("then_branch"), lambda: way("else_branch")
        )
    except RefusedError as error:
        noted(l, node, error)
        made = [None] * len(tied)  # type: ignore[list-item]
    finally:
        l.at(before)
    found = dict(zip(tied, made, strict=True))
    return [found[v] if v in found else read(l, v) for v in outputs]


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
