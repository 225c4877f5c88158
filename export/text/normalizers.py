"""Normalizers of tokenizer.json as rules of the text segment, and what rules make of an added token's text."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError
from pteron.schema.layout import TextAct, TextWhen

from . import sets

HANGUL_GROWTH: Final = 3
"""Three jamo of three bytes in place of a syllable of three."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """One step of normalizing. `table`: of MAP, what each code point becomes, "" for nothing."""

    act: TextAct
    when: int = 0
    late: bool = False
    table: Mapping[int, str] | None = None
    text: str = ""
    replacement: str = ""

    @property
    def growth(self) -> int:
        """Bytes that one of the text becomes at most."""
        if self.act is TextAct.REPLACE:
            return -(-len(self.replacement.encode()) // len(self.text.encode())) or 1
        least = HANGUL_GROWTH if self.act in (TextAct.DECOMPOSE, TextAct.COMPOSE) else 1
        changes = (self.table or {}).items()
        return max([least, *(-(-len(to.encode()) // len(chr(c).encode())) for c, to in changes)])


def rules_of(found: Any) -> list[Rule]:
    """The rules of a tokenizer.json's `normalizer`.

    Raises:
        ModelError: one is not covered.
    """
    if found is None:
        return []
    kind = found["type"]
    if kind == "Sequence":
        return [rule for each in found["normalizers"] for rule in rules_of(each)]
    if kind not in _KINDS:
        raise ModelError(f"the normalizer {kind} is not covered")
    return _KINDS[kind](found)


def _decompose(act: TextAct) -> Rule:
    return Rule(act, table=sets.mapping("decomposed"))


def _removing(name: str) -> dict[int, str]:
    return dict.fromkeys(sets.named(name).nonzero()[0].tolist(), "")


def _strip(found: Any) -> list[Rule]:
    return [Rule(TextAct.STRIP, when=bool(found["strip_left"]) + 2 * bool(found["strip_right"]))]


def _prepend(found: Any) -> list[Rule]:
    text = found["prepend"]
    return [Rule(TextAct.PREPEND, TextWhen.ALWAYS, text=text)] if text else []


def _replace(found: Any) -> list[Rule]:
    text = found["pattern"].get("String")
    if not text:
        raise ModelError(f"the normalizer Replace of the pattern {found['pattern']} is not covered")
    return [Rule(TextAct.REPLACE, text=text, replacement=found["content"])]


def _bert(found: Any) -> list[Rule]:
    lower = bool(found["lowercase"])
    accents = found.get("strip_accents")
    table: dict[int, str] = {}
    if found["clean_text"]:
        table |= sets.mapping("bert_clean")
    if found["handle_chinese_chars"]:
        chinese = sets.named("bert_chinese").nonzero()[0].tolist()
        table |= {c: f" {chr(c)} " for c in chinese}
    rules = [Rule(TextAct.MAP, table=table)] if table else []
    last: dict[int, str] = sets.mapping("lower") if lower else {}
    if lower if accents is None else accents:
        rules.append(_decompose(TextAct.DECOMPOSE))
        last = last | _removing("bert_accent")
    return [*rules, Rule(TextAct.MAP, table=last)] if last else rules


_KINDS: Final[dict[str, Callable[[Any], list[Rule]]]] = {
    "NFC": lambda found: [_decompose(TextAct.COMPOSE)],
    "NFD": lambda found: [_decompose(TextAct.DECOMPOSE)],
    "Lowercase": lambda found: [Rule(TextAct.MAP, table=sets.mapping("lower"))],
    "StripAccents": lambda found: [Rule(TextAct.MAP, table=_removing("accent"))],
    "Strip": _strip,
    "Prepend": _prepend,
    "Replace": _replace,
    "BertNormalizer": _bert,
}


def normalized(rules: list[Rule], text: str) -> str:
    """What the early rules make of an added token's text.

    Raises:
        ModelError: it has characters whose composition this interpreter does not know for certain.
    """
    for rule in rules:
        if rule.late or not text:
            continue
        match rule.act:
            case TextAct.MAP:
                text = text.translate(dict(rule.table or {}))
            case TextAct.PREPEND:
                text = rule.text + text
            case TextAct.REPLACE:
                text = text.replace(rule.text, rule.replacement)
            case TextAct.STRIP:
                space = "".join(map(chr, sets.named("space").nonzero()[0].tolist()))
                text = text.lstrip(space) if rule.when & 1 else text
                text = text.rstrip(space) if rule.when & 2 else text
            case _:
                if any(unicodedata.category(c) == "Cn" for c in text):
                    raise ModelError(f"the added token {text!r}: its normal form is not known here")
                form = "NFC" if rule.act is TextAct.COMPOSE else "NFD"
                text = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    return text
