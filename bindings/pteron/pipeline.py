"""The whole way from a model to a .pte file: capture -> passes -> lower -> fuse -> pack -> plan -> emit -> write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.export import Stages, Transform, export
from pteron.export.file.emit import emit
from pteron.export.options import Options
from pteron.export.report import Report
from pteron.export.write import afterwards, apart, write_text, write_whole
from pteron.quantize.journal import Journal, journal
from pteron.quantize.quantize import RAM_BYTES, Calibration, Method, transformer
from pteron.quantize.recipe import Recipe
from pteron.quantize.recipe_file import read_recipe
from pteron.quantize.report import QuantReport
from pteron.schema.errors import ArgumentError, naming_files, shown

from .blame import blaming
from .request import Request, front
from .timing import tuning_of


@front(Request)
@naming_files()
def export_model(request: Request) -> Report:
    """Compiles a model, or several as the methods of one program, and writes the program to a file.

    Raises:
        ArgumentError: a state, size or hint that names nothing of the model, a delegate that is not known, an `out` that is
            the model.
        FileError: no such file, or no folder for one.
        ModelError: the source cannot be used, or its graph gives something else than the module.
        LoweringError: nodes have no lowering; all are named.
        QuantError: a format, a layer or samples that cannot be quantized with.
    """
    distinct(request.source, request.out)
    report = Report()
    kept_in = journal(kept_at(request.out, request.resume), request.resume, afterwards)
    with blaming(request.source), kept_in as kept:
        _export(request, report, kept)
    return report


def _export(request: Request, report: Report, kept: Journal) -> None:
    done = list[QuantReport]()
    tuning = tuning_of(request.mode, request.tune)
    program = export(
        request.source if request.methods is None else request.methods,
        request,
        transform=_transform(request, kept, done.append, report),
        runner=record if request.check else None,
        tuning=tuning,
        report=report,
    )
    for each in done:
        each.executed({p.node: p.arithmetic for p in report.products})
        if request.quantized is not None:
            request.quantized(each)
    if request.out is None:
        return
    write = partial(emit, program, debug=request.debug)
    with Stages(report, request.progress)("emit"):
        report.file_bytes = write_whole(Path(request.out), write)
    if request.tune is not None and tuning is not None and tuning.timer is not None:
        write_text(Path(request.tune), tuning.profile.as_text())


def _transform(
    request: Request, kept: Journal, done: Callable[[QuantReport], None], report: Report
) -> Transform | None:
    """Places a checkpoint's weights, then rounds."""
    rounds = _quantizer(request, kept, done)
    if request.weights is None:
        return rounds
    from pteron.quantize.checkpoint import read_checkpoint
    from pteron.quantize.checkpoint.place import place

    path = Path(request.weights)
    tensors = read_checkpoint(path)

    def transform(model: ir.Model) -> None:
        placed = place(model, tensors, path.name)
        report.notes += [f"weights: nothing is called {left}" for left in placed.skipped]
        done(placed)
        if rounds is not None:
            rounds(model)

    return transform


def _quantizer(
    request: Request, kept: Journal, done: Callable[[QuantReport], None]
) -> Transform | None:
    """What `request.quantize` makes of each graph."""
    if request.quantize is None:
        return None
    from .runtime.cpu import threads

    source = request.calibrate
    calibration = None if source is None else Calibration(source, record, request.samples)
    method = Method(
        None if request.statistics is None else Path(request.statistics),
        request.evaluate,
        record,
        kept,
        RAM_BYTES if request.max_ram is None else request.max_ram,
        threads=threads(),
    )
    wanted = request.quantize
    if not isinstance(wanted, str | Recipe):
        raise ArgumentError(
            f"quantize: expected a format, a recipe or its file, got {shown(wanted)}"
        )
    if isinstance(wanted, str) and wanted.endswith((".yaml", ".yml")):
        wanted = read_recipe(Path(wanted))
    return transformer(wanted, request.progress, done, calibration, method)


def kept_at(out: str | os.PathLike[str] | None, resume: bool) -> Path | None:
    """The journal of an output."""
    return Path(f"{os.fspath(out)}.journal") if resume and out is not None else None


def distinct(source: Any, out: str | os.PathLike[str] | None) -> None:
    """Before any work.

    Raises:
        ArgumentError: `out` is the model, or a file that its weights lie in.
    """
    if out is None or not isinstance(source, str | os.PathLike):
        return
    model, target = Path(source), Path(out)
    apart([target], [model])
    if model.suffix == ".onnx" and target.is_file():
        from pteron.export.capture.onnx import files_of

        apart([target], files_of(model))


def record(
    model: ir.Model, wanted: Sequence[str], samples: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The Runner of calibration and of checks: the graph in f32, with the wanted values as its outputs, on our runtime."""
    from .runtime import load

    copy = model.clone()
    copy.metadata_props.pop(g.STATE, None)  # states are inputs here
    inputs = {str(v.name) for v in copy.graph.inputs}
    made = {str(v.name): v for node in copy.graph for v in node.outputs}
    copy.graph.outputs[:] = [made[name] for name in wanted if name not in inputs]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calibrate.pte"
        emit(export(copy, Options(exec_mode="exact")), path, debug=False)
        runs = load(path)
        for sample in samples:
            values = {**sample, **runs.run(sample)}
            yield {name: values[name] for name in wanted}
