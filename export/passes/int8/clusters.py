"""What the integer pass matches and builds: a cluster is DequantizeLinear -> operator -> QuantizeLinear, seen from its end.

DQ(x) -> head [-> Add of a constant, after MatMul] [-> Relu or Clip] -> Q
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from pteron.schema.meaning import int8 as meaning

from ... import graph as g
from ...graph import int8 as integer
from ...graph.int8 import Array, Form, Operation
from ...graph.int8_resize import between

BIAS_TOLERANCE: Final = 2.0**-20
"""Relative: scales of biases that count as sx * sw, which others round differently."""
BIAS_GIVES: Final = 2.0**-5
"""Steps of a result by which a bias may be nearer to 0 than it says, so that int32 holds sums with it: quantizers give a channel of
next to no weight a bias at the end of int32."""
LEAST_SATURATED: Final = 2.0**-14
"""Steps of a result for each of a sum: above, the result of a sum that int32 does not hold is beyond all codes of int16."""
WINDOW_WORDS: Final = 256
"""Elements whose sum is exact in f32, whatever the codes and the zero point of int16."""


class DeclinedError(Exception):
    """The cluster stays as it is; the text is the reason for the user."""


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """An activation of int8 or int16: (codes - zero) * scale."""

    codes: ir.Value
    scale: float
    zero: int
    bits: int = 8

    @property
    def most(self) -> int:
        """The largest |code - zero|: of int8 whatever zero is."""
        return 255 if self.bits == 8 else (1 << 15) + abs(self.zero)


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """Where constants go, and the names that are taken."""

    graph: ir.Graph
    used: set[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """`nodes` in graph order, from the head to Q; the result's grid, and its limits in codes. `widened`: what takes the place of
    operands of int8 beside int16 (`_in_words`)."""

    nodes: list[ir.Node]
    scale: float
    zero: int
    low: int
    high: int
    addend: ir.Value | None = None
    bits: int = 8
    widened: Mapping[int, Side] = dataclasses.field(default_factory=dict)

    @property
    def head(self) -> ir.Node:
        return self.nodes[0]

    def x(self, slot: int = 0) -> Side:
        """The quantized input `slot`. Declines where it is not."""
        value = self.head.inputs[slot]
        found = self.widened.get(slot) or side(value)
        if found is None:
            name = "" if value is None else value.name
            raise DeclinedError(f"input {slot} ({name!r}) is not quantized to int8; quantize it")
        return found

    @property
    def whole(self) -> tuple[float, int, int, int, int]:
        """The grid, and its limits: of a side without limits `whole_of`."""
        return self.scale, self.zero, self.bits, self.low, self.high


def ends(bits: int) -> tuple[int, int]:
    """The least and the largest code."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def whole_of(x: Side) -> tuple[float, int, int, int, int]:
    return x.scale, x.zero, x.bits, *ends(x.bits)


def side(value: ir.Value | None) -> Side | None:
    """What a DequantizeLinear of int8 or int16 activations with one scale and zero point reads."""
    node = None if value is None else value.producer()
    if node is None or not g.is_op(node, "DequantizeLinear"):
        return None
    codes, found = node.inputs[0], grid(node)
    if codes is None or found is None or g.constant_tensor(codes) is not None:
        return None
    return Side(codes, *found) if codes.dtype in (None, integer.TYPES[found[2]]) else None


def grid(node: ir.Node) -> tuple[float, int, int] | None:
    """Scale, zero point and bits of a Q or DQ of int8 or int16, f32, with one of each."""
    if len(node.inputs) < 3 or g.attr(node, "block_size", 0):
        return None
    scale, zero = g.constant_tensor(node.inputs[1]), g.constant_tensor(node.inputs[2])
    if scale is None or zero is None or scale.size != 1 or zero.size != 1:
        return None
    bits = {kind: bits for bits, kind in integer.TYPES.items()}.get(zero.dtype)
    if scale.dtype != ir.DataType.FLOAT or bits is None:
        return None
    step = float(scale.numpy().reshape(()))
    return (step, int(zero.numpy().reshape(())), bits) if 0 < step < math.inf else None


