"""Parts of a Graph to delegates: each node is asked for, segments are formed and compiled, and become `Delegate` nodes.

A `Delegate` node (domain `pteron`) reads and writes what its segment did. Attributes: name, target, policy, blob, and
the graph `fallback` that computes the same on the CPU, its inputs those of the node; the policy forbid leaves it out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import DelegateError, LoweringError, ModelError

from .. import graph as g
from ..graph import dimensions
from ..graph.fix import symbols
from ..graph.inference import infer_rest
from ..passes.int8 import WHY
from ..program import Placement
from . import Delegate, Segment
from .segments import segments

HEAVY: Final = ("Conv", "ConvTranspose", "Linear", "Gemm", "MatMul", "Attention")
"""A segment without one of these is not worth the way to a delegate and back."""
TOO_LIGHT: Final = "nothing heavy enough in the segment"
MOST_SEGMENTS: Final = 1024
"""PTE_MAX_DELEGATES."""

BORDER: Final = "converts at the model's border"


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """A segment that a delegate has compiled."""

    delegate: Delegate
    members: tuple[int, ...]
    segment: Segment
    blob: bytes


def partition(
    model: ir.Model,
    delegates: Sequence[Delegate],
    policy: str = "warn",
    method: str = "main",
    first: int = 0,
    heavy: Collection[str] = HEAVY,
) -> list[Placement]:
    """Gives `model`, in place, `Delegate` nodes for what the delegates take, asked in order.

    `policy`: one of schema/policies.py. A segment without a node of `heavy` stays on the CPU. Segments are numbered from `first`, as the program's delegates are.

    Returns:
        One row a node of the main graph as it was.

    Raises:
        LoweringError: the policy is forbid and a node went to no delegate; all are named with the reasons.
        DelegateError: a delegate's compiler is not there; the text says what to install.
    """
    for delegate in delegates:
        _require(delegate)
    infer_rest(model)
    nodes = list(model.graph)
    parts, refused = _parts(model, nodes, delegates, heavy)
    parts = _most(parts, MOST_SEGMENTS - first, nodes, refused)
    rows = list(_rows(nodes, parts, refused, [d.name for d in delegates], method))
    if policy == "forbid":
        _require_all(rows)
    names = g.names(model)
    moved: dict[ir.Value, ir.Value] = {}
    made = [_rewrite(model.graph, part, policy, names, moved) for part in parts]
    model.graph.sort()
    order = [node for node in model.graph if node in made]
    for part, node in zip(parts, made, strict=True):
        for i in part.members:
            text = f"segment {first + order.index(node)}"
            rows[i] = dataclasses.replace(rows[i], reason=text)
    if parts:
        model.graph.opset_imports.setdefault(g.OURS, 1)
        g.verify(model, "partition")
    return rows


def _require(delegate: Delegate) -> None:
    missing = delegate.missing()
    if missing:
        wanted = "; ".join(f"{what}: {install}" for what, install in missing)
        raise DelegateError(f"delegate {delegate.name}: its compiler needs {wanted}")


def _require_all(rows: Sequence[Placement]) -> None:
    left = [r for r in rows if r.delegate == "cpu" and r.reason != BORDER]
    if not left:
        return
    lines = [f"{r.op_type} {r.name!r}: {r.reason}" for r in left]
    raise LoweringError(
        f"placement forbid: expected every node on a delegate, got {len(left)} on the CPU:\n  "
        + "\n  ".join(lines),
        tuple(r.name for r in left),
    )


# --- asking -------------------------------------------------------------------------------------------------------------


def _parts(
    model: ir.Model,
    nodes: Sequence[ir.Node],
    delegates: Sequence[Delegate],
    heavy: Collection[str],
) -> tuple[list[_Part], dict[int, list[str]]]:
    """Compiled segments, and for each node that was refused by a delegate its reasons, in the order of delegates."""
    place = {node: i for i, node in enumerate(nodes)}
    readers = [{place[r] for r in _readers(node, place)} - {i} for i, node in enumerate(nodes)]
    fixable = symbols(model)
    unfit = [_unfit(node, fixable) for node in nodes]
    parts: list[_Part] = []
    refused: dict[int, list[str]] = {i: [] for i in range(len(nodes))}
    for delegate in delegates:
        gone = {i for part in parts for i in part.members}
        members = []
        for i, node in enumerate(nodes):
            if i in gone:
                continue
            reason = unfit[i] or delegate.supports(node)
            if reason is None:
                members.append(i)
            else:
                refused[i].append(_why(node, reason))
        siblings = list(_siblings(nodes, set(members), heavy))
        for found in segments(readers, members, [p.members for p in parts], siblings):
            part = _compiled(delegate, nodes, found, heavy)
            if isinstance(part, _Part):
                parts.append(part)
            else:
                for i in found:
                    refused[i].append(part)
    return parts, refused


def _most(
    parts: list[_Part], room: int, nodes: Sequence[ir.Node], refused: dict[int, list[str]]
) -> list[_Part]:
    """As many as a program has segments: those with the most work, in their order."""
    if len(parts) <= room:
        return parts

    def work(k: int) -> tuple[int, int]:
        return sum(macs(nodes[i]) for i in parts[k].members), len(parts[k].members)

    kept = sorted(sorted(range(len(parts)), key=work, reverse=True)[: max(room, 0)])
    for k in set(range(len(parts))).difference(kept):
        for i in parts[k].members:
            refused[i] = [f"a program has at most {MOST_SEGMENTS} segments, and others do more"]
    return [parts[k] for k in kept]


def _siblings(
    nodes: Sequence[ir.Node], members: set[int], heavy: Collection[str]
) -> Iterator[list[int]]:
    """Heavy members that read the same value: one call of the delegate for all."""
    families: dict[ir.Value, list[int]] = {}
    for i in sorted(members):
        if nodes[i].op_type in heavy:
            read = (v for v in nodes[i].inputs if v is not None and v.const_value is None)
            for value in dict.fromkeys(read):
                families.setdefault(value, []).append(i)
    return (family for family in families.values() if len(family) > 1)


def _why(node: ir.Node, reason: str) -> str:
    """What a delegate said, or what the integer pass knows better."""
    if g.is_op(node, "DequantizeLinear"):
        others = [use.node for use in node.outputs[0].uses()]
    elif g.is_op(node, "QuantizeLinear") and node.inputs[0] is not None:
        others = [node.inputs[0].producer()]  # type: ignore[list-item]
    else:
        return str(node.metadata_props.get(WHY, reason))
    names = ", ".join(f"{n.op_type} {n.name}" for n in others if n is not None)
    return f"converts for {names}, which computes in f32" if names else reason


def _readers(node: ir.Node, place: dict[ir.Node, int]) -> Iterator[ir.Node]:
    """Nodes of the main graph that read what `node` makes, also from inside their bodies."""
    for value in node.outputs:
        for use in value.uses():
            user = use.node
            while user not in place:
                assert isinstance(user.graph, ir.Graph)
                user = _owner(user.graph, place)
            yield user


def _owner(graph: ir.Graph, place: dict[ir.Node, int]) -> ir.Node:
    """The node of the main graph in whose bodies `graph` is."""
    for node in place:
        if any(inner is graph for inner in _bodies(node)):
            return node
    raise ModelError(f"graph {graph.name!r} belongs to no node")


def _bodies(node: ir.Node) -> Iterator[ir.Graph]:
    for a in node.attributes.values():
        own = [a.as_graph()] if a.type == ir.AttributeType.GRAPH else []
        own += list(a.as_graphs()) if a.type == ir.AttributeType.GRAPHS else []
        for graph in own:
            yield graph
            yield from graph.subgraphs()


def _unfit(node: ir.Node, fixable: set[str]) -> str | None:
    """Why no delegate at all can take the node."""
    if any(True for _ in _bodies(node)):
        return f"{node.op_type} has a body: control flow stays on the CPU"
    if _at_border(node):
        return BORDER
    for value in (*node.inputs, *node.outputs):
        if value is None or not value.name or g.constant_tensor(value) is not None:
            continue
        if value.dtype is None or value.shape is None:
            return f"type or shape of {value.name} is not known at export"
        for dim in value.shape:
            if isinstance(dim, int):
                continue
            return _symbolic(value, dim, fixable)
    return None


def _symbolic(value: ir.Value, dim: ir.SymbolicDim, fixable: set[str]) -> str:
    """A size that is not known, and what would make it so."""
    names = sorted(dimensions.names(dim) & fixable)
    how = " ".join(f"--fix {name}=1" for name in names or sorted(fixable))
    if names:
        return f"dimension {', '.join(names)} is symbolic; fix it with {how}"
    known = f"a size of {value.name} is not known at export"
    return f"{known}; it may be with {how}" if how else known


def _at_border(node: ir.Node) -> bool:
    """It turns the model's float input into codes, or codes into its float output."""
    into = g.is_op(node, "QuantizeLinear") and node.inputs[0] is not None
    if into and node.inputs[0].is_graph_input():  # type: ignore[union-attr]
        return True
    return g.is_op(node, "DequantizeLinear") and node.outputs[0].is_graph_output()


