"""A model file to a quantized model file, at the lowest opset that has the types."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import onnx
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.schema.activations import AUTO, INT16_STATIC, STATIC
from pteron.schema.errors import QuantError, QuantWarning, RecipeError

from .encode import int8
from .mixed.activation_bits import Mix, Simulated, mixed, simulated
from .mixed.allocate import Probe, evaluated, fitted
from .mixed.cost import relative_time
from .mixed.sensitivity import losses_of
from .observe.blas import one_order
from .observe.calibrate import Ranges, Source, calibrated, is_ranges_file, ranges_of
from .observe.clipping import clipped
from .observe.grids import grids_of, observed
from .observe.input_ranges import settled
from .observe.samples import Runner, Samples, held, samples
from .observe.statistics import Moments, Statistics, collect, load, spilled, write
from .recipe.coverage import coverage, mix_of
from .recipe.layers import layers
from .recipe.plan import Choice, Plan, plan
from .recipe.rules import MINMAX, SKIP, Recipe, recipe
from .recipe.units import Unit, units
from .report import QuantReport
from .rounding.journal import NO_JOURNAL, Journal, digest, identity, whole
from .rounding.rounder import Rounder
from .rounding.spill import Spill
from .rounding.weight import GPTQ, NEAREST, Rounded, matrix_of, rounded
from .static.qdq import Solved, quantize_static
from .static.reconstruct import solved
from .transform.equalize import chains, equalized
from .transform.rotation import rotated
from .transform.scaling import NONE, scaled
from .write.apply import OPSET, apply
from .write.transaction import restored_on_error

Progress = Callable[[str], None]


RAM_BYTES: Final = 4 << 30
_SIZED: Final = ", whose products read weights of 8 bits and no fewer, so there is nothing to give out: max_loss gives units 16 bits or f32"
IDLE: Final = {"target_bpw": _SIZED, "target_size": _SIZED, "among": _SIZED}
"""Why static int8 has no use for it."""
WEIGHT_ONLY: Final = (
    "int8 without samples is weight-only: activations stay float; for static int8, activations too, add samples: "
    "calibrate=samples, --calibrate samples.npz"
)
WINDOWS: Final = (
    "; {} Conv multiply in f32 and decode their weights in every run, which mostly takes 3 to 30 % longer than f32 weights, more "
    "in runs below a millisecond: a smaller file, not a faster one"
)
"""Of the files of docs/models.md with Conv most take 1.03 to 1.29 times as long, silero_vad_v5 (0.5 ms) 1.8; a few are faster than f32."""
PROBES: Final = 64
"""Samples that a loss is measured on,"""
JUDGES: Final = 256
"""and where few mixes of static int8 are told apart by it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """Where ranges of activations come from: `source` as `calibrated` takes it, at most `count` samples, run by `runner`."""

    source: Source
    runner: Runner
    count: int


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """How a recipe is carried out.

    `statistics`: a file that is written with a calibration and read without one. `evaluate`: samples that the loss is measured on,
    by `runner`. `journal`: keeps what was found. `ram_bytes`: what sums of statistics may take.
    `dry`: the graph stays as it is, and the report says what nearest rounding to the planned formats would cost.
    `lazy`: codes stay in the journal until they are written. `threads` at most round rows.
    """

    statistics: Path | None = None
    evaluate: Samples | None = None
    runner: Runner | None = None
    journal: Journal = NO_JOURNAL
    ram_bytes: int = RAM_BYTES
    dry: bool = False
    lazy: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.ram_bytes < 1:
            raise RecipeError(f"max_ram: expected bytes above 0, got {self.ram_bytes}")

    @property
    def given(self) -> list[str]:
        """What was asked for that is of weights alone, by the words of `export_model`."""
        kept = self.journal.folder is not None
        facts = {
            "statistics": self.statistics is not None,
            "evaluate": self.evaluate is not None,
            "resume": kept,
            "max_ram": self.ram_bytes != RAM_BYTES,
        }
        return [name for name, is_there in facts.items() if is_there]


