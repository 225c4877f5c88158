"""Weights that stay in the model's file: the same model, and bytes that are no model change nothing."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from pteron.export.capture.onnx import capture_onnx, files_of
from pteron.export.graph.save import save_onnx
from pteron.export.graph.weights import read
from pteron.export.graph.wire import without_weights
from pteron.schema.errors import ModelError

RNG = np.random.default_rng(0)


def model(weight: onnx.TensorProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 300])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    small = numpy_helper.from_array(np.ones(3, np.float32), "small")
    nodes = [
        helper.make_node("Cast", [weight.name], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "cast"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [weight, small])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8])
def test_large_weights_are_read_from_the_file_itself(tmp_path: Path, dtype: type):
    array = (RNG.standard_normal((300, 400)) * 50).astype(dtype)
    path = tmp_path / "m.onnx"
    onnx.save(model(numpy_helper.from_array(array, "w")), path)
    data = without_weights(path)
    assert data is not None and len(data) < 2000 < path.stat().st_size
    tensor = capture_onnx(path).graph.initializers["w"].const_value
    assert isinstance(tensor, ir.ExternalTensor)
    assert (read(tensor) == array).all()


def test_dims_that_are_packed_or_not_are_read_alike(tmp_path: Path):
    array = RNG.standard_normal((300, 400)).astype(np.float32)
    whole = model(numpy_helper.from_array(array, "w")).SerializeToString()
    plain, packed = b"\x08\xac\x02\x08\x90\x03", b"\x0a\x04\xac\x02\x90\x03"
    assert whole.count(plain) == 1
    (tmp_path / "a.onnx").write_bytes(whole)
    (tmp_path / "b.onnx").write_bytes(whole.replace(plain, packed))  # of the same length
    sizes = {name: len(without_weights(tmp_path / name) or b"") for name in ("a.onnx", "b.onnx")}
    assert sizes["a.onnx"] == sizes["b.onnx"] < 2000


def test_a_weight_whose_bytes_are_not_all_there_stays_for_the_parser(tmp_path: Path):
    weight = numpy_helper.from_array(RNG.standard_normal((300, 400)).astype(np.float32), "w")
    weight.raw_data = weight.raw_data[:-4]
    path = tmp_path / "m.onnx"
    onnx.save(model(weight), path)
    data = without_weights(path)
    assert data is not None and len(data) > len(weight.raw_data)


@pytest.mark.parametrize("cut", [0, 1, 5, 40, 65540, 200_000, 479_000])
def test_a_file_that_ends_early_is_refused_as_before(tmp_path: Path, cut: int):
    array = RNG.standard_normal((300, 400)).astype(np.float32)
    whole = model(numpy_helper.from_array(array, "w")).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(whole[:cut])
    with pytest.raises(ModelError):
        capture_onnx(path)


def test_a_file_cut_after_it_was_opened_says_so(tmp_path: Path):
    array = RNG.standard_normal((300, 400)).astype(np.float32)
    path = tmp_path / "m.onnx"
    onnx.save(model(numpy_helper.from_array(array, "w")), path)
    tensor = capture_onnx(path).graph.initializers["w"].const_value
    assert tensor is not None
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cut off"):
        read(tensor)


def test_bytes_that_are_no_protobuf_are_left_to_the_parser(tmp_path: Path):
    path = tmp_path / "m.onnx"
    for seed in range(50):
        path.write_bytes(np.random.default_rng(seed).bytes(70_000))
        without_weights(path)


def test_a_written_model_has_the_bytes_of_its_protobuf(tmp_path: Path):
    """Large weights are put in while the file is written; narrow types, a file's own and one in memory."""
    array = RNG.standard_normal((300, 400)).astype(np.float32)
    source = tmp_path / "m.onnx"
    onnx.save(model(numpy_helper.from_array(array, "w")), source)
    read_back = capture_onnx(source, opset=20)
    graph = read_back.graph
    codes = (RNG.integers(0, 16, (600, 400))).astype(np.uint8).astype(ml_dtypes.uint4)
    for name, made in (("codes", codes), ("f64", array.astype(np.float64))):
        tensor = ir.tensor(made, name=name)
        graph.register_initializer(ir.Value(name=name, const_value=tensor))
    held = graph.initializers["w"].const_value
    save_onnx(read_back, tmp_path / "out.onnx")
    assert graph.initializers["w"].const_value is held
    assert graph.initializers["codes"].const_value.dtype == ir.DataType.UINT4
    graph.initializers["w"].const_value = ir.Tensor(array, name="w")
    whole = ir.to_proto(read_back).SerializeToString(deterministic=True)
    assert (tmp_path / "out.onnx").read_bytes() == whole
    found = {t.name: t for t in onnx.load(tmp_path / "out.onnx").graph.initializer}
    assert (numpy_helper.to_array(found["w"]) == array).all()


def test_a_file_is_one_of_the_models_files_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = model(numpy_helper.from_array(np.zeros((300, 300), np.float32), "w"))
    onnx.save(made, tmp_path / "one.onnx")
    onnx.save(made, tmp_path / "two.onnx", save_as_external_data=True, location="w.bin")
    monkeypatch.chdir(tmp_path)
    for folder in (Path(), tmp_path):
        assert files_of(folder / "one.onnx") == [folder / "one.onnx"]
        assert {p.name for p in files_of(folder / "two.onnx")} == {"two.onnx", "w.bin"}
        assert len(files_of(folder / "two.onnx")) == 2
