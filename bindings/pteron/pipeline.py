"""The whole way from a model to a .pte file: capture -> passes -> lower -> fuse -> pack -> plan -> emit -> write."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from pteron.export.builders import Built, is_checkpoint
from pteron.export.export import Stages, Transform, export
from pteron.export.file.emit import emit
from pteron.export.graph.save import save_standard
from pteron.export.report import Report
from pteron.export.write import afterwards, apart, complete, together, write_text, write_whole
from pteron.quantize.quantize import RAM_BYTES, Calibration, Method, is_static, transformer
from pteron.quantize.recipe.file import read_recipe
from pteron.quantize.recipe.rules import Recipe, recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding.journal import Journal, journal
from pteron.schema.activations import AUTO
from pteron.schema.errors import (
    ArgumentError,
    ModelError,
    PteronError,
    naming_files,
    shown,
)

from . import reports
from .blame import blaming
from .recording import record
from .request import Request, front
from .source import sourced, title
from .timing import tuning_of

if TYPE_CHECKING:
    from pteron.quantize.checkpoint.place import Import


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
    distinct(request.source, request.out, request.save_onnx)
    name, report = title(request.source), Report()
    try:
        request = made_from(request)
        kept_in = journal(kept_at(request.out, request.resume), request.resume, afterwards)
        with together():
            with blaming(request.source), kept_in as kept:
                _export(request, report, kept)
            if request.report is not None:
                reports.write_export(Path(request.report), report, name)
    except PteronError as error:
        if request.report is not None and not report.file_bytes:
            reports.write_failure(Path(request.report), error, name)
        raise
    return report


def made_from(request: Request) -> Request:
    """The request with what a Python file makes in place of its name."""
    made = sourced(request.source)
    if made is None:
        return request
    for name in ("args", "kwargs", "dynamic_shapes"):
        if getattr(request, name) is not None:
            if getattr(made, name) is not None:
                raise ArgumentError(f"{name}: {request.source} gives them, too; drop one")
            made = dataclasses.replace(made, **{name: getattr(request, name)})
    return dataclasses.replace(
        request,
        source=made.module,
        args=made.args,
        kwargs=made.kwargs,
        dynamic_shapes=made.dynamic_shapes,
    )


def _export(request: Request, report: Report, kept: Journal) -> None:
    done = list[QuantReport]()
    wanted = _recipe(request)
    if wanted is not None:
        request = dataclasses.replace(request, quantize=wanted, activations=wanted.activations)
    tuning = tuning_of(request.mode, request.tune)
    source = request.source if request.methods is None else request.methods
    imported, fill, built = _import(request), None, None
    if is_checkpoint(source):
        built, request, imported = _built(request, report)
        source = built
    elif imported is not None:
        fill = imported.fill
    text = _text(request, built, report)
    if built is not None:
        report.notes += built.told(bool(text))
    program = export(
        source,
        request,
        fill=fill,
        transform=_transform(request, imported, kept, done.append, report),
        runner=record if request.check else None,
        compute=record,
        tuning=tuning,
        report=report,
    )
    for each in done:
        each.executed({p.node: p.activations for p in report.products})
        if each.coverage is not None:
            report.coverage.append(each.coverage.as_dict())
        report.notes += each.notes
        if request.ranges is not None and each.ranges is not None:
            write_text(Path(request.ranges), each.ranges.as_json())
        if request.quantized is not None:
            request.quantized(each)
    if request.out is None or request.dry_run:
        return
    out = Path(request.out)
    program = dataclasses.replace(program, text=text)
    write = partial(emit, program, debug=not request.strip)
    with Stages(report, request.progress)("emit"):
        report.file_bytes = write_whole(out, write)
    if request.kernel_list is not None:
        _write_kernel_list(Path(request.kernel_list), out)
    if request.tune is not None and tuning is not None and tuning.timer is not None:
        write_text(Path(request.tune), tuning.profile.as_text())


def _write_kernel_list(path: Path, program: Path) -> None:
    from pteron.export.file.read import read
    from pteron.export.program.kernels import header, kernels_of

    kernels = kernels_of(read(complete(program).read_bytes()))
    write_text(path, header(kernels, program.name))


def _built(request: Request, report: Report) -> tuple[Built, Request, Import]:
    """The decoder of a checkpoint, with a context where none is asked for, and what keeps its quantized values."""
    from pteron.export.builders.from_checkpoint import build
    from pteron.quantize.checkpoint.place import Import

    path = Path(request.source)
    with Stages(report, request.progress)("build"):
        built = build(path)
    if request.max_context is None:
        request = dataclasses.replace(request, max_context=built.context)
    return built, request, Import.built(path.name, built.model, built.tensors)


def _text(request: Request, built: Built | None, report: Report) -> bytes:
    """The text segment: of the tokenizer that is asked for, or of the one that a checkpoint has.

    Raises:
        ModelError: the one that is asked for is not there, or not covered; the text says why.
    """
    if request.tokenizer is None and built is None:
        return b""
    from pteron.export import text

    path = Path(request.source if request.tokenizer is None else request.tokenizer)
    if built is not None and request.tokenizer is None and not path.is_dir():
        found = text.from_gguf(built.keys)
    else:
        found = text.found_at(path)
    if found.segment is not None:
        return found.segment
    if request.tokenizer is not None:
        raise ModelError(f"tokenizer: {found.reason}; without --tokenizer the program has none")
    report.notes.append(
        f"the program has no tokenizer and generates tokens, not text: {found.reason}"
    )
    return b""


def _import(request: Request) -> Import | None:
    """The checkpoint that is asked for beside a model.

    Raises:
        ArgumentError: the model is a checkpoint itself.
    """
    if request.weights is None:
        return None
    if is_checkpoint(request.source):
        raise ArgumentError(
            f"weights: expected a model without them, got the checkpoint {request.source}, which has its own; drop weights"
        )
    from pteron.export.checkpoint import read_checkpoint
    from pteron.quantize.checkpoint.place import Import

    path = Path(request.weights)
    return Import(path.name, read_checkpoint(path), partial=request.partial)


def _transform(
    request: Request,
    imported: Import | None,
    kept: Journal,
    done: Callable[[QuantReport], None],
    report: Report,
) -> Transform | None:
    """Places a checkpoint's quantized weights, saves the graph, then rounds."""
    rounds = _quantizer(request, kept, done)
    if imported is None and request.save_onnx is None:
        return rounds

    def transform(model: ir.Model) -> None:
        if imported is not None:
            done(imported.place(model))
            report.notes += imported.notes
        if request.save_onnx is not None:
            save_standard(model, Path(request.save_onnx))
        if rounds is not None:
            rounds(model)

    return transform


