"""Whether a node is one that ONNX's definition of its operator allows: operands, their dtypes, attributes, shapes.

What the standard refuses is refused here, by the node's name, before its lowering looks at it: a lowering may rely on the
definition. Operators that the standard does not know are their lowerings' business.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
import onnx
import onnx.checker
import onnx.shape_inference
import onnx_ir as ir

from pteron.export.lower.context import Lowering
from pteron.export.lower.node import ONNX, Node, RefusedError
from pteron.export.program.views import Ref

TOLD: Final = 64
"""Known elements of so many are told to the inference of shapes: axes, sizes, pads."""

LENIENT: Final = ("ReduceLogSum", "ReduceLogSumExp")
"""Operators that once had integers and still compute them."""

STRICTER: Final = ("Einsum", "Range")
"""Operators whose inference refuses what their definition, or ONNX's own models, allow: an ellipsis that broadcasts, a
limit of one element and rank 1."""


def check_node(l: Lowering, node: Node, inside: bool) -> None:
    """Raises RefusedError where the standard does not allow the node. `inside`: of a function's body, of which only that
    dtypes agree is asked: the standard's own bodies are not always of the types that it lists."""
    schema = _schema(node.op_type, node.opset, node.domain)
    if schema is None or node.op_type in LENIENT:
        return
    if inside:
        _check_agreement(schema, node)
        return
    _check_operands(schema, node)
    _check_attributes(schema, node)
    has_body = any(a.type.name in ("GRAPH", "GRAPHS") for a in node.attrs.values())
    if not has_body and node.op_type not in STRICTER:
        _check_shapes(l, schema, node)


@functools.cache
def _schema(op_type: str, opset: int, domain: str) -> Any:
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def _check_operands(schema: Any, node: Node) -> None:
    count = len(node.inputs)
    if not schema.min_input <= count <= schema.max_input:
        most = schema.max_input if schema.max_input < 2**31 - 1 else "any number of"
        raise RefusedError(f"expected {schema.min_input} to {most} inputs, got {count}")
    for i, x in enumerate(node.inputs):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        if x is None and formal.option.name == "Single":
            raise RefusedError(f"input {i} ({formal.name}) is absent; the operator needs it")
        if x is not None and _type(x) not in formal.types:
            raise RefusedError(f"{formal.name} is {x.dtype}; expected {_listed(formal.types)}")
    _check_agreement(schema, node)


def _check_agreement(schema: Any, node: Node) -> None:
    """Operands that the definition gives one type have one."""
    bound: dict[str, str] = {}
    for i, x in enumerate(node.inputs):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        if x is None or (formal.option.name == "Variadic" and not formal.is_homogeneous):
            continue
        first = bound.setdefault(formal.type_str, x.dtype)
        if first != x.dtype:
            raise RefusedError(
                f"{formal.name} is {x.dtype}; expected {first} as the operand before it has: cast one of them"
            )


def _type(x: Ref) -> str:
    return f"tensor({ONNX[x.dtype].name.lower()})"


def _listed(types: Any) -> str:
    names = sorted(t.removeprefix("tensor(").removesuffix(")") for t in types if "(" in t)
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")


def _check_attributes(schema: Any, node: Node) -> None:
    for name, a in schema.attributes.items():
        if name not in node.attrs:
            if a.required:
                raise RefusedError(f"attribute {name} is missing; the operator needs it")
        elif node.attrs[name].type.name != a.type.name:
            got = node.attrs[name].type.name
            raise RefusedError(f"attribute {name}: expected {a.type.name}, got {got}")


def _check_shapes(l: Lowering, schema: Any, node: Node) -> None:
    proto = onnx.NodeProto(op_type=node.op_type, domain=node.domain)
    types, data = {}, {}
    for i, x in enumerate(node.inputs):
        name = "" if x is None else f"x{i}"
        proto.input.append(name)
        if x is not None:
            shape = [n if isinstance(n, int) else None for n in x.shape]
            types[name] = onnx.helper.make_tensor_type_proto(int(ONNX[x.dtype]), shape)
            known = _numbers(l, x)
            if known is not None:
                data[name] = known
    proto.output.extend(f"y{i}" for i in range(len(node.wanted)))
    for key, a in node.attrs.items():  # in a function's body the caller's, under another name
        proto.attribute.append(ir.serde.serialize_attribute(a))
        proto.attribute[-1].name = key
    try:
        onnx.shape_inference.infer_node_outputs(schema, proto, types, data)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError) as error:
        raise RefusedError(f"not what the operator's definition allows: {_tidy(error)}") from error


def _numbers(l: Lowering, x: Ref) -> onnx.TensorProto | None:
    """Its elements where they are few, known and numbers."""
    if x.rank > 1 or x.dtype not in ("i64", "i32"):
        return None
    elements = l.elements(x)
    if (
        elements is None
        or elements.size > TOLD
        or not all(isinstance(e, int) for e in elements.flat)
    ):
        return None
    kind = np.int64 if x.dtype == "i64" else np.int32
    return onnx.numpy_helper.from_array(elements.astype(kind))


def _tidy(error: Exception) -> str:
    text = str(error).strip().splitlines()[0]
    return text.removeprefix("[ShapeInferenceError] ").removeprefix("[TypeInferenceError] ")
