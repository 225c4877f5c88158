"""Scaled dot-product attention written out becomes one Attention.

softmax(cap(q k^T * scale) + mask) v,  cap(s) = c tanh(s / c)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from .. import graph as g
from .match import match, pattern
from .sizes import Size, elements, size_of

CAP = pattern("y = Mul(Tanh(Div(s, c)), c2)")
REPEAT = pattern("y = Reshape(Expand(Unsqueeze(x, [2]), e), r)")
GUARD = pattern("y = Where(IsNaN(p), 0, p)")


@dataclasses.dataclass(slots=True)
class Found:
    """What the walk upward from a Softmax collects; `nodes` from the last to the first."""

    nodes: list[ir.Node]
    scale: float = 1.0
    softcap: float = 0.0
    masks: list[ir.Value] = dataclasses.field(default_factory=list)  # what is added to scores
    sink: ir.Value | None = None  # a score beside those of keys, [.., heads, queries, 1]
    flat: ir.Value | None = None  # the shape with heads apart, of scores [batch * heads, ..]
    hide: tuple[ir.Value, ir.Value] | None = None  # condition and what it puts where it is false
    inverted: bool = False  # `hide` puts it where the condition is true


def recognise_attention(model: ir.Model) -> bool:
    """softmax(q k^T [* scale] [+ mask]) v => Attention(q, k, v, mask, scale).

    Scales may stand on q, on k (before or after its transpose) or on the scores; the mask may be added or chosen by Where; PyTorch's
    guard Where(IsNaN(p), 0, p) is the operator's own meaning: a row that sees nothing gives zeros. Heads of k and v that
    were repeated for those of q are not. A score beside those of keys that softmax takes and the values do not (a sink) is one of
    a key of zeros behind the others, and a column of the mask.
    Requires: rank 4 [batch, heads, tokens, size], or 3, which gets a leading 1; a softmax over the last axis. Declines: a mask of
    one column (the operator pads short masks), a mask or operands that broadcast the batch, other uses of what lies between,
    a scale that is not positive.
    """
    changed = False
    for node in list(g.nodes(model)):
        if g.is_op(node, "Softmax") and node.graph is not None:
            changed |= _rewrite(node)
    return changed


def _rewrite(softmax: ir.Node) -> bool:
    graph = softmax.graph
    if not isinstance(graph, ir.Graph):
        return False
    found = Found([])
    tail = _downward(softmax, found)
    scores = _upward(softmax.inputs[0], found)
    if tail is None or scores is None:
        return False
    q, scale_q = _unscale(scores.inputs[0], found.nodes)
    k, scale_k = _unscale(scores.inputs[1], found.nodes)
    v = tail[-1].inputs[1]
    if q is None or k is None or v is None:
        return False
    rank = next((r for r in map(g.rank, (softmax.outputs[0], q, v)) if r is not None), None)
    if rank not in (3, 4) or g.attr(softmax, "axis", -1) not in (-1, rank - 1):
        return False
    if found.flat is not None:
        rank = 3
        if not _heads_flat(softmax, q, tail, found):
            return False
    made: list[ir.Node] = []
    k, scale_t = _keys(k, rank, made, found.nodes)
    found.scale *= scale_q * scale_k * scale_t
    if found.scale <= 0:  # ONNX scales q and k by its root
        return False
    k, v = _ungrouped(k, v)
    mask = _mask(graph, found, made)
    flat = found.flat is not None
    if not _fits(q, k, v, mask, rank, flat) or (mask is None and (found.masks or found.hide)):
        return False
    mask = _columns(mask, k, rank, made)
    if found.sink is not None:
        keys = [(g.dims(x) or [None] * 4)[2] for x in (k, v)]
        if mask is None or g.rank(mask) != 4 or g.rank(found.sink) != 4 or not _one_size(keys):
            return False
        k, v, mask = _with_sink(graph, k, v, mask, found.sink, made)
    old = [*reversed(found.nodes), softmax, *tail]
    operands = [q, k, v] if rank == 4 else [_lead(x, graph, made) for x in (q, k, v)]
    attributes: list[ir.Attr] = [ir.AttrFloat32("scale", found.scale)]
    if found.softcap:
        attributes.append(ir.AttrFloat32("softcap", found.softcap))
    new = ir.Node("", "Attention", [*operands, mask] if mask is not None else operands, attributes)
    made.append(new)
    if rank == 3:
        zero = g.initializer(graph, np.array([0], np.int64), "axis_0")
        made.append(ir.Node("", "Squeeze", [new.outputs[0], zero]))
    g.replace(old, made, tail[-1].outputs[0], made[-1].outputs[0])
    return True


def _downward(softmax: ir.Node, found: Found) -> list[ir.Node] | None:
    """From the softmax to its MatMul with v: [that], or [IsNaN, Where, that], or [Slice or Reshape, that]."""
    p = softmax.outputs[0]
    between: list[ir.Node] = []
    users = [use.node for use in p.uses()]
    if len(users) in (2, 3) and {u.op_type for u in users} == {"IsNaN", "Where"}:
        where = next(u for u in users if u.op_type == "Where")
        m = match(where.outputs[0], GUARD)
        if m is None or m["p"] is not p:
            return None
        between = [n for n in m.nodes if n is not softmax][-2:]
        p = where.outputs[0]
    elif len(users) == 1 and g.is_op(users[0], "Slice", "Reshape") and not p.is_graph_output():
        if users[0].op_type == "Slice" and not _all_but_last(users[0]):
            return None
        between = users
        p = users[0].outputs[0]
    uses = list(p.uses())
    if (
        len(uses) != 1
        or p.is_graph_output()
        or not g.is_op(uses[0].node, "MatMul")
        or uses[0].idx != 0
    ):
        return None
    sinks = any(g.is_op(n, "Slice") for n in between)
    if sinks and not _take_sink(softmax, found):
        return None
    if any(g.is_op(n, "Reshape") for n in between):
        found.flat = between[0].inputs[1]
    return [*between, uses[0].node]


def _all_but_last(node: ir.Node) -> bool:
    """A Slice that leaves out the last element along the last axis."""
    told = [g.ints(v) for v in node.inputs[1:]]
    rank = g.rank(node.inputs[0])
    if len(told) < 3 or rank is None or told[:2] != [[0], [-1]]:
        return False
    return told[2] in ([-1], [rank - 1]) and told[3:] in ([], [[1]])


def _take_sink(softmax: ir.Node, found: Found) -> bool:
    """softmax(Concat(scores, sink) [- its largest]): the walk upward goes on from the scores."""
    node = _only_use(softmax.inputs[0])
    nodes = [] if node is None else [node]
    if node is not None and g.is_op(node, "Sub"):
        top, x = node.inputs[1].producer() if node.inputs[1] else None, node.inputs[0]
        if top is None or x is None or not g.is_op(top, "ReduceMax") or top.inputs[0] is not x:
            return False
        axes, rank = g.axes_of(top), g.rank(x)
        if rank is None or axes is None or not g.attr(top, "keepdims", 1):
            return False
        if rank - 1 not in [a % rank for a in axes]:
            return False
        if len(x.uses()) != 2 or len(top.outputs[0].uses()) != 1 or x.is_graph_output():
            return False
        node = x.producer()
        nodes += [top, *([node] if node is not None else [])]
    rank = g.rank(node.outputs[0]) if node is not None else None
    if node is None or not g.is_op(node, "Concat") or len(node.inputs) != 2 or rank is None:
        return False
    extents = g.dims(node.inputs[1])
    if int(g.attr(node, "axis")) % rank != rank - 1 or extents is None or extents[-1] != 1:
        return False
    found.sink = node.inputs[1]
    found.nodes += nodes
    return True


def _with_sink(
    graph: ir.Graph, k: ir.Value, v: ir.Value, mask: ir.Value, sink: ir.Value, made: list[ir.Node]
) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Keys and values with one of zeros behind them, whose score is what the mask adds."""
    ends = g.initializer(graph, np.array([0, 0, 0, 0, 0, 0, 1, 0], np.int64), "one_behind")
    padded = [ir.Node("", "Pad", [x, ends]) for x in (k, v)]
    parts = [
        ir.Node("", "Shape", [x], [ir.AttrInt64("start", i), ir.AttrInt64("end", j)])
        for x, i, j in ((sink, 0, 3), (mask, 3, 4))
    ]
    shape = ir.Node("", "Concat", [n.outputs[0] for n in parts], [ir.AttrInt64("axis", 0)])
    wide = ir.Node("", "Expand", [mask, shape.outputs[0]])
    both = ir.Node("", "Concat", [wide.outputs[0], sink], [ir.AttrInt64("axis", 3)])
    for node in (*padded, wide, both):
        node.outputs[0].type = mask.type if node in (wide, both) else k.type
    made += [*padded, *parts, shape, wide, both]
    return padded[0].outputs[0], padded[1].outputs[0], both.outputs[0]


