"""Exports the trained digit classifier, runs the program on the 360 test images, prints what it takes.

make demo        (or: python examples/digits/demo.py)
"""

import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import pteron

HERE = Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.pte"
        started = time.perf_counter()
        pteron.export_model(HERE / "digits.onnx", path, hints={"batch": 1})
        print(f"exported digits.onnx -> digits.pte in {time.perf_counter() - started:.1f} s")
        model = pteron.load(path, threads=1)
        test = np.load(HERE / "test.npz")
        images = (test["image"] / 16).astype(np.float32)
        predicted = np.concatenate([model(images[i : i + 1]) for i in range(len(images))]).argmax(1)
        ms = []
        for i in range(200):
            started = time.perf_counter()
            model(images[i : i + 1])
            ms.append((time.perf_counter() - started) * 1e3)
        print(f"accuracy     {np.mean(predicted == test['label']):.4f} of {len(images)} images")
        print(
            f"file         {path.stat().st_size / 1024:.1f} KiB (ONNX {(HERE / 'digits.onnx').stat().st_size / 1024:.1f} KiB)"
        )
        print(
            f"memory       {model.sizes.arena_bytes / 1024:.1f} KiB planned, peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
        )
        print(f"latency      {np.median(ms) * 1e3:.0f} us an image, median of {len(ms)}, 1 thread")


if __name__ == "__main__":
    main()
