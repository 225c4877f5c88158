"""PyTorch's way of swapping the last two axes becomes a Transpose; a Transpose of a Transpose becomes one."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from .. import graph as g
from .match import Match, matches, pattern
from .sizes import elements, size_of

SWAP: Final = pattern("y = Reshape(Transpose(Reshape(x, a), perm=[0, 2, 1]), b)")


def recognise_swap(model: ir.Model) -> bool:
    """y = Reshape(Transpose(Reshape(x, [-1, T, D]), [0, 2, 1]), [..., D, T]) => y = Transpose(x, [..., -1, -2]).

    Requires: the rank of x; T and D its last two sizes, as numbers or read from its Shape. Declines: other shapes.
    """
    changed = False
    for m in matches(model, SWAP):
        rank = g.rank(m["x"])
        if rank is None or rank < 3 or not _swaps(m, rank):
            continue
        perm = [*range(rank - 2), rank - 1, rank - 2]
        new = ir.Node("", "Transpose", [m["x"]], [ir.AttrInt64s("perm", perm)])
        g.replace(m.nodes, [new], m["y"], new.outputs[0])
        changed = True
    return changed


def _swaps(m: Match, rank: int) -> bool:
    own = [size_of(m["x"], i) for i in range(rank)]
    flat, swapped = elements(m["a"]), elements(m["b"])
    return flat is not None and flat[1:] == own[-2:] and swapped == [*own[:-2], own[-1], own[-2]]


def merge_transposes(model: ir.Model) -> bool:
    """z = Transpose(Transpose(x, p), q) => z = Transpose(x, p then q), or x.

    Requires: both perms written. Declines: the first has other uses.
    """
    changed = False
    for node in list(g.nodes(model)):
        inner = (
            node.inputs[0].producer()
            if g.is_op(node, "Transpose") and node.inputs[0] is not None
            else None
        )
        if inner is None or not g.is_op(inner, "Transpose") or inner.graph is not node.graph:
            continue
        p, q = g.attr(inner, "perm"), g.attr(node, "perm")
        if (
            p is None
            or q is None
            or len(p) != len(q)
            or len(inner.outputs[0].uses()) != 1
            or inner.outputs[0].is_graph_output()
        ):
            continue
        new = ir.Node(
            "", "Transpose", [inner.inputs[0]], [ir.AttrInt64s("perm", [p[i] for i in q])]
        )
        g.replace([inner, node], [new], node.outputs[0], new.outputs[0])
        changed = True
    return changed