def _heads_flat(softmax: ir.Node, q: ir.Value, tail: Sequence[ir.Node], found: Found) -> bool:
    """Whether scores [batch * heads, queries, keys] have their heads apart for the softmax alone, and all masks there are those of
    one batch or of every head."""
    apart = next((n for n in found.nodes if g.is_op(n, "Reshape")), None)
    if apart is None or g.rank(q) != 3:
        return False
    there, back = elements(apart.inputs[1]), elements(tail[0].inputs[1])
    rows = _extent(q, 0), _extent(q, 1)
    if there is None or back is None or len(there) != 4 or len(back) != 3 or None in rows:
        return False
    heads = there[0] * there[1] if isinstance(there[0], int) and isinstance(there[1], int) else None
    if heads != rows[0] or there[2] != rows[1] or tuple(back[:2]) != rows:
        return False
    added = [n.inputs[i] for n in found.nodes[: found.nodes.index(apart)] for i in (0, 1)]
    return there[0] == 1 or all(
        (g.dims(x) or [0, 0])[:2] == [1, 1] for x in added if x in found.masks
    )


def _extent(value: ir.Value, axis: int) -> int | Size | None:
    node = value.producer()
    told = elements(node.inputs[1]) if g.is_op(node, "Reshape") and node is not None else None
    return told[axis] if told is not None and told[axis] != -1 else size_of(value, axis)


