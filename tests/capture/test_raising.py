"""Models of old opsets: every change of the standard between 6 and 28 is made on the graph, or refused with the node's name."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from pteron.export import graph as g
from pteron.export.capture import capture
from pteron.export.capture.raising import CHANGES
from pteron.export.lower import lower
from pteron.export.passes import run_passes
from pteron.export.program.interpret import run
from pteron.schema.errors import ModelError

F = np.float32
X = (np.arange(2 * 3 * 4 * 5, dtype=F).reshape(2, 3, 4, 5) * 7 % 11) - 5


def model(
    nodes: list[Any], opset: int, inputs: dict[str, Any], weights: dict[str, Any] | None = None
) -> onnx.ModelProto:
    """`inputs`: arrays, whose shapes are declared; or (array, declared shape)."""
    declared = []
    for name, given in inputs.items():
        array, shape = given if isinstance(given, tuple) else (given, given.shape)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        declared.append(helper.make_tensor_value_info(name, kind, shape))
    made = [name for n in nodes for name in n.output if name and name[0] == "y"]
    graph = helper.make_graph(
        nodes, "old", declared, [onnx.ValueInfoProto(name=name) for name in made],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4)


def ours(proto: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    captured = run_passes(capture(proto))
    got = run(lower(captured), feeds)
    return [got[v.name] for v in proto.graph.output]


def check(proto: onnx.ModelProto, feeds: dict[str, Any], want: list[Any] | None = None) -> None:
    """Against onnxruntime, which reads opset 7 and later, or what the standard says."""
    if want is None:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        want = session.run(None, feeds)
    for got, right in zip(ours(proto, feeds), want, strict=True):
        assert got.dtype == right.dtype and got.shape == right.shape
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-6)


N = helper.make_node
SOFT = [
    (N(op, ["x"], ["y"], **given), opset)
    for op in ("Softmax", "LogSoftmax", "Hardmax")
    for given in ({}, {"axis": 0}, {"axis": 2}, {"axis": 3})
    for opset in (7, 12)
]
REDUCED = [
    (N(op, ["x"], ["y"], **given), opset)
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2")
    for given in ({}, {"axes": [1, 3]}, {"axes": [0], "keepdims": 0})
    for opset in (7, 12)
]
ONE = [
    *SOFT,
    *REDUCED,
    (N("Clip", ["x"], ["y"], min=-1.0, max=2.0), 7),
    (N("Clip", ["x"], ["y"], max=2.0), 10),
    (N("Slice", ["x"], ["y"], starts=[1, -3], ends=[3, 9], axes=[1, 3]), 7),
    (N("Slice", ["x"], ["y"], starts=[0, 1], ends=[1, 3]), 9),
    (N("Pad", ["x"], ["y"], pads=[0, 0, 1, 2, 0, 0, 0, 1], value=1.5), 7),
    (N("Pad", ["x"], ["y"], pads=[0, 0, 1, 2, 0, 0, 0, 1], mode="reflect"), 10),
    (N("TopK", ["x"], ["y", "y_at"], k=2, axis=2), 9),
    (N("Split", ["x"], ["y", "y1"], split=[1, 2], axis=1), 11),
    (N("Split", ["x"], ["y", "y1"], axis=2), 13),
    (N("Unsqueeze", ["x"], ["y"], axes=[0, 3]), 11),
    (N("Squeeze", ["x1"], ["y"], axes=[0, 2]), 11),
    (N("Squeeze", ["x2"], ["y"]), 11),
    (N("Upsample", ["x"], ["y"], scales=[1.0, 1.0, 2.0, 3.0]), 7),
    (N("Upsample", ["x"], ["y"], scales=[1.0, 1.0, 2.0, 2.0], mode="linear"), 8),
    (N("Upsample", ["x", "s"], ["y"]), 9),
    (N("Resize", ["x", "s"], ["y"]), 10),
    (N("Resize", ["x", "s"], ["y"], mode="linear"), 10),
    (N("Resize", ["x", "r", "s"], ["y"], mode="linear"), 11),
    (N("Scatter", ["v", "i", "u"], ["y"], axis=1), 9),
    (N("Dropout", ["x"], ["y"], ratio=0.3), 7),
    (N("BatchNormalization", ["x", "a", "b", "m", "q"], ["y"], epsilon=0.1), 8),
    (N("PRelu", ["x", "slope"], ["y"]), 7),
    (N("Gemm", ["v", "w", "u0"], ["y"], alpha=0.5), 7),
    (N("GRU", ["seq", "gw", "gr"], ["y", "y_h"], hidden_size=2), 7),
    (N("Flatten", ["x"], ["y"], axis=2), 7),
    (N("ArgMax", ["x"], ["y"], axis=1), 11),
    (N("Gather", ["x", "i1"], ["y"], axis=2), 7),
]  # fmt: skip
WEIGHTS = {
    "s": np.array([1, 1, 2, 2], F), "r": np.zeros(0, F), "a": np.array([1, 2, 3], F), "b": np.array([0, 1, -1], F),
    "m": np.array([0.5, 0, 1], F), "q": np.array([1, 2, 0.5], F), "slope": np.array([[[0.1]], [[0.2]], [[0.3]]], F),
    "w": np.arange(12, dtype=F).reshape(3, 4) / 7, "u0": np.ones(4, F), "i1": np.array([2, 0], np.int64),
    "i": np.array([[0, 2]], np.int64), "u": np.array([[9, 8]], F),
    "gw": np.linspace(-1, 1, 18, dtype=F).reshape(1, 6, 3), "gr": np.linspace(1, -1, 12, dtype=F).reshape(1, 6, 2),
}  # fmt: skip
INPUTS = {
    "x": X,
    "x1": X[:1, :, :1],
    "x2": X[:, :1, :1],
    "v": np.arange(6, dtype=F).reshape(2, 3),
    "seq": np.linspace(-2, 2, 12, dtype=F).reshape(2, 2, 3),
}


@pytest.mark.parametrize("where", ["whole", "symbolic", "branch"])
@pytest.mark.parametrize(
    ("node", "opset"), ONE, ids=[f"{n.op_type}{o}-{i}" for i, (n, o) in enumerate(ONE)]
)
def test_an_old_node_means_what_it_meant(node: onnx.NodeProto, opset: int, where: str) -> None:
    weights = {n: a for n, a in WEIGHTS.items() if n in node.input}
    inputs: dict[str, Any] = {n: a for n, a in INPUTS.items() if n in node.input}
    feeds = dict(inputs)
    nodes = [node]
    if where == "symbolic":
        shapes = {n: (a, [f"{n}0", *a.shape[1:]]) for n, a in inputs.items()}
        inputs = shapes
    if where == "branch":
        inner = helper.make_graph(
            [node], "inner", [], [onnx.ValueInfoProto(name=n) for n in node.output if n[0] == "y"]
        )
        other = helper.make_graph(
            [N(node.op_type, list(node.input), [f"e_{n}" for n in node.output])], "other", [],
            [onnx.ValueInfoProto(name=f"e_{n}") for n in node.output if n[0] == "y"],
        )  # fmt: skip
        other.node[0].attribute.extend(node.attribute)
        inputs["k"] = feeds["k"] = np.array(True)
        nodes = [
            N(
                "If",
                ["k"],
                [n for n in node.output if n[0] == "y"],
                then_branch=inner,
                else_branch=other,
            )
        ]
        for graph in (inner, other):
            for value in graph.output:
                value.type.tensor_type.elem_type = _kind(value.name)
    check(model(nodes, opset, inputs, weights), feeds)


def _kind(name: str) -> int:
    return int(TensorProto.INT64 if name.endswith("_at") else TensorProto.FLOAT)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((3,), 1), ((4, 5), 2), ((3, 4), 1), ((2,), 0), ((5,), None)]
)
def test_opset_6_broadcasts_along_an_axis(
    op: str, shape: tuple[int, ...], axis: int | None
) -> None:
    b = np.arange(1, 1 + int(np.prod(shape)), dtype=F).reshape(shape)
    at = {} if axis is None else {"axis": axis}
    proto = model([N(op, ["x", "b"], ["y"], broadcast=1, **at)], 6, {"x": X}, {"b": b})
    wide = b.reshape(*shape, *[1] * (0 if axis is None else 4 - axis - len(shape)))
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[op]
    check(proto, {"x": X}, [function(X, wide)])


def test_what_stands_behind_an_unknown_batch_is_raised_too() -> None:
    """onnx's own converter refuses the Gemm of a symbolic batch."""
    w, b = np.ones((2, 2), F), np.zeros(2, F)
    x = np.array([[1, 2], [-3, 1]], F)
    nodes = [
        N("Gemm", ["x", "w", "b"], ["h"], broadcast=1),
        N("Clip", ["h"], ["c"], min=0.0, max=1.0),
    ]
    nodes.append(N("Slice", ["c"], ["y"], starts=[0], ends=[1], axes=[1]))
    check(
        model(nodes, 6, {"x": (x, ["n", 2])}, {"w": w, "b": b}),
        {"x": x},
        [np.clip(x @ w, 0, 1)[:, :1]],
    )


