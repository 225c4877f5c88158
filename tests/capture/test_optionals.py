"""Optionals whose element the graph tells."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import pteron
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.schema.errors import ModelError

X = helper.make_tensor_value_info("x", 1, [4])
FLOATS = helper.make_tensor_type_proto(1, [4])


def model(
    nodes: list[onnx.NodeProto], outputs: list[onnx.ValueInfoProto], given: onnx.ValueInfoProto = X
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", [given], outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_what_is_in_an_optional_is_known() -> None:
    node = helper.make_node
    nodes = [
        node("Optional", ["x"], ["full"]),
        node("Optional", [], ["empty"], type=FLOATS),
        *(node("OptionalHasElement", [n], [f"has_{n}"]) for n in ("full", "empty", "x")),
        node("OptionalHasElement", [], ["has_none"]),
        node("OptionalGetElement", ["full"], ["y"]),
        node("OptionalGetElement", ["y"], ["z"]),
    ]
    names = ("has_full", "has_empty", "has_x", "has_none")
    outputs = [helper.make_tensor_value_info(n, 9, []) for n in names]
    outputs.append(helper.make_tensor_value_info("z", 1, [4]))
    x = np.arange(4, dtype=np.float32)
    with pteron.load(emit_bytes(export(model(nodes, outputs))), threads=1) as program:
        got = program.run({"x": x})
    assert [bool(got[n]) for n in names] == [True, False, True, False]
    assert (got["z"] == x).all()


def test_what_only_a_run_knows_is_refused() -> None:
    given = helper.make_value_info("x", helper.make_optional_type_proto(FLOATS))
    nodes = [helper.make_node("OptionalHasElement", ["x"], ["y"])]
    with pytest.raises(ModelError, match="optional"):
        export(model(nodes, [helper.make_tensor_value_info("y", 9, [])], given))
