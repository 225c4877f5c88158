"""A model file to a quantized model file, at the lowest opset that has the types."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import onnx_ir as ir

from pteron.quantize.apply import OPSET, quantize
from pteron.quantize.recipe import SKIP, Recipe, recipe
from pteron.quantize.report import QuantReport


def transformer(
    wanted: str | Recipe,
    progress: Callable[[str], None] | None = None,
    done: Callable[[QuantReport], None] | None = None,
) -> Callable[[ir.Model], None]:
    """What the export pipeline applies to a graph: a format by name, or a recipe; `done` gets each report."""
    chosen = recipe(wanted) if isinstance(wanted, str) else wanted

    def transform(model: ir.Model) -> None:
        report = quantize(model, chosen, progress=progress)
        if done is not None:
            done(report)

    return transform


def opset_of(wanted: Recipe) -> int:
    """The lowest opset that has every format a recipe may choose."""
    chosen = {wanted.format, *(rule.format for rule in wanted.rules)} - {SKIP}
    return max((OPSET[name] for name in chosen), default=1)


def quantize_model(
    model: ir.Model, wanted: Recipe, *, progress: Callable[[str], None] | None = None
) -> tuple[ir.Model, QuantReport]:
    """Quantizes in place; the model, already at opset_of(recipe) or above, declares the lowest IR version it needs."""
    report = quantize(model, wanted, progress=progress)
    imports = [
        onnx.helper.make_opsetid(d, v)
        for d, v in model.opset_imports.items()
        if d in ("", "ai.onnx")
    ]
    model.ir_version = max(onnx.helper.find_min_ir_version_for(imports), 8)
    return model, report