def find(last: ir.Node) -> Cluster | None:
    """The cluster that ends in a QuantizeLinear; None where there is none, or a value inside it has other readers."""
    found = grid(last)
    if found is None:
        return None
    limits, nodes, addend = ends(found[2]), [last], None
    node = _before(last.inputs[0])
    if node is not None and g.is_op(node, "Relu", "Clip") and side(node.inputs[0]) is None:
        narrower = narrowed(node, *found)
        if narrower is None:
            return None
        limits, nodes, node = narrower, [node, *nodes], _before(node.inputs[0])
    if node is not None and g.is_op(node, "Add"):
        for value, other in (node.inputs, node.inputs[::-1]):
            product = _before(other)
            if product is not None and g.is_op(product, "MatMul") and _is_stored(value):
                nodes, node, addend = [node, *nodes], product, value
                break
    if node is None or not (integer.form(node) or g.is_op(node, "DequantizeLinear")):
        return None
    scale, zero, bits = found
    return Cluster([node, *nodes], scale, zero, *limits, addend, bits)


def _before(value: ir.Value | None) -> ir.Node | None:
    """What makes a value that nobody else reads; a DequantizeLinear may have other readers."""
    node = None if value is None else value.producer()
    if value is None or node is None or len(node.outputs) > 1:
        return None
    return node if g.read_once(value) or side(value) is not None else None


def narrowed(node: ir.Node, scale: float, zero: int, bits: int) -> tuple[int, int] | None:
    """Limits in codes of Relu or of a Clip with constant limits."""
    low, high = least, most = ends(bits)
    if g.is_op(node, "Relu"):
        return zero, high
    for slot in (1, 2):
        value = node.inputs[slot] if slot < len(node.inputs) else None
        if value is not None:
            number = g.scalar(value)
            if number is None or math.isnan(number):
                return None
            code = int(np.clip(np.rint(np.clip(number / scale, -1e6, 1e6)) + zero, least, most))
            low, high = (code, high) if slot == 1 else (low, code)
    return min(low, high), high


def _is_stored(value: ir.Value | None) -> bool:
    """Constant codes behind a DequantizeLinear, or a constant."""
    node = None if value is None else value.producer()
    if node is not None and g.is_op(node, "DequantizeLinear"):
        value = node.inputs[0]
    return g.constant_tensor(value) is not None


# --- constants ----------------------------------------------------------------------------------------------------------


def _weight(value: ir.Value | None, axis: int) -> tuple[Array, Array]:
    """Codes int8, their zero points taken away, with the output channels first, and their scales f64[n]."""
    node = None if value is None else value.producer()
    if node is None or not g.is_op(node, "DequantizeLinear"):
        raise DeclinedError("its weight is not quantized to int8; quantize it")
    codes, scale = (g.constant_tensor(v) for v in node.inputs[:2])
    zero = g.constant(node.inputs[2], 1 << 24) if len(node.inputs) > 2 else np.zeros(1)
    if codes is None or scale is None or codes.dtype not in (ir.DataType.INT8, ir.DataType.UINT8):
        raise DeclinedError("its weight is not constant int8; quantize it to int8")
    if zero is None:
        raise DeclinedError("zero points of its weight are computed while running; fix them")
    rank = len(codes.shape)
    steps = scale.numpy().astype(np.float64)
    whole = scale.size == 1
    if g.attr(node, "block_size", 0) or not (
        whole or (steps.ndim == 1 and g.attr(node, "axis", 1) % rank == axis)
    ):
        raise DeclinedError("its weight has scales along another axis than the output channels")
    rows = np.moveaxis(codes.numpy(), axis, 0).astype(np.int16)
    rows = rows - zero.astype(np.int16).reshape(-1, *[1] * (rank - 1))
    least, most = ends(8)
    if rows.size and not least <= rows.min() <= rows.max() <= most:
        raise DeclinedError(
            "its weight less its zero points is beyond int8; quantize it symmetrically"
        )
    return rows.astype(np.int8), np.broadcast_to(steps.reshape(-1), (len(rows),))


def _bias(value: ir.Value | None, scale: Array, rank: int | None) -> Array:
    """i32[n] of the given scales f64[n], added along the last of the `rank` axes of the result."""
    n = len(scale)
    if value is None:
        return np.zeros(n, np.int32)
    node = value.producer()
    if node is not None and g.is_op(node, "DequantizeLinear"):
        codes, steps = (g.constant(v, 1 << 24) for v in node.inputs[:2])
        zero = g.constant(node.inputs[2], 1 << 24) if len(node.inputs) > 2 else np.zeros(1)
        if codes is None or steps is None or zero is None:
            raise DeclinedError("its bias is computed while running; make it constant")
        _along_columns(codes.shape, n, rank)
        codes, steps = codes.reshape(-1), steps.reshape(-1).astype(np.float64)
        fits = codes.size == n and codes.dtype == np.int32 and not np.any(zero)
        if fits and np.all(np.abs(steps - scale) <= BIAS_TOLERANCE * scale):
            return codes
        numbers = (codes.astype(np.float64) - zero.reshape(-1)) * steps
    else:
        constant = g.constant(value, 1 << 24)
        if constant is None:
            raise DeclinedError("its bias is computed while running; make it constant")
        _along_columns(constant.shape, n, rank)
        numbers = constant.reshape(-1).astype(np.float64)
    codes = np.rint(np.broadcast_to(numbers, (n,)) / scale)
    if not np.all(np.abs(codes) < meaning.SUM_LIMIT):
        raise DeclinedError("its bias does not fit int32 at the scale of input times weight")
    return codes.astype(np.int32)


