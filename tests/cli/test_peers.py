"""`pteron bench --vs` beside LiteRT, on files of its own."""

from __future__ import annotations

import json
from pathlib import Path

import flatbuffers
import numpy as np
import onnx
import pytest
from ai_edge_litert import schema_py_generated as tfl

import pteron
from pteron.cli import main, peers
from pteron.schema.errors import ArgumentError


def sum_of_two(shapes: list[list[int]], names: list[str]) -> bytes:
    """A .tflite of y = a + b, f32."""
    model, graph = tfl.ModelT(), tfl.SubGraphT()
    model.version, model.buffers = 3, [tfl.BufferT()]
    graph.tensors = []
    for shape, name in zip([*shapes, shapes[0]], [*names, "y"]):
        tensor = tfl.TensorT()
        tensor.shape, tensor.name, tensor.buffer, tensor.type = shape, name, 0, 0
        graph.tensors.append(tensor)
    add, code = tfl.OperatorT(), tfl.OperatorCodeT()
    add.inputs, add.outputs = [0, 1], [2]
    add.builtinOptionsType, add.builtinOptions = tfl.BuiltinOptions.AddOptions, tfl.AddOptionsT()
    code.builtinCode, code.version = tfl.BuiltinOperator.ADD, 1
    graph.inputs, graph.outputs, graph.operators = [0, 1], [2], [add]
    model.subgraphs, model.operatorCodes = [graph], [code]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def saved(folder: Path, shapes: list[list[int]], names: list[str]) -> Path:
    path = folder / "sum.tflite"
    path.write_bytes(sum_of_two(shapes, names))
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    value = onnx.helper.make_tensor_value_info
    ports = [value(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "aby"]
    node = onnx.helper.make_node("Add", ["a", "b"], ["y"])
    graph = onnx.helper.make_graph([node], "g", ports[:2], ports[2:])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10
    )
    onnx.save(model, tmp_path / "sum.onnx")
    pteron.export_model(tmp_path / "sum.onnx", tmp_path / "sum.pte")
    return tmp_path / "sum.pte"


def test_litert_takes_turns(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = saved(tmp_path, [[2, 3], [2, 3]], ["a", "b"])
    rivals = f"litert={other},onnxruntime={tmp_path / 'sum.onnx'}"
    assert main(["bench", str(program), "--runs", "2", "--vs", rivals, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report["latency_ms"]) == {"pteron", "litert", "onnxruntime"}
    for peer in report["peers"].values():
        assert peer["difference"] < 1e-6 and peer["ratio"] > 0 and peer["version"]


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"], ["first", "second"]])
def test_litert_s_inputs_go_by_name_or_in_order(names: list[str], tmp_path: Path) -> None:
    a, b = np.float32([[1, 2]]), np.float32([[-0.0, 40]])
    path = saved(tmp_path, [[1, 2], [1, 2]], names)
    (y,) = peers.peer("litert", path, {"a": a, "b": b}, 1)()
    np.testing.assert_array_equal(y, a + b)


def test_litert_s_images_have_channels_last(tmp_path: Path) -> None:
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    path = saved(tmp_path, [[1, 3, 4, 2], [1, 3, 4, 2]], ["x", "z"])
    (y,) = peers.peer("litert", path, {"x": image, "z": image}, 1)()
    np.testing.assert_array_equal(y, 2 * image.transpose(0, 2, 3, 1))


@pytest.mark.parametrize(
    "given, why",
    [
        ({"a": np.zeros((1, 2), np.float32)}, "expected 2 inputs, got 1"),
        ({n: np.zeros((1, 3), np.float32) for n in "ab"}, r"input a: expected float32 \[1, 2\]"),
        ({n: np.zeros((1, 2), np.int64) for n in "ab"}, "got int64"),
    ],
)
def test_inputs_that_litert_does_not_take(
    given: dict[str, np.ndarray], why: str, tmp_path: Path
) -> None:
    path = saved(tmp_path, [[1, 2], [1, 2]], ["a", "b"])
    with pytest.raises(ArgumentError, match=f"sum.tflite: litert refuses: .*{why}"):
        peers.peer("litert", path, given, 1)


def test_no_model_of_litert_s(program: Path) -> None:
    with pytest.raises(ArgumentError, match="litert refuses"):
        peers.peer("litert", program, {}, 1)
