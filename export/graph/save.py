"""A Graph as an .onnx file that stands by itself: no tensor stays in the file that the model was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import onnx
import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g
from ..write import parts, write_whole
from .weights import LARGE, of_tensor
from .wire import Weight, with_weights

WHOLE_BYTES: Final = 1 << 30
"""Larger weights lie in a file of their own beside the model: a protobuf ends at 2 GiB."""
BESIDE_BYTES: Final = 1024
"""Of weights that go there; offsets are multiples of PAGE, so that they can be mapped."""
PAGE: Final = 4096


def save_onnx(model: ir.Model, out: Path, whole_bytes: int = WHOLE_BYTES) -> None:
    """Writes `out`, and `out`.data beside it where the weights are larger than `whole_bytes`.

    Large weights are read, a band of rows at a time, when they are written.
    """
    weights = [v.const_value for graph in g.graphs(model) for v in graph.initializers.values()]
    if sum(t.nbytes for t in weights if t is not None) > whole_bytes:
        _save_two(model, out)
        return
    later = _held_back([model.graph], LARGE)
    _load(model)
    data = _without(model, later).SerializeToString(deterministic=True)
    pieces = {key: _weight(t) for key, (_, t) in later.items()}
    write_whole(out, lambda part: _write(part, with_weights(data, pieces)))


def _save_two(model: ir.Model, out: Path) -> None:
    later = _held_back(g.graphs(model), BESIDE_BYTES)
    _load(model)
    made = _without(model, later)
    beside = out.with_name(f"{out.name}.data")
    with parts(beside, out) as (data, main):
        with data.open("wb") as file:
            for each in _tensors(made):
                if each.raw_data in later:
                    _move(each, _weight(later[each.raw_data][1]), file, beside.name)
        _write(main, [made.SerializeToString(deterministic=True)])


def _move(tensor: onnx.TensorProto, weight: Weight, file: BinaryIO, name: str) -> None:
    """The elements of `tensor` go to `file`, which is to be `name`."""
    offset = -(-file.tell() // PAGE) * PAGE
    file.write(bytes(offset - file.tell()))
    for part in weight.parts():
        file.write(part)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", name), ("offset", offset), ("length", weight.size)):
        tensor.external_data.add(key=key, value=str(value))


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        yield from graph.initializer
        attributes = [a for node in graph.node for a in node.attribute]
        graphs += [each for a in attributes for each in ([a.g] if a.HasField("g") else a.graphs)]


def _write(part: Path, pieces: Iterable[bytes | memoryview]) -> None:
    with part.open("wb") as file:
        for piece in pieces:
            file.write(piece)


Held = dict[bytes, tuple[ir.Value, ir.TensorProtocol]]
"""What stands for a weight in the protobuf => its value and the weight."""


def _held_back(graphs: Iterable[ir.Graph], least: int) -> Held:
    """Initializers of at least so many bytes, which are taken away."""
    found: Held = {}
    for value in (v for graph in graphs for v in graph.initializers.values()):
        tensor = value.const_value
        if tensor is not None and tensor.nbytes >= least and tensor.dtype != ir.DataType.STRING:
            key = f"pteron:{len(found):08}".encode()
            found[key] = value, tensor
            held = ir.tensor(np.frombuffer(key, np.uint8), name=tensor.name)
            held.doc_string = tensor.doc_string
            value.const_value = held
    return found


def _without(model: ir.Model, held: Held) -> onnx.ModelProto:
    """The protobuf with the types and shapes that the weights have, which the model gets back."""
    made = ir.to_proto(model)
    for each in _tensors(made):
        if each.raw_data in held:
            value, tensor = held[each.raw_data]
            each.dims[:] = [int(str(n)) for n in tensor.shape]
            each.data_type = int(tensor.dtype)
            value.const_value = tensor
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
    g.replace_tensors(model, _here)


def _here(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    if not isinstance(tensor, ir.ExternalTensor):
        return tensor
    return ir.Tensor(tensor.numpy().copy(), dtype=tensor.dtype, name=tensor.name)


def save_standard(model: ir.Model, out: Path) -> None:
    """Writes a graph at opset 28 as ONNX alone, declared at the lowest opset in which all of its operators mean the same.

    Raises:
        ModelError: nodes that are not ONNX's; all kinds are named.
    """
    domains = model.opset_imports
    own = {(f.domain, f.name) for f in model.functions.values()}
    foreign = {
        n.op_type
        for n in g.nodes(model)
        if n.domain not in ("", "ai.onnx") and (n.domain, n.op_type) not in own
    }
    if foreign:
        raise ModelError(
            f"save_onnx: expected operators of ONNX alone, got {', '.join(sorted(foreign))}; the model cannot be written as standard ONNX"
        )
    copy = model.clone()
    newest = int(domains[""])
    nodes = [n for n in g.nodes(model) if n.domain in ("", "ai.onnx")]
    nodes += [n for f in model.functions.values() for n in f if n.domain == ""]
    version = max((onnx.defs.get_schema(n.op_type, newest).since_version for n in nodes), default=1)
    copy.opset_imports[""] = version
    copy.ir_version = max(
        onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)]), 8
    )
    save_onnx(copy, out)
