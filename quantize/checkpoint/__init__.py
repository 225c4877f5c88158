"""Weights that other tools quantized, as their files have them: a reader a container, and what their bytes mean.

gguf.py        GGUF files; ggml.py has the layouts of their blocks, families.py what a converter changed, converted.py undoes it
safetensors.py a file or a folder of them; packed.py has what compressed-tensors, AutoAWQ, GPTQ and bitsandbytes store
match.py       which tensor each parameter of a Graph is, and what is left over on either side
place.py       into a Graph: floats before the passes, Q/DQ in place of the weights after them
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pteron.schema.errors import ArgumentError

from .families import tied
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
        found, config = read_safetensors(path)
        tensors = tensors_of(found, config)
        if (pair := tied(tensors)) is not None and _is_tied(config):
            tensors[pair[1]] = tensors[pair[0]]
        return tensors
    with path.open("rb") as file:
        if file.read(4) == b"GGUF":
            return read_gguf(path)
    raise ArgumentError(f"{path}: expected a .gguf or .safetensors file, or a folder of the latter")


def _is_tied(config: dict[str, Any]) -> bool:
    text = config.get("text_config")
    return bool(
        config.get(
            "tie_word_embeddings", isinstance(text, dict) and text.get("tie_word_embeddings")
        )
    )
