"""Static int8 in tests: a runner and an evaluator on onnx's ReferenceEvaluator, independent of our runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from pteron.export import graph as g
from pteron.export.graph import int8 as integer
from pteron.quantize.observe.calibrate import Source
from pteron.quantize.quantize import Calibration, transformer
from pteron.quantize.recipe.rules import Recipe
from pteron.quantize.report import QuantReport

Sample = Mapping[str, np.ndarray]


def reference(
    model: ir.Model, wanted: Sequence[str], samples: Iterable[Sample]
) -> Iterator[dict[str, np.ndarray]]:
    """A Runner: every value of the graph, node by node."""
    for sample in samples:
        values = values_of(model, sample)
        yield {name: values[name] for name in wanted}


def values_of(model: ir.Model, feeds: Sample) -> dict[str, np.ndarray]:
    """All values by name; integer nodes by export/graph/int8.py, ONNX nodes by the reference evaluator."""
    values = {str(n): v.const_value.numpy() for n, v in model.graph.initializers.items()}
    values |= {k: np.asarray(v) for k, v in feeds.items()}
    for node in model.graph:
        given = [values[str(v.name)] if v is not None else None for v in node.inputs]
        if node.domain == integer.DOMAIN:
            found = [integer.run(node, *given)]
        else:
            names = [str(v.name) for v in node.inputs if v is not None]
            feed = dict(zip(names, (x for x in given if x is not None), strict=True))
            found = alone(node, feed, model.opset_imports[""]).run(None, feed)
        values |= {str(v.name): x for v, x in zip(node.outputs, found, strict=True)}
    return values


def alone(node: ir.Node, feed: Sample, opset: int) -> ReferenceEvaluator:
    """The evaluator of one node; functions of ONNX ask for types."""
    proto = ir.serde.serialize_node(node)
    if not onnx.defs.get_schema(node.op_type, opset, "").has_context_dependent_function:
        return ReferenceEvaluator(proto)
    kinds = {n: onnx.helper.np_dtype_to_tensor_dtype(x.dtype) for n, x in feed.items()}
    inputs = [onnx.helper.make_tensor_value_info(n, kinds[n], x.shape) for n, x in feed.items()]
    outputs = [onnx.helper.make_tensor_value_info(str(v.name), 1, None) for v in node.outputs]
    graph = onnx.helper.make_graph([proto], "alone", inputs, outputs)
    imports = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(graph, opset_imports=imports)
    return ReferenceEvaluator(onnx.shape_inference.infer_shapes(model))


def run(model: ir.Model, feeds: Sample) -> list[np.ndarray]:
    values = values_of(model, feeds)
    return [values[str(v.name)] for v in model.graph.outputs]


def quantized(model: ir.Model, samples: Source, recipe: str | Recipe = "int8") -> QuantReport:
    """`model` becomes Q/DQ in place, calibrated on the samples."""
    done: list[QuantReport] = []
    transformer(recipe, None, done.append, Calibration(samples, reference, 64))(model)
    return done[0]


def operators(model: ir.Model) -> list[str]:
    """What the graph consists of; ours as `pteron.Conv`."""
    return [("pteron." if n.domain == integer.DOMAIN else "") + n.op_type for n in g.nodes(model)]
