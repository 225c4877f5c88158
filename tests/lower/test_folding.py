"""Arithmetic on known elements: integers wrap as their dtype does, floats round as theirs, what rounds is not folded as exact."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower, scaled
from pteron.export.plan.lifetimes import MAX_EXTENT
from pteron.export.program.interpret import run
from tests.lower.check import agrees

SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.5], np.float32)
PAIRS = tuple(a.reshape(-1) for a in np.meshgrid(SPECIAL, SPECIAL))


@pytest.mark.parametrize("op", ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"])
def test_infinities_and_nan_compare_as_ieee_says(op: str) -> None:
    a, b = PAIRS
    text = f"c = {op}(a, b); y = Where(c, x, 0.0)"
    agrees(text, {"x": np.ones(36, np.float32)}, x="f32[36]", a=a, b=b)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Min", "Max"])
def test_float_constants_are_computed_in_their_dtype(op: str) -> None:
    a, b = PAIRS
    text = f"c = {op}(a, b); y = Add(c, x)"
    agrees(text, {"x": np.zeros(36, np.float32)}, x="f32[36]", a=a, b=b)


@pytest.mark.parametrize("op", ["Neg", "Abs", "Floor", "Ceil"])
def test_float_functions_take_infinities(op: str) -> None:
    agrees(f"c = {op}(a); y = Add(c, x)", {"x": np.zeros(6, np.float32)}, x="f32[6]", a=SPECIAL)


INTEGERS = np.array([7, -7, 8, -8, -(2**63), 2**63 - 1, 0], np.int64)


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("by", [3, -3])
def test_remainders_of_constants(fmod: int, by: int) -> None:
    text = f"c = Mod(a, i64({by}), fmod={fmod}); y = Add(c, x)"
    agrees(text, {"x": np.zeros(7, np.int64)}, x="i64[7]", a=INTEGERS)


@pytest.mark.parametrize("by", [3, -3, -1, 2])
def test_quotients_of_constants(by: int) -> None:
    got = run(
        lower(onnx_text(f"c = Div(a, i64({by})); y = Add(c, x)", x="i64[7]", a=INTEGERS)),
        {"x": np.zeros(7, np.int64)},
    )
    exact = [abs(int(v)) // abs(by) * (1 if (v < 0) == (by < 0) else -1) for v in INTEGERS]
    assert got["y"].tolist() == [(q + 2**63) % 2**64 - 2**63 for q in exact]


@pytest.mark.parametrize("op", ["Neg", "Abs"])
def test_the_lowest_integer_wraps(op: str) -> None:
    agrees(f"c = {op}(a); y = Add(c, x)", {"x": np.zeros(7, np.int64)}, x="i64[7]", a=INTEGERS)


DYADIC = (0.5, 1.5, 2.0)
"""Products with these are exact; rounding makes some others functions that no expression says."""

SCALES = [0.1, 0.3, 0.7, 1 / 3, 0.5, 1.5, 2.0, 2.4, 1.0 / 0.7, 1e-3]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("rounding", ["Floor", "Ceil", "Identity"])
@pytest.mark.parametrize("op", ["Mul", "Div"])
def test_sizes_scaled_in_f32_round_as_f32_does(op: str, rounding: str, symbolic: bool) -> None:
    for scale in SCALES:
        text = f"""
            f = Cast(Shape(x), to=1); p = {op}(f, {scale!r}); r = {rounding}(p); n = Cast(r, to=7); y = ConstantOfShape(n)
        """
        for n in (1, 2, 3, 7, 10, 20, 30, 41, 70, 100, 999, 1000, 4095):
            model = onnx_text(text, x="f32[n]" if symbolic else f"f32[{n}]")
            made = getattr(np, {"Mul": "multiply", "Div": "divide"}[op])(
                np.float32(n), np.float32(scale)
            )
            want = int({"Floor": np.floor, "Ceil": np.ceil, "Identity": np.trunc}[rounding](made))
            if want > 100000:
                continue
            program = lower(model)
            exact = not symbolic or (op == "Mul" and scale in DYADIC)
            if any(d.kind == "counted" for d in program.dims):  # no expression says it: a run does
                assert not exact, (scale, n)
                if want > MAX_EXTENT:
                    continue
            y = run(program, {"x": np.zeros(n, np.float32)})["y"]
            assert y.shape == (want,), (scale, n)


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("first", [3, 70000, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_an_expression_holds_up_to_the_first_size_where_it_does_not(first: int, least: int) -> None:
    x = scaled.Scaled("f32", "Cast", (scaled.SIZE,))
    other = scaled.SIZE + sympy.floor(scaled.SIZE / first)
    assert scaled._agreed(x, other, least) == first - 1
    assert scaled._agreed(x, scaled.SIZE, least) == 1 << 24


def test_a_size_beyond_what_f32_counts_is_refused() -> None:
    program = lower(
        onnx_text("n = Cast(Mul(Cast(Shape(x), to=1), 0.5), to=7); y = Expand(1.0, n)", x="f32[n]")
    )
    assert [(c.kind, str(c.a), c.b) for c in program.checks] == [("le", "n", 1 << 24)]
