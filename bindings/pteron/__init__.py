"""Pteron: compile a trained model once, run one file on phones and boards.

    import pteron
    pteron.export_model("model.onnx", "model.pte")   # needs pteron[export]
    model = pteron.load("model.pte")                 # needs numpy and cffi only
    y = model(x)

Names are looked up when first used, so that loading a program imports neither onnx nor anything else of export.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pteron.schema.errors import (
    ArgumentError,
    DataError,
    DelegateError,
    InternalError,
    LimitError,
    LoweringError,
    ModelError,
    OutputError,
    PlacementWarning,
    ProgramError,
    PteronError,
    QuantError,
)

if TYPE_CHECKING:
    from pteron.pipeline import export_model
    from pteron.runtime import Model, Program, Session, load

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "DataError",
    "DelegateError",
    "InternalError",
    "LimitError",
    "LoweringError",
    "Model",
    "ModelError",
    "OutputError",
    "PlacementWarning",
    "Program",
    "ProgramError",
    "PteronError",
    "QuantError",
    "Session",
    "export_model",
    "load",
]

_HOMES = {
    "load": "pteron.runtime",
    "Model": "pteron.runtime",
    "Program": "pteron.runtime",
    "Session": "pteron.runtime",
    "export_model": "pteron.pipeline",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in ("export", "quantize", "schema", "runtime"):
        return importlib.import_module(f"pteron.{name}")
    raise AttributeError(f"module 'pteron' has no attribute {name!r}")
