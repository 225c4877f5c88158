"""What characters are to the engines behind `tokenizers`, asked of it code point by code point: writes export/text/characters.py.

    python tests/tokenizing/characters_of.py [--check]        three minutes

The engine of patterns, Rust's own tables and BERT's rules are of three versions of Unicode, and none is the one of this
interpreter's unicodedata. What a tokenizer was made with is what counts, so all of it is asked.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import Regex
from tokenizers import normalizers as norm
from tokenizers import pre_tokenizers as pre

OUT = Path(__file__).resolve().parents[2] / "export/text/characters.py"
CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe"),
    *("Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cn", "Co"),
)
MAX = 0x110000
ALL = [c for c in range(MAX) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, ALL))
Bits = NDArray[np.bool_]


def bits(words: Iterable[str]) -> Bits:
    found = np.zeros(MAX, bool)
    found[[ord(c) for word in words for c in word]] = True
    return found


def matching(pattern: str) -> Bits:
    split = pre.Split(Regex(pattern), "removed", invert=True)
    return bits(word for word, _ in split.pre_tokenize_str(TEXT))


def lasting(split: pre.PreTokenizer) -> Bits:
    """Characters that `split` leaves."""
    return bits(word for word, _ in split.pre_tokenize_str(TEXT))


def alone(split: pre.PreTokenizer) -> Bits:
    """Characters that `split` puts in words of their own among letters."""
    found = np.zeros(MAX, bool)
    for c in ALL:
        found[c] = [word for word, _ in split.pre_tokenize_str(f"a{chr(c)}a")] == ["a", chr(c), "a"]
    return found


def joining(split: pre.PreTokenizer) -> Bits:
    """Characters that `split` leaves in a word with letters around them."""
    found = np.zeros(MAX, bool)
    for c in ALL:
        found[c] = len(split.pre_tokenize_str(f"a{chr(c)}a")) == 1
    return found


def mapping(one: norm.Normalizer) -> dict[int, list[int]]:
    """Code point -> what it becomes alone, where that is something else."""
    seen = ((c, one.normalize_str(chr(c))) for c in ALL)
    return {c: list(map(ord, text)) for c, text in seen if text != chr(c)}


def classes(marks: Bits) -> dict[int, int]:
    """Canonical combining classes of the marks that have one: two marks change places where the second's is lower.

    NFC and NFD of `tokenizers` are of an older Unicode than its patterns: newer marks stay where they are.
    """
    import unicodedata

    nfd = norm.NFD()

    def swaps(first: int, second: int) -> bool:
        """Whether the class of `second` is the lower one, and not 0."""
        swapped = f"a{chr(second)}{chr(first)}"
        return first != second and nfd.normalize_str(f"a{chr(first)}{chr(second)}") == swapped

    lowest = 0x0334  # of class 1
    ladder = {1: lowest}
    for c in ALL:  # the first of each class that is known there, too
        k = unicodedata.combining(chr(c))
        if k and k not in ladder and swaps(c, lowest):
            ladder[k] = c
    found = {}
    for c in np.flatnonzero(marks).tolist():
        if nfd.normalize_str(chr(c)) != chr(c):
            continue
        lower = {k for k, mark in ladder.items() if swaps(c, mark)}
        higher = {k for k, mark in ladder.items() if swaps(mark, c)}
        if not lower and not higher:
            continue  # a starter stays where it is
        own = {*ladder} - lower - higher
        if len(own) != 1:
            raise SystemExit(f"U+{c:04X}: its combining class is none of those known: {own}")
        found[c] = own.pop()
    return found


def pairs(decomposed: dict[int, list[int]]) -> list[list[int]]:
    """[first, second, composed]: what NFC puts together, but for Hangul."""
    nfc, found = norm.NFC(), []
    for c, parts in decomposed.items():
        if 0xAC00 <= c < 0xD7A4 or len(parts) < 2 or nfc.normalize_str(chr(c)) != chr(c):
            continue
        first = nfc.normalize_str("".join(map(chr, parts[:-1])))
        if len(first) == 1:
            found.append([ord(first), parts[-1], c])
    return found


def ranges(values: NDArray[np.int64]) -> list[int]:
    """Lengths and values of runs, in turn."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ends = np.append(starts[1:], len(values))
    return [n for a, b in zip(starts, ends) for n in (int(b - a), int(values[a]))]


