"""What a text says to install is what brings it."""

from __future__ import annotations

import importlib.metadata
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pteron.schema.extras import ALONE, EXTRAS, elsewhere, missing

MODULES = {"PyYAML": "yaml", "onnx-ir": "onnx_ir"}
"""Distributions whose modules have other names."""


def test_extras_bring_the_modules_that_they_are_named_for(root: Path) -> None:
    told = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in ("export", "torch"):
        names = {w.split("=")[0].split(">")[0] for w in told[extra]} - {"pteron[export]"}
        assert {MODULES.get(n, n) for n in names} <= set(EXTRAS[extra])
    assert missing("yaml.loader") == "yaml.loader is not installed; pip install 'pteron[export]'"
    assert not set(ALONE) & {module for modules in EXTRAS.values() for module in modules}


@pytest.mark.parametrize(
    "told, wanted",
    [
        (None, "pteron[npu]"),
        ({"url": "file:///a%20b/c", "dir_info": {"editable": True}}, "/a b/c[npu]"),
        ({"url": "file:///d/p.whl", "archive_info": {}}, "pteron[npu] @ file:///d/p.whl"),
    ],
)
def test_another_environment_gets_it_from_where_this_one_did(
    told: dict[str, Any] | None, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if told is None else json.dumps(told)

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed())
    assert elsewhere("npu") == wanted
