"""Loops that build or read sequences, written out: `for x in parts: out.append(f(x))`, as TorchScript's exporter writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from .. import graph as g
from ..graph.fix import symbols
from ..graph.inference import infer_node

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
    return any(v is not None and g.is_sequence(v) for v in values)


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


def stack_sequences(model: ir.Model) -> bool:
    """Loop that appends one tensor a round to an empty sequence, which ConcatFromSequence reads => its rows, transposed, and joined.

    Requires: nobody else reads the sequence, in the body or behind, and the tensor's extents are numbers or sizes of inputs, the same in
    each round. Declines: other loops.
    """
    changed = False
    named = symbols(model)
    for node in list(g.nodes(model)):
        if not g.is_op(node, "Loop") or not isinstance(node.graph, ir.Graph):
            continue
        for k in range(2, len(node.inputs)):
            insert = _appended(node, k)
            if insert is None:
                continue
            for each in node.attributes[
                "body"
            ].as_graph():  # onnx's inference leaves bodies with sequences out
                infer_node(each, model.graph.opset_imports)
            dims = g.dims(insert.inputs[1])
            if dims is not None and all(isinstance(n, int) or n in named for n in dims):
                _stack(node, node.graph, k, insert)
                changed = True
                break
    return changed


def _appended(node: ir.Node, k: int) -> ir.Node | None:
    """The SequenceInsert that is all that happens to what is carried as input `k`."""
    body, first = node.attributes["body"].as_graph(), node.inputs[k]
    held, last, end = body.inputs[k], body.outputs[k - 1], node.outputs[k - 2]
    made = last.producer()
    if first is None or not g.is_op(first.producer(), "SequenceEmpty") or made is None:
        return None
    only = g.is_op(made, "SequenceInsert") and len(made.inputs) == 2 and made.inputs[0] is held
    alone = len(held.uses()) == 1 and not last.uses() and made.graph is body
    read = [use.node for use in end.uses()]
    joined = all(g.is_op(n, "ConcatFromSequence") for n in read) and not end.is_graph_output()
    return made if only and alone and joined else None


def _stack(node: ir.Node, graph: ir.Graph, k: int, insert: ir.Node) -> None:
    rank, used = g.rank(insert.inputs[1]), g.names_in(graph)
    assert rank is not None
    body = node.attributes["body"].as_graph().clone(allow_outer_scope_values=True)
    made = body.outputs[k - 1].producer()
    assert made is not None and made.inputs[1] is not None
    ends = [*(v for i, v in enumerate(body.outputs) if i != k - 1), made.inputs[1]]
    body.outputs.clear()
    body.remove(made, safe=True)
    body.outputs.extend(ends)
    del body.inputs[k]
    inputs = [v for i, v in enumerate(node.inputs) if i != k]
    loop = ir.Node("", "Loop", inputs, [ir.AttrGraph("body", body)], num_outputs=len(node.outputs))
    g.carry([loop], [node])
    graph.insert_before(node, loop)
    others = [v for i, v in enumerate(node.outputs) if i != k - 2]
    rows = loop.outputs[-1]
    rows.name = g.fresh(used, f"{node.name}_rows")
    for use in list(node.outputs[k - 2].uses()):
        _joined_rows(use.node, rows, rank, used)
    for old, new in zip(others, loop.outputs, strict=False):
        new.type, new.shape = old.type, old.shape
        g.take_over(graph, old, new)
    graph.remove(node, safe=True)


def _joined_rows(node: ir.Node, rows: ir.Value, rank: int, used: set[str]) -> None:
    """What ConcatFromSequence gives for a sequence that lies in rows, each of `rank` axes."""
    graph = node.graph
    assert isinstance(graph, ir.Graph)
    is_new = bool(g.attr(node, "new_axis", 0))
    axis = int(g.attr(node, "axis"))
    axis += (rank + is_new) if axis < 0 else 0
    perm = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
    new = [ir.Node("", "Transpose", [rows], [ir.AttrInt64s("perm", perm)])]
    moved = new[0].outputs[0]
    if not is_new:
        left = g.initializer(graph, np.array([-1], np.int64), f"{node.name}_rest", used)
        sides = [
            ir.Node("", "Shape", [moved], [ir.AttrInt64("start", a), ir.AttrInt64("end", b)])
            for a, b in ((0, axis), (axis + 2, rank + 1))
        ]
        parts = [sides[0].outputs[0], left, sides[1].outputs[0]]
        to = ir.Node("", "Concat", parts, [ir.AttrInt64("axis", 0)])
        new += [*sides, to, ir.Node("", "Reshape", [moved, to.outputs[0]])]
    for n in new:
        n.outputs[0].name = g.fresh(used, f"{node.name}_{n.op_type.lower()}")
    g.replace([node], new, node.outputs[0], new[-1].outputs[0])
