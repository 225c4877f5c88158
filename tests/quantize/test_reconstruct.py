"""Layers after one another in the rounded network: each result keeps its mean, weights make up for what was lost before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import quantized, values_of

from pteron.export.graph.text import onnx_text
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.static import reconstruct

C = 8
TEXT = (
    f"g = Conv(x, w, b); h = Relu(g); i = Conv(h, d, c, group={C}, pads=[1, 1, 1, 1]); j = Conv(i, p, e); k = Add(j, h); "
    "l = Conv(k, q, e); m = Flatten(GlobalAveragePool(l)); n = MatMul(m, v); y = Add(n, f)"
)
LAYERS = ("g", "i", "j", "l", "y")


def network(rng: np.random.Generator) -> ir.Model:
    """Channels of a value differ by up to 2 ** 10 and are never below 0: most round to nothing, or all to one side."""
    quiet = (2.0 ** -rng.permutation(np.linspace(0, 10, C))).astype(np.float32)

    def weight(*shape: int) -> np.ndarray:
        made = rng.standard_normal(shape) * quiet.reshape(-1, *[1] * (len(shape) - 1))
        return np.asarray(made if shape[1] == 1 else made / quiet[:, None, None], np.float32)

    held = {"w": weight(C, C, 1, 1), "d": weight(C, 1, 3, 3), "p": weight(C, C, 1, 1)}
    held |= {"q": weight(C, C, 3, 3), "v": rng.standard_normal((C, 5)).astype(np.float32)}
    held |= {n: rng.standard_normal(C).astype(np.float32) * quiet for n in "bce"}
    held["f"] = rng.standard_normal(5).astype(np.float32)
    return onnx_text(TEXT, x=f"f32[1, {C}, 6, 6]", **held)


def samples(rng: np.random.Generator, count: int) -> list[dict[str, np.ndarray]]:
    return [{"x": rng.random((1, C, 6, 6)).astype(np.float32)} for _ in range(count)]


def means(
    model: ir.Model, names: Sequence[str], given: Sequence[dict[str, np.ndarray]]
) -> list[np.ndarray]:
    """Of each channel, before it is rounded."""
    runs = [values_of(model, x) for x in given]
    found = []
    for name in names:
        values = np.concatenate([v.get(f"{name}.exact", v[name]) for v in runs])
        found.append(values.astype(np.float64).mean(tuple(i for i in range(values.ndim) if i != 1)))
    return found


def steps(model: ir.Model) -> list[np.ndarray]:
    """Of the codes of biases, in order: a bias cannot be nearer than half of one."""
    return [
        node.inputs[1].const_value.numpy().astype(np.float64)
        for node in model.graph
        if node.op_type == "DequantizeLinear"
        and node.inputs[0].const_value is not None
        and node.inputs[0].const_value.dtype == ir.DataType.INT32
    ]


@pytest.mark.parametrize("seed", range(3))
def test_every_layer_keeps_its_mean_in_the_rounded_network(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pteron.quantize.quantize.chains", lambda plan: []
    )  # values keep their size
    rng = np.random.default_rng(seed)
    source, given = network(rng), samples(rng, 12)
    model, apart = source.clone(), source.clone()
    quantized(model, given)
    quantized(apart, given, recipe("int8", algorithm="search"))
    want = means(source, LAYERS, given)
    least = [1e-5 * np.abs(x).max() for x in want]
    for name, mean, exact, small, step in zip(
        LAYERS, means(model, LAYERS, given), want, least, steps(model), strict=True
    ):
        assert (np.abs(mean - exact) <= step / 2 + small).all(), (name, mean, exact, step)
    others = zip(means(apart, LAYERS, given), want, steps(apart), strict=True)
    assert sum((np.abs(a - b) > 5 * step).any() for a, b, step in others) >= 3, "was not moved"


@pytest.mark.parametrize("biased", [True, False])
def test_a_weight_makes_up_as_least_squares_with_a_ridge(biased: bool) -> None:
    """Of |w x - v x'|^2 + r |v - w|^2, about the mean where there is a bias, by NumPy's least squares of the rows with the ridge."""
    rng = np.random.default_rng(5)
    groups, rows, k = 2, 3 * reconstruct.CHUNK // 2, 6
    x = rng.standard_normal((groups, rows, k)).astype(np.float32) + 2
    turn = np.eye(k) + 0.2 * rng.standard_normal((k, k))
    y = (x @ turn + 0.1 * rng.standard_normal(x.shape)).astype(np.float32)
    w = rng.standard_normal((2 * groups, k)).astype(np.float32)
    sums = reconstruct._Sums(groups, k)
    for begin, end in ((0, 100), (100, rows)):
        sums.add(x[:, begin:end], y[:, begin:end])
    got = sums.made_up(w, biased)
    for g in range(groups):
        a, b = (z[g] - z[g].mean(0) * biased for z in (x, y))
        ridge = np.sqrt(reconstruct.RIDGE * rows * np.square(b).mean()) * np.eye(k)
        some = w[2 * g : 2 * g + 2]
        want = np.linalg.lstsq(np.r_[b, ridge], np.r_[a @ some.T, ridge @ some.T])[0].T
        np.testing.assert_allclose(got[2 * g : 2 * g + 2], want, rtol=0, atol=2e-5)
        assert np.abs(want - some).max() > 1e-2


def test_weights_make_up_for_what_earlier_layers_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """One loud channel makes all others round to 0; it tells what they were, and Clip keeps equalization away."""
    rng = np.random.default_rng(7)
    first = rng.standard_normal((1, C, 1, 1)).repeat(C, 0).astype(np.float32)
    first[1:] *= 1e-3
    last = rng.random((C, C, 1, 1)).astype(np.float32)
    last[:, 1:] *= 300
    source = onnx_text(
        "h = Clip(Conv(x, w), low, high); y = Conv(h, v, b)", x=f"f32[1, {C}, 6, 6]",
        w=first, v=last, b=np.zeros(C, np.float32), low=np.float32(-1e4), high=np.float32(1e4),
    )  # fmt: skip
    given, others = samples(rng, 12), samples(rng, 12)

    def error() -> float:
        model = source.clone()
        quantized(model, given)
        values = [[values_of(m, x)["y"] for x in others] for m in (model, source)]
        return float(np.linalg.norm(np.subtract(*values)))

    made_up = error()
    monkeypatch.setattr(reconstruct, "RIDGE", 1e12)
    assert made_up < 0.85 * error()


def test_samples_that_are_all_the_same_move_no_weight() -> None:
    """About the mean nothing is left of them but rounding, which made systems without a solution."""
    rng = np.random.default_rng(0)
    model = network(rng)
    x = np.broadcast_to(rng.random((1, C, 1, 1)), (1, C, 6, 6)).astype(np.float32)
    sums = reconstruct._Sums(1, C)
    rows = x.reshape(1, C, 36).swapaxes(1, 2)
    for _ in range(7):
        sums.add(rows, rows + np.float32(0.01))
    w = rng.standard_normal((C, C)).astype(np.float32)
    np.testing.assert_allclose(sums.made_up(w, True), w, atol=0.05)
    quantized(model, [{"x": x}] * 7)


@pytest.mark.parametrize("biased", [False, True])
def test_layers_that_read_the_same_are_each_made_as_if_alone(biased: bool) -> None:
    """Queries, keys and values share the sums of what they read."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1, 40, C)).astype(np.float32) + 1
    w = rng.standard_normal((5, C)).astype(np.float32)
    sums = reconstruct._Sums(1, C)
    sums.add(x, x + rng.standard_normal(x.shape).astype(np.float32) / 8)
    want, before = sums.made_up(w, biased), sums.moments()
    for _ in range(3):
        np.testing.assert_array_equal(sums.made_up(w, biased), want)
        np.testing.assert_array_equal(sums.moments().second, before.second)
