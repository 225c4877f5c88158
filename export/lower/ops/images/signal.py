"""Fourier transforms as products with constant matrices, weights of mel bins, and the reverse of windows: Col2Im, MaxUnpool.

A transform of n points costs n^2 products, which for the lengths of audio frames a matmul does well; n must be a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from ....program import views
from ....program.arrays import same_dtype
from ....sizes import Extent
from ....sizes.extents import add, floordiv, mul, product, sub
from ...context import Lowering
from ...elementwise import convert
from ...node import NAMES, Node
from ...refs import Ref
from ...table import lowers
from ..matrix.products import multiply
from ..moving.pads import pad_constant

MOST_BINS: Final = 1 << 12
"""Rows and columns of a matrix of mel weights."""


def fourier(n: int, parts: int, *, inverse: bool, onesided: bool) -> NDArray[np.float64]:
    """The transform of n points with `parts` (1: real, 2: complex) components as [n * parts, m * out]."""
    m = n // 2 + 1 if onesided else n
    cos, sin = _circle(np.outer(np.arange(n), np.arange(m)), n)
    sin = sin if inverse else -sin
    rows = [np.stack([cos, sin], -1), np.stack([-sin, cos], -1)][:parts]
    matrix = np.stack(rows, 1).reshape(n * parts, m * 2)
    return matrix / n if inverse else matrix


def _circle(turns: NDArray[np.int64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of turns / n of a circle; at its quarters exact, so that what vanishes is 0: a sum of rounded ones is not."""
    quarter, rest = np.divmod(4 * turns, n)
    cos, sin = np.cos(rest * (np.pi / 2 / n)), np.sin(rest * (np.pi / 2 / n))
    return np.choose(quarter % 4, [cos, -sin, -cos, sin]), np.choose(
        quarter % 4, [sin, cos, -sin, -cos]
    )


def real_inverse(n: int) -> NDArray[np.float64]:
    """From n // 2 + 1 complex points of a real signal back to its n elements."""
    m = n // 2 + 1
    cos, sin = _circle(np.outer(np.arange(m), np.arange(n)), n)
    weight = np.full((m, 1), 2.0)
    weight[0] = 1
    if n % 2 == 0:
        weight[-1] = 1
    parts = np.stack([weight * cos, -weight * sin], 1)
    matrix: NDArray[np.float64] = parts.reshape(2 * m, n) / n
    return matrix


