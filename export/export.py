"""The stages from a source model to a planned Program, in order, each usable alone.

capture -> passes -> lower -> fuse -> (tune) -> pack -> plan -> verify, which says whether the runtime would take the program, and
where it would not, after which stage.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.activations import FLOAT
from pteron.schema.errors import ArgumentError, LoweringError

from .capture import capture
from .capture.check import Example, Runner, check, example_of
from .delegates import chosen
from .delegates.partition import partition
from .graph.fix import fix, symbols
from .graph.guarded import deciding, guard, read_example, told
from .graph.randomness import seed_nodes
from .graph.states import state_pairs
from .lower import lower
from .optimize.fuse import fuse
from .optimize.share import share
from .options import Options, Progress, check_context
from .pack import arithmetic, pack
from .pack.choices import Decide, by_rule
from .pack.keys import keys_in_panels
from .passes import run_passes
from .passes.computed import fold_computed
from .passes.context import keep_context
from .passes.experts import split_experts
from .passes.int8 import integer_nodes
from .plan import plan
from .program import Placement, Program
from .remedy import with_fix
from .report import Report
from .tune import Tuning, decided
from .verify import verify

Transform = Callable[[ir.Model], None]
COLLECTED: Final = 50_000
"""Objects more than before, after which Python looks for garbage while a stage works."""


def export(
    source: Any,
    options: Options = Options(),
    *,
    fill: Transform | None = None,
    transform: Transform | None = None,
    runner: Runner | None = None,
    compute: Runner | None = None,
    tuning: Tuning | None = None,
    report: Report | None = None,
) -> Program:
    """Compiles one model, or several as the methods of one program.

    Args:
        source: What `capture` takes; or sources by method name, which share constants by content and states by name.
        fill: Gives each captured graph other weights, before the passes.
        transform: Changes each cleaned graph before it is lowered: quantization.
        runner: Runs each graph that came from PyTorch once on its example inputs, before `transform`, to compare it with the
            module; None: nothing is compared.
        compute: Runs what follows from constants alone, which is stored then; None: every run computes it.
        tuning: Measurements to choose operators by, and a timer for `mode="max-autotune"`; None: rules choose.
        report: Filled on the way.

    Raises:
        ArgumentError: a state, size or hint that names nothing of the model, a delegate that is not known.
        ModelError: the source cannot be used, or its graph gives something else than the module.
        LoweringError: nodes have no lowering; all are named.
        InternalError: a stage made what the runtime would refuse.
    """
    if options.mode == "max-autotune" and (tuning is None or tuning.timer is None):
        raise ArgumentError(
            "mode max-autotune: expected a tuning with a timer, got none; pteron.export_model has one"
        )
    check_context(options)
    report = Report() if report is None else report
    stage = Stages(report, options.progress)
    chosen(options.delegates)
    models: dict[str, ir.Model] = {}

    for name, each in (source if isinstance(source, Mapping) else {"main": source}).items():
        with stage("capture"):
            models[name] = capture(
                each,
                args=options.args,
                kwargs=options.kwargs,
                dynamic_shapes=options.dynamic_shapes,
                complex_pairs=options.complex_pairs,
            )
    states = state_pairs(list(models.values()), options.states or {})
    fix(list(models.values()), options.fix or {})
    if options.mode == "reduce-overhead":
        _check_fixed(list(models.values()))
    made = functools.partial(
        _made, states=states, options=options, fill=fill, transform=transform, runner=runner, compute=compute,
        tuning=tuning, report=report, stage=stage,
    )  # fmt: skip
    return made(models) if options.example is None else _guarded(models, options, report, made)


def _guarded(
    models: Mapping[str, ir.Model],
    options: Options,
    report: Report,
    made: Callable[[Mapping[str, ir.Model]], Program],
) -> Program:
    """As `made`, where inputs that decide what could not be lowered are what the example has: as few as that takes."""
    example = read_example(options.example)
    known = {v.name for model in models.values() for v in model.graph.inputs}
    for name in sorted(example.keys() - known):
        raise ArgumentError(
            f"example {name}: expected inputs of the model, those are {', '.join(map(str, known))}; correct the name"
        )
    while True:
        tried = {name: model.clone() for name, model in models.items()}
        try:
            program = made(tried)
        except LoweringError as error:
            found = {name: deciding(m, error.nodes, example) for name, m in tried.items()}
            if not any(found.values()):
                raise
            for name, model in models.items():
                guard(model, example, found[name])
            report.methods.clear()
            report.notes.clear()
        else:
            report.notes += [line for model in models.values() for line in told(model)]
            return program


def _made(
    models: Mapping[str, ir.Model],
    *,
    states: dict[str, str],
    options: Options,
    fill: Transform | None,
    transform: Transform | None,
    runner: Runner | None,
    compute: Runner | None,
    tuning: Tuning | None,
    report: Report,
    stage: Stages,
) -> Program:
    """The program of captured models, which are changed on the way."""
    asked = chosen(options.delegates)
    states = dict(states)
    activations: list[str] = []
    placements: list[Placement] = []
    for name, model in models.items():
        report.begin(name, model)
        drawn = seed_nodes(model, options.random_seed)
        report.notes += drawn
        if drawn and runner is not None:
            report.notes.append(
                f"{name}: not compared with the module, whose random numbers are others"
            )
            runner = None
        if fill is not None:
            example = example_of(model)
            if runner is not None and example is not None:  # with the module's own weights
                _compare(model, run_passes(model.clone()), example, stage, report, runner)
            with stage("weights"):
                fill(model)
        _clean(model, stage, report, None if fill is not None else runner, compute)
        if options.max_context is not None:
            states |= _keep_context(model, options, stage, report)
        if split_experts(model):
            with stage("passes"):
                run_passes(model, progress=report.passed)
        if transform is not None:
            with stage("quantize"):
                transform(model)
        activations.append(
            arithmetic.resolved(options.activations, model, bool(asked), report.notes)
        )
        if activations[-1] != FLOAT:
            integer_nodes(model)
        if asked:
            with stage("partition"):
                first = len({(p.method, p.reason) for p in placements if p.delegate != "cpu"})
                placements += partition(model, asked, options.placement, name, first)

    program = _compiled(models, states, activations, options, stage, report, tuning)
    program = dataclasses.replace(program, placements=tuple(placements))
    report.end(program, is_tuned=tuning is not None)
    return program


def _clean(
    model: ir.Model, stage: Stages, report: Report, runner: Runner | None, compute: Runner | None
) -> None:
    """Runs the passes, and compares what they leave with the module it is from."""
    example = example_of(model)
    captured = None if runner is None or example is None else model.clone()
    with stage("passes"):
        run_passes(model, progress=report.passed)
        if compute is not None and fold_computed(model, compute):
            run_passes(model, progress=report.passed)
    report.cleaned(model)
    if captured is not None and example is not None and runner is not None:
        _compare(captured, model, example, stage, report, runner)


def _compare(
    captured: ir.Model,
    model: ir.Model,
    example: Example,
    stage: Stages,
    report: Report,
    runner: Runner,
) -> None:
    """The graph that passes made of the captured one gives what the module gave."""
    with stage("check"):
        report.notes += check(captured, model, example, runner)


def _keep_context(
    model: ir.Model, options: Options, stage: Stages, report: Report
) -> dict[str, str]:
    """The states that a decoder's session keeps."""
    assert options.max_context is not None
    with stage("context"):
        context = keep_context(
            model, options.max_context, options.cache, all_logits=options.logits == "all"
        )
        run_passes(model, progress=report.passed)
    report.notes.append(context.as_text())
    report.cleaned(model)
    return context.states


