"""Integer nodes: the static int8 and int16 operators of a Graph, what the integer pass writes and the CPU and delegates read.

They are ONNX nodes of domain `pteron.integer` over int8 tensors in ONNX layout, or over int16 ones wherever i8 stands for an activation;
the result has the type of the operands, of Rescale `bits`. A field of a row below is an initializer where it
is an array, in this order after the activations, and an attribute of its name otherwise. schema/meaning/int8.py has the meaning. Beside
them stand the plain ONNX operators that move such codes or choose among them, whose two sides have one scale.

    Conv(x i8[b, c, *s], w i8[n, c // group, *k], bias i32[n], multiplier i32[n], shift i8[n]) -> i8[b, n, *o]
    Linear(x i8[..., k], w i8[n, k], bias, multiplier, shift) -> i8[..., n]
    Product(a i8[*b, m, k], b i8[*b, k, n]) -> i8[*b, m, n], both activations
    Add(a i8, b i8)                 same shape
    Mul(a i8, b i8)                 one shape is spread over the other
    AveragePool(x i8[b, c, *s])     pads count as x_zero
    InnerAverage(x i8[b, c, *s], multiplier i32[*o])   pads do not count: a factor for each place
    Rescale(x i8)                   another scale, and Relu or Clip by low and high
    Interpolate(x i8[b, c, *s])     -> i8[b, c, *extents], Resize between elements (`int8_resize`)
    MaxPool(x i16)                  of int8 it is ONNX's, which has no int16
    ONNX: MaxPool, Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Concat, Resize to the nearest
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import ModelError
from pteron.schema.meaning import int8 as integer
from pteron.schema.meaning.int8 import SAMES
from pteron.schema.meaning.windows import same_pads

from .. import graph as g

DOMAIN: Final = g.INTEGER
VERSION: Final = 1

Array = NDArray[Any]
Axes = tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Conv:
    """Convolution; the kernel's extents are w.shape[2:]; pads are begin..., end... and count as x_zero. `same`: as SAMES, of extents
    that are known while running only, pads are 0 then."""

    w: Array
    bias: Array
    multiplier: Array
    shift: Array
    strides: Axes
    pads: Axes
    dilations: Axes
    group: int
    x_zero: int
    y_zero: int
    low: int
    high: int
    same: int = 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Product of the last axis with w's."""

    w: Array
    bias: Array
    multiplier: Array
    shift: Array
    x_zero: int
    y_zero: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True, slots=True)
class Add:
    """Sum of two tensors of one shape."""

    a_zero: int
    a_multiplier: int
    a_shift: int
    b_zero: int
    b_multiplier: int
    b_shift: int
    y_zero: int
    multiplier: int
    shift: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Factors:
    """Two activations whose codes, less their zero points, are multiplied and rescaled."""

    a_zero: int
    b_zero: int
    y_zero: int
    multiplier: int
    shift: int
    low: int
    high: int


class Mul(_Factors):
    """Product element by element of two tensors, one spread over the other as ONNX does."""

    __slots__ = ()


class Product(_Factors):
    """Product of matrices that are both computed while running; axes before the last two as in ONNX's MatMul."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True, slots=True)
class AveragePool:
    """Means of windows, pads begin..., end... counted as x_zero; ReduceMean over the spatial axes has one window."""

    kernel_shape: Axes
    strides: Axes
    pads: Axes
    x_zero: int
    y_zero: int
    multiplier: int
    shift: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class InnerAverage:
    """Means of what windows have inside x; pads begin..., end... as far as windows reach, which ceil_mode lets hang over the end."""

    multiplier: Array
    kernel_shape: Axes
    strides: Axes
    pads: Axes
    dilations: Axes
    x_zero: int
    y_zero: int
    shift: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True, slots=True)
class Rescale:
    """The same values at another scale or of other `bits`, 8 or 16, clamped."""

    x_zero: int
    y_zero: int
    multiplier: int
    shift: int
    low: int
    high: int
    bits: int = 8


@dataclasses.dataclass(frozen=True, slots=True)
class MaxPool:
    """ONNX's MaxPool of int8, its attributes complete, and ours of int16; pads count as the least code."""

    kernel_shape: Axes
    strides: Axes
    pads: Axes
    dilations: Axes


@dataclasses.dataclass(frozen=True, slots=True)
class Transpose:
    """ONNX Transpose of int8."""

    perm: Axes


@dataclasses.dataclass(frozen=True, slots=True)
class Reshape:
    """ONNX Reshape, Flatten, Squeeze or Unsqueeze of int8: the elements in order; the output's value has the shape."""


