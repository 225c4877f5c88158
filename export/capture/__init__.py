"""Capture: any source -> a Graph at opset 28, ready for the passes.

`capture` is the one door: ONNX by path, bytes, ModelProto or onnx_ir model; PyTorch by module, ExportedProgram or .pt2 path; a
decoder's checkpoint by path, or what builders made of it.
PyTorch is imported only when the source needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx_ir as ir
from onnx import ModelProto

from pteron.schema.errors import ModelError

from ..builders import Built, is_checkpoint
from .check import KEY
from .onnx import capture_onnx

__all__ = ["capture", "capture_onnx"]


def capture(
    source: Any,
    *,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    complex_pairs: bool = False,
    name: str | None = None,
) -> ir.Model:
    """Reads a model, raised to opset 28.

    Args:
        source: .onnx or .pt2 path, bytes of an ONNX file, onnx.ModelProto, onnx_ir.Model, torch module or ExportedProgram; a GGUF
            file, a folder with config.json and safetensors, or a Built.
        args: A torch module's example inputs; an error for other sources.
        kwargs: Example keyword inputs of a torch module.
        dynamic_shapes: As for torch.export, for a torch module; a string is a dimension's name.
        complex_pairs: Complex inputs and outputs of a torch module are real tensors with an axis of 2 behind the others.
        name: The model's name in the program.

    Raises:
        ModelError: the source cannot be used; the text says why and what to do.
    """
    if isinstance(source, Built) or is_checkpoint(source):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise ModelError(
                "args, kwargs and dynamic_shapes describe a torch module; a checkpoint's decoder takes tokens; drop them"
            )
        if isinstance(source, Built):
            return source.model
        from ..builders.from_checkpoint import build

        return build(Path(source)).model
    is_path = isinstance(source, (str, os.PathLike))
    if (is_path and Path(source).suffix == ".pt2") or not (
        is_path or isinstance(source, (bytes, ModelProto, ir.Model))
    ):
        if isinstance(source, Mapping):
            raise ModelError(
                "model: expected a torch module, got a dict; a state dict has weights alone: load it into its module "
                "(module.load_state_dict) and export that"
            )
        if not (is_path or hasattr(source, "parameters") or hasattr(source, "graph_signature")):
            raise ModelError(
                "model: expected a path, ONNX bytes or model, torch module or ExportedProgram, "
                f"got {type(source).__name__}"
            )
        from .torch import capture_torch

        return capture_torch(
            source,
            args=args,
            kwargs=kwargs,
            dynamic_shapes=dynamic_shapes,
            complex_pairs=complex_pairs,
            name=name,
        )
    if args is not None or kwargs is not None or dynamic_shapes is not None:
        raise ModelError(
            "args, kwargs and dynamic_shapes describe a torch module; an ONNX model carries its own inputs"
        )
    model = capture_onnx(source, name=name)
    if isinstance(source, ir.Model) and KEY in source.meta:
        model.meta[KEY] = source.meta[KEY]
    return model
