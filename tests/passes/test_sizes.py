"""Sizes as data: what a shape computed by nodes is known to hold."""

from __future__ import annotations

from typing import Any

import pytest

from pteron.export.graph import infer
from pteron.export.graph.text import onnx_text
from pteron.export.passes.sizes import Size, elements

N, S = Size("n"), Size("s")

KNOWN: list[tuple[str, list[Any] | None]] = [
    ("y = Shape(x)", [N, 3, S]),
    ("y = Shape(x, start=1)", [3, S]),
    ("y = Shape(x, start=-2, end=-1)", [3]),
    ("y = Gather(Shape(x), [2, 0])", [S, N]),
    ("y = Gather(Shape(x), [-1, -3])", [S, N]),
    ("y = Gather(Shape(x), [3])", None),
    ("y = Gather(Shape(x), [-4])", None),
    ("y = Gather(Shape(x), i)", None),
    ("y = Slice(Shape(x), [1], [9])", [3, S]),
    ("y = Slice(Shape(x), [-3], [-1])", [N, 3]),
    ("y = Slice(Shape(x), [0], [3], [0], [2])", [N, S]),
    ("y = Concat(Shape(x), [-1], axis=0)", [N, 3, S, -1]),
    ("y = Concat(Shape(x), Abs(i), axis=0)", None),
    ("y = Mul(Shape(x), [2, 4, 6])", [Size("n", 2), 12, Size("s", 6)]),
    ("y = Mul([2, 4, 6], Shape(x))", [Size("n", 2), 12, Size("s", 6)]),
    ("y = Mul(Shape(x), Shape(x))", [None, 9, None]),
    ("y = Mul(Shape(x), [2])", [Size("n", 2), 6, Size("s", 2)]),
    ("y = Mul(Shape(x), Abs(i))", None),
    ("y = Div(Shape(x), [2])", [None, 1, None]),
    ("y = Div(Shape(x), [0])", [None, None, None]),
    ("y = Div(Shape(x), [-2])", [None, -1, None]),
    ("y = Div(Shape(x), [1, 2, 3])", [N, 1, None]),
    ("y = Div(Neg([3, 4]), [2])", [-1, -2]),
    ("y = Add(Shape(x), [1])", [None, 4, None]),
    ("y = Unsqueeze(Gather(Shape(x), i64(2)), [0])", [S]),
    ("y = Cast(Squeeze(Slice(Shape(x), [2], [3]), [0]), to=7)", [S]),
    ("y = Where(Equal(i, [-1]), i, Shape(x))", None),
    ("y = Where(b, i, Shape(x))", None),
    ("c = Concat(Shape(x), [-1], axis=0); y = Where(Equal(c, [-1]), [1], c)", [N, 3, S, 1]),
    ("y = Where(Equal(Shape(x), [3]), [7], Shape(x))", [None, 7, None]),
    ("y = Where(Equal(Shape(x), Shape(x)), [7], Shape(x))", [7, 7, 7]),
    ("y = Size(x)", None),
    ("y = Size(Slice(Shape(x), [1], [3]))", [2]),
    ("y = Slice(Shape(x), [-1], [-9], [0], [-1])", [S, 3, N]),
    ("y = Slice(Shape(x), [2], [0], [0], [-1])", [S, 3]),
    ("y = Expand(Gather(Shape(x), [1]), [4])", [3, 3, 3, 3]),
    ("y = Div(Mul(Shape(x), [4]), [2])", [Size("n", 2), 6, Size("s", 2)]),
    ("y = Mul(Unsqueeze(Shape(x), [1]), Shape(x))", None),
    ("y = Cast(Equal(Shape(x), [3]), to=7)", [None, 1, None]),
    ("y = Abs(i)", None),
]


@pytest.mark.parametrize("text, want", KNOWN, ids=[t for t, _ in KNOWN])
def test_elements(text: str, want: list[Any] | None) -> None:
    given = {"x": "f32[n, 3, s]", "i": "i64[3]", "b": "bool[3]"}
    used = {k: v for k, v in given.items() if f"({k}" in text or f", {k}" in text}
    model = onnx_text(text, **used)
    infer(model)
    assert elements(model.graph.outputs[0]) == want
