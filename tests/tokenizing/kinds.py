"""Tokenizers of the published kinds, trained here on the source of Python's library, and texts to try them on."""

from __future__ import annotations

import functools
import json
import random
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, trainers
from tokenizers import normalizers as norm
from tokenizers import pre_tokenizers as pre
from tokenizers import processors as post

VOCABULARY: Final = 3000
ROOT: Final = Path(__file__).resolve().parents[2]

LLAMA3: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SHORT: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SHORT}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SHORT}|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK: Final = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
ADDED: Final = (
    AddedToken("<|im_start|>", special=True),
    AddedToken("<|im_end|>", special=True),
    AddedToken("<|x|>", special=True, rstrip=True),
    AddedToken("<mask>", special=True, lstrip=True),
    AddedToken("   "),
    AddedToken("return", single_word=True, normalized=False),
)


@functools.cache
def prose() -> tuple[str, ...]:
    """Code and English of this machine."""
    home = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(p for p in home.glob("*.py") if p.is_file())[:120]
    files += sorted(ROOT.glob("docs/*.md"))
    return tuple(file.read_text(errors="ignore") for file in files)


def pieces(size: int = 3000) -> list[str]:
    return [text[i : i + size] for text in prose() for i in range(0, len(text), size)]


POOLS: Final = (
    *((0x20, 0x7F),) * 3, (0xA0, 0x24F), (0x370, 0x52F), (0x5D0, 0x6FF), (0x900, 0xDFF), (0xE00, 0xE7F), (0x1100, 0x11FF),
    (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0x300, 0x36F), (9, 13),
    (0x2E80, 0x2FFF), (0x10000, 0x1FFFF), (0x1E00, 0x1FFF), (0xF900, 0xFFFF),
)  # fmt: skip
TELLING: Final = (
    "  ", "\n", "'s", "'LL", "'ſ", "123", " \r\n", "ſ", "é", "e\u0301", "ΑΣ", "\u00a0", "   ", "\t\t", "def f(x):\n    return x",
    "_a", "▁", "▁▁ ", "http://a.b/c?d=1", "한국어", "각", "🙂👍🏽", "<s>", "</s>", "<unk>", "\x00", "<|im_end|>", "<|x|> ",
    " <mask>", "ab<mask>c", "o\u0328\u0301", "\u0344", "\u302a\u0300\u0334", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
)  # fmt: skip


def noise(seed: int, count: int) -> list[str]:
    """Texts of any characters that there are, runs of space, marks and tokens."""
    draw = random.Random(seed)

    def one() -> str:
        if draw.random() < 0.02:
            code = draw.randrange(0x110000)
            return "x" if 0xD800 <= code < 0xE000 else chr(code)
        if draw.random() < 0.8:
            return chr(draw.randint(*draw.choice(POOLS)))
        return draw.choice(TELLING)

    return ["".join(one() for _ in range(draw.randint(0, 60))) for _ in range(count)]


def broken(seed: int, count: int) -> list[bytes]:
    """Bytes that are UTF-8 in parts."""
    draw = random.Random(seed)
    texts = [bytearray(text.encode()) for text in noise(seed, count)]
    for text in texts:
        for _ in range(draw.randint(1, 4) if text else 0):
            text[draw.randrange(len(text))] = draw.randrange(256)
    return [bytes(text) for text in texts]


# --- kinds --------------------------------------------------------------------------------------------------------------------


def _in_bytes(split: Any, normalizer: Any = None, **options: Any) -> Tokenizer:
    t = Tokenizer(models.BPE(**options))
    t.pre_tokenizer, t.decoder = split, decoders.ByteLevel()
    if normalizer is not None:
        t.normalizer = normalizer
    alphabet = pre.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, show_progress=False, initial_alphabet=alphabet
    )
    t.train_from_iterator(prose(), trainer)
    t.add_tokens(list(ADDED))
    return t


def _patterns(*patterns: str) -> Any:
    splits = [pre.Split(Regex(pattern), "isolated") for pattern in patterns]
    return pre.Sequence([*splits, pre.ByteLevel(add_prefix_space=False, use_regex=False)])


def _sentence_piece(
    bytes_too: bool = True, prefix: bool = True, first: bool = False, fuse: bool = True
) -> Tokenizer:
    t = Tokenizer(models.BPE(byte_fallback=bytes_too, unk_token="<unk>", fuse_unk=fuse))
    t.pre_tokenizer = pre.Metaspace(prepend_scheme="never")
    special = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256))]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, show_progress=False, special_tokens=special
    )
    t.train_from_iterator(prose(), trainer)
    facts = json.loads(t.to_str())
    facts["added_tokens"] = facts["added_tokens"][:3]
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    before = [{"type": "Prepend", "prepend": "▁"}] if prefix else []
    facts["normalizer"] = {"type": "Sequence", "normalizers": [*before, space]}
    facts["pre_tokenizer"] = None
    if first:
        facts["normalizer"] = None
        facts["pre_tokenizer"] = json.loads(
            pre.Metaspace(prepend_scheme="first", split=False).__getstate__()
        )
    strip = [decoders.Strip(" ", 1, 0)] if prefix else []
    t = Tokenizer.from_str(json.dumps(facts))
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    t.post_processor = post.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def _unigram(normalizer: Any = None) -> Tokenizer:
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer, t.decoder = pre.Metaspace(), decoders.Metaspace()
    if normalizer is not None:
        t.normalizer = normalizer
    trainer = trainers.UnigramTrainer(
        vocab_size=1000, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<mask>"]
    )
    t.train_from_iterator([text[:5000] for text in prose()[:60]], trainer)
    t.add_tokens(list(ADDED[:2]))  # behind those that have scores
    return t


def _word_piece(split: Any = None, **options: Any) -> Tokenizer:
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = norm.BertNormalizer(**options)
    t.pre_tokenizer = pre.BertPreTokenizer() if split is None else split
    t.decoder = decoders.WordPiece()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, show_progress=False, special_tokens=special
    )
    t.train_from_iterator(prose(), trainer)
    t.post_processor = post.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return t


def _lower() -> Any:
    return norm.Sequence([norm.Strip(), norm.NFD(), norm.StripAccents(), norm.Lowercase()])


def _words() -> Any:
    return pre.Sequence([pre.Whitespace(), pre.Punctuation("merged_with_previous")])


KINDS: Final[dict[str, Callable[[], Tokenizer]]] = {
    "gpt-2": lambda: _in_bytes(pre.ByteLevel(add_prefix_space=False)),
    "roberta": lambda: _in_bytes(pre.ByteLevel(add_prefix_space=True)),
    "llama-3": lambda: _in_bytes(_patterns(LLAMA3), ignore_merges=True),
    "qwen-2": lambda: _in_bytes(_patterns(LLAMA3.replace("{1,3}", "")), norm.NFC()),
    "o200k": lambda: _in_bytes(_patterns(O200K)),
    "deepseek-3": lambda: _in_bytes(_patterns(*DEEPSEEK)),
    "smollm": lambda: _in_bytes(
        pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)])
    ),
    "llama-2": _sentence_piece,
    "gemma": lambda: _sentence_piece(prefix=False),
    "metaspace-first": lambda: _sentence_piece(first=True),
    "no-bytes": lambda: _sentence_piece(bytes_too=False),
    "no-fuse": lambda: _sentence_piece(bytes_too=False, fuse=False),
    "unigram": _unigram,
    "unigram-lower": lambda: _unigram(_lower()),
    "bert": _word_piece,
    "bert-cased": lambda: _word_piece(lowercase=False),
    "words": lambda: _word_piece(_words(), lowercase=False, clean_text=False),
}
