"""What `make test-boards` ran, as a table: each run adds its files, so that it may be run in parts.

python tests/boards/table.py PAGE: puts the table into the page, between its two marks.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RAN = ROOT / "build/boards/ran.json"
MARKS = ("<!-- make test-boards: begin -->\n", "<!-- end -->\n")
NAMED = 6
"""So many cases are named; of more the number is said."""


class Record:
    """A plugin of pytest: after each test the run so far is written, so that what is ended early keeps its rows."""

    def __init__(self) -> None:
        self.reports: list[Any] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.reports.append(report)
        if report.when == "teardown":
            record(self.reports)


def record(reports: Iterable[Any]) -> None:
    """Adds the tests of one run, with what they said by record_property, in the place of their older rows."""
    files: dict[str, dict[str, dict[str, Any]]] = {}
    for report in reports:
        path, _, name = report.nodeid.partition("::")
        test, _, case = name.partition("[")
        rows = files.setdefault(path, {})
        row = rows.setdefault(test, {"cases": [], "failed": [], "seconds": 0.0, "said": []})
        row["seconds"] += report.duration
        if report.failed:
            row["failed"].append(case.rstrip("]") or test)
        if report.when == "call":
            row["cases"].append(case.rstrip("]"))
            row["said"] += [f"{text}" for _, text in report.user_properties]
    RAN.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(RAN.read_text()) if RAN.exists() else {}
    merged = before | {path: before.get(path, {}) | rows for path, rows in files.items()}
    RAN.write_text(json.dumps(merged, indent=1))


def text() -> str:
    """The table, a line a test."""
    lines = ["| file of `tests` | what holds | cases | seconds |", "|---|---|---|---|"]
    cases = seconds = 0.0
    for path, rows in sorted(json.loads(RAN.read_text()).items()):
        file, source = f"`{path.removeprefix('tests/')}`", (ROOT / path).read_text()
        for test, row in rows.items():
            if f"def {test}(" not in source:
                continue  # it has another name now
            named = [case for case in row["cases"] if case]
            count = str(len(row["cases"]))
            listed = f"{count}: {', '.join(named)}" if 0 < len(named) <= NAMED else count
            said = list(dict.fromkeys(row["said"]))
            what = test.removeprefix("test_").replace("_", " ")
            what += f" ({said[0]})" if len(said) == 1 else ""
            failed = f" **failed: {', '.join(row['failed'])}**" if row["failed"] else ""
            lines.append(f"| {file} | {what}{failed} | {listed} | {row['seconds']:.0f} |")
            lines += [f"| | {text} | | |" for text in said[1:] and said]
            file, cases, seconds = "", cases + len(row["cases"]), seconds + row["seconds"]
    lines.append(f"| in all | | {cases:.0f} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def put(page: Path) -> None:
    begin, end = MARKS
    parts = re.fullmatch(f"(.*{begin}).*({end}.*)", page.read_text(), re.S)
    assert parts is not None, f"{page}: expected a line {begin.strip()} and then {end.strip()}"
    page.write_text(parts[1] + "\n" + text() + "\n" + parts[2])


if __name__ == "__main__":
    put(Path(sys.argv[1]))
