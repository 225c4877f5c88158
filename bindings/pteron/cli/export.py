"""Compile a model (.onnx, .pt2) into a .pte program."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pteron.schema.errors import PteronError

from . import say
from .progress import progress
from .quantize import arithmetic, check_static, keep_ranges, report_kind, static


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help=".onnx or .pt2 file")
    parser.add_argument("-o", "--output", type=Path, help="default: the model's name with .pte")
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="INPUT=OUTPUT",
        help="the session keeps this pair between runs (a cache): past_key=present_key; past_*=present_* is every such pair",
    )
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="SYMBOL=N",
        help="size of a symbolic dimension for which the stored memory plan is made",
    )
    parser.add_argument(
        "--fix",
        action="append",
        default=[],
        metavar="SYMBOL=N",
        help="makes a symbolic dimension a number: delegates take fixed sizes alone",
    )
    parser.add_argument(
        "--delegate",
        metavar="NAMES",
        default="cpu",
        help="who runs what it can, in this order: hexagon,cpu",
    )
    parser.add_argument(
        "--placement",
        choices=("allow", "warn", "forbid"),
        default="warn",
        help="the CPU in a delegate's place: allowed, with a warning, or never",
    )
    parser.add_argument(
        "--quantize",
        metavar="FORMAT",
        help="round the weights first, as `pteron quantize --format` does: nf4, mxfp4 ...",
    )
    static(parser)
    parser.add_argument(
        "--no-fuse", action="store_true", help="one instruction an operator: same bits, slower"
    )
    parser.add_argument("--strip", action="store_true", help="without names and source lines")
    parser.add_argument(
        "--check", action="store_true", help="lower only: report problems, write nothing"
    )
    parser.add_argument(
        "--no-check",
        action="store_true",
        help="a .pt2 file's program is not run on its example inputs and compared with PyTorch",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write the report, or the error, as .json or .html",
    )
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    arithmetic(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from ..pipeline import export_model
    from .pages.export import export_page, failure_page
    from .pairs import kind, model, names, pairs, ready

    model(args.model)
    check_static(args, args.quantize, "--quantize")
    out = args.output or args.model.with_suffix(".pte")
    kind("--output", out, ".pte")
    outputs = [None if args.check else out, args.ranges, args.report]
    report_kind(args.report)
    ready(outputs, [args.model, args.calibrate])
    try:
        with progress(args.quiet or args.json) as tell:
            report = export_model(
                args.model,
                None if args.check else out,
                states=pairs("--state", args.state, str),
                hints=pairs("--dim", args.dim, int),
                fix=pairs("--fix", args.fix, int),
                delegates=names(args.delegate),
                placement=args.placement,
                fuse=not args.no_fuse,
                debug=not args.strip,
                quantize=args.quantize,
                exec_mode=args.exec,
                progress=tell,
                quantized=lambda each: keep_ranges(each, args.ranges),
                calibrate=args.calibrate,
                samples=args.samples,
                check=not args.no_check,
            )
    except PteronError as error:
        if args.report:
            write_report(args, failure_page(error, str(args.model)), say.facts_of(error))
        raise
    if args.report:
        write_report(args, export_page(report, str(args.model)), report.as_dict())
    say.result("export", args.json, report.as_dict(), report.as_text, outputs)
    return 0


def write_report(args: argparse.Namespace, html: str, facts: Mapping[str, Any]) -> None:
    from pteron.export.write import write_text

    write_text(args.report, html if args.report.suffix == ".html" else say.as_text("export", facts))
