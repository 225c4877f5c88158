"""Quantized models: other runtimes open what we write, and our runtime computes exactly what it means."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from encoders import ENCODERS
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.export.file.read import read
from pteron.quantize.encode import blocks
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.quantize import quantize_model
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.write.apply import OPSET
from pteron.schema.activations import CHOICES
from pteron.schema.errors import ArgumentError, QuantError, RecipeError
from pteron.schema.formats import FORMATS as STORED

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


EACH = pytest.mark.parametrize("name", [fmt.name for fmt in ENCODERS])


@pytest.fixture(scope="module")
def images(root: Path) -> np.ndarray:
    return (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)


@EACH
def test_the_model_declares_the_lowest_opset_that_has_its_types(
    name: str, root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "q.onnx"
    source = root / "examples/digits/digits.onnx"
    assert main(["quantize", str(source), "-o", str(out), "--format", name, "-q"]) == 0
    model = onnx.load(out)
    onnx.checker.check_model(model)
    assert {o.domain: o.version for o in model.opset_import}[""] == max(20, OPSET[name])


@pytest.mark.parametrize(
    "name",
    [
        "int8",
        "int4",
        "fp8-e4m3",
        "nf4",
        "int4-sym-g16",
        "int4-asym-g64",
        "int3-asym",
        "fp8-e5m2",
        "nf4-e4m3",
    ],
)
def test_onnxruntime_opens_it_and_agrees(
    name: str, root: Path, tmp_path: Path, images: np.ndarray
) -> None:
    out, pte = tmp_path / "q.onnx", tmp_path / "q.pte"
    source = str(root / "examples/digits/digits.onnx")
    assert main(["quantize", source, "-o", str(out), "--format", name, "-q"]) == 0
    exact = ("--activations", "float")
    assert main(["quantize", source, "-o", str(pte), "--format", name, "-q", *exact]) == 0
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    want = ort.InferenceSession(str(out), options).run(None, {"image": images})[0]
    got = pteron.load(pte, threads=1)(images)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize(
    "name", ["mxfp8", "mxfp8-e5m2", "mxfp6", "mxfp6-e3m2", "mxfp4", "mxint8", "nvfp4", "int2-asym"]
)
def test_the_reference_evaluator_agrees(
    name: str, root: Path, tmp_path: Path, images: np.ndarray
) -> None:
    out, pte = tmp_path / "q.onnx", tmp_path / "q.pte"
    source = str(root / "examples/digits/digits.onnx")
    assert main(["quantize", source, "-o", str(out), "--format", name, "-q"]) == 0
    exact = ("--activations", "float")
    assert main(["quantize", source, "-o", str(pte), "--format", name, "-q", *exact]) == 0
    want = ReferenceEvaluator(str(out)).run(None, {"image": images[:20]})[0]
    got = pteron.load(pte, threads=1)(images[:20])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("mode", ["auto", "float"])
@EACH
def test_portable_code_and_threads_give_the_same_bytes(
    name: str, mode: str, root: Path, tmp_path: Path, images: np.ndarray
) -> None:
    pte = tmp_path / "q.pte"
    pteron.export_model(root / "examples/digits/digits.onnx", pte, quantize=name, activations=mode)
    runs = [pteron.load(pte, threads=t, cpu=c)(images) for t, c in ((1, None), (3, None), (2, 0))]
    assert runs[0].tobytes() == runs[1].tobytes() == runs[2].tobytes()


def test_an_embedding_is_read_from_its_codes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((40, 64)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["y"])],
        "embed",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 64])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    wanted = recipe("nf4", embeddings=True)
    pteron.export_model(model, tmp_path / "e.pte", quantize=wanted)
    ids = np.array([0, 39, 7, 7], np.int64)
    got = pteron.load(tmp_path / "e.pte", threads=1)(ids)
    quantized, _ = quantize_model(capture_onnx(model, opset=21), wanted)
    import onnx_ir as ir

    want = ReferenceEvaluator(ir.to_proto(quantized)).run(None, {"ids": ids})[0]
    np.testing.assert_array_equal(got, want)


def test_rules_choose_and_idle_rules_are_refused(root: Path) -> None:
    model = capture_onnx(root / "examples/digits/digits.onnx", opset=21)
    _, report = quantize_model(model, recipe("nf4", {"head": "skip", "^first": "int8"}))
    assert report.skipped == ["head"]
    assert {r.name: r.format for r in report.layers}["first.0"] == "int8"
    again = capture_onnx(root / "examples/digits/digits.onnx", opset=21)
    with pytest.raises(QuantError, match="decides no layer"):
        quantize_model(again, recipe("nf4", {"nothing": "int8"}))
    with pytest.raises(QuantError, match="expected one of int8, nf4"):
        recipe("q4_k_m")


@pytest.mark.parametrize("name", ["nf4", "mxfp4", "mxfp6", "int8", "int4"])
def test_int8_activations_stay_near_the_exact_result(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    w = rng.standard_normal((128, 80)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 128])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 80])],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = rng.standard_normal((5, 128)).astype(np.float32)
    results = []
    for mode in ("float", "int8-block"):
        pteron.export_model(model, tmp_path / "p.pte", quantize=name, activations=mode)
        runs = [
            pteron.load(tmp_path / "p.pte", threads=t, cpu=c)(x) for t, c in ((1, None), (2, 0))
        ]
        assert runs[0].tobytes() == runs[1].tobytes()
        results.append(runs[0])
    error = np.abs(results[1] - results[0]).max() / np.abs(results[0]).max()
    assert 0 < error < 0.02


@EACH
def test_by_default_each_format_has_its_own_arithmetic_and_the_file_says_which(
    name: str, root: Path, tmp_path: Path
) -> None:
    reports: list[QuantReport] = []
    source, pte = root / "examples/digits/digits.onnx", tmp_path / "q.pte"
    report = pteron.export_model(source, pte, quantize=name, quantized=reports.append)
    stored = FORMATS[name].stored
    gemm = "i8_channel" if STORED[stored].row == "q8_0" else stored  # of rows that are one group
    of_gemm = "int8-block" if STORED[gemm].dot else "float"
    want = {"Conv": "float", "Gemm": of_gemm}
    assert {(p.operator, p.activations) for p in report.products} == set(want.items())
    assert [(r.operator, r.activations) for r in reports[0].layers] == [
        (r.operator, want[r.operator]) for r in reports[0].layers
    ]
    told = read(pte.read_bytes()).activations  # rows of one group may have a name of another group
    assert ("int8-block: " in told, "float: " in told) == (of_gemm == "int8-block", True)
    assert stored in re.split("[:;,] ?", told.replace(" ", ""))


def test_modes_are_asked_for_by_name(root: Path, tmp_path: Path) -> None:
    source = root / "examples/digits/digits.onnx"
    pteron.export_model(source, tmp_path / "q.pte", quantize="nf4", activations="float")
    assert read((tmp_path / "q.pte").read_bytes()).activations == "float: nf4"
    report = pteron.export_model(source, quantize="mxfp8", activations="int8-block")
    assert any("Gemm with mxfp8 weights has no sums in integers" in note for note in report.notes)
    with pytest.raises(ArgumentError, match=f"expected {', '.join(CHOICES)}, got 'fast'"):
        pteron.export_model(source, quantize="nf4", activations="fast")


@pytest.mark.parametrize(
    ("old", "new"), [("exact", "float"), ("turned", "int8-token"), ("int16", "int16-static")]
)
def test_an_old_word_names_the_new_one(old: str, new: str, root: Path) -> None:
    source = root / "examples/digits/digits.onnx"
    with pytest.raises(ArgumentError, match=f"got '{old}'; it is called {new}"):
        pteron.export_model(source, activations=old)
    with pytest.raises(RecipeError, match=f"it is called {new}"):
        recipe("int8", activations=old)


def test_a_recipe_and_an_option_say_the_same_activations(root: Path, tmp_path: Path) -> None:
    source, block = root / "examples/digits/digits.onnx", recipe("nf4", activations="int8-block")
    with pytest.raises(ArgumentError, match="activations float: the recipe says int8-block; drop"):
        pteron.export_model(source, quantize=block, activations="float")
    for name, said in (("a.pte", {}), ("b.pte", {"activations": "int8-block"})):
        pteron.export_model(source, tmp_path / name, quantize=block, **said)
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "b.pte").read_bytes()


@pytest.mark.parametrize("rounded", [False, True])
def test_static_activations_that_nothing_has_are_a_note(
    rounded: bool, root: Path, tmp_path: Path
) -> None:
    source = root / "examples/digits/digits.onnx"
    if rounded:
        pteron.quantize_model(source, tmp_path / "q.onnx", format="nf4")
        source = tmp_path / "q.onnx"
    notes = pteron.export_model(source, activations="int8-static").notes
    assert any("int8-static was asked for, but no activations are rounded" in n for n in notes)


@pytest.mark.parametrize("name", FORMATS)
def test_a_program_stores_what_was_rounded_and_computes_with_it(name: str, tmp_path: Path) -> None:
    """K is no multiple of a group."""
    w = np.random.default_rng(1).standard_normal((300, 40)).astype(np.float32)
    x = np.eye(300, dtype=np.float32)
    ports = [
        helper.make_tensor_value_info(v, TensorProto.FLOAT, s)
        for v, s in (("x", ["n", 300]), ("y", ["n", 40]))
    ]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    wanted = recipe(name, algorithm="nearest")
    pteron.export_model(model, tmp_path / "q.pte", quantize=wanted, activations="float")
    fmt = FORMATS[name]
    (constant,) = (
        c for c in read((tmp_path / "q.pte").read_bytes()).constants if c.layout == "panels"
    )
    assert constant.format == fmt.stored
    wide = np.pad(w.T, ((0, 0), (0, -300 % (fmt.block or 1))))
    decoded = blocks.decode(blocks.reference(np.ascontiguousarray(wide), fmt))[:, :300]
    np.testing.assert_array_equal(pteron.load(tmp_path / "q.pte")(x), decoded.T)
