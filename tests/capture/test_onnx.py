"""Capture of ONNX: what comes in, at opset 28 with the same answers, and what is refused, with what text."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from pteron.export.capture import capture
from pteron.export.graph import SOURCE, verify
from pteron.schema.errors import ModelError


def model(
    nodes: list[onnx.NodeProto],
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 18,
    inputs: dict[str, tuple[int, list[object]]] | None = None,
    outputs: tuple[str, ...] = ("y",),
    ir_version: int = 8,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "small",
        [
            helper.make_tensor_value_info(k, t, s)
            for k, (t, s) in (inputs or {"x": (1, ["n", 8])}).items()
        ],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs],
        [numpy_helper.from_array(v, k) for k, v in (weights or {}).items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version
    )


W = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def linear() -> onnx.ModelProto:
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], name="lin")], {"w": W})


def runs_like(captured: ir.Model, original: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> None:
    got = ReferenceEvaluator(ir.to_proto(captured)).run(None, feeds)
    want = ReferenceEvaluator(original).run(None, feeds)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


X = {"x": np.arange(16, dtype=np.float32).reshape(2, 8) / 8}


def test_every_kind_of_source_gives_the_same_graph(tmp_path: Path) -> None:
    proto = linear()
    path = tmp_path / "linear.onnx"
    onnx.save(proto, path)
    for source in (path, str(path), proto, proto.SerializeToString(), ir.from_proto(proto)):
        captured = capture(source)
        assert captured.graph.opset_imports[""] == 28
        runs_like(captured, proto, X)


def test_an_ir_model_given_as_source_is_not_changed() -> None:
    source = ir.from_proto(linear())
    capture(source)
    assert source.graph.opset_imports[""] == 18


def test_opset_7_file_of_ir_3_with_initializers_among_inputs() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="a"),
        helper.make_node("Dropout", ["h"], ["d"], ratio=0.5, name="b"),
        helper.make_node("Unsqueeze", ["d"], ["u"], axes=[0], name="c"),
        helper.make_node("Squeeze", ["u"], ["s"], axes=[0], name="d"),
        helper.make_node("Softmax", ["s"], ["y"], axis=1, name="e"),
    ]
    proto = model(nodes, {"w": W}, 7, {"x": (1, [2, 8]), "w": (1, [8, 8])}, ir_version=3)
    captured = capture(proto)
    assert [v.name for v in captured.graph.inputs] == ["x"]
    onnx.checker.check_model(ir.to_proto(captured))
    runs_like(captured, proto, X)


def test_pad_of_opset_6_style_in_old_ir_is_raised() -> None:
    proto = model(
        [helper.make_node("Pad", ["x"], ["y"], pads=[0, 1, 0, 1])],
        None,
        7,
        {"x": (1, [2, 8])},
        ir_version=3,
    )
    captured = capture(proto)
    assert ReferenceEvaluator(ir.to_proto(captured)).run(None, X)[0].shape == (2, 10)


def test_metadata_survives_the_version_converter() -> None:
    node = helper.make_node("Dropout", ["x"], ["y"], ratio=0.5, name="drop")
    node.metadata_props.add(key=SOURCE, value="net.py:7")
    proto = model([node], None, 9)
    proto.metadata_props.add(key="pteron.state", value="{}")
    captured = capture(proto)
    assert (
        next(n for n in captured.graph if n.op_type == "Dropout").metadata_props[SOURCE]
        == "net.py:7"
    )
    assert captured.metadata_props["pteron.state"] == "{}"


@pytest.mark.parametrize(
    "mode, raised", [("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")]
)
def test_grid_sample_modes_are_renamed(mode: str, raised: str) -> None:
    grid = (1, [1, 3, 3, 2])
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode)
    captured = capture(model([node], None, 16, {"x": (1, [1, 1, 4, 4]), "g": grid}))
    assert captured.graph[0].attributes["mode"].value == raised


def test_group_normalization_18_gets_scale_per_channel() -> None:
    node = helper.make_node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)
    weights = {"s": np.array([2, 3], np.float32), "b": np.array([0.5, 0.25], np.float32)}
    proto = model([node], weights, 18, {"x": (1, [1, 4, 3])})
    captured = capture(proto)
    runs_like(captured, proto, {"x": np.arange(12, dtype=np.float32).reshape(1, 4, 3)})


def test_group_normalization_18_repeats_a_computed_scale() -> None:
    node = helper.make_node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)
    inputs = {"x": (1, [1, 4, 3]), "s": (1, [2]), "b": (1, [2])}
    captured = capture(model([node], None, 18, inputs))
    assert [n.op_type for n in captured.graph][-1] == "GroupNormalization"
    x = np.arange(12, dtype=np.float32).reshape(1, 4, 3) ** 2
    feeds = {"x": x, "s": np.array([2, 3], np.float32), "b": np.array([0, 1], np.float32)}
    runs_like(captured, model([node], None, 18, inputs), feeds)


def test_functions_are_inlined_and_ours_are_kept() -> None:
    body = [helper.make_node("Add", ["a", "a"], ["b"])]
    made = [
        helper.make_function(d, "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 18)])
        for d in ("other", "pteron")
    ]
    nodes = [
        helper.make_node("Twice", ["x"], ["h"], domain="other"),
        helper.make_node("Twice", ["h"], ["y"], domain="pteron"),
    ]
    proto = model(nodes)
    proto.functions.extend(made)
    proto.opset_import.extend([helper.make_opsetid("other", 1), helper.make_opsetid("pteron", 1)])
    captured = capture(proto)
    assert [(n.domain, n.op_type) for n in captured.graph] == [("", "Add"), ("pteron", "Twice")]


def test_external_data_is_mapped_not_read(tmp_path: Path) -> None:
    proto = linear()
    path = tmp_path / "linear.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    captured = capture(path)
    tensor = captured.graph.initializers["w"].const_value
    assert isinstance(tensor, ir.ExternalTensor)
    np.testing.assert_array_equal(tensor.numpy(), W)


def test_branches_may_share_value_names() -> None:
    def branch(op: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info("same", 1, None)
        return helper.make_graph([helper.make_node(op, ["x"], ["same"])], op, [], [out])

    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs")
    )
    captured = capture(model([node], None, 18, {"x": (1, [2, 8]), "c": (9, [])}))
    verify(captured, "test")
    runs_like(
        captured,
        model([node], None, 18, {"x": (1, [2, 8]), "c": (9, [])}),
        {**X, "c": np.array(True)},
    )


def test_stale_shapes_are_dropped() -> None:
    proto = linear()
    proto.graph.value_info.append(helper.make_tensor_value_info("y", 1, [77, 8]))
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [7, 8]))
    captured = capture(proto)
    assert str(captured.graph.outputs[0].shape) == "[n,8]"


def no_opset() -> onnx.ModelProto:
    proto = linear()
    del proto.opset_import[:]
    return proto


def strings() -> onnx.ModelProto:
    return model(
        [helper.make_node("Identity", ["x"], ["y"])], None, 18, {"x": (TensorProto.STRING, [2])}
    )


def sequences() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Optional", ["x"], ["e"]),
        helper.make_node("Identity", ["e"], ["y"]),
    ]
    return model(nodes)


def foreign() -> onnx.ModelProto:
    proto = model(
        [helper.make_node("BeamSearch", ["x", "x"], ["y"], domain="com.microsoft", name="fused")]
    )
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return proto


def sparse() -> onnx.ModelProto:
    proto = linear()
    values = numpy_helper.from_array(np.ones(1, np.float32), "sp")
    indices = numpy_helper.from_array(np.zeros(1, np.int64), "")
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    return proto


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: b"garbage", "expected an ONNX model"),
    (lambda: b"PK\x03\x04zip", "zip file"),
    (lambda: b"", "an empty file"),
    (lambda: b"\x10\0\0\0ORTM", "onnxruntime's own format"),
    (lambda: b"\x38\0\0\0\0\0\0\0" + b'{"w":', "weights alone"),
    (lambda: pickle.dumps({}), "a pickle"),
    (lambda: b"<!DOCTYPE html><html>", "a web page"),
    (lambda: b"\0\0\0\0TFL3", "TensorFlow Lite"),
    (no_opset, "without graph or opset"),
    (lambda: model([helper.make_node("Relu", ["x"], ["y"])], opset=5), "opset 5 is older than 6"),
    (
        lambda: model([helper.make_node("Relu", ["x"], ["y"])], opset=99),
        "opset 99 is newer than 28",
    ),
    (
        lambda: model([helper.make_node("Relux", ["x"], ["y"], name="r")]),
        "'r'.*no operator 'Relux'",
    ),
    (strings, "'x' is STRING"),
    (sequences, "'e' is sequence.*only tensors"),
    (foreign, r"'fused' \(com.microsoft.BeamSearch\)"),
    (sparse, "'sp' is sparse"),
    (lambda: model([helper.make_node("Relu", ["nothing"], ["y"])]), "'nothing'"),
    (lambda: 7, "got int"),
]


@pytest.mark.parametrize("source, text", REFUSED, ids=[t for _, t in REFUSED])
def test_refused_with_a_reason(source: Callable[[], object], text: str) -> None:
    with pytest.raises(ModelError) as error:
        capture(source())
    assert re.search(text, str(error.value)), str(error.value)


def test_every_prefix_of_a_file_is_refused_or_captured() -> None:
    data = linear().SerializeToString()
    for end in range(len(data)):
        try:
            capture(data[:end])
        except ModelError:
            continue


@pytest.mark.parametrize(
    "damage, text",
    [("missing", "is missing"), ("short", "cut off"), ("outside", "outside the model's folder")],
)
def test_damaged_external_data(tmp_path: Path, damage: str, text: str) -> None:
    proto = linear()
    path = tmp_path / "inner" / "linear.onnx"
    path.parent.mkdir()
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    data = path.parent / "w.bin"
    if damage == "missing":
        data.unlink()
    elif damage == "short":
        data.write_bytes(data.read_bytes()[:-1])
    else:
        (tmp_path / "w.bin").write_bytes(data.read_bytes())
        path.write_bytes(path.read_bytes().replace(b"w.bin", b"../w.bin"[-5:]))
        proto = onnx.load(path, load_external_data=False)
        for entry in proto.graph.initializer[0].external_data:
            if entry.key == "location":
                entry.value = "../w.bin"
        path.write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match=text):
        capture(path)


def hub_folder(tmp_path: Path, linked: str) -> Path:
    """What a model hub's cache, or a package manager that links, makes of a model with its weights beside it."""
    kept, seen = tmp_path / "blobs", tmp_path / "snapshots/1a2b/onnx"
    kept.mkdir()
    seen.mkdir(parents=True)
    onnx.save(
        linear(),
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="w.bin",
        size_threshold=0,
    )
    for name, blob in (("m.onnx", "aa"), ("w.bin", "bb")):
        (tmp_path / name).rename(kept / blob)
        if linked == "symbolic":
            (seen / name).symlink_to(Path("../../../blobs") / blob)
        else:
            os.link(kept / blob, seen / name)
    return seen / "m.onnx"


