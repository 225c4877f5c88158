"""Exports the trained digit classifier in several arithmetics, runs each on the 360 test images, prints what it takes.

make demo        (or: python examples/digits/demo.py)
"""

import dataclasses
import hashlib
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import pteron

HERE = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Way:
    """A line of the table: the weights' format, activations too where `static`, and who computes."""

    name: str
    quantize: str | None = None
    static: bool = False
    delegate: str = "cpu"


WAYS = (
    Way("f32"),
    Way("nf4", "nf4"),
    Way("fp8-e4m3", "fp8-e4m3"),
    Way("mxfp8", "mxfp8"),
    Way("mxfp6", "mxfp6"),
    Way("mxfp4", "mxfp4"),
    Way("int4", "int4"),
    Way("int8 weights", "int8"),
    Way("int8", "int8", True),
    Way("int8, DSP", "int8", True, "hexagon"),
    Way("int8, NPU", "int8", True, "vgf"),
)


def main() -> None:
    test = np.load(HERE / "test.npz")
    images = (test["image"] / 16).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        first(Path(folder) / "digits.pte", images)
        print()
        print(
            f"{'weights':13s} {'bits':>5s} {'accuracy':>9s} {'file KiB':>9s} {'us':>6s}  digest of the outputs"
        )
        for way in WAYS:
            row(way, Path(folder) / "row.pte", images, test["label"])
    print("us: an image, median, 1 thread; on the DSP and the NPU, which are emulated, no time")


def first(path: Path, images: np.ndarray) -> None:
    """The plain export: how long it takes, what it needs."""
    started = time.perf_counter()
    pteron.export_model(HERE / "digits.onnx", path, hints={"batch": 1})
    print(f"exported digits.onnx -> digits.pte in {time.perf_counter() - started:.1f} s")
    model = pteron.load(path, threads=1)
    run(model, images)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    onnx_kib = (HERE / "digits.onnx").stat().st_size / 1024
    print(f"file         {path.stat().st_size / 1024:.1f} KiB (ONNX {onnx_kib:.1f} KiB)")
    planned = model.sizes.arena_bytes / 1024
    print(f"memory       {planned:.1f} KiB planned, peak of this process {peak:.0f} MiB")


def row(way: Way, path: Path, images: np.ndarray, labels: np.ndarray) -> None:
    """One line, or what this machine lacks for it (`pteron doctor` tells more)."""
    reports: list = []
    try:
        pteron.export_model(
            HERE / "digits.onnx",
            path,
            quantize=way.quantize,
            calibrate=HERE / "calibration.npz" if way.static else None,
            quantized=reports.append,
            fix={"batch": 1},
            delegates=(way.delegate,) if way.delegate == "cpu" else (way.delegate, "cpu"),
            placement="warn"
            if way.delegate == "cpu"
            else "forbid",  # no line without its processor
        )
        model = pteron.load(path, threads=1)
    except pteron.PteronError as error:
        print(f"{way.name:13s} not here: {error}")
        return
    ms, logits = run(model, images)
    bits = reports[0].bits if reports else 32.0
    accuracy = np.mean(logits.argmax(1) == labels)
    digest = hashlib.blake2s(logits.tobytes(), digest_size=8).hexdigest()
    us = f"{ms * 1e3:6.0f}" if way.delegate == "cpu" else f"{'':6s}"
    kib = path.stat().st_size / 1024
    print(f"{way.name:13s} {bits:5.2f} {accuracy:9.4f} {kib:9.1f} {us}  {digest}")


def run(model: pteron.Model, images: np.ndarray) -> tuple[float, np.ndarray]:
    """Milliseconds an image (median, one at a time) and the logits of all."""
    times, logits = [], []
    for i in range(len(images)):
        started = time.perf_counter()
        logits.append(model(images[i : i + 1]))
        times.append((time.perf_counter() - started) * 1e3)
    return float(np.median(times)), np.concatenate(logits)


if __name__ == "__main__":
    main()
