"""A decoder from its checkpoint alone, without PyTorch: a GGUF file, or a folder of config.json and safetensors -> a Graph.

facts.py     what config.json or GGUF's keys say, as one dataclass (keys.py, rope.py and windows.py read parts of it)
families.py  a row an architecture: what distinguishes it from Llama
block.py     the graph, in the operators that capture leaves of a module (nodes.py holds it in the making)

What builds is in from_checkpoint.py, which is imported for a checkpoint alone: every export asks whether its source is one.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import onnx_ir as ir

from pteron.schema.errors import several

if TYPE_CHECKING:
    from ..checkpoint.weight import Tensor
    from .facts import Facts

MOST_CONTEXT: Final = 4096
"""Tokens of the context that a decoder gets where nobody asks for a number: caches take memory as they fill."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Built:
    """`tensors`: of the checkpoint, by the initializers of the model that they are. `keys`: of a GGUF file, else of config.json."""

    model: ir.Model
    tensors: Mapping[str, Tensor]
    facts: Facts
    keys: Mapping[str, Any]

    @property
    def context(self) -> int:
        """What the model was made for, within what a session is given unasked."""
        return max(2, min(self.facts.context, MOST_CONTEXT))

    def told(self, has_text: bool) -> list[str]:
        """Lines for the report. `has_text`: its tokenizer is in the program, and knows what ends a text."""
        facts = self.facts
        lines = [
            f"{facts.kind}: {several(facts.layers, 'layer')} of {facts.hidden} channels, made for {facts.context} tokens (--max-context "
            f"sets those that a session has room for; {self.context} unless told)"
        ]
        if facts.ends and not has_text:
            lines.append(
                f"a text ends with token {' or '.join(map(str, facts.ends))}: generate --stop"
            )
        return lines


def is_checkpoint(source: Any) -> bool:
    """Whether it names a GGUF file, or a folder with config.json and safetensors: told by what is in them."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = Path(source)
    if path.is_dir():
        return (path / "config.json").is_file() and any(path.glob("*.safetensors"))
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False
