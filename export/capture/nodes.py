"""Whether nodes are what ONNX says of their operators: attributes, operands, types, axes; asked once, at capture.

`check_forms` reads a graph as it was written, each node by its own opset; `check_types` one whose types and shapes have
been inferred. What comes behind relies on it: attributes are there, of their kind, axes lie in their ranks.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import onnx
import onnx.defs
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.graph.inference import operands_of
from pteron.schema.errors import ModelError

AXES: Final = {
    "CumSum": 1, "CumProd": 1, "LayerNormalization": 0, "RMSNormalization": 0, "GatherElements": 0, "ScatterElements": 0,
    "TensorScatter": 0, "LpNormalization": 0, "Compress": 0, "QuantizeLinear": 0, "DequantizeLinear": 0,
}  # fmt: skip
"""Operators whose axis onnx's inference does not look at; 1: it is the second operand."""


def check_forms(model: ir.Model, where: str) -> None:
    """Attributes and numbers of operands.

    Raises:
        ModelError: the text names the node.
    """
    start = model.graph.opset_imports.get("")
    for node in g.nodes(model):
        if node.domain == "" and start is not None:
            _check_form(node, node.version or start, where)


def check_types(model: ir.Model, where: str) -> None:
    """Types of operands, axes, permutations, sizes: whatever onnx's inference of a node refuses.

    Raises:
        ModelError: the text names the node.
    """
    opset = [onnx.helper.make_opsetid("", g.OPSET)]
    for node in g.nodes(model):
        plain = not _has_body(node) and "Sequence" not in node.op_type
        if node.domain == "" and node.op_type != "Constant" and plain:
            _check_axis(node, where)
            _check_types(node, opset, where)


def _refuse(node: ir.Node, where: str, text: str) -> NoReturn:
    raise ModelError(f"{where}: node {node.name!r} ({node.op_type}): {text}; correct the node")


def _check_form(node: ir.Node, version: int, where: str) -> None:
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, version, "")
    except onnx.defs.SchemaError:
        _refuse(node, where, f"opset {version} has no such operator")
    for name, told in schema.attributes.items():
        if told.required and name not in node.attributes:
            _refuse(node, where, f"expected the attribute {name!r}, got none")
    for name, given in node.attributes.items():
        known = schema.attributes.get(name)
        if known is None:
            _refuse(node, where, f"opset {version} has no attribute {name!r}")
        if given.type.name != known.type.name and not given.is_ref():
            _refuse(
                node,
                where,
                f"expected attribute {name!r} as {known.type.name}, got {given.type.name}",
            )
    _check_count(node, where, "inputs", len(node.inputs), schema.min_input, schema.max_input)
    _check_count(node, where, "outputs", len(node.outputs), schema.min_output, schema.max_output)
    for i, (value, port) in enumerate(zip(node.inputs, schema.inputs, strict=False)):
        needed = port.option == onnx.defs.OpSchema.FormalParameterOption.Single
        if needed and (value is None or not value.name):
            _refuse(node, where, f"expected input {i} ({port.name}), got none")


def _check_count(node: ir.Node, where: str, what: str, got: int, low: int, high: int) -> None:
    if not low <= got <= high:
        expected = f"{low}" if low == high else f"{low} to {high}"
        _refuse(node, where, f"expected {expected} {what}, got {got}")


def _has_body(node: ir.Node) -> bool:
    kinds = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
    return any(a.type in kinds for a in node.attributes.values())


def _check_axis(node: ir.Node, where: str) -> None:
    rank = g.rank(node.inputs[0]) if node.inputs else None
    if node.op_type == "Transpose" and rank is not None and "perm" in node.attributes:
        perm = [int(p) for p in g.attr(node, "perm")]
        if sorted(perm) != list(range(rank)):
            _refuse(node, where, f"expected perm as an order of {rank} axes, got {perm}")
    place = AXES.get(node.op_type)
    if place is None or not rank:
        return
    known = g.ints(node.inputs[1]) if place else None
    axis = g.attr(node, "axis") if not place else known[0] if known else None
    if node.op_type.endswith("izeLinear") and all(n == 1 for n in g.dims(node.inputs[1]) or ()):
        return  # one scale for all
    if axis is not None and not -rank <= axis < rank:
        _refuse(node, where, f"expected an axis from {-rank} to {rank - 1}, got {axis}")


def _check_types(node: ir.Node, opset: list[Any], where: str) -> None:
    operands = operands_of(node)
    if operands is None:
        return
    schema = onnx.defs.get_schema(node.op_type, g.OPSET, "")
    proto = ir.serde.serialize_node(node)
    try:
        onnx.shape_inference.infer_node_outputs(schema, proto, *operands, opset_imports=opset)
    except Exception as error:
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        for tag in ("[ShapeInferenceError] ", "[TypeInferenceError] "):
            text = text.removeprefix(tag)
        _refuse(node, where, text.rstrip("."))
