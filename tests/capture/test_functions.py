"""Functions of a model: what a call becomes computes the same, and no small file becomes a large graph."""

from __future__ import annotations

import itertools
import time

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from pteron.export import graph as g
from pteron.export.capture import capture
from pteron.export.capture.functions import FREE, GROWTH
from pteron.schema.errors import ModelError

N = helper.make_node
X = np.array([[-1.5, 0.25, 2.0], [3.0, -0.5, 1.0]], np.float32)


def info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])


def function(
    name: str,
    text: list[onnx.NodeProto],
    ins: str = "a",
    outs: str = "b",
    opset: int = 20,
    **more: object,
) -> onnx.FunctionProto:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("l", 1)]
    return helper.make_function("l", name, ins.split(), outs.split(), text, opsets, **more)


def call(name: str, ins: str, outs: str, **attributes: object) -> onnx.NodeProto:
    return N(
        name, ["" if i == "-" else i for i in ins.split()], outs.split(), domain="l", **attributes
    )


def model(
    nodes: list[onnx.NodeProto],
    functions: list[onnx.FunctionProto],
    outs: str = "y",
    opset: int = 20,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", [info("x")], [info(o) for o in outs.split()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("l", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=functions)


def ref(
    node: onnx.NodeProto, name: str, by: str, kind: int = onnx.AttributeProto.FLOAT
) -> onnx.NodeProto:
    node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=by, type=kind))
    return node


def branches() -> onnx.NodeProto:
    """If(sum of a > 0) Relu(a) else l.Twice(a): bodies that read the function's input, and call."""
    then = helper.make_graph([N("Relu", ["a"], ["t"])], "t", [], [info("t")])
    other = helper.make_graph([call("Twice", "a", "e")], "e", [], [info("e")])
    return N("If", ["c"], ["b"], then_branch=then, else_branch=other)


