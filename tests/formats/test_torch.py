"""Encoders against PyTorch's casts and bitsandbytes' NF4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pteron.quantize.encode import blocks, elements
from pteron.quantize.encode.table import FORMATS
from pteron.schema.formats import power_of_two

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make dev-torch")


def bits_of(x: Any) -> np.ndarray:
    return np.asarray(x.view(torch.uint8).numpy())


def test_e4m3_codes_and_values_are_those_of_torch_after_the_clamp() -> None:
    rng = np.random.default_rng(0)
    x = np.exp2(rng.uniform(-20, 12, 1_000_000)) * rng.choice([-1.0, 1.0], 1_000_000)
    every = elements.values(elements.E4M3)
    middles = np.sort(every[np.isfinite(every)].astype(np.float64))
    middles = (middles[1:] + middles[:-1]) / 2
    x = np.concatenate([x, middles, [0.0, -0.0]]).astype(np.float32)
    clamped = torch.from_numpy(np.clip(x, -448, 448)).to(torch.float8_e4m3fn)
    np.testing.assert_array_equal(elements.encode(x, elements.E4M3), bits_of(clamped))
    codes = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn)
    np.testing.assert_array_equal(every, codes.float().numpy())


def test_e8m0_bytes_stand_for_what_torch_says() -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    want = codes.view(torch.float8_e8m0fnu).double().numpy()
    np.testing.assert_array_equal(power_of_two(codes.numpy()), want)


@pytest.fixture(scope="module")
def bitsandbytes() -> Any:
    return pytest.importorskip(
        "bitsandbytes.functional", reason="bitsandbytes is not installed: make dev-torch"
    )


def weights() -> np.ndarray:
    """2^20 numbers: normal, of very different sizes, on the midpoints of levels, and blocks of zeros."""
    rng = np.random.default_rng(6)
    normal = rng.standard_normal((1024, 512))
    sizes = normal * np.exp2(rng.uniform(-10, 10, (1024, 1)))
    levels = elements.values(elements.NF4)
    ties = rng.choice((levels[1:] + levels[:-1]) / np.float32(2), (512, 1024))
    ties[:, ::64] = 1
    ties[::9] = 0
    return np.concatenate([normal.reshape(-1), sizes.reshape(-1), ties.reshape(-1)]).reshape(
        -1, 512
    )


def test_nf4_is_that_of_bitsandbytes(bitsandbytes: Any) -> None:
    """Codes and absmax to the bit; our scale is that absmax in f16."""
    w = weights().astype(np.float32)
    packed, state = bitsandbytes.quantize_4bit(
        torch.from_numpy(w), blocksize=64, quant_type="nf4", compress_statistics=False
    )
    pairs = packed.numpy().reshape(-1, 1)
    codes = np.concatenate([pairs >> 4, pairs & 15], 1).reshape(w.shape)
    ours = blocks.encode(w, FORMATS["nf4"])
    absmax = state.absmax.numpy().reshape(len(w), -1)
    filled = np.repeat(absmax > 0, 64, 1)
    np.testing.assert_array_equal(ours.codes[filled], codes[filled])
    used = absmax > 0
    np.testing.assert_array_equal(ours.scale[used], absmax[used].astype(np.float16))
    np.testing.assert_array_equal(blocks.decode(ours)[~filled], 0)
    np.testing.assert_array_equal(state.code.numpy(), elements.values(elements.NF4))
    back = bitsandbytes.dequantize_4bit(packed, state).numpy()
    values = elements.decode(codes, elements.NF4) * np.repeat(absmax, 64, 1)
    np.testing.assert_array_equal(back[filled], values[filled])
