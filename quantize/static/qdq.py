"""Static int8: Q/DQ of activations around the units of a Graph, weights and biases as constants behind DequantizeLinear.

    x -> Conv(w, b) -> Relu -> y   =>   DQ(Q(x)) -> Conv(DQ(w int8), DQ(b int32)) -> Relu -> DQ(Q(y))

Each unit has activations of 8 or 16 bits, or FLOAT and computes in f32 with its weight as it is. A value is rounded as what makes it asks,
for all, and then for readers of fewer bits.
Activations: one scale and zero point a tensor, int8, or one scale alone, int16; weights: symmetric, a scale for each output channel; biases: int32 of scale
sx * sw. Plain ONNX of opset 13, of 21 with int16, which the integer pass reads as other tools' Q/DQ models.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph import int8
from pteron.export.graph.weights import Elements, Source, read, whole
from pteron.schema.errors import QuantError

from ..encode import elements
from ..encode.format import Encoded
from ..observe.calibrate import Ranges
from ..observe.grids import FLOAT, Grid, ends_of, grid_of
from ..recipe.units import Unit
from ..report import ActivationReport, LayerReport, QuantReport
from ..rounding.spill import Spill, tensor_of
from ..rounding.weight import NEAREST, Rounded

Array = NDArray[Any]

SMALLEST_WEIGHT: Final = 2.0**-80
"""Times `SMALLEST_ACTIVATION` it is the least scale of a bias: a normal f32."""
BIAS_LIMIT: Final = 2.0**30


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A weight that an algorithm has rounded, which `made` gives. `shift`: what its bias has more (`reconstruct`)."""

    made: Callable[[], Rounded]
    shift: Array | None = None

    @property
    def rounded(self) -> Rounded:
        return self.made()


def quantize_static(
    model: ir.Model,
    plan: list[Unit],
    ranges: Ranges,
    found: Mapping[int, Solved] | None = None,
    bits: Sequence[int] | None = None,
) -> QuantReport:
    """Writes Q/DQ for all units, in place.

    Args:
        found: Weights of units, by their places in the plan, that an algorithm has rounded; others are rounded to nearest.
        bits: Of the activations of each unit; None: 8 of all.

    Raises:
        QuantError: a range is missing, a weight is not finite or not representable; nothing is changed then.
    """
    bits = bits or [8] * len(plan)
    ends = ends_of(plan, ranges)
    report = QuantReport("int8", ranges=ranges)
    weights = _weights(plan, _reads(plan, ends, bits), found or {}, bits)
    used = graphs.names(model)
    for i, (weight, row) in weights.items():
        _insert_weight(model.graph, plan[i], weight, used)
        report.layers.append(row)
    report.in_int16, report.in_f32 = (
        [unit.name for unit, own in zip(plan, bits, strict=True) if own == which]
        for which in (16, FLOAT)
    )
    moves = {unit.output for unit in plan if unit.same}
    for name, value, grid in _insert_grids(model.graph, plan, bits, ends, used):
        if value not in moves:
            scale, (low, high) = float(grid.scale), ends[value]
            report.activations.append(
                ActivationReport(name, low, high, scale, grid.zero, grid.bits)
            )
    graphs.drop_unread(model)
    return report


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """The constants of a unit in `simulate_static`: `weight`, `bias`; `source` is the unit in the model as it was, `before` its weight
    there, `x` the grid that it reads."""

    source: Unit
    before: ir.Value | None
    x: Grid | None
    weight: ir.Value
    bias: ir.Value | None

    def become(self, found: Solved) -> None:
        """What would be written of it."""
        made = _weight(self.source, self.x, found, self.before)[0]
        numbers = functools.partial(_plainly, self.source, self.x, found, self.before)
        self.weight.const_value = _later(made.codes.shape, numbers)
        if self.bias is not None and made.bias is not None:
            scale = made.bias_scale
            bias = made.bias if scale is None else (made.bias * scale).astype(np.float32)
            assert self.bias.const_value is not None
            _set(self.bias, bias.reshape(self.bias.const_value.numpy().shape))


def _plainly(unit: Unit, x: Grid | None, found: Solved | None, before: ir.Value | None) -> Array:
    return _weight(unit, x, found, before)[0].numbers(unit)


