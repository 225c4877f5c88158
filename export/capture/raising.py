"""Raising a model to opset 28 with its metadata kept.

Below 18 onnx's converter runs on the graph with its larger initializers held back; it drops the metadata of every node,
which is put back by node name, else by output name. From 18 to 28 only three operators need a change (found by comparing
all schemas): DFT, GridSample and GroupNormalization; all others mean the same at 28 as written. A node that has no
conversion keeps `node.version`, and lowering reads it by that opset.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx
import onnx.version_converter
import onnx_ir as ir

from pteron.export import graph as g

HELD_BYTES: Final = 1024
"""Larger initializers stay out of the protobuf that the converter copies."""
STABLE: Final = 18


def raise_opset(model: ir.Model) -> ir.Model:
    """The model at opset 28: the same object, or a new one where onnx's converter ran. Node names are unique."""
    start = model.graph.opset_imports[""]
    model.ir_version = max(model.ir_version or 0, 10)
    if start < STABLE:
        model = _convert(model, STABLE)
    if start < 7:
        _slopes_by_channel(model)
    for node in list(g.nodes(model)):
        if node.domain == "" and node.version is None:
            _adapt(node, max(start, STABLE) if model.graph.opset_imports[""] >= STABLE else start)
    model.graph.opset_imports[""] = g.OPSET
    model.ir_version = g.IR_VERSION
    return model


def lift(model: ir.Model, target: int) -> ir.Model:
    """The model at opset `target` or above: for writing `.onnx` at the lowest opset that has the types it needs."""
    return model if model.graph.opset_imports[""] >= target else _convert(model, target)


def _convert(model: ir.Model, target: int) -> ir.Model:
    """onnx's converter; where it refuses the whole model, nodes are marked with the opset they are written in."""
    try:
        raised = ir.from_proto(
            onnx.version_converter.convert_version(_without_weights(model), target)
        )
    except Exception:
        for node in g.nodes(model):
            if node.domain == "":
                node.version = model.graph.opset_imports[""]
        return model
    weights = model.graph.initializers
    kept = [v for v in raised.graph.inputs if v.name not in weights]
    for value in list(raised.graph.inputs):
        if value.name in weights:
            value.const_value = weights[value.name or ""].const_value
    held = [v for v in raised.graph.inputs if v.name in weights]
    raised.graph.inputs.clear()
    raised.graph.inputs.extend(kept)
    for value in held:
        raised.graph.initializers.add(value)
    _restore_metadata(model, raised)
    return raised


def _without_weights(model: ir.Model) -> onnx.ModelProto:
    """The model with large initializers as plain inputs; the model itself is unchanged."""
    inputs = list(model.graph.inputs)
    initializers = dict(model.graph.initializers)
    tensors = {n: v.const_value for n, v in initializers.items()}
    try:
        for name, value in initializers.items():
            tensor = value.const_value
            if tensor is not None:
                value.shape = value.shape or g.sizes(tensor)
                value.type = value.type or ir.TensorType(tensor.dtype)
            model.graph.inputs.append(value)
            if tensor is None or tensor.nbytes > HELD_BYTES:
                value.const_value = None
                del model.graph.initializers[name]
        return ir.to_proto(model)
    finally:
        model.graph.inputs.clear()
        model.graph.inputs.extend(inputs)
        for name, value in initializers.items():
            value.const_value = tensors[name]
            if name not in model.graph.initializers:
                model.graph.initializers.add(value)


def _restore_metadata(old: ir.Model, new: ir.Model) -> None:
    by_name = {n.name: n for n in g.nodes(old)}
    by_output = {v.name: n for n in g.nodes(old) for v in n.outputs}
    used = {n.name for n in g.nodes(new) if n.name}
    for node in g.nodes(new):
        origin = by_name.get(node.name) or next(
            (by_output[v.name] for v in node.outputs if v.name in by_output), None
        )
        if origin is not None:
            node.metadata_props.update(origin.metadata_props)
        node.name = node.name or g.fresh(used, f"{origin.name if origin else node.op_type}_raised")
    for node in reversed(
        list(g.nodes(new))
    ):  # what the converter put in takes the source of its consumer
        for value in node.outputs:
            for user, _ in value.uses():
                if not node.metadata_props and g.SOURCE in user.metadata_props:
                    node.metadata_props.update(user.metadata_props)
    new.metadata_props.update(old.metadata_props)
    new.graph.metadata_props.update(old.graph.metadata_props)
    new.functions.update(old.functions)


def _adapt(node: ir.Node, version: int) -> None:
    if node.op_type == "GridSample" and version < 20:
        modes = {"bilinear": "linear", "bicubic": "cubic"}
        mode = g.attr(node, "mode", "bilinear")
        node.attributes["mode"] = ir.AttrString("mode", modes.get(mode, mode))
    elif node.op_type == "DFT" and version < 20:
        _dft_axis_as_input(node)
    elif (
        node.op_type == "GroupNormalization" and version < 21 and not _group_norm_per_channel(node)
    ):
        node.version = version


def _slopes_by_channel(model: ir.Model) -> None:
    """Opset 6: PRelu's slope [c] belongs to axis 1; from 7 on it broadcasts like any operand. onnx's converter leaves it."""
    g.infer(model)
    for node in g.nodes(model):
        slope = g.constant(node.inputs[1]) if g.is_op(node, "PRelu") else None
        rank = g.rank(node.inputs[0]) if slope is not None else None
        if (
            slope is not None
            and slope.ndim == 1
            and slope.size > 1
            and rank is not None
            and rank > 2
        ):
            assert isinstance(node.graph, ir.Graph)
            shaped = slope.reshape(-1, *[1] * (rank - 2))
            node.replace_input_with(1, g.initializer(node.graph, shaped, f"{node.name}_slope"))


def _dft_axis_as_input(node: ir.Node) -> None:
    """Opset 17: attribute axis, counted with the batch axis first; opset 20: input 2, default -2."""
    axis = np.array(g.attr(node, "axis", 1), np.int64)
    assert node.graph is not None and isinstance(node.graph, ir.Graph)
    node.attributes.pop("axis", None)
    node.resize_inputs(3)
    node.replace_input_with(2, g.initializer(node.graph, axis, f"{node.name}_axis"))


def _group_norm_per_channel(node: ir.Node) -> bool:
    """Opset 18: scale and bias per group; opset 21: per channel. Repeats constants; False where that is not possible."""
    channels = g.dims(node.inputs[0])
    groups = int(g.attr(node, "num_groups"))
    parts = [g.constant(v, 1 << 20) for v in node.inputs[1:3]]
    if (
        channels is None
        or len(channels) < 2
        or not isinstance(channels[1], int)
        or any(p is None for p in parts)
    ):
        return False
    assert node.graph is not None and isinstance(node.graph, ir.Graph)
    for i, part in enumerate(parts, start=1):
        if part is not None and part.size == groups:
            repeated = np.repeat(part, channels[1] // groups)
            node.replace_input_with(i, g.initializer(node.graph, repeated, f"{node.name}_{i}"))
    return True
