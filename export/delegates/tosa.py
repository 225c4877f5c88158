"""Integer nodes -> one TOSA 1.0 graph, described in plain rows; `tosa_worker.py` writes the file where the TOSA tools are.

Inside, images are NHWC: a value knows the order of its axes, and a TRANSPOSE is written only where an operator wants another one, so
that those of consecutive convolutions cancel; at the border everything is in ONNX order. Every RESCALE is exact, so a TOSA
implementation has one right answer. https://www.mlplatform.org/tosa/tosa_spec_1_0_1.html
"""

from __future__ import annotations

import base64
import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import onnx_ir as ir

from pteron.schema.meaning import int8 as arithmetic

from ..graph import int8 as integer
from . import rules

Order: TypeAlias = tuple[int, ...]
Row: TypeAlias = Any
"""A row of export/graph/int8.py of the kind that the function is listed for."""

NHWC: Final = (0, 2, 3, 1)
NLC: Final = (0, 2, 1)
MAX_RANK: Final = 6
MAX_WINDOW: Final = 8192
"""Kernels, strides, dilations and pads of TOSA's level 8K."""
LOWEST, HIGHEST = -128, 127
TYPES: Final = {"INT8": np.int8, "INT32": np.int32, "SHAPE": np.int64}


@dataclasses.dataclass(frozen=True, slots=True)
class Tensor:
    """`data` is little-endian; None where it is computed. A SHAPE has one axis."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Operator:
    """`attributes` in the order of the TOSA schema, enums by name."""

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: tuple[Any, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Graph:
    """Tensors before their use, operators in order."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """What tosa_worker.py reads, for JSON."""
        tensors = [
            [t.name, t.dtype, t.shape, t.data and base64.b64encode(t.data).decode()]
            for t in self.tensors
        ]
        operators = [[o.op, o.inputs, o.output, o.attributes] for o in self.operators]
        return {
            "tensors": tensors,
            "operators": operators,
            "inputs": self.inputs,
            "outputs": self.outputs,
        }


# --- what it takes --------------------------------------------------------------------------------


def refusal(node: ir.Node) -> str | None:
    """Why `node` cannot be TOSA, with the nearest change that makes it so; None where it can."""
    return rules.refusal(node, _rank_rule, _RULES, _LOWER)


def _rank_rule(extents: list[int]) -> str | None:
    if not 1 <= len(extents) <= MAX_RANK:
        return f"rank {len(extents)}, expected 1 to {MAX_RANK}; reshape it"
    return None


def _windows(node: ir.Node, kernel: Order, row: Row) -> str | None:
    if len(kernel) not in (1, 2):
        return f"{len(kernel)} spatial axes, expected 1 or 2; reshape some into the batch"
    pads, dilations = getattr(row, "pads", ()), getattr(row, "dilations", ())
    if max(*kernel, *row.strides, *pads, *dilations) > MAX_WINDOW:
        return f"a window beyond {MAX_WINDOW}; split it"
    return "negative pads; slice the input" if min((*pads, 0)) < 0 else None


def _conv_rule(node: ir.Node, row: integer.Conv) -> str | None:
    return _windows(node, row.w.shape[2:], row) or _sum_rule(row)


def _linear_rule(node: ir.Node, row: integer.Linear) -> str | None:
    return _sum_rule(row)


def _sum_rule(row: integer.Conv | integer.Linear) -> str | None:
    bounds = arithmetic.sum_bounds(row.w, row.bias)
    pairs = zip(bounds.tolist(), row.shift.tolist())
    if all(b < arithmetic.SUM_LIMIT and arithmetic.admits(b, shift) for b, shift in pairs):
        return None
    return f"sums up to {bounds.max()} leave what RESCALE takes at their shift; calibrate again"


def _max_pool_rule(node: ir.Node, row: integer.MaxPool) -> str | None:
    if max(row.dilations) > 1:
        return "MaxPool with dilations; TOSA has none"
    if any(p >= k for p, k in zip(row.pads, row.kernel_shape * 2)):
        return "pads as large as the window; make them smaller"
    return _windows(node, row.kernel_shape, row)


def _average_pool_rule(node: ir.Node, row: integer.AveragePool) -> str | None:
    return _windows(node, row.kernel_shape, row)


_RULES: Final[dict[type[Any], rules.Rule]] = {
    integer.Conv: _conv_rule,
    integer.Linear: _linear_rule,
    integer.MaxPool: _max_pool_rule,
    integer.AveragePool: _average_pool_rule,
}


# --- the graph being written ----------------------------------------------------------------------


class _Writer:
    """Tensors and operators so far, and where each ONNX value is in which orders of axes."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.operators: list[Operator] = []
        self.views: dict[ir.Value, dict[Order, str]] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._names = (f"t{i}" for i in itertools.count())

    def tensor(self, dtype: str, shape: Sequence[int], data: bytes | None = None) -> str:
        name = next(self._names)
        self.tensors[name] = Tensor(name, dtype, tuple(shape), data)
        return name

    def constant(self, dtype: str, array: Any) -> str:
        data = np.ascontiguousarray(array, TYPES[dtype])
        key = (dtype, data.shape, data.tobytes())
        if key not in self._constants:
            self._constants[key] = self.tensor(dtype, data.shape, key[2])
        return self._constants[key]

    def apply(
        self, op: str, inputs: Sequence[str], dtype: str, shape: Sequence[int], *attributes: Any
    ) -> str:
        out = self.tensor(dtype, shape)
        self.operators.append(Operator(op, tuple(inputs), out, attributes))
        return out

    def shape(self, name: str) -> tuple[int, ...]:
        return self.tensors[name].shape

    def define(self, value: ir.Value, name: str, order: Order | None = None) -> None:
        self.views[value] = {order or tuple(range(len(self.shape(name)))): name}

    def order(self, value: ir.Value) -> Order:
        """The order that the value was computed in."""
        return next(iter(self.views[value]))

    def read(self, value: ir.Value | None, order: Order | None = None) -> str:
        """The value with its axes in `order`; ONNX's where nothing is said."""
        assert value is not None
        has = self.order(value)
        order = order or tuple(range(len(has)))
        if order not in self.views[value]:
            name = self.views[value][has]
            perm = tuple(has.index(axis) for axis in order)
            self.views[value][order] = self.transpose(name, perm)
        return self.views[value][order]

    def transpose(self, name: str, perm: Order) -> str:
        shape = self.shape(name)
        moved = [axis for axis in perm if shape[axis] != 1]
        if moved == sorted(moved):  # only axes of extent 1 change places: the bytes stay
            return self.reshape(name, [shape[axis] for axis in perm])
        return self.apply("TRANSPOSE", [name], "INT8", [shape[axis] for axis in perm], perm)

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        if self.shape(name) == tuple(shape):
            return name
        wanted = self.constant("SHAPE", shape)
        return self.apply("RESHAPE", [name, wanted], self.tensors[name].dtype, shape)

    def rescale(
        self, name: str, dtype: str, multiplier: Any, shift: Any, x_zero: int, y_zero: int
    ) -> str:
        per_channel = isinstance(multiplier, np.ndarray)
        inputs = [
            name,
            self.constant("INT32", np.atleast_1d(multiplier)),
            self.constant("INT8", np.atleast_1d(shift)),
            self.constant(self.tensors[name].dtype, [x_zero]),
            self.constant(dtype, [y_zero]),
        ]
        attributes = (True, "SINGLE_ROUND", per_channel, False, False)
        return self.apply("RESCALE", inputs, dtype, self.shape(name), *attributes)

    def clamp(self, name: str, low: int, high: int) -> str:
        if (low, high) == (LOWEST, HIGHEST):
            return name
        return self.apply(
            "CLAMP", [name], "INT8", self.shape(name), [low & 255], [high & 255], "PROPAGATE"
        )

    def finish(self, name: str, row: Row) -> str:
        """int32 sums to int8 codes."""
        out = self.rescale(name, "INT8", row.multiplier, row.shift, 0, row.y_zero)
        return self.clamp(out, row.low, row.high)

    def fit(self, name: str, kernel: Order, row: Row) -> tuple[str, list[int]]:
        """An NHWC image and its pads [top, bottom, left, right] such that the windows end where the image ends."""
        shape = list(self.shape(name))
        pads = list(getattr(row, "pads", (0, 0, 0, 0)))
        dilations = getattr(row, "dilations", (1, 1))
        ends = []
        for i in range(2):
            span = (kernel[i] - 1) * dilations[i] + 1
            over = (shape[1 + i] + pads[i] + pads[2 + i] - span) % row.strides[i]
            ends.append(max(0, pads[2 + i] - over))
            shape[1 + i] -= max(0, over - pads[2 + i])
        if shape != list(self.shape(name)):
            start, size = self.constant("SHAPE", [0] * 4), self.constant("SHAPE", shape)
            name = self.apply("SLICE", [name, start, size], "INT8", shape)
        return name, [pads[0], ends[0], pads[1], ends[1]]


