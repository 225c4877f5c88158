"""Sequences that exist only between two nodes: PyTorch writes them for split, chunk and stack."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from .. import graph as g
from ..graph.inference import infer_node


def remove_sequences(model: ir.Model) -> bool:
    """SequenceAt(SplitToSequence(x, sizes), i) => Split(x, sizes) output i;
    SequenceAt(SequenceConstruct(...), i) => its operand i;
    ConcatFromSequence(SequenceConstruct(...)) => Concat, of Unsqueezes with new_axis;
    SequenceInsert and SequenceErase of SequenceEmpty or SequenceConstruct => SequenceConstruct; SequenceLength => a constant.

    Requires: constant sizes (for one size, also the extent that is split), indices and positions. Declines: anything else keeps the
    sequence, which lowering refuses by name.
    """
    changed = False
    for node in list(g.nodes(model)):
        if node.graph is None:
            continue
        if changed:  # shapes behind a sequence were unknown; the next split may need them
            infer_node(node, model.graph.opset_imports)
        if g.is_op(node, "SplitToSequence"):
            changed |= _split(node)
        elif g.is_op(node, "ConcatFromSequence"):
            changed |= _concat(node)
        elif g.is_op(node, "SequenceAt"):
            changed |= _at(node)
        elif g.is_op(node, "SequenceInsert", "SequenceErase"):
            changed |= _edited(node)
        elif g.is_op(node, "SequenceLength"):
            changed |= _length(node)
    return changed


def _edited(node: ir.Node) -> bool:
    """One more or one less of a list."""
    parts, place = _parts(node.inputs[0]), 2 if node.op_type == "SequenceInsert" else 1
    given = node.inputs[place] if len(node.inputs) > place else None
    if parts is None or (given is not None and g.ints(given) is None):
        return False
    more = node.op_type == "SequenceInsert"
    told = g.ints(given) if given is not None else None
    at = told[0] if told else len(parts) if more else -1
    if not -len(parts) <= at < len(parts) + more:
        return False
    at += len(parts) if at < 0 else 0
    parts[at : at + (not more)] = [node.inputs[1]] if more else []
    if not parts:
        return False
    made = ir.Node("", "SequenceConstruct", parts)
    made.outputs[0].type = node.outputs[0].type
    before = node.inputs[0].producer() if node.inputs[0] is not None else None
    old = [node] if before is None or before.graph is not node.graph else [before, node]
    g.replace(old, [made], node.outputs[0], made.outputs[0])
    return True


def _length(node: ir.Node) -> bool:
    value, parts = node.inputs[0], _parts(node.inputs[0])
    split = value.producer() if value is not None else None
    if split is not None and g.is_op(split, "SplitToSequence"):
        sizes = _sizes(split, split.inputs[0], int(g.attr(split, "axis", 0)))
        parts = None if sizes is None else [None] * len(sizes)
    if parts is None or not isinstance(node.graph, ir.Graph):
        return False
    count = g.initializer(node.graph, np.array(len(parts), np.int64), f"{node.name}_count")
    g.replace([node], [], node.outputs[0], count)
    return True


def _parts(value: ir.Value | None) -> list[ir.Value | None] | None:
    """The elements of a sequence that is a list."""
    node = value.producer() if value is not None else None
    if node is not None and g.is_op(node, "SequenceEmpty"):
        return []
    made = _construct(value)
    return None if made is None else list(made.inputs)


def _split(node: ir.Node) -> bool:
    x, graph = node.inputs[0], node.graph
    uses = [u.node for u in node.outputs[0].uses()]
    indices = [_index(u) for u in uses if g.is_op(u, "SequenceAt")]
    axis = int(g.attr(node, "axis", 0))
    sizes = _sizes(node, x, axis)
    if x is None or sizes is None or len(indices) != len(uses) or not isinstance(graph, ir.Graph):
        return False
    if node.outputs[0].is_graph_output():
        return False
    if any(i is None or not -len(sizes) <= i < len(sizes) for i in indices):
        return False
    lengths = g.initializer(graph, np.array(sizes, np.int64), f"{node.name}_sizes")
    split = ir.Node("", "Split", [x, lengths], [ir.AttrInt64("axis", axis)], num_outputs=len(sizes))
    squeezed = len(node.inputs) < 2 or node.inputs[1] is None
    drop = squeezed and int(g.attr(node, "keepdims", 1)) == 0
    g.carry([split], [node])
    graph.insert_before(node, split)
    shape = list(x.shape) if x.shape is not None else None
    for value, size in zip(split.outputs, sizes, strict=True):
        value.type = x.type
        if shape is not None:
            value.shape = ir.Shape(
                [*shape[: axis % len(shape)], size, *shape[axis % len(shape) + 1 :]]
            )
    for use, index in zip(uses, indices, strict=True):
        assert index is not None
        part = split.outputs[index]
        made: list[ir.Node] = []
        if drop:
            where = g.initializer(graph, np.array([axis], np.int64), f"{node.name}_axis")
            made = [ir.Node("", "Squeeze", [part, where])]
            part = made[0].outputs[0]
        g.replace([use], made, use.outputs[0], part)
    g.remove_idle(graph, [node])
    return True


def _sizes(node: ir.Node, x: ir.Value | None, axis: int) -> list[int] | None:
    """Lengths of the parts; without a size input every part is one."""
    given = node.inputs[1] if len(node.inputs) > 1 else None
    wanted = g.constant(given) if given is not None else np.array(1)
    if wanted is None or wanted.ndim > 1:
        return None
    if wanted.ndim == 1:
        return [int(n) for n in wanted]
    extents = g.dims(x)
    extent = extents[axis] if extents is not None and -len(extents) <= axis < len(extents) else None
    step = int(wanted)
    if not isinstance(extent, int) or step <= 0:
        return None
    return [min(step, extent - start) for start in range(0, extent, step)]


def _construct(value: ir.Value | None) -> ir.Node | None:
    node = value.producer() if value is not None else None
    return node if node is not None and g.is_op(node, "SequenceConstruct") else None


def _index(node: ir.Node) -> int | None:
    """The element that a SequenceAt takes."""
    given = g.ints(node.inputs[1])
    return given[0] if given is not None and len(given) == 1 else None


def _at(node: ir.Node) -> bool:
    made, index = _construct(node.inputs[0]), _index(node)
    if made is None or index is None or not -len(made.inputs) <= index < len(made.inputs):
        return False
    part = made.inputs[index]
    if part is None:
        return False
    g.replace([made, node], [], node.outputs[0], part)
    return True


def _concat(node: ir.Node) -> bool:
    made, graph = _construct(node.inputs[0]), node.graph
    if made is None or not isinstance(graph, ir.Graph):
        return False
    axis = int(g.attr(node, "axis"))
    parts, new = list(made.inputs), []
    if g.attr(node, "new_axis", 0):
        where = g.initializer(graph, np.array([axis], np.int64), f"{node.name}_axis")
        new = [ir.Node("", "Unsqueeze", [p, where]) for p in parts]
        for n, part in zip(new, parts, strict=True):
            n.outputs[0].type = part.type if part is not None else None
        parts = [n.outputs[0] for n in new]
    new.append(ir.Node("", "Concat", parts, [ir.AttrInt64("axis", axis)]))
    g.replace([made, node], new, node.outputs[0], new[-1].outputs[0])
    return True
