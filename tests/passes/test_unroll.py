"""Loops that build sequences are written out, or their rows are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from pteron.export.capture import capture
from pteron.export.export import export
from pteron.export.graph import nodes
from pteron.export.passes import run_passes
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError

F, I64, N = TensorProto.FLOAT, TensorProto.INT64, helper.make_node
info = helper.make_tensor_value_info


def looped(
    inner: Sequence[onnx.NodeProto], behind: Sequence[onnx.NodeProto], *, rounds: Any = 3, rows: Sequence[str] = (), before: Sequence[onnx.NodeProto] = (),
    shape: Sequence[Any] = (3, 4),
) -> onnx.ModelProto:  # fmt: skip
    """A loop that carries the sequence q to r, from an empty one to `s`; its rows are called like those of the body with an s behind."""
    seq = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [N("Identity", ["c"], ["d"]), *inner], "body", [info("i", I64, []), info("c", TensorProto.BOOL, []), seq("q", F, None)],
        [info("d", TensorProto.BOOL, []), seq("r", F, None), *(info(name, F, None) for name in rows)],
        [numpy_helper.from_array(np.array([0]), "zero")],
    )  # fmt: skip
    loop = N("Loop", ["n", "t", "e"], ["s", *(f"{r}s" for r in rows)], body=body)
    constants = {"t": np.array(True), "one": np.array(1), "flat": np.array([-1])}
    if isinstance(rounds, int):
        constants["n"] = np.array(rounds)
    graph = helper.make_graph(
        [*before, N("SequenceEmpty", [], ["e"]), loop, *behind], "g", [info("x", F, shape)], [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(a, name) for name, a in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


PICK = [N("Gather", ["x", "i"], ["p"], axis=0)]
LAST = [*PICK, N("SequenceInsert", ["q", "p"], ["r"])]
FORMS: dict[str, onnx.ModelProto] = {
    "stacked": looped(LAST, [N("ConcatFromSequence", ["s"], ["y"], axis=1, new_axis=1)]),
    "joined": looped(LAST, [N("ConcatFromSequence", ["s"], ["y"], axis=-1)]),
    "at the front": looped([*PICK, N("SequenceInsert", ["q", "p", "zero"], ["r"])], [N("ConcatFromSequence", ["s"], ["y"], axis=0)]),
    "picked": looped(LAST, [N("SequenceAt", ["s", "one"], ["y"])]),
    "one less": looped(LAST, [N("SequenceErase", ["s", "one"], ["f"]), N("ConcatFromSequence", ["f"], ["y"], axis=0)]),
    "its length": looped(LAST, [N("SequenceLength", ["s"], ["y"])]),
    "with rows": looped(
        [*LAST, N("Neg", ["p"], ["w"])], [N("ConcatFromSequence", ["s"], ["a"], axis=0, new_axis=1), N("Add", ["a", "ws"], ["y"])],
        rows="w",
    ),
    "of other extents": looped(
        [N("Unsqueeze", ["i", "zero"], ["j"]), N("Add", ["j", "one"], ["k"]), N("Slice", ["x", "zero", "k"], ["p"]), N("SequenceInsert", ["q", "p"], ["r"])],
        [N("ConcatFromSequence", ["s"], ["y"], axis=0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_loop_of_known_count_is_written_out(name: str) -> None:
    proto = FORMS[name]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
    graph = capture(proto)
    run_passes(graph)
    assert not any("Sequence" in n.op_type for n in nodes(graph))
    got = run(export(proto), {"x": x})["y"]
    np.testing.assert_array_equal(got, want)


BEHIND = {
    "stacked": N("ConcatFromSequence", ["s"], ["y"], axis=1, new_axis=1),
    "stacked last": N("ConcatFromSequence", ["s"], ["y"], axis=-1, new_axis=1),
    "joined": N("ConcatFromSequence", ["s"], ["y"], axis=0),
    "joined last": N("ConcatFromSequence", ["s"], ["y"], axis=-1),
}  # fmt: skip


@pytest.mark.parametrize("name", BEHIND)
def test_what_a_loop_of_any_count_appends_are_rows(name: str) -> None:
    count = [N("Shape", ["x"], ["m"], start=0, end=1), N("Squeeze", ["m"], ["n"])]
    proto = looped(LAST, [BEHIND[name]], rounds=None, before=count, shape=("n", 4, 2))
    program = export(proto)
    for n in (1, 3, 6):
        x = np.arange(n * 8, dtype=np.float32).reshape(n, 4, 2)
        (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
        np.testing.assert_array_equal(run(program, {"x": x})["y"], want)


def test_more_rounds_than_are_written_out_keep_the_loop() -> None:
    proto = looped(LAST, [N("SequenceAt", ["s", "one"], ["y"])], rounds=5000)
    with pytest.raises(LoweringError, match="length is not known"):
        export(proto)
