"""Checkpoints as their files have them, what other tools quantized too: a reader a container, and what their bytes mean.

gguf.py        GGUF files; ggml.py has the layouts of their blocks, families.py what a converter changed, converted.py undoes it
safetensors.py a file or a folder of them; packed.py has what compressed-tensors, AutoAWQ, GPTQ and bitsandbytes store
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError, DamagedError
from pteron.schema.reading import decoding

from .families import tied
from .gguf import read_gguf
from .packed import tensors_of
from .safetensors import read_safetensors
from .weight import Array, Nested, Tensor, Weight


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """`keys`: what config.json beside the tensors says, or the header of a GGUF file."""

    tensors: dict[str, Tensor]
    keys: dict[str, Any]
    is_gguf: bool


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The tensors of a file or folder by name, none of them read yet.

    Raises:
        DamagedError: neither GGUF nor safetensors, or damaged.
    """
    return open_checkpoint(path).tensors


def open_checkpoint(path: Path) -> Checkpoint:
    """The same, with what it says of its model."""
    if path.is_dir() and not any(path.glob("*.safetensors")):
        raise ArgumentError(f"{path}: expected .safetensors files in it, got none")
    if path.is_dir() or path.suffix == ".safetensors":
        with decoding(str(path), "safetensors"):
            found, config = read_safetensors(path)
            tensors = _checked(path, tensors_of(found, config))
        if (pair := tied(tensors)) is not None and _is_tied(config):
            tensors[pair[1]] = tensors[pair[0]]
        return Checkpoint(tensors, config, False)
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == b"GGUF":
        with decoding(str(path), "GGUF"):
            named, keys = read_gguf(path)
            return Checkpoint(_checked(path, named), keys, True)
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

    made = {id(tensor): checked(name, tensor) for name, tensor in found.items()}
    return {name: made[id(tensor)] for name, tensor in found.items()}  # a tied one stays one


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


def _is_tied(config: dict[str, Any]) -> bool:
    text = config.get("text_config")
    return bool(
        config.get(
            "tie_word_embeddings", isinstance(text, dict) and text.get("tie_word_embeddings")
        )
    )
