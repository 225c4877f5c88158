"""A weight [n, k] to codes and one scale for each block of K, as a row of `table.FORMATS` says.

Round to nearest only; better algorithms choose other scales or codes and use the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import QuantError

from . import codec, elements, nested
from .elements import F32, Element
from .format import BlockFormat, Encoded


def encode(w: F32, fmt: BlockFormat) -> Encoded:
    """Rounds a weight to the format.

    Args:
        w: Weights [n, k], finite; k a multiple of fmt.block.

    Returns:
        Codes and scales. A block of zeros has scale 1 (E8M0: 2^0; E4M3: 1 times that of the row) and values of zero.

    Raises:
        QuantError: k is no multiple of the block; a value is NaN or infinite; an absmax does not fit the scale's type.

    Error bound: |w - decode| <= half a step of the element at that value, times the scale; an f16 scale adds
    2^-11 of the block's absmax (more below 2^-14 * max, where f16 is subnormal), one of E4M3 2^-4; the floor rule clips up to a fourth.
    """
    k = w.shape[1]
    block = fmt.block or max(k, 1)
    if k % block:
        raise QuantError(
            f"{fmt.name}: last axis must be a multiple of {block}, got {k}; pad the weight or pick int8"
        )
    quick = codec.encode(w, fmt, block, nested.outer_of(w, fmt))
    return quick if quick is not None else reference(w, fmt)


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
    if fmt.zero:
        return _with_zeros(blocks, fmt)
    if fmt.scale == "e4m3":
        outer = nested.outer_of(w, fmt)
        assert outer is not None
        least = np.maximum(absmax / np.float32(fmt.element.max), np.float32(2**-149))
        inner = nested.inner_of(np.where(absmax > 0, least, np.float32(0)), outer)
        step = nested.steps_of(inner, outer)
        codes = elements.encode(np.asarray(blocks / step[..., None]), fmt.element)
        return Encoded(fmt, codes.reshape(n, k), inner, outer=outer)
    return _with_scales(blocks, absmax, fmt)


def _with_scales(blocks: F32, absmax: F32, fmt: BlockFormat) -> Encoded:
    n = len(blocks)
    largest = -fmt.element.least if fmt.rule == "signed" else fmt.element.max
    least = np.maximum(absmax / np.float32(largest), np.float32(2**-149))
    step: F32 = np.where(absmax > 0, least, 1).astype(np.float32)
    if fmt.rule == "qlora":  # times the reciprocal
        with np.errstate(divide="ignore", over="ignore"):
            reciprocal = np.float32(1) / absmax
        ratio = blocks * np.where(np.isfinite(reciprocal), reciprocal, np.float32(0))[..., None]
        stored = step
    elif fmt.scale == "f16":
        half = _half(step)
        if fmt.rule == "signed":
            half = np.where(_extreme(blocks) > 0, -half, half)
        stored = half.astype(np.float32)
        ratio = blocks / stored[..., None]
    else:
        stored, ratio = step, blocks / step[..., None]
    with np.errstate(over="ignore"):
        kept = stored.astype(fmt.scale_type)
    _refuse_infinite(kept, absmax, fmt)
    codes = elements.encode(ratio.astype(np.float32), fmt.element)
    return Encoded(fmt, codes.reshape(n, kept.shape[1] * blocks.shape[2]), kept)


def _with_zeros(blocks: F32, fmt: BlockFormat) -> Encoded:
    """The ends of each block and 0 between the first code and the last."""
    low, high = blocks.min(-1, initial=0.0), blocks.max(-1, initial=0.0)
    scale = scale_between(low, high, fmt)
    _refuse_infinite(scale, np.maximum(high, -low), fmt)
    zero = zero_of(low, scale, fmt)
    ratio = blocks / scale.astype(np.float32)[..., None]
    codes = elements.encode(ratio, fmt.element, zero[..., None])
    return Encoded(fmt, codes.reshape(len(blocks), scale.shape[1] * blocks.shape[2]), scale, zero)


def scale_between(low: F32, high: F32, fmt: BlockFormat) -> NDArray[np.float16]:
    """What brings numbers from `low` (at most 0) to `high` (at least 0) to codes; 1 where both are 0."""
    steps = np.float32((1 << fmt.element.bits) - 1)
    return _half(np.where(low == high, np.float32(1), high / steps - low / steps))


def zero_of(low: F32, scale: NDArray[np.float16], fmt: BlockFormat) -> NDArray[np.int8]:
    """The code of 0 where `low` is to have the first one."""
    steps = (1 << fmt.element.bits) - 1
    first = np.clip(np.rint(-low / scale.astype(np.float32)), 0, steps)
    return np.asarray(first + np.float32(fmt.element.least)).astype(np.int8)


def _half(step: F32) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        return np.maximum(step.astype(np.float16), np.float16(2**-24))


def _refuse_infinite(scale: NDArray[Any], absmax: F32, fmt: BlockFormat) -> None:
    if not np.isfinite(scale).all():
        raise QuantError(
            f"{fmt.name}: a block's absmax {absmax.max():.3g} does not fit an f16 scale; pick int8 or fp8-e4m3"
        )


LEAST_STEP: Final = 2.0**-22
"""Of f16's steps of 2^-24: below it a scale is off by more than an eighth, and far below it is another number altogether."""


