"""Graphs as text, for tests: `onnx_text` reads, `as_text` writes.

    e = Erf(Div(x, 1.4142135)); p = Mul(x, Add(e, 1.0)); out = Mul(p, 0.5)

A statement is Python: names are values, a call is a node, keywords are attributes, several names on the left are several
outputs, `None` is an absent input. Numbers are f32 scalars, True and False bool scalars, lists 1-D i64, `i64(3)`, `f16([1, 2])` typed
constants. A name that nothing defines is an input, f32[4, 8] unless said; values that nobody uses are the outputs.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
import onnx_ir.passes.common as common

from pteron.schema.dtypes import BY_ONNX, DTYPES

from . import IR_VERSION, OPSET, Array, can_follow, constant, constant_tensor, fresh, sizes

SHOWN: Final = 8
"""Constants of more elements are shown by name."""


def onnx_text(
    text: str, *, opset: int = OPSET, outputs: str = "", **given: str | Array
) -> ir.Model:
    """Builds a model from statements.

    Args:
        text: Statements, see the head of this file.
        outputs: Names of the graph outputs; default: the values that nobody uses.
        given: A name's type and shape ("i64[n, 8]": an input) or its elements (an initializer).
    """
    return _Builder(opset, given).model(text, outputs.split())


class _Builder:
    """The values met so far; reads one statement after the other."""

    def __init__(self, opset: int, given: dict[str, str | Array]) -> None:
        self.opset = opset
        self.graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name="text")
        self.values: dict[str, ir.Value] = {}
        self.used: set[str] = set(given)
        for name, what in given.items():
            if isinstance(what, str):
                self.input(name, what)
            else:
                self.constant(ir.tensor(what), name)

    def model(self, text: str, outputs: list[str]) -> ir.Model:
        statements = ast.parse("\n".join(s.strip() for s in re.split(r"[;\n]", text))).body
        self.used |= {n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)}
        for statement in statements:
            if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)):
                raise ValueError(f"expected `names = Op(...)`, got {ast.unparse(statement)!r}")
            target = statement.targets[0]
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            self.node(statement.value, [ast.unparse(p) for p in parts])
        made = [v for n in self.graph for v in n.outputs]
        wanted = [self.values[o] for o in outputs] or [v for v in made if not v.uses() and v.name]
        self.graph.outputs.extend(wanted)
        model = ir.Model(self.graph, ir_version=IR_VERSION if self.opset > 26 else 10)
        common.ShapeInferencePass(check_type=True, strict_mode=True, data_prop=can_follow(model))(
            model
        )
        for value in wanted:
            value.type = value.type or ir.TensorType(ir.DataType.FLOAT)
        return model

    def node(self, call: ast.Call, outputs: list[str]) -> ir.Value:
        inputs = [self.argument(a) for a in call.args]
        assert isinstance(call.func, ast.Name)
        op_type = call.func.id
        kinds: dict[str, Any] = onnx.defs.get_schema(op_type, self.opset, "").attributes
        attributes = [
            _attribute(k.arg or "", ast.literal_eval(k.value), kinds[k.arg or ""].type.value)
            for k in call.keywords
        ]
        node = ir.Node(
            "", op_type, inputs, attributes, num_outputs=len(outputs), name=f"n_{outputs[0]}"
        )
        for value, name in zip(node.outputs, outputs, strict=True):
            value.name = "" if name == "_" else name
            self.values[name] = value
        self.graph.append(node)
        return node.outputs[0]

    def argument(self, tree: ast.expr) -> ir.Value | None:
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            if tree.func.id in DTYPES:
                dtype = ir.DataType(DTYPES[tree.func.id].onnx)
                return self.constant(ir.tensor(ast.literal_eval(tree.args[0]), dtype=dtype))
            return self.node(tree, [fresh(self.used, "t")])
        if isinstance(tree, ast.Name):
            return self.values.get(tree.id) or self.input(tree.id, "f32[4, 8]")
        literal = ast.literal_eval(tree)
        if literal is None:
            return None
        if isinstance(literal, list):
            return self.constant(ir.tensor(np.array(literal, np.int64)))
        kind = np.bool_ if isinstance(literal, bool) else np.float32
        return self.constant(ir.tensor(np.array(literal, kind)))

    def constant(self, tensor: ir.TensorProtocol, name: str = "") -> ir.Value:
        value = ir.Value(
            name=name or fresh(self.used, "c"),
            shape=sizes(tensor),
            type=ir.TensorType(tensor.dtype),
            const_value=tensor,
        )
        self.graph.register_initializer(value)
        self.values[value.name or ""] = value
        return value

    def input(self, name: str, what: str) -> ir.Value:
        dtype, _, shape = what.partition("[")
        extents = [
            int(d) if d.strip().isdigit() else d.strip()
            for d in shape.rstrip("]").split(",")
            if d.strip()
        ]
        value = ir.Value(
            name=name, shape=ir.Shape(extents), type=ir.TensorType(ir.DataType(DTYPES[dtype].onnx))
        )
        self.graph.inputs.append(value)
        self.values[name] = value
        return value


def _attribute(name: str, literal: Any, kind: int) -> ir.Attr:
    return ir.Attr(name, ir.AttributeType(kind), literal)


def as_text(model: ir.Model) -> str:
    """The main graph as statements, in order; constants of at most 8 elements are written out."""
    return "; ".join(_statement(n) for n in model.graph)


def _statement(node: ir.Node) -> str:
    inputs = [_operand(v) for v in node.inputs]
    attributes = [
        f"{a.name}={_literal(a)}" for a in sorted(node.attributes.values(), key=lambda a: a.name)
    ]
    outputs = ", ".join(v.name or "_" for v in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"{outputs} = {domain}{node.op_type}({', '.join([*inputs, *attributes])})"


def _literal(attribute: ir.Attr) -> str:
    if attribute.type == ir.AttributeType.GRAPH:
        return "{" + "; ".join(_statement(n) for n in attribute.as_graph()) + "}"
    if attribute.type == ir.AttributeType.TENSOR:
        return str(attribute.as_tensor().numpy().tolist())
    if attribute.type == ir.AttributeType.FLOAT:
        return f"{attribute.as_float():.7g}"
    if attribute.type in (ir.AttributeType.INTS, ir.AttributeType.FLOATS):
        return str(list(attribute.value))
    return repr(attribute.value)


def _operand(value: ir.Value | None) -> str:
    if value is None:
        return "None"
    array = constant(value, SHOWN)
    tensor = constant_tensor(value)
    if array is None or tensor is None:
        return value.name or "_"
    if array.ndim == 0 and tensor.dtype == ir.DataType.FLOAT:
        return f"{float(array):.7g}"
    if array.ndim == 0 and tensor.dtype == ir.DataType.BOOL:
        return str(bool(array))
    if array.ndim == 1 and tensor.dtype == ir.DataType.INT64:
        return str(array.tolist())
    row = BY_ONNX.get(int(tensor.dtype))
    short = row.name if row else tensor.dtype.name
    return f"{short}({array.tolist()})"
