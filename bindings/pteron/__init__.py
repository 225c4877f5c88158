"""Pteron: compile a trained model once, run one file on phones and boards.

    import pteron
    pteron.export_model("model.onnx", "model.pte")   # needs pteron[export]
    model = pteron.load("model.pte")                 # needs numpy and cffi only
    y = model(x)

Names are looked up when first used, so that loading a program imports neither onnx nor anything else of export.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.schema.errors import (
    ArgumentError,
    DataError,
    DelegateError,
    FileError,
    InternalError,
    LimitError,
    LoweringError,
    ModelError,
    OutputError,
    PlacementWarning,
    ProgramError,
    PteronError,
    QuantError,
    QuantWarning,
    RecipeError,
)
from pteron.schema.lazy import lazy

if TYPE_CHECKING:
    from .pipeline import export_model
    from .runtime import Model, PortInfo, Program, Sampling, Session, generate, load

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "DataError",
    "DelegateError",
    "FileError",
    "InternalError",
    "LimitError",
    "LoweringError",
    "Model",
    "ModelError",
    "OutputError",
    "PlacementWarning",
    "PortInfo",
    "Program",
    "ProgramError",
    "PteronError",
    "QuantError",
    "QuantWarning",
    "RecipeError",
    "Sampling",
    "Session",
    "export_model",
    "generate",
    "load",
]

_HOMES = {
    "load": "pteron.runtime",
    "Model": "pteron.runtime",
    "PortInfo": "pteron.runtime",
    "Program": "pteron.runtime",
    "Sampling": "pteron.runtime",
    "Session": "pteron.runtime",
    "generate": "pteron.runtime",
    "export_model": "pteron.pipeline",
}
_FOLDERS = ("export", "quantize", "runtime", "schema")

if not TYPE_CHECKING:  # a type checker sees the imports above, and names that are not there
    __getattr__, __dir__ = lazy(__name__, _HOMES, _FOLDERS)
