"""N-grams of integers against onnxruntime, weights of mel bins against ONNX's reference."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from lower.check import agrees_with_onnxruntime
from onnx.reference import ReferenceEvaluator

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.lower.ops.images.signal import mel_weights
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError

POOL = (
    "ngram_counts=[0, 3, 9], ngram_indexes=[4, 0, 2, 1, 6, 3, 5], "
    "pool_int64s=[1, 2, 3, 1, 2, 2, 2, 2, 3, 1, 2, 1]"
)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("rest", ["min_gram_length=1, max_gram_length=3, max_skip_count=2",
                                  "min_gram_length=2, max_gram_length=2, max_skip_count=0"])  # fmt: skip
def test_counts_of_integers(mode: str, rest: str) -> None:
    weights = ", ".join(str(0.5 + k) for k in range(7))
    text = f"y = TfIdfVectorizer(x, mode='{mode}', {rest}, {POOL}, weights=[{weights}])"
    x = np.random.default_rng(1).integers(1, 4, (3, 11))
    agrees_with_onnxruntime(text, {"x": x}, x="i64[b, c]")
    agrees_with_onnxruntime(text, {"x": x[0, :2].astype(np.int32)}, x="i32[2]")


def test_pools_that_are_not_divided_are_refused() -> None:
    attrs = "mode='TF', min_gram_length=1, max_gram_length=2, max_skip_count=0"
    text = f"y = TfIdfVectorizer(x, {attrs}, ngram_counts=[0, 1], ngram_indexes=[0, 1], pool_int64s=[1, 2])"
    with pytest.raises(LoweringError, match="do not divide a pool of 2 numbers"):
        lower(onnx_text(text, x="i64[c]"))


@pytest.mark.parametrize("given", [(8, 16, 8192, 0.0, 4096.0), (80, 400, 16000, 20.0, 7600.0),
                                   (3, 32, 8000, 300.0, 4000.0), (40, 64, 16000, 0.0, 8000.0)])  # fmt: skip
def test_weights_of_mel_bins(given: tuple[float, ...]) -> None:
    count, length, rate, low, high = given
    model = onnx_text("y = MelWeightMatrix(a, b, c, d, e)", a=np.int64(count), b=np.int64(length), c=np.int64(rate),
                      d=np.float32(low), e=np.float32(high))  # fmt: skip
    got = run(lower(model), {})["y"]
    want = ReferenceEvaluator(ir.to_proto(model)).run(None, {})[0]
    np.testing.assert_allclose(got, want, 1e-6)


def test_corners_outside_are_refused() -> None:
    assert mel_weights(8, 16, 8000, 0.0, 8000.0) is None
    text = "y = MelWeightMatrix(i64(8), i64(16), i64(8000), f32(0), e)"
    with pytest.raises(LoweringError, match="an edge in Hz is computed while running"):
        lower(onnx_text(text, e="f32[]"))
