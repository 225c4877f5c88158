"""Types and shapes of what nodes make, one after the other: plain ONNX by onnx's own inference, integer nodes by their rows.

`graph.infer` stops at the first node of a domain that onnx does not know; this goes on behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import onnx
import onnx_ir as ir

from .. import graph as g
from . import int8 as integer

Sizes = list[int | ir.SymbolicDim]

SMALL: Final = 1024
"""Constants of up to so many elements may decide a shape."""


def infer_rest(model: ir.Model) -> None:
    """Fills the types and shapes that are not there yet, in the main graph; what cannot be found stays unknown."""
    for node in model.graph:
        infer_node(node, model.graph.opset_imports)


def infer_node(node: ir.Node, opsets: Mapping[str, int]) -> None:
    """Fills the types and shapes of one node's outputs that are not there yet, from those of its inputs."""
    if all(v.dtype is not None and v.shape is not None for v in node.outputs if v.name):
        return
    if node.domain == integer.DOMAIN:
        _own(node)
    elif node.domain in ("", "ai.onnx"):
        _onnx(node, opsets)


def _own(node: ir.Node) -> None:
    x, (y,) = node.inputs[0], node.outputs
    if node.op_type in ("Mul", "Product"):
        y.shape = _as_of(node, {"Mul": "Mul", "Product": "MatMul"}[node.op_type])
    row = integer.read(node)
    y.type = ir.TensorType(ir.DataType.INT8 if row is None else integer.result_type(row, x))
    if row is not None and x is not None and x.shape is not None and type(row) in _SHAPES:
        y.shape = ir.Shape(_SHAPES[type(row)](row, list(x.shape)))


def _as_of(node: ir.Node, op: str) -> ir.Shape | None:
    """The shape that an ONNX operator of the same operands has."""
    out = ir.Value(name="y")
    like = ir.Node("", op, node.inputs, outputs=[out])
    _onnx(like, {})
    like.resize_inputs(0)
    return out.shape


def _windows(
    spatial: Sequence[int | ir.SymbolicDim],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int] = (),
    dilations: Sequence[int] = (),
) -> Sizes:
    rank = len(kernel)
    pads, dilations = pads or (0,) * 2 * rank, dilations or (1,) * rank
    out: Sizes = []
    for i, n in enumerate(spatial):
        if not isinstance(n, int):
            out.append(ir.SymbolicDim(None))
            continue
        span = n + pads[i] + pads[i + rank] - dilations[i] * (kernel[i] - 1) - 1
        out.append(span // strides[i] + 1)
    return out


def _conv(row: integer.Conv, x: Sizes) -> Sizes:
    if row.same:
        pairs = zip(x[2:], row.strides, strict=True)
        spatial = [-(-n // s) if isinstance(n, int) else ir.SymbolicDim(None) for n, s in pairs]
        return [x[0], int(row.w.shape[0]), *spatial]
    windows = _windows(x[2:], row.w.shape[2:], row.strides, row.pads, row.dilations)
    return [x[0], int(row.w.shape[0]), *windows]


def _linear(row: integer.Linear, x: Sizes) -> Sizes:
    return [*x[:-1], int(row.w.shape[0])]


def _average_pool(row: integer.AveragePool, x: Sizes) -> Sizes:
    return [*x[:2], *_windows(x[2:], row.kernel_shape, row.strides, row.pads)]


def _same(row: object, x: Sizes) -> Sizes:
    return x


_SHAPES: Final[dict[type[Any], Callable[[Any, Sizes], Sizes]]] = {
    integer.Conv: _conv,
    integer.Linear: _linear,
    integer.AveragePool: _average_pool,
    integer.Add: _same,
    integer.Rescale: _same,
}


def operands_of(node: ir.Node) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """What onnx's inference of one node is told: types, and tensors of small constants, by name; None where a type is unknown."""
    types, data = {}, {}
    for value in node.inputs:
        if value is None or not value.name:
            continue
        if value.type is None:
            return None
        types[value.name] = ir.serde.serialize_value(value).type
        known = g.constant_tensor(value)
        if known is not None and known.size <= SMALL:
            data[value.name] = ir.serde.serialize_tensor(known)
    return types, data


def _onnx(node: ir.Node, opsets: Any) -> None:
    version = node.version or opsets.get("", g.OPSET)
    if any(
        a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
        for a in node.attributes.values()
    ):
        return
    operands = operands_of(node)
    if operands is None:
        return
    try:
        made = onnx.shape_inference.infer_node_outputs(
            onnx.defs.get_schema(node.op_type, version, ""),
            ir.serde.serialize_node(node),
            *operands,
            opset_imports=[onnx.helper.make_opsetid("", version)],
        )
    except Exception:  # a hint, as in graph.infer
        return
    for value in node.outputs:
        found = made.get(value.name or "")
        if found is not None and value.name:
            told = ir.serde.deserialize_type_proto_for_type(found)
            value.type = value.type or told
            value.shape = value.shape or ir.serde.deserialize_type_proto_for_shape(found)
