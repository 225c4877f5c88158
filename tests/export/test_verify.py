"""The rules of the verifier: correct programs pass at every stage, changed ones are refused alike here and in C."""

from __future__ import annotations

import collections
import math
import random
import re

import numpy as np
import pytest
from program import meanings, op_samples, samples

from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.plan import plan
from pteron.export.plan.lifetimes import with_capacities
from pteron.export.program import Method, Program
from pteron.export.program.elements import NUMPY
from pteron.export.sizes.expressions import Expressions
from pteron.export.verify import Refusal, check
from pteron.export.verify.points import Points
from pteron.schema.errors import ArgumentError, DelegateError, LimitError, ProgramError

runtime = pytest.importorskip(
    "pteron.runtime.session", reason="needs the built module pteron._pteron"
)

CORRECT = {
    **{f"op {name}": (lambda name=name: op_samples.program(name)) for name in op_samples.CASES},
    **samples.SAMPLES,
}
RULES_OF_PREPARE = (
    "shares memory", "must be dense", "read-only", "expanded view", "a view of elements", "shape rule",
    "differs from the block", "is bound to nothing",
)  # fmt: skip
"""What the session says of a program that does not fit its rows; kernels refuse more, in words of their own."""


@pytest.mark.parametrize("name", CORRECT)
def test_correct_programs_pass_at_every_stage(name: str) -> None:
    program = CORRECT[name]()
    check(program, "pack")
    check(plan(program))
    check(read(emit_bytes(plan(program))))


def refusal(program: Program) -> str:
    try:
        check(program)
    except Refusal as error:
        return str(error) or "refused"
    return ""


def answer_of_c(program: Program) -> tuple[str, str]:
    """(stage, text): "emit" or "open" refused it; "prepare", at all points; "sizes" do not fit; "" is taken."""
    try:
        data = emit_bytes(program)
    except Exception as error:  # emit's own refusals, of programs that no pass makes
        return "emit", repr(error)
    try:
        opened = runtime.Program(data, delegates=())
    except ProgramError as error:
        return "open", str(error)
    answers = [answer_at(program, opened, sizes) for sizes in points(program)]
    return next((a for a in answers if a[0] == ""), answers[0])


def answer_at(program: Program, opened: runtime.Program, sizes: dict[str, int]) -> tuple[str, str]:
    """What prepare says for these sizes."""
    try:
        for method in program.methods:
            session = runtime.Session(opened, method.name, max_bytes=1 << 28)
            session._prepare(arrays(program, method, sizes))
    except ProgramError as error:
        return "prepare", str(error)
    except (ArgumentError, LimitError, DelegateError, MemoryError, ValueError) as error:
        return "sizes", str(error)
    return "", ""


def points(program: Program) -> list[dict[str, int]]:
    """The sizes that the verifier tries."""
    hints = [{d.name: d.hint for d in program.dims}]
    try:
        return Points(program).sizes or hints
    except Refusal:
        return hints


def arrays(program: Program, method: Method, sizes: dict[str, int]) -> list[np.ndarray]:
    """Inputs for these sizes of the dimensions; shape inputs say them."""
    exprs = Expressions([d.name for d in program.dims])
    ports = [program.values[port.value] for port in method.inputs]
    rows = [[exprs.add(e) for e in v.shape] for v in ports]
    table = exprs.evaluate(with_capacities(program.dims, sizes))
    out = []
    for k, (v, axes) in enumerate(zip(ports, rows, strict=True)):
        shape = tuple(table[r] for r in axes)
        if math.prod(max(n, 1) for n in shape) > 1 << 24:
            raise LimitError(f"input {v.name}: {shape} is too large to make")
        x = np.zeros(shape, NUMPY[v.dtype])
        for d in program.dims:
            if d.kind == "shape" and d.port == k and d.element < x.size:
                x.reshape(-1)[d.element] = sizes[d.name]
        out.append(x)
    return out


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
