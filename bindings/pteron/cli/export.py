"""Compile a model (.onnx, .pt2) into a .pte program."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pteron.schema.errors import PteronError, existing

from . import say
from .pairs import asked, file, integer, kind, model, option, pairs, ready
from .progress import progress
from .quantize import check_static, keep_ranges, report_kind, static


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, help=".onnx or .pt2 file")
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
    option(parser, "--dim", "hints", action="append", metavar="SYMBOL=N")
    option(parser, "--fix", "fix", action="append", metavar="SYMBOL=N")
    option(parser, "--delegate", "delegates", metavar="NAMES")
    option(parser, "--placement", "placement")
    option(parser, "--weights", "weights", type=Path, metavar="FILE")
    option(parser, "--partial", "partial")
    option(parser, "--quantize", "quantize", metavar="FORMAT")
    static(parser)
    option(parser, "--no-fuse", "fuse")
    option(parser, "--fast-conv", "fast_conv")
    option(parser, "--mode", "mode")
    option(parser, "--tune", "tune", type=file, metavar="FILE")
    option(parser, "--strip", "debug")
    parser.add_argument(
        "--check",
        action="store_true",
        dest="is_trial",
        help="lower only: report problems, write nothing",
    )
    option(parser, "--no-check", "check")
    parser.add_argument(
        "--report",
        type=file,
        metavar="FILE",
        help="write the report, or the error, as .json or .html",
    )
    parser.add_argument(
        "--emit-kernel-list",
        dest="kernel_list",
        type=file,
        metavar="FILE",
        help="write a header for a build with the program's kernels alone (CMake: PTE_KERNEL_LIST)",
    )
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    option(parser, "--exec", "exec_mode")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from pteron.export.write import together

    from ..pipeline import export_model
    from .pages.export import export_page, failure_page

    model(args.model)
    check_static(args, args.quantize, "--quantize")
    out = args.output or args.model.with_suffix(".pte")
    kind("--output", out, ".pte")
    target = None if args.is_trial else out
    written = args.statistics if args.calibrate else None
    measured = args.tune if args.mode == "max-autotune" else None
    outputs = [target, args.ranges, args.report, args.kernel_list, written, measured]
    report_kind(args.report)
    if args.weights is not None and not args.weights.is_dir():
        existing(args.weights)
    kind("--tune", args.tune, ".json")
    read = [None if written else args.statistics, None if measured else args.tune]
    ready(outputs, [args.model, args.weights, args.calibrate, *read])
    options = asked(args) | {
        "states": pairs("--state", args.states, str),
        "hints": pairs("--dim", args.hints, integer),
        "fix": pairs("--fix", args.fix, integer),
        "quantized": lambda each: keep_ranges(each, args.ranges),
    }
    report = None
    try:
        with together():
            with progress(args.quiet or args.json) as tell:
                report = export_model(args.model, target, progress=tell, **options)
            if args.kernel_list and target:
                write_kernel_list(args.kernel_list, target)
            if args.report:
                write_report(args, export_page(report, str(args.model)), report.as_dict())
    except PteronError as error:
        if args.report and report is None:
            write_report(args, failure_page(error, str(args.model)), say.facts_of(error))
        raise
    say.result("export", args.json, report.as_dict(), report.as_text, outputs)
    return 0


def write_kernel_list(path: Path, program: Path) -> None:
    from pteron.export.file.read import read
    from pteron.export.program.kernels import header, kernels_of
    from pteron.export.write import complete, write_text

    kernels = kernels_of(read(complete(program).read_bytes()))
    write_text(path, header(kernels, program.name))


def write_report(args: argparse.Namespace, html: str, facts: Mapping[str, Any]) -> None:
    from pteron.export.write import write_text

    write_text(args.report, html if args.report.suffix == ".html" else say.as_text("export", facts))
