"""Walks ONNX graphs: each node is folded, lowered by its function, or expanded by its ONNX function body.

`lower_graph` is what a method and the bodies of If, Loop and Scan have in common; values of outer graphs are seen from
inside. A node that cannot be lowered is noted in `Env.failures` and the walk goes on, so that one error lists all.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import onnx
import onnx_ir as ir

from pteron.schema.dtypes import DTYPES

from .. import graph as g
from ..graph.weights import elements_of, transposed
from ..program import DebugNode
from . import rearrange
from .context import Lowering, Origin
from .env import Failure
from .node import NAMES, Node
from .refs import ImpossibleError, Known, Ref, RefusedError, TwoRanksError
from .standard import check_node
from .table import BEHIND, FOLDS, LOWERINGS, WAYS

EXPANSION_LIMIT = 8
"""Function bodies inside function bodies."""

RANDOM: Final = "it gives random numbers, and a program the same result for the same inputs; make what is random an input of the model, or fix the numbers by a seed: --random-seed"
TEXT: Final = "it reads text, which no program has; do that before the model"
NEVER: Final = {
    **dict.fromkeys(("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"), TEXT),
    "ImageDecoder": "it decodes files of images (JPEG, PNG ...); give the model the pixels",
}
"""Operators of ONNX that no program will have: why, and what to do."""

MOST_SHOWN: Final = 8
"""Operands that an error lists."""


def lower_graph(l: Lowering, graph: ir.Graph, inputs: Sequence[Ref]) -> list[Ref | None]:
    """The outputs of a graph (a subgraph of the one being walked) for the given inputs; None where a node failed."""
    outer = l.env
    opsets = {**outer.opsets, **graph.opset_imports}
    l.env = dataclasses.replace(outer, values=outer.values.new_child(), opsets=opsets)
    try:
        l.env.values.update(zip(graph.inputs, inputs, strict=False))
        return lower_rest(l, list(graph), graph.outputs)
    finally:
        l.env = outer


def lower_rest(
    l: Lowering, nodes: Sequence[ir.Node], outputs: Sequence[ir.Value]
) -> list[Ref | None]:
    """The outputs of a graph by the nodes that are left of it."""
    for i, node in enumerate(nodes):
        try:
            lower_node(l, node)
        except TwoRanksError:
            return BEHIND[node.op_type](l, node, nodes[i + 1 :], outputs)
    return [read(l, value) for value in outputs]


def outputs_of(l: Lowering, graph: ir.Graph, inputs: Sequence[Ref]) -> list[Ref]:
    """`lower_graph` for a body: a failure inside has been noted, so the outer node fails too."""
    refs = [ref for ref in lower_graph(l, graph, inputs) if ref is not None]
    if len(refs) != len(graph.outputs):
        raise RefusedError("a node of its body has no lowering")
    return refs


def read(l: Lowering, value: ir.Value) -> Ref | None:
    """What a name stands for; initializers become constants at their first use."""
    if value in l.env.values:
        return l.env.values[value]
    if value.const_value is None:
        raise RefusedError(f"{value.name!r} is read before it is computed; sort the graph")
    tensor = value.const_value
    if tensor.dtype not in NAMES:
        raise RefusedError(
            f"{value.name!r} holds {tensor.dtype}; strings and complex are not covered"
        )
    ref: Ref | None
    if (stored := transposed(value)) is not None:  # a table that is read both ways is there once
        source, axes = stored
        known = read(l, source)
        ref = None if known is None else rearrange.transpose(l, known, axes)
    else:
        ref = l.values.constant(elements_of(tensor), NAMES[tensor.dtype], value.name or "")
    l.env.values.maps[-1][value] = ref
    return ref


def lower_node(l: Lowering, node: ir.Node) -> None:
    """Binds the node's outputs."""
    before = dataclasses.replace(l.origin)
    top = l.env.depth == 0
    if top:
        l.at(Origin(DebugNode(node.name or "", node.op_type, g.source(node))))
    operands: list[Ref | None] = []
    try:
        for value in node.inputs:
            ref = None if value is None or value.name == "" else read(l, value)
            if ref is None and value is not None and value.name != "":
                return _unbound(l, node)
            operands.append(ref)
        if l.env.failures and _reads_failed(l, node):
            return _unbound(l, node)
        wrapped = _wrap(l, node, operands)
        check_node(l, wrapped, inside=not top)
        results = lower_one(l, wrapped)
        for out, ref in zip(node.outputs, results, strict=False):
            l.env.values[out] = ref
    except TwoRanksError:
        raise
    except (RefusedError, MemoryError) as e:
        if not top or (l.env.ways and isinstance(e, ImpossibleError)):
            raise
        noted(l, node, e, operands)
    except Exception as e:
        if not top:
            raise
        text = f"its lowering fails ({type(e).__name__}: {e}); if the node is right, report this"
        l.env.failures.append(_failure(node, operands, text, e))
        _unbound(l, node)
    finally:
        l.at(before)


