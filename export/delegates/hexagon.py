"""The Hexagon delegate: integer nodes as operations of the DSP's image.

Inside, images have their channels last: a value knows the order of its axes, and bytes move only where an operation wants another one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import onnx_ir as ir

from pteron.schema.meaning import int8 as arithmetic

from ..graph import int8 as integer
from . import Delegate, Segment
from . import hexagon_image as image
from .hexagon_image import Code, Op, Window
from .payload import ALIGN
from .rules import Rule, refusal, write

Order: TypeAlias = tuple[int, ...]
Row: TypeAlias = Any
"""A row of export/graph/int8.py of the kind that the function is listed for."""


# --- what it takes --------------------------------------------------------------------------------


def supports(node: ir.Node) -> str | None:
    """Why the DSP does not take `node`, with the nearest change that makes it do so; None where it does."""
    return refusal(node, _extents, _RULES, _LOWER)


def _extents(extents: list[int]) -> str | None:
    if len(extents) > 8 or math.prod(extents) > image.MAX_REGION:
        return f"shape {extents} is beyond 8 axes or {image.MAX_REGION} bytes; split it"
    return None


def _window_rule(node: ir.Node, kernel: Order, row: Row, terms: int) -> str | None:
    pads, dilations = getattr(row, "pads", (0,)), getattr(row, "dilations", (1,))
    shape = (*_shape(node.inputs[0]), *_shape(node.outputs[0]))
    if len(kernel) > 2:
        return f"{len(kernel)} spatial axes, expected 1 or 2"
    if min(pads) < 0:
        return "negative pads; slice the input"
    if max(*kernel, *row.strides, *pads, *dilations) > image.MAX_KERNEL:
        return f"a window, stride or pad beyond {image.MAX_KERNEL}; split it"
    if max(shape) > image.MAX_EXTENT or terms > image.MAX_TERMS:
        return f"an axis beyond {image.MAX_EXTENT} or {terms} terms in a sum; split it"
    return None


def _conv_rule(node: ir.Node, row: integer.Conv) -> str | None:
    terms = math.prod(row.w.shape[1:])
    return _window_rule(node, row.w.shape[2:], row, terms) or _sum_rule(row)


def _linear_rule(node: ir.Node, row: integer.Linear) -> str | None:
    rows = math.prod(_shape(node.inputs[0])[:-1])
    if max(rows, *row.w.shape) > image.MAX_EXTENT:
        return f"{rows} rows or weights {row.w.shape}, at most {image.MAX_EXTENT}; split it"
    return _sum_rule(row)


def _sum_rule(row: integer.Conv | integer.Linear) -> str | None:
    bound = int(arithmetic.sum_bounds(row.w, row.bias).max(initial=0))
    if bound < arithmetic.SUM_LIMIT:
        return None
    return f"sums up to {bound} leave int32; split the sum"


def _pool_rule(node: ir.Node, row: integer.AveragePool | integer.MaxPool) -> str | None:
    return _window_rule(node, row.kernel_shape, row, math.prod(row.kernel_shape))


def _transpose_rule(node: ir.Node, row: integer.Transpose) -> str | None:
    if len(row.perm) > image.MOVE_AXES:
        return f"{len(row.perm)} axes to transpose, at most {image.MOVE_AXES}; merge some"
    if max(_shape(node.outputs[0])) > image.MAX_EXTENT:
        return f"an axis beyond {image.MAX_EXTENT}; split it"
    return None


_RULES: Final[dict[type[Any], Rule]] = {
    integer.Conv: _conv_rule,
    integer.Linear: _linear_rule,
    integer.MaxPool: _pool_rule,
    integer.AveragePool: _pool_rule,
    integer.Transpose: _transpose_rule,
}


def _shape(value: ir.Value | None) -> tuple[int, ...]:
    """Static, as `supports` has seen."""
    assert value is not None and value.shape is not None
    return tuple(int(d) for d in value.shape)  # type: ignore[arg-type]


# --- the program being written --------------------------------------------------------------------


class _Writer:
    """Operations and tensors so far, and where each ONNX value is in which orders of axes."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.shapes: list[tuple[int, ...]] = []
        self.views: dict[ir.Value, dict[Order, int]] = {}

    def tensor(self, shape: Sequence[int]) -> int:
        self.shapes.append(tuple(shape))
        return len(self.shapes) - 1

    def define(self, value: ir.Value, tensor: int, order: Order | None = None) -> None:
        self.views[value] = {order or tuple(range(len(_shape(value)))): tensor}

    def order(self, value: ir.Value) -> Order:
        """The order that the value was computed in."""
        return next(iter(self.views[value]))

    def read(self, value: ir.Value, order: Order | None = None) -> int:
        """The value with its axes in `order`; ONNX's where nothing is said."""
        has = self.order(value)
        order = order or tuple(range(len(has)))
        if order not in self.views[value]:
            tensor = self.views[value][has]
            shape = [_shape(value)[axis] for axis in has]
            self.views[value][order] = self._moved(
                tensor, shape, [has.index(axis) for axis in order]
            )
        return self.views[value][order]

    def _moved(self, tensor: int, shape: Sequence[int], perm: Sequence[int]) -> int:
        moved = [axis for axis in perm if shape[axis] != 1]
        if moved == sorted(moved):
            return tensor
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        rest = image.MOVE_AXES - len(moved)
        extents = [1] * rest + [shape[axis] for axis in moved]
        steps = [0] * rest + [strides[axis] for axis in moved]
        y = self.tensor([shape[axis] for axis in perm])
        detail = struct.pack("<12I", *extents, *steps)
        self.ops.append(Op(Code.MOVE, tensor, y, detail))
        return y

    def count(self, tensor: int) -> bytes:
        return struct.pack("<I", math.prod(self.shapes[tensor]))


