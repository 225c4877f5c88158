"""Quantize the weights of a model: to an ONNX model with Q/DQ nodes, or straight to a .pte program.

Weights of MatMul, Gemm and Conv under the scales that cost least; with --calibrate by GPTQ. With --format int8 --calibrate activations
too: static int8, integers from end to end. An .onnx result declares the lowest opset that has its types, so that other runtimes open it where
their kernels allow.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.quantize.recipe import ACTIVATIONS, ALGORITHMS, METRICS, RANGES, ROTATIONS, SCALINGS
from pteron.schema.errors import existing

from . import say
from .pairs import asked, at_least, file, kind, model, option, pairs, ready
from .progress import Tell, progress

if TYPE_CHECKING:
    from pteron.quantize.journal import Journal
    from pteron.quantize.quantize import Calibration, Method
    from pteron.quantize.recipe import Recipe
    from pteron.quantize.report import QuantReport


NPY = b"\x93NUMPY"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, help=".onnx or .pt2 file")
    parser.add_argument(
        "-o", "--output", type=file, help="an .onnx or .pte file; needed, but for --dry-run"
    )
    parser.add_argument("--format", help="nf4, mxfp4 ...; an unknown one names all")
    parser.add_argument(
        "--recipe",
        type=file,
        metavar="FILE",
        help="what --format, --rule, --embeddings, --algorithm, --activations, --scaling, --rotation, --seed, --range and the targets say, as YAML",
    )
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="REGEX=FORMAT",
        help="layers whose name REGEX finds get FORMAT, or stay as they are (skip); the last match wins",
    )
    parser.add_argument(
        "--algorithm",
        choices=ALGORITHMS,
        default="",
        help="default: gptq where there are samples or statistics, else search",
    )
    parser.add_argument(
        "--activations", choices=ACTIVATIONS, default="auto",
        help="auto: int8 with --format int8 --calibrate, else float; int16 there loses less and takes longer",
    )  # fmt: skip
    parser.add_argument(
        "--scaling", choices=SCALINGS, default="none",
        help="with samples: channels that layers read are scaled before weights are rounded (AWQ), by weights and norms around "
        "them (fold), or by a multiplication more where those cannot (multiply)",
    )  # fmt: skip
    parser.add_argument(
        "--rotation", choices=ROTATIONS, default="none",
        help="channels are rotated in the weights around them before these are rounded (QuaRot): of the values of attention heads, of "
        "the residual stream, or of both (all)",
    )  # fmt: skip
    parser.add_argument("--seed", type=at_least(0), default=0, help="of the signs of --rotation")
    parser.add_argument(
        "--range", choices=RANGES, default="",
        help="of activations in static int8: all of what samples showed (minmax, the default), or without outliers, by how many "
        "(percentile), by what codes tell of how elements lie (entropy) or by what they miss (mse)",
    )  # fmt: skip
    static(parser)
    parser.add_argument("--embeddings", action="store_true", help="tables that Gather reads, too")
    targets(parser)
    option(parser, "--eval", "evaluate", type=file, metavar="FILE")
    option(parser, "--resume", "resume")
    option(parser, "--max-ram", "max_ram", type=size, metavar="SIZE")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        dest="is_trial",
        help="what each layer would become, its bytes and its error by nearest rounding; write nothing but the report",
    )
    parser.add_argument(
        "--report", type=file, metavar="FILE", help="write the report as .json or .html"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    option(parser, "--exec", "exec_mode")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def targets(parser: argparse.ArgumentParser) -> None:
    """Budgets by which layers get formats of their own."""
    parser.add_argument(
        "--target-bpw", type=float, metavar="BITS",
        help="formats by what each layer costs at the output, so that weights take BITS on average",
    )  # fmt: skip
    parser.add_argument(
        "--target-size", type=size, metavar="SIZE", help="as --target-bpw, for all weights: 12MB"
    )
    parser.add_argument(
        "--max-loss", type=float, metavar="LOSS",
        help="as few bits, or units of static int8 in int16 or f32, as keep the metric at the outputs at LOSS or below",
    )  # fmt: skip
    parser.add_argument(
        "--metric", choices=METRICS, default="cosine",
        help="of --max-loss and --eval: the mean of 1 - cosine at the outputs, times 10^4 (cosine); per cent of outputs whose "
        "largest element is another (top1); perplexity of the tokens that are read",
    )  # fmt: skip
    parser.add_argument(
        "--among", default="", metavar="FORMATS", help="formats for a target: nf4,mxfp6,int8"
    )


def size(text: str) -> int:
    """For argparse: bytes."""
    from pteron.quantize.recipe_file import bytes_of
    from pteron.schema.errors import RecipeError

    try:
        return bytes_of(text)
    except RecipeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def static(parser: argparse.ArgumentParser) -> None:
    """Options of calibration, which `export` has too."""
    option(parser, "--calibrate", "calibrate", type=file, metavar="FILE")
    option(parser, "--samples", "samples", type=at_least(1), metavar="N")
    parser.add_argument(
        "--ranges", type=file, metavar="FILE", help="write the ranges found, for --calibrate"
    )
    option(parser, "--statistics", "statistics", type=file, metavar="FILE")


def check_static(args: argparse.Namespace, format: str | None, option: str) -> Recipe | None:
    """The recipe that the options ask for, before any work.

    Raises:
        FileError: nothing to calibrate with.
        ArgumentError: no such format, no such rule, or options that do not go together.
    """
    from pteron.schema.errors import ArgumentError

    kind("--ranges", args.ranges, ".json")
    kind("--statistics", args.statistics, ".npz")
    for flag, given in (("--calibrate", args.calibrate), ("--statistics", args.statistics)):
        if given and format is None:
            raise ArgumentError(f"{flag} {given}: expected {option}, too")
    if args.calibrate:
        if args.calibrate.suffix != ".json" and not args.calibrate.is_dir():
            calibration(existing(args.calibrate))
        elif args.calibrate.suffix == ".json":
            existing(args.calibrate)
    elif "samples" in getattr(args, "given", ()):
        raise ArgumentError(f"--samples {args.samples}: expected --calibrate, too")
    elif args.statistics:
        existing(args.statistics)
    if format is None and not args.ranges:
        return None
    from pteron.quantize.quantize import is_static

    chosen = None if format is None else asked_recipe(args, format)
    static = chosen and is_static(chosen, args.calibrate is not None, beside(args))
    if args.ranges and not static:
        raise ArgumentError(f"--ranges {args.ranges}: expected {option} int8 --calibrate, too")
    if args.calibrate and args.calibrate.suffix == ".json" and not static:
        raise ArgumentError(
            f"--calibrate {args.calibrate}: expected samples, or {option} int8, too"
        )
    return chosen


def beside(args: argparse.Namespace) -> list[str]:
    """What is asked for beside the recipe, as `Method.given` has it."""
    names = ("statistics", "evaluate", "resume", "max_ram")
    return [name for name in names if getattr(args, name, None) not in (None, False)]


def asked_recipe(args: argparse.Namespace, format: str) -> Recipe:
    """What a file of a recipe says, or the options."""
    from pteron.quantize.recipe import recipe
    from pteron.quantize.recipe_file import read_recipe, targeted

    if format.endswith((".yaml", ".yml")):
        return read_recipe(existing(Path(format)))
    rules = pairs("--rule", getattr(args, "rule", ()), str)
    names = ("embeddings", "algorithm", "activations", "scaling", "rotation", "seed", "range")
    asked = {name: getattr(args, name) for name in names if hasattr(args, name)}
    made = recipe(format, rules, **asked)
    if not hasattr(args, "among"):
        return made
    among = [name.strip() for name in args.among.split(",")] if args.among else []
    return targeted(made, args.target_bpw, args.target_size, args.max_loss, among, args.metric)


def wanted_format(args: argparse.Namespace) -> str:
    """`--format`, or the path of `--recipe`, which says all that the options of recipes say.

    Raises:
        ArgumentError: neither, or both; a recipe beside such an option.
    """
    from pteron.schema.errors import ArgumentError

    if (args.format is None) == (args.recipe is None):
        raise ArgumentError("expected --format or --recipe, got both or neither; give one")
    if args.recipe is None:
        return str(args.format)
    kind("--recipe", args.recipe, ".yaml", ".yml")
    names = (
        "rule",
        "embeddings",
        "algorithm",
        "activations",
        "scaling",
        "rotation",
        "seed",
        "range",
        "target_bpw",
        "target_size",
        "max_loss",
        "metric",
        "among",
    )
    for name in names:
        if name in getattr(args, "given", ()) or getattr(args, name) is True:
            flag = "--" + name.replace("_", "-")
            raise ArgumentError(
                f"{flag}: expected in {args.recipe}; write it there, or drop --recipe"
            )
    return str(args.recipe)


def calibration(path: Path) -> None:
    """Raises ArgumentError: the file has no arrays. They are not read for that."""
    from pteron.schema.errors import ArgumentError

    with path.open("rb") as file:
        is_array = file.read(len(NPY)) == NPY
    if not is_array and not zipfile.is_zipfile(path):
        raise ArgumentError(
            f"{path}: expected an .npz or .npy file of samples, or ranges (.json), got something else; write it with numpy.savez"
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
    from pteron.schema.errors import ArgumentError

    model(args.model)
    if args.output is None and not args.is_trial:
        raise ArgumentError("expected --output; name an .onnx or .pte file, or --dry-run")
    kind("--output", args.output, ".onnx", ".pte")
    report_kind(args.report)
    written = args.statistics if args.calibrate else None
    outputs = [args.output, args.report, args.ranges, written]
    ready(outputs, [args.model, args.calibrate, None if written else args.statistics])
    chosen = check_static(args, wanted_format(args), "--format")
    assert chosen is not None  # there is a format or a recipe
    if args.evaluate is not None:
        existing(args.evaluate) if not args.evaluate.is_dir() else None
    from pteron.export.write import together

    with together():
        with progress(args.quiet or args.json) as tell:
            report = trial(args, chosen, tell) if args.is_trial else write(args, chosen, tell)
        keep_ranges(report, args.ranges)
        keep_report(args, report)
    say.result("quantize", args.json, report.as_dict(), report.as_text, outputs)
    return 0


def keep_report(args: argparse.Namespace, report: QuantReport) -> None:
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
    from pteron.export.write import afterwards
    from pteron.quantize.journal import journal

    from ..pipeline import distinct, kept_at

    distinct(args.model, args.output)
    with journal(kept_at(args.output, args.resume), args.resume, afterwards) as kept:
        return to_onnx(args.model, args.output, chosen, tell, *means(args, kept, lazy=True))


def means(
    args: argparse.Namespace, kept: Journal, *, lazy: bool = False, dry: bool = False
) -> tuple[Calibration | None, Method]:
    """What the options say beside the recipe."""
    from pteron.quantize.quantize import RAM_BYTES, Calibration, Method

    from ..pipeline import record
    from ..runtime.cpu import threads

    given = Calibration(args.calibrate, record, args.samples) if args.calibrate else None
    ram = RAM_BYTES if args.max_ram is None else args.max_ram
    return given, Method(args.statistics, args.evaluate, record, kept, ram, dry, lazy, threads())


def trial(args: argparse.Namespace, chosen: Recipe, tell: Tell) -> QuantReport:
    """The report of a plan; nothing is written but statistics.

    Raises:
        ArgumentError: activations would be quantized, too.
    """
    from pteron.export.capture import capture
    from pteron.export.passes import run_passes
    from pteron.quantize.journal import NO_JOURNAL
    from pteron.quantize.quantize import is_static, quantize_weights
    from pteron.schema.errors import ArgumentError

    if is_static(chosen, args.calibrate is not None, beside(args)):
        raise ArgumentError("--dry-run: expected weights alone; add --activations float")
    for flag, given in (("--eval", args.evaluate is not None), ("--resume", args.resume)):
        if given:
            raise ArgumentError(f"{flag}: has nothing to do beside --dry-run; drop one")
    tell("capture")
    captured = capture(args.model)
    run_passes(captured)
    return quantize_weights(captured, chosen, *means(args, NO_JOURNAL, dry=True), tell)


def to_onnx(
    source: Path,
    out: Path,
    chosen: Recipe,
    tell: Tell,
    calibration: Calibration | None,
    method: Method,
) -> QuantReport:
    """An ONNX model to a quantized one at the lowest opset that has the types.

    Before activations are quantized BatchNormalization goes into the weights, as `export` does it.
    """
    from pteron.export.capture.onnx import capture_onnx
    from pteron.export.graph.save import save_onnx
    from pteron.export.passes.affine import fold_batch_norm, fold_factor
    from pteron.export.passes.clean import remove_no_ops, remove_unused
    from pteron.export.passes.dedupe import lift_constants
    from pteron.quantize.quantize import opset_of, quantize_model

    captured = capture_onnx(source, opset=opset_of(chosen))
    if calibration is not None:
        for step in (lift_constants, remove_no_ops, fold_batch_norm, fold_factor, remove_unused):
            step(captured)
    model, report = quantize_model(
        captured, chosen, progress=tell, calibration=calibration, method=method
    )
    save_onnx(model, out)
    return report
