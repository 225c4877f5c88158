"""A Graph as an .onnx file that stands by itself: no tensor stays in the file that the model was read from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.write import write_whole

WHOLE_BYTES: Final = 1 << 30
"""Larger weights lie in a file of their own beside the model: a protobuf ends at 2 GiB."""


def save_onnx(model: ir.Model, out: Path, whole_bytes: int = WHOLE_BYTES) -> None:
    """Writes `out`, and `out`.data beside it where the weights are larger than `whole_bytes`."""
    _load(model)
    weights = [v.const_value for graph in g.graphs(model) for v in graph.initializers.values()]
    if sum(t.nbytes for t in weights if t is not None) > whole_bytes:
        beside = out.with_name(f"{out.name}.data")
        model = ir.external_data.unload_from_model(model, out.parent, beside.name)
    data = ir.to_proto(model).SerializeToString(deterministic=True)

    def write(part: Path) -> None:
        part.write_bytes(data)

    write_whole(out, write)


def _load(model: ir.Model) -> None:
    """Reads what lies in other files."""
    for graph in g.graphs(model):
        for value in graph.initializers.values():
            if isinstance(value.const_value, ir.ExternalTensor):
                value.const_value = _here(value.const_value)
    for node in g.nodes(model):
        for name, a in list(node.attributes.items()):
            if a.type == ir.AttributeType.TENSOR and isinstance(a.value, ir.ExternalTensor):
                node.attributes[name] = ir.AttrTensor(name, _here(a.value))


def _here(tensor: ir.ExternalTensor) -> ir.TensorProtocol:
    return ir.Tensor(tensor.numpy().copy(), dtype=tensor.dtype, name=tensor.name)