# --- one function an operator ---------------------------------------------------------------------


def _last(value: ir.Value | None) -> Order:
    """Channels last."""
    rank = len(_shape(value))
    return (0, *range(2, rank), 1)


def _pair(values: Sequence[int], fill: int) -> tuple[int, int]:
    """Of one spatial axis: a window of one row."""
    return (fill, values[0]) if len(values) == 1 else (values[0], values[1])


def _images(node: ir.Node, kernel: Sequence[int], row: Row, groups: int) -> Window:
    (batch, c, *extents), (_, n, *out) = _shape(node.inputs[0]), _shape(node.outputs[0])
    axes = len(kernel)
    return Window(
        batch,
        *_pair(extents, 1),
        c // groups,
        *_pair(out, 1),
        n // groups,
        *_pair(kernel, 1),
        *_pair(row.strides, 1),
        *_pair(getattr(row, "pads", (0,) * 2 * axes)[:axes], 0),
        *_pair(getattr(row, "dilations", (1,) * axes), 1),
        groups,
    )


def _through(
    out: _Writer,
    node: ir.Node,
    code: Code,
    window: Window,
    tables: image.Tables,
    x_zero: int = 0,
    y_zero: int = 0,
    low: int = arithmetic.LOWEST,
    high: int = arithmetic.HIGHEST,
) -> None:
    """Appends an operation over windows."""
    x, y = node.inputs[0], node.outputs[0]
    assert x is not None
    order = _last(y)
    result = out.tensor([_shape(y)[axis] for axis in order])
    gathers = code is Code.CONV and not window.is_direct
    scratch = image.CHUNK * window.terms + ALIGN if gathers else 0
    op = Op(
        code, out.read(x, order), result, window.pack(), None, scratch, tables,
        x_zero=x_zero, y_zero=y_zero, low=low, high=high,
    )  # fmt: skip
    out.ops.append(op)
    out.define(y, result, order)


def _conv(out: _Writer, node: ir.Node, row: integer.Conv) -> None:
    n, per_group, *kernel = row.w.shape
    channels_last = np.moveaxis(row.w, 1, -1)
    numbers = (row.bias, row.multiplier, row.shift, row.x_zero)
    codes = (row.x_zero, row.y_zero, row.low, row.high)
    if row.group == n and per_group == 1:
        window = _images(node, kernel, row, 1)
        tables = image.depthwise(channels_last.reshape(n, -1), *numbers)
        _through(out, node, Code.DEPTHWISE, window, tables, *codes)
    else:
        window = _images(node, kernel, row, row.group)
        tables = image.dense(channels_last, *numbers, row.group)
        _through(out, node, Code.CONV, window, tables, *codes)


def _linear(out: _Writer, node: ir.Node, row: integer.Linear) -> None:
    """A convolution of one pixel for each row."""
    x, y = node.inputs[0], node.outputs[0]
    assert x is not None
    n, k = row.w.shape
    rows = math.prod(_shape(x)[:-1])
    window = Window(1, 1, rows, k, 1, rows, n)
    tables = image.dense(row.w, row.bias, row.multiplier, row.shift, row.x_zero, 1)
    scratch = 0 if window.is_direct else image.CHUNK * window.terms + ALIGN
    result = out.tensor(_shape(y))
    op = Op(
        Code.CONV, out.read(x), result, window.pack(), None, scratch, tables,
        x_zero=row.x_zero, y_zero=row.y_zero, low=row.low, high=row.high,
    )  # fmt: skip
    out.ops.append(op)
    out.define(y, result)


