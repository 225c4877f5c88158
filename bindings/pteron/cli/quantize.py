"""Quantize the weights of a model: to an ONNX model with Q/DQ nodes, or straight to a .pte program.

Weights of MatMul, Gemm and Conv, rounded to nearest. With --format int8 --calibrate activations too: static int8, integers
from end to end. An .onnx result declares the lowest opset that has its types, so that other runtimes open it where
their kernels allow.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from . import say
from .pairs import asked, at_least, existing, file, kind, model, option, pairs, ready
from .progress import Tell, progress

if TYPE_CHECKING:
    from pteron.quantize.quantize import Calibration
    from pteron.quantize.recipe import Recipe
    from pteron.quantize.report import QuantReport


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, help=".onnx or .pt2 file")
    parser.add_argument("-o", "--output", type=file, required=True, help="an .onnx or .pte file")
    parser.add_argument("--format", required=True, help="nf4, mxfp4 ...; an unknown one names all")
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="REGEX=FORMAT",
        help="layers whose name REGEX finds get FORMAT, or stay as they are (skip); the last match wins",
    )
    static(parser)
    parser.add_argument("--embeddings", action="store_true", help="tables that Gather reads, too")
    parser.add_argument(
        "--report", type=file, metavar="FILE", help="write the report as .json or .html"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    option(parser, "--exec", "exec_mode")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def static(parser: argparse.ArgumentParser) -> None:
    """Options of static int8, which `export` has too."""
    option(parser, "--calibrate", "calibrate", type=file, metavar="FILE")
    option(parser, "--samples", "samples", type=at_least(1), metavar="N")
    parser.add_argument(
        "--ranges", type=file, metavar="FILE", help="write the ranges found, for --calibrate"
    )


def check_static(args: argparse.Namespace, format: str | None, option: str) -> Recipe | None:
    """The recipe that the options ask for, before any work.

    Raises:
        FileNotFoundError: nothing to calibrate with.
        ArgumentError: no such format, no such rule, or options that do not go together.
    """
    from pteron.schema.errors import ArgumentError

    kind("--ranges", args.ranges, ".json")
    if args.calibrate:
        existing(args.calibrate)
        if format != "int8":
            raise ArgumentError(f"--calibrate {args.calibrate}: expected {option} int8, too")
        if args.calibrate.suffix != ".json":
            calibration(args.calibrate)
    elif args.ranges:
        raise ArgumentError(f"--ranges {args.ranges}: expected --calibrate, too")
    elif "samples" in getattr(args, "given", ()):
        raise ArgumentError(f"--samples {args.samples}: expected --calibrate, too")
    if format is None:
        return None
    from pteron.quantize.recipe import recipe

    rules = pairs("--rule", getattr(args, "rule", ()), str)
    return recipe(format, rules, getattr(args, "embeddings", False))


def calibration(path: Path) -> None:
    """Raises ArgumentError: the file has no arrays by name. Arrays are not read for that."""
    from pteron.schema.errors import ArgumentError

    if not zipfile.is_zipfile(path):
        raise ArgumentError(
            f"{path}: expected an .npz file of samples or ranges (.json), got something else; write it with numpy.savez"
        )


def report_kind(path: Path | None) -> None:
    """Raises ArgumentError: a report is a page or JSON, by its name."""
    from pteron.schema.errors import ArgumentError

    if path is not None and path.suffix not in (".html", ".json"):
        raise ArgumentError(f"--report {path}: expected an .html or .json file")


def keep_ranges(report: QuantReport, path: Path | None) -> None:
    """Writes what `--ranges` asks for."""
    if path is not None and report.ranges is not None:
        from pteron.export.write import write_text

        write_text(path, report.ranges.as_json())


def run(args: argparse.Namespace) -> int:
    model(args.model)
    kind("--output", args.output, ".onnx", ".pte")
    report_kind(args.report)
    outputs = [args.output, args.report, args.ranges]
    ready(outputs, [args.model, args.calibrate])
    chosen = check_static(args, args.format, "--format")
    assert chosen is not None  # --format is required
    with progress(args.quiet or args.json) as tell:
        report = write(args, chosen, tell)
    keep_ranges(report, args.ranges)
    if args.report:
        from pteron.export.write import write_text

        from .pages.quantization import quantization_page

        html = args.report.suffix == ".html"
        write_text(
            args.report,
            quantization_page(report, str(args.model))
            if html
            else say.as_text("quantize", report.as_dict()),
        )
    say.result("quantize", args.json, report.as_dict(), report.as_text, outputs)
    return 0


def write(args: argparse.Namespace, chosen: Recipe, tell: Tell) -> QuantReport:
    """Quantizes and writes the output by its suffix."""
    from pteron.schema.errors import ArgumentError

    if args.output.suffix == ".pte":
        from ..pipeline import export_model

        done: list[QuantReport] = []
        export_model(
            args.model,
            args.output,
            quantize=chosen,
            progress=tell,
            quantized=done.append,
            **asked(args),
        )
        return done[0]
    if args.output.suffix != ".onnx":
        raise ArgumentError(f"--output {args.output}: expected an .onnx or .pte file")
    if "exec_mode" in getattr(args, "given", ()):
        raise ArgumentError(
            f"--exec {args.exec_mode}: is of programs; drop it, or write a .pte instead of {args.output}"
        )
    if args.model.suffix == ".pt2":
        raise ArgumentError(
            f"{args.model}: expected an .onnx model for an .onnx output; write a .pte, or export to ONNX first"
        )
    calibration = None
    if args.calibrate:
        from pteron.quantize.quantize import Calibration

        from ..pipeline import record

        calibration = Calibration(args.calibrate, record, args.samples)
    from ..pipeline import distinct

    distinct(args.model, args.output)
    return to_onnx(args.model, args.output, chosen, tell, calibration)


def to_onnx(
    source: Path,
    out: Path,
    chosen: Recipe,
    tell: Tell,
    calibration: Calibration | None = None,
) -> QuantReport:
    """An ONNX model to a quantized one at the lowest opset that has the types.

    Before activations are quantized BatchNormalization goes into the weights, as `export` does it.
    """
    from pteron.export.capture.onnx import capture_onnx
    from pteron.export.graph.save import save_onnx
    from pteron.export.passes.batch_norm import fold_batch_norm
    from pteron.export.passes.clean import remove_no_ops, remove_unused
    from pteron.export.passes.dedupe import lift_constants
    from pteron.quantize.quantize import opset_of, quantize_model

    captured = capture_onnx(source, opset=opset_of(chosen))
    if calibration is not None:
        for step in (lift_constants, remove_no_ops, fold_batch_norm, remove_unused):
            step(captured)
    model, report = quantize_model(captured, chosen, progress=tell, calibration=calibration)
    save_onnx(model, out)
    return report
