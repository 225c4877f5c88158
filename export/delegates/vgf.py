"""Delegate vgf: integer segments through TOSA and Arm's converter to a SPIR-V graph, which Vulkan's VK_ARM_data_graph runs.

The payload is the VGF flattened, so that the runtime needs no VGF parser: `runtime_c/delegates/vgf/model.h` draws it.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any, Final

from pteron.schema.errors import DelegateError

from . import Delegate, Segment, payload, tools, tosa

NAME: Final = "vgf"
TARGET: Final = "vgf-tosa-1.0"

TABLE, CODE, DATA = 1, 2, 3
ALIGN: Final = 64
BITS: Final = {14: 8, 99: 32}
"""Bits of an element, by Vulkan's number of the format: R8_SINT, R32_SINT."""
_HEAD = struct.Struct("<4I48s")
_ROW = struct.Struct("<4I8q2Q")
MAX_PORTS: Final = 32


def compile_segment(segment: Segment) -> bytes:
    """The payload of a segment; the same bytes for the same segment and tools.

    Raises:
        DelegateError: the tools are missing or refuse the graph, or tosa.refusal has a reason for a node.
    """
    nodes, inputs, outputs = segment.nodes, segment.inputs, segment.outputs
    if len(inputs) + len(outputs) > MAX_PORTS:
        raise DelegateError(
            f"vgf: {len(inputs)} inputs and {len(outputs)} outputs, at most {MAX_PORTS}; split the model"
        )
    graph = tosa.lower(nodes, inputs, outputs)
    answer = tools.ask([{"command": "vgf", "graph": graph.document()}])[0]
    return payload.write(payload.Payload(payload.Kind.VGF, TARGET, _sections(graph, answer)))


def _sections(graph: tosa.Graph, answer: dict[str, Any]) -> dict[int, bytes]:
    """Sections of a converter's answer, which must bind the graph's inputs, then its outputs, in order."""
    shapes = {t.name: list(t.shape) for t in graph.tensors}
    rows, data = [], b""
    ports = [*answer["inputs"], *answer["outputs"]]
    expected = [[i, 14, shapes[n]] for i, n in enumerate((*graph.inputs, *graph.outputs))]
    if ports != expected:
        raise DelegateError(f"vgf: model-converter: expected bindings {expected}, got {ports}")
    for binding, form, shape in ports:
        rows.append(_row(form, shape, binding, 0))
    for i, (number, form, shape, content) in enumerate(sorted(answer["constants"])):
        if number != i or form not in BITS:
            raise DelegateError(f"vgf: model-converter: constant {number} of format {form}")
        data += bytes(-len(data) % ALIGN)
        rows.append(_row(form, shape, number, len(data)))
        data += base64.b64decode(content)
    entry = answer["entry"].encode()
    head = _HEAD.pack(1, len(graph.inputs), len(graph.outputs), len(answer["constants"]), entry)
    return {TABLE: head + b"".join(rows), CODE: base64.b64decode(answer["spirv"]), DATA: data}


def _row(form: int, shape: Sequence[int], number: int, offset: int) -> bytes:
    dims = [*shape, *[0] * (8 - len(shape))]
    elements = 1
    for d in shape:
        elements *= d
    return _ROW.pack(BITS[form], len(shape), number, 0, *dims, offset, elements * BITS[form] // 8)


DELEGATE: Final = Delegate(
    NAME, TARGET, tosa.refusal, compile_segment, tools.missing, "apt-get install libvulkan-dev"
)
