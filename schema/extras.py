"""What else there is to install: the module that is missing and the extra that brings it."""

from __future__ import annotations

from typing import Final

EXTRAS: Final = {
    "torch": ("torch", "onnxscript", "torchvision"),
    "npu": ("tosa_serializer", "model_converter", "vgfpy", "emulation_layer"),
    "export": ("onnx", "onnx_ir", "ml_dtypes", "sympy", "flatbuffers", "rich"),
}
ALONE: Final = {"onnxruntime": "onnxruntime", "transformers": "transformers"}


def missing(module: str) -> str:
    """`module` is not installed: how to get it."""
    top = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if top in modules), None)
    what = f"'pteron[{extra}]'" if extra else ALONE.get(top)
    return f"{module} is not installed" + (f"; pip install {what}" if what else "")
