"""Static int8 from end to end: calibration, the ONNX model that is written, what other runtimes and other tools' models do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from passes.static import operators, quantized, reference, run, values_of

import pteron
import pteron.export.graph as g
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.passes import run_passes
from pteron.export.passes.int8 import integer_nodes
from pteron.quantize.mixed.sensitivity import distances
from pteron.quantize.observe.calibrate import Ranges, calibrated, observe, ranges_of
from pteron.quantize.observe.grids import grid_of
from pteron.quantize.observe.samples import samples_of
from pteron.quantize.observe.statistics import Moments
from pteron.quantize.quantize import Calibration, Method, quantize_model, transformer
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import QuantReport
from pteron.schema.errors import DamagedError, QuantError

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

WEIGHT = np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def images(root: Path) -> np.ndarray:
    return (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)


@pytest.fixture(scope="module")
def samples(images: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "images.npz"
    np.savez(path, image=images)
    return path


@pytest.fixture(scope="module")
def written(root: Path, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits as `pteron quantize` writes them, with report and ranges beside."""
    folder = tmp_path_factory.mktemp("written")
    options = ["--format", "int8", "--calibrate", str(samples), "-q", "--algorithm", "nearest"]
    options += ["--report", str(folder / "report.json"), "--ranges", str(folder / "ranges.json")]
    source = str(root / "examples/digits/digits.onnx")
    assert main(["quantize", source, "-o", str(folder / "q.onnx"), *options]) == 0
    return folder


def integer_model(path: Path) -> ir.Model:
    model = run_passes(capture_onnx(path))
    assert integer_nodes(model)
    return model


def session(path: Path, plain: bool = True) -> Any:
    options = ort.SessionOptions()
    if plain:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options)


DIGITS = ["Conv", "Conv", "Add", "MaxPool", "Conv", "AveragePool", "Reshape", "Linear"]


