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
from pteron.export.delegates import Delegate
from pteron.export.export import Stages, export
from pteron.export.file.emit import emit
from pteron.export.report import Report
from pteron.export.write import apart, write_whole
from pteron.quantize.calibrate import SAMPLES, Source
from pteron.quantize.quantize import Calibration, transformer
from pteron.quantize.recipe import Recipe
from pteron.quantize.report import QuantReport
from pteron.schema.errors import QuantError


def export_model(
    source: Any = None,
    out: str | os.PathLike[str] | None = None,
    *,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    states: Mapping[str, str] | None = None,
    hints: Mapping[str, int] | None = None,
    fuse: bool = True,
    debug: bool = True,
    quantize: str | Recipe | None = None,
    exec_mode: str = "auto",
    fix: Mapping[str, int] | None = None,
    delegates: Sequence[str | Delegate] = ("cpu",),
    placement: str = "warn",
    progress: Callable[[str], None] | None = None,
    methods: Mapping[str, Any] | None = None,
    quantized: Callable[[QuantReport], None] | None = None,
    calibrate: Source | None = None,
    samples: int = SAMPLES,
    check: bool = True,
) -> Report:
    """Compiles a model (`pteron.export.export` says what the arguments mean) and writes the program to `out`.

    `out` None writes nothing: the report says whether the model can be exported. A file appears whole or not at all.
    `quantize="int8"` with `calibrate` (`pteron.quantize.calibrate.calibrated` says what it takes) quantizes activations too, from
    the ranges that they take over the first `samples` of it.
    `check`: a graph from PyTorch is run once on its example inputs and compared with the module, before weights are rounded.
    """
    if calibrate is not None and (quantize is None or methods is not None):
        raise QuantError("calibrate: expected quantize='int8' and one source; drop calibrate")
    distinct(source, out)
    calibration = None if calibrate is None else Calibration(calibrate, record, samples)
    report, done = Report(), list[QuantReport]()
    program = export(
        source,
        args=args,
        kwargs=kwargs,
        dynamic_shapes=dynamic_shapes,
        states=states,
        hints=hints,
        fuse=fuse,
        methods=methods,
        exec_mode=exec_mode,
        fix=fix,
        delegates=delegates,
        placement=placement,
        transform=None
        if quantize is None
        else transformer(quantize, progress, done.append, calibration),
        progress=progress,
        report=report,
        runner=record if check else None,
    )
    for each in done:
        each.executed({p.node: p.arithmetic for p in report.products})
        if quantized is not None:
            quantized(each)
    if out is not None:
        write = Stages(report, progress)
        report.file_bytes = write(
            "emit", write_whole, Path(out), partial(emit, program, debug=debug)
        )
    return report


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
        emit(export(copy, exec_mode="exact"), path, debug=False)
        runs = load(path)
        for sample in samples:
            values = {**sample, **runs.run(sample)}
            yield {name: values[name] for name in wanted}
