"""Tensors of a GGUF file as transformers has them: names, and what llama.cpp's converter changed undone (families.py)."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np

from pteron.schema.errors import QuantError, shown

from .families import COMPUTED, CONVERTED, FAMILIES, HEAD, Family, tied
from .weight import Array, Tensor, floats


def in_modules(path: Path, architecture: str, found: dict[str, Tensor]) -> dict[str, Tensor]:
    """By the names of transformers; a tied head is the table's tensor. Names that no converter of llama.cpp gives stay.

    Raises:
        QuantError: families.py has no row for the architecture, or the row none for a tensor; a stack of experts lacks a part.
    """
    first = next((name for name in found if CONVERTED.match(name)), None)
    if first is None:
        return found
    if architecture not in FAMILIES:
        raise QuantError(
            f"{path}: architecture {shown(architecture)}: expected one of {', '.join(FAMILIES)}; what its converter changed of "
            f"{first} is not known; import the original checkpoint (safetensors)"
        )
    family = FAMILIES[architecture]
    out, stacks = dict[str, Tensor](), dict[str, dict[str, Tensor]]()
    parts = {part for many in family.stacked.values() for part in many}
    for name, tensor in found.items():
        block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
        if block and block[2] in parts:
            stacks.setdefault(block[1], {})[block[2]] = tensor
        elif COMPUTED.fullmatch(name):
            out[name] = tensor
        else:
            new = family.named(name)
            if new is None:
                raise QuantError(
                    f"{path}: tensor {name}: architecture {architecture} is not known to have it; "
                    "import the original checkpoint (safetensors)"
                )
            out[new] = _restored(tensor, family, new)
    for number, given in stacks.items():
        out |= _stacks(path, family, number, given)
    pair = tied(out)
    if pair is not None and pair[1] == HEAD:
        out[HEAD] = out[pair[0]]
    return out


def _restored(tensor: Tensor, family: Family, name: str) -> Tensor:
    """What the converter added to norms is taken off; a matrix that the module holds as [in, out] says so."""
    if family.norm_offset and name.endswith("norm.weight"):
        offset = np.float32(family.norm_offset)
        return dataclasses.replace(tensor, read=lambda: np.asarray(floats(tensor.read()) - offset))
    return dataclasses.replace(tensor, transposed=family.is_transposed(name))


def _stacks(path: Path, family: Family, number: str, given: dict[str, Tensor]) -> dict[str, Tensor]:
    made = {}
    for module, wanted in family.stacked.items():
        if missing := [part for part in wanted if part not in given]:
            raise QuantError(
                f"{path}: expected tensor blk.{number}.{missing[0]}.weight for {module}, got none"
            )
        made[f"{family.blocks}.{number}.{module}"] = _joined([given[part] for part in wanted])
    return made


def _joined(parts: list[Tensor]) -> Tensor:
    """[experts, sum of out, in] of tensors [experts, out, in]."""

    def read() -> Array:
        return np.concatenate([floats(p.read()).reshape(p.shape) for p in parts], axis=1)

    first = parts[0].shape
    shape = (first[0], sum(p.shape[1] for p in parts), *first[2:])
    return Tensor(parts[0].kind, shape, sum(p.nbytes for p in parts), read)