def _only_use(value: ir.Value | None) -> ir.Node | None:
    """The node that makes `value`, where nothing but the walk uses it."""
    return value.producer() if value is not None and g.read_once(value) else None


def _upward(value: ir.Value | None, found: Found) -> ir.Node | None:
    """From the softmax's input to the MatMul of q and k: mask first, then softcap, then scale."""
    if found.sink is not None:
        value = found.nodes[-1].inputs[0]
    way = _way_to_matmul(value)
    while True:
        node = _only_use(value)
        if node is not None and g.is_op(node, "Add"):
            side = next((i for i in (0, 1) if node.inputs[i] in way), None)
            other = None if side is None else node.inputs[1 - side]
            if side is None or other is None:
                return None
            found.masks.append(other)
            value = node.inputs[side]
        elif node is not None and g.is_op(node, "Where") and found.hide is None:
            ways = {i: _way_to_matmul(node.inputs[i]) for i in (1, 2)}
            side = next((i for i in (1, 2) if ways[i]), None)
            if side is None or node.inputs[0] is None or node.inputs[3 - side] is None:
                return None
            fill = node.inputs[3 - side]
            assert fill is not None
            found.hide, found.inverted = (node.inputs[0], fill), side == 2
            value, way = node.inputs[side], ways[side]
        elif node is not None and g.is_op(node, "Reshape") and found.flat is not None:
            value = node.inputs[0]
        else:
            break
        found.nodes.append(node)
    cap = match(value, CAP) if value is not None else None
    if cap is not None and _only_use(value) is not None:
        limits = g.scalar(cap["c"]), g.scalar(cap["c2"])
        if limits[0] is None or limits[0] != limits[1]:
            return None
        found.softcap = limits[0]
        found.nodes += reversed(cap.nodes)
        value = cap["s"]
    value, scale = _unscale(value, found.nodes, alone=True)
    found.scale *= scale
    node = _only_use(value)
    if node is None or not g.is_op(node, "MatMul"):
        return None
    found.nodes.append(node)
    return node


def _way_to_matmul(value: ir.Value | None) -> set[ir.Value]:
    """`value` and those that it is made of, by what only the walk uses, as far as they are made of a MatMul. Not through Where: a
    mask that is added to hidden scores shows them again."""
    seen: list[tuple[ir.Value, ir.Value | None]] = []
    todo: list[tuple[ir.Value | None, ir.Value | None]] = [(value, None)]
    while todo:
        x, made = todo.pop()
        node = _only_use(x)
        if x is None or node is None:
            continue
        seen.append((x, made))
        if g.is_op(node, "Mul", "Div", "Tanh", "Add", "Reshape"):
            todo += [(y, x) for y in node.inputs]
    way: set[ir.Value] = set()
    for x, made in reversed(seen):  # what a value is made of stands behind it
        if x in way or g.is_op(x.producer(), "MatMul"):
            way |= {x} if made is None else {x, made}
    return way


