"""Run a program once, and show or save its outputs.

Example:

    pteron run model.pte --input image=image.npy -o outputs.npz
"""

from __future__ import annotations

import argparse
import hashlib
import time
from typing import Any, Final

import numpy as np

from pteron.export.write import write_whole
from pteron.schema.arrays import write_arrays
from pteron.schema.printable import joined

from . import feeds, say
from .pairs import as_json, file, kind, ready, seconds


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file")
    feeds.add(parser)
    parser.add_argument("-o", "--output", type=file, help="save the outputs as .npz")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="end the run after S seconds")
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    kind("--output", args.output, ".npz")
    ready([args.output], [args.program, *feeds.files(args)])
    model = feeds.model_of(args)
    inputs = feeds.of(args, model)
    started = time.perf_counter()
    outputs = model.run(inputs, timeout_s=args.timeout)
    ms = (time.perf_counter() - started) * 1e3
    if args.output:
        write_whole(args.output, lambda part: write_arrays(part, outputs))
    rows = {name: describe(array) for name, array in outputs.items()}
    seed = None if args.input else args.seed or 0
    facts = {"outputs": rows, "ms": ms, "seed": seed}
    say.result("run", args.json, facts, lambda: text(rows, outputs, ms, seed), [args.output])
    return 0


def text(
    rows: dict[str, dict[str, Any]], outputs: dict[str, Any], ms: float, seed: int | None
) -> str:
    lines = []
    for name, row in rows.items():
        lines.append(f"{name}: {row['dtype']}{row['shape']}  digest {row['digest']}")
        lines.append("  " + elements(outputs[name]))
    made = "" if seed is None else f"; random inputs, seed {seed}"
    return joined([*lines, f"{ms:.2f} ms, prepare included{made}"])


SHOWN: Final = 16
"""Elements that are printed; of more the first, and how many there are."""


def elements(array: Any) -> str:
    """As numbers; what is left out is said."""
    flat = array.ravel()
    if flat.size <= SHOWN:
        return np.array2string(flat, precision=6, separator=", ", max_line_width=100)
    first = np.array2string(flat[:8], precision=6, separator=", ", max_line_width=100)
    return f"{first[:-1]}, ...] ({flat.size:,} elements)"


def describe(array: Any) -> dict[str, Any]:
    """Its dtype, shape, and digest: BLAKE2s-64 of the bytes, every NaN written as the same one."""
    canonical = array
    if array.dtype.kind == "f":
        canonical = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    digest = hashlib.blake2s(np.ascontiguousarray(canonical).tobytes(), digest_size=8).hexdigest()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "digest": digest}