def _compiled(
    models: Mapping[str, ir.Model],
    states: Mapping[str, str],
    activations: Sequence[str],
    options: Options,
    stage: Stages,
    report: Report,
    tuning: Tuning | None,
) -> Program:
    """Graphs to a planned program, which is verified once, as it is written. Where that or a stage fails, what each stage
    made is verified in their order: the first that the runtime would refuse is the error."""
    made: list[tuple[str, Program]] = []
    try:
        with stage("lower"):
            try:
                program = lower(models, hints=options.hints, states=states)
            except LoweringError as error:
                raise with_fix(error, models, options.hints or {}, states) from error.__cause__
            _check_hints(program, options.hints or {})
            made.append(("lower", program))
            program = share(program)
            made.append(("share", program))
        if options.fuse:
            with stage("fuse"):
                program = fuse(program)
            made.append(("fuse", program))
        source = keys_in_panels(program)
        decide: Decide = by_rule

        def packed(decide: Decide, notes: list[str] | None = None) -> Program:
            return pack(source, notes, activations, options.fast_conv, decide)

        if tuning is not None:
            with stage("tune"):
                decide = decided(source, packed, tuning, report.chosen, report.notes)
        with stage("pack"):
            program = packed(decide, report.notes)
        made.append(("pack", program))
        with stage("plan"):
            program = plan(program)
        with stage("verify"):
            return verify(program, "plan")
    except Exception:
        for name, each in made:
            verify(each, name)
        raise


def _check_fixed(models: Sequence[ir.Model]) -> None:
    """Raises ArgumentError: an input has a size that nobody fixed."""
    left = sorted({name for model in models for name in symbols(model)})
    if left:
        raise ArgumentError(
            f"mode reduce-overhead: expected a size for every dimension, got none for {', '.join(left)}; "
            f"give {' '.join(f'--hint {name}=N' for name in left)}"
        )


def _check_hints(program: Program, hints: Mapping[str, int]) -> None:
    """Raises ArgumentError: no dimension of that name, or a size that it cannot have."""
    dims = {d.name: d for d in program.dims}
    for name, size in hints.items():
        if name not in dims:
            raise ArgumentError(
                f"hint {name}: expected a dimension of the program, those are {', '.join(dims) or 'none'}; correct the name"
            )
        if not dims[name].min <= size <= dims[name].max:
            raise ArgumentError(
                f"hint {name}: expected a size of {dims[name].min} to {dims[name].max}, got {size}"
            )


class Stages:
    """`with stage("plan"):` tells progress the stage's name, and adds its time to the report."""

    def __init__(self, report: Report, progress: Progress | None) -> None:
        self.report = report
        self.progress = progress

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self.progress is not None:
            self.progress(name)
        started = time.perf_counter()
        with _few_collections():
            yield
        self.report.spent(name, time.perf_counter() - started)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """What a stage makes lives until the export ends: looking through all of it again and again took a tenth of the time."""
    before = gc.get_threshold()
    if 0 < before[0] < COLLECTED:
        gc.set_threshold(COLLECTED, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
