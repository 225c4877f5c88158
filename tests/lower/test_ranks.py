"""If with branches of two ranks, as exporters write squeeze(dim): what is behind it is lowered for each, up to one rank again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from pteron.export.capture import capture
from pteron.export.file.emit import emit_bytes
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.plan import plan
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError

F, N = TensorProto.FLOAT, helper.make_node


def squeezed(x: str, axis: int, y: str) -> list[onnx.NodeProto]:
    """y = x.squeeze(axis), where the exporter does not know whether the axis has one element."""

    def branch(node: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph(
            [node], node.op_type, [], [onnx.ValueInfoProto(name=node.output[0])]
        )

    return [
        N("Shape", [x], [f"{y}.s"], start=axis, end=axis + 1),
        N("Equal", [f"{y}.s", "one"], [f"{y}.c"]),
        N("Constant", [], [f"{y}.a"], value_ints=[axis]),
        N("If", [f"{y}.c"], [y], then_branch=branch(N("Squeeze", [x, f"{y}.a"], [f"{y}.t"])), else_branch=branch(N("Identity", [x], [f"{y}.e"]))),
    ]  # fmt: skip


def model(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str] = "y") -> onnx.ModelProto:
    graph = helper.make_graph(
        [N("Constant", [], ["one"], value_ints=[1]), N("Constant", [], ["flat"], value_ints=[-1]), *nodes],
        "g",
        [helper.make_tensor_value_info("x", F, ["b", "n", "m"])],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


TAILS = {
    "flattened": [*squeezed("x", 2, "q"), N("Sigmoid", ["q"], ["a"]), N("Reshape", ["a", "flat"], ["y"])],
    "reduced": [*squeezed("x", 1, "q"), N("ReduceMean", ["q"], ["y"], keepdims=0)],
    "its rank": [*squeezed("x", 1, "q"), N("Shape", ["q"], ["s"]), N("Size", ["s"], ["y"])],
    "two axes": [*squeezed("x", 2, "q"), *squeezed("q", 1, "p"), N("Reshape", ["p", "flat"], ["y"])],
    "beside others": [*squeezed("x", 2, "q"), N("Exp", ["x"], ["e"]), N("Reshape", ["q", "flat"], ["r"]), N("ReduceSum", ["e"], ["t"], keepdims=0), N("Add", ["r", "t"], ["y"])],
}  # fmt: skip


@pytest.mark.parametrize("name", TAILS)
def test_what_is_behind_is_lowered_for_each_rank(name: str) -> None:
    proto = model(TAILS[name])
    program = lower(ir.from_proto(proto))
    runtime = pytest.importorskip("pteron.runtime.model", reason="needs the built module")
    loaded = runtime.load(emit_bytes(plan(fuse(program))))
    for n, m in ((3, 4), (1, 4), (3, 1), (1, 1)):
        x = np.random.default_rng(n * m).standard_normal((2, n, m)).astype(np.float32)
        (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
        for got in (run(program, {"x": x})["y"], loaded.run({"x": x})["y"]):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_an_output_of_two_ranks_is_refused_and_others_are_not() -> None:
    with pytest.raises(LoweringError, match=r"rank 2 and f32 of rank 3.*\n?"):
        lower(ir.from_proto(model([*squeezed("x", 2, "y"), N("Exp", ["x"], ["z"])], "yz")))


def test_more_such_ifs_than_are_covered_are_refused() -> None:
    nodes = [N("ReduceSum", ["x"], ["s"], keepdims=0)]
    for i in range(5):
        more = N("Unsqueeze", ["x", "one"], [f"t{i}"])
        bodies = {
            f"{key}_branch": helper.make_graph(
                [n], key, [], [onnx.ValueInfoProto(name=n.output[0])]
            )
            for key, n in (("then", more), ("else", N("Identity", ["x"], [f"e{i}"])))
        }
        nodes += [
            N("Constant", [], [f"k{i}"], value_float=float(i)), N("Greater", ["s", f"k{i}"], [f"c{i}"]), N("If", [f"c{i}"], [f"q{i}"], **bodies),
            N("Reshape", [f"q{i}", "flat"], [f"f{i}"]),
        ]  # fmt: skip
    nodes.append(N("Sum", [f"f{i}" for i in range(5)], ["y"]))
    with pytest.raises(LoweringError, match="more than 3 Ifs"):
        lower(ir.from_proto(model(nodes)))


@pytest.mark.parametrize("extent", [1, 4])
def test_a_branch_that_is_not_taken_may_be_of_other_sizes(extent: int) -> None:
    proto = model([*squeezed("x", 2, "q"), N("Relu", ["q"], ["y"])])
    proto.graph.input[0].type.tensor_type.shape.dim[2].dim_value = extent
    x = np.ones((2, 3, extent), np.float32)
    got = run(lower(capture(proto)), {"x": x})["y"]
    assert got.shape == ((2, 3) if extent == 1 else (2, 3, 4))


def test_an_if_inside_of_the_same_condition_is_decided() -> None:
    """if x.size(2) == 1: x = x.squeeze(2)."""
    inner = helper.make_graph(squeezed("x", 2, "p"), "t", [], [onnx.ValueInfoProto(name="p")])
    same = helper.make_graph(
        [N("Identity", ["x"], ["e"])], "e", [], [onnx.ValueInfoProto(name="e")]
    )
    nodes = [
        N("Shape", ["x"], ["s"], start=2, end=3), N("Equal", ["s", "one"], ["c"]), N("If", ["c"], ["q"], then_branch=inner, else_branch=same),
        N("Reshape", ["q", "flat"], ["y"]),
    ]  # fmt: skip
    proto = model(nodes)
    program = lower(ir.from_proto(proto))
    for m in (1, 3):
        x = np.random.default_rng(m).standard_normal((2, 4, m)).astype(np.float32)
        (want,) = ReferenceEvaluator(proto).run(None, {"x": x})
        np.testing.assert_array_equal(run(program, {"x": x})["y"], want)


@pytest.mark.parametrize("b, right", [(1, True), (2, False)])
def test_ranks_of_outputs_say_which_axes_a_squeeze_without_axes_drops(b: int, right: bool) -> None:
    """A network traced at batch 1 whose batch was declared free afterwards."""
    proto = model(
        [
            N("ReduceMax", ["x", "last"], ["m"], keepdims=1),
            N("Squeeze", ["m"], ["q"]),
            N("Exp", ["q"], ["y"]),
        ]
    )
    proto.graph.node.insert(0, N("Constant", [], ["last"], value_ints=[2]))
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", F, ["n"]))
    proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", F, ["b", 3, "m"]))
    x = np.random.default_rng(0).standard_normal((b, 3, 5)).astype(np.float32)
    captured = capture(proto)
    assert "drops axis 0 (b)" in captured.meta["pteron.notes"][0]
    program = lower(captured)
    if right:
        want = ReferenceEvaluator(proto).run(None, {"x": x})[0]
        np.testing.assert_allclose(run(program, {"x": x})["y"], want, rtol=1e-6)
    else:
        with pytest.raises(Exception, match="1"):
            run(program, {"x": x})


GEMM = [*squeezed("x", 2, "q"), N("Gemm", ["q", "q"], ["y"], transB=1)]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_rank_that_no_node_behind_allows_is_refused_by_the_run(
    inside: bool, swapped: bool
) -> None:
    """silero's voice activity: an LSTM behind squeeze(-1), over two axes more where the axis stays."""
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in GEMM]
    if swapped:  # the branch that is possible is the other
        a, b = nodes[3].attribute
        a.name, b.name = b.name, a.name
        nodes.insert(2, N("Not", ["q.c"], ["q.not"]))
        nodes[4].input[0] = "q.not"
    if inside:
        then = helper.make_graph(nodes, "t", [], [onnx.ValueInfoProto(name="y")])
        other = helper.make_graph(
            [N("ReduceSum", ["x", "last"], ["z"], keepdims=0)],
            "e",
            [],
            [onnx.ValueInfoProto(name="z")],
        )
        nodes = [
            N("Constant", [], ["last"], value_ints=[2]),
            N("If", ["flag"], ["y"], then_branch=then, else_branch=other),
        ]
    proto = model(nodes)
    if inside:
        proto.graph.input.append(helper.make_tensor_value_info("flag", TensorProto.BOOL, []))
    program = fuse(lower(capture(proto)))
    rng = np.random.default_rng(0)
    given = {"flag": np.array(True)} if inside else {}
    x = rng.standard_normal((3, 3, 1)).astype(np.float32)
    want = x[:, :, 0] @ x[:, :, 0].T
    np.testing.assert_allclose(run(program, {"x": x, **given})["y"], want, rtol=1e-5)
    wide = rng.standard_normal((3, 3, 2)).astype(np.float32)
    with pytest.raises(Exception, match=r"index|only its|extent 1"):
        run(program, {"x": wide, **given})
    if inside:
        got = run(program, {"x": wide, "flag": np.array(False)})["y"]
        np.testing.assert_allclose(got, wide.sum(2), rtol=1e-5)
