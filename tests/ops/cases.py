"""The cases of every operator: `CASES[op]`, collected from each cases_<family>.py beside this file (its list `CASES`)."""

from __future__ import annotations

import importlib
from pathlib import Path

from ops.harness import Case

CASES: dict[str, list[Case]] = {}
for _path in sorted(Path(__file__).parent.glob("cases_*.py")):
    for _case in importlib.import_module(f"ops.{_path.stem}").CASES:
        CASES.setdefault(_case.op, []).append(_case)