@dataclasses.dataclass(frozen=True, slots=True)
class Concat:
    """ONNX Concat of int8 tensors of one scale."""

    axis: int


@dataclasses.dataclass(frozen=True, slots=True)
class Resize:
    """ONNX Resize of int8 that copies the nearest element."""


@dataclasses.dataclass(frozen=True, slots=True)
class Interpolate:
    """Resize between elements: along axis 2 + i element j lies at (j * denominators[i] + offsets[i]) / numerators[i] of x."""

    extents: Axes
    numerators: Axes
    denominators: Axes
    offsets: Axes
    multiplier: int
    shift: int


Operation: TypeAlias = (
    Conv | Linear | Product | Add | Mul | AveragePool | InnerAverage | Rescale | MaxPool | Transpose | Reshape | Concat | Resize
    | Interpolate
)  # fmt: skip

OWN: Final[dict[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        Conv,
        Linear,
        Product,
        Add,
        Mul,
        AveragePool,
        InnerAverage,
        Rescale,
        Interpolate,
        MaxPool,
    )
}
PAIRS: Final = ("Add", "Mul", "Product")
TYPES: Final = {8: ir.DataType.INT8, 16: ir.DataType.INT16}
"""Of activations, by their bits."""


def activations(node: ir.Node) -> int:
    """How many inputs of an integer node stand before the constants."""
    return len(node.inputs) if node.op_type == "Concat" else 2 if node.op_type in PAIRS else 1


def is_integer(node: ir.Node) -> bool:
    """Whether `node` is one of this page's: ours, or plain ONNX that reads int8."""
    return read(node) is not None


def read(node: ir.Node) -> Operation | None:
    """The row of an integer node; None for any other node.

    Raises:
        ModelError: a node of our domain that is not as this page says.
    """
    if node.domain == DOMAIN:
        return _own(node)
    if not node.inputs or node.inputs[0] is None or node.inputs[0].dtype not in TYPES.values():
        return None
    if g.is_op(node, *KEEPS):
        return Reshape()
    rank = g.rank(node.inputs[0])
    if g.is_op(node, "Transpose"):
        perm = g.attr(node, "perm") or (None if rank is None else range(rank)[::-1])
        return None if perm is None else Transpose(tuple(map(int, perm)))
    if g.is_op(node, "MaxPool"):
        return max_pool(node)
    if g.is_op(node, "Concat"):
        return Concat(int(g.attr(node, "axis")))
    return Resize() if g.is_op(node, "Resize") and copies(node) else None


def _own(node: ir.Node) -> Operation:
    where = f"{DOMAIN}.{node.op_type} {node.name!r}"
    kind = OWN.get(node.op_type)
    if kind is None:
        raise ModelError(f"{where}: expected one of {', '.join(OWN)}; export again")
    found: dict[str, Any] = {}
    slot = activations(node)
    for field in dataclasses.fields(kind):
        if field.type == "Array":
            tensor = g.constant_tensor(node.inputs[slot]) if slot < len(node.inputs) else None
            value: Any = None if tensor is None else tensor.numpy()
            slot += 1
        else:
            value = g.attr(node, field.name)
            value = value if value is None or isinstance(value, int) else tuple(map(int, value))
        if value is None and field.default is not dataclasses.MISSING:
            value = field.default
        if value is None:
            raise ModelError(f"{where}: expected {field.name}, got nothing; export again")
        found[field.name] = value
    row: Operation = kind(**found)
    return row


def max_pool(node: ir.Node) -> MaxPool | None:
    """None where the padding depends on the extents or the indices are wanted."""
    kernel = tuple(map(int, g.attr(node, "kernel_shape")))
    found = window(node, kernel)
    if found is None or g.attr(node, "ceil_mode", 0) or len(node.outputs) > 1:
        return None
    return MaxPool(kernel, *found)


def build(
    row: Operation,
    activations: Sequence[ir.Value],
    graph: ir.Graph,
    name: str,
    used: set[str] | None = None,
) -> ir.Node:
    """The node of one of our rows, in no graph yet; its constants become initializers of `graph` (`used`: names that are taken)."""
    inputs: list[ir.Value] = list(activations)
    attributes: list[ir.Attr] = []
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if isinstance(value, np.ndarray):
            inputs.append(g.initializer(graph, value, f"{name}.{field.name}", used))
        elif isinstance(value, int):
            attributes.append(ir.AttrInt64(field.name, value))
        else:
            attributes.append(ir.AttrInt64s(field.name, value))
    kind = result_type(row, activations[0])
    out = ir.Value(name=f"{name}.i8", type=ir.TensorType(kind))  # of unknown shape
    return ir.Node(DOMAIN, type(row).__name__, inputs, attributes, outputs=[out], name=name)


