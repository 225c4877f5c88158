"""Optionals of which the graph says whether they have an element: OptionalHasElement is a constant there, OptionalGetElement the element."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from .. import graph as g


def remove_optionals(model: ir.Model) -> None:
    """In place; where only a run would know, the nodes stay and are refused."""
    for node in list(g.nodes(model)):
        if node.domain or node.op_type not in ("OptionalHasElement", "OptionalGetElement"):
            continue
        is_known, element = _element(node.inputs[0] if node.inputs else None)
        if not is_known:
            continue
        if node.op_type == "OptionalHasElement":
            made = ir.node(
                "Constant", [], {"value": ir.tensor(np.array(element is not None))}, name=node.name
            )
        elif element is not None:
            made = ir.node("Identity", [element], name=node.name)
        else:
            continue
        _replace(node, made)
    for node in list(g.nodes(model)):
        y = node.outputs[0] if node.outputs else None
        if node.op_type == "Optional" and y is not None and not g.is_read(y):
            assert node.graph is not None
            node.graph.remove(node, safe=True)


def _element(value: ir.Value | None) -> tuple[bool, ir.Value | None]:
    """Whether the graph says what is in it, and what that is."""
    if value is None or not value.name:
        return True, None
    maker = value.producer()
    if maker is not None and maker.op_type == "Optional" and not maker.domain:
        return _element(maker.inputs[0] if maker.inputs else None)
    return isinstance(value.type, ir.TensorType), value


def _replace(node: ir.Node, made: ir.Node) -> None:
    assert isinstance(node.graph, ir.Graph)
    old, new = node.outputs[0], made.outputs[0]
    source = made.inputs[0] if made.inputs else None
    new.type = old.type or (None if source is None else source.type)
    new.shape, name = old.shape, old.name
    node.graph.insert_before(node, made)
    old.replace_all_uses_with(new, replace_graph_outputs=True)
    old.name, new.name = f"{name}_optional", name
    node.graph.remove(node, safe=True)
