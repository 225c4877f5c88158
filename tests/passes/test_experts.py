"""Products with matrices picked from a stack, a row each, become products of each matrix with the rows that picked it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from pteron.export.passes.experts import split_experts

EXPERTS, IN, OUT = 5, 6, 7


def model(
    form: str, *, scores: int = EXPERTS, chosen: str = "TopK", rows: int = 1
) -> onnx.ModelProto:
    """x [n, IN] and s [n, scores] -> y: of each row the product with the two experts of the largest scores. form: "left" or
    "right", what the matrix is of MatMul, by "Gather" or "GatherND"."""
    side, pick = form.split()
    rng = np.random.default_rng(3)
    stack = rng.standard_normal((EXPERTS, OUT, IN) if side == "left" else (EXPERTS, IN, OUT))
    given = {
        "stack": stack.astype(np.float32), "two": np.array([2]), "last": np.array([-1]), "one": np.array([1]),
        "shape": np.array([-1, 2, IN]), "flat": np.array([-1, IN, rows] if side == "left" else [-1, rows, IN]),
    }  # fmt: skip
    node = helper.make_node
    chooser = [node("TopK", ["s", "two"], ["best", "top"])]
    if chosen == "parts":
        given["parts"] = np.array([scores - 2, 2])
        chooser = [
            node("Cast", ["s"], ["whole"], to=TensorProto.INT64),
            node("Split", ["whole", "parts"], ["best", "top"], axis=-1),
        ]
    nodes = [
        *chooser,
        node("Neg" if chosen == "negative" else "Identity", ["top"], ["choice"]),
        node("Reshape", ["choice", "last"], ["flat_choice"]),
        node("Unsqueeze", ["flat_choice", "one"], ["index"]),
        node(pick, ["stack", "flat_choice" if pick == "Gather" else "index"], ["picked"]),
        node("Unsqueeze", ["x", "one"], ["each"]),
        node("Concat", ["each", "each"], ["twice"], axis=1),
        node("Reshape", ["twice", "flat"], ["column"]),
        node("MatMul", ["picked", "column"] if side == "left" else ["column", "picked"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", IN]),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, ["n", scores]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None, None])],
        [numpy_helper.from_array(array, name) for name, array in given.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def split(source: onnx.ModelProto) -> tuple[bool, onnx.ModelProto]:
    from pteron.export import graph as g

    made = ir.from_proto(source)
    g.infer(made)
    return split_experts(made), ir.to_proto(made)


def run(source: onnx.ModelProto, rows: int) -> Any:
    rng = np.random.default_rng(rows)
    feeds = {
        n: rng.standard_normal((rows, k)).astype(np.float32) for n, k in (("x", IN), ("s", EXPERTS))
    }
    return ReferenceEvaluator(source).run(None, feeds)[0]


@pytest.mark.parametrize("pick", ["Gather", "GatherND"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_each_expert_meets_the_rows_that_chose_it(side: str, pick: str) -> None:
    source = model(f"{side} {pick}")
    changed, made = split(source)
    kinds = [n.op_type for n in made.graph.node]
    assert changed and kinds.count("MatMul") == EXPERTS and pick not in (set(kinds) - {"Gather"})
    shapes = {
        tuple(t.dims)
        for t in made.graph.initializer
        if ".stack" in t.name or t.name[:6] == "stack."
    }
    assert shapes == {(IN, OUT)}
    for rows in (0, 1, 9):
        np.testing.assert_allclose(run(made, rows), run(source, rows), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "how", [{"chosen": "negative"}, {"chosen": "parts"}, {"scores": EXPERTS + 1}, {"rows": 2}]
)
def test_what_may_be_no_choice_of_experts_stays(how: dict[str, Any]) -> None:
    assert not split(model("left GatherND", **how))[0]
