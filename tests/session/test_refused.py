"""Programs that break one rule: the runtime refuses them in the words that it should, and so does the exporter's verifier."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from program.bent import BENT, Make

from pteron.export.file import emit, tables
from pteron.export.plan import Memory
from pteron.export.program import Program
from pteron.export.program.elements import NUMPY
from pteron.export.verify import Refusal, check
from pteron.schema.errors import PteronError

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)
IDS = [f"{i} {words}" for i, (words, _, _) in enumerate(BENT)]


def answer(program: Program) -> str:
    """Of load or the run of any method, inputs being ones and names of sizes 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = emit.emit_bytes(program)
            for method in program.methods:
                ports = [program.values[p.value] for p in method.inputs]
                shapes = [[n if isinstance(n, int) else 1 for n in v.shape] for v in ports]
                feeds = [np.ones(s, NUMPY[v.dtype]) for s, v in zip(shapes, ports, strict=True)]
                runtime.load(data, method=method.name, threads=1)(*feeds)
            return "" if program.methods else str(runtime.load(data))
        except PteronError as error:
            return str(error)


@pytest.mark.parametrize("words, why, make", BENT, ids=IDS)
def test_the_runtime_refuses(
    words: str, why: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emit, "measure", lambda program, method: Memory(0, 0, 0))
    monkeypatch.setattr(tables, "MAX_STEPS", 4096)
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