def _compiled(
    delegate: Delegate, nodes: Sequence[ir.Node], found: Sequence[int], heavy: Collection[str]
) -> _Part | str:
    """The part, or why there is none."""
    own = tuple(nodes[i] for i in found)
    if not any(node.op_type in heavy for node in own):
        return TOO_LIGHT
    segment = _segment(own)
    try:
        return _Part(delegate, tuple(found), segment, delegate.compile(segment))
    except DelegateError as error:
        return str(error)


def _segment(nodes: tuple[ir.Node, ...]) -> Segment:
    inside = set(nodes)
    inputs: dict[ir.Value, None] = {}
    outputs: dict[ir.Value, None] = {}
    for node in nodes:
        for value in node.inputs:
            own = value is None or not value.name or value.producer() in inside
            if not own and g.constant_tensor(value) is None:
                inputs[value] = None  # type: ignore[index]
        for value in node.outputs:
            if value.is_graph_output() or any(use.node not in inside for use in value.uses()):
                outputs[value] = None
    return Segment(nodes, tuple(inputs), tuple(outputs))


# --- telling ------------------------------------------------------------------------------------------------------------


def _rows(
    nodes: Sequence[ir.Node],
    parts: Sequence[_Part],
    refused: dict[int, list[str]],
    names: Sequence[str],
    method: str,
) -> Iterator[Placement]:
    """One a node; those of parts get their segment's number later."""
    home = {i: part.delegate.name for part in parts for i in part.members}
    for i, node in enumerate(nodes):
        name = node.name or node.outputs[0].name or ""
        reason = "" if i in home else _joined(names, refused[i])
        yield Placement(method, name, node.op_type, home.get(i, "cpu"), reason, macs(node))


