"""Values that a Loop carries although no iteration changes or reads them, as PaddleOCR's converter writes every weight of a body."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from .. import graph as g

FIRST: Final = 2
"""Of a Loop's inputs, and its body's, that are carried; of its body's results these begin behind the condition."""


def lift_invariants(model: ir.Model) -> bool:
    """Loop that carries x and gives it on as it is => its body reads x of outside; a Loop that carries what nobody reads => without it.

    Requires: for the first, the body gives x on by Identity nodes at most, and in no other result.
    """
    changed = False
    for node in list(g.nodes(model)):
        if not g.is_op(node, "Loop") or not isinstance(node.graph, ir.Graph):
            continue
        body = node.attributes["body"].as_graph()
        carried = range(len(node.inputs) - FIRST)
        lifted = [k for k in carried if _is_given_on(node, body, k)]
        dropped = [k for k in carried if k not in lifted and _is_idle(node, body, k)]
        if lifted or dropped:
            _without(node, node.graph, body, lifted, dropped)
            changed = True
    return changed


def _is_given_on(node: ir.Node, body: ir.Graph, k: int) -> bool:
    x, end = body.inputs[FIRST + k], body.outputs[1 + k]
    while end is not x and g.is_op(end.producer(), "Identity"):
        end = end.producer().inputs[0]  # type: ignore[union-attr, assignment]
    others = [v for i, v in enumerate(body.outputs) if i != 1 + k]
    return end is x and all(v is not x for v in others) and node.inputs[FIRST + k] is not None


def _is_idle(node: ir.Node, body: ir.Graph, k: int) -> bool:
    """Neither an iteration reads it, nor anybody the last one's."""
    return not g.is_read(body.inputs[FIRST + k]) and not g.is_read(node.outputs[k])


def _without(
    node: ir.Node, graph: ir.Graph, body: ir.Graph, lifted: list[int], dropped: list[int]
) -> None:
    """The same Loop with fewer values that are carried."""
    gone = {*lifted, *dropped}
    for k in sorted(gone, reverse=True):
        del body.outputs[1 + k]
    for k in lifted:
        outer = node.inputs[FIRST + k]
        assert outer is not None
        body.inputs[FIRST + k].replace_all_uses_with(outer, replace_graph_outputs=True)
        g.take_over(graph, node.outputs[k], outer)
    for k in sorted(gone, reverse=True):
        del body.inputs[FIRST + k]
    kept = [k for k in range(len(node.outputs)) if k not in gone]
    inputs = [v for i, v in enumerate(node.inputs) if i - FIRST not in gone]
    attributes = [a for name, a in node.attributes.items() if name != "body"]
    attributes.append(ir.AttrGraph("body", body))
    made = ir.Node(
        "", "Loop", inputs, attributes, num_outputs=len(kept), name=node.name, version=node.version
    )
    g.carry([made], [node])
    graph.insert_before(node, made)
    for k, new in zip(kept, made.outputs, strict=True):
        old = node.outputs[k]
        new.type, new.shape = old.type, old.shape
        name = old.name
        old.name = f"{name}_before"
        new.name = name
        old.replace_all_uses_with(new, replace_graph_outputs=True)
    graph.remove(node, safe=True)
