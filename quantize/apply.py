"""Applies a recipe to a Graph: weights become codes and scales behind a DequantizeLinear. ONNX -> ONNX.

Every weight is stored as a matrix [n, k] of codes with the scales of its rows' blocks, k being what the layer sums over
(conv: kernel positions, then channels), and brought to the layer's own shape behind the DequantizeLinear:

    MatMul  w [k, n]        =>  Transpose(DequantizeLinear(codes, scale))
    Gemm    w [n, k] transB =>  DequantizeLinear(codes, scale)
    Conv    w [n, c, *s]    =>  Transpose(Reshape(DequantizeLinear(codes, scale)))
    Gather  table [v, k]    =>  DequantizeLinear(codes, scale)

A format of levels, like NF4, has no ONNX type: it is a model-local function over unsigned codes with a plain ONNX body
(`levels`), so any ONNX runtime that has those runs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import read, rows_of
from pteron.schema.errors import QuantError, RecipeError

from . import levels
from .encode import blocks, elements
from .encode.format import BlockFormat, Encoded
from .encode.table import FORMATS
from .recipe import Recipe, layer_names
from .report import LayerReport, QuantReport

Array = NDArray[Any]

OPSET: dict[str, int] = {f.name: f.opset for f in FORMATS.values()}
"""The lowest opset that has a format's types: what a written model declares."""


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """A weight that can be quantized: input `slot` of `node`, its matrix [n, k] and the way back to its shape."""

    node: ir.Node
    slot: int
    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those that a rule may match."""
        weight = self.node.inputs[self.slot]
        return self.name, self.node.name or "", str(weight.name or "") if weight is not None else ""

    def matrix(self, w: Array) -> Array:
        if self.kind == "matmul":
            return w.T
        return w.reshape(len(w), -1) if w.ndim == 2 else np.moveaxis(w, 1, -1).reshape(len(w), -1)


def layers(model: ir.Model, recipe: Recipe) -> list[Layer]:
    """Every constant weight of MatMul, Gemm, Conv and, if the recipe says so, Gather, in order."""
    found = list(_layers(model, recipe))
    names = layer_names([(layer.node, layer.node.inputs[layer.slot]) for layer in found])
    return [dataclasses.replace(layer, name=name) for layer, name in zip(found, names, strict=True)]


def _layers(model: ir.Model, recipe: Recipe) -> Iterator[Layer]:
    slots = {"MatMul": 1, "Gemm": 1, "Conv": 1} | ({"Gather": 0} if recipe.embeddings else {})
    for node in graphs.nodes(model):
        slot = slots.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        if slot is None or slot >= len(node.inputs):
            continue
        value = node.inputs[slot]
        tensor = graphs.constant_tensor(value)
        if value is None or tensor is None or tensor.dtype != ir.DataType.FLOAT:
            continue
        shape = tuple(int(str(d)) for d in tensor.shape)
        kind = node.op_type.lower()
        if kind == "gemm" and not graphs.attr(node, "transB", 0):
            kind = "matmul"
        if kind == "gather" and graphs.attr(node, "axis", 0) != 0:
            continue
        if len(shape) == 2 or (kind == "conv" and len(shape) > 2):
            yield Layer(node, slot, "", kind, shape)


def quantize(
    model: ir.Model, recipe: Recipe, *, progress: Callable[[str], None] | None = None
) -> QuantReport:
    """Quantizes the weights of `model` in place.

    Returns:
        What was done to each layer, with its error and its bits.

    Raises:
        QuantError: a weight cannot be encoded; RecipeError: a rule matches no layer; nothing is changed then.
    """
    found = layers(model, recipe)
    plan = [(layer, *recipe.choose(layer.names)) for layer in found]
    idle = [r.pattern.pattern for r in recipe.rules if all(by is not r for _, _, by in plan)]
    if idle:
        names = ", ".join(sorted(layer.name for layer in found)[:20])
        raise RecipeError(f"rule {idle[0]!r}: decides no layer; layers are {names}")
    done: dict[tuple[int, str, str], tuple[Encoded, LayerReport]] = {}
    for number, (layer, fmt, _) in enumerate(plan):
        if fmt is not None:
            if progress:
                progress(f"quantize {number + 1}/{len(plan)} {layer.name} {fmt.name}")
            key = (id(layer.node.inputs[layer.slot]), fmt.name, layer.kind)
            if key not in done:
                done[key] = _encode(layer, fmt)
    used, report, values = graphs.names(model), QuantReport(recipe.format), {}
    readers: dict[tuple[int, str, str], set[int]] = {}
    for layer, fmt, _ in plan:
        if fmt is not None:
            key = (id(layer.node.inputs[layer.slot]), fmt.name, layer.kind)
            readers.setdefault(key, set()).add(id(layer.node.graph))
    for layer, fmt, _ in plan:
        value = layer.node.inputs[layer.slot]
        assert value is not None
        if fmt is None:
            report.skipped.append(layer.name)
            continue
        key = (id(value), fmt.name, layer.kind)
        if key not in values:
            values[key] = _insert(model, layer, done[key][0], used, shared=len(readers[key]) > 1)
            report.layers.append(done[key][1])
        layer.node.replace_input_with(layer.slot, values[key])
    graphs.drop_unread(model)
    return report


def _encode(layer: Layer, fmt: BlockFormat) -> tuple[Encoded, LayerReport]:
    """Some rows at a time: the weight in f32 is the most that is held besides codes and scales."""
    tensor = graphs.constant_tensor(layer.node.inputs[layer.slot])
    assert tensor is not None
    w = layer.matrix(read(tensor))
    n, k = w.shape
    codes, scales = np.empty((n, k), np.uint8), []
    noise = power = worst = 0.0
    for begin, end in rows_of(n, 16 * k) if n else [(0, 0)]:
        rows = np.ascontiguousarray(w[begin:end], np.float32)
        try:
            part = _encoded_rows(rows, fmt)
        except QuantError:
            _refuse(layer, fmt, w)
            raise
        error = blocks.decode(part)[:, :k] - rows
        codes[begin:end] = part.codes[:, :k]
        scales.append(part.scale)
        noise += float(np.square(error, dtype=np.float64).sum())
        power += float(np.square(rows, dtype=np.float64).sum())
        worst = max(worst, float(np.abs(error).max(initial=0)))
    encoded = Encoded(fmt, codes, np.concatenate(scales))
    size = n * k * fmt.element.bits + encoded.scale.nbytes * 8
    row = LayerReport(
        layer.name,
        layer.node.op_type,
        fmt.name,
        (n, k),
        size / max(n * k, 1),
        noise,
        power,
        worst,
        str(layer.node.name),
    )
    return encoded, row


def _encoded_rows(rows: Array, fmt: BlockFormat) -> Encoded:
    short = -rows.shape[1] % fmt.block if fmt.block else 0
    return blocks.encode(np.pad(rows, ((0, 0), (0, short))) if short else rows, fmt)


def _refuse(layer: Layer, fmt: BlockFormat, w: Array) -> None:
    """Says what is wrong with the whole weight."""
    try:
        _encoded_rows(np.ascontiguousarray(w, np.float32), fmt)
    except QuantError as error:
        raise QuantError(f"layer {layer.name}: {error}") from None


def _insert(
    model: ir.Model, layer: Layer, encoded: Encoded, used: set[str], *, shared: bool
) -> ir.Value:
    """Codes, scale and the nodes that make the weight of them, in front of the layer; returns the weight.

    `shared` by several graphs, branches of an If: in front of everything in the graph that has the constant.
    """
    weight = layer.node.inputs[layer.slot]
    assert weight is not None
    graph = weight.graph if shared else layer.node.graph
    assert isinstance(graph, ir.Graph)
    fmt = encoded.format
    codes = graphs.initializer(graph, _codes(encoded), graphs.fresh(used, layer.name + ".codes"))
    scale = graphs.initializer(graph, _scale(encoded), graphs.fresh(used, layer.name + ".scale"))
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

    if fmt.element.levels is not None:
        function = levels.declare(model, fmt)
        size = {"block_size": fmt.block or encoded.codes.shape[1]}
        w = add(function, [codes, scale], size, levels.DOMAIN)
    else:
        if encoded.scale.dtype == np.float16:  # DequantizeLinear computes in the scale's type
            scale = add("Cast", [scale], {"to": int(ir.DataType.FLOAT)})
        axis = {"axis": 1, "block_size": fmt.block} if fmt.block else {"axis": 0}
        if fmt.scale == "e8m0":
            axis["output_dtype"] = int(ir.DataType.FLOAT)
        w = add("DequantizeLinear", [codes, scale], axis)
    if layer.kind == "matmul":
        w = add("Transpose", [w], {"perm": [1, 0]})
    elif len(layer.shape) > 2:
        wide = [layer.shape[0], *layer.shape[2:], layer.shape[1]]
        shape = graphs.initializer(
            graph, np.array(wide, np.int64), graphs.fresh(used, layer.name + ".shape")
        )
        rank = len(wide)
        w = add(
            "Transpose",
            [add("Reshape", [w, shape], {})],
            {"perm": [0, rank - 1, *range(1, rank - 1)]},
        )
    graph.insert_before(graph[0] if shared else layer.node, nodes)
    return w


def _codes(encoded: Encoded) -> Array:
    """The codes in the ONNX type of the format."""
    fmt = encoded.format
    kind = np.dtype(getattr(ml_dtypes, fmt.codes, fmt.codes))
    if not fmt.element.integer:
        return encoded.codes.view(kind)
    out = np.empty(encoded.codes.shape, kind)
    for begin, end in rows_of(len(out), 8 * out.shape[1]):
        codes = encoded.codes[begin:end]
        out[begin:end] = elements.decode(codes, fmt.element).astype(np.int8).astype(kind)
    return out


def _scale(encoded: Encoded) -> Array:
    """[n, blocks] for block formats, [n] for whole rows; E8M0 bytes as ONNX's type."""
    if encoded.format.scale == "e8m0":
        return encoded.scale.view(ml_dtypes.float8_e8m0fnu)
    whole = not encoded.format.block and encoded.format.element.levels is None
    return encoded.scale[:, 0] if whole else encoded.scale
