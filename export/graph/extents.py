"""Shapes of a graph's values for given sizes of its inputs: node by node, with the elements of small integers on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, TypeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.shape_inference import infer_node_outputs

from .. import graph as g

FEW: Final = 64
"""Elements of an integer value that are computed: they may decide shapes."""


def shapes_at(model: ir.Model, size: Callable[[str], int | None]) -> dict[ir.Value, list[int]]:
    """Shapes of values of the main graph, where the named dimensions of its inputs have these sizes; without those that onnx does not
    know."""
    walk = _Walk(model)
    for value in model.graph.inputs:
        dims = [d if isinstance(d, int) else size(d or "") for d in g.dims(value) or [None]]
        if all(isinstance(d, int) for d in dims):
            walk.shapes[value] = [int(str(d)) for d in dims]
            walk.types[value] = int(value.dtype or 0)
    for node in model.graph:
        walk.enter(node)
    return walk.shapes


class _Walk:
    def __init__(self, model: ir.Model) -> None:
        self._opsets = [helper.make_opsetid(d, v) for d, v in model.graph.opset_imports.items()]
        self._versions = model.graph.opset_imports
        self.shapes: dict[ir.Value, list[int]] = {}
        self.types: dict[ir.Value, int] = {}
        self._data: dict[ir.Value, g.Array] = {}
        for value in model.graph.initializers.values():
            tensor = g.constant_tensor(value)
            if tensor is not None:
                self.shapes[value] = [int(str(n)) for n in tensor.shape]
                self.types[value] = int(tensor.dtype)
                if tensor.size <= FEW:
                    self._data[value] = tensor.numpy()

    def enter(self, node: ir.Node) -> None:
        """What is known of the node's outputs; nothing where onnx cannot say."""
        given = [v for v in node.inputs if v is not None]
        if node.domain != "" or any(v not in self.types for v in given):
            return
        try:
            self._types(node, given)
            self._elements(node, given)
        except Exception:
            return

    def _types(self, node: ir.Node, given: list[ir.Value]) -> None:
        proto = ir.serde.serialize_node(node)
        told: dict[str, TypeProto] = {}
        for v in given:
            told[str(v.name)] = helper.make_tensor_type_proto(self.types[v], self.shapes.get(v))
        data = {
            str(v.name): numpy_helper.from_array(self._data[v]) for v in given if v in self._data
        }
        schema = onnx.defs.get_schema(node.op_type, self._versions[""], node.domain)
        made = infer_node_outputs(schema, proto, told, data or None, opset_imports=self._opsets)
        for value in node.outputs:
            kind = made[str(value.name)].tensor_type if str(value.name) in made else None
            if kind is None:
                continue
            self.types[value] = kind.elem_type
            dims = kind.shape.dim
            if kind.HasField("shape") and all(d.HasField("dim_value") for d in dims):
                self.shapes[value] = [d.dim_value for d in dims]

    def _elements(self, node: ir.Node, given: list[ir.Value]) -> None:
        y = node.outputs[0]
        if self.types.get(y) not in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL):
            return
        x = node.inputs[0] if node.inputs else None
        if g.is_op(node, "Shape", "Size"):
            shape = self.shapes[x] if x is not None else []
            part = shape[g.attr(node, "start", 0) : g.attr(node, "end")]
            self._data[y] = np.array(part if node.op_type == "Shape" else np.prod(shape), np.int64)
        elif (
            given
            and all(v in self._data for v in given)
            and np.prod(self.shapes.get(y, [0])) <= FEW
        ):
            run: Any = ReferenceEvaluator(ir.serde.serialize_node(node)).run
            self._data[y] = np.asarray(run(None, {str(v.name): self._data[v] for v in given})[0])
        if y in self._data:
            self.shapes[y] = list(self._data[y].shape)
