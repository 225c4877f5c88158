"""Check a program: digests of every segment, structure, and optionally outputs against a reference.

With --inputs and --outputs (both .npz) the program is run and its outputs are compared. Otherwise no delegate is needed: what
one that is not here would say of its payload stays open, and verify says so.

Example:

    pteron verify model.pte --inputs inputs.npz --outputs expected.npz
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError, DelegateError, PlacementWarning, ProgramError
from pteron.schema.printable import joined, printable

from ..runtime import Program, Session
from . import say
from .pairs import arrays, as_json, file, program, tolerance


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file")
    parser.add_argument("--inputs", type=file, metavar="NPZ", help="inputs of a run, by name")
    parser.add_argument(
        "--outputs", type=file, metavar="NPZ", help="expected outputs of that run, by name"
    )
    parser.add_argument(
        "--rtol", type=tolerance, default=1e-3, help="allowed relative error (default 1e-3)"
    )
    parser.add_argument(
        "--atol",
        type=tolerance,
        default=1e-4,
        help="allowed absolute error, as a fraction of the largest expected value (default 1e-4)",
    )
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    if (args.inputs is None) != (args.outputs is None):
        raise ArgumentError("expected --inputs and --outputs, got one of them; give both or none")
    opened = Program(program(args.program))
    problems, unseen = changed(opened), list[str]()
    if not problems:
        unseen = unopened(opened)
        if args.inputs:
            problems = compare(opened, args)
    facts = {"ok": not problems, "problems": problems, "unopened": unseen}
    if problems and not args.json:
        for problem in problems:
            say.aside(f"{say.paint('pteron verify:', 31, sys.stderr)} {printable(problem)}")
    else:
        say.result("verify", args.json, facts, lambda: text(opened, unseen))
    return 6 if problems else 0


def text(opened: Program, unseen: list[str]) -> str:
    lines = [f"{opened.path}: ok, {opened.size_bytes} bytes, every digest holds"]
    return joined([*lines, *(f"  payload not opened: {reason}" for reason in unseen)])


def changed(opened: Program) -> list[str]:
    """Segments whose bytes are not those that were exported."""
    try:
        opened.check_digests()
    except ProgramError as error:
        return [str(error)]
    return []


def compare(opened: Program, args: argparse.Namespace) -> list[str]:
    """Runs the program on `--inputs`; where its outputs differ from `--outputs`."""
    feeds, want = arrays(args.inputs), arrays(args.outputs)
    if not (isinstance(feeds, dict) and isinstance(want, dict)):
        raise ArgumentError(
            "--inputs, --outputs: expected .npz files with arrays by name, got .npy"
        )
    if not want:
        raise ArgumentError(f"--outputs {args.outputs}: expected at least one output, got none")
    got = Session(opened).run(feeds)
    return [p for name in want for p in differences(name, got.get(name), want[name], args)]


def unopened(opened: Program) -> list[str]:
    """Opens a session of each method; why a delegate did not take its payload there, which is no fault of the file's bytes."""
    reasons: list[str] = []
    for method in opened.methods:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PlacementWarning)
                parts = Session(opened, method.name).placements
            reasons += [p.reason for p in parts if not p.placed]
        except DelegateError as error:
            reasons.append(str(error))
    return list(dict.fromkeys(reasons))


def differences(name: str, got: Any, want: Any, args: argparse.Namespace) -> list[str]:
    """What is wrong with one output, in words; empty when it agrees."""
    if got is None:
        return [f"{name}: the program has no such output"]
    if want.dtype.kind == "V" and want.dtype.itemsize == got.dtype.itemsize:
        want = want.view(got.dtype)  # an .npz does not keep the names of small floats
    if want.dtype.kind not in "biuf" and want.dtype != got.dtype:
        return [f"{name}: expected numbers to compare with, got {want.dtype}"]
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
