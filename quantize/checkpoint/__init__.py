"""Weights that other tools quantized, as their files have them: a reader a container, and what their bytes mean.

gguf.py        GGUF files; ggml.py has the layouts of their blocks
safetensors.py a file or a folder of them; packed.py has what compressed-tensors, AutoAWQ, GPTQ and bitsandbytes store
place.py       into a Graph: Q/DQ in place of the weights that have the same names
"""

from __future__ import annotations

import re
from pathlib import Path

from pteron.schema.errors import ArgumentError

from .gguf import read_gguf
from .packed import tensors_of
from .safetensors import read_safetensors
from .weight import Tensor


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The tensors of a file or folder by name, none of them read yet.

    Raises:
        ArgumentError: neither GGUF nor safetensors; QuantError: damaged.
    """
    if path.is_dir() or path.suffix == ".safetensors":
        return tensors_of(*read_safetensors(path))
    with path.open("rb") as file:
        if file.read(4) == b"GGUF":
            return read_gguf(path)
    raise ArgumentError(f"{path}: expected a .gguf or .safetensors file, or a folder of the latter")


def plain_name(name: str) -> str:
    """What a tensor is called without `.weight` and the prefixes of wrappers."""
    return re.sub(r"(^|\.)(_orig_mod|module)\.", r"\1", name).removesuffix(".weight")
