"""The check on inputs beside the example's: a sample of `planted`, which has them all."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

from models.planted import DEFECTS, HONEST, refusal

FOUND = (
    "clamped at 50",
    "mask ignored",
    "f64 constant as f32",
    "mean by the example's size",
    "halves away from zero",
)
RIGHT = (
    "attention over tokens",
    "of equal integers",
    "a root of a negative as an integer",
    "a state",
)


@pytest.mark.parametrize("name", FOUND)
def test_a_defect_that_the_example_hides_is_found(name: str) -> None:
    text = refusal(DEFECTS[name])
    assert text is not None and "on inputs beside the example's" in text


@pytest.mark.parametrize("name", RIGHT)
def test_an_honest_module_is_exported(name: str) -> None:
    assert refusal(HONEST[name]) is None
