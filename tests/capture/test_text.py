"""The text form of graphs reads back as it was written."""

from __future__ import annotations

import pytest

from pteron.export.graph.text import as_text, onnx_text

TEXTS = [
    "y = Gelu(x, approximate='tanh')",
    "a, b = Split(x, axis=1, num_outputs=2); y = Mul(a, b)",
    "y = Reshape(x, [0, -1])",
    "y = Clip(x, None, 6)",
    "y = Cast(x, to=7)",
    "s = Softmax(x, axis=-1); y = Mul(s, 0.5)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back(text: str) -> None:
    assert as_text(onnx_text(text)) == text


def test_nested_calls_get_names() -> None:
    assert as_text(onnx_text("y = Mul(Sigmoid(x), x)")) == "t = Sigmoid(x); y = Mul(t, x)"


def test_inputs_take_the_type_that_is_given() -> None:
    graph = onnx_text("y = Gather(table, i)", table="f32[10, 4]", i="i64[n]").graph
    assert [(v.name, str(v.dtype), str(v.shape)) for v in graph.inputs] == [
        ("table", "FLOAT", "[10,4]"),
        ("i", "INT64", "[n]"),
    ]
    assert str(graph.outputs[0].shape) == "[n,4]"
