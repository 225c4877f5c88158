"""Rotary position embedding written out becomes RotaryEmbedding, which is one pointwise program without copies."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from .. import graph as g
from .match import Match, matches, pattern
from .sizes import elements

TURN = pattern("y = Add(Mul(x, c), Mul(Concat(Neg(b), a), s))")


def recognise_rotary(model: ir.Model) -> bool:
    """y = x * cos + Concat(-x[h:], x[:h]) * sin => y = RotaryEmbedding(x, cos[:h], sin[:h]).

    x is [batch, heads, tokens, 2 h], cos and sin [batch or 1, 1, tokens, 2 h] made by Unsqueeze(1), or [tokens, 2 h].
    Requires: h is known, both halves of cos and of sin are equal by construction: Concat(f, f) before them, or a table.
    Declines: interleaved pairs, other shapes, an x that is broadcast along the batch, x or angles along the tokens. Angles of
    batch 1 are expanded, as the operator wants them by batch.
    """
    changed = False
    for m in matches(model, TURN):
        changed |= _rewrite(m)
    return changed


def _rewrite(m: Match) -> bool:
    x, graph = m["x"], m.root.graph
    sizes = g.dims(x)
    width = sizes[-1] if sizes is not None and len(sizes) == 4 else None
    if not isinstance(width, int) or width % 2 or not isinstance(graph, ir.Graph):
        return False
    half = width // 2
    whole = _is_half(m["a"], x, half, 0) and _is_half(m["b"], x, half, 1)
    concat = next((n for n in m.nodes if n.op_type == "Concat"), None)
    if not whole or concat is None or g.attr(concat, "axis") not in (-1, 3):
        return False
    if sizes is None or any(_broadcasts(sizes, g.dims(m[name]) or []) for name in "cs"):
        return False
    known, made = set(graph.initializers), list[ir.Node]()
    batch = ir.Node("", "Shape", [x], [ir.AttrInt64("start", 0), ir.AttrInt64("end", 1)])
    ones = g.initializer(graph, np.array([1, 1], np.int64), "ones")
    shape = ir.Node("", "Concat", [batch.outputs[0], ones], [ir.AttrInt64("axis", 0)])
    angles = [_angles(graph, m[name], half, shape.outputs[0], made) for name in "cs"]
    if angles[0] is None or angles[1] is None:
        _undo(graph, [batch, shape, *made], known)
        return False
    new = ir.Node("", "RotaryEmbedding", [x, *angles])
    g.replace(m.nodes, [batch, shape, *made, new], m["y"], new.outputs[0])
    return True


def _undo(graph: ir.Graph, made: list[ir.Node], known: set[str]) -> None:
    """Takes back what was made for a turn that is declined: nodes that use values, and initializers."""
    for node in made:
        for i in range(len(node.inputs)):
            node.replace_input_with(i, None)
    for name in set(graph.initializers) - known:
        del graph.initializers[name]


def _broadcasts(x: list[int | str | None], angles: list[int | str | None]) -> bool:
    """Whether x [batch, heads, tokens, size] grows along its batch, or x or the angles along the tokens."""
    batch = len(angles) == 4 and x[0] == 1 and angles[0] != 1
    return batch or (len(angles) > 1 and (x[2] == 1) != (angles[-2] == 1))


def _is_half(part: ir.Value, x: ir.Value, half: int, which: int) -> bool:
    """Whether `part` is x[..., :half] (0) or x[..., half:] (1)."""
    node = part.producer()
    if node is None or node.inputs[0] is not x:
        return False
    if g.is_op(node, "Split"):
        sizes = g.ints(node.inputs[1]) if len(node.inputs) > 1 else [half, half]
        equal = len(node.outputs) == 2 and sizes == [half, half]
        return equal and g.attr(node, "axis", 0) in (-1, 3) and part.index() == which
    if (
        not g.is_op(node, "Slice")
        or len(node.inputs) < 4
        or g.ints(node.inputs[3]) not in ([3], [-1])
    ):
        return False
    if len(node.inputs) > 4 and g.ints(node.inputs[4]) not in ([1], None):
        return False
    start, end = elements(node.inputs[1]), elements(node.inputs[2])
    if which == 0:
        return start == [0] and end in ([half], [-half])
    return (
        start in ([half], [-half])
        and end is not None
        and isinstance(end[0], int)
        and end[0] >= 2 * half
    )


def _angles(
    graph: ir.Graph, value: ir.Value, half: int, shape: ir.Value, made: list[ir.Node]
) -> ir.Value | None:
    """The first half of cos or sin as [batch, tokens, half]; None where it is not what it must be."""
    node = value.producer()
    by_batch = (
        g.is_op(node, "Unsqueeze")
        and node is not None
        and g.axes_of(node) == [1]
        and g.rank(value) == 4
    )
    if not by_batch and g.rank(value) != 2:
        return None
    first = _first_half(
        graph, node.inputs[0] if by_batch and node is not None else value, half, made
    )
    if first is None:
        return None
    if not by_batch:
        axis = g.initializer(graph, np.array([0], np.int64), "axis_0")
        made.append(ir.Node("", "Unsqueeze", [first, axis]))
        first = made[-1].outputs[0]
    made.append(ir.Node("", "Expand", [first, shape]))
    return made[-1].outputs[0]


def _first_half(
    graph: ir.Graph, value: ir.Value | None, half: int, nodes: list[ir.Node]
) -> ir.Value | None:
    """value[..., :half] computed on half the elements, where both halves of the last axis are equal by construction."""
    table = g.constant(value, 1 << 22)
    if table is not None and value is not None:
        twice = table.ndim and table.shape[-1] == 2 * half
        if not twice or not np.array_equal(table[..., :half], table[..., half:]):
            return None
        return g.initializer(graph, np.ascontiguousarray(table[..., :half]), f"{value.name}.half")
    node = value.producer() if value is not None else None
    if node is None or len(node.inputs) == 0:
        return None
    if g.is_op(node, "Concat"):
        twice = len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]
        return (
            node.inputs[0]
            if twice and g.attr(node, "axis") in (-1, (g.rank(value) or 0) - 1)
            else None
        )
    at = 0
    if g.is_op(node, "Mul"):
        at = 0 if g.scalar(node.inputs[1]) is not None else 1
        if g.scalar(node.inputs[1 - at]) is None:
            return None
    elif not (
        g.is_op(node, "Cos", "Sin", "Cast")
        or (g.is_op(node, "Gather") and g.attr(node, "axis", 0) == 0)
    ):
        return None
    inner = _first_half(graph, node.inputs[at], half, nodes)
    if inner is None:
        return None
    inputs = [inner if i == at else v for i, v in enumerate(node.inputs)]
    nodes.append(ir.Node("", node.op_type, inputs, list(node.attributes.values())))
    nodes[-1].outputs[0].type = value.type if value is not None else None
    return nodes[-1].outputs[0]
