"""ZipMap of ai.onnx.ml: a map of class to score for each row, which no program has. The table of scores is what it is made of."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from pteron.schema.errors import ModelError, several

from ... import graph as g
from .foreign import LEARNED


def without_map_types(proto: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """The model without the types that have maps in them, which onnx_ir cannot read; a copy, where there are any.

    Raises:
        ModelError: an input is a map.
    """

    def is_map(value: onnx.ValueInfoProto) -> bool:
        kind = value.type
        while kind.HasField("sequence_type") or kind.HasField("optional_type"):
            kind = getattr(kind, kind.WhichOneof("value")).elem_type
        return bool(kind.HasField("map_type"))

    if not any(map(is_map, (*proto.graph.input, *proto.graph.output, *proto.graph.value_info))):
        return proto
    plain = onnx.ModelProto()
    plain.CopyFrom(proto)
    for value in plain.graph.input:
        if is_map(value):
            raise ModelError(
                f"{where}: input {value.name!r} is a map, which no program has; give the model a table of numbers"
            )
    for value in (*plain.graph.output, *plain.graph.value_info):
        if is_map(value):
            value.ClearField("type")
    return plain


def drop_maps(model: ir.Model) -> list[str]:
    """The scores take the place of every ZipMap, under its result's name; a line for the report about each.

    One whose result another node reads stays, and is refused."""
    told = []
    for node in list(g.nodes(model)):
        if node.domain != LEARNED or node.op_type != "ZipMap" or node.outputs[0].uses():
            continue
        scores, graph = node.inputs[0], node.graph
        assert isinstance(graph, ir.Graph)
        if scores is None:
            continue
        name = node.outputs[0].name
        made = ir.node("Identity", [scores], name=node.name)
        y = made.outputs[0]
        y.name, y.type = name, ir.TensorType(scores.dtype or ir.DataType.FLOAT)
        graph.insert_before(node, made)
        node.outputs[0].name = f"{name}_map"
        node.outputs[0].replace_all_uses_with(y, replace_graph_outputs=True)
        graph.remove(node, safe=True)
        ints, strings = (
            g.attr(node, f"classlabels_{kind}", None) for kind in ("int64s", "strings")
        )
        labels = list(ints or strings or ())
        shown = ", ".join(map(repr, labels[:5])) + (" ..." if len(labels) > 5 else "")
        told.append(
            f"output {name!r} is a table of scores with {several(len(labels), 'column')} ({shown}) where the model has a map a row (ZipMap)"
        )
    return told
