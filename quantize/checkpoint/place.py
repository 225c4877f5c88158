"""A checkpoint's weights into a Graph. ONNX -> ONNX.

Before the passes every parameter gets its tensor's values as floats, so that whatever passes make of them is made of these.
After the passes each layer whose weight is still a tensor's matrix gets Q/DQ in place of the floats:

DequantizeLinear(codes, scale, zero)              what has a zero point or none
DequantizeLinear(codes, DequantizeLinear(few, outer))  scales that are few bits themselves
pteron.DequantizeShifted(codes, scale, shift)     what is added after the product
pteron.DequantizeNF4(codes, scale)                places in a table
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.checkpoint.weight import Array, Nested, Tensor, Weight, floats, plain
from pteron.export.graph.weights import made_of, read
from pteron.schema.errors import QuantError, several

from ..recipe.layers import Layer, layers
from ..report import LayerReport, QuantReport
from ..write.functions import DOMAIN, declare_levels, declare_shifted
from .match import Match, Matches, match

ALIKE: Final = 0.5
"""Least cosine between a weight and the one that it replaces, where others have it."""
MOVED: Final = ".t"
"""What folding adds to the name of a weight that it transposed."""


@dataclasses.dataclass(slots=True)
class Filled:
    """A parameter that has the values of tensor `name`, of which `floats` makes its elements: sums of squares of what changed and of
    what was there, largest change."""

    name: str
    tensor: Tensor
    floats: ir.TensorProtocol | None = None
    noise: float = 0.0
    power: float = 0.0
    worst: float = 0.0
    cosine: float = 1.0


class Import:
    """One checkpoint on its way into one Graph: `fill`, then the passes, then `place`.

    `partial`: parameters without a tensor keep their values, tensors without a place are left; both are told in `notes`.
    """

    def __init__(self, source: str, tensors: dict[str, Tensor], *, partial: bool = False) -> None:
        self.source = source
        self.tensors = tensors
        self.partial = partial
        self.notes: list[str] = []
        self.filled: dict[str, Filled] = {}

    @staticmethod
    def built(source: str, model: ir.Model, tensors: Mapping[str, Tensor]) -> Import:
        """Of a graph that was made of the checkpoint: `tensors` are those of its initializers, by their names."""
        made = Import(source, {})
        for name, tensor in tensors.items():
            made.filled[name] = Filled(name, tensor, _tensor(model.graph.initializers[name]))
        return made

    def fill(self, model: ir.Model) -> None:
        """Puts the values of every tensor, as floats, in place of its parameter's.

        Raises:
            QuantError: a parameter has no tensor, or a tensor no place (unless `partial`); none has; a shape differs; some
                weights resemble those that they replace and some do not, so that names or orders are mistaken.
        """
        matches = match(model, self.tensors, self.source)
        self._account(matches)
        for each in matches.found:
            self.filled[str(each.parameter.value.name)] = _filled(each)
        _check_alike(self.source, list(self.filled.values()))

    def _account(self, matches: Matches) -> None:
        if not matches.found:
            have = ", ".join(sorted(self.tensors)[:5])
            want = ", ".join(matches.missing[:5])
            raise QuantError(
                f"{self.source}: no tensor has the name of a parameter; it has {have}; the model's are {want}"
            )
        told = matches.told()
        if told and not self.partial:
            raise QuantError(
                f"{self.source}: {'; '.join(told)}; correct the names, or leave them as they are (--partial)"
            )
        self.notes += [f"weights: {text}" for text in told]

    def place(self, model: ir.Model) -> QuantReport:
        """Puts the tensors' quantized values in place of the floats that `fill` put there.

        Returns:
            What each layer got, compared with the floats that the model came with.
        """
        report, writer = QuantReport(self.source), Writer(model)
        done: dict[tuple[int, str], tuple[ir.Value, Array | None]] = {}
        changed = []
        for layer in layers(model, tables=True):
            weight = layer.node.inputs[layer.slot]
            each = self._of(weight)
            if each is None:
                continue
            key = (id(weight), layer.kind)
            if key not in done:
                known = writer.known(layer, each.tensor) if _is_put(layer, each) else None
                got = each.tensor.read() if known is None else known
                if isinstance(got, Weight) and not _is_same(layer, each, got):
                    changed.append(layer.name)
                    continue
                report.layers.append(_reported(layer, each))
                if not isinstance(got, Weight | ir.Value):
                    continue
                done[key] = writer.value(layer, got, each.tensor)
            value, order = done[key]
            layer.node.replace_input_with(layer.slot, value)
            writer.reorder(layer, order)
        if changed:
            self.notes.append(
                f"weights: {several(len(changed), 'layer')} of {len(self.filled)} keep floats, for a factor went into "
                f"their weights: {', '.join(changed[:5])}"
            )
        graphs.drop_unread(model)
        return report

    def _of(self, weight: ir.Value | None) -> Filled | None:
        name = "" if weight is None else str(weight.name)
        while name not in self.filled and name.endswith(MOVED):
            name = name.removesuffix(MOVED)
        return self.filled.get(name)


def _filled(each: Match) -> Filled:
    """Replaces the parameter's elements, which are read anew from the file whenever somebody needs them."""
    value, shape = each.parameter.value, each.parameter.shape
    old = _tensor(value)
    dtype = old.dtype

    def made() -> ir.TensorProtocol:
        got = floats(each.tensor.read())
        laid = got.reshape(each.tensor.shape) if each.tensor.shape else got
        laid = np.ascontiguousarray(laid.T if each.transposed else laid).reshape(shape)
        return ir.tensor(laid.astype(dtype.numpy()), dtype=dtype, name=value.name)

    lazy = ir.LazyTensor(made, dtype=dtype, shape=ir.Shape(shape), cache=False, name=value.name)
    out = Filled(each.name, each.tensor, lazy)
    if len(shape) > 1:
        _compare(out, np.asarray(read(old), np.float32), np.asarray(made().numpy(), np.float32))
    value.const_value = lazy
    return out


