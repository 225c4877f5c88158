"""MX formats against the TOSA reference model: CAST_TO_BLOCK_SCALED and CAST_FROM_BLOCK_SCALED, to the bit.

TOSA takes the floor rule's exponent, one more where the block's largest element would round beyond the largest value: our rule
"even" of E2M3 and E2M1, and between "floor" and "rceil" for E4M3. A block of zeros has its smallest scale.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from pteron.quantize.encode import blocks, elements
from pteron.quantize.encode.format import Encoded
from pteron.quantize.encode.table import FORMATS

TOSA = {"mxfp8": "FP8E4M3", "mxfp6": "FP6E2M3", "mxfp4": "FP4E2M1"}
names = pytest.mark.parametrize("name", TOSA)
Arrays = dict[str, np.ndarray]


def weights() -> np.ndarray:
    """Normal blocks, blocks of every exponent, blocks with absmax near every place where a rule changes its mind."""
    rng = np.random.default_rng(5)
    normal = rng.standard_normal((64, 256)).astype(np.float32)
    wide = rng.standard_normal((256, 32)) * np.exp2(rng.uniform(-110, 110, (256, 1)))
    near = rng.uniform(-1, 1, (256, 32)) * np.exp2(rng.integers(-20, 20, (256, 1)))
    near[:, 0] = (1 + np.arange(256) / 256) * np.exp2(rng.integers(22, 24, 256))
    return np.concatenate([normal.reshape(-1, 32), wide, near]).astype(np.float32)


def stored(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Every code with every scale byte, but NaN."""
    element = FORMATS[name].element
    codes = np.arange(1 << element.bits, dtype=np.uint8)
    codes = codes[np.isfinite(elements.values(element))]
    codes = np.resize(codes, -(-len(codes) // 32) * 32)
    return np.tile(codes, (255, 1)), np.repeat(
        np.arange(255, dtype=np.uint8)[:, None], len(codes) // 32, 1
    )


@pytest.fixture(scope="module")
def tosa(npu_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    folder = tmp_path_factory.mktemp("tosa")
    cases: Arrays = {}
    for name, element in TOSA.items():
        codes, scale = stored(name)
        cases |= {f"{element}/x": weights(), f"{element}/codes": codes, f"{element}/scale": scale}
    np.savez(folder / "cases.npz", **cases)
    worker = Path(__file__).with_name("tosa_blocks.py")
    command = [npu_python, worker, folder / "cases.npz", folder / "results.npz"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(np.load(folder / "results.npz"))


@names
def test_every_code_and_scale_stands_for_the_same_number(name: str, tosa: Arrays) -> None:
    codes, scale = stored(name)
    with np.errstate(over="ignore"):
        want = blocks.decode(Encoded(FORMATS[name], codes, scale))
    assert tosa[f"{TOSA[name]}/value"].tobytes() == want.tobytes()


@names
def test_codes_are_the_same_under_the_same_scales(name: str, tosa: Arrays) -> None:
    unit, element = tosa[f"{TOSA[name]}/unit"], FORMATS[name].element
    ratio = (weights().astype(np.float64) / unit).astype(np.float32)
    want = elements.decode(elements.encode(ratio, element), element)
    assert tosa[f"{TOSA[name]}/element"].tobytes() == want.tobytes()


@names
def test_scales_follow_the_rule_that_nothing_rounds_beyond_the_largest(
    name: str, tosa: Arrays
) -> None:
    fmt, absmax = FORMATS[name], np.abs(weights()).max(1)
    got = np.frexp(tosa[f"{TOSA[name]}/unit"][:, 0])[1] - 1 + 127
    floor, even, rceil = (
        blocks.e8m0_of(absmax, fmt.element, rule).astype(int) for rule in ("floor", "even", "rceil")
    )
    if name == "mxfp8":
        assert np.all((floor <= got) & (got <= rceil))
        top = absmax / np.exp2(floor - 127.0)
        np.testing.assert_array_equal(got - floor, top > 464)  # 464, the tie, rounds to 448
    else:
        np.testing.assert_array_equal(got, even)


@names
def test_whole_blocks_are_the_same_where_the_rules_agree(name: str, tosa: Arrays) -> None:
    """Our own bytes, by the encoder that quantization uses."""
    ours = blocks.encode(weights(), FORMATS[name])
    theirs = tosa[f"{TOSA[name]}/unit"][:, 0]
    same = np.exp2(ours.scale[:, 0] - 127.0) == theirs
    assert same.mean() > 0.4
    want = elements.decode(ours.codes[same], FORMATS[name].element)
    assert tosa[f"{TOSA[name]}/element"][same].tobytes() == want.tobytes()
