"""A tokenizer.json, in the format of Hugging Face's `tokenizers`, to a text segment."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pteron.schema.errors import ModelError
from pteron.schema.layout import TextAct, TextKeep, TextMark, TextPart, TextTrait

from . import sets
from .decoders import Decoder, decoder_of
from .dfa import classes_of, sets_of
from .models import MOST, UNKNOWN_COST, Model, model_of, parts_at
from .normalizers import Rule, normalized, rules_of
from .segment import Parts, class_parts, pack, rows, rule_parts, stage_parts
from .splits import Splits, Stage, runs_from, splits_of
from .tables import NONE, lookup, merges, spans, tries

MARK: Final = "▁"
GAPS: Final = 4096
"""Ids of no token that any tokenizer may have."""


@dataclasses.dataclass(frozen=True, slots=True)
class Specials:
    """Ids of tokens that begin, end and fill up texts, and those that end what a model writes."""

    begin: int = NONE
    end: int = NONE
    pad: int = NONE
    stops: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Added:
    """A token that is found in text before it is split."""

    id: int
    content: str
    single: bool
    left: bool
    right: bool
    normalized: bool
    special: bool


def added_of(found: Any) -> list[Added]:
    """The rows of `added_tokens`.

    Raises:
        ModelError: an id that is none.
    """
    out = []
    for each in found or []:
        flags = (
            each.get(name, False)
            for name in ("single_word", "lstrip", "rstrip", "normalized", "special")
        )
        single, left, right, normal, special = map(bool, flags)
        if not isinstance(each["id"], int) or not 0 <= each["id"] < MOST:
            raise ModelError(
                f"the added token {each['content']!r}: expected an id, got {each['id']}"
            )
        out.append(Added(each["id"], each["content"], single, left, right, normal, special))
    return out


def parse(data: bytes | str) -> Any:
    """A tokenizer.json, its floats as `tokenizers` reads them.

    Raises:
        ModelError: it is no JSON.
    """
    try:
        return json.loads(data, parse_float=_float)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"expected a tokenizer.json, got no JSON: {error}") from None


def _float(text: str) -> float:
    """serde_json's reading of a number, which may be off by the last bit: of two ways with equal sums Unigram takes the better one.

    The digits as an integer of 64 bits, those behind them dropped, then one product or quotient.
    """
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.lstrip("-").partition(".")
    digits, scale = 0, int(exponent or 0)
    for i, digit in enumerate(whole + part):
        if digits * 10 + int(digit) >= 1 << 64:
            scale += max(0, len(whole) - i)
            break
        digits = digits * 10 + int(digit)
        scale -= i >= len(whole)
    value = float(digits)
    while scale < -308 and value:
        value, scale = value / 1e308, scale + 308
    if value and scale > 308:
        raise ValueError(f"{text[:40]}: out of range")
    if value:
        value = value * 10.0**scale if scale >= 0 else value / 10.0**-scale
    return -value if text.startswith("-") else value


def segment(found: Any, specials: Callable[[], Specials]) -> bytes:
    """The text segment of a parsed tokenizer.json.

    Truncation and padding of the file are the caller's to ask for, and do not travel.

    Raises:
        ModelError: it needs what is not covered, or its parts do not fit each other.
    """
    try:
        return _segment(found, specials())
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ModelError(
            f"expected a tokenizer.json, got one that is damaged: {error!r}"
        ) from error


def _segment(found: Any, specials: Specials) -> bytes:
    rules, splits = rules_of(found.get("normalizer")), splits_of(found.get("pre_tokenizer"))
    model = model_of(found["model"], splits.bytes)
    decoder = decoder_of(found.get("decoder"))
    added = added_of(found.get("added_tokens"))
    if not splits.stages and parts_at(model, MARK):
        splits.stages.append(Stage("words", runs_from(MARK), TextKeep.BOTH))
    rules = [*rules, *splits.rules]
    ids = {*model.written, *model.pieces, *(each.id for each in added)}
    count = 1 + max(ids, default=-1)
    if count > GAPS + 2 * len(ids):
        raise ModelError(
            f"ids: expected them one after the other, got {len(ids)} up to {count - 1}"
        )
    roots, parts = _tries(model, added, rules)
    parts |= _pieces(model, decoder, added, count)
    parts |= _model_parts(model, count)
    parts |= _class_parts(rules, splits, added)
    parts |= rule_parts(rules)
    parts |= _ends(found.get("post_processor"), specials)
    named = {
        "unknown": model.unknown,
        "begin": specials.begin,
        "end": specials.end,
        "pad": specials.pad,
    }
    for name, id in named.items():
        if id != NONE and not 0 <= id < count:
            raise ModelError(f"{name}: expected an id below {count}, got {id}")
    head = {
        **named,
        "pieces": count,
        **dict(zip(("vocabulary", "inside", "added", "normal"), roots)),
        "unknown_score": _unknown_score(model),
        "longest": model.longest,
        "model": int(model.kind),
        "unit": int(model.unit),
        "fuse": int(model.fuse),
        "opening": int(decoder.opening),
    }
    return pack(head, parts)


def _unknown_score(model: Model) -> int:
    if model.scores is None or not len(model.scores):
        return 0
    return int(np.array(model.scores.min() - UNKNOWN_COST, np.float64).view(np.uint64))


def _tries(model: Model, added: Sequence[Added], rules: Sequence[Rule]) -> tuple[list[int], Parts]:
    """Roots of pieces that begin words, those inside, added tokens as they are and normalized; and the parts."""
    raw: dict[bytes, int] = {}
    normal: dict[bytes, int] = {}
    for i, each in enumerate(added):
        content = normalized(list(rules), each.content) if each.normalized else each.content
        into = normal if each.normalized else raw
        if content:
            into.setdefault(content.encode(), i)
    is_bpe = model.merges is not None
    beginning = {} if is_bpe else {piece: id for id, piece in model.pieces.items()}
    roots, nodes, labels = tries([beginning, model.inside, raw, normal])
    flags = [(a.id, int(a.single), int(a.left), int(a.right), int(a.special)) for a in added]
    return roots, {
        TextPart.NODES: nodes.tobytes(),
        TextPart.LABELS: labels,
        TextPart.ADDED: rows("TextAdded", flags),
    }


def _pieces(model: Model, decoder: Decoder, added: Sequence[Added], count: int) -> Parts:
    texts = model.written | {each.id: each.content for each in added}
    special = {each.id for each in added if each.special}
    pieces, shown, marks = [], [], bytearray()
    for id in range(count):
        text = texts.get(id, "")
        pieces.append(model.pieces.get(id, text.encode()))
        shown.append(decoder.show(text) if id in texts else b"")
        one = decoder.bytes and len(shown[-1]) == 1 and len(text) == 6
        marks.append(
            (TextMark.SPECIAL if id in special else 0)
            | (TextMark.ONE_BYTE if one else 0)
            | model.mark_of(id)
        )
    starts, data = spans(pieces)
    parts = {
        TextPart.PIECES: starts.tobytes(),
        TextPart.PIECE_BYTES: data,
        TextPart.MARKS: bytes(marks),
    }
    if shown != pieces:
        starts, data = spans(shown)
        parts |= {TextPart.SHOWN: starts.tobytes(), TextPart.SHOWN_BYTES: data}
    return parts


def _model_parts(model: Model, count: int) -> Parts:
    parts: Parts = {}
    if model.units:
        parts[TextPart.UNITS] = np.array(model.units, np.uint32).tobytes()
    if model.pieces:
        parts[TextPart.LOOKUP] = lookup(model.pieces).tobytes()
    if model.merges is not None and len(model.merges):
        ranks = np.arange(len(model.merges), dtype=np.uint32)
        table = np.column_stack([model.merges[:, :2], ranks])
        parts[TextPart.MERGES] = merges(table).tobytes()
        parts[TextPart.MERGED] = model.merges[:, 2].tobytes()
    if model.scores is not None:
        scores = np.zeros(count, np.float64)  # added tokens have none
        scores[: len(model.scores)] = model.scores
        parts[TextPart.SCORES] = scores.tobytes()
    return parts


def _class_parts(rules: Sequence[Rule], splits: Splits, added: Sequence[Added]) -> Parts:
    """Classes that patterns, and what added tokens and rules ask of characters, tell apart."""
    asked = {}
    if any(each.left or each.right for each in added) or any(r.act is TextAct.STRIP for r in rules):
        asked[TextTrait.SPACE] = sets.named("space")
    if any(each.single for each in added):
        asked[TextTrait.WORD] = sets.named("rust_word")
    if not asked and not splits.stages:
        return {}
    told = [bits for stage in splits.stages for bits in sets_of(stage.steps)]
    classes = classes_of([*told, *asked.values()])
    traits = np.zeros(len(classes.members), np.uint8)
    for trait, bits in asked.items():
        traits |= classes.of_set(bits).astype(np.uint8) * np.uint8(trait)
    return class_parts(classes, traits.tolist()) | stage_parts(splits.stages, classes)


def _ends(found: Any, specials: Specials) -> Parts:
    front, back = _around(found)
    return {
        TextPart.FRONT: np.array(front, np.uint32).tobytes(),
        TextPart.BACK: np.array(back, np.uint32).tobytes(),
        TextPart.STOPS: np.array(specials.stops, np.uint32).tobytes(),
    }


def _around(found: Any) -> tuple[list[int], list[int]]:
    """Ids before and behind one text, as a `post_processor` has them."""
    if found is None or found["type"] == "ByteLevel":
        return [], []
    if found["type"] == "Sequence":
        some = [side for each in found["processors"] if any(side := _around(each))]
        if len(some) > 1:
            raise ModelError("post-processors: several that add tokens are not covered")
        return some[0] if some else ([], [])
    if found["type"] in ("BertProcessing", "RobertaProcessing"):
        return [found["cls"][1]], [found["sep"][1]]
    if found["type"] != "TemplateProcessing":
        raise ModelError(f"the post-processor {found['type']} is not covered")
    front, back, inside = list[int](), list[int](), 0
    for each in found["single"]:
        if "Sequence" in each:
            inside += 1
            continue
        token = found["special_tokens"][each["SpecialToken"]["id"]]
        (back if inside else front).extend(token["ids"])
    if inside != 1:
        raise ModelError("the post-processor TemplateProcessing without one text is not covered")
    return front, back