def _recipe(request: Request) -> Recipe | None:
    """What is to be quantized how; the activations are the recipe's or the request's, whichever says some.

    Raises:
        ArgumentError: no format, recipe or file of one, or both say activations, and other ones.
    """
    wanted = request.quantize
    if wanted is None:
        return None
    if not isinstance(wanted, str | Recipe):
        raise ArgumentError(
            f"quantize: expected a format, a recipe or its file, got {shown(wanted)}"
        )
    if isinstance(wanted, str):
        is_file = wanted.endswith((".yaml", ".yml"))
        wanted = read_recipe(Path(wanted)) if is_file else recipe(wanted)
    said = {wanted.activations, request.activations} - {AUTO}
    if len(said) > 1:
        raise ArgumentError(
            f"activations {request.activations}: the recipe says {wanted.activations}; drop one"
        )
    return dataclasses.replace(wanted, activations=said.pop() if said else AUTO)


def _quantizer(
    request: Request, kept: Journal, done: Callable[[QuantReport], None]
) -> Transform | None:
    """What `request.quantize` makes of each graph."""
    if not isinstance(request.quantize, Recipe):
        return None
    source = request.calibrate
    calibration = None if source is None else Calibration(source, record, request.samples)
    method = method_of(request, kept)
    check_ranges(request.ranges, request.quantize, calibration, method)
    return transformer(request.quantize, request.progress, done, calibration, method)


def method_of(request: Any, kept: Journal, *, dry: bool = False, lazy: bool = False) -> Method:
    """How a request's recipe is carried out."""
    from .runtime.cpu import threads

    return Method(
        None if request.statistics is None else Path(request.statistics),
        request.evaluate,
        record,
        kept,
        RAM_BYTES if request.max_ram is None else request.max_ram,
        dry,
        lazy,
        threads(),
    )


def check_ranges(
    path: Any, wanted: Recipe, calibration: Calibration | None, method: Method
) -> None:
    """Raises ArgumentError: ranges are to be written, and none are looked for."""
    if path is not None and not is_static(wanted, calibration is not None, method.given):
        raise ArgumentError(f"ranges {path}: expected format int8 and calibrate, too")


def kept_at(out: str | os.PathLike[str] | None, resume: bool) -> Path | None:
    """The journal of an output."""
    return Path(f"{os.fspath(out)}.journal") if resume and out is not None else None


def distinct(source: Any, *outs: str | os.PathLike[str] | None) -> None:
    """Before any work.

    Raises:
        ArgumentError: an output is the model, or a file that its weights lie in.
    """
    targets = [Path(out) for out in outs if out is not None]
    if not targets or not isinstance(source, str | os.PathLike):
        return
    model = Path(source)
    apart(list(targets), [model])
    if model.suffix == ".onnx" and any(target.is_file() for target in targets):
        from pteron.export.capture.onnx import files_of

        apart(list(targets), files_of(model))
