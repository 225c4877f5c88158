"""BatchNormalization after a linear operator goes into its weights."""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from .. import graph as g

BEFORE: Final = ("Conv", "ConvTranspose", "Gemm")
LARGEST: Final = 1 << 28
"""Elements of a weight; every weight is in memory once while it is scaled."""


def fold_batch_norm(model: ir.Model) -> bool:
    """y = BatchNormalization(Conv(x, w, b), gain, shift, mean, var) => y = Conv(x, w * s, (b - mean) * s + shift).

    s = gain / sqrt(var + epsilon), by output channel; f32 + - * / sqrt in NumPy. Also for ConvTranspose and Gemm (alpha = beta =
    1). Requires: inference mode, all parameters constants in f32. Declines: the linear result has other uses, what it would make
    is not finite.
    """
    changed = False
    for node in list(g.nodes(model)):
        if g.is_op(node, "BatchNormalization") and g.attr(node, "training_mode", 0) == 0:
            changed |= _fold(node)
    return changed


def _fold(norm: ir.Node) -> bool:
    value = norm.inputs[0]
    linear = value.producer() if value is not None else None
    if (
        value is None
        or linear is None
        or not g.is_op(linear, *BEFORE)
        or linear.graph is not norm.graph
    ):
        return False
    if len(value.uses()) != 1 or value.is_graph_output() or any(v.uses() for v in norm.outputs[1:]):
        return False
    gain, shift, mean, variance = (g.constant(v) for v in norm.inputs[1:5])
    weight = g.constant(linear.inputs[1], LARGEST)
    bias = (
        g.constant(linear.inputs[2])
        if len(linear.inputs) > 2 and linear.inputs[2] is not None
        else np.float32(0)
    )
    parts = (gain, shift, mean, variance, weight, bias)
    if any(p is None or p.dtype != np.float32 for p in parts):
        return False
    assert gain is not None and shift is not None and mean is not None and variance is not None
    assert weight is not None and bias is not None
    graph = norm.graph
    with np.errstate(all="ignore"):
        scale = gain / np.sqrt(variance + np.float32(g.attr(norm, "epsilon", 1e-5)))
        scaled = _scaled(linear, weight, scale)
        moved = np.broadcast_to((bias - mean) * scale + shift, scale.shape).astype(np.float32)
    if scaled is None or not isinstance(graph, ir.Graph):
        return False
    if not (np.isfinite(scale).all() and np.isfinite(scaled).all() and np.isfinite(moved).all()):
        return False
    inputs = [
        linear.inputs[0],
        g.initializer(graph, scaled, f"{norm.name}_w"),
        g.initializer(graph, moved, f"{norm.name}_b"),
    ]
    new = ir.Node("", linear.op_type, inputs, list(linear.attributes.values()), name=linear.name)
    new.metadata_props.update(linear.metadata_props)  # the layer is known by its weight
    g.replace([linear, norm], [new], norm.outputs[0], new.outputs[0])
    return True


def _scaled(linear: ir.Node, weight: g.Array, scale: g.Array) -> g.Array | None:
    """`weight` with each output channel times its scale; None for a form that is not covered."""
    if linear.op_type == "Conv":
        return np.asarray(weight * scale.reshape(-1, *[1] * (weight.ndim - 1)))
    if (
        linear.op_type == "ConvTranspose"
    ):  # [in, out / groups, ...]: a group's inputs make its outputs
        groups = int(g.attr(linear, "group", 1))
        by_group = weight.reshape(groups, -1, *weight.shape[1:])
        factor = scale.reshape(groups, 1, weight.shape[1], *[1] * (weight.ndim - 2))
        return np.asarray((by_group * factor).reshape(weight.shape))
    if (
        g.attr(linear, "alpha", 1.0) != 1.0
        or g.attr(linear, "beta", 1.0) != 1.0
        or weight.ndim != 2
    ):
        return None
    bias = linear.inputs[2] if len(linear.inputs) > 2 else None
    if bias is not None and g.dims(bias) not in ([], [1], [len(scale)], [1, len(scale)]):
        return None
    return np.asarray(weight * (scale[:, None] if g.attr(linear, "transB", 0) else scale[None, :]))
