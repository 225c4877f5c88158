"""Programs that break one rule: the runtime refuses them in the words that it should, and so does the exporter's verifier."""

from __future__ import annotations

from typing import Any

import pytest
from program import samples
from program.answers import answer
from program.bending import X, Y, over
from program.bent import BENT, Make

from pteron.export.file.tables import Tables
from pteron.export.program import Instr
from pteron.export.verify import Refusal, check

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)
IDS = [f"{i} {words}" for i, (words, _, _) in enumerate(BENT)]


@pytest.mark.parametrize("words, why, make", BENT, ids=IDS)
def test_the_runtime_refuses(words: str, why: str, make: Make) -> None:
    assert words in answer(make())


@pytest.mark.parametrize("words, why, make", BENT, ids=IDS)
def test_the_exporter_refuses_as_well_but_for_a_reason(words: str, why: str, make: Make) -> None:
    program, refused = make(), True
    try:
        check(program)
        refused = False
    except Refusal:
        pass
    assert refused == (not why)


def test_a_port_of_no_method_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which only another writer can leave in a file."""
    fill = Tables._fill

    def fill_and_leave_one(self: Tables, *given: Any) -> None:
        fill(self, *given)
        self.structs["ports"].append(self.structs["ports"][0])

    monkeypatch.setattr(Tables, "_fill", fill_and_leave_one)
    assert "ports: 1 of 3 belong to no method" in answer(samples.SAMPLES["pointwise"]())


def test_lists_that_are_walked_too_often_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions that share one list, small in the file and large to walk: emit writes them apart, another writer may not."""
    monkeypatch.setattr(Tables, "are_walked", lambda self, size_bytes: True)
    load_and_store = Instr("pointwise", (0,) * 300, (1,), {"steps": samples.unary("neg")})
    assert "shared lists outgrow" in answer(over([X, Y], *(load_and_store,) * 20000))
