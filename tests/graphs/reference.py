"""ONNX's reference evaluator, with what it has wrong set right (graphs/corrected.py), and with a look into each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.defs
from graphs.corrected import CORRECTED
from onnx.reference import ReferenceEvaluator

Call = Callable[..., tuple[Any, ...]]
See = Callable[[onnx.NodeProto, Call, Sequence[Any]], tuple[Any, ...]]
"""Gets a node, what computes it, and its inputs; returns the outputs."""


class Evaluator(ReferenceEvaluator):
    """With the corrected operators, in subgraphs and functions too."""

    def __init__(self, proto: Any, **given: Any) -> None:
        super().__init__(proto, **{**given, "new_ops": CORRECTED})


def evaluator(model: onnx.ModelProto, see: See | None = None) -> ReferenceEvaluator:
    """Runs `model`; `see` is asked for every node, those of subgraphs too."""
    made = Evaluator(with_defaults(model))
    _watch(made, see or _run, model.opset_import[0].version)
    return made


def _run(node: onnx.NodeProto, call: Call, inputs: Sequence[Any]) -> tuple[Any, ...]:
    return call(*inputs)


def _watch(made: ReferenceEvaluator, see: See, opset: int) -> None:
    for node in made.rt_nodes_:
        proto = node.onnx_node

        def run(*inputs: Any, _proto: Any = proto, _call: Call = node.run, **more: Any) -> Any:
            outputs = see(_proto, lambda *xs: _call(*xs, **more), inputs)
            return _as_defined(_proto, opset, inputs, outputs)

        node.run = run
        for a in proto.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                _watch(getattr(node, a.name), see, opset)
        if getattr(node, "impl_", node) is not node:  # a function of the model
            _watch(node.impl_, see, opset)


def _as_defined(
    node: onnx.NodeProto, opset: int, inputs: Sequence[Any], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Results of the types that the standard says: the reference widens some integers, and some f16."""
    if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=opset):
        return tuple(outputs)
    schema = onnx.defs.get_schema(node.op_type, opset)
    bound = {
        schema.inputs[min(i, len(schema.inputs) - 1)].type_str: x.dtype
        for i, x in enumerate(inputs)
        if isinstance(x, np.ndarray)
    }
    if schema.outputs and not schema.outputs[-1].is_homogeneous:
        return tuple(outputs)  # If, Loop, Scan: each of a type of its own
    out = []
    for i, y in enumerate(outputs):
        wanted = bound.get(schema.outputs[min(i, len(schema.outputs) - 1)].type_str)
        fits = wanted is None or not isinstance(y, (np.ndarray, np.generic)) or y.dtype == wanted
        out.append(y if fits else np.asarray(y).astype(wanted))
    return tuple(out)


def with_defaults(model: onnx.ModelProto) -> onnx.ModelProto:
    """Attributes that are left out, written down as the model's opset says: the evaluator takes those of the newest one.
    And each call of a function with attributes gets a function of its own that has them: the evaluator hands them down to
    some operators only, and a 0 to few."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    _specialize(out)
    for graph in (out.graph, *out.functions):
        _fill(graph, out.opset_import[0].version)
    return out


def _specialize(model: onnx.ModelProto) -> None:
    known = {(f.domain, f.name): f for f in model.functions}
    todo = [model.graph.node]
    while todo:
        for node in todo.pop():
            todo += [a.g.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
            function = known.get((node.domain, node.op_type))
            if function is None or not (function.attribute or function.attribute_proto):
                continue
            own = model.functions.add()
            own.CopyFrom(function)
            own.name = f"{function.name}_{len(model.functions)}"
            del own.attribute[:], own.attribute_proto[:]
            defaults = {a.name: a for a in function.attribute_proto}
            _settle(own.node, {**defaults, **{a.name: a for a in node.attribute}})
            node.op_type = own.name
            del node.attribute[:]
            todo.append(own.node)


def _settle(nodes: Sequence[onnx.NodeProto], given: Mapping[str, onnx.AttributeProto]) -> None:
    """Attributes that refer to the caller's become these; where it gives none, they are left out."""
    for node in nodes:
        settled = []
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH and not a.ref_attr_name:
                _settle(a.g.node, given)
            if a.ref_attr_name and a.ref_attr_name in given:
                named = onnx.AttributeProto()
                named.CopyFrom(given[a.ref_attr_name])
                named.name = a.name
                settled.append(named)
            elif not a.ref_attr_name:
                settled.append(a)
        del node.attribute[:]
        node.attribute.extend(settled)


def _fill(graph: onnx.GraphProto | onnx.FunctionProto, opset: int) -> None:
    for node in graph.node:
        there = {a.name for a in node.attribute}
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                _fill(a.g, opset)
        if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=opset):
            continue
        schema = onnx.defs.get_schema(node.op_type, opset)
        for name, attribute in schema.attributes.items():
            if name not in there and attribute.default_value.type:
                node.attribute.append(attribute.default_value)
