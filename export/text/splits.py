"""Pre-tokenizers of tokenizer.json as patterns with what becomes of what they find, and as late rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from pteron.schema.errors import ModelError
from pteron.schema.layout import TextAct, TextKeep, TextWhen

from . import sets
from .normalizers import Rule
from .regex import Step, program
from .sets import Bits

GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""Radford et al. 2019."""
KEEPS: Final = {
    ("Isolated", False): TextKeep.BOTH,
    ("Isolated", True): TextKeep.BOTH,
    ("Removed", False): TextKeep.BETWEEN,
    ("Removed", True): TextKeep.FOUND,
    ("MergedWithPrevious", False): TextKeep.PREVIOUS,
    ("MergedWithNext", False): TextKeep.NEXT,
    ("Contiguous", False): TextKeep.RUNS,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Stage:
    name: str
    steps: list[Step]
    keep: TextKeep


@dataclasses.dataclass(slots=True)
class Splits:
    """What a pre-tokenizer does; `bytes`: words are spelled in bytes."""

    stages: list[Stage] = dataclasses.field(default_factory=list)
    rules: list[Rule] = dataclasses.field(default_factory=list)
    bytes: bool = False


def splits_of(found: Any) -> Splits:
    """The stages and late rules of a tokenizer.json's `pre_tokenizer`.

    Raises:
        ModelError: one is not covered.
    """
    out = Splits()
    for each in _flat(found):
        kind = each["type"]
        if kind not in _KINDS:
            raise ModelError(f"the pre-tokenizer {kind} is not covered")
        if out.bytes:
            raise ModelError(f"the pre-tokenizer {kind} behind ByteLevel is not covered")
        _KINDS[kind](out, each)
    return out


def _flat(found: Any) -> list[Any]:
    if found is None:
        return []
    if found["type"] == "Sequence":
        return [part for each in found["pretokenizers"] for part in _flat(each)]
    return [found]


def one_of(bits: Bits) -> list[Step]:
    """The program that takes one character of a set."""
    return [Step("take", bits), Step("match")]


def words_from(mark: str) -> list[Step]:
    """The program of words that begin with `mark` and have it nowhere else."""
    other = ~sets.of(mark)
    go = Step("go", to=(2, 4))
    return [
        Step("take", sets.of(mark)),
        go,
        Step("take", other),
        Step("go", to=(1,)),
        Step("match"),
    ]


def runs_from(mark: str) -> list[Step]:
    """The program of words that begin with some of `mark`, and end before the next."""
    here, other = sets.of(mark), ~sets.of(mark)
    marks = [Step("take", here), Step("go", to=(0, 2))]
    rest = [Step("go", to=(3, 5)), Step("take", other), Step("go", to=(2,))]
    return [*marks, *rest, Step("match")]


def _literal(text: str) -> list[Step]:
    return [*(Step("take", sets.of(c)) for c in text), Step("match")]


def _keep(kind: str, behavior: Any, invert: bool = False) -> TextKeep:
    keep = KEEPS.get((behavior, invert))
    if keep is None:
        raise ModelError(f"the pre-tokenizer {kind} with {behavior}, inverted, is not covered")
    return keep


def _split(out: Splits, found: Any) -> None:
    pattern = found["pattern"]
    text = pattern.get("Regex", pattern.get("String"))
    steps = program(text) if "Regex" in pattern else _literal(text)
    keep = _keep("Split", found["behavior"], bool(found["invert"]))
    out.stages.append(Stage(f"the pattern {text!r}", steps, keep))


def _byte_level(out: Splits, found: Any) -> None:
    if found["add_prefix_space"]:
        if out.stages or out.rules:
            raise ModelError(
                "the pre-tokenizer ByteLevel with add_prefix_space behind others is not covered"
            )
        out.rules.append(Rule(TextAct.PREPEND, TextWhen.UNLESS_THERE, late=True, text=" "))
    if found.get("use_regex", True):
        out.stages.append(Stage("ByteLevel", program(GPT2), TextKeep.BOTH))
    out.bytes = True


def _metaspace(out: Splits, found: Any) -> None:
    if out.stages or out.rules:
        raise ModelError("the pre-tokenizer Metaspace behind others is not covered")
    mark = found["replacement"]
    scheme = found.get("prepend_scheme") or (
        "always" if found.get("add_prefix_space", True) else "never"
    )
    when = {"always": TextWhen.UNLESS_THERE, "first": TextWhen.FIRST, "never": None}[scheme]
    out.rules.append(Rule(TextAct.MAP, late=True, table={32: mark}))
    if when is not None:
        out.rules.append(Rule(TextAct.PREPEND, when, late=True, text=mark))
    if found.get("split", True):
        out.stages.append(Stage("Metaspace", words_from(mark), TextKeep.BOTH))


def _digits(out: Splits, found: Any) -> None:
    keep = TextKeep.BOTH if found["individual_digits"] else TextKeep.RUNS
    out.stages.append(Stage("Digits", one_of(sets.named("numeric")), keep))


def _whitespace(out: Splits, found: Any) -> None:
    word = sets.named("rust_word")
    other = ~(word | sets.named("space"))
    steps: list[Step] = [Step("go", to=(1, 4))]
    for bits in (word, other):
        here = len(steps)
        steps += [Step("take", bits), Step("go", to=(here, here + 2)), Step("match")]
    out.stages.append(Stage("Whitespace", steps, TextKeep.FOUND))


def _bert(out: Splits, found: Any) -> None:
    out.stages.append(Stage("BertPreTokenizer", one_of(sets.named("bert_space")), TextKeep.BETWEEN))
    out.stages.append(Stage("BertPreTokenizer", one_of(sets.named("bert_alone")), TextKeep.BOTH))


def _set(bits: Callable[[Any], Bits], behavior: str = "Removed") -> Callable[[Splits, Any], None]:
    def append(out: Splits, found: Any) -> None:
        keep = _keep(found["type"], found.get("behavior", behavior))
        out.stages.append(Stage(found["type"], one_of(bits(found)), keep))

    return append


_KINDS: Final[dict[str, Callable[[Splits, Any], None]]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Metaspace": _metaspace,
    "Digits": _digits,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _set(lambda found: sets.named("space")),
    "Punctuation": _set(lambda found: sets.named("punctuation"), "Isolated"),
    "CharDelimiterSplit": _set(lambda found: sets.of(found["delimiter"])),
    "BertPreTokenizer": _bert,
}
