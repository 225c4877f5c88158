"""Shared fixtures, a share of the tests, and the rule for missing tools: a skip names its reason; with PTERON_REQUIRE_ALL=1 it is a
failure."""

from __future__ import annotations

import collections
import gc
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
NPU_PYTHON = ROOT / ".venv-npu/bin/python"
if NPU_PYTHON.exists():
    os.environ.setdefault("PTERON_NPU_PYTHON", str(NPU_PYTHON))
os.environ.setdefault("CMAKE_C_COMPILER_LAUNCHER", str(ROOT / "tests/compile.sh"))
os.environ.setdefault(
    "SYMPY_CACHE_SIZE", "20000"
)  # of expressions: thousands of models are lowered, not one
os.environ.pop("PYTHONUNBUFFERED", None)  # what children print is buffered, as where users are


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    everything = os.environ.get("PTERON_REQUIRE_ALL")
    if report.skipped and everything and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although everything must run: {report.longrepr}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", default="1/1", help="K/N: every Nth test, from the Kth; every file is imported"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every file is imported. A file gives tests in proportion to those it has, so that a share costs its share: what a file prepares
    for all its tests would otherwise be prepared by every share. Files with slow tests are first: of two workers none ends long
    before the other."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", config.option.share)
    if not found or int(found[1]) > int(found[2]):
        raise pytest.UsageError(f"--share: expected K/N, as 1/12, got {config.option.share}")
    first, step = int(found[1]), int(found[2])
    taken, left = list[pytest.Item](), list[pytest.Item]()
    for at, item in enumerate(items, 1):
        (taken if at % step == first % step else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = taken
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no collection of garbage need walk through it."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests were skipped, by reason."""
    reasons = collections.Counter[str]()
    for report in terminalreporter.stats.get("skipped", ()):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[text.removeprefix("Skipped: ")] += 1
    for text, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {text}")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()
    if config.option.markexpr == "boards" and not hasattr(config, "workerinput"):
        from boards import table

        config.pluginmanager.register(table.Record())


DRAWN: dict[str, dict[str, Any]] = {}
"""State of a module's RNG once it was read."""


@pytest.fixture(autouse=True)
def same_draws(request: pytest.FixtureRequest) -> None:
    """A module's RNG begins each test alike, whichever tests ran before."""
    rng = getattr(request.module, "RNG", None)
    if rng is not None:
        rng.bit_generator.state = DRAWN.setdefault(request.module.__name__, rng.bit_generator.state)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def npu_python() -> Path:
    """An interpreter that has the packages of pteron[npu], which cannot share one with onnx; run as a child process."""
    if named := os.environ.get("PTERON_NPU_PYTHON"):
        return Path(named)
    if importlib.util.find_spec("tosa_serializer"):
        return Path(sys.executable)
    pytest.skip("needs the TOSA tools: make dev-npu, or PTERON_NPU_PYTHON=/path/to/python")


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digit classifier of the examples, exported once."""
    import pteron

    out = tmp_path_factory.mktemp("digits") / "digits.pte"
    pteron.export_model(ROOT / "examples/digits/digits.onnx", out)
    return out
