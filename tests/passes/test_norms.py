"""LayerNormalization and RMSNormalization written out."""

from __future__ import annotations

import numpy as np
import pytest
from passes.same import becomes

from pteron.export.passes.norms import recognise_layer_norm, recognise_rms_norm

G = np.linspace(0.5, 1.5, 16, dtype=np.float32)
B = np.linspace(-1, 1, 16, dtype=np.float32)
SQUARES = ["Mul(d, d)", "Pow(d, 2)"]
ROOTS = [
    "Div(d, Sqrt(e))",
    "Mul(d, Reciprocal(Sqrt(e)))",
    "Mul(Pow(e, -0.5), d)",
    "Mul(d, Div(1, Sqrt(e)))",
]


@pytest.mark.parametrize("square", SQUARES)
@pytest.mark.parametrize("root", ROOTS)
def test_layer_norm_with_gain_and_bias(square: str, root: str) -> None:
    becomes(
        recognise_layer_norm,
        f"m = ReduceMean(x, [-1]); d = Sub(x, m); v = ReduceMean({square}, [-1]); e = Add(v, 1e-5); n = {root}; y = Add(Mul(n, g), b)",
        "y = LayerNormalization(x, g, b, axis=-1, epsilon=1e-05)",
        1e-5,
        x="f32[n, 16]",
        g=G,
        b=B,
    )


def test_layer_norm_over_two_axes_without_gain() -> None:
    becomes(
        recognise_layer_norm,
        "m = ReduceMean(x, [1, 2]); d = Sub(x, m); v = ReduceMean(Mul(d, d), [2, 1]); y = Div(d, Sqrt(Add(v, 1e-5)))",
        "y = LayerNormalization(x, y_gain, axis=-2, epsilon=1e-05)",
        1e-5,
        x="f32[n, 3, 4]",
    )


@pytest.mark.parametrize("axes", ["[0]", "[1]"])
def test_other_axes_are_left(axes: str) -> None:
    text = f"m = ReduceMean(x, {axes}); d = Sub(x, m); v = ReduceMean(Mul(d, d), {axes}); y = Div(d, Sqrt(Add(v, 1e-5)))"
    becomes(recognise_layer_norm, text, "", x="f32[n, 3, 4]")


def test_a_gain_is_left_where_others_read_what_it_scales() -> None:
    becomes(
        recognise_rms_norm,
        "e = Add(ReduceMean(Mul(x, x), [-1]), 1e-6); r = Div(x, Sqrt(e)); m = Mul(r, g); o = Abs(r); y = Add(m, o)",
        "r = RMSNormalization(x, r_gain, axis=-1, epsilon=1e-06); m = Mul(r, g); o = Abs(r); y = Add(m, o)",
        1e-5,
        x="f32[b, n, 16]",
        g=G,
    )


def test_unknown_size_is_left() -> None:
    text = "m = ReduceMean(x, [-1]); d = Sub(x, m); v = ReduceMean(Mul(d, d), [-1]); y = Div(d, Sqrt(Add(v, 1e-5)))"
    becomes(recognise_layer_norm, text, "", x="f32[3, n]")


@pytest.mark.parametrize("square", ["Mul(x, x)", "Pow(x, 2)"])
@pytest.mark.parametrize("root", [r.replace("d", "x") for r in ROOTS])
def test_rms_norm_with_gain(square: str, root: str) -> None:
    root = root.replace("xiv", "div").replace("Dix", "Div")
    becomes(
        recognise_rms_norm,
        f"e = Add(ReduceMean({square}, [-1]), 1e-6); y = Mul(g, {root})",
        "y = RMSNormalization(x, g, axis=-1, epsilon=1e-06)",
        1e-5,
        x="f32[b, n, 16]",
        g=G,
    )


def test_a_gain_of_another_shape_stays_a_product() -> None:
    becomes(
        recognise_rms_norm,
        "e = Add(ReduceMean(Mul(x, x), [-1]), 1e-6); r = Div(x, Sqrt(e)); y = Mul(r, h)",
        "r = RMSNormalization(x, r_gain, axis=-1, epsilon=1e-06); y = Mul(r, h)",
        1e-5,
        x="f32[3, 16]",
        h="f32[3, 1]",
    )
