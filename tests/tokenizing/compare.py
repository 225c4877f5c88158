"""Ours beside `tokenizers`: ids of texts, and the texts of ids."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer as Reference

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.program import Program
from pteron.export.text import from_file
from pteron.runtime.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(slots=True)
class Score:
    """Texts whose ids, or the text of whose ids, differ; tokens, and CPU seconds of both."""

    texts: int = 0
    ids: int = 0
    decoded: int = 0
    tokens: int = 0
    ours_s: float = 0.0
    theirs_s: float = 0.0
    first: str = ""


def program_with(segment: bytes, folder: Path) -> Path:
    """A program that carries a tokenizer."""
    plain, out = folder / "plain.pte", folder / "text.pte"
    if not plain.exists():
        pteron.export_model(ROOT / "examples/digits/digits.onnx", plain)
    program: Program = read(plain.read_bytes())
    out.write_bytes(emit_bytes(dataclasses.replace(program, text=segment)))
    return out


def opened(path: Path, folder: Path) -> Tokenizer:
    """Ours, of a tokenizer.json."""
    found = from_file(path)
    assert found.segment is not None, found.reason
    return pteron.load(program_with(found.segment, folder)).tokenizer


def save(tokenizer: Reference, path: Path) -> Path:
    path.write_text(json.dumps(json.loads(tokenizer.to_str())))
    return path


def compare(
    ours: Tokenizer, theirs: Reference, texts: Iterable[str | bytes], decoded: int = 1
) -> Score:
    """`decoded`: of so many texts one is also decoded, which takes Python most of the time."""
    score = Score()
    for number, text in enumerate(texts):
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        times = [time.thread_time()]
        want = theirs.encode(plain).ids
        times.append(time.thread_time())
        got = ours.encode(text)
        times.append(time.thread_time())
        score.theirs_s += times[1] - times[0]
        score.ours_s += times[2] - times[1]
        score.texts, score.tokens = score.texts + 1, score.tokens + len(want)
        shown = [
            (ours.decode(want, skip_special=s), theirs.decode(want, skip_special_tokens=s))
            for s in (True, False)[: 2 * (number % decoded == 0)]
        ]
        score.ids += got != want
        score.decoded += any(a != b for a, b in shown)
        if not score.first and (got != want or any(a != b for a, b in shown)):
            score.first = f"{text!r}: {_around(got, want)} {shown}"
    return score


def _around(got: list[int], want: list[int]) -> str:
    least = min(len(got), len(want))
    same = np.array(got[:least]) == np.array(want[:least])
    at = int(np.argmin(same)) if not same.all() else least
    return f"at {at}: expected {want[at : at + 4]}, got {got[at : at + 4]}"