def _later(shape: Sequence[int], numbers: Callable[[], Array]) -> ir.TensorProtocol:
    """A weight in f32 while it is read."""
    return ir.LazyTensor(
        lambda: ir.tensor(numbers()), dtype=ir.DataType.FLOAT, shape=ir.Shape(shape)
    )


def _shape(weight: ir.Value | None) -> tuple[int, ...]:
    tensor = graphs.constant_tensor(weight)
    assert tensor is not None
    return tuple(int(str(n)) for n in tensor.shape)


def _set(value: ir.Value, array: Array) -> None:
    value.const_value = ir.tensor(array, name=value.name)


def simulate_static(
    model: ir.Model,
    source: Sequence[Unit],
    plan: Sequence[Unit],
    ranges: Ranges,
    bits: Sequence[int],
) -> dict[int, Constants]:
    """As `quantize_static`, in f32: weights are the numbers that their codes stand for, biases still those of the model.

    `source`: the plan of the model that stays as it is. The constants by places.
    """
    ends = ends_of(plan, ranges)
    reads = _reads(plan, ends, bits)
    used = graphs.names(model)
    found = {}
    for i, unit in enumerate(plan):
        if unit.axis is not None and bits[i] != FLOAT:
            found[i] = opened(model.graph, source[i], unit, reads[i], used)
    _insert_grids(model.graph, plan, bits, ends, used)
    graphs.drop_unread(model)
    return found


def opened(graph: ir.Graph, source: Unit, unit: Unit, x: Grid | None, used: set[str]) -> Constants:
    """The unit's weight, as its codes to nearest stand for, and bias are constants of its own."""
    before = source.weight
    tensor = _later(_shape(before), functools.partial(_plainly, source, x, None, before))
    weight = graphs.initializer(graph, tensor, f"{unit.name}.plain", used)
    unit.head.replace_input_with(1, weight)
    bias = None
    if unit.bias is not None:
        bias = graphs.initializer(graph, _numbers(unit.bias, unit.name), f"{unit.name}.bias", used)
        node, slot = reads_bias(unit)
        node.replace_input_with(slot, bias)
    return Constants(source, before, x, weight, bias)


def _weights(
    plan: Sequence[Unit],
    reads: Sequence[Grid | None],
    found: Mapping[int, Solved],
    bits: Sequence[int],
) -> dict[int, tuple[_Weight, LayerReport]]:
    """Of the units that have one and round it, by their places; codes wait in a file."""
    made, spill = {}, Spill()
    for i, unit in enumerate(plan):
        if unit.axis is not None and bits[i] != FLOAT:
            weight, row = _weight(unit, reads[i], found.get(i))
            codes = spill.put(whole(weight.codes))
            made[i] = dataclasses.replace(weight, codes=codes), row
    return made


def _reads(
    plan: Sequence[Unit], ends: Mapping[ir.Value, tuple[float, float]], bits: Sequence[int]
) -> list[Grid | None]:
    """The grid of the first value that each unit reads; None where it computes in f32."""
    makers = {unit.output: own for unit, own in zip(plan, bits, strict=True)}
    found = []
    for unit, own in zip(plan, bits, strict=True):
        x = unit.inputs[0]
        fewest = min(own, makers.get(x, FLOAT))
        found.append(None if own == FLOAT else grid_of(*ends[x], fewest))
    return found


def _insert_grids(
    graph: ir.Graph, plan: Sequence[Unit], bits: Sequence[int], ends: Mapping[ir.Value, tuple[float, float]],
    used: set[str],
) -> list[tuple[str, ir.Value, Grid]]:  # fmt: skip
    """Values are rounded as units of these bits ask for; what was, in order, by its name."""
    makers = {unit.output: own for unit, own in zip(plan, bits, strict=True)}
    level = {
        node: own for unit, own in zip(plan, bits, strict=True) for node in (unit.head, unit.tail)
    }
    done = []
    for value, pair in ends.items():
        made = makers.get(value, FLOAT)
        asked = {level.get(use.node, FLOAT) for use in value.uses()}
        now, name = value, str(value.name)
        for own in (16, 8):
            if own == made or (own < made and own in asked):
                grid = grid_of(*pair, own)
                readers = None if own == made else {n for n, has in level.items() if has == own}
                rounded = _insert_grid(graph, now, grid, readers, used)
                done.append((name, value, grid))
                now = rounded if own == made else now
    return done


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Weight:
    """codes int8 as the weight is shaped, scale f32[n], bias int32[n] of scale bias_scale f32[n], or f32[n] without one."""

    codes: Elements
    scale: Array
    bias: Array | None
    bias_scale: Array | None

    def numbers(self, unit: Unit) -> Array:
        """What the codes stand for, f32."""
        assert unit.axis is not None
        shape = [-1 if i == unit.axis else 1 for i in range(len(self.codes.shape))]
        return np.asarray(whole(self.codes) * self.scale.reshape(shape), np.float32)