TWICE = function("Twice", [N("Add", ["a", "a"], ["b"])])
LEAK = ref(N("LeakyRelu", ["a"], ["b"]), "alpha", "slope")
CASES = {
    "one": ([call("Twice", "x", "y")], [TWICE]),
    "many times": ([call("Twice", "x", "p"), call("Twice", "p", "q"), call("Twice", "q", "y")], [TWICE]),
    "in a function": (
        [call("Four", "x", "y")],
        [TWICE, function("Four", [call("Twice", "a", "b"), call("Twice", "b", "c")], outs="c")],
    ),
    "an attribute": ([call("Leak", "x", "y", slope=0.5)], [function("Leak", [LEAK], attributes=["slope"])]),
    "a default": (
        [call("Leak", "x", "y")],
        [function("Leak", [LEAK], attribute_protos=[helper.make_attribute("slope", 0.75)])],
    ),
    "an attribute that is left out": ([call("Leak", "x", "y")], [function("Leak", [LEAK], attributes=["slope"])]),
    "handed on": (
        [call("Outer", "x", "y", k=0.125)],
        [
            function("Leak", [LEAK], attributes=["slope"]),
            function("Outer", [ref(call("Leak", "a", "b"), "slope", "k")], attributes=["k"]),
        ],
    ),
    "an input that is left out": (
        [N("Constant", [], ["top"], value_float=1.0), call("Cut", "x - top", "y")],
        [function("Cut", [N("Clip", ["a", "low", "high"], ["b"])], ins="a low high")],
    ),
    "the input itself": ([call("Same", "x", "p"), N("Neg", ["p"], ["y"])], [function("Same", [], outs="a")]),
    "the input itself as output": ([call("Same", "x", "y")], [function("Same", [], outs="a")]),
    "one value twice": (
        [call("Both", "x", "y z")],
        [function("Both", [N("Neg", ["a"], ["b"])], outs="b b")],
    ),
    "names of the graph": (
        [N("Neg", ["x"], ["b"]), call("Twice", "b", "a"), N("Add", ["a", "b"], ["y"])],
        [TWICE],
    ),
    "branches": (
        [call("Choose", "x", "y")],
        [
            TWICE,
            function(
                "Choose",
                [
                    N("ReduceSum", ["a"], ["s"], keepdims=0),
                    N("Constant", [], ["zero"], value_float=0.0),
                    N("Less", ["s", "zero"], ["c"]),
                    branches(),
                ],
            ),
        ],
    ),
    "another opset": (
        [call("Old", "x", "y")],
        [function("Old", [N("ReduceMean", ["a"], ["b"], axes=[1], keepdims=1)], opset=13)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_call_computes_what_its_body_says(name: str) -> None:
    nodes, functions = CASES[name]
    proto = model(nodes, functions, "y z" if "z" in nodes[-1].output else "y")
    captured = capture(proto)
    assert not captured.functions and not any(n.domain for n in g.nodes(captured))
    assert [v.name for v in captured.graph.outputs] == [v.name for v in proto.graph.output]
    got = ReferenceEvaluator(g.proto(captured)).run(None, {"x": X})
    if any(
        f.attribute or f.attribute_proto for f in functions
    ):  # the reference cannot hand them on
        want = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": X})
    else:
        want = ReferenceEvaluator(proto).run(None, {"x": X})
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def bomb(levels: int, twice: int = 2) -> onnx.ModelProto:
    """Each function calls the one before `twice`: Relu, 2^(levels - 1) times."""
    made = [function("f0", [N("Relu", ["a"], ["b"])])]
    for k in range(1, levels):
        steps = ["a", *(f"t{i}" for i in range(twice - 1)), "b"]
        calls = [call(f"f{k - 1}", *pair) for pair in itertools.pairwise(steps)]
        made.append(function(f"f{k}", calls))
    return model([call(f"f{levels - 1}", "x", "y")], made)


@pytest.mark.parametrize("levels", [16, 40, 400])
def test_functions_that_double_are_refused_at_once(levels: int) -> None:
    started = time.process_time()
    with pytest.raises(ModelError, match=f"expected at most {FREE} nodes of .* written, got more"):
        capture(bomb(levels))
    assert time.process_time() - started < 5


def test_nested_calls_that_do_not_grow_are_taken() -> None:
    captured = capture(bomb(300, 1))
    assert [n.op_type for n in captured.graph] == ["Relu"]


def test_the_bound_grows_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pteron.export.capture.functions.FREE", 0)
    for levels, fits in ((6, True), (7, True), (9, False)):
        proto = bomb(levels)
        assert (2 ** (levels - 1) <= GROWTH * (2 * levels)) == fits
        if fits:
            assert len(list(capture(proto).graph)) == 2 ** (levels - 1)
        else:
            with pytest.raises(ModelError, match="at most"):
                capture(proto)


def test_functions_that_call_themselves_are_refused() -> None:
    proto = model(
        [call("f", "x", "y")],
        [function("f", [call("h", "a", "b")]), function("h", [call("f", "a", "b")])],
    )
    with pytest.raises(
        ModelError,
        match=r"calls itself: '(f|h)' calls '(f|h)' calls",
    ):
        capture(proto)


def test_a_graph_that_a_call_gives_is_refused_by_the_node() -> None:
    body = helper.make_graph([N("Relu", ["x"], ["t"])], "t", [], [info("t")])
    choose = N("If", ["c"], ["b"], else_branch=body, name="choose")
    ref(choose, "then_branch", "way", onnx.AttributeProto.GRAPH)
    proto = model(
        [call("f", "x", "y", way=body)],
        [
            function(
                "f",
                [N("IsNaN", ["a"], ["n"]), N("ReduceMax", ["n"], ["c"]), choose],
                attributes=["way"],
            )
        ],
    )
    with pytest.raises(
        ModelError, match=r"'choose' .If.: attribute 'then_branch' is a graph that a call gives"
    ):
        capture(proto)
