"""The pages as a site, what the first pages say, and whether it is still so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pteron.cli import main


def test_the_site_builds_without_a_warning(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    build = [sys.executable, str(root / "docs/site/build.py"), str(tmp_path)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {str(p.relative_to(tmp_path / "html")) for p in (tmp_path / "html").rglob("*.html")}
    assert {"index.html", "docs/getting-started.html", "docs/python.html"} <= pages
    assert "export_model" in (tmp_path / "html/docs/python.html").read_text()


def test_every_page_is_in_the_index(root: Path) -> None:
    index = (root / "docs/index.md").read_text()
    pages = {p.name for p in (root / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in pages if f"({name}" not in index} == set()


def test_getting_started_runs(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    page = (root / "docs/getting-started.md").read_text()
    said = ""
    for kind, text in re.findall(r"```(python|console)\n(.*?)```", page, re.DOTALL):
        if kind == "python":
            name = text.partition("\n")[0].removeprefix("# ")
            Path(name).write_text(text)
            if name != "cnn.py":
                done = subprocess.run([sys.executable, name], capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words[:2] == ["$", "pteron"], line
            assert main(words[2:]) == 0, line
            said += capsys.readouterr().out
    promised = re.search(r"`(wrote cnn-int8.pte \([\d,]+ bytes, 3 of 3 layers in int8\))`", page)
    assert promised is not None and promised[1] in said


def test_troubleshooting_quotes_texts_of_the_program(root: Path) -> None:
    """The words of each quoted text, but for names and numbers in it, stand in the sources."""
    folders = ("export", "quantize", "schema", "bindings/pteron", "runtime_c")
    kinds = (".py", ".c", ".h", ".inc")
    files = (p for f in folders for p in (root / f).rglob("*") if p.suffix in kinds)
    sources = re.sub(r'"\s*\n\s*f?"', "", "\n".join(p.read_text() for p in files))
    page = (root / "docs/troubleshooting.md").read_text()
    quoted = [
        q for line in re.findall(r"(?m)^\*\*(.+)\*\*", page) for q in re.findall(r"`([^`]+)`", line)
    ]
    assert len(quoted) >= 15
    lost = []
    for text in quoted:
        parts = re.split(
            r"\.\.\.|\[.*?\]|\b[NM]\b|\bn\b|\bbatch\b|float\d+|'|--fix \S+|=\d+|:$", text
        )
        lost += [
            p.strip(" ;,")
            for p in parts
            if len(p.strip(" ;,")) > 7 and p.strip(" ;,") not in sources
        ]
    assert lost == []
