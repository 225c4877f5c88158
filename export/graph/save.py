"""A Graph as an .onnx file that stands by itself: no tensor stays in the file that the model was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.file.write import parts, write_whole
from pteron.export.graph.weights import LARGE, of_tensor
from pteron.export.graph.wire import Weight, with_weights

WHOLE_BYTES: Final = 1 << 30
"""Larger weights lie in a file of their own beside the model: a protobuf ends at 2 GiB."""


def save_onnx(model: ir.Model, out: Path, whole_bytes: int = WHOLE_BYTES) -> None:
    """Writes `out`, and `out`.data beside it where the weights are larger than `whole_bytes`."""
    weights = [v.const_value for graph in g.graphs(model) for v in graph.initializers.values()]
    if sum(t.nbytes for t in weights if t is not None) > whole_bytes:
        _save_two(model, out)
        return
    later = _held_back(model)
    _load(model)
    data = _without(model, later).SerializeToString(deterministic=True)
    pieces = {key: _weight(t) for key, t in later.items()}
    write_whole(out, lambda part: _write(part, with_weights(data, pieces)))


def _save_two(model: ir.Model, out: Path) -> None:
    _load(model)
    beside = out.with_name(f"{out.name}.data")
    with parts(beside, out) as (data, main):
        # The tensors name the part; the file shall name what it becomes.
        model = ir.external_data.unload_from_model(model, data.parent, data.name)
        made = ir.to_proto(model)
        for tensor in _external(made):
            for entry in tensor.external_data:
                if entry.key == "location":
                    entry.value = beside.name
        _write(main, [made.SerializeToString(deterministic=True)])


def _external(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        yield from graph.initializer
        attributes = [a for node in graph.node for a in node.attribute]
        graphs += [each for a in attributes for each in ([a.g] if a.HasField("g") else a.graphs)]
        yield from (a.t for a in attributes if a.HasField("t"))


def _write(part: Path, pieces: Iterable[bytes | memoryview]) -> None:
    with part.open("wb") as file:
        for piece in pieces:
            file.write(piece)


def _held_back(model: ir.Model) -> dict[bytes, ir.TensorProtocol]:
    """Large initializers of the main graph: what stands for one in the protobuf => the tensor, which is taken away."""
    found: dict[bytes, ir.TensorProtocol] = {}
    for value in model.graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and tensor.nbytes >= LARGE and tensor.dtype != ir.DataType.STRING:
            key = f"pteron:{len(found):08}".encode()
            found[key] = tensor
            held = ir.tensor(np.frombuffer(key, np.uint8), name=tensor.name)
            held.doc_string = tensor.doc_string
            value.const_value = held
    return found


def _without(model: ir.Model, held: dict[bytes, ir.TensorProtocol]) -> onnx.ModelProto:
    """The protobuf with the types and shapes that the tensors have, which the model gets back."""
    made = ir.to_proto(model)
    for each in made.graph.initializer:
        tensor = held.get(each.raw_data)
        if tensor is not None:
            each.dims[:] = [int(str(n)) for n in tensor.shape]
            each.data_type = int(tensor.dtype)
            model.graph.initializers[each.name].const_value = tensor
    return made


def _weight(tensor: ir.TensorProtocol) -> Weight:
    source = of_tensor(tensor)

    def parts() -> Iterator[bytes | memoryview]:
        if source is None:
            yield tensor.tobytes()
            return
        for band in source.bands():
            little = band.astype(band.dtype.newbyteorder("<"), copy=False)
            yield np.ascontiguousarray(little).reshape(-1).view(np.uint8).data

    return Weight(tensor.nbytes, parts)


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
