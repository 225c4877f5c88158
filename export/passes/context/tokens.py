"""A proof that tokens of a run meet in causal attention alone, so that earlier ones need not be computed again."""

from __future__ import annotations

import math
from typing import Final

import onnx_ir as ir

from pteron.schema.errors import ModelError

from ... import graph as g
from .probe import Probe

NAMES: Final = (
    "Add Sub Mul Div Pow Neg Abs Exp Log Sqrt Reciprocal Tanh Sigmoid Erf Gelu Swish Relu Elu Selu Celu HardSigmoid HardSwish LeakyRelu "
    "Softplus Softsign Mish ThresholdedRelu Clip Cast Where Equal Less LessOrEqual Greater GreaterOrEqual And Or Not Xor Min Max Sum Mean "
    "Sin Cos Floor Ceil Round Sign IsNaN IsInf Mod Identity Dropout CastLike"
)
POINTWISE: Final = frozenset(NAMES.split())
SORTED: Final = (
    "experts to which tokens are sorted: make it with experts_implementation='batched_mm'; else "
)
ONE_TEXT: Final = ("Attention", "RotaryEmbedding")
"""What takes the places of tokens from their axis."""
TRIED: Final = 7919
"""A number of tokens that no other extent of a model is, or a multiple of."""


def tokens_meet_in_attention(model: ir.Model, tokens: ir.Value, probe: Probe) -> None:
    """Follows the axis of tokens from the input through every node that reads data.

    Raises:
        ModelError: a node may mix tokens, or is not known not to.
    """
    axis: dict[ir.Value, int] = {tokens: 1}
    lead: dict[ir.Value, int] = {
        tokens: 1
    }  # whole texts that lie one behind the other along that axis
    for node in model.graph:
        inner = (v for body in _bodies(node) for n in body.all_nodes() for v in n.inputs)
        if any(v in axis for v in inner):
            raise ModelError(_mixed(node))
        data = [(i, v) for i, v in enumerate(node.inputs) if v is not None and v in axis]
        if not data or g.is_op(node, "Shape", "Size"):
            continue
        texts = {lead[v] for _, v in data}
        made = _axis_of(node, axis, probe) if len(texts) == 1 else None
        count = texts.pop()
        if g.is_op(node, "Reshape", "Tile") and node.inputs[0] in axis:
            made, count = _laid(node, axis[node.inputs[0]], count, probe)
        if made is None or (count != 1 and g.is_op(node, *ONE_TEXT)):
            raise ModelError(_mixed(node))
        axis |= dict.fromkeys(node.outputs, made)
        lead |= dict.fromkeys(node.outputs, count)
    for output in model.graph.outputs:
        rows, maker = probe.extents(output, 0, TRIED), output.producer()
        if output in axis and rows is not None and rows[axis[output]] != TRIED and maker:
            raise ModelError(_mixed(maker))  # several rows of each token
        if output in axis and axis[output] != 1:
            raise ModelError(
                f"max_context: output {output.name!r}: expected tokens along axis 1, got axis {axis[output]}"
            )


def _mixed(node: ir.Node) -> str:
    return (
        f"max_context: node {node.name!r} ({node.op_type}) may mix tokens, expected causal attention alone to do that in a model "
        f"without caches; {SORTED if node.op_type == 'TopK' else ''}export it with past and present"
    )


def _bodies(node: ir.Node) -> list[ir.Graph]:
    one = [a.as_graph() for a in node.attributes.values() if a.type == ir.AttributeType.GRAPH]
    return one + [
        x
        for a in node.attributes.values()
        if a.type == ir.AttributeType.GRAPHS
        for x in a.as_graphs()
    ]


