"""Q/DQ clusters become integer nodes: the static int8 arithmetic of export/graph/int8.py, on the CPU and on every delegate.

Declined nodes stay f32 between DequantizeLinear and QuantizeLinear; `metadata_props[WHY]` of such a node says why.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from ...graph import int8 as integer
from ..clean import remove_unused
from . import clusters
from .clusters import Cluster, DeclinedError

WHY: Final = "pteron.f32"
"""Metadata key of a node that reads quantized activations and still computes in f32: the reason."""


def integer_nodes(model: ir.Model) -> bool:
    """Q(Relu(Conv(DQ(x), DQ(w), DQ(b)))) => pteron.integer.Conv(x, w, b, multiplier, shift); so for all of integer.FORMS.

    Relu or Clip before Q becomes low and high, a constant Add after MatMul the bias. Requires: x and the result int8 or int16 (uint8
    and uint16 become these, see `signed_codes`) with one constant scale and zero point; w int8, symmetric, of one scale or one for each output channel.
    Declines, with the reason in WHY: a value inside has other readers, what a builder names. Differs from f32 by rounding: one step.
    """
    changed = signed_codes(model) | quantize_before_moves(model)
    reasons: dict[ir.Node, str] = {}
    used = g.names(model)
    for graph in g.graphs(model):
        for node in list(graph):
            if g.is_op(node, "QuantizeLinear") and node.graph is graph:
                changed |= _rewrite(graph, node, used, reasons)
    if changed:
        model.opset_imports[integer.DOMAIN] = integer.VERSION
        remove_unused(model)
    for node in g.nodes(model):
        node.metadata_props.pop(WHY, None)
        why = reasons.get(node) or _left(node)
        if why is not None:
            node.metadata_props[WHY] = why
    return changed


def _rewrite(graph: ir.Graph, last: ir.Node, used: set[str], reasons: dict[ir.Node, str]) -> bool:
    found = clusters.find(last)
    if found is None:
        return False
    try:
        new = clusters.build(found, clusters.Target(graph, used))
    except DeclinedError as error:
        reasons[found.head] = str(error)
        return False
    for node in new:
        node.metadata_props.update(found.head.metadata_props)
        for value in node.outputs:
            value.name = g.fresh(used, value.name or f"{found.head.name}.i8")
    _name(new, found)
    g.replace(found.nodes, new, last.outputs[0], new[-1].outputs[0])
    return True


def _name(new: list[ir.Node], found: Cluster) -> None:
    """The first node that does more than change a type or scale is known by the name of what it replaces."""
    own = next((node for node in new if node.op_type != "Rescale"), new[0])
    for node in new:
        node.name = str(found.head.name) + ("" if node is own else f".{node.op_type}")


def _left(node: ir.Node) -> str | None:
    """Why a node that no cluster was found for stays f32; None where it reads no quantized activation."""
    if node.domain == integer.DOMAIN or g.is_op(node, "QuantizeLinear", "DequantizeLinear"):
        return None
    if not any(clusters.side(value) for value in node.inputs):
        return None
    if integer.form(node) is None:
        return f"{node.op_type} has no integer form; leave it f32 or replace it"
    return "its result is not quantized, or read by others before it is; quantize it"


def quantize_before_moves(model: ir.Model) -> bool:
    """Q(Move(x)) => Move(Q(x)): the same codes, and what makes x may become an integer node.

    Move: Reshape, Flatten, Squeeze, Unsqueeze, Transpose. Requires: Q of int8 or int16 with one scale. Declines: others read Move's result, its
    shape is not constant, x comes from DequantizeLinear (a cluster already).
    """
    changed, used = False, g.names(model)
    for node in list(g.nodes(model)):
        if not g.is_op(node, "QuantizeLinear") or clusters.grid(node) is None:
            continue
        while (move := _move_before(node)) is not None:
            node = _swap(move, node, used)
            changed = True
    return changed


def _move_before(node: ir.Node) -> ir.Node | None:
    value = node.inputs[0]
    move = None if value is None else value.producer()
    if (
        move is None
        or not g.is_op(move, *integer.KEEPS, "Transpose")
        or move.graph is not node.graph
    ):
        return None
    assert value is not None
    fixed = all(g.constant_tensor(v) is not None for v in move.inputs[1:])
    return move if g.read_once(value) and fixed and clusters.side(move.inputs[0]) is None else None


def _swap(move: ir.Node, quantize: ir.Node, used: set[str]) -> ir.Node:
    """The new Q, in front of `move`, which makes what the old one made, by its name."""
    graph, x, moved, codes = move.graph, move.inputs[0], move.outputs[0], quantize.outputs[0]
    assert graph is not None and x is not None
    kind = g.constant_tensor(quantize.inputs[2]).dtype  # type: ignore[union-attr]
    inner = ir.Value(
        name=g.fresh(used, f"{codes.name}.before"),
        type=ir.TensorType(kind),
        shape=x.shape,
    )
    first = ir.Node(
        "", "QuantizeLinear", [x, *quantize.inputs[1:]], list(quantize.attributes.values()),
        outputs=[inner], name=quantize.name, version=quantize.version,
    )  # fmt: skip
    first.metadata_props.update(quantize.metadata_props)
    graph.insert_before(move, [first])
    move.replace_input_with(0, inner)
    moved.type = ir.TensorType(kind)
    name, codes.name = codes.name, g.fresh(used, f"{codes.name}.after")
    g.take_over(graph, codes, moved)
    graph.remove(quantize, safe=True)
    moved.name = name
    return first


def signed_codes(model: ir.Model) -> bool:
    """Q and DQ of uint8 with zero point z => of int8 with zero point z - 128: the same numbers; so uint16 with z - 2**15.

    Requires: one scale and zero point, constants; every reader of the codes is such a DQ. Declines: codes that are graph outputs or that
    other operators read.
    """
    changed = False
    for node in list(g.nodes(model)):
        if not g.is_op(node, "QuantizeLinear") or not isinstance(node.graph, ir.Graph):
            continue
        codes = node.outputs[0]
        readers = [use.node for use in codes.uses()]
        if codes.is_graph_output() or not all(g.is_op(n, "DequantizeLinear") for n in readers):
            continue
        zeros = [_unsigned_zero(n) for n in (node, *readers)]
        if any(z is None for z in zeros) or len({z.dtype for z in zeros if z is not None}) > 1:
            continue
        for each, zero in zip((node, *readers), zeros, strict=True):
            assert zero is not None
            _set_zero(node.graph, each, zero)
        codes.type = ir.TensorType(ir.DataType.from_numpy(zeros[0].dtype))  # type: ignore[union-attr]
        changed = True
    return changed


def _unsigned_zero(node: ir.Node) -> g.Array | None:
    """Of a Q or DQ of uint8 or uint16 with one scale: the zero point of what takes its place, of its type; None for any other."""
    scale = g.constant_tensor(node.inputs[1])
    if scale is None or scale.size != 1:
        return None
    value = node.inputs[2] if len(node.inputs) > 2 else None
    if value is None:
        unsigned = g.attr(node, "output_dtype", 0) in (0, int(ir.DataType.UINT8))
        is_codes = node.op_type == "QuantizeLinear" or node.inputs[0].dtype == ir.DataType.UINT8  # type: ignore[union-attr]
        return np.array(-128, np.int8) if unsigned and is_codes else None
    tensor = g.constant_tensor(value)
    if tensor is None or tensor.size != 1:
        return None
    if tensor.dtype not in (ir.DataType.UINT8, ir.DataType.UINT16):
        return None
    bits = 8 if tensor.dtype == ir.DataType.UINT8 else 16
    zero = int(tensor.numpy().reshape(())) - (1 << (bits - 1))
    return np.array(zero, integer.TYPES[bits].numpy())


def _set_zero(graph: ir.Graph, node: ir.Node, zero: g.Array) -> None:
    """Takes the place of the zero point in a new list of inputs."""
    value = g.initializer(graph, zero, f"{node.name}.zero")
    if len(node.inputs) < 3:
        node.resize_inputs(3)
    node.replace_input_with(2, value)
    node.attributes.pop("output_dtype", None)
