"""Inputs of a command: files, or random numbers from a stated seed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError

from ..runtime import Model, load
from ..runtime.arrays import made_up
from .pairs import arrays, at_least, dims, integer, names, pairs, program

Feeds = dict[str, Any]


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        "-i",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help=".npz with every input by name, or .npy of one input (repeat); default: random inputs",
    )
    parser.add_argument("--seed", type=at_least(0), help="seed of random inputs (default 0)")
    dims(parser, "its lower bound, at least 1", " for random inputs")
    parser.add_argument(
        "--threads", type=at_least(0, 256), default=None, help="threads (default: all)"
    )
    parser.add_argument(
        "--check", action="store_true", help="hash every byte first: a changed weight is refused"
    )
    parser.add_argument("--method", help="method to run (default: the first)")
    parser.add_argument(
        "--delegate",
        metavar="NAMES",
        help="delegates that may run their parts: hexagon,vgf, or cpu for none (default: all of this build)",
    )


def files(args: argparse.Namespace) -> list[Path]:
    """The files that `--input` names."""
    return [Path(item.rpartition("=")[2]) for item in args.input]


def model_of(args: argparse.Namespace) -> Model:
    """The program that the command line names, opened as it says."""
    delegates = None if args.delegate is None else names(args.delegate)
    return load(
        program(args.program),
        threads=args.threads,
        method=args.method,
        delegates=delegates,
        check=args.check,
    )


def of(args: argparse.Namespace, model: Model) -> Feeds:
    """The inputs that the command line asks for.

    Raises:
        ArgumentError: an unknown input or symbol; a file that holds something else.
    """
    if not args.input:
        return _made_up(args, model)
    if args.dim or args.seed is not None:
        option = "--dim" if args.dim else "--seed"
        raise ArgumentError(f"{option}: is for random inputs; drop it, or drop --input")
    inputs = model.info.inputs
    feeds: Feeds = {}
    for item in args.input:
        name, _, path = item.rpartition("=")
        loaded = arrays(Path(path))
        if not isinstance(loaded, dict) and not name and len(inputs) != 1:
            there = ", ".join(p.name for p in inputs)
            raise ArgumentError(
                f"--input {item}: say which input it is: NAME={path}; one of {there}"
            )
        if isinstance(loaded, dict) and name:
            raise ArgumentError(
                f"--input {item}: expected an .npy file of one input, got .npz, which names its own"
            )
        got = loaded if isinstance(loaded, dict) else {name or inputs[0].name: loaded}
        if twice := sorted(set(got) & set(feeds)):
            raise ArgumentError(f"--input {item}: expected {twice[0]} once, got it twice")
        feeds |= got
    return {name: _typed(array, name, model) for name, array in feeds.items()}


def _typed(array: Any, name: str, model: Model) -> Any:
    """Bytes that an .npz has without their type (bfloat16, 8-bit floats) get that of the input."""
    for port in model.info.inputs:
        want = port.numpy_dtype
        if port.name == name and array.dtype.kind == "V" and array.dtype.itemsize == want.itemsize:
            return array.view(want)
    return array


def _made_up(args: argparse.Namespace, model: Model) -> Feeds:
    inputs = model.info.inputs
    sizes = pairs("--dim", args.dim, integer)
    bounds = {
        name: ((low - offset) // factor, (high - offset) // factor)
        for p in inputs
        for (name, factor, offset), (low, high) in zip(p.lines, p.bounds)
        if factor
    }
    if unknown := sorted(set(sizes) - set(bounds)):
        raise ArgumentError(
            f"--dim {', '.join(unknown)}: the inputs have {', '.join(sorted(bounds)) or 'none'}"
        )
    for name, size in sizes.items():
        low, high = bounds[name]
        if not low <= size <= high:
            raise ArgumentError(f"--dim {name}={size}: expected a size from {low} to {high}")
    rng = np.random.default_rng(args.seed or 0)
    try:
        return {p.name: made_up(p, sizes, rng) for p in inputs}
    except ValueError as error:  # more elements than an array can have
        raise MemoryError(str(error)) from None
