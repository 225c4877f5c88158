"""The search in C against the one in NumPy: codes and scales to the byte."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from encoders import ENCODERS, alike
from onnx import TensorProto, helper, numpy_helper

from pteron.export.capture.onnx import capture_onnx
from pteron.quantize.encode import blocks, codec, elements
from pteron.quantize.encode.format import BlockFormat, Encoded
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.observe.statistics import Moments
from pteron.quantize.recipe.layers import layers
from pteron.quantize.rounding.scale_search import offered, reference, refits_of, search
from pteron.quantize.rounding.weight import rounded
from pteron.schema.errors import QuantError

pytest.importorskip("pteron._codec", reason="the C encoders are not built")

formats = pytest.mark.parametrize("fmt", ENCODERS, ids=lambda f: f.name)


def same(w: np.ndarray, fmt: BlockFormat, weight: np.ndarray | None = None) -> Encoded:
    """What both find, which is the same."""
    block = fmt.block or w.shape[1]
    first = blocks.encode(w, fmt)
    offers, zeros = offered(np.ascontiguousarray(w).reshape(len(w), -1, block), first)
    want = reference(np.ascontiguousarray(w), first, offers, zeros, refits_of(fmt), weight)
    scales = blocks.steps(first) if first.outer is not None else first.scale
    values = elements.values(fmt.element)
    assert codec.search(first, w, scales, values, offers, zeros, refits_of(fmt), weight)
    alike(blocks.with_steps(first, first.codes, scales) if first.outer is not None else first, want)
    alike(search(w, fmt, weight), want)
    return want


def normal(n: int, k: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, k)).astype(np.float32)


@formats
def test_normal_weights_get_other_scales_than_by_absmax(fmt: BlockFormat) -> None:
    w = normal(64, 2048)
    found, absmax = same(w, fmt), blocks.encode(w, fmt)
    if fmt.element.bits < 8:
        assert np.mean(found.scale != absmax.scale) > 0.02


@formats
@pytest.mark.parametrize("rows", [1, 24], ids=["shared", "each row"])
def test_columns_that_weigh_differently(fmt: BlockFormat, rows: int) -> None:
    weight = np.exp2(np.random.default_rng(2).uniform(-20, 8, (rows, 1024))).astype(np.float32)
    weight[:, ::5] = 0
    weight[:, 64:128] = 0
    w = normal(24, 1024)
    assert not np.array_equal(same(w, fmt, weight).scale, same(w, fmt).scale) or fmt.scale == "e8m0"


@formats
def test_ties_between_codes_and_between_scales(fmt: BlockFormat) -> None:
    """Values, midpoints and powers of two: many candidates leave the same error."""
    rng = np.random.default_rng(3)
    values = np.unique(elements.values(fmt.element))
    values = values[np.abs(values) <= fmt.element.max]
    pool = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(np.float32)
    w = rng.choice(pool, (64, 256)) * np.exp2(rng.integers(-8, 5, (64, 1)))
    same(w.astype(np.float32), fmt)
    same(np.exp2(rng.integers(-3, 3, (64, 256))).astype(np.float32), fmt)


@formats
def test_zeros_subnormal_and_huge_weights(fmt: BlockFormat) -> None:
    rng = np.random.default_rng(4)
    top = 15 if fmt.scale == "f16" else 127
    for low in (-149, -130, -30, top - 3):
        start = rng.uniform(low, min(low + 30, top), (96, 1))
        w = np.exp2(start - rng.uniform(0, 8, (96, 256))) * rng.choice([-1.0, 1.0], (96, 256))
        w[::7] = 0
        w[1::7] = -0.0
        w[2::7, 1:] = 0
        same(w.astype(np.float32), fmt)
        same(w.astype(np.float32), fmt, np.full((1, 256), np.float32(3e38)))


@formats
def test_short_rows_and_weights_that_are_not_dense(fmt: BlockFormat) -> None:
    wide = normal(128, 99, 5)
    same(wide[:64, :64].T, fmt)
    if not fmt.block:
        for k in (*range(1, 20), 99):
            same(wide[:9, :k], fmt, np.square(normal(1, k)))
        for k in (255, 256, 257, 1027):
            same(normal(3, k), fmt)


@formats
def test_what_is_not_finite_is_refused(fmt: BlockFormat) -> None:
    w = np.ones((4, 128), np.float32)
    w[3, 127] = np.nan
    with pytest.raises(QuantError, match=f"{fmt.name}: weights must be finite, got 1 NaN"):
        search(w, fmt)


@formats
@pytest.mark.parametrize("shape", [(0, 64), (5, 0)], ids=str)
def test_nothing_to_search(fmt: BlockFormat, shape: tuple[int, int]) -> None:
    assert search(np.zeros(shape, np.float32), fmt).codes.shape == shape


def test_the_scale_of_least_error_is_found_where_it_is_known() -> None:
    """Of codes times a scale that is no candidate, in both languages: by a refit, to half an f16 step."""
    fmt = FORMATS["int4"]
    codes = np.random.default_rng(6).integers(-8, 8, (32, 32))
    codes[:, :2] = -8, 7
    w = (codes * 0.71).astype(np.float32)
    found = same(w, fmt)
    np.testing.assert_array_equal(found.scale, np.float16(0.71))
    np.testing.assert_array_equal(found.codes, codes & 15)


@formats
def test_refits_lower_the_error_of_scales_that_are_no_powers_or_products(fmt: BlockFormat) -> None:
    w = normal(16, 512)
    first = blocks.encode(w, fmt)
    offers, zeros = offered(w.reshape(16, -1, fmt.block or 512), first)
    without = blocks.decode(reference(w, first, offers, zeros, 0, None))
    without, found = (np.square(x - w).sum() for x in (without, blocks.decode(search(w, fmt))))
    assert found < without if fmt.scale in ("f16", "f32") else found == without


@pytest.mark.parametrize("algorithm", ["nearest", "search"])
def test_threads_change_nothing(algorithm: str) -> None:
    """Codes, scales and the report, of two and a half bands of rows."""
    n, k = 160, 4096
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    ports = [
        helper.make_tensor_value_info(v, TensorProto.FLOAT, [1, m]) for v, m in (("x", k), ("y", n))
    ]
    held = [numpy_helper.from_array(normal(k, n), "w")]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], held)
    imports = [helper.make_opsetid("", 21)]
    model = capture_onnx(helper.make_model(graph, opset_imports=imports, ir_version=10), opset=21)
    weigh = np.square(normal(1, k, 8))
    ones = np.ones((1, k), np.float32)
    moments = Moments(np.diagflat(weigh)[None], 0 * ones, ones, 9)
    for given in (None, moments):
        made = [rounded(layers(model)[0], FORMATS["nf4"], algorithm, given, t) for t in (1, 3)]
        one, three = made
        np.testing.assert_array_equal(one.encoded.codes, three.encoded.codes)
        np.testing.assert_array_equal(one.encoded.scale, three.encoded.scale)
        assert dataclasses.asdict(one.report) == dataclasses.asdict(three.report)
        w = normal(k, n).T
        miss = one.weight() - w
        np.testing.assert_allclose(
            one.report.noise, np.square(miss, dtype=np.float64).sum(), rtol=1e-9
        )
        assert one.report.worst == np.abs(miss).max()
        if given is not None:
            want = (np.square(miss) * weigh).sum() / (np.square(w) * weigh).sum()
            np.testing.assert_allclose(one.report.output, want, rtol=1e-4)