def _along_columns(shape: tuple[int, ...], n: int, rank: int | None) -> None:
    """Declines what adds to rows, or gives the result more axes."""
    if math.prod(shape[:-1]) != 1 or shape[-1:] not in ((), (1,), (n,)) or len(shape) > (rank or 1):
        raise DeclinedError(f"its bias has shape {list(shape)}; expected [{n}]")


def _factors(factor: Array, bounds: Array) -> tuple[Array, Array]:
    """Multipliers and shifts for sums of at most `bounds`."""
    pairs = [_factor(float(f), int(b)) for f, b in zip(factor, bounds, strict=True)]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)


def _summed(w: Array, steps: Array, bias: Array, x: Side, c: Cluster) -> tuple[Array, Array, Array]:
    """Bias, multipliers and shifts of products with weights. Sums of int16 that int32 does not hold saturate, which must leave the
    result at its limits."""
    factor = x.scale * steps / c.scale
    bias = _held(w, bias, x, factor)
    bounds = meaning.sum_bounds(w, bias, x.bits, x.zero)
    if x.bits == 8:
        return bias, *_factors(factor, bounds)
    wide = bounds >= meaning.SUM_LIMIT
    if wide.any() and (x.zero or (factor[wide] <= LEAST_SATURATED).any()):
        raise DeclinedError(f"its sums reach {bounds.max()}, beyond int32; fewer terms are needed")
    return bias, *_factors(factor, np.minimum(bounds, meaning.SUM_LIMIT - 1))


def _held(w: Array, bias: Array, x: Side, factor: Array) -> Array:
    """The bias, or what int32 holds with any sum where that is as good (BIAS_GIVES)."""
    products = meaning.sum_bounds(w, np.zeros_like(bias), x.bits, x.zero)
    room = np.maximum(meaning.SUM_LIMIT - 1 - products, 0)
    held = np.clip(bias.astype(np.int64), -room, room)
    gives = np.abs(bias - held) * factor <= BIAS_GIVES
    return np.where(gives, held, bias).astype(np.int32)


def _factor(factor: float, bound: int) -> tuple[int, int]:
    if bound >= meaning.SUM_LIMIT:
        raise DeclinedError(f"its sums reach {bound}, beyond int32; fewer terms are needed")
    try:
        multiplier, shift = meaning.multiplier_shift(factor)
    except ValueError:
        shift = 0
    if shift == 0 or not meaning.admits(bound, shift):
        raise DeclinedError(
            f"its result is {factor:.3g} steps for each step of its sums; calibrate again"
        )
    return multiplier, shift


# --- builders -----------------------------------------------------------------------------------------------------------


def _conv(c: Cluster, to: Target) -> list[ir.Node]:
    x, node = c.x(), c.head
    w, steps = _weight(node.inputs[1], 0)
    bias = _bias(node.inputs[2] if len(node.inputs) > 2 else None, x.scale * steps, 1)
    parts = _summed(w, steps, bias, x, c)
    (strides, pads, dilations), same = integer.convolved(node, w.shape[2:])
    group = int(g.attr(node, "group", 1))
    ends = (x.zero, c.zero, c.low, c.high, same)
    row = integer.Conv(w, *parts, strides, pads, dilations, group, *ends)
    return [_own(row, [x.codes], to, c)]


