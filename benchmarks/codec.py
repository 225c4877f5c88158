"""Encoders: millions of weights a second on one core, C and NumPy: python benchmarks/codec.py"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from pteron.quantize.encode import blocks
from pteron.quantize.encode.table import FORMATS

REPEATS = 7


def rate(work: Callable[[], object], weights: int) -> float:
    """The best of some runs, in millions a second."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return weights / min(times) / 1e6


def main() -> None:
    w = np.random.default_rng(0).standard_normal((1024, 4096)).astype(np.float32)
    print(f"{'format':9s} {'C':>8s} {'NumPy':>8s}  M weights/s, one core")
    for fmt in FORMATS.values():
        quick = rate(lambda: blocks.encode(w, fmt), w.size)  # noqa: B023
        slow = rate(lambda: blocks.reference(w, fmt), w.size)  # noqa: B023
        print(f"{fmt.name:9s} {quick:8.0f} {slow:8.1f}")


if __name__ == "__main__":
    main()