def test_opset_6_recurrent_networks_are_read() -> None:
    node = N("LSTM", ["seq", "w", "r"], ["y"], hidden_size=1, output_sequence=1)
    later = N("LSTM", ["seq", "w", "r"], ["y"], hidden_size=1)
    seq, weights = (
        INPUTS["seq"],
        {"w": np.linspace(-1, 1, 12, dtype=F).reshape(1, 4, 3), "r": np.ones((1, 4, 1), F)},
    )
    want = ours(model([later], 14, {"seq": seq}, weights), {"seq": seq})
    check(model([node], 6, {"seq": seq}, weights), {"seq": seq}, want)


BODY = helper.make_graph(
    [N("Relu", ["i"], ["o"])], "body", [onnx.ValueInfoProto(name="i")], [onnx.ValueInfoProto(name="o")]
)  # fmt: skip
REFUSED = [
    (
        N("Add", ["z", "b"], ["y"], broadcast=1, axis=0, name="odd"),
        6,
        "node 'odd' (Add): broadcasts along axis 0",
    ),
    (
        N("BatchNormalization", ["x", "b", "b", "b", "b"], ["y"], spatial=0, name="odd"),
        7,
        "spatial 0",
    ),
    (
        N(
            "BatchNormalization",
            ["x", "b", "b", "b", "b"],
            ["y", "y1", "y2", "y3", "y4"],
            name="odd",
        ),
        9,
        "training",
    ),
    (N("Dropout", ["x"], ["y", "y1"], name="odd"), 7, "mask"),
    (N("Clip", ["z"], ["y"], min=0.0, name="odd"), 6, "element type"),
    (N("Scan", ["", "x"], ["y"], name="odd", num_scan_inputs=1, body=BODY), 8, "batch axis"),
    (N("Pow", ["x", "whole"], ["y"], name="odd"), 11, "Y is int64; expected float"),
]