def test_onnxruntime_fuses_every_convolution(written: Path, tmp_path: Path) -> None:
    """What docs/quantize.md says of its option for int8 on x86; without it branches keep convolutions in f32."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    ort.InferenceSession(str(written / "q.onnx"), options)
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    assert kinds.count("QLinearConv") == DIGITS.count("Conv") and "Conv" not in kinds, kinds


def test_the_digits_are_integers_from_end_to_end(written: Path) -> None:
    kinds = operators(integer_model(written / "q.onnx"))
    assert kinds[0] == "QuantizeLinear" and kinds[-1] == "DequantizeLinear"
    assert [k.removeprefix("pteron.") for k in kinds[1:-1]] == DIGITS


@pytest.mark.parametrize("plain", [True, False], ids=["as written", "with ORT's int8 kernels"])
def test_onnxruntime_opens_it_and_agrees_within_a_few_steps(
    plain: bool, written: Path, images: np.ndarray
) -> None:
    proto = onnx.load(written / "q.onnx")
    onnx.checker.check_model(proto, full_check=True)
    assert {o.domain: o.version for o in proto.opset_import}[""] == 20  # the source's own
    want = session(written / "q.onnx", plain).run(None, {"image": images})[0]
    got = run(integer_model(written / "q.onnx"), {"image": images})[0]
    step = json.loads((written / "report.json").read_text())["activations"][-1]["scale"]
    assert np.abs(got - want).max() <= 3.01 * step
    assert (got.argmax(1) == want.argmax(1)).mean() >= 0.99


def test_programs_give_the_bytes_of_the_numpy_reference(
    written: Path,
    root: Path,
    tmp_path: Path,
    images: np.ndarray,
    capsys: pytest.CaptureFixture[str],
) -> None:
    want = run(integer_model(written / "q.onnx"), {"image": images})[0]
    pteron.export_model(written / "q.onnx", tmp_path / "a.pte")
    ranges = written / "ranges.json"
    source = root / "examples/digits/digits.onnx"
    done: list[QuantReport] = []
    pteron.export_model(
        source, tmp_path / "b.pte", quantize="int8", calibrate=ranges, quantized=done.append
    )
    assert {r.activations for r in done[0].layers} == {"int8-static"}
    assert main(["inspect", str(tmp_path / "b.pte")]) == 0
    assert "weights int8-static: i8" in capsys.readouterr().out
    for name in ("a", "b"):
        for threads, cpu in ((1, None), (3, None), (2, 0)):
            model = pteron.load(tmp_path / f"{name}.pte", threads=threads, cpu=cpu)
            assert model(images).tobytes() == want.tobytes()


def test_exact_mode_computes_what_q_and_dq_say(
    written: Path, tmp_path: Path, images: np.ndarray
) -> None:
    pteron.export_model(written / "q.onnx", tmp_path / "q.pte", activations="float")
    got = pteron.load(tmp_path / "q.pte", threads=1)(images)
    want = session(written / "q.onnx").run(None, {"image": images})[0]
    step = json.loads((written / "report.json").read_text())["activations"][-1]["scale"]
    steps = np.abs(got - want) / step  # a sum in another order may round the other way
    assert steps.max() <= 2.01 and (steps > 0.5).mean() < 0.01


def test_accuracy_stays(written: Path, root: Path, images: np.ndarray) -> None:
    label = np.load(root / "examples/digits/test.npz")["label"]
    exact = session(root / "examples/digits/digits.onnx").run(None, {"image": images})[0]
    got = run(integer_model(written / "q.onnx"), {"image": images})[0]
    right = [float((y.argmax(1) == label).mean()) for y in (exact, got)]
    print(f"accuracy f32 {right[0]:.4f}, static int8 {right[1]:.4f}")
    assert right[1] >= right[0] - 0.01
    assert np.abs(got - exact).max() <= 0.1 * np.abs(exact).max()


def test_the_report_has_activations(written: Path) -> None:
    report = json.loads((written / "report.json").read_text())
    assert report["samples"] == 64
    assert next(a["name"] for a in report["activations"]) == "image"
    for a in report["activations"]:
        assert a["scale"] * (-128 - a["zero"]) <= a["low"] + a["scale"] / 2
        assert a["scale"] * (127 - a["zero"]) >= a["high"] - a["scale"] / 2
    relus = [a for a in report["activations"] if a["name"].startswith("relu")]
    assert len(relus) == 3 and all(a["zero"] == -128 for a in relus)


def test_ranges_are_used_again_and_give_the_same_file(
    written: Path, root: Path, tmp_path: Path
) -> None:
    source = str(root / "examples/digits/digits.onnx")
    ranges = str(written / "ranges.json")
    again = ["quantize", source, "-o", str(tmp_path / "q.onnx"), "--format", "int8", "-q"]
    assert main([*again, "--calibrate", ranges, "--report", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "q.onnx").read_bytes() == (written / "q.onnx").read_bytes()
    assert "<h2>Activations</h2>" in (tmp_path / "r.html").read_text()


# --- models of other tools ----------------------------------------------------------------------------------------------


def test_a_model_that_came_quantized_stays_exact_unless_asked(
    written: Path, tmp_path: Path, images: np.ndarray
) -> None:
    model = onnx.load(written / "q.onnx")
    del model.metadata_props[:]  # as another tool would have written it
    report = pteron.export_model(model, tmp_path / "a.pte")
    assert {p.activations for p in report.products} <= {"float"}
    assert any("--activations int8-static" in note for note in report.notes)
    pteron.export_model(model, tmp_path / "e.pte", activations="float")
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "e.pte").read_bytes()
    report = pteron.export_model(model, tmp_path / "i.pte", activations="int8-static")
    assert {p.activations for p in report.products} == {"int8-static"}
    want = run(integer_model(written / "q.onnx"), {"image": images})[0]
    assert pteron.load(tmp_path / "i.pte", threads=1)(images).tobytes() == want.tobytes()


@pytest.mark.parametrize("activations", ["QInt8", "QUInt8"])
def test_models_of_quantize_static_become_integer_nodes(
    activations: str, root: Path, tmp_path: Path, images: np.ndarray
) -> None:
    from onnxruntime import quantization as q

    class Reader(q.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter([{"image": images[i : i + 1]} for i in range(64)])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.left, None)

    out = tmp_path / "ort.onnx"
    q.quantize_static(
        str(root / "examples/digits/digits.onnx"), str(out), Reader(), per_channel=True,
        activation_type=getattr(q.QuantType, activations), weight_type=q.QuantType.QInt8,
    )  # fmt: skip
    model = integer_model(out)
    kinds = [k.removeprefix("pteron.") for k in operators(model)]
    assert kinds == ["QuantizeLinear", *DIGITS, "DequantizeLinear"]
    want = session(out).run(None, {"image": images[:100]})[0]
    got = run(model, {"image": images[:100]})[0]
    assert np.abs(got - want).max() <= 0.04 * np.abs(want).max()
    assert (got.argmax(1) == want.argmax(1)).mean() >= 0.98


# --- calibration --------------------------------------------------------------------------------------------------------


def product() -> ir.Model:
    return onnx_text("y = Relu(MatMul(x, w))", x="f32[n, 7]", w=WEIGHT)


def test_our_runtime_and_the_reference_evaluator_see_the_same_ranges() -> None:
    from passes.static import reference

    from pteron.recording import record

    rng = np.random.default_rng(0)
    samples = [{"x": rng.standard_normal((n, 7)).astype(np.float32)} for n in (1, 3, 1)]
    found = [observe(product(), ["x", "y"], samples, r, 64).by_name for r in (record, reference)]
    assert found[0].keys() == found[1].keys()
    for name, ends in found[0].items():
        np.testing.assert_allclose(ends, found[1][name], rtol=1e-6)
    assert found[0]["y"][0] == 0.0


def test_only_as_many_samples_run_as_asked_for() -> None:
    from passes.static import reference

    samples = [{"x": np.full((1, 7), v, np.float32)} for v in (1, 2, 3)]
    assert observe(product(), ["x"], samples, reference, 2) == Ranges(2, {"x": (1.0, 2.0)})


X = np.ones((2, 7), np.float32)


@pytest.mark.parametrize(
    "samples, text",
    [
        ([], "expected at least one sample, got none"),
        ([{"z": X}], "expected inputs x, got z"),
        ([{}], "expected inputs x, got nothing"),
        ([{"x": X.astype(np.float64)}], "sample 0: input 'x': expected float32, got float64"),
        ([{"x": X[:, :3]}], "expected shape .*7.*, got .2, 3."),
        ([{"x": X}, {"x": X * np.float32(np.nan)}], "sample 1: input 'x': expected finite"),
        ([{"x": X * np.float32(3e38)}], "sample 0: 'y' must be finite"),
    ],
)
def test_samples_that_do_not_fit_are_refused(samples: Any, text: str) -> None:
    from passes.static import reference

    with np.errstate(all="ignore"), pytest.raises(QuantError, match=text):
        observe(product(), ["x", "y"], samples, reference, 64)


@pytest.mark.parametrize(
    "arrays, text",
    [
        ({"z": X}, "expected arrays named x, got z"),
        ({"x": X[0]}, "expected 2 axes"),
        ({}, "expected arrays named x, got none"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: Any, text: str) -> None:
    with pytest.raises(QuantError, match=text):
        samples_of(product(), arrays, "s.npz")


def test_arrays_are_split_into_samples() -> None:
    x = np.arange(42, dtype=np.float32).reshape(6, 7)
    assert [len(s["x"]) for s in samples_of(product(), {"x": x}, "")] == [1] * 6
    assert [s["x"].shape for s in samples_of(product(), {"x": x[:, None]}, "")] == [(1, 7)] * 6
    fixed = onnx_text("y = MatMul(x, w)", x="f32[3, 7]", w=WEIGHT)
    assert [s["x"].shape for s in samples_of(fixed, {"x": x}, "")] == [(3, 7)] * 2
    with pytest.raises(QuantError, match="multiple of 3 rows, got 5"):
        samples_of(fixed, {"x": x[:5]}, "")


@pytest.mark.parametrize(
    "name, data", [("a.npz", b"PK\x03\x04no"), ("a.npz", b""), ("a.json", b"[]")]
)
def test_files_that_are_none_are_refused(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises((QuantError, DamagedError), match=name):
        calibrated(product(), ["x"], tmp_path / name, lambda _model, _wanted, read: list(read), 1)


def test_a_damaged_file_of_samples_is_refused(tmp_path: Path) -> None:
    """Each of its bytes wrong: in the archive's tables, in the compressed stream."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros((4, 7), np.float32))
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            calibrated(product(), ["x"], path, lambda *_: [{"x": np.zeros(1)}], 1)
        except QuantError as error:
            assert "a.npz" in str(error)


