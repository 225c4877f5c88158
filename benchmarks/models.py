"""Models of the benchmarks, built with onnx alone from seeded random weights: the shapes of well-known networks."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Collects nodes and weights of one graph; methods return the name of their result."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, *shape: int, scale: float = 1.0, shift: float = 0.0) -> str:
        name = f"w{len(self.weights)}"
        array = self.rng.standard_normal(shape) * scale + shift
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}", **attributes))
        return name

    def conv(
        self,
        x: str,
        cin: int,
        cout: int,
        k: int,
        stride: int = 1,
        relu: bool | str = True,
        groups: int = 1,
    ) -> str:
        """Convolution, batch norm, relu."""
        w = self.weight(cout, cin // groups, k, k, scale=(2 / (cin // groups * k * k)) ** 0.5)
        window = {"kernel_shape": [k, k], "strides": [stride] * 2, "pads": [k // 2] * 4}
        y = self.node("Conv", x, w, group=groups, **window)
        norm = [self.weight(cout, scale=0.1, shift=s) for s in (1.0, 0.0, 0.0)]
        variance = self.weight(cout, scale=0.0, shift=1.0)
        y = self.node("BatchNormalization", y, *norm, variance)
        if relu == "6":
            zero, six = (self.weight(scale=0, shift=v) for v in (0.0, 6.0))
            return self.node("Clip", y, zero, six)
        return self.node("Relu", y) if relu else y

    def model(self, inputs: dict[str, list[int]], output: str, shape: list[int]) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def resnet50(batch: int = 1, size: int = 224) -> onnx.ModelProto:
    """ResNet-50: 25.6 M parameters, at 224 8.2 GFLOP."""
    net = Net()
    x = net.conv("image", 3, 64, 7, 2)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for width, depth, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(depth):
            s = stride if i == 0 else 1
            y = net.conv(net.conv(x, cin, width, 1), width, width, 3, s)
            y = net.conv(y, width, width * 4, 1, relu=False)
            short = x if i else net.conv(x, cin, width * 4, 1, s, relu=False)
            x = net.node(
                "Relu",
                net.node("Add", net.node("Mul", y, net.weight(1, scale=0, shift=0.3)), short),
            )
            cin = width * 4
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    y = net.node("Gemm", x, net.weight(1000, cin, scale=0.02), net.weight(1000), transB=1)
    return net.model({"image": [batch, 3, size, size]}, y, [batch, 1000])


def mobilenetv2(batch: int = 1, size: int = 224) -> onnx.ModelProto:
    """MobileNetV2: 3.5 M parameters, at 224 0.6 GFLOP."""
    net = Net()
    x, cin = net.conv("image", 3, 32, 3, 2, "6"), 32
    for expand, cout, depth, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(depth):
            wide = cin * expand
            y = net.conv(x, cin, wide, 1, 1, "6") if expand > 1 else x
            y = net.conv(y, wide, wide, 3, stride if i == 0 else 1, "6", wide)
            y = net.conv(y, wide, cout, 1, 1, False)
            x, cin = net.node("Add", x, y) if i else y, cout
    x = net.node("Flatten", net.node("GlobalAveragePool", net.conv(x, cin, 1280, 1, 1, "6")))
    y = net.node("Gemm", x, net.weight(1000, 1280, scale=0.02), net.weight(1000), transB=1)
    return net.model({"image": [batch, 3, size, size]}, y, [batch, 1000])


def encoder(
    layers: int = 6, width: int = 384, heads: int = 12, tokens: int = 128
) -> onnx.ModelProto:
    """A transformer encoder of MiniLM's shape over embeddings [1, tokens, width]."""
    net, x = Net(), "embedded"
    split_and_merge(net, width, heads)
    for _ in range(layers):
        x = norm(net, net.node("Add", x, attend(net, x, width, heads)), width)
        x = norm(net, net.node("Add", x, feed(net, x, width)), width)
    model = net.model({"embedded": [1, tokens, width]}, x, [1, tokens, width])
    model.opset_import[0].version = 20
    return model


def vit(
    layers: int = 12, width: int = 384, heads: int = 6, size: int = 224, patch: int = 16
) -> onnx.ModelProto:
    """A vision transformer, ViT-S/16: norms come first, a token for the class, 1000 of them."""
    net, side = Net(), size // patch
    split_and_merge(net, width, heads)
    rows = numpy_helper.from_array(np.array([0, width, side * side], np.int64), "rows")
    first = numpy_helper.from_array(np.array(0, np.int64), "first")
    net.weights += [rows, first]
    kernel = net.weight(width, 3, patch, patch, scale=(3 * patch * patch) ** -0.5)
    x = net.node(
        "Conv", "image", kernel, net.weight(width), kernel_shape=[patch] * 2, strides=[patch] * 2
    )
    x = net.node("Transpose", net.node("Reshape", x, "rows"), perm=[0, 2, 1])
    x = net.node("Concat", net.weight(1, 1, width), x, axis=1)
    x = net.node("Add", x, net.weight(1, side * side + 1, width))
    for _ in range(layers):
        x = net.node("Add", x, attend(net, norm(net, x, width), width, heads))
        x = net.node("Add", x, feed(net, norm(net, x, width), width))
    x = net.node("Gather", norm(net, x, width), "first", axis=1)
    y = net.node("Gemm", x, net.weight(1000, width, scale=width**-0.5), net.weight(1000), transB=1)
    model = net.model({"image": [1, 3, size, size]}, y, [1, 1000])
    model.opset_import[0].version = 20
    return model


def split_and_merge(net: Net, width: int, heads: int) -> None:
    """The shapes that attend() reads."""
    for name, shape in (("split", [0, 0, heads, width // heads]), ("merge", [0, 0, width])):
        net.weights.append(numpy_helper.from_array(np.array(shape, np.int64), name))


def attend(net: Net, x: str, width: int, heads: int) -> str:
    q, k, v = (net.node("Reshape", dense(net, x, width, width), "split") for _ in range(3))
    q, v = (net.node("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
    scores = net.node("MatMul", q, net.node("Transpose", k, perm=[0, 2, 3, 1]))
    scale = net.weight(1, scale=0, shift=(width // heads) ** -0.5)
    scores = net.node("Softmax", net.node("Mul", scores, scale), axis=-1)
    y = net.node("Transpose", net.node("MatMul", scores, v), perm=[0, 2, 1, 3])
    return dense(net, net.node("Reshape", y, "merge"), width, width)


def feed(net: Net, x: str, width: int) -> str:
    return dense(net, net.node("Gelu", dense(net, x, width, 4 * width)), 4 * width, width)


def dense(net: Net, x: str, n_in: int, n_out: int) -> str:
    return net.node(
        "Add",
        net.node("MatMul", x, net.weight(n_in, n_out, scale=n_in**-0.5)),
        net.weight(n_out, scale=0.1),
    )


def norm(net: Net, x: str, width: int) -> str:
    return net.node(
        "LayerNormalization",
        x,
        net.weight(width, scale=0.1, shift=1.0),
        net.weight(width, scale=0.1),
    )


MODELS = {"resnet50": resnet50, "mobilenetv2": mobilenetv2, "encoder": encoder, "vit": vit}
