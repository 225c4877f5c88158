"""Rotated channels: in f32 the network computes the same, by onnxruntime's word, and what could not be rotated says why."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from models.decoder import VOCABULARY, Decoder, logits

from pteron.cli import main
from pteron.export import graph as g
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.save import save_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.passes import run_passes
from pteron.quantize.quantize import Method, quantize_weights
from pteron.quantize.recipe.layers import layers
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import Rotated
from pteron.quantize.transform.hadamard import paley, rotation
from pteron.quantize.transform.rotation import rotated, turned
from pteron.recording import record
from pteron.reports.quantization import quantization_page
from pteron.schema.errors import RecipeError

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

RNG = np.random.default_rng(41)
K, WORDS, LONGEST = 24, 11, 7
OPSET = 23
"""RMSNormalization and Attention came with it."""


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def spread(count: int = K) -> np.ndarray:
    return np.exp2(RNG.uniform(-1, 1, count)).astype(np.float32)


# --- matrices -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 8, 12, 20, 28, 36, 44, 60, 96, 384, 704, 3, 6, 13, 50, 104])
@pytest.mark.parametrize("keeps_mean", [False, True])
def test_rotations_are_orthogonal_and_spread(n: int, keeps_mean: bool) -> None:
    channels, apart = np.arange(n), np.zeros(n, np.int64)
    drawn = [rotation(apart, channels, f"{i} a", keeps_mean=keeps_mean) for i in range(6)]
    each = [made.of(np.eye(n), channels).T for made in drawn]
    for r in each:
        np.testing.assert_allclose(r @ r.T, np.eye(n), atol=1e-13)
        if keeps_mean:
            np.testing.assert_allclose(r.sum(0), 1, atol=1e-12)
            continue
        most = (
            1.0 if n in (1, 2) or (n % 4 == 0 and n != 104) else 2**0.5
        )  # 103, 51 and 25 + 1 = 26
        assert abs(r).max() <= (most + 1e-12) / n**0.5
    assert n < 3 or len({r.tobytes() for r in each}) > 1


@pytest.mark.parametrize("m", [4, 12, 20, 24, 28, 36, 44, 60, 76])
def test_hadamard_matrices_of_residues(m: int) -> None:
    made = paley(m)
    assert made is not None and (abs(made) == 1).all()
    np.testing.assert_array_equal(made @ made.T, m * np.eye(m))


@pytest.mark.parametrize("m", [16, 26, 52, 92])
def test_orders_that_residues_of_primes_do_not_have(m: int) -> None:
    assert paley(m) is None


def test_channels_that_are_tied_have_one_matrix_in_any_order() -> None:
    tied = np.array([0, 1, 2, 3, 2, 0, 3, 1])
    made = rotation(np.repeat([0, 1], 4), tied, "0 a")
    x = RNG.standard_normal((4, 3))
    y = made.of(np.concatenate([x, x[tied[4:]]]), np.arange(8))
    np.testing.assert_array_equal(y[4:], y[:4][tied[4:]])


def test_the_same_bytes_on_every_processor() -> None:
    """Sums in one order, signs from a hash."""
    apart, x = np.repeat(np.arange(2), 96), np.arange(192 * 5).reshape(192, 5) / 7
    made = rotation(apart, np.arange(192), "0 heads layer")
    digest = hashlib.sha256(made.of(x, np.arange(192)).tobytes()).hexdigest()
    assert digest[:16] == "75ae07e7e84fa0df"


# --- networks -------------------------------------------------------------------------------------------------------------

BEGIN = "e = Add(Gather(table, i), Slice(Gather(places, [0, 1, 2, 3, 4, 5, 6]), [0], [5], [0]))"
HEADS = "Transpose(Reshape({}, [0, 0, {}, 8]), perm=[0, 2, 1, 3])"
MERGED = f"Reshape(Transpose({{}}, perm=[0, 2, 1, 3]), [0, 0, {K}])"
END = "y = MatMul(n9, head)"
ROOT = "Sqrt(Add(ReduceMean(Mul({0}, {0}), [-1]), 0.01))"

STREAMS = {
    "rms norm": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = RMSNormalization(s, h)",
    "layer norm": "n1 = LayerNormalization(e, g, c); s = Add(Add(MatMul(Relu(MatMul(n1, u)), w), d), e); n9 = LayerNormalization(s, h, c)",
    "layer norm without bias": "n1 = LayerNormalization(e, g, axis=2); s = Add(MatMul(Relu(MatMul(n1, u)), w), e); n9 = LayerNormalization(s, h)",
    "written out": f"n1 = Mul(Div(e, {ROOT.format('e')}), g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = Mul(h, Mul(s, Reciprocal({ROOT.format('s')})))",
    "layer norm written out": f"m = Sub(e, ReduceMean(e, [2])); n1 = Add(Mul(Div(m, {ROOT.format('m')}), g), c); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = RMSNormalization(s, h)",
    "one gain behind": "s = RMSNormalization(Add(e, MatMul(Relu(MatMul(e, u)), w)), half); n9 = LayerNormalization(Add(s, MatMul(Relu(MatMul(s, v)), p)), one, c)",
    "scaled": "n1 = RMSNormalization(e, g); s = Add(Mul(e, 3.0), Mul(0.5, MatMul(Relu(MatMul(n1, u)), w))); n9 = RMSNormalization(s, h)",
    "by tokens": "n1 = RMSNormalization(e, g); s = Add(e, Mul(MatMul(Relu(MatMul(n1, u)), w), Sigmoid(MatMul(n1, z)))); n9 = RMSNormalization(s, h)",
    "moved": f"n1 = RMSNormalization(e, g); s = Sub(e, Reshape(Gemm(Relu(MatMul(Reshape(n1, [-1, {K}]), u)), w, c, transB=1, alpha=0.5), [-1, 5, {K}])); n9 = RMSNormalization(Slice(Identity(s), [-1], [9], [1]), h)",
    "last token": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = Gather(RMSNormalization(s, h), i64(-1), axis=1)",
    "lengths": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = Div(s, ReduceL2(s, [-1]))",
    "gains of zero": "n1 = LayerNormalization(e, g0, c0); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = LayerNormalization(s, h, c)",
    "mean": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = RMSNormalization(Mul(s, Sigmoid(ReduceMean(s, [2]))), h)",
    "reads and writes": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(n1, w)); n9 = RMSNormalization(s, h)",
    "tied": "n1 = RMSNormalization(e, g); s = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n9 = RMSNormalization(s, h)",
}  # fmt: skip
LEFT = {
    "gains differ": ("s = RMSNormalization(Add(e, MatMul(e, w)), g); n9 = RMSNormalization(Add(s, MatMul(s, u)), h)", "has scaled by gains that differ"),
    "elementwise": ("s = Add(e, MatMul(Relu(e), w)); n9 = RMSNormalization(s, h)", "Relu.*no product by a weight"),
    "made so": ("s = Add(e, MatMul(Relu(MatMul(e, u)), w)); n9 = RMSNormalization(Add(s, Tanh(MatMul(e, v))), h)", "Tanh.*makes"),
    "input": ("s = Add(Add(e, MatMul(e, w)), x); n9 = RMSNormalization(s, h)", "x is an input of the model"),
    "output": ("n1 = RMSNormalization(e, g); s = Add(e, MatMul(n1, w)); n9 = RMSNormalization(s, h)", "s is an output of the model"),
    "scaled layer": ("s = Add(e, Mul(MatMul(e, w), g)); n9 = RMSNormalization(s, h)", "gains that differ"),
    "shared": ("n1 = RMSNormalization(e, g); a = Add(e, MatMul(Relu(MatMul(n1, u)), w)); n2 = RMSNormalization(a, h); s = Add(a, MatMul(Relu(MatMul(n2, u)), p)); n9 = RMSNormalization(s, h)", "share u"),
    "shared elsewhere": ("n1 = RMSNormalization(e, g); s = Add(e, MatMul(Tanh(MatMul(Relu(MatMul(n1, u)), w)), w)); n9 = RMSNormalization(s, h)", "no product by a weight of its own"),
    "small gain": ("n1 = LayerNormalization(e, g0, c); s = Add(e, MatMul(n1, w)); n9 = RMSNormalization(s, h)", "too small"),
    "values": ("s = Add(e, MatMul(e, w)); n9 = RMSNormalization(MatMul(Softmax(MatMul(s, Transpose(s, perm=[0, 2, 1]))), s), h)", "no product by a weight"),
    "heads": (f"a = Attention({HEADS.format('MatMul(e, u)', 3)}, {HEADS.format('MatMul(e, p)', 3)}, {HEADS.format('MatMul(e, w)', 3)}); s = Add(Add(e, MatMul(e, v)), {MERGED.format('a')}); n9 = RMSNormalization(s, h)", "Reshape.*no product"),
    "fourth powers": ("s = Add(e, MatMul(Relu(MatMul(e, u)), w)); n9 = Div(s, ReduceMean(Pow(s, 4.0), [2]))", "Pow.*no product"),
    "length of gains": ("s = Add(e, MatMul(Relu(MatMul(e, u)), w)); r = RMSNormalization(s, h); n9 = Div(r, ReduceL2(r, [-1]))", "ReduceL2.*no product"),
    "columns": (f"s = Add(Add(e, MatMul(Relu(MatMul(e, u)), w)), Gather(two, {[*range(K)]}, axis=1)); n9 = RMSNormalization(s, h)", "Gather.*no product"),
    "split": ("a, b = Split(MatMul(e, wide), axis=-1, num_outputs=2); s = Add(Add(e, MatMul(e, w)), b); n9 = RMSNormalization(s, h)", "made by .*Split"),
    "other axes": ("s = Add(e, MatMul(e, w)); n9 = LayerNormalization(s, two, two, axis=1)", "LayerNormalization"),
}  # fmt: skip
ATTENTIONS = {
    "alike": f"a = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3)}, {HEADS.format('Add(MatMul(x, w), c)', 3)}); y = MatMul({MERGED.format('a')}, v)",
    "shared": f"a = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, third)', 1)}, {HEADS.format('MatMul(x, third2)', 1)}); y = MatMul({MERGED.format('a')}, v)",
    "three axes": f"a = Attention(MatMul(x, u), MatMul(x, q), Reshape(Gemm(Reshape(x, [-1, {K}]), t, d, transB=1, beta=2.0), [-1, 5, 12]), q_num_heads=6, kv_num_heads=3); y = Gemm(Reshape(a, [-1, {K}]), v, transB=1)",
    "written out": f"p1 = Softmax(MatMul({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3).replace('[0, 2, 1, 3]', '[0, 2, 3, 1]')})); y = MatMul({MERGED.format('MatMul(p1, ' + HEADS.format('MatMul(x, w)', 3) + ')')}, v)",
}  # fmt: skip
HEADS_LEFT = {
    "present": (f"a, before, after = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3)}, {HEADS.format('MatMul(x, w)', 3)}); y = MatMul({MERGED.format('a')}, v)", "Attention.* is on the way"),
    "norm of values": (f"a = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3)}, {HEADS.format('Tanh(MatMul(x, w))', 3)}); y = MatMul({MERGED.format('a')}, v)", "Tanh.* is on the way"),
    "two layers": (f"a = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3)}, {HEADS.format('MatMul(x, w)', 3)}); r = {MERGED.format('a')}; y = Add(MatMul(r, v), MatMul(r, u))", "others read"),
    "weight of two": (f"a = Attention({HEADS.format('MatMul(x, u)', 3)}, {HEADS.format('MatMul(x, p)', 3)}, {HEADS.format('MatMul(x, w)', 3)}); y = Add(MatMul({MERGED.format('a')}, v), MatMul(x, v))", "or its weight"),
    "heads of heads": ("a = Attention(MatMul(x, q), MatMul(x, q2), MatMul(x, t2), q_num_heads=2, kv_num_heads=2); y = MatMul(Attention(MatMul(x, u), MatMul(x, q3), a, q_num_heads=6, kv_num_heads=3), v)", "not alike"),
    "input": ("a = Attention(MatMul(x, u), MatMul(x, p), x, q_num_heads=3, kv_num_heads=3); y = MatMul(a, v)", "Attention.* is on the way"),
}  # fmt: skip
NONE = {"no sum": "y = MatMul(Relu(MatMul(x, u)), w)", "no heads": "y = MatMul(MatMul(x, u), w)"}


def network(text: str, outputs: str = "") -> ir.Model:
    named = {n: weights(K, K) / 5 for n in "uvwp"} | {
        "g": spread(),
        "h": spread(),
        "c": weights(K),
        "d": weights(K),
    }
    named |= {
        "table": weights(WORDS, K),
        "places": weights(LONGEST, K),
        "head": weights(K, WORDS),
        "z": weights(K, 1),
    }
    named |= {
        "half": np.full(K, 0.5, np.float32),
        "one": np.ones(K, np.float32),
        "third": weights(K, 8),
        "third2": weights(K, 8),
    }
    named |= {
        "q": weights(K, 12),
        "q2": weights(K, 12),
        "q3": weights(K, 12),
        "t2": weights(K, 12),
        "t": weights(12, K),
        "wide": weights(K, 2 * K),
        "two": weights(5, K),
    }
    off = np.arange(K) % 3 > 0
    named |= {"g0": named["g"] * off, "c0": named["c"] * off}
    if "d, transB" in text:
        named["d"] = weights(12)
    words = set(text.replace("(", " ").replace(")", " ").replace(",", " ").split())
    some = {name: array for name, array in named.items() if name in words}
    given: dict[str, str] = {"i": "i64[b, 5]"} if "i" in words else {}
    given |= {"x": f"f32[b, 5, {K}]"} if "x" in words else {}
    return onnx_text(text, outputs=outputs, opset=OPSET, **given, **some)


def stream(text: str, outputs: str = "") -> ir.Model:
    end = "y = MatMul(n9, Transpose(table, perm=[1, 0]))" if text == STREAMS["tied"] else END
    model = network(f"{BEGIN}; {text}; {end}", outputs)
    if text == STREAMS["tied"]:  # a Gemm reads the table as it lies
        model = network(f"{BEGIN}; {text}; y = Gemm(Reshape(n9, [-1, {K}]), table, transB=1)")
    return model


def ran(model: ir.Model) -> list[np.ndarray]:
    """By onnxruntime."""
    copy = model.clone()
    copy.ir_version = 10
    data = ir.to_proto(copy).SerializeToString()
    session = ort.InferenceSession(data, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(3)
    feeds = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        floats = rng.standard_normal(shape).astype(np.float32)
        feeds[value.name] = floats if "float" in value.type else rng.integers(0, WORDS, shape)
    return [np.asarray(y) for y in session.run(None, feeds)]


def same(model: ir.Model, how: str, seed: int = 0) -> list[Rotated]:
    """Rotates; the network is the same, but for its constants."""
    want, nodes = ran(model), [node.op_type for node in model.graph]
    rows = rotated(model, how, seed)
    g.verify(model, "rotation")
    assert [node.op_type for node in model.graph] == nodes
    for a, b in zip(ran(model), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-5 * np.abs(b).max())
    return rows


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_rotates(case: str) -> None:
    model = stream(STREAMS[case])
    before = {str(n): v.const_value for n, v in model.graph.initializers.items()}
    (row,) = same(model, "stream")
    assert (row.kind, row.size, row.count, row.why) == ("stream", K, 1, "")
    table = next(n.inputs[0] for n in model.graph if n.op_type == "Gather")
    assert table is not None and str(table.name) == "table.rotated"
    made = rotation(np.zeros(K, np.int64), np.arange(K), f"0 stream {row.name}", keeps_mean="mean" in case or "Layer" in STREAMS[case] or "layer" in case)  # fmt: skip
    old = before["table"]
    assert old is not None and table.const_value is not None
    want = made.of(old.numpy().T.astype(np.float64), np.arange(K)).T
    np.testing.assert_array_equal(table.const_value.numpy(), want.astype(np.float32))
    gains = [n.inputs[1] for n in model.graph if n.op_type.endswith("Normalization")]
    for gain in gains:
        array = g.constant(gain)
        assert array is not None and (array == array.flat[0]).all()


@pytest.mark.parametrize("case", ATTENTIONS)
def test_heads_rotate(case: str) -> None:
    model = network(ATTENTIONS[case])
    (row,) = same(model, "heads")
    heads, size = {"three axes": (6, 4)}.get(case, (3, 8))
    assert (row.kind, row.count, row.size, row.why) == ("heads", heads, size, "")
    changed = [v.name for n in model.graph for v in n.inputs if v and str(v.name).endswith(".rotated")]  # fmt: skip
    assert len(changed) == {"alike": 3, "three axes": 3}.get(case, 2)


@pytest.mark.parametrize("case", LEFT)
def test_a_stream_that_stays_says_why(case: str) -> None:
    text, why = LEFT[case]
    model = stream(text, "y s" if case == "output" else "")
    before = {name: value.const_value for name, value in model.graph.initializers.items()}
    with pytest.raises(RecipeError, match=f"rotation stream: expected a residual stream .*{why}.*drop the rotation"):  # fmt: skip
        rotated(model, "stream", 0)
    assert {n: v.const_value for n, v in model.graph.initializers.items()} == before


def test_a_stream_that_a_body_reads_stays() -> None:
    model = stream(STREAMS["rms norm"])
    s = next(n.outputs[0] for n in model.graph if n.outputs[0].name == "s")
    bodies = []
    for name, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
        node = ir.node(op, [s])
        bodies.append(ir.AttrGraph(name, ir.Graph([], node.outputs, nodes=[node])))
    choice = g.initializer(model.graph, np.array(True), "choice")
    model.graph.append(ir.Node("", "If", [choice], bodies))
    with pytest.raises(RecipeError, match="reads s in a body"):
        rotated(model, "stream", 0)


@pytest.mark.parametrize("case", HEADS_LEFT)
def test_heads_that_stay_say_why(case: str) -> None:
    text, why = HEADS_LEFT[case]
    with pytest.raises(RecipeError, match=f"rotation heads: expected values of attention .*{why}"):
        rotated(network(text, "y before after" if case == "present" else ""), "heads", 0)


@pytest.mark.parametrize("text", NONE.values())
def test_nothing_to_rotate(text: str) -> None:
    with pytest.raises(
        RecipeError, match=r"rotation all: expected .*, got none; drop the rotation"
    ):
        rotated(network(text), "all", 0)


def test_a_weight_takes_the_matrix_along_its_channels() -> None:
    made = rotation(np.repeat([0, 1], 4), np.array([0, 1, 2, 3, 0, 1, 2, 3]), "0 a")
    r = np.kron(np.eye(2), made.of(np.eye(8), np.arange(8))[:4, :4].T)
    w, gain = weights(8, 3), np.linspace(1, 2, 8)
    np.testing.assert_allclose(turned(w, np.arange(8)[:, None], made), r.T @ w, rtol=1e-5)
    np.testing.assert_allclose(turned(w.T, np.arange(8), made, gain), (w.T * gain) @ r, rtol=1e-5)
    np.testing.assert_allclose(turned(w[:4], np.arange(4)[:, None], made), r[:4, :4].T @ w[:4], rtol=1e-5)  # fmt: skip
    wide = np.arange(8).reshape(1, 2, 1, 4)
    got = turned(weights(1, 2, 5, 4), wide, made)
    assert got.shape == (1, 2, 5, 4)


# --- whole models -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grouped heads, norms written out, and a large channel of the weights that read the stream: what rotations are for."""
    model = ir.from_proto(Decoder("whole").model())
    for layer in (one for one in layers(model) if one.extents[0] in (16, 64, VOCABULARY)):
        value = layer.node.inputs[1]
        tensor = g.constant_tensor(value)
        assert value is not None and tensor is not None
        array = tensor.numpy().copy()
        array[3] *= 8
        value.const_value = ir.tensor(array)
    path = tmp_path_factory.mktemp("llama") / "llama.onnx"
    save_onnx(model, path)
    return path