def _average_pool(out: _Writer, node: ir.Node, row: integer.AveragePool) -> None:
    """The sum over a window is a depthwise convolution with ones."""
    c, taps = _shape(node.inputs[0])[1], math.prod(row.kernel_shape)
    multiplier, shift = np.full(c, row.multiplier, np.int32), np.full(c, row.shift, np.int32)
    ones, bias = np.ones((c, taps), np.int8), np.zeros(c, np.int32)
    tables = image.depthwise(ones, bias, multiplier, shift, row.x_zero)
    window = _images(node, row.kernel_shape, row, 1)
    codes = (row.x_zero, row.y_zero, row.low, row.high)
    _through(out, node, Code.DEPTHWISE, window, tables, *codes)


def _max_pool(out: _Writer, node: ir.Node, row: integer.MaxPool) -> None:
    _through(out, node, Code.MAX_POOL, _images(node, row.kernel_shape, row, 1), image.Tables())


def _add(out: _Writer, node: ir.Node, row: integer.Add) -> None:
    a, b = node.inputs[0], node.inputs[1]
    assert a is not None and b is not None
    order = out.order(a)
    left, right = out.read(a, order), out.read(b, order)
    tables = image.factors(
        (row.a_multiplier, row.a_shift),
        (row.b_multiplier, row.b_shift),
        (row.multiplier, row.shift),
    )
    y = out.tensor(out.shapes[left])
    op = Op(
        Code.ADD, left, y, out.count(left), right, 0, tables,
        x_zero=row.a_zero, x2_zero=row.b_zero, y_zero=row.y_zero, low=row.low, high=row.high,
    )  # fmt: skip
    out.ops.append(op)
    out.define(node.outputs[0], y, order)


def _rescale(out: _Writer, node: ir.Node, row: integer.Rescale) -> None:
    """A clamp where scale and zero point stay."""
    value = node.inputs[0]
    assert value is not None
    order = out.order(value)
    x = out.read(value, order)
    y = out.tensor(out.shapes[x])
    clamps = row.multiplier == 1 << row.shift and row.x_zero == row.y_zero
    code = Code.CLAMP if clamps else Code.RESCALE
    tables = image.Tables() if clamps else image.factors((row.multiplier, row.shift))
    op = Op(
        code, x, y, out.count(x), None, 0, tables,
        x_zero=row.x_zero, y_zero=row.y_zero, low=row.low, high=row.high,
    )  # fmt: skip
    out.ops.append(op)
    out.define(node.outputs[0], y, order)


def _transpose(out: _Writer, node: ir.Node, row: integer.Transpose) -> None:
    """Nothing moves: y's axis i is x's axis perm[i], so the axes are only renamed."""
    x = node.inputs[0]
    assert x is not None
    order = out.order(x)
    renamed = tuple(row.perm.index(axis) for axis in order)
    out.define(node.outputs[0], out.read(x, order), renamed)


def _reshape(out: _Writer, node: ir.Node, row: integer.Reshape) -> None:
    x = node.inputs[0]
    assert x is not None
    out.define(node.outputs[0], out.read(x))


_LOWER: Final[dict[type[Any], Callable[[_Writer, ir.Node, Row], None]]] = {
    integer.Conv: _conv,
    integer.Linear: _linear,
    integer.Add: _add,
    integer.AveragePool: _average_pool,
    integer.Rescale: _rescale,
    integer.MaxPool: _max_pool,
    integer.Transpose: _transpose,
    integer.Reshape: _reshape,
}


def compile_segment(segment: Segment) -> bytes:
    """The payload of a segment.

    Raises:
        DelegateError: a node for which `supports` has a reason, or more memory than the image takes.
    """
    out = _Writer()
    inputs = []
    for value in segment.inputs:
        tensor = out.tensor(_shape(value))
        out.define(value, tensor)
        inputs.append((tensor, _shape(value)))
    write(segment.nodes, out, supports, _LOWER)
    outputs = [(out.read(value), _shape(value)) for value in segment.outputs]
    return image.payload(out.ops, out.shapes, inputs, outputs)


DELEGATE: Final = Delegate("hexagon", image.TARGET, supports, compile_segment)
