"""The table of the slow matrix has a test as soon as it ended, however the run ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from boards import table

TEST = "tests/boards/test_table.py::test_a_run_that_is_ended_early_keeps_its_rows"


def of(case: str, when: str, *, failed: bool = False) -> SimpleNamespace:
    said = [("programs", "65 programs")] if when == "call" else []
    return SimpleNamespace(
        nodeid=f"{TEST}[{case}]", when=when, duration=2.0, failed=failed, user_properties=said
    )


def test_a_run_that_is_ended_early_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "RAN", tmp_path / "ran.json")
    first, second = table.Record(), table.Record()
    for when in ("setup", "call", "teardown"):
        first.pytest_runtest_logreport(of("arm", when))
        second.pytest_runtest_logreport(of("arm", when))
    row = "| `boards/test_table.py` | a run that is ended early keeps its rows (65 programs)"
    assert f"{row} | 1: arm | 6 |\n" in table.text()
    for when in ("setup", "call"):  # the second run, before this one is over
        second.pytest_runtest_logreport(of("riscv64", when, failed=when == "call"))
    assert f"{row} | 1: arm | 6 |\n" in table.text()
    second.pytest_runtest_logreport(of("riscv64", "teardown"))
    assert f"{row} **failed: riscv64** | 2: arm, riscv64 | 12 |\n" in table.text()