@lowers("DFT")
def lower_dft(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axis = -2
    given = n.get(2)
    if given is not None:
        (axis,) = l.values.numbers(l.reshape(given, (1,)), "the axis")
    axis %= x.rank
    parts, inverse, onesided = x.shape[-1], bool(n.integer("inverse")), bool(n.integer("onesided"))
    backward = inverse and onesided
    length: Extent = x.shape[axis]
    if backward:
        length = mul(2, sub(length, 1))
    wanted = n.get(1)
    if wanted is not None:
        (length,) = l.values.known(l.reshape(wanted, (1,)), "the transform's length")
    parts = _components(l, parts)
    if not isinstance(length, int) or length < 1:
        l.fail(f"transforms {length} points; expected a number above 0, make the length static")
    matrix = (
        real_inverse(length)
        if backward
        else fourier(length, parts, inverse=inverse, onesided=onesided)
    )
    points = length // 2 + 1 if backward else length
    return _transform(l, _resized(l, x, axis, points), axis, matrix, 1 if backward else 2)


def _components(l: Lowering, parts: Extent) -> int:
    """Of a number: 1 where it is real, 2."""
    if parts not in (1, 2):
        l.fail(f"has {parts} components; expected 1 or 2")
    return int(parts)


def _resized(l: Lowering, x: Ref, axis: int, n: int) -> Ref:
    """`axis` cut or filled with zeros to n."""
    have = x.shape[axis]
    if have == n:
        return x
    begin: list[Extent] = [0] * x.rank
    end = [sub(n, have) if a == axis else 0 for a in range(x.rank)]
    return pad_constant(l, x, begin, end, l.values.scalar(0, x.dtype))


def _transform(l: Lowering, x: Ref, axis: int, matrix: NDArray[np.float64], parts: int) -> Ref:
    """Points and their parts as one last axis, times the matrix."""
    x = l.move_axis(x, axis, -2)
    flat = l.reshape(x, (*x.shape[:-2], mul(x.shape[-2], x.shape[-1])))
    weight = l.values.constant(matrix.astype(same_dtype("f64" if x.dtype == "f64" else "f32")))
    y = multiply(l, flat, convert(l, weight, x.dtype))
    y = l.reshape(y, (*y.shape[:-1], matrix.shape[1] // parts, parts))
    return l.move_axis(y, -2, axis)


@lowers("STFT")
def lower_stft(l: Lowering, n: Node) -> Ref:
    """Frames are a view of the signal whose rows overlap."""
    signal, window = n[0], n.get(2)
    (step,) = l.values.numbers(l.reshape(n[1], (1,)), "the frame step")
    if n.get(3) is not None:
        (length,) = l.values.numbers(l.reshape(n[3], (1,)), "the frame length")
    elif window is not None and isinstance(window.shape[0], int):
        length = window.shape[0]
    else:
        l.fail("has neither a frame length nor a window of known length; give one")
    if not 1 <= step < 2**31 or length < 1:
        l.fail(f"has frames of {length} every {step}; expected at least 1, and less than 2^31")
    if signal.rank > 3:
        l.fail(f"its signal has rank {signal.rank}; expected 3")
    signal = l.dense(l.unsqueeze(signal, [2]) if signal.rank == 2 else signal)
    batch, samples, parts = signal.shape
    parts = _components(l, parts)
    l.sizes.require_at_most(length, samples, "a frame is no longer than the signal")
    frames = add(floordiv(sub(samples, length), step), 1)
    shape = (batch, frames, length, parts)
    rows: Ref = views.place(
        signal, shape, (mul(samples, parts), step * parts, parts, 1), signal.offset
    )
    if window is not None:
        rows = l.pointwise(lambda a, b: a * b, [rows, l.unsqueeze(window, [1])], signal.dtype)
    onesided = bool(
        n.integer("onesided", 1)
    )  # of complex signals too, as the reference and onnxruntime
    return _transform(l, rows, 2, fourier(length, parts, inverse=False, onesided=onesided), 2)


@lowers("Col2Im")
def lower_col2im(l: Lowering, n: Node) -> Ref:
    """Columns added into the padded image at places that are constants; then the padding is cut off."""
    x = n[0]
    image = l.values.numbers(n[1], "the image's shape")
    block = l.values.numbers(n[2], "the block's shape")
    rank = len(image)
    dilation = n.integers("dilations") or (1,) * rank
    stride = n.integers("strides") or (1,) * rank
    pads = n.integers("pads") or (0,) * (2 * rank)
    whole = [i + a + b for i, a, b in zip(image, pads[:rank], pads[rank:], strict=True)]
    sides = zip(whole, block, dilation, stride, strict=True)
    columns = math.prod(max(0, (i - d * (k - 1) - 1) // s + 1) for i, k, d, s in sides)
    taps = math.prod(block)
    l.sizes.require_equal(x.shape[2], columns, "columns are as many as places of the block")
    at = _places(whole, block, dilation, stride)
    batch, channels = x.shape[0], floordiv(x.shape[1], taps)
    rows = mul(batch, channels)
    floats = "f64" if x.dtype == "f64" else "f32"
    dtype = floats if "f" in x.dtype else "i64"
    updates = l.reshape(convert(l, x, dtype), (rows, taps * columns))
    size = int(np.prod(whole))
    index = l.expand(l.values.constant(at.reshape(-1, 1)), (taps * columns, rows))
    empty = l.expand(l.values.scalar(0, dtype), (size, rows))
    y = l.one(
        "scatter_elements",
        [empty, index, l.transpose(updates, (1, 0))],
        {"reduction": "add"},
        dtype,
        (size, rows),
    )
    y = l.reshape(l.transpose(y, (1, 0)), (batch, channels, *whole))
    for axis in range(rank):
        y = l.slice(y, axis + 2, pads[axis], image[axis])
    return convert(l, y, x.dtype)


def _places(
    whole: Sequence[int], block: Sequence[int], dilation: Sequence[int], stride: Sequence[int]
) -> NDArray[np.int64]:
    """[taps, columns]: the flat place in the padded image of each element."""
    flat = np.zeros((1, 1), np.int64)
    for n, k, d, s in zip(whole, block, dilation, stride, strict=True):
        starts = np.arange((n - d * (k - 1) - 1) // s + 1) * s
        along = np.arange(k)[:, None] * d + starts
        grown = flat[:, None, :, None] * n + along[None, :, None, :]
        flat = grown.reshape(flat.shape[0] * k, flat.shape[1] * len(starts))
    return flat


@lowers("MaxUnpool")
def lower_max_unpool(l: Lowering, n: Node) -> Ref:
    """Values at their flat places in zeros of the size that the pooling had, filled up to the shape asked for."""
    x, places = n[0], n[1]
    kernel = n.integers("kernel_shape") or ()
    rank = len(kernel)
    stride = n.integers("strides") or (1,) * rank
    pads = n.integers("pads") or (0,) * (2 * rank)
    shape: list[Extent] = list(x.shape[:2])
    for i, (k, s) in enumerate(zip(kernel, stride, strict=True)):
        grown = add(mul(sub(x.shape[2 + i], 1), s), k)
        shape.append(sub(grown, pads[i] + pads[rank + i]))
    total, count = product(shape), product(x.shape)
    empty = l.expand(l.values.scalar(0, x.dtype), (total,))
    flat = [l.reshape(places, (count,)), l.reshape(x, (count,))]
    y = l.one("scatter_elements", [empty, *flat], {"reduction": "none"}, x.dtype, (total,))
    y = l.reshape(y, shape)
    if n.get(2) is None:
        return y
    wanted = l.values.known(n[2], "the output's shape")
    end = [sub(w, have) for w, have in zip(wanted, shape, strict=True)]
    return pad_constant(l, y, [0] * len(shape), end, l.values.scalar(0, x.dtype))


@lowers("MelWeightMatrix")
def lower_mel_weights(l: Lowering, n: Node) -> Ref:
    """[bins of a one-sided spectrum, triangles]: weights that are known at export."""
    integers = [l.reshape(n[i], (1,)) for i in range(3)]
    words = ("the number of bins", "the transform's length", "the sample rate")
    count, length, rate = (
        l.values.numbers(x, what)[0] for x, what in zip(integers, words, strict=True)
    )
    edges = [l.values.array(n[i]) for i in (3, 4)]
    if edges[0] is None or edges[1] is None:
        l.fail("an edge in Hz is computed while running; expected a constant")
    low, high = (float(edge.reshape(-1)[0]) for edge in edges if edge is not None)
    bins = length // 2 + 1
    if not (1 <= count <= MOST_BINS and 1 <= bins <= MOST_BINS and rate > 0 and -700 < low < high):
        l.fail(
            f"{count} bins of {bins} from {low} to {high} Hz at {rate}; expected 1 to {MOST_BINS} and edges that ascend"
        )
    dtype = NAMES[ir.DataType(n.integer("output_datatype", 1))]
    weights = mel_weights(count, length, rate, low, high)
    if weights is None:
        l.fail(f"{high} Hz lies beyond half the sample rate of {rate}")
    return convert(l, l.values.constant(weights), dtype)


def mel_weights(
    count: int, length: int, rate: int, low: float, high: float
) -> NDArray[np.float64] | None:
    """Triangles over bins, their corners equally far apart in mel, as the standard's reference rounds them; None where one lies
    outside."""
    first, last = (2595 * np.log10(1 + hz / 700) for hz in (low, high))
    mel = np.arange(count + 2) * ((last - first) / (count + 2)) + first
    corner = ((length + 1) * (700 * (np.power(10, mel / 2595) - 1)) // rate).astype(np.int64)
    bins = length // 2 + 1
    if corner[0] < 0 or corner[-2] >= bins or corner[-1] > bins:
        return None
    left, middle, right = corner[:-2], corner[1:-1], corner[2:]
    at = np.arange(bins)[:, None]
    rise = np.where(middle > left, (at - left) / np.maximum(middle - left, 1), at == middle)
    fall = (right - at) / np.maximum(right - middle, 1)
    up, down = (at >= left) & (at <= middle), (at >= middle) & (at < right)
    return np.where(down & (right > middle), fall, np.where(up, rise, 0.0)).astype(np.float64)
