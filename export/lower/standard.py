"""Asks the standard (export/graph/allowed.py) of a node before its lowering looks at it: behind the passes, with all sizes that are
numbers by then. A lowering may rely on the definition.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx
import onnx_ir as ir

from pteron.schema.dtypes import DTYPES

from ..graph import allowed
from ..graph.definitions import NotAllowedError
from .context import Lowering
from .node import Node
from .refs import ImpossibleError, Ref, RefusedError

TOLD: Final = 64
"""Known elements of so many are told to the inference of shapes: axes, sizes, pads."""


def check_node(l: Lowering, node: Node, inside: bool) -> None:
    """Raises RefusedError where the standard does not allow the node, ImpossibleError its operands. `inside`: of a function's body, of which only that
    dtypes agree is asked: the standard's own bodies are not always of the types that it lists."""
    schema = allowed.schema_of(node.op_type, node.opset, node.domain)
    if schema is None:
        return
    try:
        if inside:
            allowed.check_agreement(schema, [_text(x) for x in node.inputs])
            return
        there = [x is not None for x in node.inputs]
        allowed.check_form(schema, node.attrs, there, len(node.wanted))
        known = {i: t for i, x in enumerate(node.inputs) if (t := _numbers(l, x)) is not None}
        types = [_type(x) for x in node.inputs]
    except NotAllowedError as error:
        raise RefusedError(str(error)) from error
    try:
        allowed.check_types(schema, node.attrs, types, known, len(node.wanted), l.env.allowed)
    except NotAllowedError as error:
        raise ImpossibleError(str(error)) from error


def _text(x: Ref | None) -> str:
    return "" if x is None else allowed.text_of(ir.DataType(DTYPES[x.dtype].onnx))


def _type(x: Ref | None) -> onnx.TypeProto | None:
    if x is None:
        return None
    shape = [n if isinstance(n, int) else None for n in x.shape]
    return onnx.helper.make_tensor_type_proto(DTYPES[x.dtype].onnx, shape)


def _numbers(l: Lowering, x: Ref | None) -> onnx.TensorProto | None:
    """Its elements where they are few, known and numbers."""
    if x is None or x.rank > 1 or x.dtype not in ("i64", "i32"):
        return None
    elements = l.values.elements(x)
    if (
        elements is None
        or elements.size > TOLD
        or not all(isinstance(e, int) for e in elements.flat)
    ):
        return None
    kind = np.int64 if x.dtype == "i64" else np.int32
    return onnx.numpy_helper.from_array(elements.astype(kind))
