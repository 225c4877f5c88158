"""Weights that the model computes from others alone: standardized ones of normalizer-free networks, weight norms, tables of biases
that a small network makes. Each run would compute the same again, and no layer that reads one could be quantized.

`fold` does what is exact on any machine; here the runtime itself computes, whose bits are those that a run would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.errors import PteronError

from .. import graph as g
from ..graph import randomness

Runner = Callable[
    [ir.Model, Sequence[str], Iterable[Mapping[str, Any]]], Iterator[Mapping[str, Any]]
]
"""For each sample, inputs by name, the wanted values by name."""
VIEWS: Final = frozenset(
    {"Reshape", "Transpose", "Expand", "Squeeze", "Unsqueeze", "Slice", "Flatten", "Identity"}
)
"""What costs a run nothing."""
LEFT: Final = randomness.NODES | {"DequantizeLinear"}
"""Stored weights stay as they are; what is drawn is another each time."""
KINDS: Final = frozenset(
    getattr(ir.DataType, kind) for kind in ("FLOAT", "DOUBLE", "FLOAT16", "INT64", "INT32", "BOOL")
)
SMALL: Final = 4096
"""Elements that a result may always have."""
GROWTH: Final = 8
"""A file's constants get longer by at most one part of so many, where results are larger than what they are made of."""


def fold_computed(model: ir.Model, run: Runner) -> bool:
    """y = Op(constants) => y an initializer, whatever the operator, where a run would have to compute it.

    Requires: nodes of the outermost graph. Declines: outputs of the graph; constants of few bits, which it would store in more; numbers that are drawn; results that
    are larger than the constants they are made of, once these have grown by an eighth; what the runtime does not compute.
    """
    derived = _derived(model)
    chosen = list(_chosen(model, derived))
    if not chosen:
        return False
    found = _results(model, chosen, derived, run)
    used = g.names(model)
    for value in chosen:
        if value.name not in found:
            continue
        tensor = ir.tensor(found[str(value.name)], dtype=value.dtype)
        made = g.initializer(model.graph, tensor, f"{value.name}_computed", used)
        value.replace_all_uses_with(made)
    return bool(found)


def _results(
    model: ir.Model, wanted: Sequence[ir.Value], derived: Mapping[ir.Node, int], run: Runner
) -> Mapping[str, Any]:
    """By name, without those that the runtime refuses: each is told by the name of its node, when that is lowered."""
    try:
        (found,) = run(_alone(model, wanted, derived), [str(v.name) for v in wanted], [{}])
        return found
    except PteronError:
        if len(wanted) == 1:
            return {}
    half = len(wanted) // 2
    parts = wanted[:half], wanted[half:]
    return {k: v for part in parts for k, v in _results(model, part, derived, run).items()}


def _derived(model: ir.Model) -> dict[ir.Node, int]:
    """Nodes that read constants and each other alone, with the elements of all constants that they are made of."""
    found: dict[ir.Node, int] = {}
    for node in model.graph:
        given = [v for v in node.inputs if v is not None]
        if node.domain or not given or node.op_type in LEFT or g.bodies(node):
            continue
        if any(v.dtype in g.LOW_PRECISION for v in (*given, *node.outputs)):
            continue
        sizes = [_size(v, found) for v in dict.fromkeys(given)]
        if all(n is not None for n in sizes):
            found[node] = sum(n for n in sizes if n is not None)
    return found


def _size(value: ir.Value, derived: Mapping[ir.Node, int]) -> int | None:
    producer = value.producer()
    if producer is not None and producer in derived:
        return derived[producer]
    tensor = g.constant_tensor(value)
    return None if tensor is None or tensor.dtype == ir.DataType.STRING else tensor.size


def _chosen(model: ir.Model, derived: Mapping[ir.Node, int]) -> Iterator[ir.Value]:
    """Of each chain of such nodes the last value that may be stored."""
    held = [g.constant_tensor(v) for v in model.graph.initializers.values()]
    room = max(SMALL, sum(t.size for t in held if t is not None) // GROWTH)
    ends = [v for n in derived for v in n.outputs if _is_read(v, derived)]
    seen: set[ir.Value] = set()
    while ends:
        value = ends.pop()
        node = value.producer()
        if value in seen or node is None or node not in derived or not _works(node, derived):
            continue
        seen.add(value)
        count = _count(value)
        more = None if count is None else count - max(SMALL, derived[node])
        if more is None or more > room or value.dtype not in KINDS or value.is_graph_output():
            ends += [v for v in node.inputs if v is not None]
            continue
        room -= max(0, more)
        yield value


def _is_read(value: ir.Value, derived: Mapping[ir.Node, int]) -> bool:
    return value.is_graph_output() or any(use.node not in derived for use in value.uses())


def _works(node: ir.Node, derived: Mapping[ir.Node, int]) -> bool:
    """Whether what the node gives costs a run anything."""
    makers = (v.producer() for v in node.inputs if v is not None)
    return node.op_type not in VIEWS or any(
        m in derived and _works(m, derived) for m in makers if m
    )


def _count(value: ir.Value) -> int | None:
    extents = g.dims(value)
    sizes = [n for n in extents or () if isinstance(n, int)]
    return math.prod(sizes) if extents is not None and len(sizes) == len(extents) else None


def _alone(model: ir.Model, wanted: Sequence[ir.Value], derived: Mapping[ir.Node, int]) -> ir.Model:
    """A model of what makes `wanted` and of nothing else."""
    copy = model.clone()
    others = [new for old, new in zip(model.graph, copy.graph, strict=True) if old not in derived]
    values = {v.name: v for n in copy.graph for v in n.outputs}
    copy.graph.outputs[:] = [values[v.name] for v in wanted]
    for node in reversed(others):
        copy.graph.remove(node, safe=False)
    copy.graph.inputs.clear()
    return copy
