"""What else there is to install: the module that is missing and the extra that brings it."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Final
from urllib.parse import unquote, urlsplit

EXTRAS: Final = {
    "torch": ("torch", "onnxscript", "torchvision"),
    "npu": ("tosa_serializer", "model_converter", "vgfpy", "emulation_layer"),
    "export": (
        "onnx",
        "onnx_ir",
        "ml_dtypes",
        "sympy",
        "flatbuffers",
        "rich",
        "yaml",
        "threadpoolctl",
    ),
}
ALONE: Final = {"onnxruntime": "onnxruntime", "transformers": "transformers"}


def missing(module: str) -> str:
    """`module` is not installed: how to get it."""
    top = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if top in modules), None)
    what = f"'pteron[{extra}]'" if extra else ALONE.get(top)
    return f"{module} is not installed" + (f"; pip install {what}" if what else "")


def elsewhere(extra: str) -> str:
    """What pip takes for `pteron[extra]` in another environment: the folder or archive that this Pteron was installed from,
    where it came from no index (PEP 610)."""
    try:
        told = importlib.metadata.distribution("pteron").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        told = None
    if told is None:
        return f"pteron[{extra}]"
    facts = json.loads(told)
    if "dir_info" in facts:
        return f"{unquote(urlsplit(facts['url']).path)}[{extra}]"
    return f"pteron[{extra}] @ {facts['url']}"
