"""How many layers of how many are quantized, and why the others are not: in reports, on the console, as a warning."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.cli.wrote import layers
from pteron.export.graph import infer, proto
from pteron.export.graph.text import onnx_text
from pteron.quantize.recipe.coverage import Coverage, Left, coverage
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.recipe.units import units
from pteron.quantize.report import LayerReport, QuantReport

RNG = np.random.default_rng(0)


def w(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X = {"x": "f32[1, 3, 8, 8]", "w": w(4, 3, 3, 3)}
M = {"m": "f32[2, 8]", "v": w(8, 8)}
REASONS = {
    "y = Conv(x, w)": (X, None),
    "y = Conv(x, w, Expand(b, [4]))": (X | {"b": "f32[1]"}, "their bias is computed"),
    "y = Conv(x, Mul(w, s))": (X | {"s": "f32[]"}, "their weight is computed"),
    "y = ConvTranspose(x, t)": ({"x": X["x"], "t": w(3, 4, 3, 3)}, "ConvTranspose is not quantized"),
    "y = MatMul(m, v)": (M, None),
    "y = MatMul(m, Transpose(m, perm=[1, 0]))": (M | {}, ...),
    "y = MatMul(v, n)": ({"v": M["v"], "n": "f32[8, 2]"}, "their weight stands first in the MatMul"),
    "y = MatMul(m, h)": ({"m": "f16[2, 8]", "h": w(8, 8).astype(np.float16)}, "their weight is float16, not f32"),
    "y = MatMul(m, c)": ({"m": "f32[3, 2, 8]", "c": w(3, 8, 8)}, "their weight has 3 axes, not 2"),
    "y = Gemm(m, v, alpha=2.0)": (M, "the integer Gemm has no such attributes or types"),
    "y = Gemm(m, v, q)": (M | {"q": w(2, 8)}, "their bias is not one number a channel in f32"),
    "y = Gather(v, i)": ({"v": M["v"], "i": "i64[3]"}, "int8 activations have no tables"),
}  # fmt: skip


@pytest.mark.parametrize("text", REASONS)
def test_why_a_layer_stays(text: str) -> None:
    given, why = REASONS[text]
    used = {
        k: a for k, a in given.items() if f"({k}" in text or f" {k}," in text or f" {k})" in text
    }
    model = onnx_text(text, **used)
    infer(model)
    plan, _ = units(model, recipe("int8"))
    found = coverage(model, "int8", {unit.head for unit in plan}, (), static=True)
    assert found.layers == (why is None)
    assert list(found.reasons) == ([] if why in (None, ...) else [why])


def test_a_text_tells_how_many_of_how_many() -> None:
    rows = [Left(f"l{i}", "Conv", 50, "their bias is computed") for i in range(2)]
    found = Coverage("int8", 19, 900, (*rows, Left("t", "LSTM", 1, "LSTM is not quantized")))
    assert found.text == (
        "int8: 19 of 22 layers; the others because their bias is computed (2), LSTM is not quantized (1)"
    )
    assert found.warning is not None and found.warning.startswith("10% of the weights")
    assert Coverage("int8", 19, 900, tuple(rows)).warning is None  # a tenth
    ruled = tuple(Left(f"l{i}", "Conv", 50, "a rule leaves them out") for i in range(9))
    assert Coverage("int8", 1, 1, ruled).warning is None


def mixed() -> object:
    """A Conv, and a ConvTranspose that has most of the weights."""
    text = "a = Conv(x, w); b = Relu(a); y = ConvTranspose(b, t)"
    return onnx_text(text, x="f32[1, 3, 8, 8]", w=w(4, 3, 3, 3), t=w(4, 16, 3, 3))


@pytest.mark.parametrize("format", ["int8", "nf4", "static"])
def test_an_export_says_what_it_leaves(format: str, tmp_path: Path) -> None:
    more = {"calibrate": {"x": w(4, 3, 8, 8)}} if format == "static" else {}
    name = "int8" if format == "static" else format
    with pytest.warns(
        pteron.QuantWarning, match=f"of the weights stay as they are; {name}: 1 of 2 layers"
    ):
        report = pteron.export_model(mixed(), tmp_path / "m.pte", quantize=name, **more)
    line = (
        f"layers       {name}: 1 of 2 layers; the others because ConvTranspose is not quantized (1)"
    )
    assert line in report.as_text()
    (facts,) = report.as_dict()["coverage"]
    assert (facts["layers"], facts["of"]) == (1, 2)
    assert [row["why"] for row in facts["left"]] == ["ConvTranspose is not quantized"]


def test_what_a_rule_leaves_out_is_no_warning(tmp_path: Path) -> None:
    model = onnx_text("y = MatMul(MatMul(m, v), u)", m="f32[2, 8]", v=w(8, 8), u=w(8, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = pteron.export_model(
            model, tmp_path / "m.pte", quantize=recipe("nf4", {"u": "skip"})
        )
    assert report.coverage[0]["reasons"] == {"a rule leaves them out": 1}


@pytest.mark.parametrize("command", ["export", "quantize .pte", "quantize .onnx"])
def test_commands_say_it_too(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pteron.cli import main

    path, (verb, _, suffix) = tmp_path / "m.onnx", command.partition(" ")
    path.write_bytes(proto(mixed()).SerializeToString())  # type: ignore[arg-type]
    how = ["--quantize" if verb == "export" else "--format", "nf4"]
    assert (
        main(
            [verb, str(path), "-o", str(tmp_path / f"out{suffix or '.pte'}"), *how, "-q", "--json"]
        )
        == 0
    )
    printed = capsys.readouterr()
    assert "pteron: warning: " in printed.err and "nf4: 1 of 2 layers" in printed.err
    facts = json.loads(printed.out)["coverage"]
    assert (facts[0] if verb == "export" else facts)["of"] == 2
    assert main([verb, str(path), "-o", str(tmp_path / f"two{suffix or '.pte'}"), *how, "-q"]) == 0
    assert "nf4: 1 of 2 layers; the others because" in capsys.readouterr().out


def test_nothing_to_quantize_says_why(tmp_path: Path) -> None:
    model = onnx_text("y = Conv(x, Mul(w, s))", x="f32[1, 3, 8, 8]", w=X["w"], s="f32[]")
    samples = [{"x": w(1, 3, 8, 8), "s": np.float32(1)}]
    with pytest.raises(
        pteron.QuantError,
        match=r"got none \(int8: 0 of 1 layer; the others because their weight is",
    ):
        pteron.export_model(model, tmp_path / "m.pte", quantize="int8", calibrate=samples)


def test_a_mix_says_how_many_layers_have_which_format() -> None:
    rows = [
        LayerReport(str(i), "MatMul", name, (2, 32), 4.0, 0.0, 1.0, 0.0)
        for i, name in enumerate(["nf4", "int8", "int8"])
    ]
    report = QuantReport("nf4", rows, coverage=Coverage("2 int8, 1 nf4", 3, 192, ()))
    assert report.as_text().startswith("2 int8, 1 nf4: 3 layers")
    assert layers(report) == "3 of 3 layers: 2 int8, 1 nf4"
    report = QuantReport("nf4", rows[:1], coverage=Coverage("nf4", 1, 64, ()))
    assert layers(report) == "1 of 1 layers in nf4"


@pytest.mark.parametrize(
    ("auto", "pads"), [("SAME_UPPER", [0, 0, 1, 1]), ("SAME_LOWER", [1, 1, 0, 0])]
)
def test_padding_that_a_run_decides(auto: str, pads: list[int], tmp_path: Path) -> None:
    """As TensorFlow's converters leave it where sizes are unknown; of even sizes these are the pads."""
    rng = np.random.default_rng(0)
    w = {
        "v": rng.standard_normal((8, 3, 3, 3)).astype(np.float32),
        "w": rng.standard_normal((4, 8, 3, 3)).astype(np.float32),
    }
    samples = [
        {"x": rng.standard_normal((1, 3, 32 + 4 * i, 24)).astype(np.float32)} for i in range(2)
    ]
    results = []
    for how in (f"auto_pad='{auto}'", f"pads={pads}"):
        a = f"Relu(Conv(x, v, {how}, strides=[2, 2]))"
        b = f"MaxPool({a}, kernel_shape=[2, 2], auto_pad='{auto}')"
        text = f"y = Conv({b}, w, {how}, strides=[2, 2])"
        source = onnx_text(text, x="f32[1, 3, h, k]", **w)
        report = pteron.export_model(source, tmp_path / "m.pte", quantize="int8", calibrate=samples)
        assert report.coverage[0]["text"] == "int8: 2 of 2 layers"
        model = pteron.load(tmp_path / "m.pte", threads=1)
        results.append([model.run(feeds)["y"].tobytes() for feeds in samples])
    assert results[0] == results[1]
