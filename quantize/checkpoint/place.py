"""A checkpoint's weights into a Graph: each layer of the same name gets Q/DQ in place of its floats. ONNX -> ONNX.

DequantizeLinear(codes, scale, zero)              what has a zero point or none
DequantizeLinear(codes, DequantizeLinear(few, outer))  scales that are few bits themselves
pteron.DequantizeShifted(codes, scale, shift)     what is added after the product
pteron.DequantizeNF4(codes, scale)                places in a table
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph.weights import read
from pteron.schema.errors import QuantError

from ..layers import Layer, layers
from ..levels import DOMAIN, declare_levels, declare_shifted
from ..report import LayerReport, QuantReport
from . import plain_name
from .weight import Array, Nested, Tensor, Weight, plain

ALIKE: Final = 0.5
"""Least cosine between a weight and the one that it replaces."""


def place(model: ir.Model, tensors: dict[str, Tensor], source: str) -> QuantReport:
    """Replaces the weights that the checkpoint has, in place.

    Returns:
        What each layer got, compared with the floats that were there; quantized weights that found no layer as skipped.

    Raises:
        QuantError: no weight of the checkpoint has a place; a shape differs; some weights resemble those in the model and
            some do not, so that names or orders are mistaken.
    """
    names = {plain_name(name): name for name in tensors}
    found, report, taken = layers(model, tables=True), QuantReport(source), set[str]()
    writer, alike = Writer(model), dict[str, float]()
    done: dict[tuple[int, str], ir.Value] = {}
    orders: dict[tuple[int, str], Array | None] = {}
    for layer in found:
        name = _name_of(layer, names)
        if name is None or len(layer.shape) != 2:
            continue
        weight = layer.node.inputs[layer.slot]
        key = (id(weight), layer.kind)
        if key not in done:
            _check_shape(layer, name, tensors[name])
            got, old = tensors[name].read(), layer.matrix(read(_tensor(weight)))
            row, alike[name] = _compared(layer, tensors[name], got, np.asarray(old, np.float32))
            report.layers.append(row)
            done[key], orders[key] = writer.value(layer, got)
        layer.node.replace_input_with(layer.slot, done[key])
        writer.reorder(layer, orders[key])
        taken.add(name)
    _check_alike(source, alike)
    if not taken:
        have = ", ".join(sorted(tensors)[:5])
        want = ", ".join(layer.name for layer in found[:5])
        raise QuantError(
            f"{source}: no tensor has the name of a layer; it has {have}; the layers are {want}"
        )
    _place_floats(model, tensors, names)
    report.skipped = [
        f"{name}, {tensor.kind}, which stays in {source}"
        for name, tensor in tensors.items()
        if name not in taken and len(tensor.shape) == 2
    ]
    graphs.drop_unread(model)
    return report


def _tensor(value: ir.Value | None) -> ir.TensorProtocol:
    tensor = graphs.constant_tensor(value)
    assert tensor is not None
    return tensor


def _name_of(layer: Layer, names: dict[str, str]) -> str | None:
    """The tensor of a layer: of its name, or the only one that ends in it or that it ends in."""
    for own in layer.names:
        wanted = plain_name(own)
        if wanted in names:
            return names[wanted]
        ends = [
            n
            for n in names
            if wanted and (f".{n}".endswith(f".{wanted}") or f".{wanted}".endswith(f".{n}"))
        ]
        if len(ends) == 1:
            return names[ends[0]]
    return None


def _check_shape(layer: Layer, name: str, tensor: Tensor) -> None:
    if tensor.shape != layer.extents:
        raise QuantError(
            f"{name}: expected {list(layer.extents)} as layer {layer.name} has it, got {list(tensor.shape)}"
        )


def _check_alike(source: str, alike: dict[str, float]) -> None:
    bad = [name for name, cosine in alike.items() if not cosine >= ALIKE]
    if bad and len(bad) < len(alike):
        raise QuantError(
            f"{source}: {len(bad)} of {len(alike)} weights do not resemble those that they replace, first {bad[0]} "
            f"(cosine {alike[bad[0]]:.3f}), while the others do; their rows have another order, or names differ"
        )


def _compared(
    layer: Layer, tensor: Tensor, got: Weight | Array, old: Array
) -> tuple[LayerReport, float]:
    new = got.decoded() if isinstance(got, Weight) else np.asarray(got, np.float32)
    error = new - old
    power = float(np.square(old, dtype=np.float64).sum())
    both = power * float(np.square(new, dtype=np.float64).sum())
    cosine = float((new.astype(np.float64) * old).sum()) / both**0.5 if both > 0 else 1.0
    n, k = layer.extents
    return LayerReport(
        layer.name, layer.node.op_type, tensor.kind, (n, k), 8 * tensor.nbytes / max(n * k, 1),
        float(np.square(error, dtype=np.float64).sum()), power, float(np.abs(error).max(initial=0)),
        str(layer.node.name), algorithm="imported",
    ), cosine  # fmt: skip


def _place_floats(model: ir.Model, tensors: dict[str, Tensor], names: dict[str, str]) -> None:
    """Tensors of floats that have the name and shape of a constant: norms, biases."""
    for graph in graphs.graphs(model):
        for value in graph.initializers.values():
            name = names.get(plain_name(str(value.name)))
            tensor = graphs.constant_tensor(value)
            if name is None or tensor is None or tensor.dtype != ir.DataType.FLOAT:
                continue
            if (
                tuple(int(str(d)) for d in tensor.shape) != tensors[name].shape
                or len(tensors[name].shape) > 1
            ):
                continue
            got = tensors[name].read()
            if isinstance(got, np.ndarray):
                value.const_value = ir.tensor(np.asarray(got, np.float32), name=value.name)


@dataclasses.dataclass(slots=True)
class Writer:
    """Nodes that make a weight."""

    model: ir.Model
    used: set[str] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.used = graphs.names(self.model)

    def reorder(self, layer: Layer, order: Array | None) -> None:
        """Brings the layer's input into the order of the weight's columns."""
        x, graph = layer.node.inputs[0], layer.node.graph
        if order is None or x is None:
            return
        assert isinstance(graph, ir.Graph)
        places = graphs.initializer(
            graph, order.astype(np.int64), graphs.fresh(self.used, f"{layer.name}.order")
        )
        name = graphs.fresh(self.used, f"{layer.name}.Gather")
        out = ir.Value(name=name, type=x.type, shape=x.shape)
        axis = 0 if graphs.attr(layer.node, "transA", 0) else -1
        gather = ir.Node(
            "", "Gather", [x, places], [ir.AttrInt64("axis", axis)], outputs=[out], name=name
        )
        graph.insert_before(layer.node, [gather])
        layer.node.replace_input_with(0, out)

    def value(self, layer: Layer, weight: Weight | Array) -> tuple[ir.Value, Array | None]:
        """The weight as the layer reads it, made in front of the layer; and the order of K, where that is another."""
        graph = layer.node.graph
        assert isinstance(graph, ir.Graph)
        nodes: list[ir.Node] = []

        def constant(array: Array, what: str) -> ir.Value:
            return graphs.initializer(graph, array, graphs.fresh(self.used, f"{layer.name}.{what}"))

        def add(
            op: str, inputs: Iterable[ir.Value | None], domain: str = "", **attrs: Any
        ) -> ir.Value:
            name = graphs.fresh(self.used, f"{layer.name}.{op}")
            out = ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT))
            made = [
                ir.AttrInt64s(k, v) if isinstance(v, list) else ir.AttrInt64(k, v)
                for k, v in attrs.items()
            ]
            nodes.append(ir.Node(domain, op, list(inputs), made, outputs=[out], name=name))
            return out

        order = weight.order if isinstance(weight, Weight) else None
        if isinstance(weight, Weight) and (order is None or layer.slot == 1):
            w = self._decoded(weight, constant, add)
        elif isinstance(
            weight, Weight
        ):  # a table has nothing that could be brought into that order
            w, order = constant(weight.decoded(), "weight"), None
        else:
            w = constant(np.asarray(weight, np.float32), "weight")
        if layer.kind == "matmul":
            w = add("Transpose", [w], perm=[1, 0])
        graph.insert_before(layer.node, nodes)
        return w, order

    def _decoded(
        self, w: Weight, constant: Callable[[Array, str], ir.Value], add: Callable[..., ir.Value]
    ) -> ir.Value:
        def part(given: Array | Nested, what: str) -> ir.Value:
            if isinstance(given, Array_):
                return constant(_shared(given, w.block), what)
            size = {"axis": 1, "block_size": given.size} if given.size else {}
            outer = given.outer if given.size else given.outer.reshape(())
            codes = constant(given.codes, f"{what}.codes")
            return add(
                "DequantizeLinear",
                [codes, constant(outer.astype(np.float32), f"{what}.outer")],
                **size,
            )

        codes = w.codes.astype(ml_dtypes.uint4) if w.levels else w.codes
        block = w.block or w.codes.shape[1]
        inputs = [constant(codes, "codes"), part(w.scale, "scale")]
        if w.levels:
            whole = plain(w.scale).reshape(len(codes), -1)
            inputs[1] = constant(whole, "scale") if isinstance(w.scale, Array_) else inputs[1]
            return add(declare_levels(self.model, w.levels), inputs, DOMAIN, block_size=block)
        if w.shift is not None:
            return add(
                declare_shifted(self.model),
                [*inputs, part(w.shift, "shift")],
                DOMAIN,
                block_size=block,
            )
        zero = None if w.zero is None or not np.any(w.zero.astype(np.float32)) else w.zero
        more = [] if zero is None else [constant(_shared(zero, w.block), "zero")]
        axis = {"axis": 1, "block_size": w.block} if w.block else {"axis": 0}
        return add("DequantizeLinear", [*inputs, *more], **axis)


Array_: Final = np.ndarray


def _shared(part: Array, block: int) -> Array:
    """[n, blocks], or [n] of whole rows."""
    return part if block else part.reshape(-1)
