"""From a model to a Program, stage by stage; `pteron.export_model` runs all of them and writes the file.

    from pteron import export

    graph = export.capture.capture("model.onnx")
    export.passes.run_passes(graph)
    program = export.lower.lower(graph)
    ...
    program = export.export.export("model.onnx", export.Options(fix={"batch": 1}))   # all but the file

`docs/export.md` has the stages. What is here is imported when it is first used, and needs pteron[export].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.schema.lazy import lazy

if TYPE_CHECKING:
    from . import (
        capture,
        delegates,
        export,
        file,
        graph,
        lower,
        optimize,
        options,
        pack,
        passes,
        plan,
        program,
        report,
        sizes,
        tune,
        verify,
    )
    from .capture.registered import translation
    from .delegates import Delegate
    from .options import Options
    from .program import Program
    from .report import Report

__all__ = ["Delegate", "Options", "Program", "Report", "translation"]
__all__ += ["capture", "delegates", "export", "file", "graph", "lower", "optimize", "options"]
__all__ += ["pack", "passes", "plan", "program", "report", "sizes", "tune", "verify"]

if not TYPE_CHECKING:
    _HOMES = {name: f"pteron.export.{name.lower()}" for name in ("Program", "Report")}
    _HOMES |= {"Delegate": "pteron.export.delegates", "Options": "pteron.export.options"}
    _HOMES |= {"translation": "pteron.export.capture.registered"}
    __getattr__, __dir__ = lazy(__name__, _HOMES, {*__all__} - {*_HOMES})
