"""Weights that other tools quantized, as their files have them: a reader a container, and what their bytes mean.

gguf.py        GGUF files; ggml.py has the layouts of their blocks
safetensors.py a file or a folder of them; packed.py has what compressed-tensors, AutoAWQ, GPTQ and bitsandbytes store
place.py       into a Graph: Q/DQ in place of the weights that have the same names
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np

from pteron.schema.errors import ArgumentError, DamagedError
from pteron.schema.reading import decoding

from .gguf import read_gguf
from .packed import tensors_of
from .safetensors import read_safetensors
from .weight import Array, Nested, Tensor, Weight


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The tensors of a file or folder by name, none of them read yet.

    Raises:
        DamagedError: neither GGUF nor safetensors, or damaged.
    """
    if path.is_dir() and not any(path.glob("*.safetensors")):
        raise ArgumentError(f"{path}: expected .safetensors files in it, got none")
    if path.is_dir() or path.suffix == ".safetensors":
        with decoding(str(path), "safetensors"):
            return _checked(path, tensors_of(*read_safetensors(path)))
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == b"GGUF":
        with decoding(str(path), "GGUF"):
            return _checked(path, read_gguf(path))
    raise DamagedError(f"{path}: expected a .gguf or .safetensors file, or a folder of the latter")


def _checked(path: Path, found: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same, that are read as what they claim to be or not at all."""

    def checked(name: str, tensor: Tensor) -> Tensor:
        def read() -> Weight | Array:
            with decoding(f"{path}: tensor {name!r}", f"{tensor.kind} {list(tensor.shape)}"):
                got = tensor.read()
                if isinstance(got, Weight):
                    _check_weight(got)
                return got

        return dataclasses.replace(tensor, read=read)

    return {name: checked(name, tensor) for name, tensor in found.items()}


def _check_weight(weight: Weight) -> None:
    """Raises ValueError where codes and what they are multiplied by do not go together."""
    n, k = weight.codes.shape
    if weight.block < 0:
        raise ValueError(f"blocks of {weight.block}")
    blocks = -(-k // weight.block) if weight.block else 1
    for part in (weight.scale, weight.zero, weight.shift):
        held = part.codes if isinstance(part, Nested) else part
        if held is not None and held.size not in (1, n * blocks):
            raise ValueError(f"{held.size} numbers for {n} rows of {blocks} blocks")
    if weight.order is not None and not np.array_equal(np.sort(weight.order), np.arange(k)):
        raise ValueError("an order that is none")


def plain_name(name: str) -> str:
    """What a tensor is called without `.weight` and the prefixes of wrappers."""
    return re.sub(r"(^|\.)(_orig_mod|module)\.", r"\1", name).removesuffix(".weight")