def _linear(c: Cluster, to: Target) -> list[ir.Node]:
    x, node = c.x(), c.head
    axis = 1
    if g.is_op(node, "Gemm"):
        if g.attr(node, "transA", 0) or any(g.attr(node, k, 1.0) != 1 for k in ("alpha", "beta")):
            raise DeclinedError("Gemm with transA, alpha or beta; multiply the weight instead")
        axis = 0 if g.attr(node, "transB", 0) else 1
    if side(node.inputs[1]) is not None:
        return _product(c, to)
    if g.rank(node.inputs[1]) not in (None, 2):
        raise DeclinedError("a product of matrices that are constant; multiply them before")
    w, steps = _weight(node.inputs[1], axis)
    addend = node.inputs[2] if len(node.inputs) > 2 else c.addend
    rank = 2 if g.is_op(node, "Gemm") else g.rank(node.outputs[0])
    bias = _bias(addend, x.scale * steps, rank)
    parts = _summed(w, steps, bias, x, c)
    row = integer.Linear(w, *parts, x.zero, c.zero, c.low, c.high)
    return [_own(row, [x.codes], to, c)]


def _product(c: Cluster, to: Target) -> list[ir.Node]:
    """Of two activations; Gemm reads matrices as they lie."""
    node = c.head
    if c.addend is not None or len(node.inputs) > 2 or g.attr(node, "transB", 0):
        raise DeclinedError("a product of two activations with a bias or transB; write it apart")
    a, b = c.x(0), c.x(1)
    terms = (g.dims(node.inputs[0]) or [None])[-1]
    if not isinstance(terms, int) or min(g.rank(v) or 0 for v in node.inputs) < 2:
        raise DeclinedError(f"a product of two activations over {terms} terms; fix their number")
    factor = _factor(a.scale * b.scale / c.scale, terms * a.most * b.most)
    row = integer.Product(a.zero, b.zero, c.zero, *factor, c.low, c.high)
    return [_own(row, [a.codes, b.codes], to, c)]


def _multiply(c: Cluster, to: Target) -> list[ir.Node]:
    a, b = c.x(0), c.x(1)
    extents = [g.dims(value) for value in c.head.inputs]
    if not integer.spreads(*extents):
        raise DeclinedError(f"factors have shapes {extents[0]} and {extents[1]}; spread one before")
    factor = _factor(a.scale * b.scale / c.scale, a.most * b.most)
    row = integer.Mul(a.zero, b.zero, c.zero, *factor, c.low, c.high)
    return [_own(row, [a.codes, b.codes], to, c)]


def _join(c: Cluster, to: Target) -> list[ir.Node]:
    """Concat of codes; what has another grid than the result is brought to it before, and Relu there."""
    new: list[ir.Node] = []
    codes: list[ir.Value | None] = []
    for slot, value in enumerate(c.head.inputs):
        x = c.x(slot)
        if whole_of(x) == c.whole:
            codes.append(x.codes)
            continue
        new.append(_rescaled(x, c, to))
        assert value is not None
        new[-1].outputs[0].shape = value.shape
        codes.append(new[-1].outputs[0])
    joined = _plain("Concat", codes, list(c.head.attributes.values()), c.bits)
    joined.version, joined.outputs[0].shape = c.head.version, c.head.outputs[0].shape
    return [*new, joined]


def _looked_up(c: Cluster, to: Target) -> list[ir.Node]:
    if c.x().bits == 8:
        raise DeclinedError("a function of codes; its 256 results are looked up")
    raise DeclinedError("a function of int16, which is too many codes to look up")


def _add(c: Cluster, to: Target) -> list[ir.Node]:
    a, b = c.x(0), c.x(1)
    extents = [g.dims(value) for value in c.head.inputs]
    if extents[0] is None or extents[0] != extents[1] or None in extents[0]:
        raise DeclinedError(f"addends have shapes {extents[0]} and {extents[1]}; expected the same")
    parts = meaning.add_factors(a.scale, b.scale, c.scale, a.bits)
    left, right = (_factor(f, x.most) for f, x in zip(parts[:2], (a, b), strict=True))
    factor = _factor(parts[2], max(a.most, b.most) << meaning.ADD_SHIFTS[a.bits])
    row = integer.Add(a.zero, *left, b.zero, *right, c.zero, *factor, c.low, c.high)
    return [_own(row, [a.codes, b.codes], to, c)]