def is_static(wanted: Recipe, calibrated: bool, given: Sequence[str]) -> bool:
    """Whether activations become int8 or int16. `given`: what else is asked for, of `Method.given`.

    Raises:
        RecipeError: they cannot, or something is asked for that is of weights alone and would do nothing; or it would do nothing
            without samples.
    """
    whole = wanted.format == "int8" and calibrated
    if wanted.activations in STATIC and not whole:
        raise RecipeError(
            f"activations {wanted.activations}: expected format int8 and a calibration; give both"
        )
    static = whole and wanted.activations in (AUTO, *STATIC)
    asked = {
        "target_bpw": wanted.target_bits is not None,
        "target_size": wanted.target_bytes is not None,
        "among": bool(wanted.among),
        "embeddings": wanted.embeddings,
        "scaling": wanted.scaling != NONE,
        "rotation": wanted.rotation != NONE,
    }
    beside = [name for name in given if name not in ("evaluate", "resume", "max_ram")]
    idle = [*(name for name, is_there in asked.items() if is_there), *beside] if static else []
    if idle:
        raise RecipeError(
            f"{idle[0]}: expected weights alone, got int8 activations{IDLE.get(idle[0], '')}; ask for float activations, or drop it"
        )
    if wanted.range and not static:
        raise RecipeError(
            f"range {wanted.range}: expected int8 activations; give format int8 and a calibration, or drop it"
        )
    if wanted.range in ("entropy", "mse") and wanted.activations == INT16_STATIC:
        raise RecipeError(
            f"range {wanted.range}: expected 256 codes, which it counts with, got int16 activations; ask for percentile, or drop it"
        )
    if not calibrated and "max_ram" in given:
        raise RecipeError("max_ram: expected samples, of which sums are made; give a calibration")
    if wanted.algorithm == GPTQ and not calibrated and "statistics" not in given:
        raise RecipeError(
            "algorithm gptq: expected samples or statistics, got neither; give a calibration, or ask for search"
        )
    if wanted.scaling != NONE and not calibrated and "statistics" not in given:
        raise RecipeError(
            f"scaling {wanted.scaling}: expected samples or statistics, got neither; give a calibration, or drop it"
        )
    return static


def transformer(
    wanted: str | Recipe,
    progress: Progress | None = None,
    done: Callable[[QuantReport], None] | None = None,
    calibration: Calibration | None = None,
    method: Method = Method(),
) -> Callable[[ir.Model], None]:
    """What the export pipeline applies to a graph: a format by name, or a recipe; `done` gets each report."""
    chosen = recipe(wanted) if isinstance(wanted, str) else wanted
    static = is_static(chosen, calibration is not None, method.given)

    def transform(model: ir.Model) -> None:
        came = graphs.ROUNDED not in model.metadata_props and graphs.came_quantized(model)
        if static and calibration is not None:
            report = quantize_activations(model, chosen, calibration, method, progress)
        else:
            report = quantize_weights(model, chosen, calibration, method, progress)
            if chosen.format == "int8" and calibration is None and chosen.activations == AUTO:
                windows = sum(row.operator == "Conv" for row in report.layers)
                report.notes.append(WEIGHT_ONLY + (WINDOWS.format(windows) if windows else ""))
        if report.layers and not came:
            model.metadata_props[graphs.ROUNDED] = chosen.format
        if report.coverage is not None and report.coverage.warning is not None:
            warnings.warn(report.coverage.warning, QuantWarning, stacklevel=2)
        if done is not None:
            done(report)

    return transform


