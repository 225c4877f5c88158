"""Nodes that do nothing, and nodes and initializers that nobody uses."""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir
import onnx_ir.passes.common as common

from .. import graph as g

TO_THE_END: Final = 2**31 - 1
"""Exporters write such numbers for an end that no size reaches."""


def remove_no_ops(model: ir.Model) -> bool:
    """y = Op(x) where Op hands on x => uses of y become uses of x.

    Op: Identity; Dropout that does not train; Cast to the type x has; Transpose by the identity; Concat, Sum, Max, Min, Mean
    of one value; a Clip without limits; Mul and Div by 1; a Slice of everything. Requires: the type of x for Cast. Declines: y is a graph output and x an input or
    initializer (Identity stays; other no-ops become Identity); the mask of Dropout is used.
    """
    changed = False
    for node in list(g.nodes(model)):
        x = node.inputs[0] if node.inputs else None
        if x is None or not _hands_on(node, x):
            continue
        y = node.outputs[0]
        stays = y.is_graph_output() and (
            x.graph is not node.graph or x.producer() is None or x.is_graph_output()
        )
        if stays and g.is_op(node, "Identity"):
            continue
        x.type, x.shape = x.type or y.type, x.shape or y.shape
        graph = node.graph
        assert graph is not None
        producer = x.producer()
        if producer is not None and g.SOURCE not in producer.metadata_props and g.source(node):
            producer.metadata_props[g.SOURCE] = g.source(node)
        g.take_over(graph, y, x)
        g.remove_idle(graph, [node])
        changed = True
    return changed


def _hands_on(node: ir.Node, x: ir.Value) -> bool:
    if g.is_op(node, "Identity"):
        return True
    if g.is_op(node, "Dropout"):
        trains = node.inputs[2] if len(node.inputs) > 2 else None
        off = trains is None or g.scalar(trains) == 0
        return off and not any(map(g.is_read, node.outputs[1:]))
    if g.is_op(node, "Cast"):
        infinite = x.dtype == ir.DataType.FLOAT8E5M2  # saturates to the largest number
        return x.dtype is not None and g.attr(node, "to") == int(x.dtype) and not infinite
    if g.is_op(node, "Transpose"):
        perm = g.attr(node, "perm")
        return perm is not None and list(perm) == list(range(len(perm)))
    if g.is_op(node, "Concat", "Sum", "Max", "Min", "Mean"):
        return len(node.inputs) == 1
    if g.is_op(node, "Mul", "Div") and (g.rank(node.inputs[1]) or 0) <= (g.rank(x) or 0):
        return g.scalar(node.inputs[1]) == 1
    if g.is_op(node, "Slice"):
        return _takes_all(node)
    if g.is_op(node, "Clip"):
        return all(v is None for v in node.inputs[1:])
    return False


def _takes_all(node: ir.Node) -> bool:
    start, end = g.ints(node.inputs[1]), g.ints(node.inputs[2])
    steps = g.ints(node.inputs[4]) if len(node.inputs) > 4 and node.inputs[4] is not None else [1]
    if start is None or end is None or steps is None:
        return False
    return set(start) == {0} and set(steps) == {1} and min(end) >= TO_THE_END


def remove_zero_bias(model: ir.Model) -> bool:
    """y = Conv(x, w, zeros) => y = Conv(x, w); also of ConvTranspose and Gemm, however the zeros are made.

    Requires: zeros of f32, a constant, or one that Expand or ConstantOfShape repeats. Declines: nothing else.
    """
    changed = False
    for node in g.nodes(model):
        if g.is_op(node, "Conv", "ConvTranspose", "Gemm") and len(node.inputs) > 2:
            bias = node.inputs[2]
            if bias is None or _zeros(bias):
                node.resize_inputs(2)
                changed = True
    return changed


def _zeros(value: ir.Value) -> bool:
    while g.is_op(value.producer(), "Expand"):
        inner = value.producer().inputs[0]  # type: ignore[union-attr]
        if inner is None:
            return False
        value = inner
    node = value.producer()
    if node is not None and g.is_op(node, "ConstantOfShape"):
        held = g.attr(node, "value")
        return held is None or (held.dtype == ir.DataType.FLOAT and not held.numpy().any())
    array = g.constant(value)
    return array is not None and array.dtype == np.float32 and not array.any()


def remove_unused(model: ir.Model) -> bool:
    """Removes nodes whose outputs nobody uses, initializers without use, and optional outputs without use.

    Requires: nothing. Declines: graph inputs and outputs stay as they are.
    """
    return bool(common.RemoveUnusedNodesPass()(model).modified)
