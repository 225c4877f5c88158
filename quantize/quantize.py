"""A model file to a quantized model file, at the lowest opset that has the types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import onnx
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.schema.errors import QuantError

from .activations import observed, quantize_static
from .apply import OPSET, quantize
from .calibrate import Runner, Source, calibrated
from .recipe import SKIP, Recipe, recipe
from .report import QuantReport
from .units import units


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """Where ranges of activations come from: `source` as `calibrated` takes it, at most `count` samples, run by `runner`."""

    source: Source
    runner: Runner
    count: int


def transformer(
    wanted: str | Recipe,
    progress: Callable[[str], None] | None = None,
    done: Callable[[QuantReport], None] | None = None,
    calibration: Calibration | None = None,
) -> Callable[[ir.Model], None]:
    """What the export pipeline applies to a graph: a format by name, or a recipe; `done` gets each report.

    With a calibration activations are quantized too: static int8.
    """
    chosen = recipe(wanted) if isinstance(wanted, str) else wanted

    def transform(model: ir.Model) -> None:
        came = graphs.ROUNDED not in model.metadata_props and graphs.came_quantized(model)
        if calibration is None:
            report = quantize(model, chosen, progress=progress)
        else:
            report = quantize_activations(model, chosen, calibration, progress)
        if report.layers and not came:
            model.metadata_props[graphs.ROUNDED] = chosen.format
        if done is not None:
            done(report)

    return transform


def quantize_activations(
    model: ir.Model,
    wanted: Recipe,
    calibration: Calibration,
    progress: Callable[[str], None] | None = None,
) -> QuantReport:
    """Static int8, in place: plan, calibrate, write Q/DQ.

    Raises:
        QuantError: nothing to quantize, or what planning, calibration and writing refuse.
    """
    graphs.infer(model)
    plan, skipped = units(model, wanted)
    if not plan:
        raise QuantError(
            "static int8: expected a Conv, Gemm or MatMul with a constant weight, got none"
        )
    names = observed(plan)
    if progress:
        progress(f"calibrate {len(names)} activations")
    source, runner, count = calibration.source, calibration.runner, calibration.count
    report = quantize_static(model, plan, calibrated(model, names, source, runner, count))
    report.skipped += skipped
    return report


def opset_of(wanted: Recipe) -> int:
    """The lowest opset that has every format a recipe may choose."""
    chosen = {wanted.format, *(rule.format for rule in wanted.rules)} - {SKIP}
    return max((OPSET[name] for name in chosen), default=1)


def quantize_model(
    model: ir.Model,
    wanted: Recipe,
    *,
    progress: Callable[[str], None] | None = None,
    calibration: Calibration | None = None,
) -> tuple[ir.Model, QuantReport]:
    """Quantizes in place; the model, already at opset_of(recipe) or above, declares the lowest IR version it needs."""
    reports: list[QuantReport] = []
    transformer(wanted, progress, reports.append, calibration)(model)
    imports = [
        onnx.helper.make_opsetid(d, v)
        for d, v in model.opset_imports.items()
        if d in ("", "ai.onnx")
    ]
    model.ir_version = max(onnx.helper.find_min_ir_version_for(imports), 8)
    return model, reports[0]
