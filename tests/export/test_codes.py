"""Codes of quantized weights in panels: there and back, and only where nothing is lost."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pteron.export.pack import codes
from pteron.export.program import Coded
from pteron.schema.formats import FORMATS

PACKED = [f for f in FORMATS.values() if f.bits]


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("k", [1, 7, 32, 33, 144])
@pytest.mark.parametrize("fmt", PACKED, ids=lambda f: f.name)
def test_codes_and_scales_come_back(fmt, k: int, groups: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(k)
    n = 3 * 11
    raw = rng.integers(0, 1 << fmt.bits, (n, k)).astype(np.uint8)
    blocks = -(-k // fmt.block) if fmt.block else 1
    kind = {"f32": np.float32, "f16": np.float16, "f8e8m0": np.uint8}[fmt.scale]
    scale = rng.integers(1, 100, (n, blocks)).astype(kind)
    data = codes.pack(fmt, raw, scale, groups)
    rows = groups * -(-(n // groups) // 16) * 16
    step = {8: 4, 4: 8, 6: 16}[fmt.bits]
    assert (
        data.size == rows * -(-k // step) * step * fmt.bits // 8 + rows * blocks * kind().itemsize
    )
    back = codes.unpack(fmt, data, (n, k), groups)
    np.testing.assert_array_equal(back[0], raw)
    np.testing.assert_array_equal(back[1], scale)


def test_the_place_of_a_four_bit_code() -> None:
    raw = np.zeros((16, 16), np.uint8)
    raw[5, 8 + 6] = 9
    data = codes.pack(FORMATS["mxfp4"], raw, np.full((16, 1), 127, np.uint8))
    assert data[64 + 5 * 4 + 2] == 9 << 4 and np.count_nonzero(data[:128]) == 1


def test_scales_that_do_not_fit_the_format_are_left_alone() -> None:
    q = np.ones((2, 64), np.int8).astype(ml_dtypes.int4)
    fits = Coded(q, np.full((2, 64), 0.5, np.float32))
    assert codes.stored(fits) is not None
    assert codes.stored(Coded(q, np.full((2, 64), 0.1, np.float32))) is None  # no f16
    uneven = np.arange(128, dtype=np.float32).reshape(2, 64) + 1
    assert codes.stored(Coded(q, uneven)) is None