@one_order
@restored_on_error
def quantize_weights(
    model: ir.Model,
    wanted: Recipe,
    calibration: Calibration | None = None,
    method: Method = Method(),
    progress: Progress | None = None,
) -> QuantReport:
    """Rounds weights, in place: plan, rotation, statistics, scaling, a layer at a time, write.

    Raises:
        QuantError: a weight cannot be encoded; RecipeError: a rule matches no layer, nothing can be rotated, or samples do not
            fit; nothing is changed then.
    """
    model = model.clone() if method.dry and wanted.rotation != NONE else model
    if calibration is not None and (wanted.fits or method.journal.folder is not None):
        calibration = _held(calibration)
    made = plan(model, wanted)
    turned = rotated(model, wanted.rotation, wanted.seed) if wanted.rotation != NONE else []
    source = _source(wanted, calibration, method)
    probe = None
    if source is not None and method.runner is not None:
        what = "calibration" if method.evaluate is None else "evaluation"
        given = list(samples(model, source, PROBES, what))
        probe = Probe(given, method.runner, wanted.embeddings, method.journal, model)
    words = f"{wanted.rotation}, seed {wanted.seed}" if turned else ""
    known = _statistics(model, made, calibration, method, progress, words)
    alphas: dict[str, float] = {}
    if known is not None and wanted.scaling != NONE and not method.dry:
        known, alphas = scaled(model, made, known, wanted.scaling, _trial(method), progress)
    names = [c.layer.name for c in made.choices]
    ruled = {c.layer.node for c in made.choices if c.format is None}
    chosen = {c.layer.node for c in made.choices if c.format is not None}
    covers = coverage(model, made.format, chosen, ruled, tables=wanted.embeddings)
    do = Rounder(known, names, method.journal, method.threads, method.ram_bytes, progress)
    if wanted.fits:
        if probe is None:
            raise RecipeError(
                "target: expected samples to measure with, got none; give a calibration"
            )
        made = fitted(model, made, wanted, probe, do)
    mixed = mix_of(c.format.name for c in made.choices if c.format is not None)
    covers = dataclasses.replace(covers, format=mixed or made.format)
    if method.dry:
        rows = [do(dataclasses.replace(c, algorithm=NEAREST)).report for c in made.work]
        left = [c.layer.name for c in made.choices if c.format is None]
        return QuantReport(made.format, rows, left, rotated=turned, coverage=covers)
    do.ahead(made.work)
    found, alone = None, method.evaluate is not None
    if probe is not None:
        found = evaluated(made, probe, do, wanted.metric, alone, progress)
    report = apply(model, made, do, lazy=method.lazy and method.journal.folder is not None)
    report.layers = [
        dataclasses.replace(row, alpha=alphas.get(row.name, 0.0)) for row in report.layers
    ]
    report.rotated, report.coverage = turned, covers
    if found is None:
        return report
    report.metric, report.exact, report.loss = wanted.metric, found.exact, found.loss
    report.layers = [
        dataclasses.replace(row, loss=found.layers.get(row.name)) for row in report.layers
    ]
    return report


def _held(calibration: Calibration) -> Calibration:
    """With samples that can be read more than once."""
    source = calibration.source
    if isinstance(source, Ranges):
        return calibration
    return dataclasses.replace(calibration, source=held(source, calibration.count))


def _trial(method: Method) -> Callable[[Choice, Moments], Rounded]:
    """Rounds a choice by these moments, and keeps nothing."""

    def round_(choice: Choice, moments: Moments) -> Rounded:
        assert choice.format is not None
        algorithm, biased = choice.algorithm or GPTQ, choice.biased
        return rounded(
            choice.layer, choice.format, algorithm, moments, method.threads, biased=biased
        )

    return round_


def _source(wanted: Recipe, calibration: Calibration | None, method: Method) -> Samples | None:
    """Samples that losses are measured on: those asked for, else the calibration's where there is a target."""
    if method.evaluate is not None:
        return method.evaluate
    if not wanted.fits or calibration is None or isinstance(calibration.source, Ranges):
        return None
    return calibration.source


def _statistics(
    model: ir.Model,
    made: Plan,
    calibration: Calibration | None,
    method: Method,
    progress: Progress | None,
    rotation: str,
) -> Statistics | None:
    """Of the layers' inputs: from samples, which are written if a file is given, or from the file.

    Raises:
        RecipeError: those of the file were rotated otherwise.
    """
    if calibration is None:
        known = None if method.statistics is None else load(method.statistics)
        if known is not None and known.rotation != rotation:
            raise RecipeError(
                f"statistics: expected those of rotation {rotation or 'none'}, got {known.rotation or 'none'}; calibrate again"
            )
        return known
    source = _samples_of(calibration.source)
    if source is None:
        raise RecipeError(
            "calibration: expected samples for statistics, got ranges; give samples, or drop the calibration"
        )
    given = samples(model, source, calibration.count)
    layers = [choice.layer for choice in made.choices]
    found = collect(model, layers, given, calibration.runner, method.ram_bytes, progress)
    if method.statistics is not None:
        whole(method.statistics, lambda part: write(part, found, rotation))
        return load(method.statistics)
    kept = method.journal.path("statistics.npz")
    if kept is None:
        return spilled(found)
    mark = kept.with_suffix(".of")
    of = identity(model, given)
    if not (kept.exists() and mark.exists() and mark.read_text() == of):
        mark.unlink(missing_ok=True)
        whole(kept, lambda part: write(part, found))
        mark.write_text(of)
    return load(kept)


