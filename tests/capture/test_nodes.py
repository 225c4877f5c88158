"""Nodes that ONNX does not allow, and files that are damaged inside: an error with the name, never a traceback or a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from pteron.export.capture import capture
from pteron.export.export import export
from pteron.export.graph import allowed
from pteron.export.graph.definitions import NotAllowedError
from pteron.export.options import Options
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError, ModelError

N = helper.make_node
F, INT = TensorProto.FLOAT, TensorProto.INT64
I64 = np.int64


def model(
    node: onnx.NodeProto, shapes: list[Any], data: dict[int, Any] | None = None, opset: int = 21
) -> onnx.ModelProto:
    """One node named odd; `shapes`: (dtype, shape) of x0, x1 ...; `data`: those that are constants."""
    node.name = "odd"
    constants = data or {}
    inputs = [
        helper.make_tensor_value_info(f"x{i}", kind, shape)
        for i, (kind, shape) in enumerate(shapes)
        if i not in constants
    ]
    stored = [numpy_helper.from_array(np.asarray(a), f"x{i}") for i, a in constants.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


X = (F, [2, 3])
BAD = {
    "weights of classes are a scalar": (N("SoftmaxCrossEntropyLoss", ["x0", "x1", "x2"], ["y"]), [X, (INT, [2]), (F, [])], {}),
    "variadic operand absent": (N("Sum", ["x0", "", "x0"], ["y"]), [X], {}),
    "perm too long": (N("Transpose", ["x0"], ["y"], perm=[0, 1, 2]), [X], {}),
    "perm too short": (N("Transpose", ["x0"], ["y"], perm=[0]), [X], {}),
    "perm twice": (N("Transpose", ["x0"], ["y"], perm=[0, 0]), [X], {}),
    "concat axis": (N("Concat", ["x0", "x0"], ["y"], axis=5), [X], {}),
    "concat without axis": (N("Concat", ["x0", "x0"], ["y"]), [X], {}),
    "squeeze axis": (N("Squeeze", ["x0", "x1"], ["y"]), [X, (INT, [1])], {1: I64([5])}),
    "unsqueeze axis": (N("Unsqueeze", ["x0", "x1"], ["y"]), [X, (INT, [1])], {1: I64([5])}),
    "softmax axis": (N("Softmax", ["x0"], ["y"], axis=4), [X], {}),
    "cumsum axis": (N("CumSum", ["x0", "x1"], ["y"]), [X, (INT, [])], {1: I64(4)}),
    "layer norm axis": (N("LayerNormalization", ["x0", "x1"], ["y"], axis=7), [X, (F, [3])], {}),
    "gather elements axis": (N("GatherElements", ["x0", "x1"], ["y"], axis=3), [X, (INT, [2, 3])], {}),
    "flatten axis": (N("Flatten", ["x0"], ["y"], axis=7), [X], {}),
    "reduce axis": (N("ReduceSum", ["x0", "x1"], ["y"]), [X, (INT, [1])], {1: I64([7])}),
    "reduce axis twice": (N("ReduceMin", ["x0", "x1"], ["y"]), [X, (INT, [2])], {1: I64([-1, 1])}),
    "unsqueeze axis twice": (N("Unsqueeze", ["x0", "x1"], ["y"]), [X, (INT, [2])], {1: I64([3, -1])}),
    "slice axis": (
        N("Slice", ["x0", "x1", "x2", "x3"], ["y"]), [X, *[(INT, [1])] * 3], {1: I64([0]), 2: I64([1]), 3: I64([9])},
    ),
    "slice step 0": (
        N("Slice", ["x0", "x1", "x2", "x3", "x4"], ["y"]), [X, *[(INT, [1])] * 4],
        {1: I64([0]), 2: I64([1]), 3: I64([0]), 4: I64([0])},
    ),
    "quantize axis": (N("QuantizeLinear", ["x0", "x1"], ["y"], axis=5), [X, (F, [3])], {1: np.ones(3, np.float32)}),
    "types": (N("Add", ["x0", "x1"], ["y"]), [X, (INT, [2, 3])], {}),
    "shapes": (N("Add", ["x0", "x1"], ["y"]), [X, (F, [2, 4])], {}),
    "gemm rank": (N("Gemm", ["x0", "x0"], ["y"]), [(F, [1, 2, 2])], {}),
    "pads": (N("Pad", ["x0", "x1"], ["y"]), [X, (INT, [3])], {1: I64([0, 1, 2])}),
    "strides": (N("Conv", ["x0", "x1"], ["y"], strides=[0]), [(F, [1, 4, 5]), (F, [8, 4, 3])], {}),
    "kernel": (N("MaxPool", ["x0"], ["y"], kernel_shape=[2, 2]), [(F, [1, 4, 5])], {}),
    "attribute": (N("Relu", ["x0"], ["y"], slope=0.1), [X], {}),
    "attribute's kind": (N("Softmax", ["x0"], ["y"], axis=1.5), [X], {}),
    "too many inputs": (N("Relu", ["x0", "x0"], ["y"]), [X], {}),
    "too few inputs": (N("Add", ["x0"], ["y"]), [X], {}),
    "an absent input": (N("Add", ["x0", ""], ["y"]), [X], {}),
    "an axis of 64 bits": (N("Softmax", ["x0"], ["y"], axis=2**63 - 1), [X], {}),
    "split axis": (N("Split", ["x0"], ["y"], axis=-3, num_outputs=1), [X], {}),
    "a flag of 2": (N("Reshape", ["x0", "x1"], ["y"], allowzero=2), [X, (INT, [1])], {1: I64([6])}),
    "a word": (N("Pad", ["x0", "x1"], ["y"], mode="linear"), [X, (INT, [4])], {1: I64([0, 1, 0, 1])}),
    "reduction": (N("ScatterND", ["x0", "x1", "x0"], ["y"], reduction="mean"), [X, (INT, [2, 1])], {}),
    "no groups": (N("GroupNormalization", ["x0", "x1", "x1"], ["y"], num_groups=0), [(F, [1, 4, 5]), (F, [4])], {}),
    "an element type": (N("Cast", ["x0"], ["y"], to=77), [X], {}),
    "repeats": (N("Tile", ["x0", "x1"], ["y"]), [X, (INT, [3])], {}),
    "a window's size": (N("HannWindow", ["x0"], ["y"]), [(INT, [3])], {0: I64([3, 4, 5])}),
    "threshold": (
        N("NonMaxSuppression", ["x0", "x1", "x2", "x3"], ["y"]), [(F, [1, 4, 4]), (F, [1, 2, 4]), (INT, [1]), (F, [3])], {},
    ),
    "gates": (N("LSTM", ["x0", "x1", "x2"], ["y"], hidden_size=2), [(F, [3, 1, 4]), (F, [1, 6, 4]), (F, [1, 8, 2])], {}),
    "a bias of one half": (
        N("RNN", ["x0", "x1", "x2", "x3"], ["y"], hidden_size=2), [(F, [3, 1, 4]), (F, [1, 2, 4]), (F, [1, 2, 2]), (F, [1, 2])], {},
    ),
    "one direction of two": (
        N("RNN", ["x0", "x1", "x2"], ["y"], hidden_size=2, direction="bidirectional"),
        [(F, [3, 1, 4]), (F, [1, 2, 4]), (F, [1, 2, 2])], {},
    ),
    "no heads": (N("Attention", ["x0", "x1", "x1"], ["y"]), [(F, [1, 2, 3, 4]), (F, [1, 0, 3, 4])], {}, 24),
    "3 heads of 2": (N("Attention", ["x0", "x1", "x1"], ["y"]), [(F, [1, 3, 3, 4]), (F, [1, 2, 3, 4])], {}, 24),
    "a ratio of heads": (
        N("Attention", ["x0", "x1", "x1"], ["y"], q_num_heads=3, kv_num_heads=1), [(F, [1, 3, 4]), (F, [1, 3, 4])], {}, 24,
    ),
}  # fmt: skip


def test_no_more_parts_than_are_told() -> None:
    """Asked of the form alone: onnx's inference reads as many sizes as there are outputs, and ends the process."""
    told = {"num_outputs": ir.AttrInt64("num_outputs", 2)}
    schema = allowed.schema_of("Split", 28)
    allowed.check_form(schema, told, [True], 2)
    with pytest.raises(NotAllowedError, match="as num_outputs says, got 3"):
        allowed.check_form(schema, told, [True], 3)