# --- one function an operator ---------------------------------------------------------------------


def _two_axes(row: Row) -> Row:
    """A window over one axis as one over two, the first of extent 1."""
    fields: dict[str, Any] = {}
    if len(row.strides) == 1:
        for name in ("strides", "dilations", "kernel_shape"):
            if hasattr(row, name):
                fields[name] = (1, *getattr(row, name))
        if hasattr(row, "pads"):
            fields["pads"] = (0, row.pads[0], 0, row.pads[1])
        if hasattr(row, "w"):
            fields["w"] = row.w[:, :, None]
    return dataclasses.replace(row, **fields)


def _image(out: _Writer, value: ir.Value | None) -> str:
    """b, c and one or two spatial axes as an NHWC image."""
    assert value is not None
    if len(out.order(value)) == 4:
        return out.read(value, NHWC)
    name = out.read(value, NLC)
    b, length, c = out.shape(name)
    return out.reshape(name, [b, 1, length, c])


def _extents(value: ir.Value) -> list[int]:
    """Of the NHWC image that a result is made as."""
    b, c, *s = (int(d) for d in value.shape)  # type: ignore[arg-type, union-attr]
    return [b, *([1] if len(s) == 1 else []), *s, c]


def _define_image(out: _Writer, value: ir.Value, name: str) -> None:
    if value.shape is not None and len(value.shape) == 4:
        out.define(value, name, NHWC)
    else:
        b, _, length, c = out.shape(name)
        out.define(value, out.reshape(name, [b, length, c]), NLC)