def _unbound(l: Lowering, node: ir.Node) -> None:
    """What the node computes has no lowering."""
    for out in node.outputs:
        l.env.values[out] = None


def _reads_failed(l: Lowering, node: ir.Node) -> bool:
    """Whether a body of the node reads what has no lowering around it, which has been noted there."""
    values = l.env.values
    return any(
        value is not None and value in values and values[value] is None
        for body in g.bodies(node)
        for reader in (*(n.inputs for n in g.nodes_of(body)), body.outputs)
        for value in reader
    )


def lower_one(l: Lowering, node: Node) -> list[Ref | None]:
    """Folds, lowers or expands one node."""
    fold = FOLDS.get(node.op_type) if node.domain == "" else None
    if fold is not None:
        data = fold(l, node)
        if data is not None:
            elements, dtype, assumes = data
            return [Known(dtype, elements, lambda: _first(_compute(l, node)), assumes)]
    return _compute(l, node)


def _compute(l: Lowering, node: Node) -> list[Ref | None]:
    function = LOWERINGS.get((node.domain, node.op_type))
    ways = WAYS.get(node.op_type) if node.domain == "" else None
    made = None if ways is None else ways(l, node)
    if made is not None:
        return made
    if function is None:
        return _expand(l, node)
    result = function(l, node)
    return [result] if isinstance(result, Ref) else list(result)


def _first(refs: list[Ref | None]) -> Ref:
    assert refs[0] is not None
    return refs[0]


def _wrap(l: Lowering, node: ir.Node, operands: list[Ref | None]) -> Node:
    attrs = {}
    for name, attr in node.attributes.items():
        if not attr.is_ref():
            attrs[name] = attr
        elif attr.ref_attr_name and attr.ref_attr_name in l.env.attrs:
            attrs[name] = l.env.attrs[attr.ref_attr_name]
    domain = "" if node.domain == "ai.onnx" else node.domain
    opset = node.version or l.env.opsets.get(domain, 0) or l.env.opsets.get("ai.onnx", 0)
    wanted = tuple(bool(o.name) and g.is_read(o) for o in node.outputs)
    return Node(node.op_type, domain, opset, node.name or "", tuple(operands), attrs, wanted, node)


def onnx_node(
    l: Lowering, op_type: str, inputs: Sequence[Ref | None], *, outputs: int = 1, **attrs: Any
) -> list[Ref | None]:
    """Lowers an ONNX operator that a lowering wants to use; the opset is that of the graph."""
    given = {k: v for k, v in attrs.items() if v is not None}
    made = {a.name: a for a in _attributes(given)}
    opset = l.env.opsets.get("", 0)
    return lower_one(l, Node(op_type, "", opset, "", tuple(inputs), made, (True,) * outputs))


def _attributes(values: Mapping[str, Any]) -> Sequence[ir.Attr]:
    return [a for a in ir.convenience.convert_attributes(values) if isinstance(a, ir.Attr)]


def noted(
    l: Lowering, node: ir.Node, error: Exception, operands: Sequence[Ref | None] = ()
) -> None:
    """Adds the node to those that cannot be lowered."""
    short = "needs more memory than there is: " if isinstance(error, MemoryError) else ""
    l.env.failures.append(_failure(node, operands, f"{short}{error}"))
    for out in node.outputs:
        l.env.values[out] = None


# --- function bodies ----------------------------------------------------------------------------------------------------


