"""The stages from a source model to a planned Program, in order, each usable alone.

capture -> passes -> lower -> fuse -> pack -> plan; after each of the last four, `verify` says whether the runtime would
take the program.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import onnx_ir as ir

from pteron.schema.errors import ArgumentError, ModelError

from .capture import capture
from .capture.check import Runner, check, example_of
from .delegates import Delegate, chosen
from .delegates.partition import check_policy, partition
from .graph.fix import fix as fix_sizes
from .graph.states import state_pairs
from .lower import lower
from .lower.states import with_initial
from .optimize.fuse import fuse as fuse_program
from .optimize.share import share
from .pack import arithmetic, pack
from .pack.arithmetic import EXACT
from .passes import run_passes
from .passes.int8 import integer_nodes
from .plan import plan
from .program import Program
from .report import Report
from .verify import verify

Progress = Callable[[str], None]
P = ParamSpec("P")
T = TypeVar("T")


def export(
    source: Any = None,
    *,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    states: Mapping[str, str] | None = None,
    hints: Mapping[str, int] | None = None,
    fix: Mapping[str, int] | None = None,
    fuse: bool = True,
    methods: Mapping[str, Any] | None = None,
    transform: Callable[[ir.Model], None] | None = None,
    exec_mode: str = "auto",
    delegates: Sequence[str | Delegate] = (),
    placement: str = "warn",
    progress: Progress | None = None,
    report: Report | None = None,
    runner: Runner | None = None,
) -> Program:
    """Compiles one model, or several as the methods of one program.

    Args:
        source: What `capture` takes; None where `methods` is given.
        args: Example inputs of a torch module; with `kwargs` and `dynamic_shapes` as `capture` says.
        states: Pairs past input -> present output that the session keeps, beside those the model names itself; or patterns,
            `past_*` -> `present_*`, each `*` the same text on both sides.
        hints: Sizes of symbolic dimensions for which the stored plan is made.
        fix: Symbolic dimensions that become numbers: {"batch": 1}. Delegates take fixed sizes alone.
        fuse: False leaves one instruction an operator; the bits are the same.
        methods: Method name -> source; they share constants by content and states by name.
        transform: Changes each cleaned graph before it is lowered: quantization.
        exec_mode: "auto", "exact" or "int8": how quantized weights are computed with, as arithmetic.py says.
        delegates: Names or rows, asked in this order for each node; "cpu", or nobody, takes the rest.
        placement: What happens where a delegate is not there or fails: "allow" the CPU, "warn" too, "forbid" it; under
            forbid every node must go to a delegate, but those that quantize inputs and dequantize outputs.
        progress: Called with the name of each stage as it begins.
        report: Filled on the way.
        runner: Runs each graph that came from PyTorch once on its example inputs, before `transform`, to compare it with the
            module; None: nothing is compared.

    Raises:
        ArgumentError: a state, size or hint that names nothing of the model, a delegate that is not known.
        ModelError: the source cannot be used, or its graph gives something else than the module.
        LoweringError: nodes have no lowering; all are named.
        InternalError: a stage made what the runtime would refuse.
    """
    report = Report() if report is None else report
    _check_options(source, methods, exec_mode, placement)
    timed = Stages(report, progress)
    asked = chosen(delegates)
    models: dict[str, ir.Model] = {}
    modes: list[str] = []
    for name, each in (methods or {"main": source}).items():
        with_args = {"args": args, "kwargs": kwargs, "dynamic_shapes": dynamic_shapes}
        models[name] = timed("capture", capture, each, **with_args)
    pairs = state_pairs(list(models.values()), states or {})
    fix_sizes(list(models.values()), fix or {})
    for name, model in models.items():
        report.begin(name, model)
        _clean(model, timed, None if fix else runner)
        if transform is not None:
            timed("quantize", transform, models[name])
        modes.append(arithmetic.resolved(exec_mode, models[name], bool(asked), report.notes))
        if modes[-1] != EXACT:
            integer_nodes(models[name])
        if asked:
            segments = {(r.method, r.reason) for r in report.placements if r.delegate != "cpu"}
            report.placements += timed(
                "partition", partition, models[name], asked, placement, name, len(segments)
            )
    program = timed("lower", lower, models, hints=hints, states=pairs)
    _check_hints(program, hints or {})
    program = _shared(with_initial(verify(program, "lower"), list(models.values())))
    if fuse:
        program = timed.program("fuse", fuse_program, program)
    program = timed.program("pack", pack, program, report.notes, modes)
    program = dataclasses.replace(program, placements=tuple(report.placements))
    program = timed.program("plan", plan, program)
    report.end(program)
    return program


def _shared(program: Program) -> Program:
    made = share(program)
    return program if made is program else verify(made, "share")


def _clean(model: ir.Model, timed: Stages, runner: Runner | None) -> None:
    """Runs the passes, and compares what they leave with the module it is from."""
    example = example_of(model)
    captured = model.clone() if example is not None and runner is not None else None
    timed("passes", run_passes, model, progress=timed.report.passed)
    timed.report.cleaned(model)
    if captured is not None and example is not None and runner is not None:
        timed("check", check, captured, model, example, runner)


def _check_options(source: Any, methods: Any, exec_mode: str, placement: str) -> None:
    """Raises ModelError where one is none."""
    if (source is None) == (methods is None):
        raise ModelError("export: expected either a source or methods, got both or neither")
    arithmetic.check(exec_mode)
    check_policy(placement)


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
    """Runs a stage, tells progress its name, adds its time to the report."""

    def __init__(self, report: Report, progress: Progress | None) -> None:
        self.report = report
        self.progress = progress

    def __call__(self, stage: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.progress is not None:
            self.progress(stage)
        started = time.perf_counter()
        result = work(*args, **kwargs)
        self.report.spent(stage, time.perf_counter() - started)
        return result

    def program(
        self, stage: str, work: Callable[P, Program], *args: P.args, **kwargs: P.kwargs
    ) -> Program:
        """A stage that makes a program: one that the runtime would refuse goes no further."""
        return self(stage, lambda: verify(work(*args, **kwargs), stage))