def refuse_lost(w: F32, fmt: BlockFormat) -> None:
    """A weight some blocks of which are below an f16 scale's range loses those, beside which others are; one with no other loses all.

    Raises:
        QuantError: all scales are below that range.
    """
    if fmt.scale != "f16" or not w.size:
        return
    absmax = max(float(w.max()), -float(w.min()))
    step = absmax if fmt.rule == "qlora" else absmax / max(fmt.element.max, -fmt.element.least, 1)
    if 0 < step < LEAST_STEP:
        raise QuantError(
            f"{fmt.name}: the largest weight {absmax:.3g} is below what an f16 scale can hold; pick int8 or fp8-e4m3"
        )


def _extreme(blocks: F32) -> F32:
    """The first of each block's elements with the largest magnitude."""
    if not blocks.shape[-1]:
        return np.zeros(blocks.shape[:-1], np.float32)
    at = np.abs(blocks).argmax(-1)
    return np.asarray(np.take_along_axis(blocks, at[..., None], -1)[..., 0], np.float32)


def decode(encoded: Encoded) -> F32:
    """(value(code) - zero) * scale, rounded to f32: what `exact` execution computes with; shape [n, k]."""
    n, k = encoded.codes.shape
    fmt, scale = encoded.format, encoded.scale
    codes = encoded.codes.reshape(n, scale.shape[1], fmt.block or k)
    zero = None if encoded.zero is None else encoded.zero[..., None]
    blocks = elements.decode(codes, fmt.element, zero)
    if fmt.scale == "e8m0":
        power = _power_of_two(scale.astype(np.float64))
        return (blocks.astype(np.float64) * power[..., None]).astype(np.float32).reshape(n, k)
    return np.asarray(blocks * steps(encoded)[..., None]).reshape(n, k)


def steps(encoded: Encoded) -> F32:
    """What stored scales stand for, [n, blocks]."""
    if encoded.format.scale == "e8m0":
        return _power_of_two(encoded.scale.astype(np.float64)).astype(np.float32)
    if encoded.outer is not None:
        return nested.steps_of(encoded.scale, encoded.outer)
    return encoded.scale.astype(np.float32)


def snapped(step: F32, fmt: BlockFormat, outer: F32 | None) -> F32:
    """The nearest steps of a format that is not one of powers of two which scales stand for: finite, not 0; 1 (times `outer`) for 0."""
    if outer is not None:
        return nested.steps_of(nested.inner_of(step, outer), outer)
    kind = fmt.scale_type
    least, most = float(np.finfo(kind).smallest_subnormal), float(np.finfo(kind).max)
    size = np.clip(np.abs(step), least, most)
    return np.where(step == 0, 1, np.copysign(size, step)).astype(kind).astype(np.float32)


def with_steps(encoded: Encoded, codes: elements.Codes, step: F32) -> Encoded:
    """The same weights with other codes and `snapped` steps."""
    fmt, outer = encoded.format, encoded.outer
    scale = encoded.scale
    if fmt.scale != "e8m0":
        scale = step.astype(fmt.scale_type) if outer is None else nested.inner_of(step, outer)
    return Encoded(fmt, codes, scale, encoded.zero, outer)


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
