"""A graph against the module that it was captured from, with a runner that is no C runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from pteron.export.capture.check import KEY, Example, Step, check, differs
from pteron.export.export import export
from pteron.export.graph.text import onnx_text
from pteron.schema.errors import LimitError, ModelError

X = np.linspace(-2, 2, 8, dtype=np.float32)


def runner(
    model: ir.Model, wanted: Sequence[str], samples: Iterable[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    copy = model.clone()
    made = {v.name: v for node in copy.graph for v in node.outputs}
    copy.graph.outputs[:] = [made[name] for name in wanted]
    for sample in samples:
        yield dict(zip(wanted, ReferenceEvaluator(ir.to_proto(copy)).run(None, dict(sample))))


def example(y: np.ndarray, *steps: Step) -> Example:
    return Example({"x": X}, lambda: {"y": y}, lambda: iter(steps))


def test_what_agrees_passes() -> None:
    model = onnx_text("a = Abs(x); y = Neg(a)", x="f32[8]")
    model.meta[KEY] = example(-np.abs(X))
    export(model, runner=runner)


def test_the_first_value_to_differ_is_named() -> None:
    model = onnx_text("a = Abs(x); b = Sqrt(a); y = Neg(b)", x="f32[8]")
    right = np.sqrt(np.abs(X)) * 2
    steps = [Step("a", "module 'one'", np.abs(X)), Step("b", "module 'two'", right)]
    model.meta[KEY] = example(-right, *steps)
    text = r"output 'y': largest difference 1.41, .* first value to differ is 'b' of module 'two'"
    with pytest.raises(ModelError, match=text):
        export(model, runner=runner)
    model.meta[KEY] = example(-right, *steps)
    export(model)


def test_where_the_trace_itself_differs_it_says_so() -> None:
    model = onnx_text("y = Neg(x)", x="f32[8]")
    with pytest.raises(ModelError, match="the graph agrees with torch"):
        check(model, model, example(X, Step("y", "module 'm'", -X)), runner)


def test_a_run_that_fails_is_an_error_of_the_model() -> None:
    def failing(*given: Any) -> Iterator[Mapping[str, Any]]:
        raise LimitError("dimension kept: 5000 beyond 4096")
        yield {}

    model = onnx_text("y = Neg(x)", x="f32[8]")
    with pytest.raises(ModelError, match="fails on the example inputs: dimension kept"):
        check(model, model, example(-X), failing)


BIG = np.array([1e4, 1.0, np.nan, np.inf], np.float32)
PAIRS = [
    (BIG, BIG.copy(), None),
    (BIG + np.float32(0.5), BIG, None),
    (BIG + np.float32(2), BIG, "largest difference 2, expected at most 1"),
    (np.zeros(4, np.float32), BIG, "largest difference inf"),
    (np.array([1e-7], np.float32), np.array([0.0], np.float32), None),
    (np.array([1e-5], np.float32), np.array([0.0], np.float32), "largest difference 1e-05"),
    (np.array([1.01], np.float16), np.array([1.0], np.float16), None),
    (np.array([1.1], np.float16), np.array([1.0], np.float16), "largest difference 0.0996"),
    (np.array([1, 2]), np.array([1, 3]), "1 of 2 elements are not equal"),
    (np.zeros((2, 1)), np.zeros(2), r"expected the shape \[2\], got \[2, 1\]"),
    (np.zeros((0, 3)), np.ones((0, 3)), None),
]


@pytest.mark.parametrize("got, want, text", PAIRS, ids=range(len(PAIRS)))
def test_how_much_may_differ(got: np.ndarray, want: np.ndarray, text: str | None) -> None:
    found = differs(got, want)
    assert found is None if text is None else found is not None
    if text is not None:
        with pytest.raises(ValueError, match=text):
            raise ValueError(found)