def _weight(
    unit: Unit, x: Grid | None, found: Solved | None, before: ir.Value | None = None
) -> tuple[_Weight, LayerReport]:
    """To nearest a channel's scale is absmax / 127; it is more where its bias would not fit int32, whoever has rounded the others.

    `x`: the grid of what the unit reads; None: it computes in f32, and the bias stays so. `before`: its weight, where it reads another now.
    """
    assert unit.axis is not None
    w = _numbers(before or unit.head.inputs[1], unit.name)
    rows = np.moveaxis(w, unit.axis, 0)
    n = len(rows)
    flat = np.ascontiguousarray(rows.reshape(n, -1))
    bias = None if unit.bias is None else _numbers(unit.bias, unit.name).reshape(-1)
    least = np.zeros(n)
    if bias is not None and x is not None:
        least = np.abs(bias) / (BIAS_LIMIT * float(x.scale))
    least = np.maximum(least, SMALLEST_WEIGHT)
    step = np.abs(flat).max(1, initial=0.0) / np.float32(127)
    some = (step > 0) | (least > SMALLEST_WEIGHT)
    scale = np.where(some, np.maximum(step, least), 1).astype(np.float32)
    ratio = np.asarray(flat / scale[:, None], np.float32)
    codes = elements.encode(ratio, elements.I8).view(np.int8)
    made = None if found is None else found.rounded
    if found is not None and made is not None:
        theirs = made.encoded.scale.reshape(-1)
        fits = theirs >= least
        codes = np.where(fits[:, None], _as_rows(made.encoded, rows.shape), codes)
        scale = np.where(fits, theirs, scale)
        if bias is not None and found.shift is not None:
            bias = (bias + found.shift).astype(np.float32)
    bias, bias_scale = _in_integers(unit, bias, x, scale)
    error = codes * scale[:, None] - flat
    report = LayerReport(
        unit.name,
        unit.head.op_type,
        "int8",
        (n, flat.shape[1]),
        8 + 32 / max(flat.shape[1], 1),
        float(np.square(error, dtype=np.float64).sum()),
        float(np.square(flat, dtype=np.float64).sum()),
        float(np.abs(error).max(initial=0)),
        str(unit.head.name),
        algorithm=NEAREST if made is None else made.report.algorithm,
        output=None if made is None else made.report.output,
    )
    shaped = np.ascontiguousarray(np.moveaxis(codes.reshape(rows.shape), 0, unit.axis))
    return _Weight(shaped, scale, bias, bias_scale), report


def _in_integers(
    unit: Unit, bias: Array | None, x: Grid | None, scale: Array
) -> tuple[Array | None, Array | None]:
    """The bias as int32 at the scale of the sums; as it is where the inputs are not rounded."""
    if x is None:
        return bias, None
    steps = np.asarray(x.scale * scale, np.float32)
    if not np.isfinite(steps).all():
        raise QuantError(f"layer {unit.name}: scale of input times scale of weight exceeds f32")
    if bias is None:
        return None, steps
    return _codes(bias, steps), steps


def _codes(bias: Array, steps: Array) -> Array:
    wide = np.rint(bias.astype(np.float64) / steps.astype(np.float64))
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def _as_rows(encoded: Encoded, shape: tuple[int, ...]) -> Array:
    """Codes int8 [n, -1] in the order of a weight of this shape; an encoder has channels last."""
    codes = encoded.codes.view(np.int8)
    if len(shape) > 2:
        codes = np.moveaxis(codes.reshape(shape[0], *shape[2:], shape[1]), -1, 1)
    return np.ascontiguousarray(codes.reshape(shape[0], -1))


