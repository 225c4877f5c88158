"""What ONNX leaves open: inputs of an operator for which the standard says no result. What comes of them is not compared.

A row is asked with the arrays that a node really gets; everything else that a model computes is compared to the last element.
`DEVIATIONS` is another thing: what ONNX says and Pteron knowingly does otherwise, with the page that tells users.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper

from pteron.export.graph.randomness import NODES

Array = np.ndarray[Any, Any]
Given = Mapping[str, Any]
Row = Callable[[Sequence[Any], Given, Sequence[Array]], bool]
"""Gets the inputs, None for one that is absent, the attributes, and the outputs: none where the reference fails."""

EXACT_F64: Final = 2.0**53


def is_open(node: onnx.NodeProto, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether the standard leaves open what `node` makes of `inputs`."""
    return _asked(OPEN, node, inputs, outputs)


def deviates(node: onnx.NodeProto, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether Pteron says that it makes something else of them."""
    return _asked(DEVIATIONS, node, inputs, outputs)


def _asked(
    rows: Mapping[str, Row], node: onnx.NodeProto, inputs: Sequence[Any], outputs: Sequence[Any]
) -> bool:
    row = rows.get(node.op_type)
    given = [np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else None for x in inputs]
    if row is None or (not given and row is not _drawn):
        return False
    if given and given[0] is None and node.op_type != "Loop":
        return False
    attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    return row(given, attrs, [y for y in outputs if isinstance(y, np.ndarray)])


def _is_float(x: Array) -> bool:
    return x.dtype.kind in "fV"


def _floats(arrays: Sequence[Array | None]) -> list[Array]:
    return [x.astype(np.float64) for x in arrays if x is not None and _is_float(x)]


def _finite(*arrays: Array | None) -> bool:
    return all(bool(np.isfinite(x).all()) for x in _floats(arrays))


def _has_nan(*arrays: Array | None) -> bool:
    return any(bool(np.isnan(x).any()) for x in _floats(arrays))


def _large(x: Array, limit: float = EXACT_F64) -> bool:
    return bool(x.size) and float(np.abs(x.astype(np.float64)).max()) >= limit


def _fits(values: Array, dtype: np.dtype[Any]) -> bool:
    """Floats whose whole part the integer type has."""
    wide = np.trunc(values.astype(np.float64))
    if not np.isfinite(wide).all():
        return False
    info = np.iinfo(dtype)
    return bool(((wide >= float(info.min)) & (wide < float(info.max) + 1)).all())


def _cast(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A float that the integer type has not: "undefined behaviour" in the table of Cast."""
    return bool(y) and _is_float(x[0]) and y[0].dtype.kind in "iu" and not _fits(x[0], y[0].dtype)


def _nan(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Where NaN stands among numbers, whether it is one number, or which integer it is."""
    return _has_nan(*x)


def _range(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A range that is infinite, or of which there is nothing, has no scale."""
    return not _finite(*x) or not x[0].any()


def _special(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Terms of weight 0, which are NaN beside an infinity: whether an algorithm has them is not said."""
    return not _finite(*x)


def _gemm(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Integers, which are multiplied by factors that are floats: a product that f64 or the type has not."""
    factors = [abs(float(given.get(name, 1.0))) for name in ("alpha", "beta")]
    if _is_float(x[0]):
        return False
    terms = [np.abs(a.astype(np.float64)) for a in x if a is not None]
    most = math.prod(a.sum() for a in terms[:2]) * factors[0]
    most += terms[2].max(initial=0) * factors[1] if len(terms) > 2 else 0
    unsigned_below = (
        x[0].dtype.kind == "u" and min(float(given.get(n, 1)) for n in ("alpha", "beta")) < 0
    )
    return unsigned_below or not _fits(np.array(most), x[0].dtype) or most >= EXACT_F64


def _pow(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A power that the integer type of the base has not."""
    if _is_float(x[0]):
        return False
    power = np.power(x[0].astype(np.float64), x[1].astype(np.float64))
    return not _fits(power, x[0].dtype) or _large(power)


def _divide(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Integers by 0, and the least by -1."""
    if _is_float(x[0]):
        return False
    least = np.iinfo(x[0].dtype).min
    overflows = least < 0 and bool(((x[0] == least) & (x[1] == -1)).any())
    return bool((x[1] == 0).any()) or overflows


def _rounded(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Integers reckoned with as floats: those that f64 has not are rounded by it."""
    return not _is_float(x[0]) and any(_large(a) for a in x if a is not None)


def _shrunk(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """As above; and what the type has not, as of Cast."""
    if _rounded(x, given, y):
        return True
    edge, bias = float(given.get("lambd", 0.5)), float(given.get("bias", 0.0))
    wide = x[0].astype(np.float64)
    moved = np.where(wide < -edge, wide + bias, np.where(wide > edge, wide - bias, 0.0))
    return not _is_float(x[0]) and not _fits(moved, x[0].dtype)


def _infinitely(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """An infinite factor of squares that the type has not: 0 times infinity is NaN, the square is not 0."""
    wide = np.abs(x[0].astype(np.float64))
    vanishes = (wide > 0) & (wide * wide < np.finfo(np.float32).tiny)
    return not np.isfinite(given.get("alpha", 1.0)) and bool(vanishes.any())


def _mean(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A sum of integers that their type, or f64, has not: whether it wraps in front of the division is not said."""
    if _is_float(x[0]):
        return False
    total = np.abs(x[0].astype(np.float64)).sum(keepdims=True)
    return _large(total) or not _fits(total, x[0].dtype)


def _shift(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """By the type's width or more."""
    return bool((x[1] >= 8 * x[0].dtype.itemsize).any())


def _index(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """An index that is a float and no i64."""
    return _is_float(x[0]) and not _fits(x[0], np.dtype(np.int64))


def _squares(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A sum of squares of integers that their type has not: whether it wraps in front of the root is not said."""
    return not _is_float(x[0]) and not _fits((x[0].astype(np.float64) ** 2).sum(), x[0].dtype)


def _powers(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Integers whose powers of e f64 has not, or none at all: the logarithm is infinite, which is cast to an integer."""
    if _is_float(x[0]):
        return False
    return not x[0].size or bool(x[0].max() > 709)


def _region(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """As above; and a region whose corners are no numbers."""
    return not _finite(*x, np.asarray(given.get("spatial_scale", 1.0), np.float32))


def _bias(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A sum of products and bias that 32 bits have not: the bias is of 32 bits, "quantized with scale x_scale * w_scale";
    what the sum has is not said. ONNX's reference wraps, onnxruntime goes on in floats, Pteron is exact (docs/numerics.md)."""
    if len(x) < 9 or x[8] is None:
        return False
    codes = np.abs(x[0].astype(np.float64)).max(initial=0) + 255
    taps = np.abs(x[3].astype(np.float64)).max(initial=0) + 255
    most = codes * taps * math.prod(x[3].shape[1:]) + np.abs(x[8].astype(np.float64)).max(initial=0)
    return bool(most >= 2.0**31)


def _hidden(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A key or value that a query does not attend, and that is infinite or NaN: the text says both that it is not attended
    and that -inf is added to its score, which makes NaN. docs/numerics.md says what Pteron does, and who does what."""
    masked = (
        given.get("is_causal")
        or max(given.get("left_window_size", -1), given.get("right_window_size", -1)) >= 0
    )
    masked = masked or any(len(x) > i and x[i] is not None for i in (3, 6))
    return bool(masked) and not _finite(*(a for i, a in enumerate(x) if i != 3))


def _declared(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """A body that says another shape of what it carries than it gets: which of both is meant."""
    for port, a in zip(given["body"].input[2:], x[2:], strict=False):
        told = port.type.tensor_type
        if a is None or not told.HasField("shape"):
            continue
        sizes = [d.dim_value if d.HasField("dim_value") else None for d in told.shape.dim]
        if len(sizes) != a.ndim or any(s not in (None, n) for s, n in zip(sizes, a.shape)):
            return True
    return False


def _weights(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Weights that are not finite and that only a run knows (constants are refused): zeros between the pixels and around them
    are multiplied; docs/numerics.md says so."""
    return not _finite(x[1])


def _drawn(inputs: Sequence[Any], attrs: Given, outputs: Sequence[Array]) -> bool:
    """Which numbers a seed stands for."""
    return True


def _taps(x: Sequence[Any], given: Given, y: Sequence[Array]) -> bool:
    """Taps beyond the border: PyTorch and onnxruntime bring each one inside, ONNX's reference the place; docs/onnx.md says so."""
    return given.get("mode") == b"cubic" and given.get("padding_mode") == b"border"


DEVIATIONS: Final[dict[str, Row]] = {"ConvTranspose": _weights, "GridSample": _taps}

OPEN: Final[dict[str, Row]] = {
    **dict.fromkeys(NODES, _drawn),
    "Cast": _cast,
    "CastLike": _cast,
    "QuantizeLinear": _nan,
    "DynamicQuantizeLinear": _range,
    "TopK": _nan,
    "Unique": _nan,
    "ArgMax": _nan,
    "ArgMin": _nan,
    "Hardmax": _nan,
    "OneHot": _index,
    "MaxPool": _nan,
    "NonMaxSuppression": _nan,
    "GridSample": _special,
    "RoiAlign": _region,
    "Resize": _special,
    "Upsample": _special,
    "DFT": _special,
    "Det": _special,
    "STFT": _special,
    "Loop": _declared,
    "ReduceL2": _squares,
    "ReduceLogSumExp": _powers,
    "QLinearConv": _bias,
    "Attention": _hidden,
    "Gemm": _gemm,
    "Pow": _pow,
    "Div": _divide,
    "Mod": _divide,
    "Shrink": _shrunk,
    "LRN": _infinitely,
    "ReduceMean": _mean,
    "BitShift": _shift,
}
