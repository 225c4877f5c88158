"""Each refusal of the C verifier and session is one that the exporter's verifier makes too, or stands in excused.txt.

The refusals are read from the text of runtime_c; that C and Python refuse the same program is seen in programs that break
one rule (bent.py) and in changed samples (meanings.py).
"""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from program import meanings
from program.answers import CORRECT, answer, answer_of_c, refusal
from program.bent import BENT

from pteron.export.plan import plan

RUNTIME = Path(__file__).resolve().parent.parent.parent / "runtime_c"
CALL = re.compile(
    r'(?:\b(?:pte_refuse|pte_fail|pte_fault_at|pte_value_misfit|fail\w*|bad\w*)\(|\(pte_fault\)\{)(?:[^";]|"(?:[^"\\]|\\.)*")*;'
)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

REASONS = Path(__file__).with_name("excused.txt")
"""The others: under each reason the refusals as `refusals` names them, `N x ` before one that stands N times."""


def refusals() -> Counter[str]:
    """ "folder/file.c: text" of each, and how often it stands there."""
    found: Counter[str] = Counter()
    for folder in ("program", "session"):
        for file in sorted((RUNTIME / folder).glob("*.c")):
            for call in CALL.finditer(file.read_text()):
                whole = re.sub(r'"\s+"', "", call.group(0))
                found.update(
                    f"{folder}/{file.name}: {t}" for t in LITERAL.findall(whole) if " " in t
                )
    return found


def excused() -> Counter[str]:
    rows = [s for s in REASONS.read_text().splitlines() if s and not s.startswith("#")]
    parts = [re.fullmatch(r"(?:(\d+) x )?(.*)", s) for s in rows]
    return Counter({p[2]: int(p[1] or 1) for p in parts if p})


@functools.cache
def agreed() -> str:
    """What C said of programs that Python refused, too."""
    texts = []
    for name in CORRECT:
        rng = random.Random(f"verify {name}")
        program = plan(CORRECT[name]())
        for _ in range(60):
            mutant = meanings.changed(program, rng)
            if refusal(mutant):
                texts.append(answer_of_c(mutant)[1])
    texts += [answer(make()) for _, why, make in BENT if not why]
    return "\n".join(texts)


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(p) for p in re.split(r"%(?:ll)?[usd]", text)))


@pytest.mark.filterwarnings("ignore")
def test_each_refusal_has_a_counterpart_or_a_reason() -> None:
    others = {
        r: n for r, n in refusals().items() if not pattern(r.partition(": ")[2]).search(agreed())
    }
    missing = Counter(others) - excused()
    assert not missing, "\n".join(missing)


def test_each_reason_is_of_a_refusal() -> None:
    assert not excused() - refusals()
