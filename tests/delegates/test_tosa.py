"""Integer nodes as TOSA, against Arm's reference model: the same bytes as schema/meaning/int8.py."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from delegates.integer_cases import CASES, Case, make

from pteron.export.delegates import tools, tosa


@pytest.fixture(scope="module")
def npu(npu_python: Path) -> Any:
    before = os.environ.get(tools.VARIABLE)
    os.environ[tools.VARIABLE] = str(npu_python)
    yield
    if before is None:
        del os.environ[tools.VARIABLE]


def graph_of(case: Case) -> tosa.Graph:
    return tosa.lower(case.nodes, case.inputs, case.outputs)


def test_every_kind_of_node_gives_the_bytes_of_the_reference_model(npu: Any) -> None:
    cases = [(name, seed, make(name, seed)) for name in CASES for seed in range(4)]
    requests = [
        {
            "command": "run",
            "graph": graph_of(case).document(),
            "inputs": [base64.b64encode(a.tobytes()).decode() for a in case.arrays],
        }
        for _, _, case in cases
    ]
    for (name, seed, case), answer in zip(cases, tools.ask(requests), strict=True):
        for got, want in zip(answer["outputs"], case.expected(), strict=True):
            assert base64.b64decode(got) == want.tobytes(), f"{name}, seed {seed}"