@one_order
@restored_on_error
def quantize_activations(
    model: ir.Model,
    wanted: Recipe,
    calibration: Calibration,
    method: Method,
    progress: Progress | None = None,
) -> QuantReport:
    """Static int8, in place: plan, calibrate, write Q/DQ.

    Raises:
        QuantError: nothing to quantize, or what planning, calibration and writing refuse; nothing is changed then.
    """
    graphs.infer(model)
    calibration = _held(calibration)
    plan, skipped = units(model, wanted)
    ruled = {each.node for each in layers(model) if wanted.choose(each.names)[0] is None}
    if not plan:
        none = coverage(model, "int8", (), ruled, static=True)
        why = f" ({none.text})" if none.left else ""
        raise QuantError(
            f"static int8: expected a Conv, Gemm or MatMul with a constant weight, got none{why}"
        )
    heads = {unit.head for unit in plan}
    covers = coverage(model, wanted.format, heads, ruled, static=True)
    plan, ranges, seen = _ranged(model, plan, wanted, calibration, method, progress)
    solver = _solver(model, plan, ranges, wanted, calibration, method, progress)
    mix = _mixed(model, plan, solver, ranges, wanted, calibration, method, progress)
    before = model.clone()
    report = quantize_static(model, plan, ranges, solver(mix), mix)
    report.relative_time = relative_time(plan, mix)
    report.ranges = seen
    report.skipped += skipped
    report.coverage = covers
    if method.evaluate is not None and method.runner is not None:
        most = PROBES if wanted.max_loss is None else JUDGES
        given = list(samples(before, method.evaluate, most, "evaluation"))
        both = losses_of(before, [before, model], given, method.runner, wanted.metric)
        report.metric, (report.exact, report.loss) = wanted.metric, both
    return report


def _ranged(
    model: ir.Model, plan: list[Unit], wanted: Recipe, calibration: Calibration, method: Method, progress: Progress | None
) -> tuple[list[Unit], Ranges, Ranges]:  # fmt: skip
    """The plan of the model, which is equalized in place, its ranges, and those that were seen before, which a file may hold.

    Raises:
        RecipeError: ranges of another rule than is asked for.
    """
    names, linked, journal = observed(plan), chains(plan), method.journal
    if progress:
        progress(f"calibrate {len(names)} activations")
    source, runner, count = calibration.source, calibration.runner, calibration.count
    each = [str(value.name) for chain in linked for value in chain]
    key = _key(journal, model, calibration, "ranges", names, each, wanted.range)
    kept = journal.text(key)
    if kept is not None:
        source = ranges_of(kept, "journal")
    seen = calibrated(model, names, source, runner, count, each, method.ram_bytes)
    given = _samples_of(source)
    on_codes: set[str] = set()
    if given is not None:
        observed_ends, seen = seen, settled(model, seen, samples(model, given, count))
        on_codes = {name for name in names if seen[name] != observed_ends[name]}
    elif wanted.range not in ("", seen.rule):
        raise RecipeError(
            f"range {wanted.range}: expected samples or ranges of it, got ranges of {seen.rule}; give samples"
        )
    plan, ranges = equalized(model, plan, linked, seen)
    if given is not None and wanted.range not in ("", MINMAX):
        ends = {name: ranges[name] for name in names if name not in on_codes}
        if progress:
            progress(f"calibrate {len(ends)} activations by {wanted.range}")
        again = samples(model, given, count)
        found = clipped(model, ends, wanted.range, again, runner, method.ram_bytes)
        seen = dataclasses.replace(seen, rule=wanted.range, clipped=found)
    if given is not None:
        journal.keep_text(key, seen.as_json())
    return plan, dataclasses.replace(ranges, by_name={**ranges.by_name, **seen.clipped}), seen


def _key(
    journal: Journal, model: ir.Model, calibration: Calibration, *parts: object, samples_too: Samples | None = None
) -> str:  # fmt: skip
    """The name of what follows from the model, the samples and the parts; "" where nothing is kept."""
    source = _samples_of(calibration.source)
    if journal.folder is None:
        return ""
    given = () if source is None else samples(model, source, calibration.count)
    more = () if samples_too is None else samples(model, samples_too, JUDGES)
    return digest(identity(model, given), identity(model, more), *parts)


WORDS: Final = 21
"""The first opset whose QuantizeLinear has int16."""
Solver = Callable[[Mix], Mapping[int, Solved]]
"""Weights and biases by the places of units, of the network that is such a mix."""