def _unscale(
    value: ir.Value | None, nodes: list[ir.Node], alone: bool = False
) -> tuple[ir.Value | None, float]:
    """`value` without a constant factor, and the factor. `alone`: only where nothing else uses the product."""
    scale = 1.0
    while value is not None:
        node = value.producer() if not alone else _only_use(value)
        if node is None or not g.is_op(node, "Mul", "Div") or len(node.inputs) != 2:
            break
        right, left = g.scalar(node.inputs[1]), g.scalar(node.inputs[0])
        if right is not None and right != 0 and _is_scalar(node.inputs[1]):
            scale, value = scale * (right if node.op_type == "Mul" else 1 / right), node.inputs[0]
        elif left is not None and node.op_type == "Mul" and _is_scalar(node.inputs[0]):
            scale, value = scale * left, node.inputs[1]
        else:
            break
        nodes.append(node)
    return value, scale


def _is_scalar(value: ir.Value | None) -> bool:
    """A constant that does not raise the rank of what it meets."""
    return (g.rank(value) or 0) <= 1


def _keys(
    k: ir.Value, rank: int, made: list[ir.Node], nodes: list[ir.Node]
) -> tuple[ir.Value, float]:
    """k as [.., tokens, size]: its own transpose is undone or merged with the swap of the last two axes."""
    perm = list(range(rank))
    swapped = [*perm[:-2], perm[-1], perm[-2]]
    producer = k.producer()
    scale = 1.0
    if producer is not None and g.is_op(producer, "Transpose") and producer.inputs[0] is not None:
        own = g.attr(producer, "perm")
        own = perm[::-1] if own is None else list(own)
        nodes.append(producer)
        inner, scale = _unscale(producer.inputs[0], nodes)
        assert inner is not None
        k, swapped = inner, [own[i] for i in swapped]
    if swapped == perm:
        return k, scale
    node = ir.Node("", "Transpose", [k], [ir.AttrInt64s("perm", swapped)])
    sizes = g.dims(k)
    if sizes is not None:
        node.outputs[0].shape = ir.Shape([sizes[i] for i in swapped])
    node.outputs[0].type = k.type
    made.append(node)
    return node.outputs[0], scale


def _ungrouped(k: ir.Value, v: ir.Value) -> tuple[ir.Value, ir.Value]:
    """k and v before their heads were repeated for the heads of q: the operator groups them itself."""
    own_k, times_k = _unrepeated(k)
    own_v, times_v = _unrepeated(v)
    return (own_k, own_v) if times_k == times_v else (k, v)


def _times(size: int | Size, times: int) -> int | Size:
    return size * times if isinstance(size, int) else Size(size.name, size.factor * times)


def group_heads(model: ir.Model) -> bool:
    """Attention(q, repeated k, repeated v) => Attention(q, k, v), where k and v repeat their heads for those of q.

    Requires: rank 4, the repetition as Unsqueeze, Expand, Reshape with known head counts. Declines: a past is given; k and v
    repeat differently.
    """
    changed = False
    for node in list(g.nodes(model)):
        if not g.is_op(node, "Attention") or any(v is not None for v in node.inputs[4:6]):
            continue
        k, v = node.inputs[1], node.inputs[2]
        if k is None or v is None:
            continue
        own = _ungrouped(k, v)
        if own != (k, v):
            node.replace_input_with(1, own[0])
            node.replace_input_with(2, own[1])
            changed = True
    return changed


def _unrepeated(k: ir.Value) -> tuple[ir.Value, int]:
    """x and n where k = Reshape(Expand(Unsqueeze(x, 2)), [batch, heads * n, tokens, size]), else k and 1."""
    m = match(k, REPEAT)
    if m is None or g.rank(m["x"]) != 4:
        return k, 1
    x = m["x"]
    wide, flat = elements(m["e"]), elements(m["r"])
    times = wide[2] if wide is not None and len(wide) == 5 else None
    if flat is None or len(flat) != 4 or not isinstance(times, int) or times < 1:
        return k, 1
    own = [size_of(x, i) for i in range(4)]
    assert wide is not None
    if flat[0] == 0 and not g.attr(m.root, "allowzero", 0):  # the batch as it is
        flat[0] = own[0]
    # One head that Expand makes several is several groups of one: wide[1] serves as well as x's own heads.
    fits = any(flat[1] == _times(heads, times) for heads in (own[1], wide[1]) if heads is not None)
    fits = fits and flat[3] in (own[3], -1) and isinstance(own[3], int)
    fits = fits and all(not isinstance(flat[i], int) or flat[i] in (own[i], -1) for i in (0, 2))
    return (x, times) if fits else (k, 1)


