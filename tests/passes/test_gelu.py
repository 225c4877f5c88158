"""Gelu written out, in the forms that exporters write."""

from __future__ import annotations

import pytest
from passes.same import becomes

from pteron.export.passes.gelu import recognise_gelu

ERF = [
    "s = Add(Erf(Div(x, 1.4142135)), 1); out = Mul(Mul(x, s), 0.5)",
    "s = Add(1, Erf(Mul(x, 0.70710678))); out = Mul(Mul(x, 0.5), s)",
    "s = Add(Erf(Div(x, 1.4142135)), 1); out = Mul(x, Mul(0.5, s))",
    "s = Add(Erf(Div(x, 1.4142135)), 1); out = Mul(0.5, Mul(s, x))",
]
TANH = [
    "i = Mul(Add(x, Mul(0.044715, Pow(x, 3))), 0.7978846); out = Mul(Mul(0.5, x), Add(1, Tanh(i)))",
    "i = Mul(0.7978846, Add(x, Mul(Mul(Mul(x, x), x), 0.044715))); out = Mul(Mul(x, Add(Tanh(i), 1)), 0.5)",
    "i = Mul(Mul(x, 0.7978846), Add(1, Mul(Mul(0.044715, x), x))); out = Mul(x, Mul(0.5, Add(1, Tanh(i))))",
]


@pytest.mark.parametrize("text", ERF)
def test_erf_form_becomes_one_gelu(text: str) -> None:
    becomes(recognise_gelu, text, "out = Gelu(x)")


@pytest.mark.parametrize("text", TANH)
def test_tanh_form_becomes_one_gelu(text: str) -> None:
    becomes(recognise_gelu, text, "out = Gelu(x, approximate='tanh')")


def test_other_constants_are_left() -> None:
    becomes(recognise_gelu, "s = Add(Erf(Div(x, 1.5)), 1); out = Mul(Mul(x, s), 0.5)", "")


def test_another_value_outside_is_left() -> None:
    becomes(recognise_gelu, "s = Add(Erf(Div(x, 1.4142135)), 1); out = Mul(Mul(y, s), 0.5)", "")


def test_inner_values_with_other_users_stay() -> None:
    becomes(
        recognise_gelu,
        "e = Erf(Div(x, 1.4142135)); out = Mul(Mul(x, Add(e, 1)), 0.5); two = Neg(e)",
        "t = Div(x, 1.414214); e = Erf(t); out = Gelu(x); two = Neg(e)",
    )
