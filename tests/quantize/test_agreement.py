"""The planner of static int8 (quantize/recipe/units.py) and the pass that builds integer nodes (export/passes/int8) take the same nodes.

What the planner rounds and the pass declines would run in f32 between Q and DQ, slower and less exact than before; what it
leaves and the pass would take stays f32 for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from passes.static import quantized

from pteron.export import graph as g
from pteron.export.capture import capture
from pteron.export.graph import int8 as integer
from pteron.export.passes import run_passes
from pteron.export.passes.int8 import WHY, integer_nodes
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.recipe.units import units

RNG = np.random.default_rng(3)

POOLS: dict[str, Any] = {
    "plain": {"kernel_shape": [2, 2]},
    "strides": {"kernel_shape": [2, 2], "strides": [2, 2]},
    "pads": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
    "ceil": {"kernel_shape": [2, 2], "strides": [4, 4], "ceil_mode": 1},
    "upper": {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"},
    "lower": {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_LOWER"},
    "valid": {"kernel_shape": [2, 2], "auto_pad": "VALID"},
    "dilations": {"kernel_shape": [2, 2], "dilations": [2, 2]},
}
NODES: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    **{f"average_{k}": ("AveragePool", v, []) for k, v in POOLS.items()},
    **{f"max_{k}": ("MaxPool", v, []) for k, v in POOLS.items()},
    "mean_whole": ("GlobalAveragePool", {}, []),
    "mean_axes": ("ReduceMean", {}, [np.array([2, 3])]),
    "mean_flat": ("ReduceMean", {"keepdims": 0}, [np.array([-1, -2])]),
    "mean_channels": ("ReduceMean", {}, [np.array([1])]),
    "relu": ("Relu", {}, []),
    "clip": ("Clip", {}, [np.float32(-1), np.float32(2)]),
    "clip_low": ("Clip", {}, [np.float32(0)]),
    "clip_computed": ("Clip", {}, ["low"]),
    "twice": ("Add", {}, ["c"]),
    "add_constant": ("Add", {}, [RNG.random((1, 4, 1, 1)).astype(np.float32)]),
    "conv": ("Conv", {}, [RNG.random((4, 4, 3, 3)).astype(np.float32)]),
    "conv_same": (
        "Conv",
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        [RNG.random((4, 4, 3, 3)).astype(np.float32)],
    ),
    "conv_group": ("Conv", {"group": 4}, [RNG.random((4, 1, 3, 3)).astype(np.float32)]),
    "conv_one_bias": (
        "Conv",
        {},
        [RNG.random((4, 4, 1, 1)).astype(np.float32), RNG.random(4).astype(np.float32)],
    ),
    "product": ("MatMul", {}, [RNG.random((6, 5)).astype(np.float32)]),
    "product_stack": ("MatMul", {}, [RNG.random((4, 6, 5)).astype(np.float32)]),
    "transpose": ("Transpose", {"perm": [0, 2, 3, 1]}, []),
    "flatten": ("Flatten", {}, []),
    "reshape": ("Reshape", {}, [np.array([1, 4, -1])]),
    "reshape_computed": ("Reshape", {}, ["shape"]),
}


def model_of(op: str, attributes: dict[str, Any], more: list[Any], spatial: list[Any]) -> ir.Model:
    """x -> Conv -> the node -> y, in f32 at opset 20."""
    fixed = [
        numpy_helper.from_array(RNG.standard_normal((4, 4, 1, 1)).astype(np.float32), "w"),
        numpy_helper.from_array(np.zeros((), np.int64), "zero"),
    ]
    names = ["c"]
    for i, each in enumerate(more):
        names.append(each if isinstance(each, str) else f"k{i}")
        if not isinstance(each, str):
            fixed.append(numpy_helper.from_array(np.asarray(each), f"k{i}"))
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="first"),
        helper.make_node("ReduceMin", ["x"], ["low"], name="low", keepdims=0),
        helper.make_node("Shape", ["x"], ["shape"], name="shape"),
        helper.make_node(op, names, ["y"], name="node", **attributes),
    ]
    nodes = [n for n in nodes if n.name in ("first", "node", *names)]
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, *spatial]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], fixed)
    opset = helper.make_opsetid("", 20)
    return run_passes(capture(helper.make_model(graph, opset_imports=[opset], ir_version=9)))


def wrap(model: ir.Model) -> None:
    """Q and DQ on every activation, weights as codes: what another tool may write."""
    graph = model.graph
    for node in list(graph):
        for slot, value in enumerate(node.inputs):
            constant = g.constant_tensor(value)
            if value is None or value.dtype != ir.DataType.FLOAT:
                continue
            if constant is not None:
                is_weight = integer.form(node) in (integer.Form.CONVOLUTION, integer.Form.PRODUCT)
                if is_weight and slot == 1:
                    codes = np.clip(np.rint(constant.numpy() * 100), -127, 127).astype(np.int8)
                    new = _dequantized(
                        graph, node, g.initializer(graph, codes, f"{node.name}.w"), 0.01, 0
                    )
                    node.replace_input_with(slot, new)
                continue
            node.replace_input_with(slot, _through(graph, node, value))
    for i, value in enumerate(list(graph.outputs)):
        last = ir.node("Identity", [value], name="last")
        graph.append(last)
        last.replace_input_with(0, _through(graph, last, value))
        graph.outputs[i] = last.outputs[0]


def _through(graph: ir.Graph, reader: ir.Node, value: ir.Value) -> ir.Value:
    scale, zero = (
        g.initializer(graph, a, "g") for a in (np.array(0.05, np.float32), np.array(3, np.int8))
    )
    q = ir.node("QuantizeLinear", [value, scale, zero])
    graph.insert_before(reader, [q])
    q.outputs[0].type, q.outputs[0].shape = ir.TensorType(ir.DataType.INT8), value.shape
    return _dequantized(graph, reader, q.outputs[0], 0.05, 3)


def _dequantized(
    graph: ir.Graph, reader: ir.Node, codes: ir.Value, scale: float, zero: int
) -> ir.Value:
    grid = (
        g.initializer(graph, a, "g") for a in (np.array(scale, np.float32), np.array(zero, np.int8))
    )
    made = ir.node("DequantizeLinear", [codes, *grid])
    graph.insert_before(reader, [made])
    made.outputs[0].type, made.outputs[0].shape = ir.TensorType(ir.DataType.FLOAT), codes.shape
    return made.outputs[0]


def why_not(model: ir.Model) -> str:
    """Why `node` computes in f32 behind the integer pass; "" where it is of integers."""
    integer_nodes(model)
    for node in g.nodes(model):
        of_codes = node.domain == integer.DOMAIN or node.outputs[0].dtype == ir.DataType.INT8
        if node.name == "node" and not of_codes:
            return node.metadata_props.get(WHY, "it reads no codes")
    return ""  # or the node before has taken it in


def cases() -> Iterator[Any]:
    for name in NODES:
        yield pytest.param(name, [6, 6], id=name)
        if name != "product":  # whose weight has six rows
            yield pytest.param(name, ["h", "h"], id=f"{name}_of_any_size")


@pytest.mark.parametrize("name, spatial", cases())
def test_what_is_planned_is_built_and_what_can_be_built_is_planned(
    name: str, spatial: list[Any]
) -> None:
    op, attributes, more = NODES[name]
    planned = units(model_of(op, attributes, more, spatial), recipe("int8"))[0]
    is_planned = "node" in {n for u in planned for n in (u.head.name, u.tail.name)}

    rounded = model_of(op, attributes, more, spatial)
    quantized(rounded, [{"x": RNG.random((1, 4, 6, 6)).astype(np.float32)}])
    why = why_not(rounded)
    assert is_planned == (why == ""), why or "nobody planned it"

    wrapped = model_of(op, attributes, more, spatial)
    wrap(wrapped)
    why = why_not(wrapped)
    assert is_planned == (why == ""), why or "the pass takes it, the planner does not"
