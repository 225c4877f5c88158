"""A quantization that fails leaves the graph as it was, to the byte, however late it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import reference

from pteron.export.graph.text import onnx_text
from pteron.quantize.quantize import Calibration, Method, quantize_activations, quantize_weights
from pteron.quantize.recipe.file import targeted
from pteron.quantize.recipe.rules import Recipe, recipe
from pteron.schema.errors import QuantError

RNG = np.random.default_rng(3)
Do = Callable[..., Any]


def network(last: float = 1) -> ir.Model:
    """A residual stream of weights that rotation, scaling and rounding change; the last one is `last` times as large."""
    w = {name: RNG.standard_normal((32, 32)).astype(np.float32) / 6 for name in "abc"}
    w["d"] = RNG.standard_normal((32, 8)).astype(np.float32) * np.float32(last)
    norms = {name: 1 + RNG.random(32).astype(np.float32) for name in ("g", "h")}
    text = (
        "r = MatMul(x, a); n = RMSNormalization(r, g); m = MatMul(n, b); k = Relu(m); o = MatMul(k, c);"
        "s = Add(r, o); e = RMSNormalization(s, h); y = MatMul(e, d)"
    )
    return onnx_text(text, x="f32[n, 32]", **w, **norms)


def images() -> ir.Model:
    """Channels that equalization scales."""
    rng = np.random.default_rng(4)
    w = {name: rng.standard_normal((4, 4, 3, 3)).astype(np.float32) for name in "wv"}
    return onnx_text("r = Relu(Conv(x, w)); y = Conv(r, v)", x="f32[1, 4, 8, 8]", **w)


SAMPLES = [{"x": RNG.standard_normal((4, 32)).astype(np.float32)} for _ in range(4)]
CASES: dict[str, tuple[Do, Recipe, float]] = {
    "rounded": (quantize_weights, recipe("int4", algorithm="nearest"), 1e9),
    "rotated": (quantize_weights, recipe("int4", rotation="all"), 1e9),
    "scaled": (quantize_weights, recipe("int4", scaling="multiply"), 1e9),
    "as functions": (quantize_weights, recipe("nf4", {"d": "int4"}), 1e9),
    "a loss, channels equalized": (
        quantize_activations,
        targeted(recipe("int8"), None, None, 1e-9, ()),
        0,
    ),
    "a loss": (quantize_activations, targeted(recipe("int8"), None, None, 1e-9, ()), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_what_fails_changes_nothing(name: str) -> None:
    do, wanted, last = CASES[name]
    model = network(last) if last else images()
    model.metadata_props["kept"] = "yes"
    before = ir.serde.serialize_model(model).SerializeToString(deterministic=True)
    pictures = [{"x": RNG.standard_normal((1, 4, 8, 8)).astype(np.float32)} for _ in range(4)]
    calibration = Calibration(SAMPLES if last else pictures, reference, 4)
    with pytest.raises(QuantError):
        do(model, wanted, calibration, Method(runner=reference))
    assert ir.serde.serialize_model(model).SerializeToString(deterministic=True) == before
    assert not model.functions
