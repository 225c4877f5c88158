"""Logits of a run's last token alone: the others are not computed."""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .probe import Probe

NAMES: Final = (
    "Add Sub Mul Div Tanh Cast Gelu Swish Sigmoid Relu Exp Sqrt Reciprocal Neg Identity Pow Erf MatMul Gemm RMSNormalization "
    "LayerNormalization DequantizeLinear"
)
EACH_ALONE: Final = frozenset(NAMES.split())
"""Operators in which the rows of input 0 meet only constants, where all other inputs are constants."""


def name_rows(model: ir.Model, probe: Probe, new: str) -> None:
    """Says of outputs, and of what they are made of row by row, that axis 1 is a run's tokens, where that is so: inference knows
    it as a size of no name."""
    for output in model.graph.outputs:
        value: ir.Value | None = output
        while value is not None and _has_rows(value, probe):
            value.shape = ir.Shape([new if i == 1 else d for i, d in enumerate(value.shape or ())])
            node = value.producer()
            value = _data(node) if node is not None and _alone(node) else None


def _has_rows(value: ir.Value, probe: Probe) -> bool:
    """One for each token of a run; extents are sums over numbers of tokens, so that three runs say which."""
    if value.shape is None or len(value.shape) < 3:
        return False
    found = [(probe.extents(value, *run), run[1]) for run in ((97, 101), (103, 101), (97, 107))]
    return all(extents is not None and extents[1] == n for extents, n in found)


def last_token(model: ir.Model, new: str) -> None:
    """output [1, tokens, ..] => [1, 1, ..], its last token, cut out as early as what follows takes rows one by one."""
    graph = model.graph
    for output in list(graph.outputs):
        dims = g.dims(output)
        if dims is None or len(dims) < 3 or dims[1] != new:
            continue
        value = output
        path: list[ir.Node] = []
        while (node := value.producer()) is not None and _alone(node):
            source = _data(node)
            if source is None or (g.dims(source) or [None, None])[:2] != dims[:2]:
                break
            path.append(node)
            value = source
        ends = [
            g.initializer(graph, np.array([n]), "last") for n in (-1, np.iinfo(np.int64).max, 1)
        ]
        cut = ir.node("Slice", [value, *ends])
        cut.outputs[0].type = value.type
        after = value.producer()
        if not path:
            node = output.producer()
            assert node is not None
            g.carry([cut], [node])
            name, value.name = value.name, f"{value.name}_all"
            graph.insert_after(node, cut)
            cut.outputs[0].name = name
            graph.outputs[graph.outputs.index(output)] = cut.outputs[0]
            cut.outputs[0].shape = ir.Shape([dims[0], 1, *dims[2:]])
            continue
        g.carry([cut], [path[-1]])
        graph.insert_before(path[-1], cut)
        assert after is None or after.graph is graph
        path[-1].replace_input_with(list(path[-1].inputs).index(value), cut.outputs[0])
        for node in path:
            for made in node.outputs:
                made.shape = None
        output.shape = ir.Shape([dims[0], 1, *dims[2:]])


def _alone(node: ir.Node) -> bool:
    """Whether the node takes rows one by one, and nobody else reads what it makes."""
    reads = len(node.outputs[0].uses()) + node.outputs[0].is_graph_output()
    return (
        node.domain == "" and node.op_type in EACH_ALONE and reads == 1 and len(node.outputs) == 1
    )


def _data(node: ir.Node) -> ir.Value | None:
    """The one input that is no constant, where the operator takes its rows; None where several are none."""
    open_inputs = [
        (i, v) for i, v in enumerate(node.inputs) if v is not None and g.constant_tensor(v) is None
    ]
    if len(open_inputs) != 1:
        return None
    index, value = open_inputs[0]
    commutes = g.is_op(node, "Add", "Mul", "Sub", "Div")
    return value if index == 0 or commutes else None
