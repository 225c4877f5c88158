"""Sequences between two nodes go."""

from __future__ import annotations

import numpy as np
import pytest
from passes.same import becomes

from pteron.export.graph import infer, nodes
from pteron.export.graph.text import onnx_text
from pteron.export.passes.sequences import remove_sequences

CASES = [
    (
        "s = SplitToSequence(x, [2, 6], axis=1); a = SequenceAt(s, i64(0)); b = SequenceAt(s, i64(-1)); y = Neg(a); z = Abs(b)",
        "val_0, val_1 = Split(x, [2, 6], axis=1); y = Neg(val_0); z = Abs(val_1)",
    ),
    (
        "s = SplitToSequence(x, i64(3), axis=1); y = SequenceAt(s, i64(2))",
        "val_0, val_1, y = Split(x, [3, 3, 2], axis=1)",
    ),
    (
        "s = SplitToSequence(x, axis=0, keepdims=0); y = SequenceAt(s, i64(1))",
        "val_0, val_1, val_2, val_3 = Split(x, [1, 1, 1, 1], axis=0); y = Squeeze(val_1, [0])",
    ),
    ("y = ConcatFromSequence(SequenceConstruct(x, w), axis=0)", "y = Concat(x, w, axis=0)"),
    (
        "y = ConcatFromSequence(SequenceConstruct(x, w), axis=0, new_axis=1)",
        "val_0 = Unsqueeze(x, [0]); val_1 = Unsqueeze(w, [0]); y = Concat(val_0, val_1, axis=0)",
    ),
    ("y = Neg(SequenceAt(SequenceConstruct(x, w), i64(1)))", "y = Neg(w)"),
]


@pytest.mark.parametrize("before, after", CASES, ids=[a for _, a in CASES])
def test_goes(before: str, after: str) -> None:
    becomes(remove_sequences, before, after)


def test_an_index_that_data_decides_keeps_it() -> None:
    becomes(
        remove_sequences, "y = Neg(SequenceAt(SequenceConstruct(x, w, x, w), i))", "", i="i64[]"
    )


def test_an_index_of_no_element_keeps_it() -> None:
    given = {"x": "f32[2]", "w": "f32[2]", "i": np.zeros(0, np.int64)}
    assert not remove_sequences(
        onnx_text("y = Neg(SequenceAt(SequenceConstruct(x, w), i))", **given)
    )


def test_splits_one_behind_the_other_settle_in_one_run() -> None:
    """Each needs the extent that the one before it leaves."""
    body, x = "", "x"
    for i in range(12):
        body += f"s{i} = SplitToSequence({x}, i64(4), axis=1); h{i} = MatMul(SequenceAt(s{i}, i64(1)), w2); "
        x = f"h{i}"
    model = onnx_text(f"{body}y = Neg({x})", x="f32[4, 8]", w2=np.ones((4, 8), np.float32))
    infer(model)
    for node in nodes(model):
        if node.op_type != "SplitToSequence":
            for value in node.outputs:
                value.shape = None
    assert remove_sequences(model)
    assert not [n.op_type for n in nodes(model) if "Sequence" in n.op_type]


def test_a_sequence_that_is_an_output_stays() -> None:
    """Checks hand out every value; a Split beside it would be made again in each round."""
    text = "s = SplitToSequence(x, i64(2), axis=0); y = Neg(SequenceAt(s, i64(1)))"
    model = onnx_text(text, x="f32[4, 8]")
    (split,) = (n for n in nodes(model) if n.op_type == "SplitToSequence")
    model.graph.outputs.append(split.outputs[0])
    assert not remove_sequences(model)