@pytest.mark.parametrize("linked", ["symbolic", "hard"])
def test_a_hub_s_cache_has_links(tmp_path: Path, linked: str) -> None:
    path = hub_folder(tmp_path, linked)
    model = capture(path)
    again = capture(model)  # as the export of several forms does
    for got in (model, again):
        weights = [v.const_value for v in got.graph.initializers.values()]
        want = {numpy_helper.to_array(t).tobytes() for t in linear().graph.initializer}
        assert {w.numpy().tobytes() for w in weights if w is not None} == want


def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path) -> None:
    path = hub_folder(tmp_path, "symbolic")
    data = path.parent / "w.bin"
    (tmp_path / "secret").write_bytes(data.read_bytes())
    data.unlink()
    data.symlink_to(tmp_path / "secret")
    with pytest.raises(ModelError, match="outside the model's folder"):
        capture(path)


@pytest.mark.parametrize(
    "files, text",
    [
        (["onnx/model.onnx", "config.json", "a/b/m.onnx"], "pass a model in it: onnx/model.onnx, a/b/m.onnx"),
        (["saved_model.pb"], "a TensorFlow SavedModel"),
        (["config.json"], r"a checkpoint of transformers \(llama\)"),
        ([f"{i}.onnx" for i in range(7)], "4.onnx and 2 more"),
        ([], "got a folder$"),
    ],
)  # fmt: skip
def test_a_folder_is_told_apart(tmp_path: Path, files: list[str], text: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"model_type": "llama"}')
    with pytest.raises(IsADirectoryError, match=text):
        capture(tmp_path)


def test_args_belong_to_torch_modules() -> None:
    with pytest.raises(ModelError, match="describe a torch module"):
        capture(linear(), args=(1,))


def test_opset_6_slopes_belong_to_channels() -> None:
    slope = np.array([0.1, 0.2, 0.3], np.float32)
    node = helper.make_node("PRelu", ["x", "s"], ["y"])
    captured = capture(model([node], {"s": slope}, 6, {"x": (1, [1, 3, 4])}, ir_version=3))
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(1, 3, 4)
    (got,) = ReferenceEvaluator(ir.to_proto(captured)).run(None, {"x": x})
    np.testing.assert_allclose(got, np.where(x < 0, x * slope[None, :, None], x))