@pytest.mark.parametrize(
    "samples, ranges", [("1e999", "{}"), ("1", '{"a": [1, 2, 3]}'), ("1", "[" * 100_000)]
)
def test_ranges_of_a_damaged_file_are_refused(samples: str, ranges: str, tmp_path: Path) -> None:
    path, head = tmp_path / "r.json", '{"format": "pteron.ranges", "version": 2, "samples": '
    path.write_text(f'{head}{samples}, "ranges": {ranges}}}')
    with pytest.raises(QuantError, match=r"r\.json"):
        calibrated(product(), ["x"], path, lambda *_: [], 1)
    path.write_bytes(b"\x80" + path.read_bytes())
    with pytest.raises(QuantError, match=r"r\.json"):
        calibrated(product(), ["x"], path, lambda *_: [], 1)


def test_ranges_as_a_file() -> None:
    ranges = Ranges(3, {"a": (-1.5, 2.0), "b": (0.0, 0.1)})
    assert ranges_of(ranges.as_json(), "r.json") == ranges
    with pytest.raises(QuantError, match="no range for 'c'"):
        ranges["c"]
    for broken in ('{"format": "pteron.ranges"}', ranges.as_json().replace("2.0", "-9.0")):
        with pytest.raises(QuantError, match=r"r\.json"):
            ranges_of(broken, "r.json")


