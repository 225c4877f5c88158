"""Batch normalization and factors go into the weights before them."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from passes.same import becomes

from pteron.export.graph.text import onnx_text
from pteron.export.passes.affine import fold_batch_norm, fold_factor

RNG = np.random.default_rng(1)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def norm(channels: int) -> dict[str, np.ndarray]:
    parts = {"g": floats(channels), "h": floats(channels), "m": floats(channels)}
    return {**parts, "v": np.abs(floats(channels)) + np.float32(0.1)}


CASES = {
    "Conv(x, w, group=2)": ("f32[2, 4, 5, 5]", (12, 2, 3, 3), 12),
    "ConvTranspose(x, w)": ("f32[2, 4, 5, 5]", (4, 12, 3, 3), 12),
    "Gemm(x, w)": ("f32[2, 4]", (4, 12), 12),
    "Gemm(x, w, transB=1)": ("f32[2, 4]", (12, 4), 12),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("call", CASES)
def test_folds(call: str, bias: bool) -> None:
    x, shape, channels = CASES[call]
    made = call.replace("w,", "w, b,").replace("w)", "w, b)") if bias else call
    given = {"b": floats(channels)} if bias else {}
    after = call.replace(" w", " n_y_w, n_y_b")
    becomes(
        fold_batch_norm,
        f"y = BatchNormalization({made}, g, h, m, v)",
        f"y = {after}",
        2e-5,
        x=x,
        w=floats(*shape),
        **given,
        **norm(channels),
    )


FACTORS = [(), (1,), (1, 1, 1), "each"]
"""Shapes of a factor: of one number, or of one for each channel."""


@pytest.mark.parametrize("shape", FACTORS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("call", CASES)
def test_factors_fold(call: str, bias: bool, shape: str | tuple[int, ...]) -> None:
    x, weight, channels = CASES[call]
    rank = len(weight)
    if rank == 2 and len(shape) == 3:
        shape = (1, 1)
    if shape == "each":
        shape = (channels, *[1] * (rank - 2))
    made = call.replace("w,", "w, b,").replace("w)", "w, b)") if bias else call
    after = call.replace(" w", " n_y_w, n_y_b" if bias else " n_y_w")
    given = {"b": floats(channels)} if bias else {}
    for text in (f"y = Mul({made}, s)", f"y = Mul(s, {made})"):
        factor = np.asarray(RNG.standard_normal(shape), np.float32)
        becomes(fold_factor, text, f"y = {after}", 2e-5, x=x, w=floats(*weight), s=factor, **given)


@pytest.mark.parametrize("shape", [(5,), (1, 5, 1), (2, 1, 1, 1), (1, 1, 6, 1, 1), (6, 5, 5)])
def test_factors_that_are_not_of_channels_stay(shape: tuple[int, ...]) -> None:
    text, given = "y = Mul(Conv(x, w), s)", {"x": "f32[2, 4, 5, 5]", "w": floats(6, 4, 1, 1)}
    becomes(fold_factor, text, "", s=floats(*shape), **given)


@pytest.mark.parametrize("value", [np.inf, np.nan, 3e38])
def test_factors_that_are_not_finite_stay(value: float) -> None:
    text, factor = "y = Mul(Conv(x, w), s)", np.full(1, value, np.float32)
    becomes(fold_factor, text, "", x="f32[1, 4, 5, 5]", w=floats(6, 4, 1, 1), s=factor)


def test_a_factor_of_what_others_read_stays() -> None:
    text = "c = Conv(x, w); y = Mul(c, s); z = Neg(c)"
    becomes(fold_factor, text, "", x="f32[1, 2, 4, 4]", w=floats(6, 2, 1, 1), s=floats(1))


def test_another_user_of_the_convolution_keeps_it() -> None:
    text = "c = Conv(x, w); y = BatchNormalization(c, g, h, m, v); z = Neg(c)"
    becomes(fold_batch_norm, text, "", x="f32[1, 2, 4, 4]", w=floats(6, 2, 1, 1), **norm(6))


@pytest.mark.parametrize("name, value", [("g", np.inf), ("h", np.nan), ("m", -np.inf), ("v", -1.0)])
def test_what_is_not_finite_keeps_it(name: str, value: float) -> None:
    """inf times a weight of 0 is NaN, where the image makes something else of it."""
    given = norm(6)
    given[name] = np.full(6, value, np.float32)
    text = "y = BatchNormalization(Conv(x, w), g, h, m, v)"
    becomes(fold_batch_norm, text, "", x="f32[1, 2, 4, 4]", w=floats(6, 2, 1, 1), **given)


def test_parameters_given_at_run_time_keep_it() -> None:
    given = {**norm(6), "g": "f32[6]"}
    becomes(
        fold_batch_norm,
        "y = BatchNormalization(Conv(x, w), g, h, m, v)",
        "",
        x="f32[1, 2, 4, 4]",
        w=floats(6, 2, 1, 1),
        **given,
    )


def test_groups_of_a_transposed_convolution() -> None:
    """Checked with onnxruntime: onnx's reference has no groups here."""
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    x, given = floats(2, 4, 5, 5), {"w": floats(4, 6, 3, 3), **norm(12)}
    answers = []
    for step in (lambda m: False, fold_batch_norm):
        text = "y = BatchNormalization(ConvTranspose(x, w, group=2), g, h, m, v)"
        model = onnx_text(text, opset=22, x="f32[2, 4, 5, 5]", **given)
        step(model)
        session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
        answers.append(session.run(None, {"x": x})[0])
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("call", CASES)
def test_a_weight_that_is_read_when_asked_for_stays_so(call: str) -> None:
    """Not all weights of a model are in memory at once; the numbers are those of one that is."""
    x, shape, _ = CASES[call]
    large = (shape[0] * 32, shape[1] * 32, *shape[2:])
    w, parts = floats(*large), norm(12 * 32)
    text = f"n_y = {call}; y = BatchNormalization(n_y, g, h, m, v)"
    made = []
    for is_lazy in (False, True):
        model = onnx_text(text, x=x.replace("4", "128"), w=w, **parts)
        value = model.graph.initializers["w"]
        if is_lazy:
            value.const_value = ir.LazyTensor(
                lambda: ir.tensor(w), dtype=ir.DataType.FLOAT, shape=ir.Shape(w.shape)
            )
        assert fold_batch_norm(model)
        made.append(next(iter(model.graph)).inputs[1].const_value)  # type: ignore[union-attr]
    assert isinstance(made[1], ir.LazyTensor) and not isinstance(made[0], ir.LazyTensor)
    np.testing.assert_array_equal(made[1].numpy(), made[0].numpy())
