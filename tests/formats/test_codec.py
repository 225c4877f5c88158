"""The C encoders against the NumPy ones: codes and scales to the byte, refusals alike."""

from __future__ import annotations

import numpy as np
import pytest
from encoders import ENCODERS, alike, quick

from pteron.quantize.encode import blocks, elements
from pteron.quantize.encode.format import BlockFormat
from pteron.quantize.encode.table import FORMATS
from pteron.schema.errors import QuantError

pytest.importorskip("pteron._codec", reason="the C encoders are not built")

formats = pytest.mark.parametrize("fmt", ENCODERS, ids=lambda f: f.name)
MILLION = 1 << 20


def same(w: np.ndarray, fmt: BlockFormat) -> None:
    got = quick(w, fmt)
    assert got is not None
    alike(got, blocks.reference(w, fmt))


def ties(fmt: BlockFormat) -> np.ndarray:
    """Blocks whose absmax is `max` or its next smaller power of two, times a power of two: the other elements are values,
    midpoints of neighbours and the floats on both sides of those."""
    rng = np.random.default_rng(4)
    values = np.unique(elements.values(fmt.element)[np.isfinite(elements.values(fmt.element))])
    values = values[np.abs(values) <= fmt.element.max]
    middles = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(middles, np.float32(side * np.inf)) for side in (-1, 1)]
    pool = np.concatenate([values, middles, *near, -middles]).astype(np.float32)
    block = fmt.block or 256
    w = rng.choice(pool, (MILLION // block, block))
    w[:, 0] = rng.choice([fmt.element.max, -fmt.element.max], len(w))
    powers = rng.integers(-12, 5, len(w)) if fmt.scale == "f16" else rng.integers(-100, 100, len(w))
    return np.ldexp(w, powers[:, None]).astype(np.float32)


@formats
def test_normal_weights(fmt: BlockFormat) -> None:
    w = np.random.default_rng(1).standard_normal((256, MILLION // 256))
    same(w.astype(np.float32), fmt)


@formats
def test_ties(fmt: BlockFormat) -> None:
    same(ties(fmt), fmt)


@formats
def test_every_exponent_within_and_between_blocks(fmt: BlockFormat) -> None:
    """From the smallest subnormal to as far as the scale's type goes, blocks of zeros and negative zeros in between."""
    rng = np.random.default_rng(2)
    block = fmt.block or 128
    top = 15 if fmt.scale == "f16" else 127
    start = rng.uniform(-149, top, (MILLION // block, 1))
    down = rng.uniform(0, 20, (MILLION // block, block))
    w = np.exp2(start - down) * rng.choice([-1.0, 1.0], down.shape)
    w[::7] = 0
    w[1::7] = -0.0
    w[2::7, 1:] = 0
    same(w.astype(np.float32), fmt)


@formats
def test_every_subnormal_absmax(fmt: BlockFormat) -> None:
    block = fmt.block or 8
    bits = np.concatenate([np.arange(1, 4000), 0x800000 + np.arange(-400, 400)])
    w = np.repeat(bits.astype(np.uint32).view(np.float32)[:, None], block, 1)
    w[:, 1::3] *= np.float32(-0.5)
    same(w, fmt)


@formats
@pytest.mark.parametrize("shape", [(1, 64), (3, 192), (0, 64), (5, 0)], ids=str)
def test_small_and_empty_weights(fmt: BlockFormat, shape: tuple[int, int]) -> None:
    w = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    same(w, fmt)


@formats
def test_rows_of_odd_length_and_weights_that_are_not_dense(fmt: BlockFormat) -> None:
    wide = np.random.default_rng(3).standard_normal((64, 99)).astype(np.float32)
    same(wide[:, :64].T, fmt)
    if not fmt.block:
        for k in range(1, 68):
            same(wide[:, :k], fmt)


@formats
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_like_in_numpy(fmt: BlockFormat, bad: float) -> None:
    w = np.ones((4, 128), np.float32)
    for place in ((0, 0), (1, 63), (3, 127)):
        hurt = w.copy()
        hurt[place] = bad
        assert quick(hurt, fmt) is None
        with pytest.raises(QuantError, match=f"{fmt.name}: weights must be finite, got 1 NaN"):
            blocks.encode(hurt, fmt)


@pytest.mark.parametrize("name", ["nf4", "int4", "int4-sym", "int3-asym"])
def test_an_absmax_beyond_f16_is_refused_like_in_numpy(name: str) -> None:
    fmt = FORMATS[name]
    code = {"signed": -fmt.element.least, "zero": 7}.get(fmt.rule, fmt.element.max)
    largest = np.float32(65504) * np.float32(code)
    same(np.full((1, 64), largest, np.float32), fmt)
    w = np.full((2, 64), largest * np.float32(1.01), np.float32)
    assert quick(w, fmt) is None
    with pytest.raises(QuantError, match="does not fit an f16 scale"):
        blocks.encode(w, fmt)


def test_every_storage_format_that_we_round_to_has_an_encoder_in_both_languages() -> None:
    from pteron import _codec
    from pteron.schema.formats import FORMATS as STORED

    assert {STORED[fmt.stored].row for fmt in FORMATS.values()} == {
        f.row for f in STORED.values() if f.bits and not f.foreign
    }
    rows = {f"pte_codec_{fmt.codec or fmt.stored}" for fmt in FORMATS.values()}
    assert rows | {"pte_codec_search"} == set(dir(_codec.lib))


@pytest.mark.parametrize("name", ["nf4", "int4", "int4-sym", "int3-asym", "int8-g32"])
def test_a_weight_below_what_an_f16_scale_holds_is_refused(name: str) -> None:
    fmt, w = FORMATS[name], np.eye(64, dtype=np.float32)
    blocks.refuse_lost(w, fmt)
    blocks.refuse_lost(w * 0, fmt)
    w[1:] *= np.float32(1e-12)  # rows that are lost beside others
    blocks.refuse_lost(w, fmt)
    with pytest.raises(QuantError, match="the largest weight 1e-12 is below what an f16 scale"):
        blocks.refuse_lost(w[1:], fmt)
    blocks.refuse_lost(w[1:], FORMATS["int8"])
