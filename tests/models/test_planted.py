"""The check on inputs beside the example's: a sample of `planted`, which has them all."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

import numpy as np
import torch
from models.planted import DEFECTS, HONEST, Call, refusal

from pteron.export.capture import input_draws, translations
from pteron.export.capture.aten import op
from pteron.export.capture.variations import is_as_near

FOUND = (
    "clamped at 50",
    "mask ignored",
    "f64 constant as f32",
    "mean by the example's size",
    "branch on a maximum",
    "halves away from zero",
)
RIGHT = (
    *("attention over tokens", "of equal integers", "a state", "norms of far values", "searched"),
    "a root of a negative as an integer",
    "sampled nowhere",
)


@pytest.mark.parametrize("name", FOUND)
def test_a_defect_that_the_example_hides_is_found(name: str) -> None:
    text = refusal(DEFECTS[name])
    assert text is not None and "on inputs beside the example's" in text


@pytest.mark.parametrize("name", RIGHT)
def test_an_honest_module_is_exported(name: str) -> None:
    assert refusal(HONEST[name]) is None


def test_a_jump_that_operands_alone_decide_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves rounded away from zero: PyTorch gives the same for operands a rounding away, and yet it is wrong."""

    def away(x: Any) -> Any:
        return op.Floor(op.Add(x, op.Constant(value_float=0.5)))

    monkeypatch.setitem(translations.ATEN, "round.default", away)
    text = refusal((Call(torch.round), (torch.rand(4, 6) + 0.3,), None))
    assert text is not None and "the operator to differ is 'round" in text


def test_what_a_module_has_compiled_sees_no_drawn_values() -> None:
    """A compiled index out of range ends the process: torchvision's roi_align without its operators is compiled."""
    at, seen = torch.tensor([0.0, 3.0, 1.0]), []

    def backend(graph: Any, _: Any) -> Any:
        def run(*given: Any) -> Any:
            seen.extend(x.tolist() for x in given if x.shape == at.shape)
            return graph.forward(*given)

        return run

    def forward(x: Any, at: Any) -> Any:
        return torch.compile(lambda x, at: x[at.long()], backend=backend, dynamic=False)(x, at)

    assert refusal((Call(forward), (torch.randn(4, 3), at), None)) is None
    assert seen and all(each == at.tolist() for each in seen)


def test_what_overflows_excuses_no_other_element() -> None:
    """exp(100) in f32 and in f64 are infinitely far apart; that says nothing of exp(1)."""
    wide = np.exp(np.array([100.0, 1.0]))
    with np.errstate(over="ignore"):
        want = wide.astype(np.float32)
    assert is_as_near(want, want, wide)
    assert not is_as_near(np.array([np.inf, 2.6], np.float32), want, wide)
    assert not is_as_near(np.array([1e30, want[1]], np.float32), want, wide)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50, 101, 30522, 1 << 20])
def test_the_integers_that_a_module_takes_are_found(count: int) -> None:
    found = input_draws.most(lambda n: n <= count)
    assert min(count, 2) * (count > 1) <= found <= count
    assert found >= min(count, 1 << 15) / 1.15 or count < 3
