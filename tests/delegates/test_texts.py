"""What delegates say of an absence reaches the user whole, the command that helps at its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pteron.export.delegates import known

PLACES = {"hexagon": "hexagon/paths.c", "vgf": "vgf/device.c"}


@pytest.mark.parametrize("name", PLACES)
def test_absences_fit_an_error(root: Path, name: str) -> None:
    limit = int(
        re.findall(r"char text\[(\d+)\]", (root / "runtime_c/include/pteron/pteron.h").read_text())[
            0
        ]
    )
    before = f"delegate {name} ({known()[name].target}) did not open: "
    source = (root / "runtime_c/delegates" / PLACES[name]).read_text()
    source = source.replace("IMAGE_NAME", '"hexagon_v67.elf"')
    calls = re.findall(r'pte_delegate_fail\(\s*error,\s*((?:"[^"]*"\s*)+)', source)
    texts = ["".join(re.findall(r'"([^"]*)"', call)) for call in calls]
    assert sum("install" in text for text in texts) >= 2
    for text in texts:
        if "%" not in text:
            assert len(before + text) < limit, text
