"""The whole way from a model to a .pte file: capture -> passes -> lower -> fuse -> pack -> plan -> emit -> write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pteron.export.emit import emit
from pteron.export.export import Stages, export
from pteron.export.report import Report
from pteron.export.write import write_whole
from pteron.quantize.quantize import transformer
from pteron.quantize.recipe import Recipe
from pteron.quantize.report import QuantReport
from pteron.schema.errors import DelegateError


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
    exec_mode: str = "exact",
    delegates: Sequence[str] = ("cpu",),
    progress: Callable[[str], None] | None = None,
    methods: Mapping[str, Any] | None = None,
    quantized: Callable[[QuantReport], None] | None = None,
) -> Report:
    """Compiles a model (`pteron.export.export` says what the arguments mean) and writes the program to `out`.

    `out` None writes nothing: the report says whether the model can be exported. A file appears whole or not at all.
    """
    for name in set(delegates) - {"cpu", "null"}:
        raise DelegateError(f"delegates: expected 'cpu' or 'null', got {name!r}: not yet")
    report = Report()
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
        transform=None if quantize is None else transformer(quantize, progress, quantized),
        progress=progress,
        report=report,
    )
    if out is not None:
        write = Stages(report, progress)
        report.file_bytes = write(
            "emit", write_whole, Path(out), partial(emit, program, debug=debug)
        )
    return report