@pytest.mark.parametrize("name", BAD)
def test_a_node_that_onnx_forbids_is_refused_by_name(name: str) -> None:
    node, shapes, data, *opset = BAD[name]
    with pytest.raises(ModelError, match="node 'odd'"):
        capture(model(node, shapes, data, *opset))


def test_a_range_of_step_0_is_refused_by_name() -> None:
    constants = {0: I64(0), 1: I64(10), 2: I64(0)}
    with pytest.raises(LoweringError, match=r"'odd'.*step is 0"):
        export(model(N("Range", ["x0", "x1", "x2"], ["y"]), [(INT, [])] * 3, constants))


@pytest.mark.parametrize("field", ["raw_data", "float_data"])
@pytest.mark.parametrize("shape", [[1000], [1 << 20, 1 << 12]])
def test_a_constant_shorter_than_its_shape_is_refused(field: str, shape: list[int]) -> None:
    proto = model(N("Identity", ["k"], ["y"]), [])
    tensor = onnx.TensorProto(name="k", data_type=F, dims=shape)
    if field == "raw_data":
        tensor.raw_data = b"\0" * 4
    else:
        tensor.float_data.append(1.0)
    proto.graph.initializer.append(tensor)
    with pytest.raises(ModelError, match="constant of 'k'"):
        capture(proto)