def _average(c: Cluster, to: Target) -> list[ir.Node]:
    """A mean over all spatial axes is one window; without keepdims the extents of 1 go by Squeeze."""
    x, node = c.x(), c.head
    extents = g.dims(node.inputs[0]) or g.dims(x.codes)
    whole = not g.is_op(node, "AveragePool")
    if not whole and not integer.averages(node):
        return _inner_average(c, to, extents)
    if g.is_op(node, "ReduceMean"):
        axes = sorted(a % len(extents) for a in g.axes_of(node) or ()) if extents else []
        if extents is None or len(extents) < 3 or axes != list(range(2, len(extents))):
            raise DeclinedError(f"mean over axes {axes}; only over all axes after the second")
    if whole:
        if extents is None or not all(isinstance(n, int) and n > 0 for n in extents[2:]):
            raise DeclinedError("mean over extents that are known while running only; fix them")
        kernel = strides = tuple(n for n in extents[2:] if isinstance(n, int))
        pads = (0,) * 2 * len(kernel)
    else:
        kernel = tuple(map(int, g.attr(node, "kernel_shape")))
        strides, pads, _ = _window(node, kernel)
        _sums_of_windows(kernel, x)
    count = math.prod(kernel)
    factor = _factor(x.scale / (c.scale * count), x.most * count)
    row = integer.AveragePool(kernel, strides, pads, x.zero, c.zero, *factor, c.low, c.high)
    new = [_own(row, [x.codes], to, c)]
    if g.is_op(node, "ReduceMean") and not g.attr(node, "keepdims", 1):
        assert extents is not None
        new[0].outputs[0].shape = ir.Shape([*_shape(extents[:2]), *[1] * len(kernel)])
        axes_value = g.initializer(
            to.graph, np.arange(2, len(extents)), f"{node.name}.axes", to.used
        )
        new.append(_plain("Squeeze", [new[0].outputs[0], axes_value], [], x.bits))
    return new


def _inner_average(c: Cluster, to: Target, extents: list[int | str | None] | None) -> list[ir.Node]:
    """Windows that have other numbers of elements at the edges, or lie apart."""
    x, node = c.x(), c.head
    kernel = tuple(map(int, g.attr(node, "kernel_shape")))
    found = integer.counted(node, extents)
    if found is None:
        raise DeclinedError(
            "AveragePool with dilations, ceil_mode or pads that do not count, over extents that are known while running only, or with "
            "windows of pads alone; fix them, or pad before it"
        )
    scale, most = x.scale / c.scale, math.prod(kernel)
    _sums_of_windows(kernel, x)
    _factor(scale / float(found.counts.min()), x.most * most)
    multiplier, shift = meaning.shares(scale, found.counts)
    row = integer.InnerAverage(
        multiplier, kernel, found.strides, found.pads, found.dilations, x.zero, c.zero, shift, c.low, c.high
    )  # fmt: skip
    return [_own(row, [x.codes], to, c)]


def _sums_of_windows(kernel: Sequence[int], x: Side) -> None:
    """They are made in f32 (export/lower)."""
    if x.bits == 16 and math.prod(kernel) > WINDOW_WORDS:
        raise DeclinedError(f"windows of {math.prod(kernel)} elements of int16, beyond 256")


def _shape(extents: list[int | str | None]) -> list[int | ir.SymbolicDim]:
    return [n if isinstance(n, int) else ir.SymbolicDim(n) for n in extents]


def _move(c: Cluster, to: Target) -> list[ir.Node]:
    """The operator on codes; Rescale after it where the grids differ or Relu narrows."""
    x, node = c.x(), c.head
    if any(g.constant_tensor(v) is None for v in node.inputs[1:] if v is not None):
        raise DeclinedError(f"{node.op_type} to a shape that is known while running only")
    attributes = list(node.attributes.values())
    new = _plain(node.op_type, [x.codes, *node.inputs[1:]], attributes, x.bits)
    new.version = node.version
    x.codes.type = ir.TensorType(integer.TYPES[x.bits])
    if g.is_op(node, "MaxPool"):
        pool = integer.max_pool(node)
        if pool is None:
            raise DeclinedError(
                "MaxPool with ceil_mode, indices, or auto_pad SAME of strides over extents known while running only; write pads"
            )
        if x.bits == 16:
            new = integer.build(pool, [x.codes], to.graph, str(node.name), to.used)
    if g.is_op(node, "Resize") and not integer.copies(node):
        new = _between(c, to)
    new.outputs[0].shape = node.outputs[0].shape
    moved = dataclasses.replace(x, codes=new.outputs[0])
    return [new] if whole_of(x) == c.whole else [new, _rescaled(moved, c, to)]


def _between(c: Cluster, to: Target) -> ir.Node:
    row = between(c.head)
    if row is None:
        raise DeclinedError(
            "Resize that is cubic, crops, smooths, has extents that are known while running only, or steps beyond TOSA's; leave it f32"
        )
    if c.x().bits == 16:
        raise DeclinedError("Resize between elements of int16; quantize it to int8")
    return _own(row, [c.x().codes], to, c)


