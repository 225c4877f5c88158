"""`quantize_model`: what `pteron quantize` does, from Python; the command calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx_ir as ir

from pteron.export.capture import capture, capture_onnx
from pteron.export.graph.save import save_onnx, save_standard
from pteron.export.passes import run_passes
from pteron.export.passes.affine import fold_batch_norm, fold_factor
from pteron.export.passes.castlike import castlike_to_cast
from pteron.export.passes.clean import remove_no_ops, remove_unused, remove_zero_bias
from pteron.export.passes.dedupe import lift_constants
from pteron.export.passes.fold import fold_constants
from pteron.export.write import afterwards, together, write_text
from pteron.quantize import quantize as whole
from pteron.quantize.quantize import Calibration, is_static, opset_of, quantize_weights
from pteron.quantize.recipe.file import bytes_of, read_recipe, targeted
from pteron.quantize.recipe.rules import OF_PROGRAMS, Recipe, recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding.journal import NO_JOURNAL, Journal, journal
from pteron.schema.activations import DYNAMIC
from pteron.schema.errors import ArgumentError, naming_files

from . import reports
from .pipeline import check_ranges, distinct, export_model, kept_at, method_of
from .recording import record
from .request import Quantization, front
from .source import is_python, sourced, title


@front(Quantization)
@naming_files()
def quantize_model(request: Quantization) -> QuantReport:
    """Quantizes a model: to an ONNX model with Q/DQ nodes, or straight to a .pte program, by the name of `out`.

    Raises:
        ArgumentError: options that do not go together, an `out` that is the model.
        FileError: no such file, or no folder for one.
        ModelError: the source cannot be used.
        QuantError: a format, a layer or samples that cannot be quantized with.
    """
    chosen = recipe_of(request)
    with together():
        report = _quantized(request, chosen)
        if request.ranges is not None and report.ranges is not None:
            write_text(Path(request.ranges), report.ranges.as_json())
        if request.report is not None:
            reports.write_quantization(Path(request.report), report, title(request.source))
    return report


def recipe_of(request: Quantization) -> Recipe:
    """What a request's options say, or its recipe.

    Raises:
        ArgumentError: neither a format nor a recipe, or both. RecipeError: a value that is none.
    """
    if isinstance(request.recipe, Recipe):
        return request.recipe
    if request.recipe is not None:
        return read_recipe(Path(request.recipe))
    assert request.format is not None
    made = recipe(
        request.format,
        request.rules,
        request.embeddings,
        request.algorithm,
        request.activations,
        request.scaling,
        request.rotation,
        request.seed,
        request.range,
    )
    size, among = request.target_size, request.among
    return targeted(
        made,
        request.target_bpw,
        None if size is None else bytes_of(str(size)),
        request.max_loss,
        among.split(",") if isinstance(among, str) and among else among,
        request.metric,
    )


def _quantized(request: Quantization, chosen: Recipe) -> QuantReport:
    if request.dry_run:
        return _trial(request, chosen)
    if request.out is None:
        raise ArgumentError("out: expected an .onnx or .pte file, got none; name one, or dry_run")
    out = Path(request.out)
    if out.suffix == ".pte":
        return _to_program(request, chosen)
    if out.suffix != ".onnx":
        raise ArgumentError(f"out {out}: expected an .onnx or .pte file")
    if chosen.activations in DYNAMIC:
        raise ArgumentError(f"activations {OF_PROGRAMS.format(chosen.activations, out)}")
    distinct(request.source, out)
    with journal(kept_at(out, request.resume), request.resume, afterwards) as kept:
        return _to_onnx(request, chosen, kept, out)


def _to_program(request: Quantization, chosen: Recipe) -> QuantReport:
    done: list[QuantReport] = []
    names = ("args", "kwargs", "dynamic_shapes", "calibrate", "samples", "statistics", "evaluate")
    given = {name: getattr(request, name) for name in (*names, "resume", "max_ram")}
    export_model(
        request.source,
        request.out,
        quantize=chosen,
        quantized=done.append,
        progress=request.progress,
        **given,
    )
    return done[0]


def _means(request: Quantization, kept: Journal, **how: bool) -> tuple[Calibration | None, Any]:
    source = request.calibrate
    given = None if source is None else Calibration(source, record, request.samples)
    return given, method_of(request, kept, **how)


def _tell(request: Quantization, stage: str) -> None:
    if request.progress is not None:
        request.progress(stage)


def _captured(request: Quantization) -> ir.Model:
    """At opset 28, cleaned."""
    _tell(request, "capture")
    source, given = request.source, (request.args, request.kwargs, request.dynamic_shapes)
    made = sourced(source)
    if made is not None:
        source = made.module
        both = zip(given, (made.args, made.kwargs, made.dynamic_shapes), strict=True)
        given = tuple(b if a is None else a for a, b in both)
    model = capture(source, args=given[0], kwargs=given[1], dynamic_shapes=given[2])
    run_passes(model)
    return model


def _trial(request: Quantization, chosen: Recipe) -> QuantReport:
    """The report of a plan; nothing is written but statistics.

    Raises:
        ArgumentError: activations would be quantized, too.
    """
    calibration, method = _means(request, NO_JOURNAL, dry=True)
    if is_static(chosen, calibration is not None, method.given):
        raise ArgumentError(
            "dry_run: expected weights alone; add activations float (--activations float)"
        )
    for name, given in (("evaluate", request.evaluate is not None), ("resume", request.resume)):
        if given:
            raise ArgumentError(f"{name}: has nothing to do beside dry_run; drop one")
    return quantize_weights(_captured(request), chosen, calibration, method, request.progress)


def is_onnx(source: Any) -> bool:
    """Whether capture reads it as ONNX."""
    from onnx import ModelProto

    if isinstance(source, str | Path):
        return Path(source).suffix != ".pt2" and not is_python(source)
    return isinstance(source, bytes | ModelProto | ir.Model)


def _to_onnx(request: Quantization, chosen: Recipe, kept: Journal, out: Path) -> QuantReport:
    """An ONNX model to a quantized one at the lowest opset that has the types; one of PyTorch at the lowest that has its operators.

    Before activations are quantized BatchNormalization goes into the weights, as `export_model` does it.
    """
    calibration, method = _means(request, kept, lazy=True)
    check_ranges(request.ranges, chosen, calibration, method)
    if is_onnx(request.source):
        captured = capture_onnx(request.source, opset=opset_of(chosen))
        if calibration is not None:
            first = (
                lift_constants,
                remove_no_ops,
                castlike_to_cast,
                fold_constants,
                remove_zero_bias,
            )
            for step in (*first, fold_batch_norm, fold_factor, remove_unused):
                step(captured)
    else:
        captured = _captured(request)
    model, report = whole.quantize_model(
        captured, chosen, progress=request.progress, calibration=calibration, method=method
    )
    (save_onnx if is_onnx(request.source) else save_standard)(model, out)
    return report