def result_type(row: Operation, x: ir.Value | None) -> ir.DataType:
    """Of a node of ours whose first operand is x."""
    if isinstance(row, Rescale):
        return TYPES[row.bits]
    return ir.DataType.INT8 if x is None or x.dtype is None else x.dtype


def run(node: ir.Node, *arrays: Array) -> Array:
    """What an integer node computes, in NumPy: the reference for every implementation.

    Args:
        arrays: The activations; for Reshape and its kin every input, the constants too.

    Raises:
        ModelError: `node` is no integer node.
    """
    row = read(node)
    if row is None:
        raise ModelError(f"{node.op_type} {node.name!r}: expected an integer node")
    if isinstance(row, Reshape):
        return KEEPS[node.op_type](node, *arrays)
    if isinstance(row, Concat):
        return np.concatenate(arrays, row.axis)
    if isinstance(row, Resize):
        raise ModelError(f"Resize {node.name!r}: its codes move as ONNX says; ask its reference")
    fields = {f.name: getattr(row, f.name) for f in dataclasses.fields(row)}
    return _RUN[type(row)](*arrays[: activations(node)], **fields)


def _transpose(x: Array, perm: Axes) -> Array:
    return x.transpose(perm)


_RUN: Final[dict[type[Any], Callable[..., Array]]] = {
    Conv: integer.conv,
    Linear: integer.linear,
    Product: integer.product,
    Add: integer.add,
    Mul: integer.multiply,
    AveragePool: integer.average_pool,
    InnerAverage: integer.inner_average,
    Rescale: integer.requantize,
    Interpolate: integer.interpolate,
    MaxPool: integer.max_pool,
    Transpose: _transpose,
}


def _reshape(node: ir.Node, x: Array, shape: Array) -> Array:
    keep = not g.attr(node, "allowzero", 0)
    wanted = [x.shape[i] if n == 0 and keep else int(n) for i, n in enumerate(shape)]
    return x.reshape(wanted)


def _flatten(node: ir.Node, x: Array) -> Array:
    axis = int(g.attr(node, "axis", 1))
    axis += x.ndim if axis < 0 else 0
    rows = int(np.prod(x.shape[:axis], dtype=np.int64))
    return x.reshape(rows, -1 if rows else 0)


def _squeeze(node: ir.Node, x: Array, axes: Array | None = None) -> Array:
    return np.squeeze(x, None if axes is None else tuple(map(int, axes)))


def _unsqueeze(node: ir.Node, x: Array, axes: Array) -> Array:
    return np.expand_dims(x, tuple(map(int, axes)))


KEEPS: Final[dict[str, Callable[..., Array]]] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
"""Operators that keep the elements in order, and what they compute."""


class Form(enum.Enum):
    """What quantize/recipe/units.py plans, and passes/int8/clusters.py builds, with one function each."""

    CONVOLUTION = enum.auto()
    PRODUCT = enum.auto()
    SUM = enum.auto()
    SCALING = enum.auto()  # element by element
    JOIN = enum.auto()
    FUNCTION = enum.auto()  # of one value: its 256 results are looked up
    MEAN = enum.auto()
    MOVE = enum.auto()  # codes are moved or chosen: the result is on the grid of the operand
    LIMITS = enum.auto()