def _axis_of(node: ir.Node, axis: dict[ir.Value, int], probe: Probe) -> int | None:
    """The axis of tokens of what the node makes; None: it may mix them."""
    if node.domain != "":
        return None
    if node.op_type in POINTWISE:
        return _broadcast(node, axis, probe)
    x = node.inputs[0]
    rank = g.rank(x)
    if x is None or rank is None:
        return None
    at = axis.get(x)
    kind = node.op_type
    if kind == "Gather":
        return _gather(node, axis, rank)
    if kind == "GatherND":
        return _picked(node, axis)
    if kind in ("GatherElements", "ScatterElements"):
        return _by_elements(node, axis, rank, probe)
    if kind == "ScatterND":
        return _written(node, axis, probe)
    if kind == "MatMul":
        return _product(node, axis)
    if kind == "Gemm":
        rows = (
            at == 0
            and not g.attr(node, "transA", 0)
            and not any(v in axis for v in node.inputs[1:])
        )
        return 0 if rows else None
    if at is None:
        return None
    if kind in (
        "Softmax",
        "LogSoftmax",
        "RMSNormalization",
        "LayerNormalization",
        "LpNormalization",
        "CumSum",
        "TopK",
        "Hardmax",
    ):
        along = int(g.attr(node, "axis", -1)) % rank
        alone = along > at if kind in ("RMSNormalization", "LayerNormalization") else along != at
        return at if alone and kind != "CumSum" else None
    if kind.startswith("Reduce") or kind in ("ArgMax", "ArgMin"):
        axes = [int(g.attr(node, "axis", 0))] if kind.startswith("Arg") else g.axes_of(node)
        if axes is None or at in [a % rank for a in axes]:
            return None
        gone = 0 if g.attr(node, "keepdims", 1) else sum(a % rank < at for a in axes)
        return at - gone
    return _moved(node, axis, at, rank, probe)


def _moved(
    node: ir.Node, axis: dict[ir.Value, int], at: int, rank: int, probe: Probe
) -> int | None:
    kind = node.op_type
    if kind == "Transpose":
        perm = list(g.attr(node, "perm") or range(rank)[::-1])
        return perm.index(at)
    if kind in ("Unsqueeze", "Squeeze"):
        axes = g.axes_of(node)
        whole = rank + len(axes or ()) if kind == "Unsqueeze" else rank
        if axes is None:
            return None
        fixed = sorted(a % whole for a in axes)
        if kind == "Squeeze":
            return None if at in fixed else at - sum(a < at for a in fixed)
        return [i for i in range(whole) if i not in fixed][at]
    if kind in ("Reshape", "Tile"):
        return at  # _laid
    if kind == "Expand":
        wide = g.rank(node.outputs[0])
        return None if wide is None else at + wide - rank
    if kind in ("Concat", "Split"):
        along = int(g.attr(node, "axis", 0)) % rank
        same = all(
            axis.get(v, at) == at and (v in axis)
            for v in node.inputs[: 1 if kind == "Split" else None]
            if v is not None
        )
        return at if along != at and same else None
    if kind == "Slice":
        axes = g.ints(node.inputs[3]) if len(node.inputs) > 3 else None
        return at if axes is not None and at not in [a % rank for a in axes] else None
    if kind == "RotaryEmbedding":
        placed = len(node.inputs) > 3 and node.inputs[3] is not None
        return at if placed or all(g.rank(v) == 3 for v in node.inputs[1:3]) else None
    if kind == "Attention":
        return (
            at
            if all(axis.get(v) == at for v in node.inputs[:3] if v is not None) and at == 2
            else None
        )
    return None


def _broadcast(node: ir.Node, axis: dict[ir.Value, int], probe: Probe) -> int | None:
    """All that has tokens has them at one place from the end; what has none has an extent of 1 there, or follows from positions."""
    out = g.rank(node.outputs[0])
    if out is None:
        return None
    places = {axis[v] - (g.rank(v) or 0) for v in node.inputs if v is not None and v in axis}
    if len(places) != 1:
        return None
    back = places.pop()
    for v in node.inputs:
        if v is None or v in axis:
            continue
        dims = probe.extents(v, 0, TRIED)
        if v not in probe.sized and (dims is None or (len(dims) >= -back and dims[back] != 1)):
            return None
    return out + back


