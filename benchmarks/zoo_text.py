"""What a recognizer of text reads of drawn lines, and its character error rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from zoo_feeds import LINES, line

Run = Callable[[Mapping[str, np.ndarray]], Sequence[np.ndarray]]


def paddle(folder: Path, run: Run) -> Iterator[tuple[str, str]]:
    """(drawn, read) of PP-OCR's recognizer, whose characters are in the model file."""
    import onnx

    model = onnx.load(next(folder.glob("*rec*.onnx")))
    characters = next(p.value for p in model.metadata_props if p.key == "character").splitlines()
    alphabet = ["", *characters, " "]
    for text in LINES:
        drawn = line(text, 48)
        (scores,) = run({"x": np.repeat(drawn[None, None] * 2 - 1, 3, 1)})
        yield text, collapsed(scores[0].argmax(-1), alphabet)


READERS = {"paddle": paddle}


def collapsed(codes: Sequence[int], alphabet: Sequence[str]) -> str:
    """The text of a CTC's codes: what repeats once, without blanks (0)."""
    out, last = [], 0
    for code in map(int, codes):
        if code not in (0, last):
            out.append(alphabet[code])
        last = code
    return "".join(out)


def error_rate(read: Iterator[tuple[str, str]]) -> float:
    """Characters to insert, remove or change, over those that were drawn."""
    wrong = total = 0
    for want, got in read:
        wrong, total = wrong + distance(want, got), total + len(want)
    return round(wrong / total, 4)


def distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        left, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (x != y))
    return row[-1]