def _mask(graph: ir.Graph, found: Found, made: list[ir.Node]) -> ir.Value | None:
    """The operator's mask: float ones, added; a condition as bool where it hides by -inf, else as what is added, or 0, or the
    fill."""
    added = found.masks[0] if found.masks else None
    for more in found.masks[1:]:
        assert added is not None
        node = ir.Node("", "Add", [added, more])
        _told(node, added, more)
        made.append(node)
        added = node.outputs[0]
    if found.hide is None:
        return added
    condition, fill = found.hide
    number = g.scalar(fill)
    if number is None or number > -1e4:
        return None
    if math.isinf(number) and added is None:
        if not found.inverted:
            return condition
        node = ir.Node("", "Not", [condition])
        node.outputs[0].shape, node.outputs[0].type = condition.shape, condition.type
    else:
        dtype = fill.dtype.numpy() if fill.dtype is not None else np.dtype(np.float32)
        shown = added or g.initializer(graph, np.zeros((), dtype), "zero")
        lowest = g.initializer(graph, np.array(number, dtype), "hidden")
        sides = [lowest, shown] if found.inverted else [shown, lowest]
        node = ir.Node("", "Where", [condition, *sides])
        _told(node, condition, shown)
        node.outputs[0].type = fill.type
    made.append(node)
    return node.outputs[0]


def _told(node: ir.Node, a: ir.Value, b: ir.Value) -> None:
    """Type and shape of what broadcasts."""
    node.outputs[0].type = a.type
    sides = [s for s in map(g.dims, (a, b)) if s is not None]
    if len(sides) < 2:
        return
    rank = max(map(len, sides))
    a_dims, b_dims = ([*(1 for _ in range(rank - len(s))), *s] for s in sides)
    node.outputs[0].shape = ir.Shape(
        [y if x == 1 else x for x, y in zip(a_dims, b_dims, strict=True)]
    )


def _fits(
    q: ir.Value, k: ir.Value, v: ir.Value, mask: ir.Value | None, rank: int, flat: bool
) -> bool:
    """`flat`: the mask may have a leading 1 more. No operand broadcasts another's batch or heads, but for heads of k and v that divide those of q; the mask has a column
    for each key."""
    sizes = [g.dims(x) for x in (q, k, v)]
    if any(s is not None and len(s) != rank for s in sizes):
        return False
    batches, heads = ([None if s is None else s[i] for s in sizes] for i in (rank - 4, rank - 3))
    if rank == 4 and not _one_size(batches):
        return False
    of_q, *of_kv = heads
    if not _one_size(of_kv) or (of_q == 1 and not _one_size(heads)):
        return False
    own = {n for n in of_kv if isinstance(n, int)}
    if isinstance(of_q, int) and own and of_q % own.pop():
        return False
    if mask is None:
        return True
    extents = g.dims(mask)
    if extents is None or not 2 <= len(extents) <= rank + flat or extents[-1] == 1:
        return False
    if flat and len(extents) > rank:
        extents = extents[1:]
    scores = sizes[0] or [None] * rank
    for mine, its in zip(reversed(extents[:-2]), reversed(scores[:-2]), strict=False):
        if mine != 1 and not _one_size([mine, its]):
            return False
    return True


def _columns(mask: ir.Value | None, k: ir.Value, rank: int, made: list[ir.Node]) -> ir.Value | None:
    """A mask of unknown width at the width of the keys: one column would mean all of them, to the operator only the first."""
    extents = g.dims(mask)
    if mask is None or extents is None or not _unknown(extents[-1]):
        return mask
    keys = ir.Node(
        "", "Shape", [k], [ir.AttrInt64("start", rank - 2), ir.AttrInt64("end", rank - 1)]
    )
    wide = ir.Node("", "Expand", [mask, keys.outputs[0]])
    wide.outputs[0].type, wide.outputs[0].shape = mask.type, mask.shape
    made += [keys, wide]
    return wide.outputs[0]


def _unknown(size: int | str | None) -> bool:
    return size is None or str(size).startswith("unk__")


def _one_size(sizes: Sequence[int | str | None]) -> bool:
    """No two of them are known to differ: two numbers, or 1 beside a named size. Those that inference lost may be anything; lowering
    knows them."""
    known = {n for n in sizes if not _unknown(n)}
    return len({n for n in known if isinstance(n, int)}) <= 1 and (
        1 not in known or len(known) == 1
    )


def _lead(x: ir.Value, graph: ir.Graph, made: list[ir.Node]) -> ir.Value:
    """[heads, tokens, size] as [1, heads, tokens, size]."""
    zero = g.initializer(graph, np.array([0], np.int64), "axis_0")
    node = ir.Node("", "Unsqueeze", [x, zero])
    node.outputs[0].type = x.type
    made.append(node)
    return node.outputs[0]
