"""Scaled channels: in f32 the network is the same, and layers lose less at their outputs, never more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import reference, run

from pteron.cli import main
from pteron.export import graph as g
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.save import save_onnx
from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.layer_inputs import reading
from pteron.quantize.observe.statistics import Statistics, collect, spilled
from pteron.quantize.quantize import Calibration, Method, _trial, quantize_weights
from pteron.quantize.recipe.layers import layers
from pteron.quantize.recipe.plan import plan
from pteron.quantize.recipe.rules import Recipe, recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.transform import foldable, scaling
from pteron.quantize.transform.foldable import Shapes, fold
from pteron.recording import record
from pteron.schema.errors import RecipeError

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

RNG = np.random.default_rng(31)
K = 32
LOUD = np.exp2(RNG.permutation(np.linspace(-4, 4, K))).astype(np.float32)
"""Channels that differ by 2 ** 8."""


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X = {"x": f"f32[b, t, {K}]"}
ALL = {name: weights(K, K) for name in ("w", "v", "u", "p", "s")}
ALL |= {"g": LOUD, "c": weights(K) * LOUD, "half": weights(K, K // 2), "b": weights(1, K)}
HEADS = "Transpose(Reshape({}, [0, 0, {}, 8]), perm=[0, 2, 1, 3])"
MERGED = f"Reshape(Transpose({{}}, perm=[0, 2, 1, 3]), [0, 0, {K}])"
Q, KEY, V = (HEADS.format(f"MatMul(x, {w})", n) for w, n in (("u", 4), ("half", 2), ("half2", 2)))

CASES = {
    "layer norm": ("n = LayerNormalization(x, g, c, axis=-1); y = MatMul(n, w); z = MatMul(n, v)", "LayerNormalization LayerNormalization"),
    "layer norm without bias": ("n = LayerNormalization(x, g); y = MatMul(n, w)", "LayerNormalization"),
    "rms norm": ("n = RMSNormalization(x, g, axis=2); y = MatMul(n, w); z = MatMul(n, v)", "RMSNormalization"),
    "a norm written out": ("n = Add(Mul(Tanh(x), g), c); y = MatMul(n, w)", "Mul Add"),
    "relu": ("h = Relu(Add(c, MatMul(x, u))); y = MatMul(h, w)", "MatMul Add"),
    "leaky": ("h = LeakyRelu(Add(MatMul(x, u), b), alpha=0.1); y = MatMul(h, w)", "MatMul Add"),
    "turned": ("h = Transpose(Mul(Transpose(Tanh(x), perm=[2, 0, 1]), 2.0), perm=[1, 2, 0]); y = MatMul(h, w)", "Mul"),
    "norm of two axes": ("n = LayerNormalization(x, g2, g2, axis=1); y = MatMul(n, w)", "LayerNormalization LayerNormalization"),
    "gate": ("h = Mul(Sigmoid(MatMul(x, u)), MatMul(x, p)); y = MatMul(h, w)", "MatMul"),
    "gate on the right": ("h = Mul(MatMul(x, p), Sigmoid(MatMul(x, u))); y = MatMul(h, w)", "MatMul"),
    "gemm": (f"h = Relu(Gemm(Reshape(x, [-1, {K}]), u, c, transB=1, alpha=0.5, beta=2.0)); y = Gemm(h, w, transB=1); z = Gemm(h, v)", "Gemm Gemm"),
    "heads": (f"a = Attention({HEADS.format('MatMul(x, u)', 4)}, {HEADS.format('MatMul(x, p)', 4)}, {HEADS.format('Add(MatMul(x, s), c)', 4)}); y = MatMul({MERGED.format('a')}, w)", "MatMul Add"),
    "heads again": (f"a = Attention({Q}, {KEY}, {V}); y = MatMul({MERGED.format('Reshape(a, [0, 4, -1, 8])')}, w)", "MatMul"),
    "heads that share": (f"a = Attention({Q}, {KEY}, {V}); y = MatMul({MERGED.format('a')}, w)", "MatMul"),
    "heads in three axes": ("a = Attention(MatMul(x, u), MatMul(x, half), MatMul(x, half2), q_num_heads=4, kv_num_heads=2); y = MatMul(a, w)", "MatMul"),
    "attention written out": (f"p1 = Softmax(MatMul({HEADS.format('MatMul(x, u)', 4)}, {HEADS.format('MatMul(x, p)', 4).replace('3])', '3])').replace('[0, 2, 1, 3]', '[0, 2, 3, 1]')})); y = MatMul({MERGED.format('MatMul(p1, ' + HEADS.format('MatMul(x, s)', 4) + ')')}, w)", "MatMul"),
}  # fmt: skip
LEFT = {
    "residual": "n = LayerNormalization(x, g, c); y = Add(n, MatMul(n, w))",
    "gelu": "h = Gelu(MatMul(x, u)); y = MatMul(h, w)",
    "output": "n = LayerNormalization(x, g, c); y = MatMul(n, w)",
    "input": "y = MatMul(x, w)",
    "square": "m = MatMul(x, u); y = MatMul(Mul(m, m), w)",
    "silu": "m = MatMul(x, u); y = MatMul(Mul(m, Sigmoid(m)), w)",
    "shared weight": "z = MatMul(x, u); y = MatMul(Relu(MatMul(x, u)), w)",
    "other axis": f"n = LayerNormalization(x, g, axis=-1); y = MatMul(Transpose(n, perm=[0, 2, 1]), t{K})",
    "softmax": "y = MatMul(Softmax(MatMul(x, u)), w)",
    "present": f"a, before, after = Attention({Q}, {KEY}, {V}); y = MatMul({MERGED.format('a')}, w)",
    "other reader": "m = MatMul(x, u); r = Relu(m); y = Add(MatMul(r, w), Tanh(m))",
    "spread": "m = MatMul(ReduceMean(x, [1]), u); y = MatMul(Add(Relu(ReduceMean(x, [2])), c), w)",
    "rows": "y = MatMul(Transpose(MatMul(Softmax(MatMul(x, kx5)), Mul(Tanh(x), 2.0)), perm=[0, 2, 1]), ox5)",
    "sum": "y = MatMul(Add(MatMul(x, u), MatMul(x, p)), w)",
    "mixed": "y = MatMul(Reshape(Transpose(Reshape(MatMul(x, u), [0, 0, 4, 8]), perm=[0, 1, 3, 2]), [0, -1, 16]), half3)",
}  # fmt: skip


def network(text: str, outputs: str = "", opset: int = g.OPSET) -> ir.Model:
    more = {
        "half2": ALL["half"][::-1].copy(),
        "half3": weights(16, K),
        f"t{K}": weights(5, K),
        "g2": weights(5, K),
        "kx5": weights(K, 5),
        "ox5": weights(5, 4),
    }
    named = {name: array for name, array in (ALL | more).items() if name in text}
    size = f"f32[b, 5, {K}]" if any(name in text for name in (f"t{K}", "g2", "kx5")) else X["x"]
    return onnx_text(text, outputs=outputs, opset=opset, x=size, **named)


def samples(count: int) -> list[dict[str, np.ndarray]]:
    return [{"x": weights(2, 5, K) * LOUD[::-1] / 8} for _ in range(count)]


def last(model: ir.Model) -> tuple[ir.Value, list[ir.Node]]:
    """What the last layer reads, and all layers that do."""
    found = layers(model)
    value = found[-1].node.inputs[0]
    assert value is not None
    return value, [one.node for one in found if one.node.inputs[0] is value]


def known(model: ir.Model, given: list[dict[str, np.ndarray]]) -> Statistics:
    return spilled(collect(model, layers(model), given, reference, 1 << 30))


@pytest.mark.parametrize("how", ["fold", "multiply"])
@pytest.mark.parametrize("case", CASES)
def test_by_powers_of_two_the_network_computes_the_same_bits(case: str, how: str) -> None:
    model, given = network(CASES[case][0]), samples(3)
    before, wanted = model.clone(), [run(model, x) for x in given]
    seen, used = known(model, given), g.names(model)
    groups = list(scaling._groups(model, plan(model, recipe("int4")), seen, how))
    assert groups and any((group.fold is not None) for group in groups)
    for group in groups:
        moments = seen.of(group.choices[0].layer, *group.choices[0].layer.extents)
        assert moments is not None
        tied = group.tied(moments.second.shape[1])
        factors = np.exp2(RNG.integers(-3, 4, len(tied))).astype(np.float32)[tied]
        scaling._divide(model.graph, group, factors, used)
    g.verify(model, "scaling")
    for x, want in zip(given, wanted, strict=True):
        assert [y.tobytes() for y in run(model, x)] == [y.tobytes() for y in want]
    names = [str(v.name) for v in model.graph.outputs]
    ours = [list(record(one, names, given)) for one in (before, model)]
    for a, b in zip(*ours, strict=True):
        assert all(a[name].tobytes() == b[name].tobytes() for name in names)
    changed = {n.name for n in model.graph if any(str(v.name).endswith(".scaled") for v in n.inputs if v and v.is_initializer())}  # fmt: skip
    assert len(changed) > len(groups) or how == "multiply"


@pytest.mark.parametrize("case", CASES)
def test_constants_before_the_value_take_the_factors(case: str) -> None:
    text, wanted = CASES[case]
    model = network(text)
    found = fold(*last(model), Shapes(model))
    assert found is not None
    ops = [place.node.op_type for place in found.places]
    assert sorted(ops) == sorted(wanted.split())


def test_heads_of_queries_that_share_one_of_values_share_factors() -> None:
    for case in ("heads that share", "heads in three axes"):
        model = network(CASES[case][0])
        found = fold(*last(model), Shapes(model))
        assert found is not None
        channel = np.arange(K)
        np.testing.assert_array_equal(found.tied, channel // 16 * 16 + channel % 8)


@pytest.mark.parametrize("case", LEFT)
def test_what_cannot_take_factors_is_left(case: str) -> None:
    model = network(LEFT[case], {"output": "y n", "present": "y before after"}.get(case, ""))
    assert fold(*last(model), Shapes(model)) is None


SHARED = [
    "z = MatMul(Tanh(x), w); y = MatMul(Relu(MatMul(x, u)), w)",
    "n = LayerNormalization(x, g, c); z = MatMul(n, w); y = MatMul(n, w)",
]


@pytest.mark.parametrize("text", SHARED)
@pytest.mark.parametrize("how", ["fold", "multiply"])
def test_a_weight_that_another_layer_reads_is_left(how: str, text: str) -> None:
    """Its rows would be multiplied for both."""
    model = network(text, "z y")
    seen = known(model, samples(3))
    groups = scaling._groups(model, plan(model, recipe("int4")), seen, how)
    assert "w" not in [c.layer.node.inputs[1].name for group in groups for c in group.choices]  # type: ignore[union-attr]


def rounded(model: ir.Model, wanted: Recipe, given: list[dict[str, np.ndarray]]) -> QuantReport:
    return quantize_weights(model, wanted, Calibration(given, reference, len(given)), Method())


@pytest.mark.parametrize("algorithm", ["nearest", "search", "gptq"])
@pytest.mark.parametrize("fmt", ["int4", "nf4", "mxfp4", "int3", "int8", "int4-asym-g16"])
def test_layers_lose_less_at_their_outputs_never_more(fmt: str, algorithm: str) -> None:
    text = "n = RMSNormalization(x, g); y = MatMul(n, w); z = MatMul(n, v)"
    given = [{"x": weights(2, 5, K)} for _ in range(30)]
    costs = {}
    for how in ("none", "fold"):
        wanted = recipe(fmt, algorithm=algorithm, activations="float", scaling=how)
        report = rounded(network(text), wanted, given)
        costs[how] = sum(row.cost for row in report.layers)
        found = any(row.alpha > 0 for row in report.layers)
        assert not found or how == "fold"
    assert costs["fold"] < costs["none"] if found else costs["fold"] == costs["none"]
    assert found or fmt not in ("int4", "int3")


def test_statistics_are_those_of_the_scaled_network() -> None:
    model, given = network("n = LayerNormalization(x, g, c); y = MatMul(n, w); z = MatMul(Relu(MatMul(n, u)), v)"), samples(8)  # fmt: skip
    made, before = plan(model, recipe("int4")), known(model, given)
    after, alphas = scaling.scaled(model, made, before, "fold", _trial(Method()))
    assert all(alphas[choice.layer.name] > 0 for choice in made.choices[:2])
    each = [choice.layer for choice in made.choices]
    again = spilled(collect(model, each, given, reference, 1 << 30))
    for layer in each:
        got, want = after.of(layer, K, K), again.of(layer, K, K)
        assert got is not None and want is not None and got.rows == want.rows
        for a, b in ((got.second, want.second), (got.mean, want.mean), (got.absmax, want.absmax)):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(b).max())


def test_factors_of_one_stay_where_channels_are_alike() -> None:
    """GPTQ's own error, and nothing gained: the graph is the one without scaling."""
    given = [{"x": np.sign(weights(2, 5, K))} for _ in range(30)]
    text = "y = MatMul(Mul(x, g1), w)"
    models = []
    for how in ("none", "fold"):
        model = onnx_text(text, **X, g1=np.ones(K, np.float32), w=ALL["w"])
        report = rounded(model, recipe("int4", scaling=how), given)
        assert report.layers[0].alpha == 0
        models.append(run(model, given[0])[0].tobytes())
    assert models[0] == models[1]