@pytest.mark.parametrize("location", ["../../etc/hostname", "nowhere.bin"])
def test_external_data_of_a_function_is_looked_for(location: str, tmp_path: Path) -> None:
    tensor = onnx.TensorProto(name="k", data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    nodes = [N("Constant", [], ["k"], value=tensor), N("Add", ["x", "k"], ["y"])]
    function = helper.make_function("my", "F", ["x"], ["y"], nodes, [helper.make_opsetid("", 21)])
    proto = model(N("F", ["x0"], ["y"], domain="my"), [(F, [4])])
    proto.functions.append(function)
    proto.opset_import.append(helper.make_opsetid("my", 1))
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match="external data"):
        capture(path)


NAMES = [
    ("seq", "2seq"),
    ("in", "in + 1"),
    ("N", "batch (N)"),
    ("a", "a*"),
    ("a", "9**9**9**9 + a"),
    ("a", "((((a"),
]


@pytest.mark.parametrize(("first", "second"), NAMES)
def test_any_text_may_name_a_dimension(first: str, second: str) -> None:
    nodes = [N("Relu", ["x"], ["a"]), N("Relu", ["z"], ["b"])]
    inputs = [helper.make_tensor_value_info(n, F, [d]) for n, d in (("x", first), ("z", second))]
    outputs = [onnx.ValueInfoProto(name=n) for n in "ab"]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )  # fmt: skip
    got = run(export(proto), {"x": np.ones(3, np.float32), "z": np.ones(4, np.float32)})
    assert got["b"].shape == (4,)
    if second == "in + 1":
        assert [d.name for d in export(proto).dims] == ["in"]
    assert {d.name for d in export(proto, Options(fix={first: 3})).dims} <= {second}


@pytest.mark.parametrize("node, name", [("Concat", "inputs 2"), ("Sum", "data_0 2"), ("Add", "B")])
def test_an_operand_of_another_type_is_named(node: str, name: str) -> None:
    """One of many by its place."""
    kinds = [F, INT] if node == "Add" else [F, F, INT]
    names = [f"x{i}" for i in range(len(kinds))]
    attrs = {"axis": 0} if node == "Concat" else {}
    with pytest.raises(ModelError, match=rf"\({node}\): {name} is int64; expected float"):
        capture(model(N(node, names, ["y"], **attrs), [(k, [4]) for k in kinds]))


