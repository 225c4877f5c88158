"""Compile a model (.onnx, .pt2, model.py:make) into a .pte program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.schema.errors import existing

from ..source import file_of
from . import say
from .pairs import asked, file, integer, kind, model, option, pairs, ready
from .progress import progress
from .quantize import check_static, report_kind, size, static
from .wrote import wrote

if TYPE_CHECKING:
    from pteron.quantize.report import QuantReport


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        type=file,
        help=".onnx or .pt2 file, or model.py:make, a module in a Python file or a function that returns (module, args[, dynamic_shapes])",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file,
        help="the program, under any name but that of another kind of file; default: the model's with .pte",
    )
    option(parser, "--state", "states", action="append", metavar="INPUT=OUTPUT")
    option(parser, "--max-context", "max_context", type=integer, metavar="TOKENS")
    option(parser, "--cache", "cache")
    option(parser, "--logits", "logits")
    option(parser, "--hint", "hints", action="append", metavar="SYMBOL=N")
    option(parser, "--fix", "fix", action="append", metavar="SYMBOL=N")
    option(parser, "--example", "example", type=file, metavar="FILE")
    option(parser, "--random-seed", "random_seed", type=integer, metavar="N")
    option(parser, "--delegate", "delegates", metavar="NAMES")
    option(parser, "--placement", "placement")
    option(parser, "--weights", "weights", type=Path, metavar="FILE")
    option(parser, "--partial", "partial")
    option(parser, "--tokenizer", "tokenizer", type=Path, metavar="FILE")
    option(parser, "--quantize", "quantize", metavar="FORMAT")
    static(parser)
    option(parser, "--evaluate", "evaluate", type=file, metavar="FILE")
    option(parser, "--resume", "resume")
    option(parser, "--max-ram", "max_ram", type=size, metavar="SIZE")
    option(parser, "--no-fuse", "fuse")
    option(parser, "--fast-conv", "fast_conv")
    option(parser, "--mode", "mode")
    option(parser, "--tune", "tune", type=file, metavar="FILE")
    option(parser, "--strip", "strip")
    option(parser, "--dry-run", "dry_run")
    option(parser, "--no-check", "check")
    option(parser, "--complex-pairs", "complex_pairs")
    option(parser, "--report", "report", type=file, metavar="FILE")
    option(parser, "--save-onnx", "save_onnx", type=file, metavar="FILE")
    option(parser, "--kernel-list", "kernel_list", type=file, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    option(parser, "--exec-mode", "exec_mode")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


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