@pytest.mark.parametrize(
    "low, high", [(0, 1), (-1, 1), (-3.7, 0.01), (2, 5), (-5, -2), (0, 1e-30), (-1e30, 1e30)]
)
def test_a_grid_holds_zero_and_its_range(low: float, high: float) -> None:
    grid = grid_of(low, high)
    assert grid.scale > 0 and -128 <= grid.zero <= 127
    ends = [(q - grid.zero) * float(grid.scale) for q in (-128, 127)]
    for x in (low, high):
        assert ends[0] - grid.scale * 0.51 <= x <= ends[1] + grid.scale * 0.51
    assert grid_of(0, 0).scale == 1


# --- planning -----------------------------------------------------------------------------------------------------------


def sample(*shape: int) -> list[dict[str, np.ndarray]]:
    return [{"x": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}]


def test_rules_leave_layers_in_f32() -> None:
    model = onnx_text("y = MatMul(Relu(MatMul(x, a)), b)", x="f32[2, 7]", a=WEIGHT, b=WEIGHT.T)
    report = quantized(model, sample(2, 7), recipe("int8", {"^b$": "skip"}))
    assert [r.name for r in report.layers] == ["a"]
    assert report.skipped == ["b"]
    assert integer_nodes(model)
    assert operators(model)[-1] == "MatMul"
    for wrong, text in (
        ({"q": "skip"}, "decides no layer"),
        ({"a": "nf4"}, "expected int8 or skip"),
    ):
        again = onnx_text("y = MatMul(x, a)", x="f32[2, 7]", a=WEIGHT)
        with pytest.raises(QuantError, match=text):
            quantized(again, sample(2, 7), recipe("int8", wrong))


