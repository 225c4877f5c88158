"""Compile a model (.onnx, .pt2, model.py:make, .gguf or a checkpoint's folder) into a .pte program.

Example:

    pteron export model.onnx -o model.pte --quantize int8 --calibrate samples.npz --fix batch=1
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.schema.errors import existing

from ..source import file_of
from . import say
from .pairs import as_json, asked, file, integer, kind, model, option, pairs, ready
from .progress import progress
from .quantize import check_static, report_kind, size, static
from .wrote import wrote

if TYPE_CHECKING:
    from pteron.quantize.report import QuantReport


def add(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [options] MODEL"
    parser.add_argument(
        "model",
        type=file,
        help=".onnx or .pt2 file, or model.py:make, a module in a Python file or a function that returns (module, args[, dynamic_shapes]); "
        "a decoder's GGUF file, or folder of config.json and safetensors",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file,
        help="the program, under any name but that of another kind of file; default: the model's with .pte",
    )
    weights = parser.add_argument_group("weights and quantization")
    option(weights, "--weights", "weights", type=Path, metavar="FILE")
    option(weights, "--partial", "partial")
    option(weights, "--tokenizer", "tokenizer", type=Path, metavar="FILE")
    option(weights, "--quantize", "quantize", metavar="FORMAT")
    option(weights, "--activations", "activations")
    static(weights)
    option(weights, "--evaluate", "evaluate", type=file, metavar="FILE")
    option(weights, "--resume", "resume")
    option(weights, "--max-ram", "max_ram", type=size, metavar="SIZE")
    inputs = parser.add_argument_group("inputs and sizes")
    option(inputs, "--fix", "fix", action="append", metavar="SYMBOL=N")
    option(inputs, "--hint", "hints", action="append", metavar="SYMBOL=N")
    option(inputs, "--example", "example", type=file, metavar="FILE")
    option(inputs, "--complex-pairs", "complex_pairs")
    option(inputs, "--random-seed", "random_seed", type=integer, metavar="N")
    option(inputs, "--no-check", "check")
    decoder = parser.add_argument_group("decoders and states")
    option(decoder, "--max-context", "max_context", type=integer, metavar="TOKENS")
    option(decoder, "--cache", "cache")
    option(decoder, "--logits", "logits")
    option(decoder, "--state", "states", action="append", metavar="INPUT=OUTPUT")
    target = parser.add_argument_group("target and speed")
    option(target, "--delegate", "delegates", metavar="NAMES")
    option(target, "--placement", "placement")
    option(target, "--mode", "mode")
    option(target, "--tune", "tune", type=file, metavar="FILE")
    option(target, "--fast-conv", "fast_conv")
    option(target, "--no-fuse", "fuse")
    out = parser.add_argument_group("reports and other outputs")
    option(out, "--dry-run", "dry_run")
    option(out, "--report", "report", type=file, metavar="FILE")
    option(out, "--save-onnx", "save_onnx", type=file, metavar="FILE")
    option(out, "--kernel-list", "kernel_list", type=file, metavar="FILE")
    option(out, "--strip", "strip")
    as_json(out)
    out.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from ..pipeline import export_model

    model(args.model)
    check_static(args, args.quantize, "--quantize")
    out = args.output or file_of(args.model).with_suffix(".pte")
    kind("--output", out, ".pte")
    kind("--save-onnx", args.save_onnx, ".onnx")
    target = None if args.dry_run else out
    written = args.statistics if args.calibrate else None
    measured = args.tune if args.mode == "max-autotune" else None
    outputs = [
        target, args.ranges, args.report, args.kernel_list, args.save_onnx, written, measured
    ]  # fmt: skip
    report_kind(args.report)
    for given in (args.weights, args.tokenizer):
        if given is not None and not given.is_dir():
            existing(given)
    kind("--tune", args.tune, ".json")
    read = [None if written else args.statistics, None if measured else args.tune]
    ready(
        outputs,
        [file_of(args.model), args.weights, args.tokenizer, args.calibrate, args.example, *read],
    )
    options = asked(args) | {
        "states": pairs("--state", args.states, str),
        "hints": pairs("--hint", args.hints, integer),
        "fix": pairs("--fix", args.fix, integer),
    }
    done: list[QuantReport] = []
    with progress(args.quiet or args.json) as tell:
        report = export_model(args.model, out, progress=tell, quantized=done.append, **options)

    def text() -> str:
        return "\n".join([report.as_text(), *wrote(target, args.model, done)])

    say.result("export", args.json, report.as_dict(), text, outputs)
    return 0
