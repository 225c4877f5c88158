"""Exports the trained digit classifier, runs the program on the 360 test images, prints what it takes.

make demo        (or: python examples/digits/demo.py)
"""

import hashlib
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import pteron

HERE = Path(__file__).parent


def main() -> None:
    test = np.load(HERE / "test.npz")
    images = (test["image"] / 16).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.pte"
        started = time.perf_counter()
        pteron.export_model(HERE / "digits.onnx", path, hints={"batch": 1})
        print(f"exported digits.onnx -> digits.pte in {time.perf_counter() - started:.1f} s")
        model = pteron.load(path, threads=1)
        ms, logits = run(model, images)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        onnx_kib = (HERE / "digits.onnx").stat().st_size / 1024
        print(f"accuracy     {accuracy(logits, test):.4f} of {len(images)} images")
        print(f"file         {path.stat().st_size / 1024:.1f} KiB (ONNX {onnx_kib:.1f} KiB)")
        planned = model.sizes.arena_bytes / 1024
        print(f"memory       {planned:.1f} KiB planned, peak of this process {peak:.0f} MiB")
        print(f"latency      {ms * 1e3:.0f} us an image, median, 1 thread")
        print()
        print(
            f"{'weights':9s} {'bits':>5s} {'accuracy':>9s} {'file KiB':>9s} {'us':>6s}  digest of the outputs"
        )
        for name in ("f32", "nf4", "fp8-e4m3", "mxfp8", "mxfp6", "mxfp4", "int8", "int4"):
            row(name, Path(folder) / f"{name}.pte", images, test)


def row(name: str, path: Path, images: np.ndarray, test: dict) -> None:
    """One line: the weights in a format, rounded to nearest, in its default arithmetic (`pteron inspect` names it)."""
    reports: list = []
    wanted = None if name == "f32" else name
    pteron.export_model(HERE / "digits.onnx", path, quantize=wanted, quantized=reports.append)
    model = pteron.load(path, threads=1)
    ms, logits = run(model, images)
    bits = reports[0].bits if reports else 32.0
    digest = hashlib.blake2s(logits.tobytes(), digest_size=8).hexdigest()
    kib = path.stat().st_size / 1024
    print(
        f"{name:9s} {bits:5.2f} {accuracy(logits, test):9.4f} {kib:9.1f} {ms * 1e3:6.0f}  {digest}"
    )


def run(model: pteron.Model, images: np.ndarray) -> tuple[float, np.ndarray]:
    """Milliseconds an image (median, one at a time) and the logits of all."""
    times, logits = [], []
    for i in range(len(images)):
        started = time.perf_counter()
        logits.append(model(images[i : i + 1]))
        times.append((time.perf_counter() - started) * 1e3)
    return float(np.median(times)), np.concatenate(logits)


def accuracy(logits: np.ndarray, test: dict) -> float:
    return float(np.mean(logits.argmax(1) == test["label"]))


if __name__ == "__main__":
    main()
