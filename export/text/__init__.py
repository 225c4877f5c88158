"""Tokenizers of checkpoints to the text segment of a program: schema/text.fbs says what lies in it.

Neither `tokenizers` nor transformers is needed. A tokenizer that the tables cannot say gives a reason in place of a segment:
never one that is another in silence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import ModelError, existing

from ..checkpoint.gguf import read_keys
from . import gguf
from .tables import NONE
from .tokenizer import Specials, parse, segment

FILE: Final = "tokenizer.json"
BESIDE: Final = ("tokenizer_config.json", "generation_config.json")
"""Where a folder says which tokens begin and end texts."""
LONGEST: Final = 400
"""Characters of a reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A text segment; where it is None, `reason` says what is not covered, or what is missing."""

    segment: bytes | None
    reason: str = ""


def found_at(path: Path) -> Found:
    """The tokenizer of a folder, a .gguf file or a tokenizer.json.

    Raises:
        FileNotFoundError: no such file; OSError: it cannot be read; QuantError: a damaged GGUF file.
    """
    if path.is_dir():
        return from_folder(path)
    return from_gguf(read_keys(existing(path))) if path.suffix == ".gguf" else from_file(path)


def from_gguf(keys: Mapping[str, Any]) -> Found:
    """The tokenizer of a GGUF file's keys, `tokenizer.ggml.model` and those beside it."""
    try:
        specials = Specials(**gguf.special_ids(keys))
        return Found(segment(gguf.json_of(keys), lambda: specials))
    except ModelError as error:
        return Found(None, _short(str(error)))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Found(None, _short(f"tokenizer.ggml: damaged tables: {error!r}"))


def from_folder(path: Path) -> Found:
    """The tokenizer of a folder as Hugging Face lays it out: tokenizer.json, and what lies beside it."""
    if not (path / FILE).is_file():
        return Found(None, f"{path}: expected a {FILE} in it, got none")
    return from_file(path / FILE)


def from_file(path: Path) -> Found:
    """The tokenizer of a tokenizer.json, with the special tokens that files beside it name.

    Raises:
        FileError: no such file; OSError: it cannot be read.
    """
    existing(path)
    try:
        found = parse(path.read_bytes())
        if not isinstance(found, dict) or "model" not in found:
            raise ModelError("expected a tokenizer.json, got something else")
        return Found(segment(found, lambda: _specials(found, path.parent)))
    except ModelError as error:
        return Found(None, f"{path}: {_short(str(error))}")


def _short(text: str) -> str:
    """What a file says may be long."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _specials(found: Mapping[str, Any], folder: Path) -> Specials:
    """What tokenizer_config.json names, and the ends of generation_config.json."""
    config, generation = (_beside(folder / name) for name in BESIDE)
    ids = {each["content"]: each["id"] for each in found.get("added_tokens") or []}

    def id_of(name: str) -> int:
        token = config.get(f"{name}_token")
        text = token.get("content") if isinstance(token, dict) else token
        id = ids.get(text, NONE) if isinstance(text, str) else NONE
        return id if isinstance(id, int) else NONE

    ends = generation.get("eos_token_id", [])
    ends = ends if isinstance(ends, list) else [ends]
    stops = dict.fromkeys(id for id in (id_of("eos"), *ends) if isinstance(id, int) and id != NONE)
    end = id_of("eos")
    end = next(iter(stops), NONE) if end == NONE else end
    return Specials(id_of("bos"), end, id_of("pad"), tuple(stops))


def _beside(path: Path) -> Mapping[str, Any]:
    found = parse(path.read_bytes()) if path.is_file() else {}
    return found if isinstance(found, dict) else {}
