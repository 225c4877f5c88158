"""Programs with inputs, and the outputs that this binding computes, as files that other bindings read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from models.decoder import VOCABULARY, decoder
from onnx import TensorProto, helper

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Method, Port, Program, State, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.runtime import Sampler
from pteron.schema.dtypes import name_of, to_stored
from pteron.schema.steps import Step

N = Dim("n", min=0, max=512, hint=8)
ADD = (
    Step("load", "f32", 0),
    Step("load", "f32", 1, arg=1),
    Step("add", "f32", 2, (0, 1)),
    Step("store", "f32", args=(2,)),
)


def write(root: Path, folder: Path) -> None:
    """Everything that the tests of bindings/java open."""
    digits(root, folder)
    models(folder)
    text(folder)
    hand_written(folder)


def case(folder: Path, name: str, label: object, feeds: Mapping[str, Any]) -> None:
    """NAME@LABEL.case: a line for each input and output, with the file of its bytes."""
    with pteron.load(folder / f"{name}.pte", threads=1, delegates=()) as model:
        results = model.run(feeds)
    lines = []
    for kind, arrays in (("input", feeds), ("output", results)):
        for port, array in arrays.items():
            value, file = np.asarray(array), f"{name}@{label}.{kind}.{port}"
            stored = to_stored(value, name_of(value.dtype))
            (folder / file).write_bytes(stored.tobytes())
            shape = "".join(f" {n}" for n in value.shape)
            lines.append(f"{kind} {port} {name_of(value.dtype)} {file}{shape}\n")
    (folder / f"{name}@{label}.case").write_text("".join(lines))


def digits(root: Path, folder: Path) -> None:
    source = root / "examples/digits/digits.onnx"
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    static: dict[str, Any] = {"quantize": "int8", "calibrate": {"image": images}}
    ways: dict[str, dict[str, Any]] = {
        "digits": {},
        "digits-nf4": {"quantize": "nf4"},
        "digits-int8": static,
        "delegated": static | {"fix": {"batch": 1}, "delegates": "hexagon,cpu"},
        "forbids": static
        | {"fix": {"batch": 1}, "delegates": "hexagon,cpu", "placement": "forbid"},
    }
    for name, options in ways.items():
        pteron.export_model(source, folder / f"{name}.pte", **options)
        for count in (1,) if "fix" in options else (1, 16):
            if name != "forbids":
                case(folder, name, count, {"image": images[:count]})


def text(folder: Path) -> None:
    """A decoder with a context, and the logits of a prompt in one run."""
    pteron.export_model(decoder(window=5), folder / "decoder.pte", max_context=32, logits="all")
    tokens = np.random.default_rng(7).integers(0, VOCABULARY, (1, 12))
    logits = pteron.load(folder / "decoder.pte", threads=1).run({"input_ids": tokens})["logits"]
    (folder / "decoder.tokens").write_bytes(tokens.tobytes())
    (folder / "decoder.logits").write_bytes(logits.tobytes())
    rows = [
        " ".join(map(str, [*how.values(), at, draw(how, logits[0, -1], at)]))
        for how in DRAWS
        for at in (0, 5, 2**40)
    ]
    (folder / "decoder.draws").write_text("\n".join(rows))


DRAWS = (
    {"temperature": 0.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 0, "stream": 0},
    {"temperature": 0.75, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 2**63 + 5, "stream": 1},
    {"temperature": 1.5, "top_k": 7, "top_p": 0.875, "min_p": 0.0, "seed": 3, "stream": 2**40},
    {"temperature": 4.0, "top_k": 0, "top_p": 1.0, "min_p": 0.125, "seed": 4, "stream": 0},
)


def draw(how: dict[str, Any], logits: np.ndarray, position: int) -> int:
    return int(Sampler(pteron.Sampling(**how))(logits, position))


def models(folder: Path) -> None:
    """Extents that the data decides, values that decide extents, narrow elements."""
    info, node = helper.make_tensor_value_info, helper.make_node
    nonzero = helper.make_graph(
        [node("NonZero", ["x"], ["y"])],
        "nonzero",
        [info("x", TensorProto.FLOAT, ["n"])],
        [info("y", TensorProto.INT64, [1, "count"])],
    )
    expand = helper.make_graph(
        [node("Expand", ["x", "shape"], ["y"])],
        "expand",
        [info("x", TensorProto.FLOAT, [1]), info("shape", TensorProto.INT64, [2])],
        [info("y", TensorProto.FLOAT, ["a", "b"])],
    )
    narrow = helper.make_graph(
        [node("Identity", ["x"], ["y"]), node("Identity", ["h"], ["z"])],
        "narrow",
        [info("x", TensorProto.INT4, [5]), info("h", TensorProto.BFLOAT16, [3])],
        [info("y", TensorProto.INT4, [5]), info("z", TensorProto.BFLOAT16, [3])],
    )
    for graph in (nonzero, expand, narrow):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.checker.check_model(model)
        pteron.export_model(model, folder / f"{graph.name}.pte")
    case(folder, "nonzero", "some", {"x": np.array([0, 3, 0, -1, 0], np.float32)})
    case(folder, "nonzero", "none", {"x": np.zeros(4, np.float32)})
    for rows in (3, 5):
        feeds = {"x": np.array([2.5], np.float32), "shape": np.array([rows, 4], np.int64)}
        case(folder, "expand", rows, feeds)
    packed = np.array([1, -8, 7, 0, -1]).astype(ml_dtypes.int4)
    feeds = {"x": packed, "h": np.array([1.5, -2, np.inf], ml_dtypes.bfloat16)}
    case(folder, "narrow", "all", feeds)


def program(folder: Path, name: str, values: list[Value], blocks: list[Block], **more: Any) -> None:
    inputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "input")
    outputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "output")
    method = Method("main", inputs, outputs, (0, len(values)), 0)
    made = Program("test", values=tuple(values), blocks=tuple(blocks), methods=(method,), **more)
    (folder / f"{name}.pte").write_bytes(emit_bytes(plan(made)))


def hand_written(folder: Path) -> None:
    """A state that sums, a loop without an end, a gather whose indices may be wrong, one long name of many axes."""
    n = symbol(N)
    values = [
        Value("x", "f32", (n,), "input", 0),
        Value("sum", "f32", (5,), "state", 0),
        Value("y", "f32", (5,), "output", 0),
        Value("", "f32", (5,), "view", 0),
    ]
    sums = Block((Instr("pointwise", (3, 1), (2,), {"steps": ADD}), Instr("copy", (2,), (1,))))
    program(folder, "states", values, [sums], dims=(N,), states=(State("sum", "f32", (5,)),))
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("go", "bool", (), "input", 1),
        Value("y", "f32", (4,), "output", 0),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (4,), "param"),
    ]
    loop = Block((Instr("loop", (None, 1, 0), (2,), {"body": 1}),))
    program(folder, "endless", values, [loop, Block((), (3, 4), (1, 0))])
    values = [
        Value("x", "f32", (5,), "input", 0),
        Value("i", "i64", (3,), "input", 1),
        Value("y", "f32", (3,), "output", 0),
    ]
    program(folder, "gather", values, [Block((Instr("gather", (0, 1), (2,)),))])
    long = Dim("d" * 50_000, min=1, max=64, hint=4)
    shape, count = (symbol(long),) * 8, 50
    values = [Value(f"x{i}", "f32", shape, "input", i) for i in range(count)]
    values.append(Value("y", "f32", shape, "output", 0))
    program(folder, "names", values, [Block((Instr("copy", (0,), (count,)),))], dims=(long,))
