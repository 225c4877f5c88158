"""Integer nodes (export/graph/int8.py): products by `conv_i8` and `conv_i16`, sums by `add_i8` and `add_i16`, the rest in 64-bit steps;
channels last.

A Linear is a convolution of its rows with a kernel of one. Pools, and products of what is computed while running, sum in f32, which
is exact while no sum can pass 2^24.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.meaning import int8 as meaning

from ....graph import int8 as integer
from ....program.terms import Term, cast, term
from ....program.views import Shape
from ....sizes.extents import product
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ...windows import Window, channels_first, channels_last, counts, same_window
from ..moving.pads import padded_window
from ..rows.reduction import reduce
from .conv import convolve
from .products import multiply

Array = NDArray[Any]
Row = TypeVar("Row")

EXACT_F32: Final = 2**24
EXACT_TERMS: Final = EXACT_F32 // (255 * 255)
LEAST_ADDEND_SHIFT: Final = {"i8": 10, "i16": 17}
"""Of `add_i8` and `add_i16`: their addends fit in int32 then. Those of integer.add_factors have 11 and 17, and more."""
NARROW: Final = 33
"""The least shift of a factor for 32-bit lanes."""
MOST_UP: Final = 13
"""Powers of two that an addend of `add_i16` may be multiplied by,"""
WORD_OF_CODE: Final = 7
"""and a code of int8, less a zero point, to be a word still."""
STEPS: Final = {"i8": 255, "i16": 65535}
"""The most that a code is from a zero point."""


def row_of(l: Lowering, n: Node, kind: type[Row]) -> Row:
    """What the node says.

    Raises:
        RefusedError: a shift is out of the range of RESCALE.
    """
    assert n.origin is not None
    row = integer.read(n.origin)
    assert isinstance(row, kind)
    fields = dataclasses.asdict(row)  # type: ignore[call-overload]
    for name, value in fields.items():
        if name.endswith("shift") and not (
            np.all(np.asarray(value) >= 1) and np.all(np.asarray(value) <= 62)
        ):
            l.fail(f"{name} {value}; expected 1 .. 62")
    return row


# --- products -----------------------------------------------------------------------------------------------------------


@lowers("Conv", domain=integer.DOMAIN)
def lower_conv(l: Lowering, n: Node) -> Ref:
    row = row_of(l, n, integer.Conv)
    x, axes = channels_last(l, n[0]), row.w.ndim - 2
    kernel = row.w.shape[2:]
    window = Window(kernel, row.strides, row.dilations, row.pads[:axes], row.pads[axes:])
    rows = np.ascontiguousarray(np.moveaxis(row.w, 1, -1).reshape(len(row.w), -1))
    if row.same:
        window = same_window(window, x.shape[1:-1], meaning.SAMES[row.same])
    out = counts(x.shape[1:-1], window)
    x, window = padded_window(l, x, window, l.values.scalar(row.x_zero, x.dtype))
    return channels_first(l, _product(l, x, rows, row, window, out, row.group))


@lowers("Linear", domain=integer.DOMAIN)
def lower_linear(l: Lowering, n: Node) -> Ref:
    row = row_of(l, n, integer.Linear)
    x = n[0]
    rows = l.reshape(x, (1, product(x.shape[:-1]), x.shape[-1]))
    window = Window((1,), (1,), (1,), (0,), (0,))
    y = _product(l, rows, row.w, row, window, rows.shape[1:-1], 1)
    return l.reshape(y, (*x.shape[:-1], len(row.w)))


def _product(
    l: Lowering,
    x: Ref,
    w: Array,
    row: integer.Conv | integer.Linear,
    window: Window,
    out: Shape,
    groups: int,
) -> Ref:
    """[b, *i, c] and [n, k] to [b, *out, n]. The runtime sums x and not x - x_zero: the difference goes to the bias."""
    moved = row.bias.astype(np.int64) - row.x_zero * w.astype(np.int64).sum(1)
    bias = moved.astype(np.int32)  # modulo 2^32, as the sums
    parts = (w, bias, row.multiplier.astype(np.int32), row.shift.astype(np.int8))
    attrs = {
        "kernel": window.kernel,
        "stride": window.stride,
        "dilation": window.dilation,
        "begin": window.begin,
        "end": window.end,
        "spread": (1,) * len(window.kernel),
        "groups": groups,
        "x_zero": row.x_zero,
        "y_zero": row.y_zero,
        "low": row.low,
        "high": row.high,
    }
    x = l.agree(
        x,
        -1,
        groups * w.shape[1] // product(window.kernel),
        "channels of the input and of the weights",
    )
    if x.dtype == "i16":
        bounds = meaning.sum_bounds(w, row.bias, 16, row.x_zero)
        del attrs["spread"]
        attrs["wide"] = int((bounds >= meaning.SUM_LIMIT).any())
        if attrs["wide"] and (bias != moved).any():
            l.fail("sums beyond int32 that a zero point moves; expected zero point 0")
    shape = (x.shape[0], *out, len(w))
    operands = [x, *(l.values.constant(part) for part in parts)]
    return l.one(f"conv_{x.dtype}", operands, attrs, x.dtype, shape)


# --- element by element -------------------------------------------------------------------------------------------------


@lowers("Add", domain=integer.DOMAIN)
def lower_add(l: Lowering, n: Node) -> Ref:
    row = row_of(l, n, integer.Add)
    least = LEAST_ADDEND_SHIFT[n[0].dtype]
    if min(row.a_shift, row.b_shift) < least:
        l.fail(f"a_shift {row.a_shift}, b_shift {row.b_shift}; expected {least} .. 62")
    return _add(l, [n[0], n[1]], dataclasses.asdict(row))


@lowers("Rescale", domain=integer.DOMAIN)
def lower_rescale(l: Lowering, n: Node) -> Ref:
    """An addition without second addend, of words where one side has them: bytes become words first, words bytes last.

    The addend is x times a power of two, by which the factor is the smaller, so that 32-bit lanes do (kernels/requantize/rescale.h): the
    quotient is the same, and rounded once.
    """
    row, x = row_of(l, n, integer.Rescale), n[0]
    attrs = dataclasses.asdict(row)
    to = f"i{attrs.pop('bits')}"
    x_zero = attrs.pop("x_zero")
    up = 0 if to == x.dtype == "i8" else max(NARROW - row.shift, 0)
    if to != x.dtype == "i8":
        more = min(max(up - MOST_UP, 0), WORD_OF_CODE)
        x = l.pointwise(lambda t: _whole(cast(t - x_zero, "f32") * 2.0**more, "i16"), [x], "i16")
        attrs["shift"], up, x_zero = row.shift + more, up - more, 0
    up = min(up, MOST_UP)
    attrs["shift"] += up
    same = {"a_zero": x_zero, "a_multiplier": 1 << 30, "a_shift": 30 - up}
    y = _add(l, [x], attrs | same)
    return y if y.dtype == to else l.pointwise(lambda t: _whole(cast(t, "f32"), to), [y], to)


def _whole(v: Term, dtype: str) -> Term:
    """Whole numbers of f32 that `dtype` holds become it, by the steps of QuantizeLinear."""
    row = DTYPES[dtype]
    far = 2.0 * (row.most - row.least + 1)
    near = term("max", term("min", term("nearest", v / 1.0), far), -far)
    return term("max", term("min", cast(near, "i64"), row.most), row.least)


def _add(l: Lowering, operands: list[Ref], attrs: dict[str, Any]) -> Ref:
    """In the axis order of the first operand's memory."""
    order = l.memory_order(operands[0])
    shape = tuple(operands[0].shape[a] for a in order)
    kind = operands[0].dtype
    y = l.one(f"add_{kind}", [l.transpose(x, order) for x in operands], attrs, kind, shape)
    return l.transpose(y, [order.index(a) for a in range(len(order))])


