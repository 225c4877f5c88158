"""Rotary position embedding written out becomes RotaryEmbedding, which is one pointwise program without copies."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.passes.match import Match, matches, pattern
from pteron.export.passes.sizes import elements

TURN = pattern("y = Add(Mul(x, c), Mul(Concat(Neg(b), a), s))")
ANGLES = ("Cos", "Sin", "Cast", "Unsqueeze", "Identity")
"""What keeps the two halves of the last axis equal."""


def recognise_rotary(model: ir.Model) -> bool:
    """y = x * cos + Concat(-x[h:], x[:h]) * sin => y = RotaryEmbedding(x, cos[:h], sin[:h]).

    x is [batch, heads, tokens, 2 h], cos and sin [batch or 1, 1, tokens, 2 h] made by Unsqueeze(1), or [tokens, 2 h].
    Requires: h is known, both halves of cos and of sin are equal by construction: Concat(f, f) before them, or a table.
    Declines: interleaved pairs, other shapes. Angles of batch 1 are expanded, as the operator wants them by batch.
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
    made: list[ir.Node] = []
    batch = ir.Node("", "Shape", [x], [ir.AttrInt64("start", 0), ir.AttrInt64("end", 1)])
    ones = g.initializer(graph, np.array([1, 1], np.int64), "ones")
    shape = ir.Node("", "Concat", [batch.outputs[0], ones], [ir.AttrInt64("axis", 0)])
    angles = [_angles(graph, m[name], half, shape.outputs[0], made) for name in "cs"]
    if angles[0] is None or angles[1] is None:
        return False
    new = ir.Node("", "RotaryEmbedding", [x, *angles])
    g.replace(m.nodes, [batch, shape, *made, new], m["y"], new.outputs[0])
    return True


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
    if not _halves_equal(value, half):
        return None
    node = value.producer()

    def add(op_type: str, *inputs: ir.Value) -> ir.Value:
        made.append(ir.Node("", op_type, list(inputs)))
        return made[-1].outputs[0]

    def numbers(*values: int) -> ir.Value:
        return g.initializer(graph, np.array(values, np.int64), "angle")

    if (
        g.is_op(node, "Unsqueeze")
        and node is not None
        and g.axes_of(node) == [1]
        and g.rank(value) == 4
    ):
        flat = node.inputs[0]
        assert flat is not None
    elif g.rank(value) == 2:
        flat = add("Unsqueeze", value, numbers(0))
    else:
        return None
    return add("Expand", add("Slice", flat, numbers(0), numbers(half), numbers(2)), shape)


def _halves_equal(value: ir.Value | None, half: int) -> bool:
    """Whether the last axis, 2 * half long, holds the same numbers twice."""
    table = g.constant(value, 1 << 22)
    if table is not None:
        return bool(
            table.ndim
            and table.shape[-1] == 2 * half
            and np.array_equal(table[..., :half], table[..., half:])
        )
    node = value.producer() if value is not None else None
    if node is None:
        return False
    if g.is_op(node, "Concat"):
        return (
            len(node.inputs) == 2
            and node.inputs[0] is node.inputs[1]
            and g.attr(node, "axis") in (-1, 2)
        )
    if g.is_op(node, "Mul"):
        factor = next((i for i in (0, 1) if g.scalar(node.inputs[i]) is not None), None)
        return factor is not None and _halves_equal(node.inputs[1 - factor], half)
    if g.is_op(node, "Gather") and g.attr(node, "axis", 0) == 0:
        return _halves_equal(node.inputs[0], half)
    return g.is_op(node, *ANGLES) and _halves_equal(node.inputs[0], half)