def _joined(names: Sequence[str], reasons: Sequence[str]) -> str:
    """One reason where all delegates give the same, else each behind its delegate's name."""
    if len(set(reasons)) <= 1:
        return reasons[0] if reasons else "no delegate was asked"
    return "; ".join(f"{name}: {reason}" for name, reason in zip(names, reasons, strict=True))


def macs(node: ir.Node) -> int:
    """Multiply-accumulates of a node of convolution or matrix product whose sizes are known; else 0."""
    if node.op_type not in HEAVY or len(node.inputs) < 2:
        return 0
    out, w = _sizes(node.outputs[0]), _sizes(node.inputs[1])
    if out is None or w is None:
        return 0
    if node.op_type in ("MatMul", "Gemm"):
        return math.prod(out) * math.prod(w[-2:]) // max(out[-1], 1) if len(w) > 1 else 0
    return math.prod(out) * math.prod(w[1:]) if node.op_type in ("Conv", "Linear") else 0


def _sizes(value: ir.Value | None) -> list[int] | None:
    dims = None if value is None or value.shape is None else list(value.shape)
    if dims is None or not all(isinstance(d, int) for d in dims):
        return None
    return [int(str(d)) for d in dims]


# --- rewriting ----------------------------------------------------------------------------------------------------------


def _rewrite(
    graph: ir.Graph, part: _Part, policy: str, names: set[str], moved: dict[ir.Value, ir.Value]
) -> ir.Node:
    """The nodes of a part => one `Delegate` node at the place of the last, the nodes in its fallback.

    `moved`: what parts made before => what their `Delegate` nodes make, which this part reads instead; it gets its own.
    """
    inputs = tuple(moved.get(v, v) for v in part.segment.inputs)
    segment = dataclasses.replace(part.segment, inputs=inputs)
    nodes, inside = segment.nodes, set(segment.nodes)
    made = [_twin(v, names, "delegated") for v in segment.outputs]
    moved |= dict(zip(segment.outputs, made, strict=True))
    node = ir.Node(
        g.OURS, "Delegate", list(inputs), _attributes(part, policy), outputs=made,
        name=f"{part.delegate.name}:{nodes[0].name or nodes[0].outputs[0].name}",
    )  # fmt: skip
    graph.insert_after(nodes[-1], node)
    for old, new in zip(segment.outputs, made, strict=True):
        for use in list(old.uses()):
            if use.node not in inside:
                use.node.replace_input_with(use.idx, new)
        for i, output in enumerate(graph.outputs):
            if output is old:
                graph.outputs[i] = new
        old.name, new.name = new.name, old.name
    graph.remove(list(reversed(nodes)))
    if policy != "forbid":
        node.attributes.add(ir.AttrGraph("fallback", _fallback(segment, names)))
    else:
        for dead in nodes:
            for i in range(len(dead.inputs)):
                dead.replace_input_with(i, None)
    return node


def _fallback(segment: Segment, names: set[str]) -> ir.Graph:
    params = {v: _twin(v, names, "given") for v in segment.inputs}
    for node in segment.nodes:
        for i, value in enumerate(node.inputs):
            if value in params:
                node.replace_input_with(i, params[value])
    return ir.Graph(list(params.values()), segment.outputs, nodes=segment.nodes, name="fallback")


def _attributes(part: _Part, policy: str) -> list[ir.Attr]:
    blob = ir.tensor(np.frombuffer(part.blob, np.uint8))
    return [
        ir.AttrString("name", part.delegate.name),
        ir.AttrString("target", part.delegate.target),
        ir.AttrString("policy", policy),
        ir.AttrTensor("blob", blob),
    ]


def _twin(value: ir.Value, names: set[str], suffix: str) -> ir.Value:
    """A value of the same type and shape and another name."""
    name = g.fresh(names, f"{value.name}.{suffix}")
    return ir.Value(name=name, type=value.type, shape=value.shape)