Scaled: TypeAlias = (
    integer.AveragePool | integer.InnerAverage | integer.Mul | integer.Product | integer.Rescale
)


@lowers("Mul", domain=integer.DOMAIN)
def lower_multiply(l: Lowering, n: Node) -> Ref:
    row = row_of(l, n, integer.Mul)
    return l.pointwise(
        lambda a, b: _requantized(
            (cast(a, "i64") - row.a_zero) * (cast(b, "i64") - row.b_zero), row, row.multiplier
        ),
        [n[0], n[1]],
        n[0].dtype,
    )


@lowers("Product", domain=integer.DOMAIN)
def lower_product(l: Lowering, n: Node) -> Ref:
    """In floats, so many terms at a time that their sums are exact."""
    row, k = row_of(l, n, integer.Product), n[0].shape[-1]
    if not isinstance(k, int):
        l.fail(
            "a product over a number of terms that is known while running only; expected a number"
        )
    a, b = (
        l.pointwise(lambda t, zero=zero: cast(t, "f32") - zero, [x], "f32")
        for x, zero in ((n[0], row.a_zero), (n[1], row.b_zero))
    )
    sums = None
    for first in range(0, max(k, 1), EXACT_TERMS):
        size = min(EXACT_TERMS, k - first)
        part = convert(
            l, multiply(l, l.slice(a, -1, first, size), l.slice(b, -2, first, size)), "i64"
        )
        sums = part if sums is None else l.pointwise(lambda p, q: p + q, [sums, part], "i64")
    assert sums is not None
    return l.pointwise(lambda v: _requantized(v, row, row.multiplier), [sums], n[0].dtype)


