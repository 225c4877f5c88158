"""Loops that build or read sequences, written out: `for x in parts: out.append(f(x))`, as TorchScript's exporter writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from .. import graph as g

MOST_ROUNDS: Final = 1024
MOST_NODES: Final = 20_000
"""Rounds of a loop that is written out, and nodes that they make."""


def unroll_sequences(model: ir.Model) -> bool:
    """Loop (n, true) that carries a sequence, or reads one of outside => its body n times; rows => Concat of Unsqueezes.

    Requires: a constant number of rounds, at most 1024 of at most 20,000 nodes, and a condition that stays true.
    Declines: any other loop keeps its sequence, which lowering refuses by name.
    """
    changed = False
    for node in list(g.nodes(model)):
        if not g.is_op(node, "Loop") or not isinstance(node.graph, ir.Graph):
            continue
        body, rounds = node.attributes["body"].as_graph(), _rounds(node)
        if rounds is None or not _has_sequences(node, body) or not _goes_on(node, body):
            continue
        if rounds > MOST_ROUNDS or rounds * sum(1 for _ in g.nodes_of(body)) > MOST_NODES:
            continue
        _write_out(node, node.graph, body, rounds)
        changed = True
    return changed


def _rounds(node: ir.Node) -> int | None:
    given = g.constant(node.inputs[0], 1)
    return max(0, int(given.reshape(()))) if given is not None and given.size == 1 else None


def _has_sequences(node: ir.Node, body: ir.Graph) -> bool:
    values = (*node.inputs, *(v for n in g.nodes_of(body) for v in (*n.inputs, *n.outputs)))
    return any(v is not None and _is_sequence(v) for v in values)


def _is_sequence(value: ir.Value) -> bool:
    made = value.producer()
    named = made is not None and made.op_type in MAKERS
    return named or isinstance(value.type, ir.SequenceType)


MAKERS: Final = (
    "SequenceEmpty",
    "SequenceConstruct",
    "SequenceInsert",
    "SequenceErase",
    "SplitToSequence",
)


def _goes_on(node: ir.Node, body: ir.Graph) -> bool:
    """The condition is true at first, and what the body makes of it is true or itself."""
    first = node.inputs[1] if len(node.inputs) > 1 else None
    if first is not None and g.scalar(first) != 1:
        return False
    last: ir.Value | None = body.outputs[0]
    while last is not None and g.is_op(last.producer(), "Identity", "Cast"):
        last = last.producer().inputs[0]  # type: ignore[union-attr]
    return last is body.inputs[1] or last is first or g.scalar(last) == 1


def _write_out(node: ir.Node, graph: ir.Graph, body: ir.Graph, rounds: int) -> None:
    used = g.names_in(graph)
    carried = list(node.inputs[2:])
    rows: list[list[ir.Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    true = g.initializer(graph, np.array(True), f"{node.name}_true", used)
    for i in range(rounds):
        at = g.initializer(graph, np.array(i, np.int64), f"{node.name}_{i}", used)
        made = _round(node, graph, body, [_like(at, body.inputs[0]), true, *carried], used, i)
        carried = list(made[1 : 1 + len(carried)])
        for row, value in zip(rows, made[1 + len(carried) :], strict=True):
            row.append(value)
    ends = [*carried, *(_stacked(node, graph, row, used) for row in rows)]
    for old, new in zip(node.outputs, ends, strict=True):
        if new is not None:
            g.take_over(graph, old, new)
    graph.remove(node, safe=True)


def _like(at: ir.Value, declared: ir.Value) -> ir.Value:
    """Some exporters declare the iteration as [1]."""
    if declared.shape is not None and len(declared.shape) == 1:
        assert at.const_value is not None
        at.const_value = ir.tensor(at.const_value.numpy().reshape(1), name=at.name)
        at.shape = ir.Shape([1])
    return at


def _round(
    node: ir.Node,
    graph: ir.Graph,
    body: ir.Graph,
    given: Sequence[ir.Value | None],
    used: set[str],
    i: int,
) -> list[ir.Value]:
    """A copy of the body in front of the loop, for these inputs; its outputs."""
    copy = body.clone(allow_outer_scope_values=True)
    ends = list(copy.outputs)
    copy.outputs.clear()
    for value in list(copy.initializers.values()):
        assert value.const_value is not None
        kept = g.initializer(graph, value.const_value, value.name or "constant", used)
        value.replace_all_uses_with(kept, replace_graph_outputs=False)
        ends = [kept if v is value else v for v in ends]
    for old, new in zip(copy.inputs, given, strict=True):
        assert new is not None
        old.replace_all_uses_with(new, replace_graph_outputs=False)
        ends = [new if v is old else v for v in ends]
    nodes = list(copy)
    copy.remove(nodes)
    for n in nodes:
        n.name = g.fresh(used, f"{n.name}.{i}")
        for v in n.outputs:
            v.shape = None
            v.name = g.fresh(used, f"{v.name}.{i}")
    graph.insert_before(node, nodes)
    return ends


def _stacked(
    node: ir.Node, graph: ir.Graph, row: Iterable[ir.Value], used: set[str]
) -> ir.Value | None:
    first = g.initializer(graph, np.array([0], np.int64), f"{node.name}_axis", used)
    new = [ir.Node("", "Unsqueeze", [v, first]) for v in row]
    if not new:
        return None
    new.append(ir.Node("", "Concat", [n.outputs[0] for n in new], [ir.AttrInt64("axis", 0)]))
    g.carry(new, [node])
    for n in new:
        n.outputs[0].name = g.fresh(used, f"{node.name}_row")
    graph.insert_before(node, new)
    return new[-1].outputs[0]