def test_gptq_rounds_weights_for_what_the_layers_read() -> None:
    rng = np.random.default_rng(5)
    mix = rng.standard_normal((3, 24)).astype(np.float32)  # inputs that a few directions make
    given = [
        {"x": (rng.standard_normal((16, 3)) @ mix).astype(np.float32).T.reshape(1, 24, 4, 4)}
        for _ in range(24)
    ]
    w = rng.standard_normal((8, 24, 3, 3)).astype(np.float32)
    b = rng.standard_normal(8).astype(np.float32)
    source = onnx_text("y = Conv(x, w, b, pads=[1, 1, 1, 1])", x="f32[1, 24, 4, 4]", w=w, b=b)
    errors = {}
    for algorithm in ("nearest", "search", "gptq"):
        model = source.clone()
        report = quantized(model, given[:16], recipe("int8", algorithm=algorithm))
        assert report.layers[0].algorithm == algorithm
        scale = report.layers[0].shape
        assert scale == (8, 216)
        values = [(values_of(model, x)["y"], values_of(source, x)["y"]) for x in given[16:]]
        weights = values_of(model, given[0])
        used = next(v for n, v in weights.items() if n.endswith(".f32") and v.shape == w.shape)
        exact = onnx_text("y = Conv(x, w, b, pads=[1, 1, 1, 1])", x="f32[1, 24, 4, 4]", w=used, b=b)
        errors[algorithm] = sum(
            float(np.square(values_of(exact, x)["y"] - want).sum())
            for x, (_, want) in zip(given[16:], values, strict=True)
        )
        assert np.abs(used - w).max() < 0.1
    assert errors["gptq"] < 0.5 * min(errors["nearest"], errors["search"]), errors


def test_a_bias_takes_the_mean_of_the_error_where_samples_are_there() -> None:
    rng = np.random.default_rng(6)
    given = [{"x": (rng.random((1, 9, 5, 5)) + 4).astype(np.float32)} for _ in range(8)]
    constants = {"w": rng.standard_normal((6, 9, 1, 1)).astype(np.float32)}
    constants["w"][0] *= 1e-9  # a bias that asks for a coarse step costs its channel, no other
    constants["b"] = np.array([64, 1, 0, -1, 2, 0.5], np.float32)
    source = onnx_text("y = Conv(x, w, b)", x="f32[1, 9, 5, 5]", **constants)
    means = {}
    for algorithm in ("nearest", "gptq"):
        model = source.clone()
        quantized(model, given, recipe("int8", algorithm=algorithm))
        values = values_of(model, given[0])
        parts = {n.partition(".")[0]: v for n, v in values.items() if n.endswith(".f32")}
        error = [values_of(model, x)["y.exact"] - run(source, x)[0] for x in given]
        means[algorithm] = np.abs(np.mean(error, (0, 1, 3, 4)))[1:].mean()
        assert not parts["w"][0].any(), "codes of its own scale, which is coarser than its weights"
    assert means["gptq"] < 0.05 * means["nearest"], means


def test_a_bias_takes_the_mean_of_the_error_of_weights_alone() -> None:
    rng = np.random.default_rng(9)
    given = [{"x": (rng.random((1, 9, 5, 5)) + 4).astype(np.float32)} for _ in range(8)]
    constants = {"w": rng.standard_normal((6, 9, 1, 1)).astype(np.float32)}
    constants |= {"v": rng.standard_normal((4, 6)).astype(np.float32)}
    constants |= {"b": np.ones(6, np.float32), "c": np.ones(4, np.float32)}
    text = "h = Conv(x, w, b); i = Flatten(GlobalAveragePool(h)); y = Gemm(i, v, c, transB=1)"
    model = onnx_text(text, x="f32[1, 9, 5, 5]", **constants)
    want = [run(model, x)[0] for x in given]
    done: list[QuantReport] = []
    method = Method(runner=reference, evaluate=given)
    transformer("int4", None, done.append, Calibration(given, reference, 64), method)(model)
    got = [run(model, x)[0] for x in given]
    error = np.array(got) - np.array(want)
    assert np.abs(error).max() > 0.02
    assert np.abs(error.mean(0)).max() < 1e-3, error.mean(0)
    loss = 1e4 * np.mean([distances(a, b) for a, b in zip(want, got, strict=True)])
    assert done[0].loss == pytest.approx(loss, rel=1e-2)  # what is measured has these biases


