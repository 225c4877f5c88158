"""What delegates of integer nodes have in common: they ask for the row of export/graph/int8.py and int8 values of static extents,
and write a segment node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import onnx_ir as ir

from pteron.schema.errors import DelegateError, ModelError

from .. import graph as g
from ..graph import int8 as integer

Rule = Callable[[ir.Node, Any], str | None]
"""Why not, with the nearest change that makes it so; of a node and its row. None where it can."""


def refusal(
    node: ir.Node,
    extents: Callable[[list[int]], str | None],
    rules: Mapping[type[Any], Rule],
    writers: Mapping[type[Any], Any],
) -> str | None:
    """Why a delegate does not take `node`; None where it does.

    Args:
        extents: Its rule for the shape of each activation.
        rules: Its rule for each kind of row; a kind without one is taken,
        writers: if it is one of these.
    """
    try:
        row = integer.read(node)
    except ModelError as error:
        return str(error)
    if row is None:
        return "not an integer operator; quantize with --format int8 and calibration data"
    if type(row) not in writers:
        return f"{node.op_type} has no form there; it stays on the CPU"
    if getattr(row, "same", 0):
        return "padding that a run decides; fix the sizes"
    for value in (*node.inputs[: integer.activations(node)], node.outputs[0]):
        if reason := _activation(value, extents):
            return reason
    return rules[type(row)](node, row) if type(row) in rules else None


T = TypeVar("T")


def write(
    nodes: Iterable[ir.Node],
    out: T,
    supports: Callable[[ir.Node], str | None],
    writers: Mapping[type[Any], Callable[[T, ir.Node, Any], None]],
) -> None:
    """Has each node written to `out`, in order, by the writer for its kind of row.

    Raises:
        DelegateError: a node for which `supports` has a reason.
    """
    for node in nodes:
        if reason := supports(node):
            raise DelegateError(f"{node.op_type} {node.name!r}: {reason}")
        row = integer.read(node)
        writers[type(row)](out, node, row)


def _activation(value: ir.Value | None, extents: Callable[[list[int]], str | None]) -> str | None:
    shape = g.dims(value)
    if value is None or shape is None or not all(isinstance(d, int) and d > 0 for d in shape):
        return f"shape {shape} is not static; fix it with --fix SYMBOL=N"
    if reason := extents([d for d in shape if isinstance(d, int)]):
        return reason
    if value.dtype != ir.DataType.INT8:
        return f"{value.name!r} is {value.dtype}, expected INT8"
    return None
