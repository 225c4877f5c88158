"""Decoders of tokenizer.json: what each piece shows, and how the first of a text differs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any, Final

from pteron.schema.errors import ModelError
from pteron.schema.layout import TextOpening

from .models import spelled

BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
CLEANED: Final = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"),
    (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip
"""What WordPiece's clean-up puts in place of what, in each piece."""


@dataclasses.dataclass(slots=True)
class Decoder:
    """`show`: text of a piece -> its bytes among others; `bytes`: pieces written <0x..> are one byte."""

    show: Callable[[str], bytes]
    opening: TextOpening = TextOpening.AS_SHOWN
    bytes: bool = False


def decoder_of(found: Any) -> Decoder:
    """A tokenizer.json's `decoder`.

    Raises:
        ModelError: it is not covered.
    """
    steps = _flat(found)
    kinds = [each["type"] for each in steps]
    if not steps:
        return Decoder(lambda text: b" " + text.encode(), TextOpening.AS_PIECE)
    if kinds == ["ByteLevel"]:
        return Decoder(_spelled)
    if kinds == ["WordPiece"]:
        return _word_piece(steps[0])
    return _steps(steps)


def _flat(found: Any) -> list[Any]:
    if found is None:
        return []
    if found["type"] == "Sequence":
        return [part for each in found["decoders"] for part in _flat(each)]
    return [found]


def _spelled(text: str) -> bytes:
    letters = spelled(text)
    return text.encode() if letters is None else letters


def _word_piece(found: Any) -> Decoder:
    prefix, cleanup = found["prefix"], found["cleanup"]

    def show(text: str) -> bytes:
        text = text[len(prefix) :] if prefix and text.startswith(prefix) else " " + text
        for a, b in CLEANED if cleanup else ():
            text = text.replace(a, b)
        return text.encode()

    return Decoder(show, TextOpening.AS_PIECE)


def _steps(steps: list[Any]) -> Decoder:
    """Replacements in each piece, bytes, then what the first loses."""
    swaps: list[tuple[str, str]] = []
    opening, in_bytes, fused = TextOpening.AS_SHOWN, False, False
    for each in steps:
        kind = each["type"]
        if kind == "Replace" and not fused and each["pattern"].get("String"):
            if in_bytes:
                raise ModelError("the decoder Replace behind ByteFallback is not covered")
            swaps.append((each["pattern"]["String"], each["content"]))
        elif kind == "Metaspace" and not fused and not in_bytes:
            swaps.append((each["replacement"], " "))
            scheme = each.get("prepend_scheme") or (
                "always" if each.get("add_prefix_space", True) else "never"
            )
            opening = TextOpening.AS_SHOWN if scheme == "never" else TextOpening.LESS_MARKS
            if each["replacement"] != "▁" and scheme != "never":
                raise ModelError(
                    f"the decoder Metaspace with {each['replacement']!r} is not covered"
                )
        elif kind == "ByteFallback" and not fused:
            in_bytes = True
        elif kind == "Fuse":
            fused = True
        elif (
            kind == "Strip"
            and fused
            and (each["content"], each["start"], each["stop"]) == (" ", 1, 0)
        ):
            opening = TextOpening.LESS_SPACE
        else:
            raise ModelError(f"the decoder {kind} in this place is not covered")

    def show(text: str) -> bytes:
        for a, b in swaps:
            text = text.replace(a, b)
        byte = BYTE.fullmatch(text) if in_bytes else None
        return bytes([int(byte[1], 16)]) if byte else text.encode()

    return Decoder(show, opening, in_bytes)
