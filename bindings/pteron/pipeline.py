"""The whole way from a model to a .pte file: capture -> passes -> lower -> fuse -> pack -> plan -> emit -> write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pteron.export.emit import emit
from pteron.export.export import export
from pteron.export.report import Report
from pteron.schema.errors import DelegateError, QuantError


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
    quantize: str | None = None,
    delegates: Sequence[str] = ("cpu",),
    progress: Callable[[str], None] | None = None,
    methods: Mapping[str, Any] | None = None,
) -> Report:
    """Compiles a model (`pteron.export.export` says what the arguments mean) and writes the program to `out`.

    `out` None writes nothing: the report says whether the model can be exported. A file appears whole or not at all.
    """
    if quantize is not None:
        raise QuantError(
            f"quantize: expected None, got {quantize!r}: not yet; export a model with QuantizeLinear and DequantizeLinear nodes instead"
        )
    unknown = [d for d in delegates if d not in ("cpu", "null")]
    if unknown:
        raise DelegateError(
            f"delegates: expected 'cpu' or 'null', got {unknown[0]!r}; no other delegate exists yet"
        )
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
        progress=progress,
        report=report,
    )
    data = emit(program, debug=debug)
    report.file_bytes = len(data)
    if out is not None:
        if progress is not None:
            progress("write")
        write_whole(Path(out), data)
    return report


def write_whole(path: Path, data: bytes) -> None:
    """Writes beside `path` and renames, so that no reader ever sees half a file."""
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=path.name, suffix=".part", delete=False
    ) as part:
        try:
            part.write(data)
            part.close()
            Path(part.name).replace(path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