def test_weights_that_two_layers_share_leave_their_biases_alone() -> None:
    rng = np.random.default_rng(10)
    given = [{"x": rng.random((3, 32)).astype(np.float32)}]
    constants = {"v": rng.standard_normal((32, 32)).astype(np.float32)}
    constants |= {"b": np.ones(32, np.float32), "c": np.zeros(32, np.float32)}
    model = onnx_text("h = Gemm(x, v, b); y = Gemm(h, v, c)", x="f32[3, 32]", **constants)
    quantized(model, given, "int4")
    biases = [node.inputs[2] for node in model.graph if node.op_type == "Gemm"]
    assert [g.constant_tensor(v).numpy().tolist() for v in biases] == [[1.0] * 32, [0.0] * 32]


def test_moments_about_the_mean() -> None:
    x = np.random.default_rng(7).standard_normal((50, 6)) * [1, 2, 3, 0, 0, 0] + [
        4,
        -3,
        0,
        1,
        7.1,
        5.3,
    ]
    second, mean = (a.astype(np.float32)[None] for a in (x.T @ x / len(x), x.mean(0)))
    made = Moments(second, mean, np.abs(x).max(0).astype(np.float32)[None], len(x)).centered()
    np.testing.assert_allclose(made.second[0], np.cov(x.T, bias=True), atol=1e-5)
    assert (np.diagonal(made.second[0]) >= 0).all(), (
        "numbers that are constant are near 0, not below"
    )


def test_a_bias_takes_what_rounding_the_inputs_moves_them_by() -> None:
    """A channel below half a step of its value is rounded to nothing: no code of a weight can mend that."""
    rng = np.random.default_rng(7)
    scale = np.array([1, 0.0015], np.float32).reshape(1, 2, 1, 1)
    given = [{"x": rng.random((1, 2, 5, 5)).astype(np.float32) * scale} for _ in range(8)]
    w = np.array([[1, 300], [1, -500]], np.float32).reshape(2, 2, 1, 1)
    source = onnx_text("y = Conv(x, w, b)", x="f32[1, 2, 5, 5]", w=w, b=np.zeros(2, np.float32))
    means = {}
    for algorithm in ("nearest", "gptq"):
        model = source.clone()
        quantized(model, given, recipe("int8", algorithm=algorithm))
        error = [values_of(model, x)["y.exact"] - run(source, x)[0] for x in given]
        means[algorithm] = np.abs(np.mean(error, (0, 1, 3, 4)))
    assert means["nearest"].min() > 0.1
    assert means["gptq"].max() < 0.01, means


def test_gptq_asks_for_samples() -> None:
    model = onnx_text("y = MatMul(x, a)", x="f32[2, 7]", a=WEIGHT)
    ranges = Ranges(1, {"x": (-1.0, 1.0), "y": (-1.0, 1.0)})
    wanted = recipe("int8", algorithm="gptq")
    with pytest.raises(QuantError, match="expected samples, got ranges"):
        quantize_model(model, wanted, calibration=Calibration(ranges, reference, 1))


def test_a_model_without_layers_is_refused() -> None:
    with pytest.raises(QuantError, match="got none"):
        quantized(onnx_text("y = Relu(x)", x="f32[2]"), sample(2))


