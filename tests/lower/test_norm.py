"""Normalizations against ONNX's reference."""

from __future__ import annotations

import numpy as np
import pytest
from lower.check import agrees, listing
from lower.test_families import floats, typed

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run

X = floats((2, 6, 3, 5))


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_layer_norm_and_its_statistics(axis: int, dtype: str) -> None:
    shape = X.shape[axis:]
    g, b = floats(shape, 1, dtype), floats(shape, 2, dtype)
    outputs = "y, mean, inverse" if dtype == "float32" else "y"
    x = X.astype(dtype)
    text = f"{outputs} = LayerNormalization(x, g, b, axis={axis})"
    kind = "f16" if dtype == "float16" else "f32"
    agrees(text, {"x": x}, x=f"{kind}[n, 6, 3, 5]", g=g, b=b)


def test_a_gain_that_broadcasts() -> None:
    agrees("y = LayerNormalization(x, g, axis=2)", {"x": X}, x="f32[n, 6, 3, 5]", g=floats((5,), 1))


@pytest.mark.parametrize("axis", [1, -1])
def test_rms_norm(axis: int) -> None:
    g = floats(X.shape[axis:], 1)
    agrees(f"y = RMSNormalization(x, g, axis={axis})", {"x": X}, x="f32[n, 6, 3, 5]", g=g)


def test_instance_norm() -> None:
    g, b = floats((6,), 1), floats((6,), 2)
    agrees("y = InstanceNormalization(x, g, b)", {"x": X}, x="f32[n, 6, h, w]", g=g, b=b)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_group_norm(groups: int) -> None:
    g, b = floats((6,), 1), floats((6,), 2)
    text = f"y = GroupNormalization(x, g, b, num_groups={groups})"
    agrees(text, {"x": X}, x="f32[n, 6, h, w]", g=g, b=b)


@pytest.mark.parametrize("constant", [True, False])
def test_batch_norm(constant: bool) -> None:
    parts = {k: floats((6,), i) for i, k in enumerate("gbm")} | {"v": abs(floats((6,), 9))}
    feeds = {"x": X} if constant else {"x": X, **parts}
    given = parts if constant else dict.fromkeys(parts, "f32[6]")
    agrees("y = BatchNormalization(x, g, b, m, v)", feeds, x="f32[n, 6, h, w]", **given)


def test_batch_norm_in_training_moves_its_statistics() -> None:
    parts = {k: floats((6,), i) for i, k in enumerate("gbm")} | {"v": abs(floats((6,), 9))}
    text = "y, p, q = BatchNormalization(x, g, b, m, v, training_mode=1)"
    agrees(text, {"x": X}, x="f32[n, 6, h, w]", **parts)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [-1, 1])
def test_lp_norm_of_zeros_is_zero(p: int, axis: int) -> None:
    x = abs(X.copy())
    x[0, :, 0] = 0
    agrees(f"y = LpNormalization(x, p={p}, axis={axis})", {"x": x}, x="f32[n, 6, 3, w]")


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e25, 3e38])
def test_lp_norm_of_numbers_whose_squares_f32_has_not(p: int, scale: float) -> None:
    x = np.array([[1, -0.5, 0.25], [0, 0, 0], [-1, 1, 1]]).astype(np.float32) * np.float32(scale)
    got = run(lower(onnx_text(f"y = LpNormalization(x, p={p})", x="f32[n, 3]")), {"x": x})["y"]
    wide = x.astype(np.float64)
    norm = (abs(wide) ** p).sum(-1, keepdims=True) ** (1 / p)
    want = np.divide(wide, norm, out=np.zeros_like(wide), where=norm > 0)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_lp_norm_is_computed_in_its_own_width(dtype: str) -> None:
    lines = listing("y = LpNormalization(x)", x=f"{dtype}[n, 3]")
    assert any("f64" in line for line in lines) == (dtype == "f64")


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_lp_norm_of_special_numbers(p: int, special: float) -> None:
    x = np.array([[1, special, 2], [1, 2, 3]], np.float32)
    agrees(f"y = LpNormalization(x, p={p})", {"x": x}, x="f32[n, 3]")


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_norm(size: int) -> None:
    """By its definition: the reference loops over the batch instead of the channels."""
    program = lower(onnx_text(f"y = LRN(x, size={size}, alpha=0.5, bias=2.0)", x="f32[n, 6, h, w]"))
    sums = np.zeros_like(X)
    for c in range(6):
        low, high = max(0, c - (size - 1) // 2), min(5, c + size // 2)
        sums[:, c] = (X[:, low : high + 1] ** 2).sum(1)
    expected = X / (2.0 + 0.5 / size * sums) ** 0.75
    np.testing.assert_allclose(run(program, {"x": X})["y"], expected, rtol=1e-5)


def test_mean_variance_norm() -> None:
    agrees("y = MeanVarianceNormalization(x)", {"x": X}, x=typed(X))