def _is_put(layer: Layer, each: Filled) -> bool:
    """Whether the layer's weight is what was put there, or that transposed: the tensor's matrix, unread."""
    weight, wanted = layer.node.inputs[layer.slot], each.tensor.shape
    if weight is None or layer.extents != wanted or each.tensor.transposed:
        return False
    if layer.kind == "matmul":
        return made_of(weight) == (each.floats, (1, 0))
    return weight.const_value is each.floats


def _is_same(layer: Layer, each: Filled, got: Weight) -> bool:
    """Whether the layer's weight is still the tensor's matrix."""
    if _is_put(layer, each):
        return True
    tensor = _tensor(layer.node.inputs[layer.slot])
    return np.array_equal(layer.matrix(read(tensor)), got.decoded())


def _compare(out: Filled, old: Array, new: Array) -> None:
    error = new - old
    out.noise = float(np.square(error, dtype=np.float64).sum())
    out.power = float(np.square(old, dtype=np.float64).sum())
    out.worst = float(np.abs(error).max(initial=0))
    both = out.power * float(np.square(new, dtype=np.float64).sum())
    product = float((new.astype(np.float64) * old).sum())
    out.cosine = product / both**0.5 if both > 0 else 1.0


def _check_alike(source: str, filled: list[Filled]) -> None:
    known = [f for f in filled if f.floats is not None and len(f.floats.shape) > 1]
    bad = [f for f in known if not f.cosine >= ALIKE]
    if bad and len(bad) < len(known):
        raise QuantError(
            f"{source}: {len(bad)} of {len(known)} weights do not resemble those that they replace, first "
            f"{bad[0].name} (cosine {bad[0].cosine:.3f}), while the others do; their rows have another order, or names differ"
        )


def _reported(layer: Layer, each: Filled) -> LayerReport:
    tensor, (n, k) = each.tensor, layer.extents
    return LayerReport(
        layer.name, layer.node.op_type, tensor.kind, (n, k), 8 * tensor.nbytes / max(n * k, 1),
        each.noise, each.power, each.worst, str(layer.node.name), algorithm="imported",
    )  # fmt: skip


def _tensor(value: ir.Value | None) -> ir.TensorProtocol:
    tensor = graphs.constant_tensor(value)
    assert tensor is not None
    return tensor


@dataclasses.dataclass(slots=True)
class Writer:
    """Nodes that make a weight."""

    model: ir.Model
    used: set[str] = dataclasses.field(init=False)
    decoded: dict[tuple[int, int], ir.Value] = dataclasses.field(default_factory=dict)
    """By graph and tensor: a tied table and head are one matrix."""

    def __post_init__(self) -> None:
        self.used = graphs.names(self.model)

    def reorder(self, layer: Layer, order: Array | None) -> None:
        """Brings the layer's input into the order of the weight's columns."""
        x, graph = layer.node.inputs[0], layer.node.graph
        if order is None or x is None:
            return
        assert isinstance(graph, ir.Graph)
        places = graphs.initializer(graph, order.astype(np.int64), f"{layer.name}.order", self.used)
        name = graphs.fresh(self.used, f"{layer.name}.Gather")
        out = ir.Value(name=name, type=x.type, shape=x.shape)
        axis = 0 if graphs.attr(layer.node, "transA", 0) else -1
        gather = ir.Node(
            "", "Gather", [x, places], [ir.AttrInt64("axis", axis)], outputs=[out], name=name
        )
        graph.insert_before(layer.node, [gather])
        layer.node.replace_input_with(0, out)

    def known(self, layer: Layer, tensor: Tensor) -> ir.Value | None:
        """The tensor's matrix, where another layer of the same graph has it."""
        return self.decoded.get((id(layer.node.graph), id(tensor)))

    def value(
        self, layer: Layer, weight: Weight | ir.Value, tensor: Tensor
    ) -> tuple[ir.Value, Array | None]:
        """The weight, which was read of the tensor or is `known`, as the layer reads it, made in front of the layer; and the order
        of K, where that is another."""
        graph = layer.node.graph
        assert isinstance(graph, ir.Graph)
        nodes: list[ir.Node] = []

        def constant(array: Array, what: str) -> ir.Value:
            return graphs.initializer(graph, array, f"{layer.name}.{what}", self.used)

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

        key = id(graph), id(tensor)
        order = weight.order if isinstance(weight, Weight) else None
        if isinstance(weight, ir.Value):
            w = weight
        elif order is None or layer.slot == 1:
            w = self._decoded(weight, constant, add)
            if order is None:
                self.decoded[key] = w
        else:  # a table has nothing that could be brought into that order
            w, order = constant(weight.decoded(), "weight"), None
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
