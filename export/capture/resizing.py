"""Resize nodes as exporters write them: with operands that have no elements, and with scales where PyTorch counts whole elements.

Before opset 13 scales were required, and none was written as a tensor without elements; files keep that in later opsets.

With align_corners the first and last elements of source and result meet; ONNX's reference takes scale * n, a fraction, for
the length of the result. Such scales become the sizes that they round to, which mean the same to everybody.
"""

from __future__ import annotations

import onnx_ir as ir

from .. import graph as g

PRODUCER = "pytorch"


def drop_empty(model: ir.Model) -> None:
    """Resize(x, roi, scales = [], sizes) => Resize(x, roi, , sizes): what has no elements is not given."""
    for node in list(g.nodes(model)):
        if g.is_op(node, "Resize"):
            for i, operand in list(enumerate(node.inputs))[1:]:
                tensor = g.constant_tensor(operand)
                if tensor is not None and tensor.size == 0:
                    node.replace_input_with(i, None)


def keep_corners(model: ir.Model) -> None:
    """Resize(x, scales, align_corners) => Resize(x, sizes = floor(shape * scales)), in a model that PyTorch wrote."""
    if model.producer_name != PRODUCER:
        return
    used = g.names(model)
    for node in list(g.nodes(model)):
        mode = g.attr(node, "coordinate_transformation_mode", "")
        if g.is_op(node, "Resize") and mode == "align_corners" and len(node.inputs) == 3:
            _state_sizes(node, used)


def _state_sizes(node: ir.Node, used: set[str]) -> None:
    x, scales, graph = node.inputs[0], node.inputs[2], node.graph
    if x is None or scales is None or graph is None or "axes" in node.attributes:
        return

    def put(op_type: str, inputs: list[ir.Value], **attributes: int) -> ir.Value:
        made = ir.node(op_type, inputs, attributes, name=g.fresh(used, f"{node.name}_{op_type}"))
        made.outputs[0].name = g.fresh(used, f"{made.name}_out")
        made.metadata_props.update(node.metadata_props)
        graph.insert_before(node, made)
        return made.outputs[0]

    size = put("Cast", [put("Shape", [x])], to=int(ir.DataType.FLOAT))
    whole = put("Floor", [put("Mul", [size, scales])])
    sizes = put("Cast", [whole], to=int(ir.DataType.INT64))
    node.resize_inputs(4)
    node.replace_input_with(2, None)
    node.replace_input_with(3, sizes)