def _requantized(v: Term, row: Scaled, multiplier: Term | int) -> Term:
    """schema/meaning/int8.py `rescale` of i64 in steps. There is no arithmetic shift: 2^63 is added before a logical one, and what
    became of it taken away after."""
    up = v * multiplier + ((1 << (row.shift - 1)) - (1 << 63))
    y = term("shr", up, row.shift) + (row.y_zero - (1 << (63 - row.shift)))
    return term("min", term("max", y, row.low), row.high)


@lowers("AveragePool", domain=integer.DOMAIN)
def lower_average_pool(l: Lowering, n: Node) -> Ref:
    """One window is a sum over the image, in floats where they hold it; several are a depthwise convolution with ones."""
    row = row_of(l, n, integer.AveragePool)
    x, axes = n[0], len(row.kernel_shape)
    if tuple(x.shape[2:]) == tuple(row.kernel_shape) and not any(row.pads):
        most = product(row.kernel_shape) * STEPS[x.dtype]
        exact = "f32" if most < EXACT_F32 else "i64"
        away = l.pointwise(lambda t: cast(t - row.x_zero, exact), [x], exact)
        sums = reduce(l, away, range(2, x.rank), "sum", keep=True)
    else:
        pads = row.pads[:axes], row.pads[axes:]
        sums = _window_sums(l, x, row, Window(row.kernel_shape, row.strides, (1,) * axes, *pads))
    return l.pointwise(lambda v: _requantized(cast(v, "i64"), row, row.multiplier), [sums], x.dtype)


@lowers("InnerAverage", domain=integer.DOMAIN)
def lower_inner_average(l: Lowering, n: Node) -> Ref:
    """Sums as of AveragePool, pads adding nothing; what they are multiplied by is a constant of places."""
    row = row_of(l, n, integer.InnerAverage)
    axes = len(row.kernel_shape)
    pads = row.pads[:axes], row.pads[axes:]
    window = Window(row.kernel_shape, row.strides, row.dilations, *pads)
    sums = _window_sums(l, n[0], row, window)
    factors = l.values.constant(row.multiplier)
    if tuple(sums.shape[2:]) != row.multiplier.shape:
        l.fail(
            f"factors of {row.multiplier.shape} places, got {tuple(sums.shape[2:])}; expected as many"
        )
    return l.pointwise(
        lambda v, m: _requantized(cast(v, "i64"), row, cast(m, "i64")), [sums, factors], n[0].dtype
    )


def _window_sums(
    l: Lowering, x: Ref, row: integer.AveragePool | integer.InnerAverage, window: Window
) -> Ref:
    channels, taps = x.shape[1], product(window.kernel)
    most = -(-EXACT_F32 // STEPS[x.dtype])
    if not isinstance(channels, int) or taps >= most:
        l.fail(
            f"a window of {taps} elements over {channels} channels; expected fewer than {most}, and a number of channels"
        )
    away = l.pointwise(lambda t: cast(t - row.x_zero, "f32"), [channels_last(l, x)], "f32")
    ones = l.values.constant(np.ones((channels, 1, *window.kernel), np.float32))
    return channels_first(l, convolve(l, away, ones, None, window, channels))