def test_dead_channels_keep_their_bias() -> None:
    w, b = WEIGHT.copy(), np.array([3, -2, 0.5, 0, 1e-3], np.float32)
    w[:, :4] = 0
    model = onnx_text("y = Gemm(x, w, b)", x="f32[4, 7]", w=w, b=b)
    samples = sample(4, 7)
    want = run(model, samples[0])[0]
    quantized(model, samples)
    assert integer_nodes(model)
    got = run(model, samples[0])[0]
    assert np.abs(got - want).max() <= 2 * (want.max() - want.min()) / 255


def test_an_output_that_is_read_inside_is_quantized_once() -> None:
    model = onnx_text(
        "h = MatMul(x, a); y = Relu(MatMul(h, b))", outputs="h y", x="f32[2, 7]", a=WEIGHT, b=WEIGHT.T
    )  # fmt: skip
    quantized(model, sample(2, 7))
    assert [v.name for v in model.graph.outputs] == ["h", "y"]
    assert integer_nodes(model)
    assert operators(model).count("pteron.Linear") == 2
    values = values_of(model, sample(2, 7)[0])
    assert values["h"].dtype == values["y"].dtype == np.float32


def test_export_asks_for_one_source_and_int8(tmp_path: Path) -> None:
    x = {"x": np.ones((3, 7), np.float32)}
    with pytest.raises(QuantError, match="calibrate: expected quantize"):
        pteron.export_model(product(), calibrate=x)
    with pytest.raises(QuantError, match="activations int8-static: expected format int8"):
        pteron.export_model(
            product(), quantize=recipe("nf4", activations="int8-static"), calibrate=x
        )
    with pytest.raises(QuantError, match="expected int8 or skip, got 'nf4'"):
        pteron.export_model(product(), quantize=recipe("int8", {"w": "nf4"}), calibrate=x)


def test_an_old_model_is_written_at_opset_13_without_its_batch_norm(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    names = ("w", "gain", "shift", "mean", "variance")
    arrays = [rng.standard_normal((4, 2, 3, 3)), *(rng.uniform(0.5, 2, 4) for _ in names[1:])]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", *names[1:]], ["n"]),
        helper.make_node("Relu", ["n"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "old",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4, 6, 6])],
        [
            numpy_helper.from_array(a.astype(np.float32), n)
            for n, a in zip(names, arrays, strict=True)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=7)
    onnx.save(model, tmp_path / "old.onnx")
    x = rng.standard_normal((9, 2, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    command = ["quantize", str(tmp_path / "old.onnx"), "-o", str(tmp_path / "q.onnx"), "-q"]
    assert main([*command, "--format", "int8", "--calibrate", str(tmp_path / "x.npz")]) == 0
    proto = onnx.load(tmp_path / "q.onnx")
    assert {o.domain: o.version for o in proto.opset_import}[""] == 13
    assert "BatchNormalization" not in [n.op_type for n in proto.graph.node]
    want = session(tmp_path / "old.onnx").run(None, {"x": x})[0]
    got = session(tmp_path / "q.onnx").run(None, {"x": x})[0]
    assert np.abs(got - want).max() <= 0.02 * want.max()
    ours = run(integer_model(tmp_path / "q.onnx"), {"x": x})[0]
    assert np.abs(ours - got).max() <= 1.01 * want.max() / 255


@pytest.mark.parametrize(
    "options, code, text",
    [
        (["--calibrate", "absent.npz"], 2, "absent.npz: no such file"),
        (["--ranges", "r.json"], 2, "int8 --calibrate, too"),
        (["--calibrate", "wrong.npz"], 2, "wrong.npz: expected arrays named image, got label"),
    ],
)
def test_the_command_says_what_is_wrong(
    options: list[str], code: int, text: str, root: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], images: np.ndarray,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    np.savez("wrong.npz", label=np.zeros(3))
    np.savez("images.npz", image=images[:2])
    command = ["quantize", str(root / "examples/digits/digits.onnx"), "-o", "q.onnx", "-q"]
    assert main([*command, "--format", "int8", *options]) == code
    assert text in capsys.readouterr().err