def _conv(out: _Writer, node: ir.Node, row: integer.Conv) -> None:
    row = _two_axes(row)
    channels, per_group = row.w.shape[0], row.w.shape[1]
    x, pads = out.fit(_image(out, node.inputs[0]), row.w.shape[2:], row)
    if row.group > 1 and per_group == 1:
        op = "DEPTHWISE_CONV2D"  # [kh, kw, c, channels / c]; result channels are c-major in both
        w = row.w.reshape(row.group, -1, *row.w.shape[2:]).transpose(2, 3, 0, 1)
    else:
        op, w = "CONV2D", _whole(row).transpose(0, 2, 3, 1)
    total = _convolve(out, op, x, w, row.bias, row.x_zero, _extents(node.outputs[0]), pads, row)
    assert out.shape(total)[-1] == channels
    _define_image(out, node.outputs[0], out.finish(total, row))


def _whole(row: integer.Conv) -> Any:
    """Weights of all groups over all input channels, zeros where a group has none of them."""
    if row.group == 1:
        return row.w
    n, c = row.w.shape[:2]
    whole = np.zeros((n, c * row.group, *row.w.shape[2:]), np.int8)
    for i in range(n):
        first = i // (n // row.group) * c
        whole[i, first : first + c] = row.w[i]
    return whole


def _convolve(
    out: _Writer,
    op: str,
    x: str,
    w: Any,
    bias: Any,
    x_zero: int,
    shape: Sequence[int],
    pads: Sequence[int],
    row: Row,
) -> str:
    inputs = [
        x,
        out.constant("INT8", w),
        out.constant("INT32", bias),
        out.constant("INT8", [x_zero]),
        out.constant("INT8", [0]),
    ]
    strides, dilations = getattr(row, "strides", (1, 1)), getattr(row, "dilations", (1, 1))
    attributes = (list(pads), list(strides), list(dilations), False, "INT32")
    return out.apply(op, inputs, "INT32", shape, *attributes)