def _numbers(value: ir.Value | None, name: str) -> Array:
    tensor = graphs.constant_tensor(value)
    assert tensor is not None
    array = np.asarray(read(tensor), np.float32)
    if not np.isfinite(array).all():
        raise QuantError(f"layer {name}: weights and biases must be finite, got NaN or infinity")
    return array


def _insert_weight(graph: ir.Graph, unit: Unit, weight: _Weight, used: set[str]) -> None:
    """The weight and the bias of a unit become DequantizeLinear of constants."""
    head, channels = unit.head, {"axis": unit.axis}
    parts: dict[str, Elements] = {"codes": weight.codes, "scale": weight.scale}
    old = head.inputs[1]
    head.replace_input_with(1, _dequantized(graph, head, unit.name, parts, channels, used, old))
    if unit.bias is None or weight.bias is None:
        return
    node, slot = reads_bias(unit)
    shape = list(graphs.constant_tensor(unit.bias).shape)  # type: ignore[union-attr]
    name, codes = str(unit.bias.name), weight.bias.reshape(shape)
    if weight.bias_scale is None:
        new = graphs.initializer(graph, codes.astype(np.float32), f"{name}.bias", used)
        new.type, new.shape = unit.bias.type, unit.bias.shape
    else:
        last = {"axis": len(shape) - 1}
        parts = {"codes": codes, "scale": weight.bias_scale}
        new = _dequantized(graph, node, name, parts, last, used, unit.bias)
    node.replace_input_with(slot, new)


def reads_bias(unit: Unit, bias: ir.Value | None = None) -> tuple[ir.Node, int]:
    """The node that adds the bias, or what took its place, and which of its inputs that is."""
    bias = bias or unit.bias
    assert bias is not None
    near = {unit.head, *(use.node for use in unit.head.outputs[0].uses())}
    return next((use.node, use.idx) for use in bias.uses() if use.node in near)


def _dequantized(
    graph: ir.Graph, before: ir.Node, name: str, parts: Mapping[str, Elements], attributes: dict[str, Any],
    used: set[str], like: ir.Value | None,
) -> ir.Value:  # fmt: skip
    inputs = []
    for part, some in parts.items():
        held = tensor_of(some) if isinstance(some, Source) else some
        inputs.append(graphs.initializer(graph, held, f"{name}.{part}", used))
    node = _node("DequantizeLinear", inputs, attributes, graphs.fresh(used, f"{name}.f32"))
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    node.outputs[0].shape = None if like is None else like.shape
    graph.insert_before(before, [node])
    return node.outputs[0]


def _node(op: str, inputs: list[ir.Value], attributes: dict[str, Any], name: str) -> ir.Node:
    attrs = [ir.AttrInt64(k, v) for k, v in attributes.items()]
    return ir.Node("", op, inputs, attrs, outputs=[ir.Value(name=name)], name=name)


def _insert_grid(
    graph: ir.Graph, value: ir.Value, grid: Grid, only: set[ir.Node] | None, used: set[str]
) -> ir.Value:
    """The result of quantizing `value`, which `only` these nodes read (None: everyone, and the graph's output)."""
    name = str(value.name)
    output = value.is_graph_output() and only is None
    readers = [use for use in value.uses() if only is None or use.node in only]
    parts: dict[str, Array] = {
        "scale": np.array(grid.scale),
        "zero": grid.zero_point,
    }
    constants = [
        graphs.initializer(graph, array, f"{name}.{part}", used) for part, array in parts.items()
    ]
    if output:
        value.name = graphs.fresh(used, f"{name}.exact")
    quantize = _node(
        "QuantizeLinear", [value, *constants], {}, graphs.fresh(used, f"{name}.quantized")
    )
    codes = quantize.outputs[0]
    codes.type, codes.shape = ir.TensorType(int8.TYPES[grid.bits]), value.shape
    rounded = name if output else graphs.fresh(used, f"{name}.rounded")
    restore = _node("DequantizeLinear", [codes, *constants], {}, rounded)
    out = restore.outputs[0]
    out.type, out.shape = value.type, value.shape
    producer = value.producer()
    if producer is None:
        graph.insert_before(graph[0], [quantize, restore])
    else:
        graph.insert_after(producer, [quantize, restore])
        graphs.carry([quantize, restore], [producer])
    for use in readers:
        use.node.replace_input_with(use.idx, out)
    if output:
        graph.outputs[:] = [out if v is value else v for v in graph.outputs]
    return out
