"""What every delegate must do (pteron/delegate.h), from a graph to bytes: the same as the CPU, or an error in words.

The cases are random graphs of integer nodes; a delegate that is not here is skipped with the reason.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import onnx_ir as ir
import pytest
from delegates import candidates, through
from delegates.candidates import NAMES, Candidate
from delegates.integer_cases import CASES, make

import pteron
from pteron.export.delegates.partition import partition

pytestmark = pytest.mark.slow

SEEDS = (0, 1)


@pytest.fixture(params=NAMES)
def candidate(request: pytest.FixtureRequest) -> Iterator[Candidate]:
    found = candidates.find(request.param)
    reason = found.unavailable()
    if reason is not None:
        pytest.skip(reason)
    yield found
    if found.name == "plain":
        candidates.plain_fails_after(-1)


def load(data: bytes, candidate: Candidate) -> pteron.Model:
    assert candidate.here is not None
    return pteron.load(data, delegates=[candidate.here], threads=1)


@pytest.mark.parametrize("name", CASES)
def test_bytes_are_those_of_the_reference(candidate: Candidate, name: str) -> None:
    """Nodes that it does not take are on the CPU; at least one kind of each heavy case is not."""
    for seed in SEEDS:
        case = make(name, seed)
        expected = case.expected()
        program = through.program_of(case, [candidate.row], "warn")
        model = load(through.file_of(program), candidate)
        assert through.differences(model, case, expected) == 0, f"seed {seed}"
        assert all(p.placed for p in model.placements)
        left = [p for p in program.placements if p.delegate == "cpu"]
        assert all(p.reason for p in left)
        if name in ("conv", "linear", "classifier"):
            assert not left


@pytest.mark.parametrize("name", ["classifier", "residual", "two_outputs"])
def test_the_fallback_gives_the_same_bytes(candidate: Candidate, name: str) -> None:
    case = make(name, 5)
    expected = case.expected()
    data = through.file_of(through.program_of(case, [candidate.row], "allow"))
    assert through.differences(load(data, candidate), case, expected) == 0
    alone = pteron.load(data, delegates=(), threads=1)
    assert through.differences(alone, case, expected) == 0
    assert not any(p.placed for p in alone.placements)


def test_a_session_runs_again_and_again_and_prepares_again(candidate: Candidate) -> None:
    case = make("classifier", 7)
    expected = case.expected()
    model = load(through.file_of(through.program_of(case, [candidate.row])), candidate)
    for _ in range(3):
        assert through.differences(model, case, expected) == 0


def test_two_delegates_share_a_graph(candidate: Candidate) -> None:
    """The plain delegate takes the linear layer, the candidate the rest."""
    plain = candidates.find("plain")
    reason = plain.unavailable()
    if reason is not None:
        pytest.skip(reason)
    first = dataclasses.replace(
        plain.row, supports=lambda n: None if n.op_type == "Linear" else "not linear"
    )
    case = make("classifier", 9)
    expected = case.expected()
    program = through.program_of(case, [first, candidate.row])
    assert {p.op_type: p.delegate for p in program.placements}["Linear"] == "plain"
    numbers = {p.reason: p.delegate for p in program.placements}
    assert {f"segment {i}": d.name for i, d in enumerate(program.delegates)} == numbers
    assert set(numbers.values()) == {"plain", candidate.name}
    assert plain.here is not None and candidate.here is not None
    model = pteron.load(through.file_of(program), delegates=[plain.here, candidate.here])
    assert through.differences(model, case, expected) == 0
    assert all(p.placed for p in model.placements)


def test_two_sessions_at_once(candidate: Candidate) -> None:
    cases = [make("classifier", 11), make("residual", 12)]
    wanted = [case.expected() for case in cases]
    models = [
        load(through.file_of(through.program_of(case, [candidate.row])), candidate)
        for case in cases
    ]
    wrong: list[int] = []

    def work(i: int) -> None:
        wrong.append(sum(through.differences(models[i], cases[i], wanted[i]) for _ in range(5)))

    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0, 0]


def test_a_dynamic_batch_is_refused_with_the_way_out(candidate: Candidate) -> None:
    case = make("classifier", 1)
    model = through.model_of(case)
    values = [*model.graph.inputs, *(v for node in model.graph for v in node.outputs)]
    for value in values:
        assert value.shape is not None
        value.shape = ir.Shape([ir.SymbolicDim("batch"), *list(value.shape)[1:]])
    rows = partition(model, [candidate.row])
    assert {r.delegate for r in rows} == {"cpu"}
    assert all("batch is symbolic; fix it with --fix batch=1" in r.reason for r in rows)


# --- absent and failing -------------------------------------------------------------------------------------------------


def test_absent_it_is_missed_as_the_policy_says(candidate: Candidate) -> None:
    case = make("classifier", 2)
    expected = case.expected()
    forbid = through.file_of(through.program_of(make("classifier", 2), [candidate.row], "forbid"))
    with pytest.raises(pteron.DelegateError, match="not in this build or not permitted") as error:
        pteron.load(forbid, delegates=())
    assert candidate.name in str(error.value) and candidate.row.target in str(error.value)
    data = through.file_of(through.program_of(case, [candidate.row], "warn"))
    with pytest.warns(pteron.PlacementWarning, match=f"delegate {candidate.name} "):
        model = pteron.load(data, delegates=(), threads=1)
    assert through.differences(model, case, expected) == 0
    allowed = through.file_of(through.program_of(make("classifier", 2), [candidate.row], "allow"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pteron.load(allowed, delegates=(), threads=1)


def test_a_failure_in_the_middle_of_a_run_is_an_error_that_names_it(candidate: Candidate) -> None:
    assert candidate.fail is not None, f"FAILURES needs a row for {candidate.name}"
    case = make("classifier", 3)
    expected = case.expected()
    data = through.file_of(through.program_of(case, [candidate.row], "forbid"))
    model = load(data, candidate)
    assert through.differences(model, case, expected) == 0
    candidate.fail(model)
    with pytest.raises(pteron.DelegateError, match=f"delegate {candidate.name} .* failed: ."):
        model.run(through.feeds(case))
    if candidate.name == "plain":
        candidates.plain_fails_after(-1)
    again = load(data, candidate)
    assert through.differences(again, case, expected) == 0


def test_a_failure_in_the_middle_of_a_run_is_carried_by_the_cpu(candidate: Candidate) -> None:
    assert candidate.fail is not None, f"FAILURES needs a row for {candidate.name}"
    case = make("residual", 4)
    expected = case.expected()
    model = load(through.file_of(through.program_of(case, [candidate.row], "warn")), candidate)
    assert through.differences(model, case, expected) == 0
    candidate.fail(model)
    with pytest.warns(pteron.PlacementWarning, match="failed: .*; its part runs on the CPU"):
        assert through.differences(model, case, expected) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert through.differences(model, case, expected) == 0
    assert not any(p.placed for p in model.placements)


def test_500_corrupted_payloads_crash_nothing(candidate: Candidate) -> None:
    script = Path(__file__).parent / "corrupt.py"
    command = [sys.executable, str(script), candidate.name, "500", "17"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert int(done.stdout.split()[0]) > 100