def _linear(out: _Writer, node: ir.Node, row: integer.Linear) -> None:
    """A convolution of one pixel for each row."""
    n, k = row.w.shape
    x = out.read(node.inputs[0])
    *lead, _ = out.shape(x)
    rows = int(np.prod(lead, dtype=np.int64))
    pixels = out.reshape(x, [rows, 1, 1, k])
    w = row.w.reshape(n, 1, 1, k)
    total = _convolve(out, "CONV2D", pixels, w, row.bias, row.x_zero, [rows, 1, 1, n], [0] * 4, row)
    out.define(node.outputs[0], out.reshape(out.finish(total, row), [*lead, n]))


def _average_pool(out: _Writer, node: ir.Node, row: integer.AveragePool) -> None:
    """The sum over a window is a depthwise convolution with ones."""
    row = _two_axes(row)
    x, pads = out.fit(_image(out, node.inputs[0]), row.kernel_shape, row)
    channels = out.shape(x)[-1]
    ones = np.ones((*row.kernel_shape, channels, 1), np.int8)
    zeros = np.zeros(channels, np.int32)
    shape = _extents(node.outputs[0])
    total = _convolve(out, "DEPTHWISE_CONV2D", x, ones, zeros, row.x_zero, shape, pads, row)
    _define_image(out, node.outputs[0], out.finish(total, row))


def _max_pool(out: _Writer, node: ir.Node, row: integer.MaxPool) -> None:
    row = _two_axes(row)
    x, pads = out.fit(_image(out, node.inputs[0]), row.kernel_shape, row)
    attributes = (list(row.kernel_shape), list(row.strides), pads, "PROPAGATE")
    y = out.apply("MAX_POOL2D", [x], "INT8", _extents(node.outputs[0]), *attributes)
    _define_image(out, node.outputs[0], y)


def _add(out: _Writer, node: ir.Node, row: integer.Add) -> None:
    a, b = node.inputs[0], node.inputs[1]
    assert a is not None and b is not None
    order = out.order(a)
    left = out.rescale(out.read(a, order), "INT32", row.a_multiplier, row.a_shift, row.a_zero, 0)
    right = out.rescale(out.read(b, order), "INT32", row.b_multiplier, row.b_shift, row.b_zero, 0)
    total = out.apply("ADD", [left, right], "INT32", out.shape(left))
    out.define(node.outputs[0], out.finish(total, row), order)


def _rescale(out: _Writer, node: ir.Node, row: integer.Rescale) -> None:
    x = node.inputs[0]
    assert x is not None
    order = out.order(x)
    name = out.read(x, order)
    y = out.rescale(name, "INT8", row.multiplier, row.shift, row.x_zero, row.y_zero)
    out.define(node.outputs[0], out.clamp(y, row.low, row.high), order)


def _transpose(out: _Writer, node: ir.Node, row: integer.Transpose) -> None:
    """Nothing moves: y's axis i is x's axis perm[i], so the axes are only renamed."""
    x = node.inputs[0]
    assert x is not None
    order = out.order(x)
    out.define(node.outputs[0], out.read(x, order), tuple(row.perm.index(axis) for axis in order))


def _reshape(out: _Writer, node: ir.Node, row: integer.Reshape) -> None:
    shape = node.outputs[0].shape
    assert shape is not None
    out.define(node.outputs[0], out.reshape(out.read(node.inputs[0]), [int(d) for d in shape]))  # type: ignore[arg-type]


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


def lower(
    nodes: Sequence[ir.Node], inputs: Sequence[ir.Value], outputs: Sequence[ir.Value]
) -> Graph:
    """The TOSA graph of integer nodes in topological order; tensors at the border are int8, static, in ONNX order.

    Raises:
        DelegateError: a node for which `refusal` has a reason.
    """
    out = _Writer()
    for value in inputs:
        assert value.shape is not None
        out.define(value, out.tensor("INT8", [int(d) for d in value.shape]))  # type: ignore[arg-type]
    first = tuple(out.tensors)
    rules.write(nodes, out, refusal, _LOWER)
    last: list[str] = []
    for value in outputs:
        name = out.read(value)
        if name in first or name in last:  # a tensor is an input or an output of the graph, once
            name = out.apply("IDENTITY", [name], "INT8", out.shape(name))
        last.append(name)
    return Graph(tuple(out.tensors.values()), tuple(out.operators), first, tuple(last))
