"""The compiler of the plain delegate: what export/delegates/<name>.py would be, for the tests alone. plain.c has the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.delegates import Delegate, Segment, payload
from pteron.export.graph import int8 as integer

TARGET = "plain-1"
KIND = 999
ROWS: tuple[type[Any], ...] = (
    integer.Reshape, integer.Conv, integer.Linear, integer.Add, integer.AveragePool, integer.Rescale, integer.MaxPool,
    integer.Transpose,
)  # fmt: skip
"""By number of the op."""


def supports(node: ir.Node) -> str | None:
    row = integer.read(node)
    if row is None:
        return f"{node.op_type} is no integer node; quantize the model: --quantize int8 --calibrate"
    if isinstance(row, (integer.Conv, integer.MaxPool, integer.AveragePool)):
        rank = g.rank(node.inputs[0])
        return None if rank == 4 else f"two spatial axes, got {rank} axes in all; reshape to 4"
    return None


def compile_segment(segment: Segment) -> bytes:
    made = [v for node in segment.nodes for v in node.outputs]
    values = {v: i for i, v in enumerate(dict.fromkeys([*segment.inputs, *made]))}
    constants = bytearray()

    def stored(array: Any) -> int:
        constants.extend(bytes(-len(constants) % 64))
        at = len(constants)
        constants.extend(np.ascontiguousarray(array).tobytes())
        return at

    words = [len(values), len(segment.inputs), len(segment.outputs), len(segment.nodes)]
    words += [values[v] for v in (*segment.inputs, *segment.outputs)]
    for value in values:
        assert value.shape is not None
        shape = [int(str(n)) for n in value.shape]
        words += [len(shape), *shape, *[0] * (8 - len(shape))]
    for node in segment.nodes:
        words += _op(node, values, stored)
    tape = np.array(words, np.int32).tobytes()
    return payload.write(payload.Payload(KIND, TARGET, {1: tape, 2: bytes(constants)}))


def _op(node: ir.Node, values: dict[ir.Value, int], stored: Any) -> list[int]:
    row = integer.read(node)
    assert row is not None
    operands = [values[v] for v in node.inputs if v in values]
    head = [ROWS.index(type(row)), operands[0], operands[-1], values[node.outputs[0]]]
    arrays = [getattr(row, name, None) for name in ("w", "bias", "multiplier", "shift")]
    own = isinstance(row, (integer.Conv, integer.Linear))
    offsets = [stored(a) if own else 0 for a in arrays]
    if isinstance(row, integer.Transpose):
        return [*head, *offsets, *row.perm, *[0] * (9 - len(row.perm)), *[0] * 11]
    kernel = row.w.shape[2:] if isinstance(row, integer.Conv) else ()

    def pair(name: str, default: int) -> list[int]:
        return list(
            (kernel if name == "kernel_shape" and kernel else getattr(row, name, ()))
            or (default,) * 2
        )[:2]

    fields = [
        *pair("kernel_shape", 1),
        *pair("strides", 1),
        *pair("pads", 0),
        *pair("dilations", 1),
    ]
    zero = getattr(row, "a_zero", getattr(row, "x_zero", 0))
    fields += [getattr(row, "group", 1), zero]
    fields += [
        getattr(row, name, default)
        for name, default in (("y_zero", 0), ("low", -128), ("high", 127))
    ]
    fields += [0, 2] if own else [getattr(row, "multiplier", 0), getattr(row, "shift", 2)]
    fields += [
        getattr(row, name, 0)
        for name in ("b_zero", "a_multiplier", "a_shift", "b_multiplier", "b_shift")
    ]
    return [*head, *offsets, *fields]


DELEGATE = Delegate("plain", TARGET, supports, compile_segment)
