"""Weights and activations in fewer bits, by stage; `quantize` calls them in this order:

    recipe -> observe -> transform -> rounding -> static | mixed -> write

what to round; what samples tell; the same network with constants that are easier to round; weights to codes (formats: `encode`);
int8 and int16 activations; who gets more bits; the result as a Graph. `report` says what it cost, `stored` what a model came with.
`checkpoint` reads what other tools quantized.

`pteron.export_model(..., quantize="nf4")` and the command `pteron quantize` are the usual ways in; `quantize.quantize_model`
does it to an ONNX model. `docs/quantize.md` has the formats. What is here is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.schema.lazy import lazy

if TYPE_CHECKING:
    from . import (
        encode,
        mixed,
        observe,
        quantize,
        recipe,
        report,
        rounding,
        static,
        transform,
        write,
    )
    from .observe.calibrate import Ranges
    from .quantize import Calibration
    from .recipe.rules import Recipe, Rule
    from .report import QuantReport

__all__ = ["Calibration", "QuantReport", "Ranges", "Recipe", "Rule"]
__all__ += [
    "encode",
    "mixed",
    "observe",
    "quantize",
    "recipe",
    "report",
    "rounding",
    "static",
    "transform",
    "write",
]

if not TYPE_CHECKING:
    _HOMES = {
        "Calibration": "pteron.quantize.quantize",
        "QuantReport": "pteron.quantize.report",
        "Ranges": "pteron.quantize.observe.calibrate",
        "Recipe": "pteron.quantize.recipe.rules",
        "Rule": "pteron.quantize.recipe.rules",
    }
    __getattr__, __dir__ = lazy(__name__, _HOMES, {*__all__} - {*_HOMES})
