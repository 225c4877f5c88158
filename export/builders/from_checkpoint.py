"""A checkpoint to the decoder that it is of: which family's row, and what the files say beside their tensors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pteron.schema.errors import ModelError, shown

from ..checkpoint import Checkpoint, open_checkpoint
from . import Built
from .block import decoder
from .facts import of_config, of_gguf
from .families import GGUF, ROWS


def build(path: Path) -> Built:
    """The decoder that a checkpoint is of.

    Raises:
        ModelError: no row for its architecture; a key, a type of rotary embedding or an activation that is not known; a tensor
            that is missing, of another shape, or has no place.
        DamagedError, QuantError: the file is damaged, or its format not covered.
    """
    checkpoint = open_checkpoint(path)
    row, facts = (_of_gguf if checkpoint.is_gguf else _of_folder)(path, checkpoint)
    model, tensors = decoder(path.name or str(path), row, facts, checkpoint.tensors)
    return Built(model, tensors, facts, checkpoint.keys)


def _of_gguf(path: Path, checkpoint: Checkpoint) -> Any:
    kind = checkpoint.keys.get("general.architecture")
    if not isinstance(kind, str) or kind not in GGUF:
        raise _unknown(f"{path.name}: architecture", kind, GGUF)
    row = ROWS[GGUF[kind]]
    return row, of_gguf(path.name, checkpoint.keys, checkpoint.tensors, row)


def _of_folder(path: Path, checkpoint: Checkpoint) -> Any:
    kind = checkpoint.keys.get("model_type")
    if not isinstance(kind, str) or kind not in ROWS:
        raise _unknown(f"{path / 'config.json'}: model_type", kind, ROWS)
    row = ROWS[kind]
    return row, of_config("config.json", checkpoint.keys, row)


def _unknown(what: str, kind: Any, known: Mapping[str, Any]) -> ModelError:
    return ModelError(
        f"{what} {shown(kind)}: expected one of {', '.join(known)}; load the others in transformers and export the module: "
        "pteron export model.py:make, or pteron.export_model(module, out, max_context=...)"
    )
