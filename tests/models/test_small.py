"""Our own small networks, built here, through the C runtime: one of each kind of model that people bring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from models.through import Arrays, operators, same, weights
from onnx import helper, numpy_helper, parser

from pteron.export.graph.text import onnx_text

RNG = np.random.default_rng(7)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def test_convolutional_network(tmp_path: Path) -> None:
    """Batch norm folds, activations and the residual become epilogues."""
    w = weights(
        w1=(16, 3, 3, 3),
        w2=(16, 1, 3, 3),
        w3=(24, 16, 1, 1),
        w4=(24, 24, 3, 3),
        w5=(24, 10),
        b5=(10,),
    )
    w |= {
        "g": np.full(16, 1.5, np.float32),
        "h": floats(16),
        "m": floats(16),
        "v": np.abs(floats(16)) + np.float32(0.5),
    }
    model = onnx_text(
        "a = Conv(x, w1, pads=[1, 1, 1, 1], strides=[2, 2]); n = BatchNormalization(a, g, h, m, v); r = Clip(n, 0, 6); "
        "d = HardSwish(Conv(r, w2, pads=[1, 1, 1, 1], group=16)); p = Conv(d, w3); q = Relu(Conv(p, w4, pads=[1, 1, 1, 1])); "
        "s = Add(p, q); k = MaxPool(s, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]); "
        "e = GlobalAveragePool(k); f = Flatten(e); y = Softmax(Gemm(f, w5, b5))",
        opset=22,
        x="f32[n, 3, 33, 31]",
        **w,
    )
    report = same(model, [{"x": floats(2, 3, 33, 31)}, {"x": floats(1, 3, 33, 31)}], tmp_path, 2e-5)
    assert "BatchNormalization" not in report.methods[0].operators
    assert operators(report).get("pointwise", 0) <= 1


ATTENTION = (
    "q{i} = Transpose(Reshape(Add(MatMul(h{i}, wq{i}), bq{i}), [0, 0, 4, 8]), perm=[0, 2, 1, 3]); "
    "k{i} = Transpose(Reshape(MatMul(h{i}, wk{i}), [0, 0, 4, 8]), perm=[0, 2, 3, 1]); "
    "v{i} = Transpose(Reshape(MatMul(h{i}, wv{i}), [0, 0, 4, 8]), perm=[0, 2, 1, 3]); "
    "p{i} = Softmax(Add(Div(MatMul(q{i}, k{i}), 2.8284271), mask)); "
    "o{i} = MatMul(Reshape(Transpose(MatMul(p{i}, v{i}), perm=[0, 2, 1, 3]), [0, 0, 32]), wo{i}); r{i} = Add(h{i}, o{i}); "
    "c{i} = Sub(r{i}, ReduceMean(r{i}, [-1])); "
    "l{i} = Add(Mul(Div(c{i}, Sqrt(Add(ReduceMean(Mul(c{i}, c{i}), [-1]), 1e-5))), g{i}), s{i}); "
    "u{i} = MatMul(l{i}, w1{i}); e{i} = Mul(Mul(u{i}, Add(Erf(Div(u{i}, 1.4142135)), 1)), 0.5); h{j} = Add(l{i}, MatMul(e{i}, w2{i}))"
)


def test_transformer_encoder(tmp_path: Path) -> None:
    """Written out as exporters below opset 17 do; attention, norm and Gelu are recognised."""
    shapes: dict[str, tuple[int, ...]] = {"table": (50, 32)}
    for i in range(2):
        shapes |= {f"{n}{i}": (32, 32) for n in ("wq", "wk", "wv", "wo")}
        shapes |= {
            f"bq{i}": (32,),
            f"g{i}": (32,),
            f"s{i}": (32,),
            f"w1{i}": (32, 64),
            f"w2{i}": (64, 32),
        }
    layers = "; ".join(ATTENTION.format(i=i, j=i + 1) for i in range(2))
    text = f"mask = Mul(Sub(1, Cast(Unsqueeze(keep, [1, 2]), to=1)), -10000.0); h0 = Gather(table, ids); {layers}; y = Identity(h2)"
    model = onnx_text(
        text, opset=18, outputs="y", ids="i64[b, s]", keep="i64[b, s]", **weights(**shapes)
    )
    cases: list[Arrays] = []
    for batch, tokens in ((2, 9), (1, 1), (3, 70)):
        keep = np.ones((batch, tokens), np.int64)
        keep[-1, tokens // 2 + 1 :] = 0
        cases.append({"ids": RNG.integers(0, 50, (batch, tokens)), "keep": keep})
    report = same(model, cases, tmp_path, 3e-5)
    assert operators(report)["attention"] == 2
    assert operators(report)["layer_norm"] == 2


def recurrent(op: str, gates: int, direction: str) -> onnx.ModelProto:
    d = 2 if direction == "bidirectional" else 1
    parts = weights(w=(d, gates * 8, 6), r=(d, gates * 8, 8), b=(d, 2 * gates * 8))
    outputs = ["y", "y_h", "y_c"] if op == "LSTM" else ["y", "y_h"]
    node = helper.make_node(op, ["x", "w", "r", "b"], outputs, hidden_size=8, direction=direction)
    graph = helper.make_graph(
        [node],
        "recurrent",
        [helper.make_tensor_value_info("x", 1, ["t", "n", 6])],
        [helper.make_tensor_value_info(o, 1, None) for o in outputs],
        [numpy_helper.from_array(v, k) for k, v in parts.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_networks(tmp_path: Path, op: str, gates: int, direction: str) -> None:
    same(
        recurrent(op, gates, direction), [{"x": floats(5, 2, 6)}, {"x": floats(1, 1, 6)}], tmp_path
    )


def test_u_net(tmp_path: Path) -> None:
    w = weights(a=(8, 3, 3, 3), b=(16, 8, 3, 3), c=(16, 8, 2, 2), d=(8, 16, 3, 3), e=(4, 16, 1, 1))
    model = onnx_text(
        "l = Relu(Conv(x, a, pads=[1, 1, 1, 1])); p = MaxPool(l, kernel_shape=[2, 2], strides=[2, 2]); "
        "m = Relu(Conv(p, b, pads=[1, 1, 1, 1])); u = ConvTranspose(m, c, strides=[2, 2]); j = Concat(l, u, axis=1); "
        "r = Resize(Relu(Conv(j, d, pads=[1, 1, 1, 1])), None, [1.0, 1.0, 2.0, 2.0], mode='linear'); "
        "z = Concat(r, r, axis=1); y = Conv(z, e)".replace(
            "[1.0, 1.0, 2.0, 2.0]", "f32([1.0, 1.0, 2.0, 2.0])"
        ),
        opset=18,
        x="f32[n, 3, h, w]",
        **w,
    )
    same(model, [{"x": floats(2, 3, 16, 24)}, {"x": floats(1, 3, 32, 8)}], tmp_path)


CONTROL = """
<ir_version: 8, opset_import: ["" : 16]>
agraph (float[4] x, float[4] w, int64 trips) => (float[4] last, float[n, 4] rows)
{
  yes = Constant <value_int: int = 1> ()
  go = Cast <to = 9> (yes)
  last, rows = Loop (trips, go, x) <body = body (int64 i, bool c, float[4] v) => (bool c2, float[4] v2, float[4] row) {
    p = Mul (v, w)
    zero = Constant <value_float: float = 0.0> ()
    total = ReduceSum <keepdims = 0> (p)
    negative = Less (total, zero)
    v2 = If (negative) <
      then_branch = flip () => (float[4] a) { a = Neg (p) },
      else_branch = keep () => (float[4] b) { half = Constant <value_float: float = 0.5> () b = Mul (p, half) }
    >
    row = Identity (v2)
    c2 = Identity (c)
  }>
}
"""


def test_loop_with_a_branch(tmp_path: Path) -> None:
    model = parser.parse_model(CONTROL)
    cases = [{"x": floats(4), "w": floats(4), "trips": np.array(n, np.int64)} for n in (3, 1, 7, 0)]
    same(model, cases, tmp_path)


def test_quantized_network(tmp_path: Path) -> None:
    """QDQ as other tools write it: weights per channel, activations per tensor."""
    w = weights(a=(16, 3, 3, 3), b=(10, 16))
    scales = {k: np.abs(v).reshape(len(v), -1).max(1) / np.float32(127) for k, v in w.items()}
    codes = {
        k: np.round(v / scales[k].reshape(-1, *[1] * (v.ndim - 1))).astype(np.int8)
        for k, v in w.items()
    }
    model = onnx_text(
        "xq = DequantizeLinear(QuantizeLinear(x, 0.05, u8(128)), 0.05, u8(128)); "
        "c = Relu(Conv(xq, DequantizeLinear(a, sa, za, axis=0), pads=[1, 1, 1, 1])); "
        "cq = DequantizeLinear(QuantizeLinear(c, 0.03, u8(0)), 0.03, u8(0)); m = ReduceMean(cq, [2, 3], keepdims=0); "
        "mq = DequantizeLinear(QuantizeLinear(m, 0.01, u8(0)), 0.01, u8(0)); "
        "y = Gemm(mq, DequantizeLinear(b, sb, zb, axis=0), transB=1)",
        opset=19,
        x="f32[n, 3, 8, 8]",
        a=codes["a"],
        sa=scales["a"],
        za=np.zeros(16, np.int8),
        b=codes["b"],
        sb=scales["b"],
        zb=np.zeros(10, np.int8),
    )
    same(model, [{"x": floats(2, 3, 8, 8)}], tmp_path, 1e-2)


def opset_9() -> onnx.ModelProto:
    """As Caffe2 and early PyTorch wrote it: IR 3, initializers among the inputs, attributes where inputs are now."""
    parts = weights(w=(8, 3, 3, 3), b=(8,), f=(5, 8))
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("LeakyRelu", ["c"], ["r"], alpha=0.1),
        helper.make_node("Dropout", ["r"], ["d"], ratio=0.5),
        helper.make_node(
            "Pad", ["d"], ["p"], pads=[0, 0, 1, 1, 0, 0, 1, 1], mode="constant", value=0.0
        ),
        helper.make_node("Upsample", ["p", "scales"], ["u"], mode="nearest"),
        helper.make_node("Slice", ["u"], ["s"], axes=[2, 3], starts=[1, 1], ends=[-1, 9999]),
        helper.make_node("GlobalAveragePool", ["s"], ["g"]),
        helper.make_node("Squeeze", ["g"], ["q"], axes=[2, 3]),
        helper.make_node("Gemm", ["q", "f", "zero"], ["m"], transB=1),
        helper.make_node("Softmax", ["m"], ["y"], axis=1),
    ]
    parts |= {"scales": np.array([1, 1, 2, 2], np.float32), "zero": np.zeros(5, np.float32)}
    inputs = [helper.make_tensor_value_info(k, 1, v.shape) for k, v in parts.items()]
    graph = helper.make_graph(
        nodes,
        "old",
        [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8]), *inputs],
        [helper.make_tensor_value_info("y", 1, [1, 5])],
        [numpy_helper.from_array(v, k) for k, v in parts.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=3)


def test_opset_9_file(tmp_path: Path) -> None:
    same(opset_9(), [{"x": floats(1, 3, 8, 8)}], tmp_path)


def test_shapes_that_data_decides(tmp_path: Path) -> None:
    """NonZero: a counted dimension; Reshape by an input: a shape input."""
    model = onnx_text(
        "i = Transpose(NonZero(x), perm=[1, 0]); y = Mul(GatherND(x, i), 2.0); z = Reshape(x, s)",
        opset=18,
        x="f32[n, 4]",
        s="i64[2]",
    )
    x = floats(5, 4) * (RNG.random((5, 4)) > 0.5).astype(np.float32)
    none = np.zeros((2, 4), np.float32)
    same(model, [{"x": x, "s": np.array([10, 2])}, {"x": none, "s": np.array([1, 8])}], tmp_path)


def test_detection_head(tmp_path: Path) -> None:
    """What is kept is counted while running, and so is what is gathered by it."""
    model = onnx_text(
        "y = NonMaxSuppression(b, s, [6], f32([0.4]), f32([0.3])); "
        "i = Squeeze(Slice(y, [2], [3], [1]), [1]); kept = Gather(Squeeze(b, [0]), i); best = Mul(kept, 2.0)",
        opset=22,
        outputs="y best",
        b="f32[1, n, 4]",
        s="f32[1, 2, n]",
    )
    feeds = []
    for count in (40, 7):
        low = RNG.uniform(0, 1, (1, count, 2)).astype(np.float32)
        high = low + RNG.uniform(0.1, 0.5, low.shape).astype(np.float32)
        scores = RNG.uniform(0, 1, (1, 2, count)).astype(np.float32)
        feeds.append({"b": np.concatenate([low, high], 2), "s": scores})
    same(model, feeds, tmp_path, 1e-6)
