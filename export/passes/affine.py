"""What follows a linear operator with a number for each of its channels goes into its weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import onnx_ir as ir

from .. import graph as g
from ..graph.weights import LARGE, Source, elements_of, read

BEFORE: Final = ("Conv", "ConvTranspose", "Gemm")
LARGEST: Final = 1 << 28
"""Elements of a weight, which is in memory while it is scaled: where it lies in a file, whenever it is read."""


def fold_batch_norm(model: ir.Model) -> bool:
    """y = BatchNormalization(Conv(x, w, b), gain, shift, mean, var) => y = Conv(x, w * s, (b - mean) * s + shift).

    s = gain / sqrt(var + epsilon), by output channel; f32 + - * / sqrt in NumPy. Also for ConvTranspose and Gemm (alpha = beta =
    1). Requires: inference mode, all parameters constants in f32. Declines: the linear result has other uses, what it would make
    is not finite.
    """
    changed = False
    for node in list(g.nodes(model)):
        if g.is_op(node, "BatchNormalization") and g.attr(node, "training_mode", 0) == 0:
            changed |= _fold_norm(node)
    return changed


def fold_factor(model: ir.Model) -> bool:
    """y = Mul(Conv(x, w, b), s) => y = Conv(x, w * s, b * s).

    s: a constant, one number or one for each output channel. Also for ConvTranspose and Gemm; requires and declines as above.
    """
    changed = False
    for node in list(g.nodes(model)):
        if g.is_op(node, "Mul"):
            changed |= any(_fold_factor(node, *pair) for pair in (node.inputs, node.inputs[::-1]))
    return changed


def _fold_norm(norm: ir.Node) -> bool:
    linear = _linear_before(norm, norm.inputs[0])
    if linear is None or any(v.uses() for v in norm.outputs[1:]):
        return False
    gain, shift, mean, variance = (g.constant(v) for v in norm.inputs[1:5])
    if any(p is None or p.dtype != np.float32 for p in (gain, shift, mean, variance)):
        return False
    assert gain is not None and shift is not None and mean is not None and variance is not None
    with np.errstate(all="ignore"):
        scale = gain / np.sqrt(variance + np.float32(g.attr(norm, "epsilon", 1e-5)))
        return _fold(norm, linear, scale, mean, shift)


def _fold_factor(mul: ir.Node, value: ir.Value | None, factor: ir.Value | None) -> bool:
    linear, by = _linear_before(mul, value), g.constant(factor)
    weight = None if linear is None else g.constant_tensor(linear.inputs[1])
    if linear is None or weight is None or by is None or by.dtype != np.float32:
        return False
    rank, channels = len(weight.shape), _channels(linear, weight)
    each = [1, channels, *[1] * (rank - 2)]
    if by.ndim > rank or (by.size != 1 and [1] * (rank - by.ndim) + list(by.shape) != each):
        return False
    with np.errstate(all="ignore"):
        scale = np.broadcast_to(by.reshape(-1), (channels,))
        return _fold(mul, linear, scale, np.float32(0), None)


def _channels(linear: ir.Node, weight: ir.TensorProtocol) -> int:
    """Of the result."""
    shape = weight.shape.numpy()
    if linear.op_type == "ConvTranspose":
        return shape[1] * int(g.attr(linear, "group", 1))
    return shape[1 if linear.op_type == "Gemm" and not g.attr(linear, "transB", 0) else 0]


def _linear_before(node: ir.Node, value: ir.Value | None) -> ir.Node | None:
    """What makes `value`, for `node` alone, if it is linear."""
    linear = None if value is None else value.producer()
    if value is None or linear is None or not g.is_op(linear, *BEFORE):
        return None
    return linear if g.read_once(value) and linear.graph is node.graph else None


def _fold(
    node: ir.Node,
    linear: ir.Node,
    scale: g.Array,
    mean: g.Array | np.float32,
    shift: g.Array | None,
) -> bool:
    """`node`, which makes (y - mean) * scale + shift of what `linear` makes; without a shift and a bias there is none after."""
    graph, tensor = node.graph, g.constant_tensor(linear.inputs[1])
    with_bias = len(linear.inputs) > 2 and linear.inputs[2] is not None
    bias = g.constant(linear.inputs[2]) if with_bias else np.float32(0)
    if tensor is None or tensor.size > LARGEST or tensor.dtype != ir.DataType.FLOAT:
        return False
    if bias is None or bias.dtype != np.float32 or not isinstance(graph, ir.Graph):
        return False
    by = _by(linear, tensor, scale)
    moved = (bias - mean) * scale
    moved = np.broadcast_to(moved if shift is None else moved + shift, scale.shape)
    scaled = None if by is None else by()
    if by is None or scaled is None:
        return False
    if not (np.isfinite(scale).all() and np.isfinite(scaled).all() and np.isfinite(moved).all()):
        return False
    held: g.Array | ir.TensorProtocol = scaled
    if isinstance(elements_of(tensor), Source) and tensor.nbytes >= LARGE:
        held = ir.LazyTensor(
            lambda: ir.tensor(by()), dtype=ir.DataType.FLOAT, shape=g.sizes(tensor)
        )
    inputs = [linear.inputs[0], g.initializer(graph, held, f"{node.name}_w")]
    if with_bias or shift is not None:
        inputs.append(g.initializer(graph, np.asarray(moved, np.float32), f"{node.name}_b"))
    new = ir.Node("", linear.op_type, inputs, list(linear.attributes.values()), name=linear.name)
    new.metadata_props.update(linear.metadata_props)  # the layer is known by its weight
    g.replace([linear, node], [new], node.outputs[0], new.outputs[0])
    return True


def _by(linear: ir.Node, tensor: ir.TensorProtocol, scale: g.Array) -> Callable[[], g.Array] | None:
    """Makes the weight with each output channel times its scale; None for a form that is not covered."""
    shape = g.sizes(tensor).numpy()
    if linear.op_type == "Conv":
        return lambda: np.asarray(read(tensor) * scale.reshape(-1, *[1] * (len(shape) - 1)))
    if (
        linear.op_type == "ConvTranspose"
    ):  # [in, out / groups, ...]: a group's inputs make its outputs
        groups = int(g.attr(linear, "group", 1))
        factor = scale.reshape(groups, 1, shape[1], *[1] * (len(shape) - 2))
        by_group = groups, -1, *shape[1:]
        return lambda: np.asarray((read(tensor).reshape(by_group) * factor).reshape(shape))
    plain = g.attr(linear, "alpha", 1.0) == 1.0 and g.attr(linear, "beta", 1.0) == 1.0
    if not plain or len(shape) != 2:
        return None
    bias = linear.inputs[2] if len(linear.inputs) > 2 else None
    if bias is not None and g.dims(bias) not in ([], [1], [len(scale)], [1, len(scale)]):
        return None
    wide = scale[:, None] if g.attr(linear, "transB", 0) else scale[None, :]
    return lambda: np.asarray(read(tensor) * wide)
