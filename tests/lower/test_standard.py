"""Nodes that ONNX's definitions do not allow are refused by their names; what a row compares is checked at prepare."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import ArgumentError, LoweringError

REFUSED = {
    "y = Add(x, i)": "B is int64; expected float",
    "y = Atanh(i)": "input is int64; expected",
    "y = Transpose(x, perm=[0, 1, 2])": "Transpose 'n_y'.*an order of 2 axes",
    "y = Concat(x, x, axis=5)": "Concat 'n_y'.*axis",
    "y = Squeeze(x, [7])": "Squeeze 'n_y'",
    "y = Add(x)": "expected 2 inputs, got 1",
    "y = Concat(x, x)": "expected the attribute 'axis', got none",
    "y = SoftmaxCrossEntropyLoss(x, r)": r"expected labels as \[n, \*r\] with \*r = \[\], got \[2, 3\]",
    "y = NegativeLogLikelihoodLoss(v, q)": r"expected target as \[n, \*r\] with \*r = \[5\], got \[1\]",
    "y = GatherElements(x, q)": "expected indices of rank 2",
    "y = ScatterElements(x, i, v)": "expected updates of rank 2",
    "y = ScatterElements(x, i, w)": r"updates as .* with \*i = \[2, 3\], got \[2, 1\]",
    "y = ArgMax(s)": "rank 1 or more, got a scalar",
    "y, z = TopK(s, [1])": "rank 1 or more, got a scalar",
    "y = CumSum(s, i64(0))": "rank 1 or more, got a scalar",
    "y = CenterCropPad(x, [2, 3, 4])": r"expected shape as \[k\] with k = 2, got \[3\]",
    "y = CenterCropPad(x, [2, 3], axes=[1])": r"expected shape as \[k\] with k = 1, got \[2\]",
    "y = Pad(x, [1])": r"expected pads as \[2k\] with 2k = 4, got \[1\]",
    "y = Pad(x, [1, 1])": r"expected pads as \[2k\] with 2k = 4, got \[2\]",
    "y = Pad(x, [1, 1, 1, 1], None, [0])": r"expected axes as \[k\] with k = 2, got \[1\]",
    "y = ScatterND(x, j, x)": r"expected indices as \[k, \*\], got \[\]",
    "y = GatherND(x, j)": r"expected indices as \[k, \*\], got \[\]",
    "y = QuantizeLinear(s, f32([1, 2]))": "expected an axis",
    "y = QuantizeLinear(x, f32([1, 2]), axis=1)": r"expected scales as \[3\], got \[2\]",
    "y = QuantizeLinear(x, f32([1, 2]), u8(0), axis=0)": r"expected zero points as scales, \[2\], got \[\]",
    "y = QuantizeLinear(x, w, block_size=2)": r"expected scales as \[2, 2\], got \[2, 1\]",
    "y = QuantizeLinear(x, 1.0, precision=2)": "expected precision as a float type, got 2",
    "y = STFT(b, i64(0), None, i64(2))": "at least 1",
    "y = STFT(b, i64(1), None, i64(4))": "no longer than the signal: expected at most 3, got 4",
    "y = RotaryEmbedding(v, w, w, num_heads=0)": "expected num_heads that divides 5, got 0",
    "y = Col2Im(v, [2, 2], [1, 1], pads=[1000, 1000, 1000, 1000])": "as many as places of the block",
    "y = Attention(a, a, a, s)": r"expected attn_mask as \[m, \*\], got \[\]",
}


OPERANDS = {
    "x": "f32[2, 3]", "i": "i64[2, 3]", "r": "i64[2, 3]", "v": "f32[1, 3, 5]", "w": "f32[2, 1]", "q": "i64[1]", "s": "f32[]",
    "a": "f32[1, 2, 3, 4]", "b": "f32[1, 3, 1]", "j": "i64[]",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_node_that_the_standard_does_not_allow_is_named(text: str) -> None:
    with pytest.raises(LoweringError, match=REFUSED[text]):
        lower(
            onnx_text(
                text,
                **{
                    name: OPERANDS[name] for name in re.findall(r"\b[a-z]\b", text.split("=", 1)[1])
                },
            )
        )


def test_sizes_that_a_row_compares_are_checked_at_prepare() -> None:
    program = lower(onnx_text("y = GridSample(x, g)", x="f32[n, 1, 2, 2]", g="f32[m, 1, 1, 2]"))
    feeds = {"x": np.ones((2, 1, 2, 2), np.float32), "g": np.zeros((2, 1, 1, 2), np.float32)}
    assert run(program, feeds)["y"].tolist() == [[[[1]]], [[[1]]]]
    with pytest.raises(ArgumentError, match="equal"):
        run(program, {**feeds, "x": np.ones((3, 1, 2, 2), np.float32)})


def test_a_lowering_that_fails_is_a_defect_with_the_nodes_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pteron.export.lower.table import LOWERINGS

    def broken(*_: object) -> None:
        raise IndexError("tuple index out of range")

    monkeypatch.setitem(LOWERINGS, ("", "Softmax"), broken)
    with pytest.raises(LoweringError, match=r"Softmax 'n_y'.*IndexError.*report"):
        lower(onnx_text("y = Softmax(x)", x="f32[2, 3]"))


def test_a_step_beyond_the_axis_takes_one_element() -> None:
    program = lower(
        onnx_text(
            "y = Slice(x, [-1, 0], [-9, 9], [0, 1], [-9223372036854775808, 9223372036854775807])",
            x="f32[3, 4]",
        )
    )
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert run(program, {"x": x})["y"].tolist() == [[8]]


def test_known_elements_may_take_a_shape_that_an_input_decides() -> None:
    program = lower(onnx_text("y = Reshape(x, s)", x="i64[4]", s="i64[2]"))
    feeds = {"x": np.arange(4), "s": np.array([2, 2])}
    assert run(program, feeds)["y"].tolist() == [[0, 1], [2, 3]]


def test_a_range_begins_where_an_input_says() -> None:
    program = lower(onnx_text("y = Range(a, b, c)", a="i64[]", b=np.array(0), c=np.array(2)))
    for begin in (-5, -1, 0, 3):
        got = run(program, {"a": np.array(begin)})["y"]
        assert got.tolist() == np.arange(begin, 0, 2).tolist()