def _gather(node: ir.Node, axis: dict[ir.Value, int], rank: int) -> int | None:
    """A row of a table for each token, or elements of another axis."""
    along = int(g.attr(node, "axis", 0)) % rank
    table, index = node.inputs[0], node.inputs[1]
    if table is None or index is None or (table in axis and index in axis):
        return None
    if index in axis:
        return along + axis[index]
    more = g.rank(index)
    at = axis[table]
    return None if at == along or more is None else at + (more - 1) * (along < at)


def _product(node: ir.Node, axis: dict[ir.Value, int]) -> int | None:
    """Tokens are rows of the left operand, or a batch of both."""
    a, b = node.inputs[0], node.inputs[1]
    ranks = (g.rank(a), g.rank(b), g.rank(node.outputs[0]))
    if a is None or b is None or None in ranks:
        return None
    places = []
    for i, (value, rank) in enumerate(zip((a, b), ranks, strict=False)):
        if value in axis and rank is not None:
            back = axis[value] - rank
            if back == (-1, -2)[i] or rank == 1:
                return None
            if i == 1 and back == -1:  # a column a token
                return None
            places.append(back)
    if len(set(places)) != 1 or (places[0] >= -2 and b in axis):
        return None
    return (ranks[2] or 0) + places[0]


def _laid(node: ir.Node, at: int, lead: int, probe: Probe) -> tuple[int | None, int]:
    """Of Reshape and Tile: where the axis stays one of as many tokens, or of so many rows for each (a choice of experts), one token
    behind the other, and how many texts lie along it.

    Tokens lie n * front apart in what is reshaped and in what is made, so each has as many elements of both.
    """
    before, after = (probe.extents(v, 0, TRIED) for v in (node.inputs[0], node.outputs[0]))
    if before is None or after is None or before[at] == 0 or before[at] % TRIED:
        return None, lead
    if g.is_op(node, "Tile"):
        return at, lead * after[at] // before[at]
    front = math.prod(before[:at]) * lead
    for i, n in enumerate(after):
        texts, rest = divmod(front, max(1, math.prod(after[:i])))
        if n and not n % TRIED and texts and not rest and not n // TRIED % texts:
            return i, texts
    return None, lead


def _written(node: ir.Node, axis: dict[ir.Value, int], probe: Probe) -> int | None:
    """ScatterND at places that are no tokens': parts of what each token has."""
    table, index, updates = node.inputs
    rank, extents = g.rank(index), probe.extents(index, 0, TRIED)
    if rank is None or extents is None or index in axis:
        return None
    deep = extents[-1]
    places = {axis[table]} if table in axis else set()
    places |= {axis[updates] - (rank - 1) + deep} if updates in axis else set()
    others = [v for v in (table, updates) if v not in axis]
    if len(places) != 1 or min(places) < deep or not all(v in probe.sized for v in others):
        return None
    return places.pop()


def _picked(node: ir.Node, axis: dict[ir.Value, int]) -> int | None:
    """GatherND by constants along axes in front of that of tokens, or a part of a table for each token."""
    table, index = node.inputs[:2]
    rank = g.rank(index)
    if table is None or index is None or rank is None or g.attr(node, "batch_dims", 0):
        return None
    if table not in axis:
        return axis[index] if axis[index] < rank - 1 else None
    constant, at = g.constant_tensor(index), axis[table]
    deep = at + 1 if constant is None else constant.numpy().shape[-1]
    return None if at < deep else at - deep + rank - 1


def _by_elements(node: ir.Node, axis: dict[ir.Value, int], rank: int, probe: Probe) -> int | None:
    """Gather- and ScatterElements within each token; elements of a table for each."""
    along = int(g.attr(node, "axis", 0)) % rank
    table, index, *updates = node.inputs
    if table is None or index is None or index not in axis:
        return None
    at = axis[index]
    if not all(v is not None and (axis.get(v) == at or v in probe.sized) for v in updates):
        return None
    if table not in axis:
        return at if along != at or node.op_type == "GatherElements" else None
    return at if axis[table] == at != along else None