def _solver(
    model: ir.Model, plan: list[Unit], ranges: Ranges, wanted: Recipe, calibration: Calibration, method: Method,
    progress: Progress | None,
) -> Solver:  # fmt: skip
    """By GPTQ weights and biases depend on the mix; by others weights follow from themselves or from the ranges alone.

    Raises:
        RecipeError: gptq and ranges, which say nothing of what layers read.
    """
    source = _samples_of(calibration.source)
    algorithm = wanted.algorithm or (NEAREST if source is None else GPTQ)
    if algorithm == NEAREST:
        return lambda mix: {}
    if algorithm != GPTQ:
        found = _weights(model, plan, algorithm, method, progress)
        return lambda mix: found
    if source is None:
        raise RecipeError(
            "algorithm gptq: expected samples, got ranges; give samples, or drop the algorithm"
        )
    given = samples(model, source, calibration.count)
    before = model.clone()
    exact = units(before, wanted)[0]
    parts = [unit.name for unit in exact], sorted(ranges.by_name.items())
    key = _key(method.journal, before, calibration, *parts)

    @functools.cache
    def of(mix: Mix) -> Mapping[int, Solved]:
        copy = before.clone()
        copied, runner = units(copy, wanted)[0], calibration.runner
        return solved(
            before, exact, copy, copied, ranges, mix, given, runner, method.threads, progress, method.journal, key,
        )  # fmt: skip

    return of


def _mixed(
    model: ir.Model, plan: list[Unit], solver: Solver, ranges: Ranges, wanted: Recipe, calibration: Calibration,
    method: Method, progress: Progress | None,
) -> Mix:  # fmt: skip
    """Bits of the units, more for the sake of the largest loss, on the samples of the evaluation where there are some.

    Raises:
        RecipeError: there are no samples to measure with; QuantError: it cannot be kept.
    """
    bits = wanted.activation_bits
    if wanted.max_loss is None:
        return (bits,) * len(plan)
    source, what = _samples_of(calibration.source), "calibration"
    if method.evaluate is not None:
        source, what = method.evaluate, "evaluation"
    if source is None:
        raise RecipeError("max-loss: expected samples to measure with, got ranges; give samples")
    given = list(samples(model, source, JUDGES, what))

    def build(mix: Mix) -> ir.Model:
        copy = model.clone()
        plan = units(copy, wanted)[0]
        quantize_static(copy, plan, ranges, solver(mix), mix)
        return copy

    def simulate(mix: Mix) -> Simulated:
        copy = model.clone()
        again = units(copy, wanted)[0]
        return simulated(copy, again, grids_of(again, ranges, bits), solver(mix))

    parts = [unit.name for unit in plan], sorted(ranges.by_name.items()), wanted.algorithm
    key = _key(method.journal, model, calibration, *parts, samples_too=source)
    return mixed(
        model, plan, bits, simulate, wanted.max_loss, wanted.metric, given, calibration.runner, build, progress,
        method.journal, key,
    )  # fmt: skip


def _samples_of(source: Source) -> Samples | None:
    """None where it has ranges alone."""
    return None if isinstance(source, Ranges) or is_ranges_file(source) else source


def _weights(
    model: ir.Model, plan: list[Unit], algorithm: str, method: Method, progress: Progress | None
) -> dict[int, Solved]:
    """Weights of the units, by their places, where no sample says what they read."""
    heads = {unit.head: i for i, unit in enumerate(plan) if unit.axis is not None}
    found: dict[int, Solved] = {}
    spill = Spill()
    for layer in (layer for layer in layers(model) if layer.node in heads):
        if progress:
            progress(f"quantize {layer.name} int8 {algorithm}")
        key = digest(layer.name, matrix_of(layer), int8.FORMAT.name, algorithm)
        one = method.journal.rounded(key, int8.FORMAT)
        if one is None:
            one = rounded(layer, int8.FORMAT, algorithm, None, method.threads)
            method.journal.keep(key, one)
        found[heads[layer.node]] = Solved(spill.rounded(one))
    return found


def opset_of(wanted: Recipe) -> int:
    """The lowest opset that has every format a recipe may choose, and its activations."""
    chosen = {wanted.format, *(rule.format for rule in wanted.rules)} - {SKIP}
    least = max((OPSET[name] for name in chosen), default=1)
    words = wanted.activations == INT16_STATIC or (
        wanted.format == "int8" and wanted.max_loss is not None
    )
    return max(least, WORDS) if words else least


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
