"""A weight [n, k] to codes and one scale for each block of K, as a row of `table.FORMATS` says.

Round to nearest only; better algorithms choose other scales or codes and use the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import QuantError

from . import codec, elements
from .elements import F32, Element
from .format import BlockFormat, Encoded

SCALES: Final[dict[str, Any]] = {"f16": np.float16, "f32": np.float32, "e8m0": np.uint8}
"""What scales are held as."""


def encode(w: F32, fmt: BlockFormat) -> Encoded:
    """Rounds a weight to the format.

    Args:
        w: Weights [n, k], finite; k a multiple of fmt.block.

    Returns:
        Codes and scales. A block of zeros has scale 1 (E8M0: 2^0) and codes of zero.

    Raises:
        QuantError: k is no multiple of the block; a value is NaN or infinite; an absmax does not fit the scale's type.

    Error bound: |w - decode| <= half a step of the element at that value, times the scale; an f16 scale adds
    2^-11 of the block's absmax (more below 2^-14 * max, where f16 is subnormal), the floor rule clips up to a fourth.
    """
    k = w.shape[1]
    block = fmt.block or max(k, 1)
    if k % block:
        raise QuantError(
            f"{fmt.name}: last axis must be a multiple of {block}, got {k}; pad the weight or pick int8"
        )
    quick = codec.encode(fmt.stored, w, block, SCALES[fmt.scale])
    return Encoded(fmt, *quick) if quick is not None else reference(w, fmt)


def reference(w: F32, fmt: BlockFormat) -> Encoded:
    """`encode` in NumPy: what the C codec is held to, and what explains why a weight cannot be encoded."""
    n, k = w.shape
    block = fmt.block or max(k, 1)
    if not np.isfinite(w).all():
        raise QuantError(
            f"{fmt.name}: weights must be finite, got {int((~np.isfinite(w)).sum())} NaN or infinite"
        )
    blocks = np.ascontiguousarray(w, np.float32).reshape(n, k // block, block)
    absmax = np.abs(blocks).max(-1, initial=0.0).astype(np.float32)
    if fmt.scale == "e8m0":
        scale = e8m0_of(absmax, fmt.element, fmt.rule)
        ratio = blocks * _power_of_two(127.0 * 2 - scale.astype(np.float64))[..., None].astype(
            np.float64
        )
        codes = elements.encode(ratio.astype(np.float32), fmt.element)
        return Encoded(fmt, codes.reshape(n, k), scale)
    largest = -fmt.element.least if fmt.rule == "signed" else fmt.element.max
    least = np.maximum(absmax / np.float32(largest), np.float32(2**-149))
    step: F32 = np.where(absmax > 0, least, 1).astype(np.float32)
    if fmt.rule == "qlora":  # times the reciprocal
        with np.errstate(divide="ignore", over="ignore"):
            reciprocal = np.float32(1) / absmax
        ratio = blocks * np.where(np.isfinite(reciprocal), reciprocal, np.float32(0))[..., None]
        stored = step
    elif fmt.scale == "f16":
        with np.errstate(over="ignore"):
            half = np.maximum(step.astype(np.float16), np.float16(2**-24))
        if fmt.rule == "signed":
            half = np.where(_extreme(blocks) > 0, -half, half)
        stored = half.astype(np.float32)
        ratio = blocks / stored[..., None]
    else:
        stored, ratio = step, blocks / step[..., None]
    with np.errstate(over="ignore"):
        kept = stored.astype(SCALES[fmt.scale])
    if not np.isfinite(kept).all():
        raise QuantError(
            f"{fmt.name}: a block's absmax {absmax.max():.3g} does not fit an f16 scale; pick int8 or fp8-e4m3"
        )
    return Encoded(fmt, elements.encode(ratio.astype(np.float32), fmt.element).reshape(n, k), kept)


def _extreme(blocks: F32) -> F32:
    """The first of each block's elements with the largest magnitude."""
    if not blocks.shape[-1]:
        return np.zeros(blocks.shape[:-1], np.float32)
    at = np.abs(blocks).argmax(-1)
    return np.asarray(np.take_along_axis(blocks, at[..., None], -1)[..., 0], np.float32)


def decode(encoded: Encoded) -> F32:
    """value(code) * scale, rounded to f32: what `exact` execution computes with; shape [n, k]."""
    n, k = encoded.codes.shape
    fmt = encoded.format
    each = n, encoded.scale.shape[1], fmt.block or k
    blocks = elements.decode(encoded.codes, fmt.element).reshape(each)
    if fmt.scale == "e8m0":
        scale = _power_of_two(encoded.scale.astype(np.float64))
        return (blocks.astype(np.float64) * scale[..., None]).astype(np.float32).reshape(n, k)
    return (blocks * encoded.scale.astype(np.float32)[..., None]).astype(np.float32).reshape(n, k)


def steps(scale: NDArray[Any], fmt: BlockFormat) -> F32:
    """What stored scales stand for; exact in f32."""
    if fmt.scale == "e8m0":
        return _power_of_two(scale.astype(np.float64)).astype(np.float32)
    return scale.astype(np.float32)


def _power_of_two(byte: NDArray[np.float64]) -> NDArray[np.float64]:
    """2 ** (byte - 127), NaN for 255: what an E8M0 byte stands for, exactly (in f64)."""
    return np.where(byte == 255, np.nan, np.exp2(byte - 127))


def e8m0_of(absmax: F32, element: Element, rule: str) -> NDArray[np.uint8]:
    """The E8M0 byte of a block whose largest magnitude is `absmax`, by one of RULES; 127 (2^0) for a block of zeros."""
    exponent = RULES[rule](absmax.astype(np.float64), element)
    return np.where(absmax > 0, np.clip(exponent + 127, 0, 254), 127).astype(np.uint8)


def _floor_log2(x: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.frexp(x)[1].astype(np.int64) - 1


def _floor(absmax: NDArray[np.float64], element: Element) -> NDArray[np.int64]:
    """OCP MX v1.0 section 6.3: floor(log2(absmax)) - emax; clips up to a factor."""
    return _floor_log2(absmax) - element.emax


def _ceil(absmax: NDArray[np.float64], element: Element) -> NDArray[np.int64]:
    """ceil(log2(absmax)) - emax."""
    mantissa, exponent = np.frexp(absmax)
    return np.asarray(exponent.astype(np.int64) - (mantissa == 0.5) - element.emax)


def _even(absmax: NDArray[np.float64], element: Element) -> NDArray[np.int64]:
    """absmax first rounded to the element's mantissa, then floor."""
    top = 2 - 2.0 ** -(element.mantissa + 1)
    exponent = _floor_log2(absmax)
    return exponent + (np.ldexp(absmax, -exponent) >= top) - element.emax


def _rceil(absmax: NDArray[np.float64], element: Element) -> NDArray[np.int64]:
    """ceil(log2(absmax / max)): never clips."""
    mantissa, exponent = np.frexp(absmax / element.max)
    return np.asarray(exponent.astype(np.int64) - (mantissa == 0.5))


RULES: Final[dict[str, Callable[[NDArray[np.float64], Element], NDArray[np.int64]]]] = {
    "floor": _floor,
    "ceil": _ceil,
    "even": _even,
    "rceil": _rceil,
}
