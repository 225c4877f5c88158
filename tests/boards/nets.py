"""Networks of the sizes that microcontrollers run, with drawn weights: shapes and operators are what is tried, not accuracy."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Net = tuple[onnx.ModelProto, NDArray[np.float32]]
CHANNELS, WORDS = 64, 12


class _Graph:
    """Nodes and weights, drawn one after the other."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, *shape: int, spread: float) -> str:
        name = f"w{len(self.weights)}"
        drawn = self.draw.normal(0, spread, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(drawn, name))
        return name

    def add(self, op: str, *inputs: str, **attrs: object) -> str:
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], **attrs))
        return out

    def model(self, x: str, shape: list[int], y: str, out: list[int]) -> onnx.ModelProto:
        info = helper.make_tensor_value_info
        ports = [info(x, TensorProto.FLOAT, shape)], [info(y, TensorProto.FLOAT, out)]
        graph = helper.make_graph(self.nodes, "net", *ports, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def keywords() -> Net:
    """The shape of DS-CNN S (Zhang and others 2017): 49 x 10 coefficients, a convolution of 10 x 4, four separable ones, an
    average, 12 words. Inputs: 16 drawn ones."""
    g = _Graph(1)

    def conv(x: str, taps: tuple[int, int], inputs: int, groups: int = 1, **attrs: object) -> str:
        spread = (2 / (inputs // groups * taps[0] * taps[1])) ** 0.5
        w = g.weight(CHANNELS, inputs // groups, *taps, spread=spread)
        y = g.add("Conv", x, w, g.weight(CHANNELS, spread=0.1), group=groups, **attrs)
        return g.add("Relu", y)

    y = conv("x", (10, 4), 1, strides=[2, 2], pads=[4, 1, 5, 1])
    for _ in range(4):
        y = conv(y, (3, 3), CHANNELS, CHANNELS, pads=[1, 1, 1, 1])
        y = conv(y, (1, 1), CHANNELS)
    y = g.add("Flatten", g.add("GlobalAveragePool", y))
    g.add("Gemm", y, g.weight(CHANNELS, WORDS, spread=0.2), g.weight(WORDS, spread=0.1))
    x = g.draw.normal(0, 1, (16, 1, 49, 10)).astype(np.float32)
    return g.model("x", [1, 1, 49, 10], g.nodes[-1].output[0], [1, WORDS]), x


def block() -> Net:
    """One block of a transformer: 16 tokens of 64, four heads, 128 inside. Inputs: 16 drawn ones."""
    g = _Graph(2)
    tokens, width, heads, inside = 16, 64, 4, 128

    def norm(x: str) -> str:
        gain, bias = g.weight(width, spread=0.5), g.weight(width, spread=0.1)
        return g.add("LayerNormalization", x, gain, bias, axis=-1)

    def linear(x: str, inputs: int, outputs: int) -> str:
        y = g.add("MatMul", x, g.weight(inputs, outputs, spread=inputs**-0.5))
        return g.add("Add", y, g.weight(outputs, spread=0.1))

    def split(x: str, perm: list[int]) -> str:
        name = "heads"
        if all(w.name != name for w in g.weights):
            shape = np.array([1, tokens, heads, width // heads], np.int64)
            g.weights.append(numpy_helper.from_array(shape, name))
        return g.add("Transpose", g.add("Reshape", x, name), perm=perm)

    x = norm("x")
    q, k, v = (
        split(linear(x, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    g.weights.append(numpy_helper.from_array(np.float32((width // heads) ** -0.5), "scale"))
    scores = g.add("Softmax", g.add("Mul", g.add("MatMul", q, k), "scale"), axis=-1)
    g.weights.append(numpy_helper.from_array(np.array([1, tokens, width], np.int64), "flat"))
    mixed = g.add("Transpose", g.add("MatMul", scores, v), perm=[0, 2, 1, 3])
    y = g.add("Add", "x", linear(g.add("Reshape", mixed, "flat"), width, width))
    hidden = g.add("Gelu", linear(norm(y), width, inside))
    g.add("Add", y, linear(hidden, inside, width))
    x = g.draw.normal(0, 1, (16, tokens, width)).astype(np.float32)
    return g.model("x", [1, tokens, width], g.nodes[-1].output[0], [1, tokens, width]), x
