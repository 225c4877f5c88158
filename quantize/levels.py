"""Formats of levels, like NF4, in ONNX: a model-local function each with a plain body, since ONNX has no such types.

pteron.DequantizeNF4(codes UINT4 [n, k], scale f16 [n, ceil(k / block_size)], block_size) -> f32 [n, k]
"""

from __future__ import annotations

from typing import Final

import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

from .encode.format import BlockFormat

DOMAIN: Final = "pteron"


def declare(model: ir.Model, fmt: BlockFormat) -> str:
    """Adds the format's function to the model, once, and returns its name."""
    name = f"Dequantize{fmt.stored.upper()}"
    function = ir.serde.deserialize_function(_function(name, fmt))
    if function.identifier() not in model.functions:
        model.functions[function.identifier()] = function
    model.opset_imports[DOMAIN] = 1
    return name


def _function(name: str, fmt: BlockFormat) -> onnx.FunctionProto:
    """levels[codes] * the block's scale, rounded once to f32."""
    node = helper.make_node
    block = node("Constant", [], ["block"])
    block.attribute.append(
        onnx.AttributeProto(
            name="value_int", ref_attr_name="block_size", type=onnx.AttributeProto.INT
        )
    )
    assert fmt.element.levels is not None
    table = numpy_helper.from_array(fmt.element.levels, "table")
    body = [
        block,
        node("Constant", [], ["table"], value=table),
        node("Constant", [], ["one"], value_ints=[1]),
        node("Constant", [], ["zero"], value_ints=[0]),
        node("Constant", [], ["two"], value_ints=[2]),
        node("Constant", [], ["rows"], value_ints=[0, -1]),
        node("Cast", ["codes"], ["index"], to=onnx.TensorProto.INT32),
        node("Gather", ["table", "index"], ["level"]),
        node("Cast", ["scale"], ["wide"], to=onnx.TensorProto.FLOAT),
        node("Unsqueeze", ["wide", "two"], ["column"]),
        node("Reshape", ["block", "one"], ["times"]),
        node("Concat", ["one", "one", "times"], ["repeats"], axis=0),
        node("Expand", ["column", "repeats"], ["spread"]),
        node("Reshape", ["spread", "rows"], ["long"]),
        node("Shape", ["index"], ["columns"], start=1, end=2),
        node("Slice", ["long", "zero", "columns", "one"], ["each"]),
        node("Mul", ["level", "each"], ["weight"]),
    ]
    return helper.make_function(
        DOMAIN,
        name,
        ["codes", "scale"],
        ["weight"],
        body,
        [helper.make_opsetid("", 21)],
        ["block_size"],
    )
