"""The tokenizer that a GGUF file's keys tell, as the tokenizer.json that its model was published with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pteron.schema.errors import ModelError

from .models import byte_name
from .splits import GPT2
from .tables import NONE

LLAMA3: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DIGITS: Final = {"type": "Digits", "individual_digits": True}
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
"""Values of tokenizer.ggml.token_type."""


def _bytes(pattern: str, *before: Any) -> dict[str, Any]:
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    spell = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": [*before, split, spell]}


_LLAMA3: Final = {"pre_tokenizer": _bytes(LLAMA3), "ignore_merges": True, "begins": True}
_DIGITS: Final = {"pre_tokenizer": _bytes(GPT2, DIGITS)}
PRE: Final[dict[str, dict[str, Any]]] = {
    "gpt-2": {"pre_tokenizer": _bytes(GPT2)},
    "smollm": _DIGITS,
    "starcoder": _DIGITS,
    "refact": _DIGITS,
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "qwen2": {
        "pre_tokenizer": _bytes(LLAMA3.replace("{1,3}", "")),
        "normalizer": {"type": "NFC"},
    },
}
"""tokenizer.ggml.pre -> what the models' own files say; `begins`: a text begins with bos unless a key says otherwise."""


def json_of(keys: Mapping[str, Any]) -> dict[str, Any]:
    """A tokenizer.json of the keys that begin with tokenizer.ggml.

    Raises:
        ModelError: there is no tokenizer, or one that is not covered; the text names the key.
    """
    kind = keys.get("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise ModelError(
            f"tokenizer.ggml.model: expected gpt2 or llama, got {kind!r}; give the model's own tokenizer.json"
        )
    tokens, types = keys["tokenizer.ggml.tokens"], keys.get("tokenizer.ggml.token_type")
    types = [NORMAL] * len(tokens) if types is None else types
    if len(types) != len(tokens) or not all(isinstance(token, str) for token in tokens):
        raise ModelError("tokenizer.ggml.tokens: expected texts, and a token_type for each")
    found = _of_bytes(keys, tokens) if kind == "gpt2" else _of_scores(keys, tokens, types)
    found["added_tokens"] = [
        _added(i, token, types[i])
        for i, token in enumerate(tokens)
        if types[i] in (UNKNOWN, CONTROL, USER)
    ]
    found["post_processor"] = _template(keys, tokens, found.pop("begins"))
    return found


def special_ids(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Ids by the names of Specials."""

    def id_of(name: str) -> int:
        id = keys.get(f"tokenizer.ggml.{name}_token_id", NONE)
        return id if isinstance(id, int) else NONE

    ends = dict.fromkeys(id for id in map(id_of, ("eos", "eot", "eom")) if id != NONE)
    named = {"begin": id_of("bos"), "end": id_of("eos"), "pad": id_of("padding")}
    return {**named, "stops": tuple(ends)}


def _added(id: int, token: str, kind: int) -> dict[str, Any]:
    return {"id": id, "content": token, "normalized": False, "special": kind != USER}


def _template(keys: Mapping[str, Any], tokens: Sequence[str], begins: bool) -> Any:
    """What surrounds a text."""
    names = [("bos", keys.get("tokenizer.ggml.add_bos_token", begins))]
    names.append(("eos", keys.get("tokenizer.ggml.add_eos_token", False)))
    sides: list[list[dict[str, Any]]] = []
    special = {}
    for name, wanted in names:
        id = keys.get(f"tokenizer.ggml.{name}_token_id")
        if wanted and isinstance(id, int):
            special[name] = {"ids": [id]}
        sides.append([{"SpecialToken": {"id": name}}] if name in special else [])
    single = [*sides[0], {"Sequence": {"id": "A"}}, *sides[1]]
    return {"type": "TemplateProcessing", "single": single, "special_tokens": special}


def _of_bytes(keys: Mapping[str, Any], tokens: Sequence[str]) -> dict[str, Any]:
    pre = keys.get("tokenizer.ggml.pre", "default")
    if pre not in PRE:
        known = ", ".join(PRE)
        raise ModelError(
            f"tokenizer.ggml.pre: {pre} is not covered, those are {known}; give the model's own tokenizer.json"
        )
    row = PRE[pre]
    return {
        "normalizer": row.get("normalizer"),
        "pre_tokenizer": row["pre_tokenizer"],
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": keys["tokenizer.ggml.merges"],
            "ignore_merges": row.get("ignore_merges", False),
        },
        "begins": row.get("begins", False),
    }


def _of_scores(
    keys: Mapping[str, Any], tokens: Sequence[str], types: Sequence[int]
) -> dict[str, Any]:
    """SentencePiece's BPE: pieces with the larger score are merged first."""
    scores = keys["tokenizer.ggml.scores"]
    unknown = keys.get("tokenizer.ggml.unknown_token_id", 0)
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    first = [{"type": "Prepend", "prepend": "▁"}]
    prefixed = keys.get("tokenizer.ggml.add_space_prefix", True)
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    shown = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        *(strip if prefixed else []),
    ]
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [*(first if prefixed else []), space],
        },
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": shown},
        "model": {
            "type": "BPE",
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": _merges(tokens, types, scores),
            "unk_token": tokens[unknown],
            "fuse_unk": True,
            "byte_fallback": byte_name(0) in tokens,
        },
        "begins": True,
    }


def _merges(
    tokens: Sequence[str], types: Sequence[int], scores: Sequence[float]
) -> list[tuple[str, str]]:
    """Every way to make a piece of two others, by the score of the piece; of equal ones as transformers orders them."""
    ids = {token: i for i, token in enumerate(tokens) if types[i] not in (UNKNOWN, CONTROL, BYTE)}
    found = []
    for token, id in ids.items():
        cuts = ((token[:i], token[i:]) for i in range(1, len(token)))
        ways = sorted((ids[a], ids[b]) for a, b in cuts if a in ids and b in ids)
        found += [
            (scores[id], len(tokens[a]), len(tokens[b]), tokens[a], tokens[b]) for a, b in ways
        ]
    found.sort(key=lambda row: row[:3], reverse=True)
    return [(a, b) for *_, a, b in found]