def facts() -> dict[str, object]:
    category = np.full(MAX, CATEGORIES.index("Cn"), np.int64)
    for i, name in enumerate(CATEGORIES):
        category[matching(rf"\p{{{name}}}")] = i
    marks = np.isin(category, [CATEGORIES.index(name) for name in ("Mn", "Mc", "Me")])
    decomposed = mapping(norm.NFD())
    hangul = {c: parts for c, parts in decomposed.items() if 0xAC00 <= c < 0xD7A4}
    if len(hangul) != 11172:
        raise SystemExit("NFD: expected it to take all syllables of Hangul apart")
    sets: dict[str, Callable[[], Bits]] = {
        "numeric": lambda: alone(pre.Digits(individual_digits=True)),
        "space": lambda: ~lasting(pre.WhitespaceSplit()) & bits(TEXT),
        "word": lambda: matching(r"\w"),
        "rust_word": lambda: joining(pre.Whitespace()),
        "letter": lambda: matching(r"[[:alpha:]]"),
        "bert_space": lambda: ~lasting(pre.BertPreTokenizer()) & bits(TEXT),
        "bert_alone": lambda: alone(pre.BertPreTokenizer()),
        "punctuation": lambda: alone(pre.Punctuation()),
        "accent": lambda: bits(c for c in TEXT if norm.StripAccents().normalize_str(c) == ""),
    }
    stripped = norm.BertNormalizer(
        clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False
    )
    sets["bert_accent"] = lambda: bits(c for c in TEXT if stripped.normalize_str(c) == "")
    steps = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    bert = dict.fromkeys(steps, False)
    maps = {
        "lower": mapping(norm.Lowercase()),
        "bert_clean": mapping(norm.BertNormalizer(**{**bert, "clean_text": True})),
        "decomposed": {c: parts for c, parts in decomposed.items() if c not in hangul},
    }
    chinese = mapping(norm.BertNormalizer(**{**bert, "handle_chinese_chars": True}))
    if any(parts != [32, c, 32] for c, parts in chinese.items()):
        raise SystemExit("BERT: expected Chinese characters between spaces")
    return {
        "category": ranges(category),
        **{name: ranges(make().astype(np.int64)) for name, make in sets.items()},
        "bert_chinese": ranges(np.isin(np.arange(MAX), list(chinese)).astype(np.int64)),
        **{name: flat(table) for name, table in maps.items()},
        "classes": flat({c: [k] for c, k in classes(marks).items()}),
        "pairs": [n for row in pairs(decomposed) for n in row],
    }


def flat(table: dict[int, list[int]]) -> list[int]:
    """From one key to the next, how many, and each less its key."""
    out, last = [], 0
    for c, parts in sorted(table.items()):
        out += [c - last, len(parts), *(part - c for part in parts)]
        last = c
    return out


def text() -> str:
    packed = zlib.compress(json.dumps(facts(), separators=(",", ":")).encode(), 9)
    data = base64.b85encode(packed).decode()
    lines = [f'    "{data[i : i + 92]}"' for i in range(0, len(data), 92)]
    return "\n".join(
        [
            '"""What characters are to the engines behind `tokenizers`. Written by tests/tokenizing/characters_of.py; do not edit."""',
            "",
            "from typing import Final",
            "",
            f'VERSION: Final = "tokenizers {tokenizers.__version__}"',
            f"CATEGORIES: Final = {json.dumps(' '.join(CATEGORIES))}",
            "DATA: Final = (",
            *lines,
            ")",
            '"""zlib, in base 85, of JSON: lists of numbers by name, as characters_of.py tells them."""',
            "",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where it is stale")
    made = text()
    if parser.parse_args().check:
        sys.exit(OUT.read_text() != made)
    OUT.write_text(made)
