"""Quantize the weights of a model: to an ONNX model with Q/DQ nodes, or straight to a .pte program.

Weights of MatMul, Gemm and Conv get the scales of least squared error, with --calibrate by GPTQ. With --format int8 --calibrate
activations are quantized, too (static int8). An .onnx output declares the lowest opset that has its types, for other runtimes.

Example:

    pteron quantize model.onnx -o model-int8.onnx --format int8 --calibrate samples.npz
"""

from __future__ import annotations

import argparse
import functools
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.schema.errors import existing

from ..request import OF_RECIPES, Quantization
from ..source import file_of
from . import say
from .pairs import Options, as_json, at_least, file, kind, model, option, pairs, ready
from .progress import progress
from .wrote import wrote

if TYPE_CHECKING:
    from pteron.quantize.recipe.rules import Recipe


NPY = b"\x93NUMPY"


def add(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [options] MODEL"
    parser.add_argument("model", type=file, help=".onnx or .pt2 file, or model.py:make")
    parser.add_argument(
        "-o", "--output", type=file, help="an .onnx or .pte file; needed, but for --dry-run"
    )
    what = parser.add_argument_group("formats")
    own(what, "--format", "format")
    own(what, "--rule", "rules", action="append", metavar="REGEX=FORMAT")
    own(what, "--embeddings", "embeddings")
    own(what, "--activations", "activations")
    own(what, "--recipe", "recipe", type=file, metavar="FILE")
    how = parser.add_argument_group("calibration and rounding")
    static(how)
    own(how, "--algorithm", "algorithm")
    own(how, "--scaling", "scaling")
    own(how, "--rotation", "rotation")
    own(how, "--seed", "seed", type=at_least(0))
    own(how, "--range", "range")
    target = parser.add_argument_group("mixed precision")
    own(target, "--target-bpw", "target_bpw", type=float, metavar="BITS")
    own(target, "--target-size", "target_size", type=size, metavar="SIZE")
    own(target, "--max-loss", "max_loss", type=float, metavar="LOSS")
    own(target, "--metric", "metric")
    own(target, "--among", "among", metavar="FORMATS")
    own(target, "--evaluate", "evaluate", type=file, metavar="FILE")
    work = parser.add_argument_group("long runs")
    own(work, "--resume", "resume")
    own(work, "--max-ram", "max_ram", type=size, metavar="SIZE")
    out = parser.add_argument_group("reports")
    own(out, "--dry-run", "dry_run")
    own(out, "--report", "report", type=file, metavar="FILE")
    as_json(out)
    out.add_argument("-q", "--quiet", action="store_true", help="no progress")


own = functools.partial(option, of=Quantization)


def size(text: str) -> int:
    """For argparse: bytes."""
    from pteron.quantize.recipe.file import bytes_of
    from pteron.schema.errors import RecipeError

    try:
        return bytes_of(text)
    except RecipeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def static(parser: Options) -> None:
    """Options of calibration, which `export` has too."""
    option(parser, "--calibrate", "calibrate", type=file, metavar="FILE")
    option(parser, "--samples", "samples", type=at_least(1), metavar="N")
    option(parser, "--ranges", "ranges", type=file, metavar="FILE")
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
    from pteron.quantize.recipe.file import read_recipe, targeted
    from pteron.quantize.recipe.rules import recipe

    if format.endswith((".yaml", ".yml")):
        return read_recipe(existing(Path(format)))
    rules = pairs("--rule", getattr(args, "rules", ()), str)
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
    for name in OF_RECIPES:
        if name in getattr(args, "given", ()) or getattr(args, name) is True:
            flag = "--" + name.replace("_", "-").replace("rules", "rule")
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


def run(args: argparse.Namespace) -> int:
    from pteron.schema.errors import ArgumentError

    model(args.model)
    if args.output is None and not args.dry_run:
        raise ArgumentError("expected --output; name an .onnx or .pte file, or --dry-run")
    kind("--output", args.output, ".onnx", ".pte")
    report_kind(args.report)
    written = args.statistics if args.calibrate else None
    outputs = [args.output, args.report, args.ranges, written]
    ready(outputs, [file_of(args.model), args.calibrate, None if written else args.statistics])
    chosen = check_static(args, wanted_format(args), "--format")
    assert chosen is not None  # there is a format or a recipe
    check_output(args, chosen)
    if args.evaluate is not None:
        existing(args.evaluate) if not args.evaluate.is_dir() else None
    from ..quantization import quantize_model

    names = ("calibrate", "samples", "ranges", "statistics", "evaluate", "resume", "max_ram")
    given = {name: getattr(args, name) for name in (*names, "dry_run", "report")}
    with progress(args.quiet or args.json) as tell:
        report = quantize_model(args.model, args.output, recipe=chosen, progress=tell, **given)
    target = None if args.dry_run else args.output

    def text() -> str:
        return "\n".join([report.as_text(), *wrote(target, args.model, [report])])

    say.result("quantize", args.json, report.as_dict(), text, outputs)
    return 0


def check_output(args: argparse.Namespace, chosen: Recipe) -> None:
    """Raises ArgumentError: options that have nothing to do with what is written."""
    from pteron.quantize.recipe.rules import OF_PROGRAMS
    from pteron.schema.activations import DYNAMIC
    from pteron.schema.errors import ArgumentError

    if args.dry_run:
        for flag, given in (("--evaluate", args.evaluate is not None), ("--resume", args.resume)):
            if given:
                raise ArgumentError(f"{flag}: has nothing to do beside --dry-run; drop one")
    elif args.output.suffix not in (".onnx", ".pte"):
        raise ArgumentError(f"--output {args.output}: expected an .onnx or .pte file")
    elif args.output.suffix == ".onnx" and chosen.activations in DYNAMIC:
        raise ArgumentError(f"--activations {OF_PROGRAMS.format(chosen.activations, args.output)}")
