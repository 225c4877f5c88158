"""The rules of the verifier: correct programs pass at every stage, changed ones are refused alike here and in C."""

from __future__ import annotations

import collections
import random
import re

import pytest
from program import meanings
from program.answers import CORRECT, answer_of_c, refusal

from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.plan import plan
from pteron.export.program import Program
from pteron.export.verify import check

RULES_OF_PREPARE = (
    "shares memory", "must be dense", "read-only", "expanded view", "a view of elements", "shape rule",
    " elements, got ", "is bound to nothing",
)  # fmt: skip
"""What the session says of a program that does not fit its rows; kernels refuse more, in words of their own."""


@pytest.mark.parametrize("name", CORRECT)
def test_correct_programs_pass_at_every_stage(name: str) -> None:
    program = CORRECT[name]()
    check(program, "pack")
    check(plan(program))
    check(read(emit_bytes(plan(program))))


def disagreement(program: Program, counts: collections.Counter[str]) -> str:
    """Why Python's and C's answers contradict each other; "" where they do not."""
    ours = refusal(program)
    stage, theirs = answer_of_c(program)
    known = any(words in theirs for words in RULES_OF_PREPARE)
    counts[f"{'refused' if ours else 'taken'}, C: {stage or 'taken'}"] += 1
    if stage == "open" and not ours:
        return f"only C refuses: {theirs}"
    if stage == "prepare" and known and not ours:
        return f"only prepare refuses: {theirs}"
    if stage == "" and ours:
        return f"only Python refuses: {ours}"
    return ""


@pytest.mark.parametrize("name", CORRECT)
def test_changed_programs_are_refused_alike_here_and_in_c(name: str) -> None:
    rng = random.Random(f"verify {name}")
    program = plan(CORRECT[name]())
    counts: collections.Counter[str] = collections.Counter()
    found = []
    for k in range(60):
        mutant = meanings.changed(program, rng)
        why = disagreement(mutant, counts)
        if why:
            found.append(f"{name} {k}: {why}")
    assert not found, "\n".join(found[:20])
    assert any(re.match("refused, C: (open|prepare|emit)", key) for key in counts), counts
