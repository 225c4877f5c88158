"""Applies a plan to a Graph: weights become codes and scales behind a DequantizeLinear. ONNX -> ONNX.

Every weight is stored as a matrix [n, k] of codes with the scales of its rows' blocks, k being what the layer sums over
(conv: kernel positions, then channels), and brought to the layer's own shape behind the DequantizeLinear:

    MatMul  w [k, n]        =>  Transpose(DequantizeLinear(codes, scale))
    Gemm    w [n, k] transB =>  DequantizeLinear(codes, scale)
    Conv    w [n, c, *s]    =>  Transpose(Reshape(DequantizeLinear(codes, scale)))
    Gather  table [v, k]    =>  DequantizeLinear(codes, scale)

A format of levels, like NF4, has no ONNX type: it is a model-local function over unsigned codes with a plain ONNX body
(`functions`), so any ONNX runtime that has those runs it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import rows_of

from ..encode import elements
from ..encode.format import BlockFormat, Encoded
from ..encode.table import FORMATS
from ..recipe.layers import Layer
from ..recipe.plan import Choice, Plan
from ..report import QuantReport
from ..rounding.weight import Rounded
from . import functions

Array = NDArray[Any]

CODED: Final = {"e8m0": ml_dtypes.float8_e8m0fnu, "e4m3": ml_dtypes.float8_e4m3fn}
"""ONNX's types of scales that are held as codes."""
OPSET: dict[str, int] = {f.name: f.opset for f in FORMATS.values()}
"""The lowest opset that has a format's types: what a written model declares."""


def apply(
    model: ir.Model, plan: Plan, done: Callable[[Choice], Rounded], lazy: bool = False
) -> QuantReport:
    """Writes what each layer became, in place: `done` gives it, with `lazy` again whenever codes are written.

    Returns:
        What was done to each layer, with its error and its bits.
    """
    used, report = graphs.names(model), QuantReport(plan.format)
    values: dict[tuple[int, str, str], ir.Value] = {}
    readers: dict[tuple[int, str, str], set[int]] = {}
    for choice in plan.choices:
        readers.setdefault(choice.key, set()).add(id(choice.layer.node.graph))
    for choice in plan.choices:
        layer = choice.layer
        if choice.format is None:
            report.skipped.append(layer.name)
            continue
        if choice.key not in values:
            made, shared = done(choice), len(readers[choice.key]) > 1
            again = functools.partial(done, choice) if lazy else None
            values[choice.key] = _insert(model, layer, made.encoded, used, again, shared=shared)
            report.layers.append(made.report)
            if made.missed is not None:
                _correct(layer, made.missed, used)
        layer.node.replace_input_with(layer.slot, values[choice.key])
    graphs.drop_unread(model)
    return report


def _correct(layer: Layer, missed: Array, used: set[str]) -> None:
    """The layer's bias makes up for what its weight misses; who else has the constant keeps it."""
    bias, tensor = layer.bias, graphs.constant_tensor(layer.bias)
    assert bias is not None and tensor is not None and isinstance(layer.node.graph, ir.Graph)
    before = tensor.numpy()
    array = np.asarray(before + missed.reshape(before.shape), np.float32)
    new = graphs.initializer(layer.node.graph, array, f"{layer.name}.bias", used)
    layer.node.replace_input_with(2, new)