def test_a_multiplication_where_nothing_takes_the_factors() -> None:
    text = "n = LayerNormalization(x, g, c); y = Add(n, MatMul(n, w))"
    given = samples(30)
    by_how = {}
    for how in ("fold", "multiply"):
        model = network(text)
        report = rounded(model, recipe("int4", algorithm="search", scaling=how), given)
        by_how[how] = report.layers[0].cost
        assert sum(node.op_type == "Mul" for node in model.graph) == (how == "multiply")
    assert by_how["multiply"] < by_how["fold"]


def test_layers_that_are_not_rounded_make_up_for_factors() -> None:
    text = "n = RMSNormalization(x, g); y = MatMul(n, w); z = MatMul(n, v)"
    given = samples(30)
    model = network(text)
    want = [run(model, x) for x in given]
    report = rounded(model, recipe("int4", {"^v$": "skip"}, scaling="fold"), given)
    assert report.skipped == ["v"] and report.layers[0].alpha > 0
    for x, (_, z) in zip(given, want, strict=True):
        np.testing.assert_allclose(run(model, x)[1], z, rtol=0, atol=1e-5 * np.abs(z).max())


def test_weights_in_files_are_read_when_they_are_rounded(tmp_path: Path) -> None:
    """Factors are multiplied in again each time, twice where a weight takes both rows and columns."""
    text = "n = RMSNormalization(x, g); y = MatMul(Relu(MatMul(n, u)), w)"
    path, given = tmp_path / "m.onnx", samples(30)
    save_onnx(network(text), path, whole_bytes=16)
    assert (tmp_path / "m.onnx.data").exists()
    outputs = []
    for model in (capture_onnx(path), network(text)):
        rounded(model, recipe("int4", scaling="fold"), given)
        outputs.append([run(model, x)[0].tobytes() for x in given])
    assert outputs[0] == outputs[1]


