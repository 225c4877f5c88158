"""Encoders against independent implementations: ml_dtypes for the floats, bitsandbytes' table for NF4, plain arithmetic."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from encoders import ENCODERS

from pteron.quantize.encode import blocks, elements
from pteron.quantize.encode.format import BlockFormat
from pteron.quantize.encode.table import FORMATS
from pteron.schema.errors import QuantError
from pteron.schema.formats import NF4_VALUES

ML = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
FLOATS = [elements.E4M3, elements.E5M2, elements.E2M3, elements.E3M2, elements.E2M1]


def probes(element: elements.Element) -> np.ndarray:
    """Every value, every midpoint and its two neighbours, subnormals, and a million random numbers."""
    values = elements.values(element)
    finite = np.unique(values[np.isfinite(values)])
    middles = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(middles, np.float32(s * np.inf)) for s in (-1, 1)]
    rng = np.random.default_rng(0)
    spread = np.exp2(rng.uniform(-30, 12, 1_000_000)) * rng.choice([-1.0, 1.0], 1_000_000)
    parts = [finite, middles, *near, spread, [0.0, -0.0, 1e-45, -1e-45]]
    return np.concatenate(parts).astype(np.float32)


@pytest.mark.parametrize("element", FLOATS, ids=lambda e: e.name)
def test_every_float_code_stands_for_what_ml_dtypes_says(element: elements.Element) -> None:
    codes = np.arange(2**element.bits, dtype=np.uint8)
    want = codes.view(ML[element.name]).astype(np.float32)
    np.testing.assert_array_equal(elements.values(element), want)


@pytest.mark.parametrize("element", FLOATS, ids=lambda e: e.name)
def test_float_encoding_equals_ml_dtypes_after_the_clamp(element: elements.Element) -> None:
    x = probes(element)
    want = np.clip(x, -element.max, element.max).astype(ML[element.name]).view(np.uint8)
    np.testing.assert_array_equal(elements.encode(x, element), want & (2**element.bits - 1))


def test_nf4_takes_the_nearest_level_and_the_lower_one_of_a_tie() -> None:
    x = probes(elements.NF4)
    levels = NF4_VALUES
    distance = np.abs(x[:, None].astype(np.float64) - levels)
    got = elements.encode(x, elements.NF4)
    best = distance.min(1)
    assert np.all(distance[np.arange(len(x)), got] <= best + 6e-8 * np.maximum(1, np.abs(x)))
    middles = (levels[1:] + levels[:-1]) / np.float32(2)
    np.testing.assert_array_equal(elements.encode(middles, elements.NF4), np.arange(15))


@pytest.mark.parametrize("fmt", ENCODERS, ids=lambda f: f.name)
def test_decoding_is_within_half_a_step_of_the_weight(fmt: BlockFormat) -> None:
    rng = np.random.default_rng(1)
    w = (rng.standard_normal((48, 256)) * np.exp2(rng.uniform(-8, 4, (48, 1)))).astype(np.float32)
    encoded = blocks.encode(w, fmt)
    got = blocks.decode(encoded)
    values = np.unique(elements.values(fmt.element)[np.isfinite(elements.values(fmt.element))])
    step = np.diff(values).max() / 2 / fmt.element.max
    if fmt.zero:  # a range of at most twice absmax
        step = 1 / ((1 << fmt.element.bits) - 1)
    clip = {"floor": 0.25, "signed": -1 / fmt.element.least}.get(
        fmt.rule, 0.0
    )  # one end of a block is clipped
    scale = np.abs(w).reshape(48, -1, fmt.block or 256).max(-1, keepdims=True)
    error = np.abs(got - w).reshape(48, -1, fmt.block or 256)
    rounding = {"f16": 2.0**-11, "e4m3": 2.0**-4}.get(fmt.scale, 0.0)
    if fmt.zero:  # zero points are rounded, and range is twice absmax
        rounding += step
    assert np.all(
        error <= scale * (max(step * 1.01 * (2 if fmt.scale == "e8m0" else 1), clip) + rounding)
    )


@pytest.mark.parametrize("rule", blocks.RULES)
@pytest.mark.parametrize("element", FLOATS, ids=lambda e: e.name)
def test_e8m0_scales_follow_their_formulas(rule: str, element: elements.Element) -> None:
    rng = np.random.default_rng(2)
    absmax = np.exp2(rng.uniform(-100, 100, 10_000)).astype(np.float32)
    absmax = np.concatenate([absmax, np.exp2(np.arange(-100, 100)).astype(np.float32)])
    got = blocks.e8m0_of(absmax, element, rule).astype(int) - 127
    log = np.log2(absmax.astype(np.float64))
    if rule == "rceil":
        assert np.all(absmax / np.exp2(got) <= element.max)
        assert np.all(absmax / np.exp2(got - 1.0) > element.max)
    else:
        want = {"floor": np.floor(log), "ceil": np.ceil(log), "even": np.floor(log)}[
            rule
        ] - element.emax
        off = got - want
        assert np.all((off == 0) | ((off == 1) & (rule == "even")))


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda f: f.name)
def test_a_block_of_zeros_decodes_to_zeros(fmt: BlockFormat) -> None:
    encoded = blocks.encode(np.zeros((3, 256), np.float32), fmt)
    np.testing.assert_array_equal(blocks.decode(encoded), 0)
    assert np.isfinite(blocks.steps(encoded)).all()


def test_a_row_that_blocks_do_not_divide_is_refused_with_the_way_out() -> None:
    with pytest.raises(QuantError, match="multiple of 32, got 33; pad the weight"):
        blocks.encode(np.ones((2, 33), np.float32), FORMATS["int4"])


def test_nan_weights_are_refused() -> None:
    with pytest.raises(QuantError, match="finite"):
        blocks.encode(np.full((1, 32), np.nan, np.float32), FORMATS["int8"])
