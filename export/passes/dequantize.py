"""Weights that are codes times scales, written out, become DequantizeLinear."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from .. import graph as g
from ..graph.weights import read
from .match import matches, pattern

CODES = g.LOW_PRECISION - {ir.DataType.FLOAT8E8M0}
PRODUCT = pattern("y = Mul(Cast(q), s)")


def recognise_dequantize(model: ir.Model) -> bool:
    """y = Cast(q, to=FLOAT) * s => y = DequantizeLinear(q, s), the same bits; as torchao leaves FP8.

    Requires: q of 8 bits or fewer, of two axes or more, and s in f32 are constants; one s, or one for each place of one axis.
    """
    changed = False
    for m in matches(model, PRODUCT):
        q, s = g.constant_tensor(m["q"]), g.constant_tensor(m["s"])
        cast = m.nodes[0]
        if q is None or s is None or q.dtype not in CODES or s.dtype != ir.DataType.FLOAT:
            continue
        axis = _axis(g.sizes(q), g.sizes(s))
        graph = m.root.graph
        if (
            axis is None
            or g.attr(cast, "to") != ir.DataType.FLOAT
            or not isinstance(graph, ir.Graph)
        ):
            continue
        scale = np.asarray(read(s)).reshape(-1 if s.size > 1 else ())
        made = g.initializer(graph, scale, f"{m['y'].name}_scale")
        new = ir.Node("", "DequantizeLinear", [m["q"], made], [ir.AttrInt64("axis", axis)])
        g.replace(m.nodes, [new], m["y"], new.outputs[0])
        changed = True
    return changed


def _axis(codes: ir.Shape, scales: ir.Shape) -> int | None:
    """The axis of codes that scales, which broadcast to them, belong to; 0 where one is for all."""
    rank, more = len(codes), len(codes) - len(scales)
    if rank < 2 or more < 0:
        return None
    pairs = list(zip(list(codes)[more:], scales, strict=True))
    if any(n != 1 and n != k for k, n in pairs):
        return None
    several = [more + i for i, (_, n) in enumerate(pairs) if n != 1]
    return None if len(several) > 1 else next(iter(several), 0)