def _rescale(c: Cluster, to: Target) -> list[ir.Node]:
    """Relu, Clip, or nothing at all between DQ and Q."""
    if g.is_op(c.head, "DequantizeLinear"):
        x = side(c.head.outputs[0])
        if x is None:
            raise DeclinedError("a constant that is quantized while running")
        return [_rescaled(x, c, to)]
    limits = narrowed(c.head, c.scale, c.zero, c.bits)
    if limits is None:
        raise DeclinedError(
            "Clip with limits that are known while running only; make them constant"
        )
    low, high = (min(max(limit, c.low), c.high) for limit in limits)
    narrow = dataclasses.replace(c, low=low, high=high)
    return [_rescaled(c.x(), narrow, to)]


def _rescaled(x: Side, c: Cluster, to: Target) -> ir.Node:
    factor = _factor(x.scale / c.scale, x.most)
    row = integer.Rescale(x.zero, c.zero, *factor, min(c.low, c.high), c.high, c.bits)
    return _own(row, [x.codes], to, c)


def _own(row: Operation, inputs: list[ir.Value], to: Target, c: Cluster) -> ir.Node:
    node = integer.build(row, inputs, to.graph, str(c.head.name), to.used)
    node.outputs[0].shape = c.nodes[-1].outputs[0].shape or c.nodes[-2].outputs[0].shape
    return node


def _plain(op: str, inputs: list[ir.Value | None], attributes: list[ir.Attr], bits: int) -> ir.Node:
    out = ir.Value(type=ir.TensorType(integer.TYPES[bits]))
    return ir.Node("", op, inputs, attributes, outputs=[out])


def _window(node: ir.Node, kernel: Sequence[int]) -> integer.Window:
    found = integer.window(node, kernel)
    if found is None:
        auto = g.attr(node, "auto_pad", "NOTSET")
        raise DeclinedError(f"auto_pad {auto} of extents known while running only; write pads")
    return found


Builder: TypeAlias = Callable[[Cluster, Target], list[ir.Node]]
COMPUTES: Final = (Form.CONVOLUTION, Form.PRODUCT, Form.SUM, Form.SCALING, Form.MEAN)
"""Forms whose operators have one type throughout; the others meet another one by Rescale."""
BUILDERS: Final[dict[Form, Builder]] = {
    Form.CONVOLUTION: _conv,
    Form.PRODUCT: _linear,
    Form.SUM: _add,
    Form.SCALING: _multiply,
    Form.JOIN: _join,
    Form.FUNCTION: _looked_up,
    Form.MEAN: _average,
    Form.MOVE: _move,
    Form.LIMITS: _rescale,
}


def build(cluster: Cluster, to: Target) -> list[ir.Node]:
    """The nodes that take the cluster's place.

    Raises:
        DeclinedError: there are none; the text says why.
    """
    form = integer.form(cluster.head) or Form.LIMITS  # without an operator: another grid
    if form in COMPUTES and any(x.bits != cluster.bits for x in _sides(cluster).values()):
        return _in_words(cluster, BUILDERS[form], to)
    return BUILDERS[form](cluster, to)


def _sides(c: Cluster) -> dict[int, Side]:
    """What the head reads that is quantized."""
    found = {slot: side(value) for slot, value in enumerate(c.head.inputs)}
    return {slot: x for slot, x in found.items() if x is not None}


def _in_words(c: Cluster, builder: Builder, to: Target) -> list[ir.Node]:
    """int8 and int16 in one cluster: all of it is computed in int16, between nodes that change the type and no code."""
    new: list[ir.Node] = []
    widened: dict[int, Side] = {}
    for slot, x in _sides(c).items():
        if x.bits == 8:
            new.append(_retyped(x.codes, f"{c.head.name}.{slot}", 16, to))
            widened[slot] = Side(new[-1].outputs[0], x.scale, x.zero, 16)
    new += builder(dataclasses.replace(c, widened=widened), to)
    if c.bits == 8:
        new.append(_retyped(new[-1].outputs[0], f"{c.head.name}.narrow", 8, to))
    return new


def _retyped(codes: ir.Value, name: str, bits: int, to: Target) -> ir.Node:
    row = integer.Rescale(0, 0, 1 << 30, 30, *ends(bits), bits)
    node = integer.build(row, [codes], to.graph, name, to.used)
    node.outputs[0].shape = codes.shape
    return node
