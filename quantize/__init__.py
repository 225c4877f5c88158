"""Weights and activations in fewer bits: what to round (`recipe`, `plan`), how (`encode`, `rounding`), what it costs (`report`).

`pteron.export_model(..., quantize="nf4")` and the command `pteron quantize` are the usual ways in; `quantize.quantize_model`
does it to an ONNX model. `docs/quantize.md` has the formats. What is here is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.schema.lazy import lazy

if TYPE_CHECKING:
    from . import (
        activations,
        apply,
        budget,
        calibrate,
        clipping,
        encode,
        fit,
        folds,
        gptq,
        hadamard,
        inputs,
        journal,
        layers,
        measure,
        mix,
        plan,
        quantize,
        readings,
        recipe,
        recipe_file,
        report,
        residual,
        rotation,
        rounding,
        samples,
        scaling,
        search,
        solve,
        statistics,
        undone,
        units,
    )
    from .calibrate import Ranges
    from .quantize import Calibration
    from .recipe import Recipe, Rule
    from .report import QuantReport

__all__ = ["Calibration", "QuantReport", "Ranges", "Recipe", "Rule"]
__all__ += [
    "activations",
    "apply",
    "budget",
    "calibrate",
    "clipping",
    "encode",
    "equalize",
    "fit",
    "folds",
    "gptq",
    "hadamard",
    "inputs",
    "journal",
    "layers",
    "measure",
    "mix",
    "plan",
    "quantize",
    "readings",
    "recipe",
    "recipe_file",
    "report",
    "residual",
    "rotation",
    "rounding",
    "samples",
    "scaling",
    "search",
    "solve",
    "statistics",
    "undone",
    "units",
]

if not TYPE_CHECKING:
    _HOMES = {
        "Calibration": "pteron.quantize.quantize",
        "QuantReport": "pteron.quantize.report",
        "Ranges": "pteron.quantize.calibrate",
        "Recipe": "pteron.quantize.recipe",
        "Rule": "pteron.quantize.recipe",
    }
    __getattr__, __dir__ = lazy(__name__, _HOMES, {*__all__} - {*_HOMES})
