"""Errors name the `--fix` that helps, where one does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

import pteron


def model(
    nodes: list[onnx.NodeProto], shape: list[int | str], **constants: object
) -> onnx.ModelProto:
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", T.FLOAT, shape)],
        [h.make_tensor_value_info("y", T.FLOAT, None)],
        [nh.from_array(np.asarray(a), n) for n, a in constants.items()],
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 11)], ir_version=8)


def test_the_size_that_a_node_wants_as_a_number_is_named(tmp_path: Path) -> None:
    """scales = n / 3 of an axis of n + n elements: no scale of sizes."""
    nodes = [
        h.make_node("Shape", ["x"], ["s"]),
        h.make_node("Cast", ["s"], ["f"], to=T.FLOAT),
        h.make_node("Div", ["f", "c"], ["q"]),
        h.make_node("Resize", ["x", "roi", "q"], ["y"], mode="nearest"),
    ]
    source = model(nodes, ["b", "n"], c=np.array([1, 8], np.float32), roi=np.zeros(0, np.float32))
    with pytest.raises(pteron.LoweringError, match=r"--fix b=16 --fix n=16"):
        pteron.export_model(source, tmp_path / "m.pte")
    pteron.export_model(source, tmp_path / "m.pte", fix={"b": 1, "n": 16})


def test_a_node_that_no_size_helps_has_no_such_line(tmp_path: Path) -> None:
    source = model([h.make_node("RandomNormalLike", ["x"], ["y"])], ["n"])
    with pytest.raises(pteron.LoweringError) as caught:
        pteron.export_model(source, tmp_path / "m.pte")
    assert "--fix" not in str(caught.value)


def test_a_squeeze_without_axes_says_what_a_single_row_takes(tmp_path: Path) -> None:
    source = model([h.make_node("Squeeze", ["x"], ["y"])], ["b", 1, 5])
    pteron.export_model(source, tmp_path / "m.pte")
    run = pteron.load(tmp_path / "m.pte")
    assert run(np.ones((2, 1, 5), np.float32)).shape == (2, 5)
    with pytest.raises(pteron.ArgumentError, match=r"--fix b=1"):
        run(np.ones((1, 1, 5), np.float32))
    pteron.export_model(source, tmp_path / "m.pte", fix={"b": 1})
    assert pteron.load(tmp_path / "m.pte")(np.ones((1, 1, 5), np.float32)).shape == (5,)
