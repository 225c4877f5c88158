"""Models of tokenizer.json: pieces, how words become them, and what decoding shows of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import ModelError
from pteron.schema.layout import TextMark, TextModel, TextUnit

from .tables import NONE

UNKNOWN_COST: Final = 10.0
"""Less than the least score, of an unknown character: `tokenizers`' K_UNK_PENALTY."""
MOST: Final = 1 << 22
"""Ids."""


@dataclasses.dataclass(slots=True)
class Model:
    """`pieces`: id -> bytes of what the model can make; others are only shown."""

    kind: TextModel
    unit: TextUnit
    pieces: dict[int, bytes]
    written: dict[int, str]
    unknown: int = NONE
    fuse: bool = False
    units: list[int] = dataclasses.field(default_factory=list)
    whole: Set[int] = frozenset()
    merges: NDArray[np.uint32] | None = None  # left, right, merged, by rank
    scores: NDArray[np.float64] | None = None
    inside: dict[bytes, int] = dataclasses.field(default_factory=dict)
    longest: int = 0

    def mark_of(self, id: int) -> int:
        return TextMark.WHOLE if id in self.whole else 0


def letters() -> dict[str, int]:
    """The characters that byte-level tokenizers write bytes as."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in keep]
    return {chr(b): b for b in keep} | {chr(256 + i): b for i, b in enumerate(rest)}


LETTERS: Final = letters()


def spelled(text: str) -> bytes | None:
    """The bytes that byte-level text stands for; None: some character stands for none."""
    try:
        return bytes([LETTERS[c] for c in text])
    except KeyError:
        return None


def byte_name(byte: int) -> str:
    return f"<0x{byte:02X}>"


def model_of(found: Any, in_bytes: bool) -> Model:
    """The model of a tokenizer.json; `in_bytes`: its pre-tokenizer spells words in bytes.

    Raises:
        ModelError: it is not covered, or its tables do not fit each other.
    """
    kind = found.get("type") or ("BPE" if "merges" in found else None)
    makers = {"BPE": _bpe, "Unigram": _unigram, "WordPiece": _word_piece}
    if kind not in makers:
        raise ModelError(f"the model {kind} is not covered")
    if in_bytes and kind != "BPE":
        raise ModelError(f"the model {kind} behind ByteLevel is not covered")
    return makers[kind](found, in_bytes)


def _vocabulary(found: Any) -> dict[str, int]:
    vocabulary: dict[str, int] = found["vocab"]
    if not all(isinstance(id, int) and 0 <= id < MOST for id in vocabulary.values()):
        raise ModelError(f"the vocabulary: expected ids from 0 to {MOST - 1}")
    return vocabulary


def _byte_units(vocabulary: Mapping[str, int]) -> list[int]:
    """The piece of each byte, of a model that falls back to bytes."""
    units = [vocabulary.get(byte_name(b), NONE) for b in range(256)]
    if NONE in units:
        missing = byte_name(units.index(NONE))
        raise ModelError(f"byte_fallback without a piece {missing} is not covered")
    return units


# --- BPE ----------------------------------------------------------------------------------------------------------------------


def _bpe(found: Any, in_bytes: bool) -> Model:
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if found.get(name):
            raise ModelError(f"BPE with {name} {found[name]!r} is not covered")
    vocabulary = _vocabulary(found)
    written = {id: text for text, id in vocabulary.items()}
    pieces = {}
    for text, id in vocabulary.items():
        piece = spelled(text) if in_bytes else text.encode()
        if piece:
            pieces[id] = piece
    unknown = _unknown(found, vocabulary)
    fuse = bool(found.get("fuse_unk", False))
    unit, units = TextUnit.CHARACTER, list[int]()
    if in_bytes:
        unit, units = TextUnit.BYTE, _letter_units(vocabulary, unknown, fuse)
    elif found.get("byte_fallback", False):
        unit, units = TextUnit.FALLBACK, _byte_units(vocabulary)
    rows = _merges(found["merges"], vocabulary)
    whole: Set[int] = {*pieces}
    if not found.get("ignore_merges", False):
        whole = _whole({id: written[id] for id in pieces}, vocabulary, rows)
    table = [
        (left, right, made)
        for (left, right), (_, made) in sorted(rows.items(), key=lambda r: r[1][0])
    ]
    merges = np.array(table, np.uint32).reshape(-1, 3)
    return Model(
        TextModel.BPE, unit, pieces, written, unknown, fuse, units, whole, merges
    )  # fmt: skip


def _unknown(found: Any, vocabulary: Mapping[str, int]) -> int:
    text = found.get("unk_token")
    if text is None:
        return NONE
    if text not in vocabulary:
        raise ModelError(f"unk_token: expected a piece, got {text!r}")
    return vocabulary[text]


def _letter_units(vocabulary: Mapping[str, int], unknown: int, fuse: bool) -> list[int]:
    by_byte = sorted(LETTERS, key=LETTERS.__getitem__)
    units = [vocabulary.get(letter, unknown) for letter in by_byte]
    if fuse and unknown != NONE and not all(letter in vocabulary for letter in by_byte):
        raise ModelError("fuse_unk of bytes that are no pieces is not covered")
    return units


Merges = dict[tuple[int, int], tuple[int, int]]
"""Left and right -> rank and what they make."""


def _merges(found: Any, vocabulary: Mapping[str, int]) -> Merges:
    rows: Merges = {}
    for rank, pair in enumerate(found):
        left, right = pair.split(" ") if isinstance(pair, str) else pair
        try:
            rows[vocabulary[left], vocabulary[right]] = rank, vocabulary[left + right]
        except KeyError as error:
            raise ModelError(f"the merge {rank}: expected pieces, got {error.args[0]!r}") from None
    return rows


def _whole(texts: Mapping[int, str], vocabulary: Mapping[str, int], rows: Merges) -> Set[int]:
    """Pieces that a word of their characters becomes: those of one length are merged side by side."""
    groups: dict[int, list[list[int]]] = {}
    for id, text in texts.items():
        letters = [vocabulary.get(c, -1) for c in text]
        if -1 not in letters:
            groups.setdefault(len(letters), []).append([id, *letters])
    table = np.array(
        [(a * MOST + b, rank, made) for (a, b), (rank, made) in rows.items()], np.int64
    )
    table = table.reshape(-1, 3)[np.argsort(table.reshape(-1, 3)[:, 0])]
    found = set[int]()
    for group in groups.values():
        both = np.array(group, np.int64)
        ids, units = both[:, 0], both[:, 1:]
        while units.shape[1] > 1 and len(ids) and len(table):
            keys = units[:, :-1] * MOST + units[:, 1:]
            row = np.minimum(np.searchsorted(table[:, 0], keys), len(table) - 1)
            ranks = np.where(table[row, 0] == keys, table[row, 1], NONE)
            each, at = np.arange(len(ids)), ranks.argmin(axis=1)
            made = table[row[each, at], 2]
            goes = ranks[each, at] != NONE
            columns = np.arange(units.shape[1] - 1)
            units = np.where(columns < at[:, None], units[:, :-1], units[:, 1:])
            units[each, at] = made
            ids, units = ids[goes], units[goes]
        if units.shape[1] == 1:
            found.update(ids[ids == units[:, 0]].tolist())
    return found


def parts_at(model: Model, mark: str) -> bool:
    """Whether no merge reaches over the place before a `mark` that follows something else: words between such places do not
    know of each other."""
    if model.merges is None or model.unit is not TextUnit.FALLBACK:
        return False
    made = {model.written[int(id)] for id in model.merges[:, 2]}
    return not any(mark in text.lstrip(mark) for text in made)


# --- the others ---------------------------------------------------------------------------------------------------------------


def _unigram(found: Any, in_bytes: bool) -> Model:
    rows, unknown = found["vocab"], found["unk_id"]
    if not isinstance(unknown, int) or not 0 <= unknown < len(rows):
        raise ModelError("Unigram without unk_id is not covered")
    written = {id: text for id, (text, _) in enumerate(rows)}
    scores = np.array([score for _, score in rows], np.float64)
    if not np.isfinite(scores).all():
        raise ModelError("Unigram: expected finite scores")
    by_text = {text: id for id, text in written.items()}
    pieces = {id: text.encode() for text, id in by_text.items() if text}
    unit, units = TextUnit.CHARACTER, list[int]()
    if found.get("byte_fallback", False):
        unit, units = TextUnit.FALLBACK, _byte_units(by_text)
    return Model(
        TextModel.UNIGRAM, unit, pieces, written, unknown, True, units, scores=scores
    )  # fmt: skip


def _word_piece(found: Any, in_bytes: bool) -> Model:
    vocabulary = _vocabulary(found)
    prefix = found["continuing_subword_prefix"]
    unknown = _unknown(found, vocabulary)
    written = {id: text for text, id in vocabulary.items()}
    inside = {
        text[len(prefix) :].encode(): id
        for text, id in vocabulary.items()
        if text.startswith(prefix) and text != prefix
    }
    pieces = {id: text.encode() for text, id in vocabulary.items() if text}
    if unknown == NONE:
        raise ModelError("WordPiece without unk_token is not covered")
    longest = int(found["max_input_chars_per_word"])
    return Model(
        TextModel.WORD_PIECE, TextUnit.CHARACTER, pieces, written, unknown, inside=inside, longest=longest
    )  # fmt: skip