@pytest.mark.parametrize(("node", "opset", "text"), REFUSED, ids=[t for _, _, t in REFUSED])
def test_what_has_no_form_at_28_is_named(node: onnx.NodeProto, opset: int, text: str) -> None:
    proto = model([node], opset, {"x": X}, {"b": np.ones(3, F), "whole": np.array([2])})
    if "z" in node.input:
        proto.graph.input.append(onnx.ValueInfoProto(name="z"))
    with pytest.raises(ModelError) as caught:
        capture(proto)
    assert text in str(caught.value) and "odd" in str(caught.value)


def test_the_table_has_every_change_that_schemas_show() -> None:
    """An attribute that goes or has another default, an input that moves, an operator that goes."""
    history: dict[str, list[Any]] = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            history[schema.name].append(schema)
    missing = []
    for name, schemas in history.items():
        schemas.sort(key=lambda s: s.since_version)
        for old, new in itertools.pairwise(schemas):
            if new.since_version <= 6:
                continue
            entered = [at for at, _ in CHANGES.get(name, [])]
            if _changes(old, new) and new.since_version not in entered:
                missing.append((name, new.since_version))
    assert not missing


def _changes(old: Any, new: Any) -> bool:
    if new.deprecated and not old.deprecated:
        return True
    before, after = [i.name for i in old.inputs], [i.name for i in new.inputs]
    moved = any(name in after and after.index(name) != i for i, name in enumerate(before))
    return moved or any(
        name not in new.attributes or new.attributes[name].default_value != a.default_value
        for name, a in old.attributes.items()
    )


def test_everything_is_at_28_behind_capture() -> None:
    captured = capture(model([N("Clip", ["x"], ["y"], min=0.0)], 6, {"x": X}))
    assert all(n.version is None for n in g.nodes(captured))
    assert captured.graph.opset_imports[""] == g.OPSET


@pytest.mark.parametrize("given", [{}, {"min": 0.0}, {"max": 1.0}])
def test_a_bound_that_an_old_clip_does_not_give_is_the_largest_f32(given: dict[str, float]) -> None:
    """onnxruntime, too, answers 3.4e38 where x is infinite."""
    x = np.array([np.inf, -np.inf, 0.5], F)
    check(model([N("Clip", ["x"], ["y"], **given)], 10, {"x": x}), {"x": x})


def test_a_softmax_of_nothing_keeps_its_extents() -> None:
    x = np.zeros((2, 0, 3), F)
    check(model([N("LogSoftmax", ["x"], ["y"], axis=1)], 12, {"x": x}), {"x": x}, [x])
