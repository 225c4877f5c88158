"""What errors of the runtime say beyond their kind: which node of the model they are about."""

from __future__ import annotations

import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from program import samples

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import DebugNode
from pteron.runtime.program import Program


def gather(path: Path, name: str) -> Path:
    """y = table[i], a node of that name."""
    info = helper.make_tensor_value_info
    table = helper.make_tensor("table", TensorProto.FLOAT, [4, 2], list(range(8)))
    node = helper.make_node("Gather", ["table", "i"], ["y"], name=name)
    ports = [info("i", TensorProto.INT64, ["n"])], [info("y", TensorProto.FLOAT, ["n", 2])]
    graph = helper.make_graph([node], "g", *ports, [table])
    onnx_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(onnx_model)
    pteron.export_model(onnx_model, path)
    return path


def test_a_failed_run_names_the_node(tmp_path: Path) -> None:
    model = pteron.load(gather(tmp_path / "g.pte", "embed.table"))
    with pytest.raises(pteron.DataError, match=r"got 9.*\[node embed\.table\]$"):
        model(np.array([1, 9]))


def test_sizes_that_no_memory_has_name_the_node(tmp_path: Path) -> None:
    """[n, 1] + [1, n], and a view of it: at prepare no instruction runs yet."""
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Add", ["x", "y"], ["s"], name="mix.outer"),
        helper.make_node("ReduceMax", ["s"], ["z"], name="mix.most", keepdims=0),
    ]
    ports = [info("x", TensorProto.FLOAT, ["n", 1]), info("y", TensorProto.FLOAT, [1, "n"])]
    graph = helper.make_graph(nodes, "g", ports, [info("z", TensorProto.FLOAT, [])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(made, tmp_path / "m.pte")
    session = pteron.load(tmp_path / "m.pte", threads=1).session()
    for n in (1 << 21, (1 << 31) - 1):
        with pytest.raises(pteron.LimitError, match=r"2\^40 elements \[node mix\.outer\]$"):
            session.prepare({"x": (n, 1), "y": (1, n)})
    assert session.prepare({"x": (2, 1), "y": (1, 2)}).planned_bytes >= 16


def test_of_a_long_name_the_end_is_shown(tmp_path: Path) -> None:
    name = "/".join(f"layers.{i}" for i in range(40)) + "/gather"
    model = pteron.load(gather(tmp_path / "g.pte", name))
    with pytest.raises(pteron.DataError, match=r"got 9.*\[node \.\.\..*layers\.39/gather\]$"):
        model(np.array([9]))


def test_a_node_without_a_name_is_not_named(tmp_path: Path) -> None:
    model = pteron.load(gather(tmp_path / "g.pte", ""))
    with pytest.raises(pteron.DataError, match="got 9") as caught:
        model(np.array([9]))
    assert "[node ]" not in str(caught.value)


def refused(name: str) -> str:
    """What opening says of a file whose second instruction, made from the node of that name, reads f32 as a bool."""
    program = samples.SAMPLES["pointwise"]()
    (block,) = program.blocks
    first, second = block.instrs
    spoilt = dataclasses.replace(second, attrs={"steps": samples.unary("not")})
    program = dataclasses.replace(
        program,
        blocks=(dataclasses.replace(block, instrs=(first, spoilt)),),
        nodes=(program.nodes[0], DebugNode(name, "Tanh")),
    )
    with pytest.raises(pteron.ProgramError) as caught:
        Program(emit_bytes(plan(program)), delegates=())
    return str(caught.value)


def test_a_refused_instruction_names_its_node() -> None:
    assert re.search(r"instrs\[1\]\.steps\[1\].*\[node mix\.second\]$", refused("mix.second"))


def test_the_name_of_a_refused_instruction_is_data() -> None:
    """Bytes that a terminal heeds are not repeated, and of a long name the end is shown."""
    assert refused("\x1b[2J\n\u00e9t\u00e9").endswith(" [node ?[2J???t??]")
    assert refused("layer." * 100 + "tanh").endswith("layer.tanh]")
    assert "[node" not in refused("")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("none.pte", FileNotFoundError, "no such file"),
        ("", IsADirectoryError, "expected a file, got a folder"),
        ("text/x.pte", NotADirectoryError, "no such file: a part of the path is no folder"),
        ("none.onnx", FileNotFoundError, "no such file"),
        ("none.pt2", FileNotFoundError, "no such file"),
        ("text/x.onnx", NotADirectoryError, "no such file: a part of the path is no folder"),
    ],
)
def test_a_name_of_no_file_is_an_error_of_pteron_and_pythons_own(
    tmp_path: Path, name: str, kind: type[OSError], words: str
) -> None:
    (tmp_path / "text").write_text("text")
    path = tmp_path / name
    with pytest.raises(kind) as caught:
        if path.suffix in (".onnx", ".pt2"):
            pteron.export_model(path, tmp_path / "out.pte")
        else:
            pteron.load(path)
    error = caught.value
    assert isinstance(error, pteron.FileError) and isinstance(error, pteron.ArgumentError)
    assert (str(error), error.filename) == (f"{path}: {words}", str(path)) and error.errno
    assert isinstance(pickle.loads(pickle.dumps(error)), kind)


def test_other_doors_for_files_say_it_alike(digits: Path, root: Path, tmp_path: Path) -> None:
    model, out, none = root / "examples/digits/digits.onnx", tmp_path / "o.pte", tmp_path / "none"
    for call in (
        lambda: pteron.load(digits, externals={"a": none}),
        lambda: pteron.export_model(model, none / "o.pte"),
        lambda: pteron.export_model(
            model, out, quantize="int8", calibrate=none.with_suffix(".npz")
        ),
        lambda: pteron.export_model(model, out, weights=none.with_suffix(".gguf")),
    ):
        with pytest.raises(pteron.FileError, match=f"^{re.escape(str(none))}.*: no such"):
            call()
    assert not out.exists()
