"""Attention's promise across calls: decoding with a cache gives the bits of one long prefill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ops import harness
from ops.harness import Array, Case

RNG = np.random.default_rng(15)
HEADS, GROUPS, KEYS = 6, 2, 150


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def attention(q: Array, k: Array, v: Array, count: int, cpu: int, how: dict[str, Any]) -> Array:
    attrs = {"scale": 0.1, "causal": "bottom_right", **how}
    case = Case("attention", [q, k, v, None, np.array([count])], attrs)
    y = harness.run(case, harness.outs_of(case), cpu=cpu).outputs[0]
    assert y is not None
    return y


@pytest.mark.parametrize(("d", "e"), [(40, 24), (16, 64), (64, 128)])
@pytest.mark.parametrize("how", [{}, {"left_window": 30}, {"softcap": 3.0}], ids=str)
def test_decoding_gives_the_bits_of_prefill(how: dict[str, Any], d: int, e: int) -> None:
    """At and around the borders of tiles; what lies behind the count is NaN in the cache of the decoder."""
    q, k, v = normal(1, HEADS, KEYS, d), normal(1, GROUPS, KEYS, d), normal(1, GROUPS, KEYS, e)
    whole = attention(q, k, v, KEYS, 0, how)
    for count in (1, 2, 63, 64, 65, 100, 128, 129, 150):
        k_cache, v_cache = np.full_like(k, np.nan), np.full_like(v, np.inf)
        k_cache[:, :, :count], v_cache[:, :, :count] = k[:, :, :count], v[:, :, :count]
        for queries in (1, min(7, count), min(100, count)):
            for cpu in {0, harness.features()}:
                part = q[:, :, count - queries : count]
                y = attention(part, k_cache, v_cache, count, cpu, how)
                assert y.tobytes() == whole[:, count - queries : count].tobytes(), count


@pytest.mark.parametrize("apart", [64, 96, 512, 1024])
def test_queries_may_lie_anywhere(apart: int) -> None:
    """Side by side, and so far apart that they would fall on each other in a cache."""
    q = normal(1, HEADS, 70, 64)
    k, v = normal(1, GROUPS, 70, 64), normal(1, GROUPS, 70, 64)
    wide = normal(1, HEADS, 70, apart)
    wide[..., :64] = q
    for cpu in {0, harness.features()}:
        y = attention(wide[..., :64], k, v, 70, cpu, {})
        assert y.tobytes() == attention(q, k, v, 70, 0, {}).tobytes()
