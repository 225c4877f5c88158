"""What ONNX has no operator for, as model-local functions with plain bodies.

pteron.DequantizeNF4(codes UINT4 [n, k], scale f16 [n, ceil(k / block_size)], block_size) -> f32 [n, k], one a format of levels
pteron.DequantizeShifted(codes [n, k], scale, shift f32 [n, ceil(k / block_size)], block_size) -> f32 [n, k]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

from pteron.schema.formats import FORMATS

DOMAIN: Final = "pteron"
SHIFTED: Final = "DequantizeShifted"


def declare_levels(model: ir.Model, stored: str) -> str:
    """Adds the function of a storage format to the model, once, and returns its name."""
    return _declared(model, f"Dequantize{stored.upper()}", lambda name: _levels(name, stored))


def declare_shifted(model: ir.Model) -> str:
    """The same for codes times scale plus shift."""
    return _declared(model, SHIFTED, _shifted)


def _declared(model: ir.Model, name: str, make: Callable[[str], onnx.FunctionProto]) -> str:
    if (DOMAIN, name, "") not in model.functions:
        function = ir.serde.deserialize_function(make(name))
        model.functions[function.identifier()] = function
    model.opset_imports[DOMAIN] = 1
    return name


def _levels(name: str, stored: str) -> onnx.FunctionProto:
    """levels[codes] * the block's scale, rounded once to f32."""
    node = helper.make_node
    levels = FORMATS[stored].levels
    assert levels is not None
    body = [
        node("Constant", [], ["table"], value=numpy_helper.from_array(levels, "table")),
        node("Cast", ["codes"], ["index"], to=onnx.TensorProto.INT32),
        node("Gather", ["table", "index"], ["level"]),
        *_spread("scale", "index"),
        node("Mul", ["level", "each"], ["weight"]),
    ]
    return _made(name, ["codes", "scale"], body)


def _shifted(name: str) -> onnx.FunctionProto:
    """codes * scale + shift of the block, each rounded to f32."""
    node = helper.make_node
    product = node("DequantizeLinear", ["codes", "scale"], ["product"], axis=1)
    product.attribute.append(_block_size("block_size"))
    body = [product, *_spread("shift", "product"), node("Add", ["product", "each"], ["weight"])]
    return _made(name, ["codes", "scale", "shift"], body)


def _block_size(name: str) -> onnx.AttributeProto:
    kind = onnx.AttributeProto.INT
    return onnx.AttributeProto(name=name, ref_attr_name="block_size", type=kind)


def _made(name: str, inputs: list[str], body: list[onnx.NodeProto]) -> onnx.FunctionProto:
    opset = [helper.make_opsetid("", 21)]
    return helper.make_function(DOMAIN, name, inputs, ["weight"], body, opset, ["block_size"])


def _spread(part: str, codes: str) -> list[onnx.NodeProto]:
    """`each`: a number of each block for each code."""
    node = helper.make_node
    block = node("Constant", [], ["block"])
    block.attribute.append(_block_size("value_int"))
    return [
        block,
        node("Constant", [], ["one"], value_ints=[1]),
        node("Constant", [], ["zero"], value_ints=[0]),
        node("Constant", [], ["two"], value_ints=[2]),
        node("Constant", [], ["rows"], value_ints=[0, -1]),
        node("Cast", [part], ["wide"], to=onnx.TensorProto.FLOAT),
        node("Unsqueeze", ["wide", "two"], ["column"]),
        node("Reshape", ["block", "one"], ["times"]),
        node("Concat", ["one", "one", "times"], ["repeats"], axis=0),
        node("Expand", ["column", "repeats"], ["spread"]),
        node("Reshape", ["spread", "rows"], ["long"]),
        node("Shape", [codes], ["columns"], start=1, end=2),
        node("Slice", ["long", "zero", "columns", "one"], ["each"]),
    ]