def test_the_command_gives_a_model_that_onnxruntime_runs(tmp_path: Path) -> None:
    """A file of statistics and a journal give the same bytes as samples do."""
    text = "n = LayerNormalization(x, g, c); y = MatMul(Relu(Add(MatMul(n, u), c)), w)"
    source = network(text, opset=21)
    path, data = tmp_path / "m.onnx", tmp_path / "x.npz"
    save_onnx(source, path)
    given = np.concatenate([x["x"] for x in samples(16)])
    np.savez(data, x=given)
    kept = ["--statistics", tmp_path / "s.npz"]
    for name, words in (
        ("a", ["--calibrate", data, *kept]),
        ("b", kept),
        ("c", ["--calibrate", data, "--resume"]),
        ("d", ["--calibrate", data]),
    ):
        out = tmp_path / f"{name}.onnx"
        asked = ["quantize", path, "-o", out, "--format", "int4", "-q", *words]
        asked += ["--scaling", "fold"] if name != "d" else []
        assert main([*map(str, asked)]) == 0
    made = [(tmp_path / f"{name}.onnx").read_bytes() for name in "abcd"]
    assert made[0] == made[1] == made[2] != made[3]
    want = np.concatenate([run(source, {"x": part})[0] for part in np.split(given, 16)])
    errors = []
    for name in "ad":
        session = ort.InferenceSession(
            tmp_path / f"{name}.onnx", providers=["CPUExecutionProvider"]
        )
        errors.append(float(np.square(session.run(None, {"x": given})[0] - want).mean()))
    assert errors[0] < errors[1] < np.square(want).mean()


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(RecipeError, match=r"scaling 'awq': expected one of none, fold, multiply"):
        recipe("int4", scaling="awq")


def test_a_layer_that_is_read_over_another_axis_stays() -> None:
    model = onnx_text(
        "y = Gemm(Mul(a, q), m, transA=1)", a="f32[8, 6]", q=weights(6), m=weights(8, 4)
    )
    (layer,) = layers(model)
    how = reading(layer, model.graph)
    assert how is not None and how.turned
    seen = known(model, [{"a": weights(8, 6)}])
    assert list(scaling._groups(model, plan(model, recipe("int4")), seen, "multiply")) == []
    assert foldable.UNKNOWN < 0
