"""Runs where the packages of pteron[npu] are, as a program of its own (they cannot share an environment with onnx): imports nothing of Pteron.

Standard input: one JSON document {"command", "graph", ...}; standard output: one JSON document, bytes in base64.

    serialize  graph -> {"tosa"}                            the TOSA flatbuffer
    run        graph, inputs [base64] -> {"outputs"}        Arm's reference model
    vgf        graph -> {"spirv", "entry", "tensors", "constants"}   Arm's converter; the VGF flattened
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"INT8": np.int8, "INT32": np.int32, "SHAPE": np.int64}
ATTRIBUTES = {
    "CONV2D": "Conv2dAttribute",
    "DEPTHWISE_CONV2D": "DepthwiseConv2dAttribute",
    "MAX_POOL2D": "MaxPool2dAttribute",
    "RESCALE": "RescaleAttribute",
    "CLAMP": "ClampAttribute",
    "ADD": "AddAttribute",
    "TRANSPOSE": "TransposeAttribute",
    "RESHAPE": "ReshapeAttribute",
    "SLICE": "SliceAttribute",
    "IDENTITY": "IdentityAttribute",
}


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def serialize(graph: dict[str, Any]) -> bytes:
    import tosa_serializer as ts  # pyright: ignore[reportMissingImports]

    out = ts.TosaSerializer(pathPrefix="", constMode=ts.ConstMode.EMBED)
    block = out.currRegion.basicBlocks[0]
    enums = {"INT32": ts.DType.INT32, "INT8": ts.DType.INT8}
    enums["SINGLE_ROUND"] = ts.RoundingMode.SINGLE_ROUND
    enums["PROPAGATE"] = ts.NanPropagationMode.PROPAGATE
    for name, dtype, shape, data in graph["tensors"]:
        if dtype == "SHAPE":
            values = np.frombuffer(base64.b64decode(data), np.int64).tolist()
            out.addConst(shape, ts.DType.SHAPE, values, name=name)
        elif data is not None:
            values = np.frombuffer(base64.b64decode(data), TYPES[dtype]).reshape(shape)
            out.addConst(shape, enums[dtype], values, name=name)
        elif name in graph["inputs"]:
            out.addInputTensor(ts.TosaSerializerTensor(name, shape, enums[dtype], None))
        else:
            block.addTensor(name, shape, enums[dtype])
    for op, inputs, output, arguments in graph["operators"]:
        attribute = ts.TosaSerializerAttribute()
        known = [enums.get(a, a) if isinstance(a, str) else a for a in arguments]
        getattr(attribute, ATTRIBUTES[op])(*known)
        out.addOperator(getattr(ts.Op, op), inputs, [output], attribute)
    for name in graph["outputs"]:
        block.addOutput(name)
    return bytes(out.serialize())


def run(graph: dict[str, Any], inputs: list[str]) -> list[str]:
    import tosa_reference_model  # pyright: ignore[reportMissingImports]

    shapes = {name: shape for name, _, shape, _ in graph["tensors"]}
    arrays = [
        np.frombuffer(base64.b64decode(data), np.int8).reshape(shapes[name])
        for name, data in zip(graph["inputs"], inputs, strict=True)
    ]
    outputs, status = tosa_reference_model.run(serialize(graph), arrays)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise ValueError(f"tosa_reference_model: {status}")
    return [text(np.asarray(y).tobytes()) for y in outputs]


def vgf(graph: dict[str, Any]) -> dict[str, Any]:
    import model_converter  # pyright: ignore[reportMissingImports]

    program = Path(model_converter.__file__).parent / "binaries/bin/model-converter"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "graph.tosa"), Path(folder, "graph.vgf")
        source.write_bytes(serialize(graph))
        # without replicated composites, which take an extension that few devices have
        command = [str(program), "--disable-replicated-composites"]
        command += ["-i", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"model-converter: {' '.join(done.stderr.split())[-500:]}")
        return flatten(target.read_bytes())


def flatten(data: bytes) -> dict[str, Any]:
    """The parts of a VGF with one segment."""
    import vgfpy  # pyright: ignore[reportMissingImports]

    head = vgfpy.CreateHeaderDecoder(data, vgfpy.HeaderSize(), len(data))
    if not head.IsValid() or not head.CheckVersion():
        raise ValueError("model-converter: wrote a VGF of another version")
    view = memoryview(data)

    def part(name: str, create: Any) -> Any:
        offset, size = getattr(head, f"Get{name}Offset")(), getattr(head, f"Get{name}Size")()
        return create(view[offset : offset + size], size)

    modules = part("ModuleTable", vgfpy.CreateModuleTableDecoder)
    resources = part("ModelResourceTable", vgfpy.CreateModelResourceTableDecoder)
    sequence = part("ModelSequenceTable", vgfpy.CreateModelSequenceTableDecoder)
    constants = part("Constants", vgfpy.CreateConstantDecoder)
    if sequence.modelSequenceTableSize() != 1:
        raise ValueError("model-converter: wrote a VGF of several segments")

    def tensor(index: int) -> list[Any]:
        shape = [int(d) for d in np.asarray(resources.getTensorShape(index))]
        return [int(resources.getVkFormat(index)), shape]

    def slots(handle: Any) -> list[list[Any]]:
        return [
            [
                sequence.getBindingSlotBinding(handle, i),
                *tensor(sequence.getBindingSlotMrtIndex(handle, i)),
            ]
            for i in range(sequence.getBindingsSize(handle))
        ]

    stored = []
    for binding in sequence.getSegmentConstantBindings(0):
        index = int(getattr(binding, "constantIndex", getattr(binding, "constant", -1)))
        bytes_ = np.asarray(constants.getConstant(index)).tobytes()
        shape = tensor(constants.getConstantMrtIndex(index))
        stored.append([int(binding.graphConstantId), *shape, text(bytes_)])
    index = sequence.getSegmentModuleIndex(0)
    return {
        "spirv": text(np.asarray(modules.getSPIRVModuleCode(index), np.uint32).tobytes()),
        "entry": modules.getModuleEntryPoint(index),
        "inputs": slots(sequence.getSegmentInputBindingSlotsHandle(0)),
        "outputs": slots(sequence.getSegmentOutputBindingSlotsHandle(0)),
        "constants": stored,
    }


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    if asked["command"] == "serialize":
        return {"tosa": text(serialize(asked["graph"]))}
    if asked["command"] == "run":
        return {"outputs": run(asked["graph"], asked["inputs"])}
    return vgf(asked["graph"])


if __name__ == "__main__":
    json.dump([answer(asked) for asked in json.load(sys.stdin)], sys.stdout)