FORMS: Final[dict[str, Form]] = {
    "Conv": Form.CONVOLUTION,
    "Gemm": Form.PRODUCT,
    "MatMul": Form.PRODUCT,
    "Add": Form.SUM,
    "Mul": Form.SCALING,
    "Concat": Form.JOIN,
    **dict.fromkeys(
        ("Sigmoid", "Tanh", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu"), Form.FUNCTION
    ),
    "AveragePool": Form.MEAN,
    "GlobalAveragePool": Form.MEAN,
    "ReduceMean": Form.MEAN,
    "MaxPool": Form.MOVE,
    "Transpose": Form.MOVE,
    "Resize": Form.MOVE,
    **dict.fromkeys(KEEPS, Form.MOVE),
    "Relu": Form.LIMITS,
    "Clip": Form.LIMITS,
}
"""Every ONNX operator that static int8 has."""


def form(node: ir.Node | None) -> Form | None:
    return FORMS.get(node.op_type) if node is not None and node.domain == "" else None


# --- which nodes have an integer form: the quantizer asks before, the pass behind -------------------------------------------

Window: TypeAlias = tuple[Axes, Axes, Axes]
"""Strides, pads and dilations, written out."""


def window(node: ir.Node, kernel: Sequence[int]) -> Window | None:
    """Of a convolution or pool; None: padding that depends on extents which are known while running only."""
    axes = len(kernel)
    strides, dilations = _steps(node, axes)
    auto = g.attr(node, "auto_pad", "NOTSET")
    if auto in ("NOTSET", "VALID"):
        pads = g.attr(node, "pads") if auto == "NOTSET" else None
        return strides, tuple(map(int, pads or [0] * 2 * axes)), dilations
    extents = (g.dims(node.inputs[0]) or [None] * (axes + 2))[2:]
    pairs = []
    for n, s, k, d in zip(extents, strides, kernel, dilations, strict=True):
        if s != 1 and not isinstance(n, int):
            return None
        known = n if isinstance(n, int) else 1  # with a stride of 1 any extent has the same pads
        pairs.append(same_pads(known, s, (k - 1) * d + 1, auto))
    first, last = zip(*pairs, strict=True)
    return strides, (*first, *last), dilations


def _steps(node: ir.Node, axes: int) -> tuple[Axes, Axes]:
    """Strides and dilations."""
    given = (g.attr(node, name) or [1] * axes for name in ("strides", "dilations"))
    strides, dilations = (tuple(map(int, n)) for n in given)
    return strides, dilations


def convolved(node: ir.Node, kernel: Sequence[int]) -> tuple[Window, int]:
    """The window of a convolution, and which of SAMES says its pads: where a run decides them."""
    found = window(node, kernel)
    if found is not None:
        return found, 0
    strides, dilations = _steps(node, len(kernel))
    return (strides, (0,) * 2 * len(kernel), dilations), SAMES.index(g.attr(node, "auto_pad"))


def averages(node: ir.Node) -> bool:
    """Whether every window of an AveragePool has one number of elements, pads counted, whatever the extents; see `counted`."""
    found = window(node, g.attr(node, "kernel_shape"))
    if found is None or g.attr(node, "ceil_mode", 0):
        return False
    _, pads, dilations = found
    counted = not any(pads) or bool(g.attr(node, "count_include_pad", 0))
    return counted and all(n == 1 for n in dilations)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Windows of an AveragePool over numbers of elements, `counts` [*o], that they have at each place; `pads` as `InnerAverage` has them."""

    strides: Axes
    pads: Axes
    dilations: Axes
    counts: Array


def counted(node: ir.Node, extents: Sequence[int | str | None] | None) -> Counted | None:
    """Of an AveragePool over x of these extents [b, c, *s]; None where they are not numbers, or a window has nothing inside.

    Elements count inside x or, with count_include_pad, inside x padded, which the windows of ceil_mode hang over.
    """
    kernel = tuple(map(int, g.attr(node, "kernel_shape")))
    found = window(node, kernel)
    sizes = [n for n in (extents or ())[2:] if isinstance(n, int)]
    if found is None or len(sizes) != len(kernel):
        return None
    strides, pads, dilations = found
    begins, ends = pads[: len(kernel)], pads[len(kernel) :]
    ceil, whole = bool(g.attr(node, "ceil_mode", 0)), bool(g.attr(node, "count_include_pad", 0))
    counts, reach = np.ones((), np.int64), []
    for n, k, s, d, b, e in zip(sizes, kernel, strides, dilations, begins, ends, strict=True):
        span = (k - 1) * d + 1
        places = (n + b + e - span) // s + 1
        if ceil:
            places = min(-(-(n + b + e - span) // s) + 1, (n + b - 1) // s + 1)
        if places < 1:
            return None
        taps = np.arange(places)[:, None] * s + np.arange(k) * d - b
        inside = (taps >= (-b if whole else 0)) & (taps < n + (e if whole else 0))
        counts = counts[..., None] * inside.sum(1)
        reach.append(max((places - 1) * s + span - n - b, 0))
    return Counted(strides, (*begins, *reach), dilations, counts) if counts.all() else None


def copies(node: ir.Node) -> bool:
    """Whether a Resize takes every element from one place of x, and from inside it."""
    crops = g.attr(node, "coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    return not crops and str(g.attr(node, "mode", "nearest")) == "nearest"


def spreads(a: Sequence[int | str | None] | None, b: Sequence[int | str | None] | None) -> bool:
    """Whether one of two shapes has the other spread over it, as far as is known before a run."""
    if a is None or b is None or None in (*a, *b):
        return False
    big, small = (a, b) if len(a) >= len(b) else (b, a)
    pairs = list(zip(reversed(big), reversed(small), strict=False))
    return all(n == m or m == 1 for n, m in pairs) or (
        len(a) == len(b) and all(n == m or n == 1 for n, m in pairs)
    )
