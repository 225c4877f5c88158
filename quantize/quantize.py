"""A model file to a quantized model file, at the lowest opset that has the types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Final

import onnx
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.schema.errors import QuantError, RecipeError

from .activations import observed, quantize_static
from .apply import OPSET, apply
from .calibrate import Ranges, Source, calibrated
from .plan import Plan, plan
from .recipe import SKIP, Recipe, recipe
from .report import QuantReport
from .rounding import GPTQ, SEARCH, Rounded, rounded
from .samples import Runner, samples
from .statistics import Statistics, collect, held, load, write
from .units import units

Progress = Callable[[str], None]


RAM_BYTES: Final = 4 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """Where ranges of activations come from: `source` as `calibrated` takes it, at most `count` samples, run by `runner`."""

    source: Source
    runner: Runner
    count: int


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """How a recipe is carried out.

    `statistics`: a file that is written with a calibration and read without one. `ram_bytes`: what sums of statistics may take.
    """

    statistics: Path | None = None
    ram_bytes: int = RAM_BYTES


def is_static(wanted: Recipe, calibrated: bool, statistics: bool) -> bool:
    """Whether activations become int8.

    Raises:
        RecipeError: they cannot, or statistics are asked for, which are of weights alone.
    """
    whole = wanted.format == "int8" and calibrated
    if wanted.activations == "int8" and not whole:
        raise RecipeError("activations int8: expected format int8 and a calibration; give both")
    if whole and wanted.activations != "float" and statistics:
        raise RecipeError(
            "statistics: expected weights alone, got int8 activations; ask for float activations, or drop the statistics"
        )
    return whole and wanted.activations != "float"


def transformer(
    wanted: str | Recipe,
    progress: Progress | None = None,
    done: Callable[[QuantReport], None] | None = None,
    calibration: Calibration | None = None,
    method: Method = Method(),
) -> Callable[[ir.Model], None]:
    """What the export pipeline applies to a graph: a format by name, or a recipe; `done` gets each report."""
    chosen = recipe(wanted) if isinstance(wanted, str) else wanted
    static = is_static(chosen, calibration is not None, method.statistics is not None)

    def transform(model: ir.Model) -> None:
        came = graphs.ROUNDED not in model.metadata_props and graphs.came_quantized(model)
        if static and calibration is not None:
            report = quantize_activations(model, chosen, calibration, progress)
        else:
            report = quantize_weights(model, chosen, calibration, method, progress)
        if report.layers and not came:
            model.metadata_props[graphs.ROUNDED] = chosen.format
        if done is not None:
            done(report)

    return transform


def quantize_weights(
    model: ir.Model,
    wanted: Recipe,
    calibration: Calibration | None = None,
    method: Method = Method(),
    progress: Progress | None = None,
) -> QuantReport:
    """Rounds weights, in place: plan, statistics, a layer at a time, write.

    Raises:
        QuantError: a weight cannot be encoded; RecipeError: a rule matches no layer, or samples do not fit; nothing is
            changed then.
    """
    made = plan(model, wanted)
    known = _statistics(model, made, calibration, method, progress)
    work = made.work
    done: dict[tuple[int, str, str], Rounded] = {}
    for number, choice in enumerate(work):
        assert choice.format is not None
        algorithm = choice.algorithm or (GPTQ if known is not None else SEARCH)
        if progress:
            name = f"{choice.layer.name} {choice.format.name}"
            progress(f"quantize {number + 1}/{len(work)} {name} {algorithm}")
        moments = None if known is None else known.of(choice.layer, *choice.layer.extents)
        done[choice.key] = rounded(choice.layer, choice.format, algorithm, moments)
    return apply(model, made, lambda choice: done[choice.key])


def _statistics(
    model: ir.Model,
    made: Plan,
    calibration: Calibration | None,
    method: Method,
    progress: Progress | None,
) -> Statistics | None:
    """Of the layers' inputs: from samples, which are written if a file is given, or from the file."""
    if calibration is None:
        return None if method.statistics is None else load(method.statistics)
    source = calibration.source
    if isinstance(source, Ranges) or str(source).endswith(".json"):
        raise RecipeError(
            "calibration: expected samples for statistics, got ranges; give samples, or drop the calibration"
        )
    given = samples(model, source, calibration.count)
    layers = [choice.layer for choice in made.choices]
    found = collect(model, layers, given, calibration.runner, method.ram_bytes, progress)
    if method.statistics is None:
        return held(found)
    write(method.statistics, found)
    return load(method.statistics)


def quantize_activations(
    model: ir.Model,
    wanted: Recipe,
    calibration: Calibration,
    progress: Progress | None = None,
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
    progress: Progress | None = None,
    calibration: Calibration | None = None,
    method: Method = Method(),
) -> tuple[ir.Model, QuantReport]:
    """Quantizes in place; the model, already at opset_of(recipe) or above, declares the lowest IR version it needs."""
    reports: list[QuantReport] = []
    transformer(wanted, progress, reports.append, calibration, method)(model)
    imports = [
        onnx.helper.make_opsetid(d, v)
        for d, v in model.opset_imports.items()
        if d in ("", "ai.onnx")
    ]
    model.ir_version = max(onnx.helper.find_min_ir_version_for(imports), 8)
    return model, reports[0]
