"""Biases make up for rounding: in the rounded network every layer's result has the mean that it has in f32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import quantized, values_of

from pteron.export.graph.text import onnx_text
from pteron.quantize.recipe import recipe

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