def _expand(l: Lowering, node: Node) -> list[Ref | None]:
    """Lowers the body that the model or ONNX gives for the operator."""
    title = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    if l.env.depth >= EXPANSION_LIMIT:
        raise RefusedError(f"{title}: function bodies are nested more than {EXPANSION_LIMIT} deep")
    function = _model_function(l, node) or _standard_function(node)
    if node.op_type in NEVER and not node.domain:
        raise RefusedError(NEVER[node.op_type])
    if function is None and "Sequence" in node.op_type and not node.domain:
        raise RefusedError(
            "it is of a sequence whose length is not known at export; expected one that a list, a split or a loop of constant count "
            "makes: fix the sizes that decide it (--fix)"
        )
    if function is None:
        raise RefusedError(f"no lowering for {title} (opset {node.opset}); replace it in the model")
    attrs = {**_defaults(function, node), **node.attrs}
    outer = l.env
    l.env = dataclasses.replace(
        outer,
        values=collections.ChainMap(),
        opsets=dict(function.opset_imports),
        attrs=attrs,
        depth=outer.depth + 1,
    )
    try:
        for i, value in enumerate(function.inputs):
            ref = node.get(i)
            if ref is not None:
                l.env.values[value] = ref
            else:
                value.name = ""  # an operand left out: readers treat it as absent
        for inner in function:
            lower_node(l, inner)
        return [l.env.values.get(value) for value in function.outputs]
    except RefusedError as e:
        raise RefusedError(f"in the body of {title}: {e}") from e
    finally:
        l.env = outer


def _model_function(l: Lowering, node: Node) -> ir.Function | None:
    for (domain, name, _), function in l.env.functions.items():
        if name == node.op_type and domain == node.domain:
            return ir.serde.deserialize_function(ir.serde.serialize_function(function))
    return None


def _standard_function(node: Node) -> ir.Function | None:
    """The body in ONNX's operator definition; some depend on attributes and types."""
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, node.opset, node.domain)
    except onnx.defs.SchemaError:
        return None
    versions = [v for v in schema.function_opset_versions if v <= node.opset]
    proto = onnx.FunctionProto()
    if versions:
        proto.ParseFromString(schema.get_function_with_opset_version(max(versions)))
        return _read_function(proto)
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= node.opset]
    if not versions:
        return None
    types = [_type_proto(x).SerializeToString() for x in node.inputs]
    body = schema.get_context_dependent_function_with_opset_version(
        max(versions), _node_proto(node).SerializeToString(), types
    )
    if not body:
        return None
    proto.ParseFromString(body)
    return _read_function(proto)


def _read_function(proto: onnx.FunctionProto) -> ir.Function:
    """Some bodies leave out the outputs that nobody asked for, which are the last ones."""
    made = {name for node in proto.node for name in node.output} | set(proto.input)
    kept = [name for name in proto.output if name in made]
    del proto.output[:]
    proto.output.extend(kept)
    return ir.serde.deserialize_function(proto)


def _node_proto(node: Node) -> onnx.NodeProto:
    proto = onnx.NodeProto(op_type=node.op_type, domain=node.domain)
    proto.input.extend("" if x is None else f"x{i}" for i, x in enumerate(node.inputs))
    proto.output.extend(f"y{i}" if w else "" for i, w in enumerate(node.wanted))
    proto.attribute.extend(ir.serde.serialize_attribute(a) for a in node.attrs.values())
    return proto


def _type_proto(x: Ref | None) -> onnx.TypeProto:
    if x is None:
        return onnx.TypeProto()
    shape = [n if isinstance(n, int) else str(n) for n in x.shape]
    return onnx.helper.make_tensor_type_proto(DTYPES[x.dtype].onnx, shape)


def _defaults(function: ir.Function, node: Node) -> dict[str, ir.Attr]:
    found = {n: a for n, a in function.attributes.items() if a.value is not None}
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, node.opset, node.domain)
    except onnx.defs.SchemaError:
        return found
    for name, attr in schema.attributes.items():
        if attr.default_value.name:
            found[name] = ir.serde.deserialize_attribute(attr.default_value)
    return found


def _failure(
    node: ir.Node, operands: Sequence[Ref | None], text: str, cause: Exception | None = None
) -> Failure:
    shown = ", ".join(
        "-" if x is None else f"{x.dtype}[{', '.join(map(str, x.shape))}]"
        for x in operands[:MOST_SHOWN]
    )
    if len(operands) > MOST_SHOWN:
        shown += f" ... {len(operands)} in all"
    name = node.name or (node.outputs[0].name if node.outputs else "") or ""
    return Failure(node.op_type, name, g.source(node), shown, text, cause)