def test_a_call_of_a_function_with_too_many_operands_is_refused_by_name() -> None:
    proto = model(N("Twice", ["x0", "x0"], ["y"], domain="own"), [X])
    proto.functions.append(
        helper.make_function(
            "own", "Twice", ["a"], ["b"], [N("Add", ["a", "a"], ["b"])], proto.opset_import
        )
    )
    proto.opset_import.append(helper.make_opsetid("own", 1))
    with pytest.raises(ModelError, match=r"'odd'.*at most 1 inputs, got 2"):
        capture(proto)


@pytest.mark.parametrize("carried", [1, 3])
def test_a_loop_carries_what_its_body_does(carried: int) -> None:
    info = helper.make_tensor_value_info
    ports = [
        info("i", INT, []),
        info("c", TensorProto.BOOL, []),
        *(info(f"v{k}", F, [2]) for k in range(2)),
    ]
    body = helper.make_graph(
        [N("Identity", ["c"], ["d"]), N("Neg", ["v0"], ["w0"]), N("Neg", ["v1"], ["w1"])], "body", ports,
        [info("d", TensorProto.BOOL, []), info("w0", F, [2]), info("w1", F, [2])],
    )  # fmt: skip
    node = N("Loop", ["", "", *["x0"] * carried], ["y", "z"], body=body)
    with pytest.raises(
        ModelError, match=f"'odd' .Loop.: expected 4 inputs, as the body has, got {2 + carried}"
    ):
        capture(model(node, [(F, [2])]))


def test_what_a_loop_carries_has_the_type_that_its_body_says() -> None:
    info = helper.make_tensor_value_info
    ports = [info("i", INT, []), info("c", TensorProto.BOOL, []), info("v", INT, [2])]
    body = helper.make_graph(
        [N("Identity", ["c"], ["d"]), N("Neg", ["v"], ["w"])], "body", ports,
        [info("d", TensorProto.BOOL, []), info("w", INT, [2])],
    )  # fmt: skip
    node = N("Loop", ["", "", "x0"], ["y"], body=body)
    with pytest.raises(ModelError, match="input 2 is float; expected int64, as its body has 'v'"):
        capture(model(node, [(F, [2])]))


LIKE = {
    "attribute": (N("Softmax", ["x"], ["a"], axis=1), N("Softmax", ["x"], ["y"], axis=2), {}),
    "list": (N("Transpose", ["x"], ["a"], perm=[1, 0]), N("Transpose", ["x"], ["y"], perm=[1, 1]), {}),
    "elements": (
        N("Unsqueeze", ["x", "k"], ["a"]), N("Unsqueeze", ["x", "l"], ["y"]), {"k": I64([1]), "l": I64([5])},
    ),
    "scales": (
        N("Resize", ["x", "", "k"], ["a"]), N("Resize", ["x", "", "l"], ["y"]),
        {"k": np.float32([1, 2]), "l": np.float32([1, 2, 3])},
    ),
    "type": (N("Add", ["x", "x"], ["a"]), N("Add", ["x", "k"], ["y"]), {"k": I64([1])}),
    "shape": (N("MatMul", ["x", "k"], ["a"]), N("MatMul", ["x", "l"], ["y"]), {"k": np.ones((3, 2), "f"), "l": np.ones((2, 2), "f")}),
    "operands": (N("Clip", ["x", "k", "k"], ["a"]), N("Clip", ["x", "k", "l"], ["y"]), {"k": np.float32(1), "l": I64(2)}),
}  # fmt: skip


@pytest.mark.parametrize("what", LIKE)
def test_a_node_is_not_allowed_because_one_that_is_alike_was(what: str) -> None:
    good, bad, constants = LIKE[what]
    bad.name = "odd"
    stored = [numpy_helper.from_array(a, name) for name, a in constants.items()]
    for nodes, is_bad in (([good], False), ([good, bad], True)):
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", F, [2, 3])],
            [onnx.ValueInfoProto(name=name) for node in nodes for name in node.output],
            stored,
        )
        built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        if is_bad:
            with pytest.raises(ModelError, match="odd"):
                capture(built)
        else:
            capture(built)