def logits_of(path: Path) -> np.ndarray:
    tokens = np.arange(40).reshape(1, 40) * 7 % VOCABULARY
    return np.asarray(logits(onnx.load(path), tokens))


def test_a_decoder_as_it_is_written_and_after_passes(llama: Path) -> None:
    """Heads that are repeated by Expand stay; those of Attention rotate."""
    written = rotated(capture_onnx(llama), "all", 5)
    assert [(row.kind, bool(row.why)) for row in written] == [("stream", False)] + [("heads", True)] * 2  # fmt: skip
    assert "Reshape" in written[1].why
    model = run_passes(capture_onnx(llama))
    feeds = {"input_ids": np.arange(9)[None] * 5, "position_ids": np.arange(9)[None]}
    (want,) = record(model, ["logits"], [feeds])
    assert [bool(row.why) for row in rotated(model, "all", 5)] == [False] * 3
    (got,) = record(model, ["logits"], [feeds])
    np.testing.assert_allclose(got["logits"], want["logits"], atol=1e-5 * np.abs(want["logits"]).max())  # fmt: skip


def test_the_command_rotates_and_loses_less(llama: Path, tmp_path: Path) -> None:
    """By onnxruntime; the same seed gives the same bytes, by a recipe too, and another seed others."""
    (tmp_path / "r.yaml").write_text("format: int4-g128\nalgorithm: nearest\nrotation: stream\nseed: 3\n")  # fmt: skip
    plain = ["--format", "int4-g128", "--algorithm", "nearest"]
    for name, words in (
        ("plain", plain),
        ("a", [*plain, "--rotation", "stream", "--seed", "3"]),
        ("b", ["--recipe", str(tmp_path / "r.yaml")]),
        ("c", [*plain, "--rotation", "all"]),
    ):
        report = tmp_path / f"{name}.json"
        out = ["-o", str(tmp_path / f"{name}.onnx"), "--report", str(report), "-q"]
        assert main(["quantize", str(llama), *out, *words]) == 0
        rows = json.loads(report.read_text())["rotated"]
        assert [row["kind"] for row in rows] == {"plain": [], "c": ["stream", "heads", "heads"]}.get(name, ["stream"])  # fmt: skip
    a, b, c = ((tmp_path / f"{name}.onnx").read_bytes() for name in "abc")
    assert a == b != c
    want = logits_of(llama)
    errors = {n: np.square(logits_of(tmp_path / f"{n}.onnx") - want).mean() for n in ("plain", "a", "c")}  # fmt: skip
    assert max(errors["a"], errors["c"]) < 0.4 * errors["plain"]