def _insert(
    model: ir.Model,
    layer: Layer,
    encoded: Encoded,
    used: set[str],
    again: Callable[[], Rounded] | None,
    *,
    shared: bool,
) -> ir.Value:
    """Codes, scale and the nodes that make the weight of them, in front of the layer; returns the weight.

    `shared` by several graphs, branches of an If: in front of everything in the graph that has the constant.
    """
    weight = layer.node.inputs[layer.slot]
    assert weight is not None
    graph = weight.graph if shared else layer.node.graph
    assert isinstance(graph, ir.Graph)
    fmt = encoded.format
    coded = _codes(encoded) if again is None else _later(_codes(encoded), again)

    def constant(array: Array, name: str) -> ir.Value:
        return graphs.initializer(graph, array, f"{layer.name}.{name}", used)

    codes = graphs.initializer(graph, coded, layer.name + ".codes", used)
    scale = constant(_scale(encoded), "scale")
    nodes: list[ir.Node] = []

    def add(
        op: str, inputs: list[ir.Value], attributes: dict[str, Any], domain: str = ""
    ) -> ir.Value:
        out = ir.Value(
            name=graphs.fresh(used, f"{layer.name}.{op}"), type=ir.TensorType(ir.DataType.FLOAT)
        )
        attrs = [
            ir.AttrInt64(k, v) if isinstance(v, int) else ir.AttrInt64s(k, v)
            for k, v in attributes.items()
        ]
        nodes.append(ir.Node(domain, op, inputs, attrs, outputs=[out], name=out.name))
        return out

    if encoded.outer is not None:
        scale = add(
            "DequantizeLinear", [scale, constant(encoded.outer[:, 0], "outer")], {"axis": 0}
        )
    if fmt.element.levels is not None:
        function = functions.declare_levels(model, fmt.stored)
        size = {"block_size": fmt.block or encoded.codes.shape[1]}
        w = add(function, [codes, scale], size, functions.DOMAIN)
    else:
        if encoded.scale.dtype == np.float16:  # DequantizeLinear computes in the scale's type
            scale = add("Cast", [scale], {"to": int(ir.DataType.FLOAT)})
        axis = {"axis": 1, "block_size": fmt.block} if fmt.block else {"axis": 0}
        if fmt.scale == "e8m0":
            axis["output_dtype"] = int(ir.DataType.FLOAT)
        parts = [codes, scale]
        if encoded.zero is not None:
            parts.append(constant(encoded.zero.astype(_kind(fmt)), "zero"))
        w = add("DequantizeLinear", parts, axis)
    if layer.kind == "matmul":
        w = add("Transpose", [w], {"perm": [1, 0]})
    elif len(layer.shape) > 2:
        wide = [layer.shape[0], *layer.shape[2:], layer.shape[1]]
        shape = graphs.initializer(graph, np.array(wide, np.int64), layer.name + ".shape", used)
        rank = len(wide)
        w = add(
            "Transpose",
            [add("Reshape", [w, shape], {})],
            {"perm": [0, rank - 1, *range(1, rank - 1)]},
        )
    graph.insert_before(graph[0] if shared else layer.node, nodes)
    return w


def _later(codes: Array, again: Callable[[], Rounded]) -> ir.TensorProtocol:
    """The codes, which are made again when they are asked for."""
    kind = ir.DataType.from_numpy(codes.dtype)
    return ir.LazyTensor(
        lambda: ir.tensor(_codes(again().encoded)), dtype=kind, shape=ir.Shape(codes.shape)
    )


def _codes(encoded: Encoded) -> Array:
    """The codes in the ONNX type of the format."""
    fmt = encoded.format
    kind = _kind(fmt)
    if not fmt.element.integer:
        return encoded.codes.view(kind)
    out = np.empty(encoded.codes.shape, kind)
    for begin, end in rows_of(len(out), 8 * out.shape[1]):
        codes = encoded.codes[begin:end]
        out[begin:end] = elements.decode(codes, fmt.element).astype(np.int8).astype(kind)
    return out


def _kind(fmt: BlockFormat) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, fmt.codes, fmt.codes))


def _scale(encoded: Encoded) -> Array:
    """[n, blocks] for block formats, [n] for whole rows; codes as ONNX's types."""
    fmt, scale = encoded.format, encoded.scale
    if fmt.scale in CODED:
        scale = scale.view(CODED[fmt.scale])
    return scale[:, 0] if not fmt.block and fmt.element.levels is None else scale
