"""Each refusal of the C verifier and session is one that the exporter's verifier makes too, or stands here with the reason.

The refusals are read from the text of runtime_c; that C and Python refuse the same program is seen in programs that break
one rule (bent.py) and in changed samples (meanings.py).
"""

from __future__ import annotations

import functools
import random
import re
from pathlib import Path

import pytest
from program import meanings
from program.answers import CORRECT, answer, answer_of_c, refusal
from program.bent import BENT

from pteron.export.plan import plan

RUNTIME = Path(__file__).resolve().parent.parent.parent / "runtime_c"
CALL = re.compile(
    r'(?:\b(?:pte_refuse|pte_fail|pte_fault_at|fail\w*|bad\w*)\(|\(pte_fault\)\{)(?:[^";]|"(?:[^"\\]|\\.)*")*;'
)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

ELSEWHERE = {
    "the writer makes these bytes from the dataclasses": (
        r"program/(flatbuf|header)\.c: .*",
        r"program/check\.c: .*(from %u end behind|zero: expected 0|is not a format).*",
        r"program/open\.c: (manifest|segments).*",
        r"program/verify_attrs\.c: (?!too many).*",
        r"program/verify_blocks\.c: (blocks.*(start|depth)|delegates.*BLOB|methods.*block|instrs: .*no block).*",
        r"program/verify_blocks\.c: expected a block with a higher index and depth",
        r"program/verify_constants\.c: constants\[%u\]\.(segment|offset).*",
        r"program/verify_instrs\.c: instrs\[%u\]\.op: .*",
        r"program/verify_steps\.c: (literal|cast|no such opcode).*",
        r"program/verify_values\.c: (methods\[%u\]\.inputs|ports: ).*",
    ),
    "as many as lists that passes share never are": (
        r"program/check\.c: .*lists share refs.*",
        r"program/verify_instrs\.c: .*more operands to compare.*",
    ),
    "what a caller hands over": (
        r"program/(open|ask|program)\.c: (?!manifest|segments).*",
        r"session/(open|prepare|run|state|ports)\.c: .*",
        r"session/bind\.c: (input %s .*(expected|decides)|input %s: dimension|shapes: |.*%s%s%s).*",
        r"session/(plan|check|instruction)\.c: .*(fit|scratch).*",
        r"session/values\.c: .*(does not fit in 64|divided by zero|is negative).*",
    ),
    "what the data, the clock or a delegate decide while it runs": (
        r"session/(control|counted|execution)\.c: .*(max_|more rows|raise|an extent|cancelled|deadline|smaller than).*",
        r"session/delegates\.c: .*",
        r"session/values\.c: .*its memory has %llu",
        r"session/(check|control)\.c: (is bound to nothing|writes memory that is read-only)",
    ),
    "the words of another refusal": (r"session/fault\.c: .*", r".*: (%s.*| not| \(|, got.*)"),
}


def refusals() -> list[str]:
    """ "folder/file.c: text" of each."""
    found = []
    for folder in ("program", "session"):
        for file in sorted((RUNTIME / folder).glob("*.c")):
            for call in CALL.finditer(file.read_text()):
                whole = re.sub(r'"\s+"', "", call.group(0))
                found += [f"{folder}/{file.name}: {t}" for t in LITERAL.findall(whole) if " " in t]
    return sorted(set(found))


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


def excused(refusal: str) -> bool:
    return any(re.fullmatch(row, refusal) for rows in ELSEWHERE.values() for row in rows)


@pytest.mark.filterwarnings("ignore")
def test_each_refusal_has_a_counterpart_or_a_reason() -> None:
    missing = [
        r
        for r in refusals()
        if not excused(r) and not pattern(r.partition(": ")[2]).search(agreed())
    ]
    assert not missing, "\n".join(missing)


def test_each_reason_is_of_a_refusal() -> None:
    unused = [
        row for rows in ELSEWHERE.values() for row in rows
        if not any(re.fullmatch(row, r) for r in refusals())
    ]  # fmt: skip
    assert not unused
