"""Sets of characters as arrays of bool by code point, as the engines behind `tokenizers` have them."""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .characters import CATEGORIES, DATA

Bits = NDArray[np.bool_]
MAX: Final = 0x110000
FOLDED: Final = {"s": "ſ", "k": "K"}
"""Letters of ASCII that are another's in either case: the long s, the sign of Kelvin."""


@functools.cache
def facts() -> dict[str, Any]:
    """The lists of characters.py by name."""
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b85decode(DATA)))
    return found


@functools.cache
def _categories() -> NDArray[np.uint8]:
    return _runs("category").astype(np.uint8)


def _runs(name: str) -> NDArray[np.int64]:
    lengths, values = np.array(facts()[name], np.int64).reshape(-1, 2).T
    return np.repeat(values, lengths)


@functools.cache
def category(name: str) -> Bits | None:
    """Of a general category, Lu, or all that begin so, L; None where there is none."""
    own = [i for i, each in enumerate(CATEGORIES.split()) if each.startswith(name)]
    return np.isin(_categories(), own) if own and len(name) in (1, 2) else None


@functools.cache
def named(name: str) -> Bits:
    """Of the sets of characters.py: space, word, numeric, punctuation, bert_space ..."""
    return _runs(name).astype(np.bool_)


@functools.cache
def mapping(name: str) -> dict[int, str]:
    """Of the maps of characters.py: what a code point becomes."""
    numbers, at, last = facts()[name], 0, 0
    out = {}
    while at < len(numbers):
        last += numbers[at]
        count = numbers[at + 1]
        out[last] = "".join(chr(last + d) for d in numbers[at + 2 : at + 2 + count])
        at += 2 + count
    return out


@functools.cache
def orders() -> dict[int, int]:
    """Canonical combining classes; 255: a starter that may be composed with one before it."""
    found = {c: ord(text) for c, text in mapping("classes").items()}
    seconds = {second for _, second, _ in pairs()}
    jamo = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    return dict.fromkeys((seconds | jamo) - {*found}, 255) | found


@functools.cache
def pairs() -> list[tuple[int, int, int]]:
    """(first, second, composed), ascending, but for Hangul."""
    numbers = facts()["pairs"]
    return sorted(zip(numbers[::3], numbers[1::3], numbers[2::3]))


def of(characters: Iterable[str]) -> Bits:
    """The set of these."""
    bits = np.zeros(MAX, np.bool_)
    bits[[ord(c) for c in characters]] = True
    return bits


def folded(character: str) -> Bits | None:
    """What equals a character of ASCII in either case; None of others, whose cases are not known here."""
    if not character.isascii():
        return None
    return of({character.lower(), character.upper(), FOLDED.get(character.lower(), character)})
