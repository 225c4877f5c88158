"""What ONNX leaves open: inputs of an operator for which the standard says no result. What comes of them is not compared.

A row is asked with the arrays that a node really gets; everything else that a model computes is compared to the last element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper

Array = np.ndarray[Any, Any]
Given = Mapping[str, Any]
Row = Callable[[Sequence[Array], Given, Sequence[Array]], bool]

EXACT_F64: Final = 2.0**53


def is_open(node: onnx.NodeProto, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether the standard leaves open what `node` makes of `inputs`."""
    row = OPEN.get(node.op_type)
    arrays = [x for x in inputs if isinstance(x, np.ndarray)]
    if row is None or not arrays:
        return False
    attrs = {
        a.name: helper.get_attribute_value(a)
        for a in node.attribute
        if a.type != onnx.AttributeProto.GRAPH and not a.ref_attr_name
    }
    return row(arrays, attrs, [y for y in outputs if isinstance(y, np.ndarray)])


def _is_float(x: Array) -> bool:
    return x.dtype.kind in "fV"


def _finite(*arrays: Array) -> bool:
    return all(
        bool(np.isfinite(x.astype(np.float64)).all()) for x in arrays if _is_float(x) and x.size
    )


def _has_nan(*arrays: Array) -> bool:
    return any(bool(np.isnan(x.astype(np.float64)).any()) for x in arrays if _is_float(x))


def _large(x: Array, limit: float = EXACT_F64) -> bool:
    return bool(x.size) and float(np.abs(x.astype(np.float64)).max()) >= limit


def _fits(values: Array, dtype: np.dtype[Any]) -> bool:
    """Floats whose whole part the integer type has."""
    wide = np.trunc(values.astype(np.float64))
    if not np.isfinite(wide).all():
        return False
    info = np.iinfo(dtype)
    return bool(((wide >= float(info.min)) & (wide < float(info.max) + 1)).all())


def _cast(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """A float that the integer type has not: "undefined behaviour" in the table of Cast."""
    return _is_float(x[0]) and y[0].dtype.kind in "iu" and not _fits(x[0], y[0].dtype)


def _nan(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Where NaN stands among numbers, or which integer it is."""
    return _has_nan(*x)


def _range(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """A range that is infinite, or of which there is nothing, has no scale."""
    return not _finite(*x) or not x[0].any()


def _close(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """How many numbers there are that differ in their last places only, or are NaN."""
    if not _is_float(x[0]) or not x[0].size:
        return False
    gaps = np.diff(np.unique(x[0].astype(np.float64)))
    return _has_nan(*x) or bool((gaps < 1e-5).any())


def _special(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Terms of weight 0, which are NaN beside an infinity: whether an algorithm has them is not said."""
    return not _finite(*x)


def _gemm(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Integers, which are multiplied by factors that are floats: a product that f64 or the type has not."""
    factors = [abs(float(given.get(name, 1.0))) for name in ("alpha", "beta")]
    if _is_float(x[0]):
        return False
    terms = [np.abs(a.astype(np.float64)) for a in x]
    most = math.prod(a.sum() for a in terms[:2]) * factors[0]
    most += terms[2].max(initial=0) * factors[1] if len(x) > 2 else 0
    unsigned_below = (
        x[0].dtype.kind == "u" and min(float(given.get(n, 1)) for n in ("alpha", "beta")) < 0
    )
    return unsigned_below or not _fits(np.array(most), x[0].dtype) or most >= EXACT_F64


def _pow(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """A power that the integer type of the base has not."""
    if _is_float(x[0]):
        return False
    power = np.power(x[0].astype(np.float64), x[1].astype(np.float64))
    return not _fits(power, x[0].dtype) or _large(power)


def _divide(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Integers by 0, and the least by -1."""
    if _is_float(x[0]):
        return False
    least = np.iinfo(x[0].dtype).min
    overflows = least < 0 and bool(((x[0] == least) & (x[1] == -1)).any())
    return bool((x[1] == 0).any()) or overflows


def _rounded(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Integers reckoned with as floats: those that f64 has not are rounded by it."""
    return not _is_float(x[0]) and any(_large(a) for a in x)


def _mean(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """A sum of integers that their type, or f64, has not: whether it wraps in front of the division is not said."""
    if _is_float(x[0]):
        return False
    total = np.abs(x[0].astype(np.float64)).sum(keepdims=True)
    return _large(total) or not _fits(total, x[0].dtype)


def _shift(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """By the type's width or more."""
    return bool((x[1] >= 8 * x[0].dtype.itemsize).any())


def _weights(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """Zeros around an image, or between its pixels: where they are multiplied, a weight that is not finite makes NaN of
    them; docs/numerics.md says so."""
    return not _finite(x[1])


def _index(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """An index that is a float and no i64."""
    return _is_float(x[0]) and not _fits(x[0], np.dtype(np.int64))


def _parameters(x: Sequence[Array], given: Given, y: Sequence[Array]) -> bool:
    """x * s + t, with s and t computed in front: parameters that are infinite make NaN of them; docs/numerics.md says so."""
    return not _finite(*x[1:])


OPEN: Final[dict[str, Row]] = {
    "Cast": _cast,
    "CastLike": _cast,
    "QuantizeLinear": _nan,
    "DynamicQuantizeLinear": _range,
    "TopK": _nan,
    "Unique": _close,
    "ArgMax": _nan,
    "ArgMin": _nan,
    "Hardmax": _nan,
    "OneHot": _index,
    "MaxPool": _nan,
    "NonMaxSuppression": _nan,
    "GridSample": _special,
    "RoiAlign": _special,
    "Resize": _special,
    "Upsample": _special,
    "DFT": _special,
    "STFT": _special,
    "BatchNormalization": _parameters,
    "Conv": _weights,
    "ConvTranspose": _weights,
    "Gemm": _gemm,
    "Pow": _pow,
    "Div": _divide,
    "Mod": _divide,
    "Shrink": _rounded,
    "ReduceMean": _mean,
    "BitShift": _shift,
}