def test_statistics_are_of_one_rotation(llama: Path, tmp_path: Path) -> None:
    """A file of others is refused; a journal and a file give the same bytes."""
    data, kept = tmp_path / "x.npz", ["--statistics", str(tmp_path / "s.npz")]
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, (8, 12))
    np.savez(data, input_ids=tokens, position_ids=np.tile(np.arange(12), (8, 1)))
    asked = ["--format", "int4", "--rotation", "stream", "-q"]
    for name, words in (
        ("a", ["--calibrate", str(data), *kept]),
        ("b", kept),
        ("c", ["--calibrate", str(data), "--resume"]),
    ):
        out = tmp_path / f"{name}.onnx"
        assert main(["quantize", str(llama), "-o", str(out), *asked, *words]) == 0
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "c.onnx").read_bytes()
    a, b = (logits_of(tmp_path / f"{name}.onnx") for name in "ab")
    assert a.tobytes() == b.tobytes()
    for wanted in (recipe("int4"), recipe("int4", rotation="stream", seed=2)):
        with pytest.raises(RecipeError, match=r"expected those of rotation .*, got stream, seed 0; calibrate again"):  # fmt: skip
            quantize_weights(capture_onnx(llama), wanted, None, Method(tmp_path / "s.npz"))


def test_a_dry_run_leaves_the_graph(llama: Path) -> None:
    model = capture_onnx(llama)
    before = dict(model.graph.initializers)
    report = quantize_weights(model, recipe("int4", rotation="stream"), None, Method(dry=True))
    assert "residual stream rotated, 32 channels" in quantization_page(report)
    assert dict(model.graph.initializers) == before
    assert "residual stream rotated, 32 channels" in report.as_text()
    plain = quantize_weights(model, recipe("int4"), None, Method(dry=True))
    assert [r.noise for r in plain.layers] != [r.noise for r in report.layers]


def test_layers_keep_their_names_and_rules(llama: Path) -> None:
    model = capture_onnx(llama)
    names = [layer.name for layer in layers(model)]
    wanted = recipe("int4", {f"^{names[-1]}$": "skip"}, rotation="stream")
    report = quantize_weights(model, wanted)
    assert [row.name for row in report.layers] == names[:-1] and report.skipped == names[-1:]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"rotation": "r1"}, "rotation 'r1': expected one of none, heads, stream, all"),
        ({"seed": 1}, "seed 1: expected a number of 0 or more, and a rotation, too"),
        ({"rotation": "all", "seed": -1}, "seed -1: expected"),
    ],
)
def test_what_cannot_be_asked_for(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipe("int4", **options)
