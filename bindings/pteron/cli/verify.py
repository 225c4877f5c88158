"""Check a program: digests of every segment, structure, and optionally outputs against a reference.

With --inputs and --outputs (both .npz) the program is run and its outputs are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pteron.runtime import load


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=Path)
    parser.add_argument("--inputs", type=Path, metavar="NPZ")
    parser.add_argument("--outputs", type=Path, metavar="NPZ", help="what they should be")
    parser.add_argument("--rtol", type=float, default=1e-3)
    parser.add_argument(
        "--atol", type=float, default=1e-4, help="as a fraction of the largest reference value"
    )
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    model = load(args.program, threads=1)
    model.program.check_digests()
    problems: list[str] = []
    if args.inputs and args.outputs:
        got = model.run(dict(np.load(args.inputs, allow_pickle=False)))
        want = dict(np.load(args.outputs, allow_pickle=False))
        problems = [p for name in want for p in differences(name, got.get(name), want[name], args)]
    if args.json:
        print(json.dumps({"ok": not problems, "problems": problems}))
    elif problems:
        print("\n".join(problems), file=sys.stderr)
    else:
        print(f"{args.program}: ok, {model.program.size_bytes} bytes, every digest holds")
    return 6 if problems else 0


def differences(name: str, got: Any, want: Any, args: argparse.Namespace) -> list[str]:
    """What is wrong with one output, in words; empty when it agrees."""
    if got is None:
        return [f"{name}: the program has no such output"]
    if got.shape != want.shape:
        return [f"{name}: expected shape {want.shape}, got {got.shape}"]
    if want.dtype.kind in "biu":
        wrong = int(np.sum(got != want))
        return [f"{name}: {wrong} of {want.size} values differ"] if wrong else []
    x, y = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(y)
    limit = args.rtol * np.abs(y) + args.atol * np.abs(y[finite]).max(initial=0.0)
    bad = np.where(finite, ~(np.abs(x - y) <= limit), ~((x == y) | (np.isnan(x) & np.isnan(y))))
    if not bad.any():
        return []
    worst = np.nanmax(np.abs(np.where(finite, x - y, 0)))
    return [f"{name}: {int(bad.sum())} of {want.size} beyond tolerance, worst {worst:.3g}"]
