"""Normalizations written out become LayerNormalization and RMSNormalization."""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from .. import graph as g
from .match import Match, matches, pattern

_SQUARES: Final = ("Pow(d, 2)", "Mul(d, d)")
_ROOTS: Final = (
    "s = Sqrt(Add(v, eps)); y = Div(d, s)",
    "s = Sqrt(Add(v, eps)); y = Mul(d, Reciprocal(s))",
    "s = Sqrt(Add(v, eps)); y = Mul(d, Div(1, s))",
    "s = Add(v, eps); y = Mul(d, Pow(s, -0.5))",
)
LAYER: Final = tuple(
    pattern(f"m = ReduceMean(x, ...); d = Sub(x, m); v = ReduceMean({square}, ...); {root}")
    for square in _SQUARES
    for root in _ROOTS
)
RMS: Final = tuple(
    pattern(f"v = ReduceMean({square}, ...); {root}".replace("d,", "x,").replace("d)", "x)"))
    for square in _SQUARES
    for root in _ROOTS
)


def recognise_layer_norm(model: ir.Model) -> bool:
    """d = x - mean(x); y = d / sqrt(mean(d^2) + eps) [* gain [+ bias]] => y = LayerNormalization(x, gain, bias).

    Requires: means over the last axes with keepdims, eps a constant, gain and bias of exactly the shape of those axes.
    Declines: other axes; sizes of those axes unknown; a gain or bias of another shape stays a Mul or Add.
    """
    changed = False
    for m in matches(model, *LAYER):
        count = _last_axes(m, "m", "v")
        if count is not None:
            changed |= _rewrite(m, "LayerNormalization", count, bias=True)
    return changed


def recognise_rms_norm(model: ir.Model) -> bool:
    """y = x / sqrt(mean(x^2) + eps) [* gain] => y = RMSNormalization(x, gain).

    Requires and declines as `recognise_layer_norm`; a difference from the mean belongs to LayerNormalization, which runs first.
    """
    changed = False
    for m in matches(model, *RMS):
        count = _last_axes(m, "v")
        if count is not None:
            changed |= _rewrite(m, "RMSNormalization", count, bias=False)
    return changed


def _last_axes(m: Match, *means: str) -> int | None:
    """How many axes, counted from the last, all the means run over; None where they are not the last ones."""
    rank = g.rank(m["x"])
    counts = set()
    for name in means:
        node = m[name].producer()
        assert node is not None
        axes = g.axes_of(node)
        if not axes or g.attr(node, "keepdims", 1) != 1:
            return None
        if rank is not None:
            axes = [a - rank if a >= 0 else a for a in axes]
        if sorted(axes) != list(range(-len(axes), 0)):
            return None
        counts.add(len(axes))
    return counts.pop() if len(counts) == 1 else None


def _rewrite(m: Match, op_type: str, count: int, bias: bool) -> bool:
    x, y, epsilon = m["x"], m["y"], g.scalar(m["eps"])
    extents = g.dims(x)
    graph = m.root.graph
    if epsilon is None or extents is None or x.dtype is None or not isinstance(graph, ir.Graph):
        return False
    shape = extents[-count:]
    if not all(isinstance(d, int) for d in shape):
        return False
    old = list(m.nodes)
    gain, y = _operand(y, "Mul", shape, old)
    shift: ir.Value | None = None
    if bias and gain is not None:
        shift, y = _operand(y, "Add", shape, old)
    if gain is None:
        ones = np.ones([d for d in shape if isinstance(d, int)], x.dtype.numpy())
        gain = g.initializer(graph, ones, f"{y.name}_gain")
    attributes = [ir.AttrInt64("axis", -count), ir.AttrFloat32("epsilon", epsilon)]
    new = ir.Node("", op_type, [x, gain] if shift is None else [x, gain, shift], attributes)
    g.replace(old, [new], y, new.outputs[0])
    return True


def _operand(
    y: ir.Value, op_type: str, shape: list[int | str | None], old: list[ir.Node]
) -> tuple[ir.Value | None, ir.Value]:
    """The other operand and the result where `y` only feeds one `op_type` with an operand of that shape; adds it to `old`."""
    uses = list(y.uses())
    if len(uses) != 1 or y.is_graph_output() or not g.is_op(uses[0].node, op_type):
        return None, y
    node = uses[0].node
    other = node.inputs[1 - uses[0].idx]
    if other is None or g.dims(other) != shape or node.graph is not old[-1].graph:
        return None, y
    old.append(node)
    return other, node.outputs[0]
